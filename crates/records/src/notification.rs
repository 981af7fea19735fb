//! Notifications of RFC 6458, section 6.1, in the layout of Linux.

/// The first type: bit `n` of the subscribed events stands for this type plus `n`.
pub const FIRST: u16 = 0x8000;
/// Number of the event switches.
pub const SWITCHES: usize = 14;

/// `sac_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum AssocState {
    /// `SCTP_COMM_UP`.
    CommUp = 0,
    /// `SCTP_COMM_LOST`.
    CommLost = 1,
    /// `SCTP_RESTART`.
    Restart = 2,
    /// `SCTP_SHUTDOWN_COMP`.
    ShutdownComplete = 3,
    /// `SCTP_CANT_STR_ASSOC`.
    CannotStart = 4,
}

/// Type numbers, from the first.
pub mod kind {
    /// `SCTP_ASSOC_CHANGE`.
    pub const ASSOC_CHANGE: u16 = 1;
    /// `SCTP_PEER_ADDR_CHANGE`.
    pub const PEER_ADDR_CHANGE: u16 = 2;
    /// `SCTP_SHUTDOWN_EVENT`.
    pub const SHUTDOWN: u16 = 5;
}

fn begin(kind: u16, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((0x8000 + kind).to_ne_bytes());
    bytes.extend([0; 2]);
    bytes.extend((length as u32).to_ne_bytes());
    bytes
}

/// `SCTP_ASSOC_CHANGE`. `info` are the causes of a received ABORT.
pub fn assoc_change(state: AssocState, error: u16, out: u16, inbound: u16, id: i32, info: &[u8]) -> Vec<u8> {
    let mut bytes = begin(kind::ASSOC_CHANGE, 20 + info.len());
    for field in [state as u16, error, out, inbound] {
        bytes.extend(field.to_ne_bytes());
    }
    bytes.extend(id.to_ne_bytes());
    bytes.extend(info);
    bytes
}

/// `SCTP_PEER_ADDR_CHANGE`, with a `sockaddr_storage`.
pub fn peer_addr_change(address: &[u8], state: u32, id: i32) -> Vec<u8> {
    let mut bytes = begin(kind::PEER_ADDR_CHANGE, 148);
    bytes.extend(address.iter().take(128));
    bytes.resize(136, 0);
    for field in [state.to_ne_bytes(), [0; 4], id.to_ne_bytes()] {
        bytes.extend(field);
    }
    bytes
}

/// `SCTP_SHUTDOWN_EVENT`.
pub fn shutdown(id: i32) -> Vec<u8> {
    let mut bytes = begin(kind::SHUTDOWN, 12);
    bytes.extend(id.to_ne_bytes());
    bytes
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    #[test]
    fn notifications_have_the_layout_of_linux() {
        let up = assoc_change(AssocState::CommUp, 0, 5, 7, 3, &[]);
        assert_eq!(up, [1, 0x80, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 5, 0, 7, 0, 3, 0, 0, 0]);
        let address = [2, 0, 0x13, 0x89, 10, 2, 0, 2];
        let change = peer_addr_change(&address, 5, 3);
        assert_eq!(change[..16], [2, 0x80, 0, 0, 0x94, 0, 0, 0, 2, 0, 0x13, 0x89, 10, 2, 0, 2]);
        assert_eq!(change[136..], [5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(shutdown(3), [5, 0x80, 0, 0, 12, 0, 0, 0, 3, 0, 0, 0]);
    }
}
