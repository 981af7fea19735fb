//! The options of the association.

use crate::calm;
use crate::config::TunnelConfig;
use crate::redundant::Redundant;
use io::StreamId;
use io::sctp::{Config, PathSelection, PathSet, StreamScheduler};

/// SCTP port of the end that waits. It is fixed, because the UDP port already distinguishes the tunnels of a
/// host.
pub(super) const PORT: u16 = 9901;
/// Size in bytes of the outbox (messages that wait for room in the stack). Only urgent packets wait there:
/// all others wait in the queue of flows.
pub(super) const OUTBOX: usize = 2 * 1024;
/// Largest number of messages in the stack: enough to fill the packets that one SACK allows.
const QUEUE: u32 = 16;
/// Number of streams, which TCP flows share by their hashes.
pub(super) const STREAMS: u16 = 64;
/// The stream of urgent packets, which are sent first.
pub(super) const URGENT: StreamId = StreamId(STREAMS);

/// Returns the options of [`Config::recommended`], changed for messages that are packets.
pub(super) fn config(tunnel: &TunnelConfig) -> Config {
    let recommended = Config::recommended();
    let mut cmt = recommended.cmt;
    if tunnel.redundant == Redundant::Everything {
        cmt.path_selection = PathSelection::Redundant;
    }
    Config {
        cmt,
        pmtud: true,
        paths: PathSet::Pairs,
        nat_friendly: tunnel.nat,
        resume: tunnel.resume,
        outbound_streams: STREAMS + 1,
        stream_scheduler: StreamScheduler::Priority,
        // The urgent stream keeps the value 0, which has the highest priority.
        stream_values: vec![1; STREAMS.into()],
        send_queue: Some(QUEUE),
        // Does not split messages to fill packets: a tunnel packet in two fragments would be lost twice as
        // often.
        fill_packets: false,
        congestion_control: calm::factory(recommended.knobs).into(),
        ..recommended
    }
}
