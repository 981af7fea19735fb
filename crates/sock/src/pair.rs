//! This process's end of a pair: an `AF_UNIX` connection that carries records to and from a program.

use bytes::Bytes;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::errno::Errno;
use nix::getsockopt_impl;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{self, GetStruct};
use nix::sys::socket::{ControlMessage, MsgFlags, Shutdown, recv, sendmsg, shutdown};
use nix::sys::socket::{UnixCredentials, getsockopt, setsockopt};
use records::{Answer, Header, Kind, MAX_DELIVERED, PAIR_BUFFER, flags};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

// Bytes of a socket's buffers (`SO_MEMINFO`).
nix::sockopt_impl!(MemoryInfo, GetOnly, libc::SOL_SOCKET, libc::SO_MEMINFO, [u32; 9], GetStruct<[u32; 9]>);

/// A connection with a program.
#[derive(Debug)]
pub struct Pair {
    fd: OwnedFd,
    /// Records that wait until the program makes room.
    waiting: VecDeque<Record>,
    /// True if the connection is to be shut down once all waiting records are written.
    ends: bool,
    /// While the program returns records (`sctp_peeloff`): how many of those in `waiting` it has returned.
    returned: Option<usize>,
    /// True if data was written after the program had last read all records.
    data: bool,
    /// True if the program closed its end before it had read all records.
    reset: bool,
    /// True if one record may hold several messages. Then the processes
    /// of the program must not read their end at the same time.
    packs: bool,
    /// True if the record that was written last also told the length of the next message.
    announced: bool,
}

/// A record that waits until the program makes room.
#[derive(Debug)]
pub struct Record {
    header: Header,
    data: Bytes,
    /// A descriptor for the program.
    descriptor: Option<OwnedFd>,
}

impl Record {
    fn is_message(&self) -> bool {
        self.header.kind == Kind::Data && !self.data.is_empty()
    }
}

/// The result of reading a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A record of this length.
    Record(usize),
    /// There is no further record at present.
    Nothing,
    /// The program writes no more, and may have closed its last descriptor.
    End,
}

impl Pair {
    /// Makes a pair of a connected socket.
    pub fn new(fd: OwnedFd) -> Self {
        // The kernel grants what its limits allow.
        let _ = setsockopt(&fd, sockopt::SndBuf, &PAIR_BUFFER);
        Pair {
            fd,
            waiting: VecDeque::new(),
            ends: false,
            returned: None,
            data: false,
            reset: false,
            packs: false,
            announced: false,
        }
    }

    /// Lets the pair put several waiting messages into one record.
    pub fn packing(mut self) -> Self {
        self.packs = true;
        self
    }

    pub fn credentials(fd: &OwnedFd) -> io::Result<UnixCredentials> {
        Ok(getsockopt(fd, sockopt::PeerCredentials)?)
    }

    /// User and process at the other end.
    pub fn user(&self) -> io::Result<UnixCredentials> {
        Self::credentials(&self.fd)
    }

