//! Addresses and control messages of `struct msghdr`.

use libc::{c_int, c_void, msghdr, sockaddr, socklen_t};
use records::{Header, Kind, flags, number, switches};

/// Returns the address in a record's header as the bytes of a `sockaddr`, and the number of these bytes. With
/// `mapped`, an IPv4 address becomes an IPv4-mapped IPv6 address.
pub fn sockaddr_bytes(header: &Header, mapped: bool) -> ([u8; 28], usize) {
    let mut bytes = [0; 28];
    bytes[2..4].copy_from_slice(&header.port.to_be_bytes());
    match (header.family, mapped) {
        (4, false) => {
            bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            bytes[4..8].copy_from_slice(&header.address[..4]);
            (bytes, 16)
        }
        (4, true) => {
            bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            bytes[18..20].fill(0xff);
            bytes[20..24].copy_from_slice(&header.address[..4]);
            (bytes, 28)
        }
        (6, _) => {
            bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            bytes[8..24].copy_from_slice(&header.address);
            (bytes, 28)
        }
        _ => (bytes, 0),
    }
}

/// Writes an address and its length to the buffers of the program.
///
/// # Safety
/// The pointers are null or valid, as for `accept`.
pub unsafe fn give_address(bytes: &[u8], to: *mut sockaddr, len: *mut socklen_t) {
    if !to.is_null() && !len.is_null() {
        // SAFETY: the program promises room for `*len` bytes.
        unsafe {
            let room = (*len as usize).min(bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), room);
            *len = bytes.len() as socklen_t;
        }
    }
}

/// Reads an address of the program into a header; false if it is not one.
pub fn read_address(bytes: &[u8], header: &mut Header) -> bool {
    let family = bytes.first_chunk().map_or(0, |&family| u16::from_ne_bytes(family));
    match c_int::from(family) {
        libc::AF_INET if bytes.len() >= 8 => {
            header.family = 4;
            header.address[..4].copy_from_slice(&bytes[4..8]);
        }
        libc::AF_INET6 if bytes.len() >= 24 => {
            header.family = 6;
            header.address.copy_from_slice(&bytes[8..24]);
        }
        _ => return false,
    }
    header.port = u16::from_be_bytes([bytes[2], bytes[3]]);
    header.flags |= flags::ADDRESS;
    true
}

/// Copies the values in the control messages of a send call to the header of a record.
///
/// # Safety
/// `message` is valid.
pub unsafe fn read_control(message: *const msghdr, header: &mut Header) -> Result<(), c_int> {
    // SAFETY: the program's message is valid, and so is each control message that the macros find.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let len = ((*control).cmsg_len).saturating_sub(size_of::<libc::cmsghdr>());
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(control), len);
            if (*control).cmsg_level == number::SCTP {
                take_control((*control).cmsg_type, data, header)?;
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    Ok(())
}

fn take_control(kind: c_int, data: &[u8], header: &mut Header) -> Result<(), c_int> {
    let half = |at: usize| u16::from_ne_bytes([data[at], data[at + 1]]);
    let word = |at: usize| u32::from_ne_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    let sent = match (kind, data.len()) {
        (number::cmsg::SNDRCV, 32) => {
            header.flags |= flags::POLICY;
            (header.policy, header.value) = (half(4) & number::send::POLICY, word(16));
            // A lifetime without a policy.
            header.policy = if header.policy == 0 { number::send::TTL } else { header.policy };
            (header.ppid, header.context, header.association) = (word(8), word(12), word(28).cast_signed());
            half(4)
        }
        (number::cmsg::SNDINFO, 16) => {
            (header.ppid, header.context, header.association) = (word(4), word(8), word(12).cast_signed());
            half(2)
        }
        (number::cmsg::PRINFO, 8) => {
            (header.policy, header.value) = (half(0) & number::send::POLICY, word(4));
            header.flags |= flags::POLICY;
            return Ok(());
        }
        (number::cmsg::AUTHINFO, 2) => {
            header.auth_key = half(0);
            header.flags |= flags::AUTH_KEY;
            return Ok(());
        }
        (number::cmsg::INIT, 8) => return Ok(()),
        _ => return Err(libc::EINVAL),
    };
    header.stream = half(0);
    header.flags &= !flags::DEFAULTS;
    let pairs = [
        (number::send::UNORDERED, flags::UNORDERED),
        (number::send::ADDR_OVER, flags::ADDRESS_OVER),
        (number::send::ABORT, flags::ABORT),
        (number::send::SACK_IMMEDIATELY, flags::SACK_NOW),
        (number::send::EOF, flags::EOF),
        (number::send::ALL, flags::ALL),
    ];
    for (theirs, ours) in pairs {
        if sent & theirs != 0 {
            header.flags |= ours;
        }
    }
    Ok(())
}

