//! Notifications of RFC 6458, section 6.1, in the layout of Linux.

/// The first type: bit `n` of the subscribed events stands for this type plus `n`.
pub const FIRST: u16 = 0x8000;
/// Number of notification types that a program can turn on or off (`SCTP_EVENTS`).
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

/// Types, counted from `FIRST`.
pub mod kind {
    /// `SCTP_ASSOC_CHANGE`.
    pub const ASSOC_CHANGE: u16 = 1;
    /// `SCTP_PEER_ADDR_CHANGE`.
    pub const PEER_ADDR_CHANGE: u16 = 2;
    /// `SCTP_SEND_FAILED`.
    pub const SEND_FAILED: u16 = 3;
    /// `SCTP_REMOTE_ERROR`.
    pub const REMOTE_ERROR: u16 = 4;
    /// `SCTP_SHUTDOWN_EVENT`.
    pub const SHUTDOWN: u16 = 5;
    /// `SCTP_PARTIAL_DELIVERY_EVENT`.
    pub const PARTIAL_DELIVERY: u16 = 6;
    /// `SCTP_ADAPTATION_INDICATION`.
    pub const ADAPTATION: u16 = 7;
    /// `SCTP_AUTHENTICATION_EVENT`.
    pub const AUTHENTICATION: u16 = 8;
    /// `SCTP_SENDER_DRY_EVENT`.
    pub const SENDER_DRY: u16 = 9;
    /// `SCTP_STREAM_RESET_EVENT`.
    pub const STREAM_RESET: u16 = 10;
    /// `SCTP_ASSOC_RESET_EVENT`.
    pub const ASSOC_RESET: u16 = 11;
    /// `SCTP_STREAM_CHANGE_EVENT`.
    pub const STREAM_CHANGE: u16 = 12;
    /// `SCTP_SEND_FAILED_EVENT`.
    pub const SEND_FAILED_EVENT: u16 = 13;
}

/// `auth_indication`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum KeyState {
    /// `SCTP_AUTH_NEW_KEY`: the peer uses the key.
    New = 0,
    /// `SCTP_AUTH_FREE_KEY`: nothing that was sent with the key is outstanding.
    Free = 1,
    /// `SCTP_AUTH_NO_AUTH`: the peer does not support AUTH.
    NoAuth = 2,
}

/// A message that the peer did not acknowledge.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// True if a part of the message was sent.
    pub sent: bool,
    /// Stream of the message.
    pub stream: u16,
    /// `snd_flags`.
    pub flags: u16,
    /// The PPID as the program gave it.
    pub ppid: u32,
    /// The context that the program gave.
    pub context: u32,
    /// The association.
    pub id: i32,
    /// The bytes that were not acknowledged.
    pub data: &'a [u8],
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

/// `SCTP_SEND_FAILED`, with a `struct sctp_sndrcvinfo`.
pub fn send_failed(failed: &Failed<'_>) -> Vec<u8> {
    let mut bytes = begin_failed(kind::SEND_FAILED, 48, failed);
    for field in [failed.stream, 0, failed.flags, 0] {
        bytes.extend(field.to_ne_bytes());
    }
    for field in [failed.ppid, failed.context, 0, 0, 0, failed.id.cast_unsigned(), failed.id.cast_unsigned()]
    {
        bytes.extend(field.to_ne_bytes());
    }
    bytes.extend(failed.data);
    bytes
}

/// `SCTP_SEND_FAILED_EVENT`, with a `struct sctp_sndinfo`.
pub fn send_failed_event(failed: &Failed<'_>) -> Vec<u8> {
    let mut bytes = begin_failed(kind::SEND_FAILED_EVENT, 32, failed);
    bytes.extend(failed.stream.to_ne_bytes());
    bytes.extend(failed.flags.to_ne_bytes());
    for field in [failed.ppid, failed.context, failed.id.cast_unsigned(), failed.id.cast_unsigned()] {
        bytes.extend(field.to_ne_bytes());
    }
    bytes.extend(failed.data);
    bytes
}

