//! The options of the association.

use crate::calm;
use crate::config::TunnelConfig;
use io::StreamId;
use io::sctp::{Config, PathSet, StreamScheduler};

/// SCTP port of the end that waits; the UDP port already tells tunnels apart.
pub(super) const PORT: u16 = 9901;
/// Bytes that wait in front of the stack. What waits there cannot be overtaken.
pub(super) const OUTBOX: usize = 2 * 1024;
/// Messages that wait in the stack: enough to fill the packets that one acknowledgement allows.
const QUEUE: u32 = 16;
/// Streams: flows of TCP share them by their hashes.
pub(super) const STREAMS: u16 = 64;
/// The stream of urgent packets, which are sent first.
pub(super) const URGENT: StreamId = StreamId(STREAMS);

/// Returns the options of [`Config::recommended`], changed for messages that are packets.
pub(super) fn config(tunnel: &TunnelConfig) -> Config {
    Config {
        pmtud: true,
        paths: PathSet::Pairs,
        nat_friendly: tunnel.nat,
        outbound_streams: STREAMS + 1,
        stream_scheduler: StreamScheduler::Priority,
        // Further streams have 0, which goes first.
        stream_values: vec![1; STREAMS.into()],
        send_queue: Some(QUEUE),
        // A packet that is cut in two is lost twice as often.
        fill_packets: false,
        congestion_control: calm::factory().into(),
        ..Config::recommended()
    }
}
