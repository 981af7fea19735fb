//! Packet drop reports (draft-stewart-sctp-pktdrprep-16): configuration. `assoc/packet_drop.rs` sends and
//! receives reports; `tx/packet_drop.rs` retransmits the data in them.

use crate::config::Config;
use wire::PacketDrop;

pub(super) const TYPES: &[u8] = &[PacketDrop::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.packet_drop_reports
}