    pub fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.fd.as_raw_fd()), token, Interest::READABLE | Interest::WRITABLE)
    }

    pub fn deregister(&self, registry: &Registry) {
        // An error does not matter, because the descriptor is closed anyway.
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }

    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Answers a request, with a descriptor for the program. An answer that cannot be written is dropped.
    pub fn reply(&self, answer: &[u8], descriptor: Option<OwnedFd>) {
        let _ = self.write(&[IoSlice::new(answer)], descriptor.as_ref());
    }

    /// Answers a request that has no result but perhaps an error.
    pub fn answer(&self, error: Option<Errno>) {
        let value = error.map_or(0, |error| -(error as i32));
        self.reply(&Answer { value, switches: 0 }.to_bytes(), None);
    }

    fn write(&self, parts: &[IoSlice<'_>], descriptor: Option<&OwnedFd>) -> Result<usize, Errno> {
        let passed = descriptor.map(|fd| [fd.as_raw_fd()]);
        let control = passed.as_ref().map(|fds| ControlMessage::ScmRights(fds));
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        sendmsg::<()>(self.fd.as_raw_fd(), parts, control.as_slice(), flags, None)
    }

    /// True if the program has read all records that were written.
    fn is_drained(&self) -> bool {
        const WRITTEN: usize = 2;
        getsockopt(&self.fd, MemoryInfo).is_ok_and(|info| info[WRITTEN] == 0)
    }

    /// True if the program has closed its end and there was data that it had not read.
    pub fn has_unread_data(&self) -> bool {
        let waits = self.waiting.iter().any(|record| record.header.kind == Kind::Data);
        waits || self.reset && self.data
    }

    /// Writes nothing until [`Self::release`], so that the program can return records.
    pub fn hold(&mut self) {
        self.returned = Some(0);
    }

    /// Takes out the waiting records of an association.
    pub fn take_waiting(&mut self, association: i32) -> VecDeque<Record> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        let (taken, kept) = all.partition(|record| record.header.association == association);
        self.waiting = kept;
        taken
    }

    /// Adds waiting records of another pair.
    pub fn append(&mut self, mut waiting: VecDeque<Record>) {
        self.waiting.append(&mut waiting);
    }

    /// Takes back a record that the program has read; it comes before those that wait. False if
    /// the bytes taken back would be too many.
    pub fn put_back(&mut self, header: Header, data: Bytes) -> bool {
        // As many bytes as a program can have left unread in the connection.
        const MOST: usize = 4 * PAIR_BUFFER;
        let size = |record: &Record| Header::LEN + record.data.len();
        let Some(count) = self.returned.as_mut() else { return false };
        let held: usize = self.waiting.iter().take(*count).map(size).sum();
        if held + Header::LEN + data.len() > MOST {
            return false;
        }
        self.waiting.insert(*count, Record { header, data, descriptor: None });
        *count += 1;
        true
    }

    /// Resumes the writing of records.
    pub fn release(&mut self) {
        self.returned = None;
        self.flush();
    }

    /// True if the next record is a ballast, which only fills the program's send buffer.
    pub fn has_ballast(&self) -> bool {
        let mut header = [0; Header::LEN];
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_PEEK;
        let seen = recv(self.fd.as_raw_fd(), &mut header, flags);
        seen.is_ok() && Header::parse(&header).is_some_and(|header| header.kind == Kind::Ballast)
    }

    /// Reads the next record.
    pub fn take(&mut self, buffer: &mut [u8]) -> Incoming {
        match recv(self.fd.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Incoming::End,
            Ok(length) => Incoming::Record(length),
            Err(Errno::EAGAIN | Errno::EINTR) => Incoming::Nothing,
            // The program closed its end before it had read all
            // records. The records that it wrote can still be read.
            Err(Errno::ECONNRESET) => {
                self.reset = true;
                self.take_after_reset(buffer)
            }
            Err(_) => Incoming::End,
        }
    }

    fn take_after_reset(&self, buffer: &mut [u8]) -> Incoming {
        match recv(self.fd.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) if length > 0 => Incoming::Record(length),
            _ => Incoming::End,
        }
    }

    /// True once the program has closed its last descriptor.
    pub fn is_closed(&self) -> bool {
        let mut ready = [PollFd::new(self.fd.as_fd(), PollFlags::empty())];
        let polled = poll(&mut ready, PollTimeout::ZERO);
        polled.is_err() || ready[0].revents().is_some_and(|r| r.contains(PollFlags::POLLHUP))
    }

    /// True if all records are written.
    pub fn has_room(&self) -> bool {
        self.waiting.is_empty() && self.returned.is_none()
    }

    /// Number of records that wait for room.
    pub fn backlog(&self) -> usize {
        self.waiting.len()
    }

    /// Writes a record, now or when there is room.
    pub fn put(&mut self, header: Header, data: Bytes, descriptor: Option<OwnedFd>) {
        let first = self.waiting.is_empty();
        self.queue(header, data, descriptor);
        if first {
            self.flush();
        }
    }

    /// Adds a record, which [`Self::flush`] writes.
    pub fn queue(&mut self, mut header: Header, data: Bytes, descriptor: Option<OwnedFd>) {
        header.length = data.len() as u32;
        self.waiting.push_back(Record { header, data, descriptor });
    }

    /// Number of waiting messages that become the next record. The program must know the length of the first,
    /// because it may have room for that message only.
    fn packable(&self) -> usize {
        const MOST: usize = 32;
        let mut bytes = 0;
        let fits = |record: &&Record| {
            bytes += record.data.len();
            record.is_message() && record.header.flags & flags::END != 0 && bytes <= MAX_DELIVERED
        };
        let most = if self.announced { MOST } else { 1 };
        self.waiting.iter().take(most).take_while(fits).count().max(1)
    }

    /// True if the waiting record `n` is a message.
    fn has_message(&self, n: usize) -> bool {
        self.waiting.get(n).is_some_and(Record::is_message)
    }

    /// The header of the waiting record `n`, if the first `count` waiting records become one record.
    fn header(&self, n: usize, count: usize) -> [u8; Header::LEN] {
        let mut header = self.waiting[n].header;
        if self.packs && header.kind == Kind::Data {
            header.value = if self.has_message(n + 1) { self.waiting[n + 1].header.length } else { 0 };
            header.flags |= if n + 1 < count { flags::MORE } else { 0 };
        }
        header.to_bytes()
    }

    /// Writes waiting records while there is room.
    pub fn flush(&mut self) {
        if self.returned.is_some() {
            return;
        }
        while let Some(Record { header, descriptor, .. }) = self.waiting.front() {
            let is_data = header.kind == Kind::Data;
            if !is_data && self.data && self.is_drained() {
                self.data = false;
            }
            let count = self.packable();
            let headers: Vec<_> = (0..count).map(|n| self.header(n, count)).collect();
            let parts = headers.iter().zip(&self.waiting);
            let parts = parts.flat_map(|(header, record)| [IoSlice::new(header), IoSlice::new(&record.data)]);
            match self.write(&parts.collect::<Vec<_>>(), descriptor.as_ref()) {
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Err(Errno::ECONNRESET) => self.reset = true,
                Ok(_) => self.data |= is_data,
                // After any other error, no program reads from this connection any more.
                Err(_) => {}
            }
            self.announced = self.packs && is_data && self.has_message(count);
            self.waiting.drain(..count);
        }
    }

    /// True if the connection has [ended](Self::end) and all records are written. It can be
    /// dropped then: the program reads what was written, and then gets the end of the data.
    /// Unread records of the program are dropped, because otherwise its next read would fail.
    pub fn is_over(&mut self) -> bool {
        let over = self.ends && self.has_room();
        if over {
            // The connection may be gone already.
            let _ = shutdown(self.fd.as_raw_fd(), Shutdown::Both);
            while let Incoming::Record(_) = self.take(&mut [0; Header::LEN]) {}
        }
        over
    }

    /// Ends the connection once all records are written: the
    /// program reads them, and then the end of the data.
    pub fn end(&mut self) {
        self.ends = true;
        self.flush();
    }
}
