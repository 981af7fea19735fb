//! Receiving.

use crate::events::translated;
use crate::numbers::flags_to_program;
use crate::table::Socket;
use libc::{c_int, c_uint, iovec, sockaddr};

/// `MSG_NOTIFICATION` of libusrsctp.
pub const MSG_NOTIFICATION: c_int = 0x2000;
/// The flag of a notification in `nxt_flags` of Linux, and in that of libusrsctp.
const NOTIFICATION: u16 = records::number::MSG_NOTIFICATION as u16;
const NEXT_NOTIFICATION: u16 = 0x10;

/// A received message or notification, without its data.
#[derive(Default)]
pub struct Message {
    /// The address of Linux.
    pub from: Vec<u8>,
    /// `struct sctp_rcvinfo`, `sctp_nxtinfo`, or both.
    pub info: Vec<u8>,
    pub info_type: c_uint,
    pub flags: c_int,
}

pub fn errno() -> c_int {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() }
}

/// Receives a message, or a part of one, of at most the length of the buffer. No data: the association has
/// ended.
///
/// # Errors
/// The errno.
pub fn receive(socket: &Socket, buffer: &mut [u8], flags: c_int) -> Result<(Vec<u8>, Message), c_int> {
    let mut message = Message { from: vec![0; 28], info: vec![0; 64], info_type: 0, flags };
    let (mut from_len, mut info_len) = (28, 64);
    let vector = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the buffers outlive the call, and the lengths are theirs.
    let received = unsafe {
        client::recvv(
            socket.fd,
            &raw const vector,
            1,
            message.from.as_mut_ptr().cast::<sockaddr>(),
            &raw mut from_len,
            message.info.as_mut_ptr().cast(),
            &raw mut info_len,
            &raw mut message.info_type,
            &raw mut message.flags,
        )
    };
    let received = usize::try_from(received).map_err(|_| errno())?;
    message.from.truncate(from_len as usize);
    message.info.truncate(info_len as usize);
    if message.info_type & 1 != 0 {
        // `rcv_flags`
        let flags = u16::from_ne_bytes([message.info[4], message.info[5]]);
        message.info[4..6].copy_from_slice(&flags_to_program(flags).to_ne_bytes());
    }
    if message.info_type & 2 != 0 {
        // `nxt_flags`: Linux has the flag of a message, or that of a notification.
        let at = message.info.len() - 14;
        let flags = u16::from_ne_bytes([message.info[at], message.info[at + 1]]);
        let notification = if flags & NOTIFICATION != 0 { NEXT_NOTIFICATION } else { 0 };
        let flags = flags_to_program(flags & !NOTIFICATION) | notification;
        message.info[at..at + 2].copy_from_slice(&flags.to_ne_bytes());
    }
    let mut data = buffer[..received.min(buffer.len())].to_vec();
    if message.flags & records::number::MSG_NOTIFICATION != 0 {
        message.flags = message.flags & !records::number::MSG_NOTIFICATION | MSG_NOTIFICATION;
        data = translated(&data);
    }
    Ok((data, message))
}