/// The fields up to the error. The error is 0, because an unacknowledged message has no reason from the peer.
fn begin_failed(kind: u16, length: usize, failed: &Failed<'_>) -> Vec<u8> {
    let mut bytes = begin(kind, length + failed.data.len());
    bytes[2..4].copy_from_slice(&u16::from(failed.sent).to_ne_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// `SCTP_REMOTE_ERROR` about one cause of the peer's ERROR chunk: its code in network byte order, and its
/// value.
pub fn remote_error(id: i32, code: [u8; 2], value: &[u8]) -> Vec<u8> {
    let mut bytes = begin(kind::REMOTE_ERROR, 16 + value.len());
    bytes.extend([code, [0; 2]].concat());
    bytes.extend(id.to_ne_bytes());
    bytes.extend(value);
    bytes
}

/// `SCTP_ADAPTATION_INDICATION`.
pub fn adaptation(id: i32, code: u32) -> Vec<u8> {
    let mut bytes = begin(kind::ADAPTATION, 16);
    bytes.extend(code.to_ne_bytes());
    bytes.extend(id.to_ne_bytes());
    bytes
}

/// `SCTP_AUTHENTICATION_EVENT`.
pub fn authentication(id: i32, state: KeyState, key: u16) -> Vec<u8> {
    let mut bytes = begin(kind::AUTHENTICATION, 20);
    for field in [key.into(), state as u32, id.cast_unsigned()] {
        bytes.extend(u32::to_ne_bytes(field));
    }
    bytes
}

/// `SCTP_SENDER_DRY_EVENT`.
pub fn sender_dry(id: i32) -> Vec<u8> {
    let mut bytes = begin(kind::SENDER_DRY, 12);
    bytes.extend(id.to_ne_bytes());
    bytes
}

/// `SCTP_SHUTDOWN_EVENT`.
pub fn shutdown(id: i32) -> Vec<u8> {
    let mut bytes = begin(kind::SHUTDOWN, 12);
    bytes.extend(id.to_ne_bytes());
    bytes
}

/// `SCTP_PARTIAL_DELIVERY_EVENT`: the rest of a message that was read in parts does not come.
pub fn partial_delivery_aborted(id: i32, stream: u16, ssn: u16) -> Vec<u8> {
    let mut bytes = begin(kind::PARTIAL_DELIVERY, 24);
    for field in [0, id.cast_unsigned(), stream.into(), ssn.into()] {
        bytes.extend(u32::to_ne_bytes(field));
    }
    bytes
}

/// `SCTP_STREAM_RESET_EVENT`; no streams: all.
pub fn stream_reset(flags: u16, id: i32, streams: &[u16]) -> Vec<u8> {
    let mut bytes = begin(kind::STREAM_RESET, 12 + 2 * streams.len());
    bytes[2..4].copy_from_slice(&flags.to_ne_bytes());
    bytes.extend(id.to_ne_bytes());
    bytes.extend(streams.iter().flat_map(|stream| stream.to_ne_bytes()));
    bytes
}

/// `SCTP_ASSOC_RESET_EVENT`; the fields of the new TSNs are 0.
pub fn assoc_reset(flags: u16, id: i32) -> Vec<u8> {
    let mut bytes = begin(kind::ASSOC_RESET, 20);
    bytes[2..4].copy_from_slice(&flags.to_ne_bytes());
    bytes.extend(id.to_ne_bytes());
    bytes.resize(20, 0);
    bytes
}

/// `SCTP_STREAM_CHANGE_EVENT`, with the new numbers of streams.
pub fn stream_change(flags: u16, id: i32, inbound: u16, outbound: u16) -> Vec<u8> {
    let mut bytes = begin(kind::STREAM_CHANGE, 16);
    bytes[2..4].copy_from_slice(&flags.to_ne_bytes());
    bytes.extend(id.to_ne_bytes());
    bytes.extend([inbound, outbound].into_iter().flat_map(u16::to_ne_bytes));
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
        assert_eq!(partial_delivery_aborted(3, 4, 5)[8..], [0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0]);
        let failed = Failed { sent: true, stream: 1, flags: 2, ppid: 3, context: 4, id: 5, data: b"x" };
        let old = send_failed(&failed);
        assert_eq!(old[..12], [3, 0x80, 1, 0, 49, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(old[12..28], [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(old[28..], [&[0; 12][..], &[5, 0, 0, 0, 5, 0, 0, 0, b'x']].concat());
        let new = send_failed_event(&failed);
        assert_eq!(new[..12], [13, 0x80, 1, 0, 33, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(new[12..], [1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, b'x']);
        let error = remote_error(3, [0, 6], &[63, 0, 0, 4]);
        assert_eq!(error[..12], [4, 0x80, 0, 0, 20, 0, 0, 0, 0, 6, 0, 0]);
        assert_eq!(error[12..], [3, 0, 0, 0, 63, 0, 0, 4]);
        assert_eq!(adaptation(3, 9), [7, 0x80, 0, 0, 16, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0]);
        let free = authentication(3, KeyState::Free, 7);
        assert_eq!(free, [8, 0x80, 0, 0, 20, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(sender_dry(3), [9, 0x80, 0, 0, 12, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(stream_reset(2, 3, &[1, 2]), [10, 0x80, 2, 0, 16, 0, 0, 0, 3, 0, 0, 0, 1, 0, 2, 0]);
        assert_eq!(assoc_reset(4, 3), [&[11, 0x80, 4, 0, 20, 0, 0, 0, 3][..], &[0; 11]].concat());
        assert_eq!(stream_change(8, 3, 7, 5), [12, 0x80, 8, 0, 16, 0, 0, 0, 3, 0, 0, 0, 7, 0, 5, 0]);
    }
}
