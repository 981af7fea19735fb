//! Notifications: the structs of Linux become those of libusrsctp.

use crate::addresses::to_program;
use crate::numbers::{event_of, flags_to_program};
use records::notification::{FIRST, kind};

/// Length of a `struct sctp_assoc_change` without `sac_info`.
const ASSOC_CHANGE: usize = 20;
/// Length of a `struct sctp_remote_error` without `sre_data`.
const REMOTE_ERROR: usize = 16;
/// Type of the ABORT chunk.
const ABORT: u8 = 6;

/// Translates a notification.
pub fn translated(linux: &[u8]) -> Vec<u8> {
    let mut event = linux.to_vec();
    let Some(&[low, high]) = linux.first_chunk() else { return event };
    let kind = u16::from_ne_bytes([low, high]).wrapping_sub(FIRST);
    match kind {
        kind::ASSOC_CHANGE => {
            change(&mut event, 8, |state: u16| state + 1);
            change(&mut event, 10, u16::from_be);
            if event.len() > ASSOC_CHANGE {
                // libusrsctp has the ABORT chunk there, Linux only the causes in it.
                let len = (event.len() - ASSOC_CHANGE + 4) as u16;
                let head = [[ABORT, 0], len.to_be_bytes()].concat();
                event.splice(ASSOC_CHANGE..ASSOC_CHANGE, head);
            }
        }
        kind::PEER_ADDR_CHANGE => {
            let address = to_program(event.get(8..136).unwrap_or_default());
            if let Some(place) = event.get_mut(8..8 + address.len()) {
                place.copy_from_slice(&address);
            }
            // Without a number of its own, a path that is potentially failed is unreachable.
            change(&mut event, 136, |state: u16| if state > 5 { 2 } else { state + 1 });
            event.resize(152, 0);
        }
        kind::REMOTE_ERROR if event.len() >= REMOTE_ERROR => {
            // Linux has only the value of the cause there.
            let len = (event.len() - REMOTE_ERROR + 4) as u16;
            let head = [[event[8], event[9]], len.to_be_bytes()].concat();
            event.splice(REMOTE_ERROR..REMOTE_ERROR, head);
            change(&mut event, 8, u16::from_be);
        }
        kind::PARTIAL_DELIVERY if event.len() >= 24 => {
            change(&mut event, 8, |_| 1);
            // The association comes after stream and sequence number.
            event[12..24].rotate_left(4);
        }
        kind::AUTHENTICATION => change(&mut event, 12, |key: u16| match key {
            0 => 1, // new key
            1 => 3, // free key
            _ => 2, // no AUTH
        }),
        kind::SEND_FAILED_EVENT => {
            change(&mut event, 2, |sent: u16| sent + 1);
            change(&mut event, 14, flags_to_program);
        }
        _ => {}
    }
    change(&mut event, 0, |_| event_of(kind));
    let len = event.len() as u32;
    if let Some(place) = event.get_mut(4..8) {
        place.copy_from_slice(&len.to_ne_bytes());
    }
    event
}

/// Changes a number of 16 bits, if it is there.
fn change(event: &mut [u8], at: usize, how: impl Fn(u16) -> u16) {
    if let Some(place) = event.get_mut(at..at + 2) {
        let number = how(u16::from_ne_bytes([place[0], place[1]]));
        place.copy_from_slice(&number.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use records::notification as linux;
    use records::notification::{AssocState, Failed, KeyState};

    #[test]
    fn notifications_have_the_layout_of_freebsd() {
        let up = translated(&linux::assoc_change(AssocState::CommUp, 0, 5, 7, 3, &[]));
        assert_eq!(up, [1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 5, 0, 7, 0, 3, 0, 0, 0]);
        let aborted =
            translated(&linux::assoc_change(AssocState::CommLost, 12_u16.to_be(), 5, 7, 3, &[0, 12, 0, 4]));
        assert_eq!(aborted[..12], [1, 0, 0, 0, 28, 0, 0, 0, 2, 0, 12, 0]);
        assert_eq!(aborted[20..], [6, 0, 0, 8, 0, 12, 0, 4]);
        let gone = translated(&linux::peer_addr_change(&[2, 0, 0x13, 0x89, 10, 0, 0, 1], 1, 3));
        assert_eq!((gone.len(), &gone[..8]), (152, &[2, 0, 0, 0, 152, 0, 0, 0][..]));
        assert_eq!(gone[136..], [2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        let aborted = translated(&linux::partial_delivery_aborted(3, 4, 5));
        assert_eq!(aborted[8..], [1, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0]);
        let free = translated(&linux::authentication(3, KeyState::Free, 7));
        assert_eq!(free, [8, 0, 0, 0, 20, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0]);
        let failed = Failed { sent: true, stream: 1, flags: 1, ppid: 3, context: 4, id: 5, data: b"x" };
        let failed = translated(&linux::send_failed_event(&failed));
        assert_eq!(failed[..16], [14, 0, 2, 0, 33, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 4]);
        let error = translated(&linux::remote_error(3, [0, 6], &[63, 0, 0, 4]));
        assert_eq!(error[..12], [3, 0, 0, 0, 24, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(error[12..], [3, 0, 0, 0, 0, 6, 0, 8, 63, 0, 0, 4]);
        assert_eq!(translated(&linux::sender_dry(3))[..2], [10, 0]);
        assert_eq!(translated(&[1]), [1], "too short to be one");
    }
}
