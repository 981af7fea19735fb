//! `sctp_peeloff`: returns the unread records of the program's socket to the host process (with the SCTP
//! stack), which divides them between the two sockets.

use crate::connect::begin;
use crate::control::{ask, exchange};
use crate::real::{self, errno, fail};
use crate::receive::consume;
use crate::table::{Entry, Place};
use libc::{c_int, iovec};
use records::{Answer, Header, MAX_DATA, Op, Request};
use std::sync::atomic::Ordering;

/// Bytes of the longest record, with the request that returns the record to the host process.
const ROOM: usize = Request::LEN + Header::LEN + MAX_DATA;

/// Memory for one record, mapped by the system (mmap); null if the system gives none.
struct Memory(*mut u8);

impl Memory {
    fn new() -> Self {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the system chooses the place.
        let place = unsafe { libc::mmap(std::ptr::null_mut(), ROOM, access, kind, -1, 0) };
        Memory(if place == libc::MAP_FAILED { std::ptr::null_mut() } else { place.cast() })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and nobody uses it any more.
        unsafe { libc::munmap(self.0.cast(), ROOM) };
    }
}

/// Gives an association a socket of its own. Returns the descriptor, or -1 and errno.
pub fn peel_off(fd: c_int, entry: &Entry, association: c_int, flags: c_int) -> c_int {
    let memory = Memory::new();
    if memory.0.is_null() {
        return fail(libc::ENOMEM);
    }
    let locked = entry.lock();
    let cookie = entry.cookie.load(Ordering::Relaxed);
    let mut request = Request { op: Op::PeelBegin, cookie, first: association, second: 0 }.to_bytes();
    let (mut answer, mut new) = ([0; 64], None);
    let sent = iovec { iov_base: request.as_mut_ptr().cast(), iov_len: request.len() };
    let length = exchange(sent, &mut answer, &mut new);
    let answer = usize::try_from(length).ok().and_then(|length| answer.get(..length)).and_then(Answer::parse);
    let (Some((answer, _)), Some(new)) = (answer, new) else {
        return match answer {
            Some((answer, _)) if answer.value < 0 => fail(-answer.value),
            _ => fail(libc::ENETDOWN),
        };
    };
    let begun = locked.place().begun.map(|(header, _)| header);
    locked.set_place(Place::START);
    let returned = give_back(fd, cookie, begun, &memory);
    ask(cookie, Op::PeelEnd, 0, 0, [&[]; 2], &mut []);
    // SAFETY: the descriptor is ours.
    unsafe {
        if !returned {
            real::close(new);
            return fail(libc::ENOBUFS);
        }
        if let Err(error) = begin(new, answer.value as u16, real::cookie(new)) {
            real::close(new);
            return fail(error);
        }
        if flags & libc::SOCK_CLOEXEC == 0 {
            real::fcntl(new, libc::F_SETFD, 0);
        }
        if flags & libc::SOCK_NONBLOCK != 0 {
            real::fcntl(new, libc::F_SETFL, (libc::O_RDWR | libc::O_NONBLOCK) as libc::c_ulong);
        }
    }
    new
}

/// Returns all unread records of the socket to the host process, the first one without the part that the
/// program has read. Returns false after an error.
fn give_back(fd: c_int, cookie: u64, mut begun: Option<Header>, memory: &Memory) -> bool {
    let request = Request { op: Op::Return, cookie, first: 0, second: 0 }.to_bytes();
    loop {
        // SAFETY: the memory has room for a request and a record.
        unsafe {
            std::ptr::copy_nonoverlapping(request.as_ptr(), memory.0, request.len());
            let record = memory.0.add(request.len());
            let start = if begun.is_some() { Header::LEN } else { 0 };
            let room = Header::LEN + MAX_DATA - start;
            let flags = libc::MSG_DONTWAIT | libc::MSG_PEEK;
            let received = real::recv(fd, record.add(start).cast(), room, flags);
            if received <= 0 {
                return received == 0 || errno() == libc::EAGAIN;
            }
            consume(fd);
            let length = start + received as usize;
            if let Some(mut header) = begun.take() {
                header.length = received as u32;
                std::ptr::copy_nonoverlapping(header.to_bytes().as_ptr(), record, Header::LEN);
            }
            let sent = iovec { iov_base: memory.0.cast(), iov_len: request.len() + length };
            let mut answer = [0; 64];
            let answered = exchange(sent, &mut answer, &mut None);
            let answered = usize::try_from(answered).ok().and_then(|length| answer.get(..length));
            if answered.and_then(Answer::parse).is_none_or(|(answer, _)| answer.value != 0) {
                return false;
            }
        }
    }
}
