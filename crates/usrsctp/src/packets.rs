//! Packets that the program carries: those that arrived, their checksums, and their text.

use crate::link;
use crate::memory::{bytes, given};
use crate::settle::settle;
use crate::stack;
use libc::{c_char, c_int, c_void};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use transport::Octets;

/// Longest packet, in bytes.
const LONGEST: usize = 65_535;

/// True if the program computes and checks checksums.
static OFFLOAD: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_register_address(address: *mut c_void) {
    link::register(address.addr() as u64, true);
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_deregister_address(address: *mut c_void) {
    link::register(address.addr() as u64, false);
}

/// Takes a packet that arrived for an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_conninput(
    address: *mut c_void,
    packet: *const c_void,
    len: usize,
    _ecn: u8,
) {
    let number = address.addr() as u64;
    if len > LONGEST || !link::is_registered(number) {
        return;
    }
    // SAFETY: as the caller promises.
    let mut packet = unsafe { bytes(packet, len) }.to_vec();
    if OFFLOAD.load(Ordering::Relaxed) {
        // The program has checked the checksum, and may have left anything there.
        let checksum = wire::crc32c(Octets::from(&packet[..])).to_le_bytes();
        if let Some(place) = packet.get_mut(8..12) {
            place.copy_from_slice(&checksum);
        }
    }
    link::arrive(number, packet);
    stack::wake();
    settle();
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_enable_crc32c_offload() {
    OFFLOAD.store(true, Ordering::Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_disable_crc32c_offload() {
    OFFLOAD.store(false, Ordering::Relaxed);
}

/// The checksum of a packet, as the program stores it in the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_crc32c(packet: *mut c_void, len: usize) -> u32 {
    // SAFETY: as the caller promises.
    wire::crc32c(Octets::from(unsafe { bytes(packet, len) }))
}

/// A packet as a line of text that text2pcap reads: direction, time of day, and bytes. The program gives the
/// memory back to [`usrsctp_freedumpbuffer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_dumppacket(
    packet: *const c_void,
    len: usize,
    outbound: c_int,
) -> *mut c_char {
    if packet.is_null() || len == 0 || len > LONGEST {
        return std::ptr::null_mut();
    }
    let direction = if outbound == 0 { 'I' } else { 'O' };
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: zeros are a valid time, and both structs outlive the calls.
    let time = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        libc::gettimeofday(&raw mut now, std::ptr::null_mut());
        libc::localtime_r(&raw const now.tv_sec, &raw mut time);
        time
    };
    let (hour, minute, second) = (time.tm_hour, time.tm_min, time.tm_sec);
    let mut line = format!("\n{direction} {hour:02}:{minute:02}:{second:02}.{:06} 0000", now.tv_usec);
    // SAFETY: as the caller promises.
    for byte in unsafe { bytes(packet, len) } {
        // Writing to a string cannot fail.
        let _ = write!(line, " {byte:02x}");
    }
    line.push_str(" # SCTP_PACKET\n\0");
    given(line.as_bytes()).cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_freedumpbuffer(line: *mut c_char) {
    // SAFETY: the memory is from `malloc`, or null.
    unsafe { libc::free(line.cast()) }
}
