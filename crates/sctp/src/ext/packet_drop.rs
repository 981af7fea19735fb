//! Packet drop reports (draft-stewart-sctp-pktdrprep-16): see `assoc/packet_drop.rs` for reports that are sent and taken, and
//! `tx/reported.rs` for the data in them.

use crate::config::Config;
use wire::PacketDrop;

pub(super) const TYPES: &[u8] = &[PacketDrop::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.packet_drop_reports
}