/// Fills in name, control messages and flags of a received message.
///
/// # Safety
/// `message` is valid.
pub unsafe fn give_message(
    message: *mut msghdr,
    header: &Header,
    switched: u16,
    whole: bool,
    next: Option<&Header>,
) {
    // SAFETY: the program's message is valid.
    let message = unsafe { &mut *message };
    message.msg_flags = if whole && header.flags & flags::END != 0 { libc::MSG_EOR } else { 0 };
    if header.kind == Kind::Notification {
        message.msg_flags |= number::MSG_NOTIFICATION;
    }
    let (address, len) = sockaddr_bytes(header, switched & switches::MAPPED != 0);
    if message.msg_name.is_null() {
        message.msg_namelen = 0;
    } else {
        // SAFETY: the program promises room for the name.
        unsafe { give_address(&address[..len], message.msg_name.cast(), &raw mut message.msg_namelen) };
    }
    let room = std::mem::take(&mut message.msg_controllen);
    if header.kind != Kind::Data {
        return;
    }
    let room = if message.msg_control.is_null() { 0 } else { room };
    if let Some(next) = next {
        let is_notification = next.kind == Kind::Notification;
        let kind = if is_notification { number::MSG_NOTIFICATION as u16 } else { 0 };
        let mut info = [0; 16];
        put(&mut info, 0, &next.stream.to_ne_bytes());
        put(&mut info, 2, &(next.flags & flags::UNORDERED | kind).to_ne_bytes());
        put(&mut info, 4, &next.ppid.to_ne_bytes());
        put(&mut info, 8, &next.length.to_ne_bytes());
        put(&mut info, 12, &next.association.to_ne_bytes());
        give_control(message, room, number::cmsg::NXTINFO, &info);
    }
    let unordered = header.flags & flags::UNORDERED;
    if switched & switches::RCVINFO != 0 {
        let mut info = [0; 28];
        put(&mut info, 0, &header.stream.to_ne_bytes());
        put(&mut info, 2, &header.ssn.to_ne_bytes());
        put(&mut info, 4, &unordered.to_ne_bytes());
        put(&mut info, 8, &header.ppid.to_ne_bytes());
        put(&mut info, 12, &header.tsn.to_ne_bytes());
        put(&mut info, 16, &header.cumulative_tsn.to_ne_bytes());
        put(&mut info, 20, &header.context.to_ne_bytes());
        put(&mut info, 24, &header.association.to_ne_bytes());
        give_control(message, room, number::cmsg::RCVINFO, &info);
    }
    if switched & switches::SNDRCV != 0 {
        let mut info = [0; 32];
        put(&mut info, 0, &header.stream.to_ne_bytes());
        put(&mut info, 2, &header.ssn.to_ne_bytes());
        put(&mut info, 4, &unordered.to_ne_bytes());
        put(&mut info, 8, &header.ppid.to_ne_bytes());
        put(&mut info, 12, &header.context.to_ne_bytes());
        put(&mut info, 20, &header.tsn.to_ne_bytes());
        put(&mut info, 24, &header.cumulative_tsn.to_ne_bytes());
        put(&mut info, 28, &header.association.to_ne_bytes());
        give_control(message, room, number::cmsg::SNDRCV, &info);
    }
}

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// Appends a control message if it fits into `room` bytes.
fn give_control(message: &mut msghdr, room: usize, kind: c_int, data: &[u8]) {
    // SAFETY: the macros only compute.
    let (len, space) =
        unsafe { (libc::CMSG_LEN(data.len() as u32) as usize, libc::CMSG_SPACE(data.len() as u32) as usize) };
    if message.msg_controllen + len > room {
        message.msg_flags |= libc::MSG_CTRUNC;
        return;
    }
    let mut head = [0_u8; 16];
    put(&mut head, 0, &len.to_ne_bytes());
    put(&mut head, 8, &number::SCTP.to_ne_bytes());
    put(&mut head, 12, &kind.to_ne_bytes());
    // SAFETY: `len` bytes from the end of the earlier control messages are within the program's buffer.
    unsafe {
        let place = message.msg_control.cast::<u8>().add(message.msg_controllen);
        std::ptr::copy_nonoverlapping(head.as_ptr(), place, head.len());
        std::ptr::copy_nonoverlapping(data.as_ptr(), place.add(head.len()), data.len());
    }
    message.msg_controllen = (message.msg_controllen + space).min(room);
}

/// Bytes that a program points to; empty for a null pointer.
///
/// # Safety
/// `bytes` is null or points to `len` bytes.
pub unsafe fn slice<'a>(bytes: *const c_void, len: socklen_t) -> &'a [u8] {
    if bytes.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(bytes.cast(), len as usize) }
}
