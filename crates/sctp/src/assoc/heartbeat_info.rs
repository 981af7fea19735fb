//! The Heartbeat Info that this end writes into its HEARTBEAT chunks and the peer returns
//! (`rfc9260#section-3.3.6`).

use crate::path::PathId;

/// Bytes of the Heartbeat Info: path, kind, number of repetitions and nonce.
const LEN: usize = 12;

/// Bytes of a HEARTBEAT chunk: chunk header, parameter header and Heartbeat Info.
pub(super) const HEARTBEAT_LEN: usize = 8 + LEN;

/// Purpose of a HEARTBEAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Fault management (`rfc9260#section-8.3`).
    Path,
    /// Path MTU discovery.
    Mtu,
    /// A probe of a faster return path for SACKs.
    Return,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeartbeatInfo {
    pub(super) path: PathId,
    pub(super) kind: Kind,
    /// Number of earlier transmissions of the HEARTBEAT.
    pub(super) repeats: u16,
    pub(super) nonce: u64,
}

impl HeartbeatInfo {
    pub(super) fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        (bytes[0], bytes[1]) = (self.path.0, self.kind as u8);
        bytes[2..4].copy_from_slice(&self.repeats.to_be_bytes());
        bytes[4..].copy_from_slice(&self.nonce.to_be_bytes());
        bytes
    }

    /// Reads the answer of the peer; `None` if this end cannot have written it.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [path, kind, high, low, nonce @ ..] = *<&[u8; LEN]>::try_from(bytes).ok()?;
        let kind = [Kind::Path, Kind::Mtu, Kind::Return].into_iter().find(|&known| known as u8 == kind)?;
        let (repeats, nonce) = (u16::from_be_bytes([high, low]), u64::from_be_bytes(nonce));
        Some(HeartbeatInfo { path: PathId(path), kind, repeats, nonce })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written_and_an_unknown_kind_is_refused() {
        for kind in [Kind::Path, Kind::Mtu, Kind::Return] {
            let info = HeartbeatInfo { path: PathId(3), kind, repeats: 0x0102, nonce: 0x1122_3344_5566_7788 };
            assert_eq!(HeartbeatInfo::parse(&info.to_bytes()), Some(info));
        }
        let mut bytes = [0; LEN];
        bytes[1] = 3;
        assert_eq!(HeartbeatInfo::parse(&bytes), None);
        assert_eq!(HeartbeatInfo::parse(&[0; LEN - 1]), None);
    }
}
