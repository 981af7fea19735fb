//! One end of an `AF_UNIX` connection of records.

use bytes::Bytes;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, MsgFlags, Shutdown, recv, send, sendmsg, shutdown, sockopt};
use nix::sys::socket::{UnixCredentials, getsockopt, setsockopt};
use records::{Header, Kind, PAIR_BUFFER};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// A connection.
#[derive(Debug)]
pub struct Pair {
    fd: OwnedFd,
    /// Records for which the pair had no room.
    waiting: VecDeque<Record>,
    /// Shut down once all records are written.
    ends: bool,
}

#[derive(Debug)]
struct Record {
    header: Header,
    data: Bytes,
    /// A descriptor for the program.
    descriptor: Option<OwnedFd>,
}

/// What the program did.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A record of this length.
    Record(usize),
    /// Nothing more now.
    Nothing,
    /// The program writes no more, and may have closed its last descriptor.
    End,
}

impl Pair {
    /// Takes a connected socket.
    pub fn new(fd: OwnedFd) -> Self {
        // The kernel grants what its limits allow.
        let _ = setsockopt(&fd, sockopt::SndBuf, &PAIR_BUFFER);
        Pair { fd, waiting: VecDeque::new(), ends: false }
    }

    pub fn credentials(fd: &OwnedFd) -> io::Result<UnixCredentials> {
        Ok(getsockopt(fd, sockopt::PeerCredentials)?)
    }

    pub fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.fd.as_raw_fd()), token, Interest::READABLE | Interest::WRITABLE)
    }

    pub fn deregister(&self, registry: &Registry) {
        // The descriptor is closed in any case.
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }

    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Answers a request. A program that does not wait for the answer gets none.
    pub fn reply(&self, answer: &[u8]) {
        let _ = send(self.fd.as_raw_fd(), answer, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL);
    }

    /// True if the next record is a ballast.
    pub fn has_ballast(&self) -> bool {
        let mut header = [0; Header::LEN];
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_PEEK;
        let seen = recv(self.fd.as_raw_fd(), &mut header, flags);
        seen.is_ok() && Header::parse(&header).is_some_and(|header| header.kind == Kind::Ballast)
    }

    /// Reads the next record.
    pub fn take(&self, buffer: &mut [u8]) -> Incoming {
        match recv(self.fd.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Incoming::End,
            Ok(length) => Incoming::Record(length),
            Err(Errno::EAGAIN | Errno::EINTR) => Incoming::Nothing,
            // The program closed its end with unread records. What it wrote comes next.
            Err(Errno::ECONNRESET) => self.take_after_reset(buffer),
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
        polled.is_err() || ready[0].revents().is_some_and(|r| r.contains(PollFlags::POLLHUP)) && !self.ends
    }

    /// True if all records are written.
    pub fn has_room(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Number of records that wait for room.
    pub fn backlog(&self) -> usize {
        self.waiting.len()
    }

    /// Writes a record, now or when there is room.
    pub fn put(&mut self, mut header: Header, data: Bytes, descriptor: Option<OwnedFd>) {
        header.length = data.len() as u32;
        self.waiting.push_back(Record { header, data, descriptor });
        if self.waiting.len() == 1 {
            self.flush();
        }
    }

    /// Writes waiting records while there is room.
    pub fn flush(&mut self) {
        while let Some(Record { header, data, descriptor }) = self.waiting.front() {
            let header = header.to_bytes();
            let parts = [IoSlice::new(&header), IoSlice::new(data)];
            let passed = descriptor.as_ref().map(|fd| [fd.as_raw_fd()]);
            let control = passed.as_ref().map(|fds| ControlMessage::ScmRights(fds));
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            match sendmsg::<()>(self.fd.as_raw_fd(), &parts, control.as_slice(), flags, None) {
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                // After an error nobody reads any more.
                Ok(_) | Err(_) => self.waiting.pop_front(),
            };
        }
        if self.ends {
            // The connection may be gone already.
            let _ = shutdown(self.fd.as_raw_fd(), Shutdown::Both);
        }
    }

    /// Ends the pair once all records are written: the program reads them, and then the end.
    pub fn end(&mut self) {
        self.ends = true;
        self.flush();
    }
}
