//! Flags and policies of messages: the numbers of FreeBSD, and those of Linux.

use records::number::send as linux;

/// Flags of `snd_flags` and `rcv_flags` in libusrsctp, with those of Linux.
const FLAGS: [(u16, u16); 6] = [
    (0x0100, linux::EOF),
    (0x0200, linux::ABORT),
    (0x0400, linux::UNORDERED),
    (0x0800, linux::ADDR_OVER),
    (0x1000, linux::ALL),
    (0x4000, linux::SACK_IMMEDIATELY),
];
/// `SCTP_EOR`: the message ends here.
pub const EOR: u16 = 0x2000;

/// PR-SCTP policies of libusrsctp (0: none), with those of Linux. A message that is abandoned when the buffer
/// is full (`SCTP_PR_SCTP_BUF`) becomes one with a priority.
const POLICIES: [u16; 4] = [0, linux::TTL, linux::PRIO, linux::RTX];

/// The flags of Linux; `None` if one is unknown.
pub fn flags_to_linux(flags: u16) -> Option<u16> {
    let known = FLAGS.iter().fold(EOR, |all, (ours, _)| all | ours);
    let mapped = FLAGS.iter().filter(|(ours, _)| flags & ours != 0);
    (flags & !known == 0).then(|| mapped.fold(0, |all, (_, theirs)| all | theirs))
}

pub fn flags_to_program(flags: u16) -> u16 {
    let mapped = FLAGS.iter().filter(|(_, theirs)| flags & theirs != 0);
    mapped.fold(0, |all, (ours, _)| all | ours)
}

pub fn policy_to_linux(policy: u16) -> Option<u16> {
    POLICIES.get(usize::from(policy)).copied()
}

pub fn policy_to_program(policy: u16) -> u16 {
    POLICIES.iter().position(|&theirs| theirs == policy & linux::POLICY).unwrap_or(0) as u16
}

/// The types of notifications: the place in this list is the type in libusrsctp, the number the kind in
/// `records::notification`; 0: none.
///
/// `SCTP_SEND_FAILED` (4) becomes `SCTP_SEND_FAILED_EVENT` (14), since the header has no struct for the
/// former.
const KINDS: [u16; 15] = [0, 1, 2, 4, 13, 5, 7, 6, 8, 10, 9, 0, 11, 12, 13];
/// `SCTP_NOTIFICATIONS_STOPPED_EVENT`: it never occurs here.
pub const NOTIFICATIONS_STOPPED: u16 = 11;

/// The kind of a type of notification.
pub fn kind_of(event: u16) -> Option<u16> {
    KINDS.get(usize::from(event)).copied().filter(|&kind| kind != 0)
}

/// The type of a kind of notification.
pub fn event_of(kind: u16) -> u16 {
    KINDS.iter().rposition(|&other| other == kind).unwrap_or(0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_policies_and_events_have_their_counterparts() {
        assert_eq!(flags_to_linux(0x0400 | 0x2000), Some(1));
        assert_eq!(flags_to_linux(0x0100 | 0x4000), Some(0x208));
        assert_eq!(flags_to_linux(0x8000), None);
        assert_eq!(flags_to_program(0x1 | 0x4), 0x0600);
        assert_eq!([0, 1, 2, 3, 4].map(policy_to_linux), [Some(0), Some(0x10), Some(0x30), Some(0x20), None]);
        assert_eq!([0, 0x10, 0x20, 0x30].map(policy_to_program), [0, 1, 3, 2]);
        assert_eq!([1, 3, 9, 14, 11, 15].map(kind_of), [Some(1), Some(4), Some(10), Some(13), None, None]);
        assert_eq!([1, 4, 10, 13].map(event_of), [1, 3, 9, 14]);
    }
}
