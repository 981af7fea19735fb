use super::batch::Batches;
use super::buffers::Buffers;
use super::errors::{self, Report};
use super::nap;
use super::socket::{Sent, Socket};
use super::watch::Watch;
use mio::{Events, Interest, Poll, Token, Waker};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::time::Duration;
use transport::{Octets, Transmit};

/// The token of the waker. The token of a socket is its number.
pub(crate) const WAKER: Token = Token(usize::MAX);
/// The token of the watch of interfaces.
const WATCH: Token = Token(usize::MAX - 1);
/// The first token for what the user of a [`Host`](crate::Host) registers.
pub(crate) const OTHERS: usize = 1 << 20;
/// A blocked socket with this number of batches accepts no more packets.
const WAITING: usize = 64;

/// All sockets of a driver, and their readiness.
#[derive(Debug)]
pub(crate) struct Sockets {
    poll: Poll,
    events: Events,
    entries: Vec<Entry>,
    /// Number of sockets registered so far.
    numbered: usize,
    /// The watch of interfaces, and whether a change may have occurred.
    watch: Option<(Watch, bool)>,
    /// Readiness of what the user of a [`Host`](crate::Host) registered, since the
    /// last [`Self::take_others`].
    others: Vec<Ready>,
}

/// Readiness of something that the user of a [`Host`](crate::Host) registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ready {
    /// The token of the registration.
    pub token: Token,
    /// True if there may be something to read.
    pub readable: bool,
    /// True if there may be room to write.
    pub writable: bool,
}

#[derive(Debug)]
struct Entry {
    number: usize,
    socket: Socket,
    batches: Batches,
    /// True if there may be datagrams to read.
    readable: bool,
    /// True if the kernel's buffer is full.
    blocked: bool,
    /// True if there may be ICMP messages to read.
    reports: bool,
}

impl Sockets {
    /// Registers sockets, and creates the waker that ends [`Self::wait`].
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new(sockets: Vec<Socket>) -> io::Result<(Sockets, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let events = Events::with_capacity(64);
        let mut all =
            Sockets { poll, events, entries: Vec::new(), numbered: 0, watch: None, others: Vec::new() };
        for socket in sockets {
            all.add(socket)?;
        }
        Ok((all, waker))
    }

    /// Registers one more socket.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn add(&mut self, mut socket: Socket) -> io::Result<()> {
        let (number, interest) = (self.numbered, Interest::READABLE | Interest::WRITABLE);
        self.poll.registry().register(&mut socket.io, Token(number), interest)?;
        self.numbered += 1;
        let (batches, readable) = (Batches::default(), true);
        self.entries.push(Entry { number, socket, batches, readable, blocked: false, reports: false });
        Ok(())
    }

    /// Removes a socket of an address, with its queued packets; `None` if the address has no socket left.
    pub(crate) fn remove(&mut self, address: IpAddr) -> Option<Socket> {
        let n = self.entries.iter().position(|entry| entry.socket.address == Some(address))?;
        let Entry { mut socket, .. } = self.entries.remove(n);
        // An error does not matter, because the socket is closed anyway.
        let _ = self.poll.registry().deregister(&mut socket.io);
        Some(socket)
    }

    /// Begins to watch the interfaces, including changes since `watch` was started.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.register(self.poll.registry(), WATCH)?;
        self.watch = Some((watch, true));
        Ok(())
    }

    /// True if an interface may have changed since the last call.
    pub(crate) fn interfaces_changed(&mut self) -> bool {
        match &mut self.watch {
            Some((watch, changed)) if *changed => {
                watch.drain();
                std::mem::take(changed)
            }
            _ => false,
        }
    }

    /// Sleeps until a socket is ready, the waker is used, or the time is over. Returns at once if there is
    /// more to read.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let changed = self.watch.as_ref().is_some_and(|(_, changed)| *changed);
        let more = changed || self.entries.iter().any(|entry| entry.readable);
        let timeout = if more { Some(Duration::ZERO) } else { timeout };
        match nap::poll(&mut self.poll, &mut self.events, timeout) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        for event in &self.events {
            if let (WATCH, Some((_, changed))) = (event.token(), &mut self.watch) {
                *changed = true;
            } else if let Some(entry) = self.entries.iter_mut().find(|entry| entry.number == event.token().0)
            {
                entry.readable |= event.is_readable();
                entry.blocked &= !event.is_writable();
                entry.reports |= event.is_error();
            } else if event.token() != WAKER {
                let (readable, writable) = (event.is_readable(), event.is_writable());
                self.others.push(Ready { token: event.token(), readable, writable });
            }
        }
        Ok(())
    }

    /// The registry for further sources that [`Self::wait`] waits for, with tokens from [`OTHERS`] on.
    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// The readiness of what the user of a [`Host`](crate::Host) registered.
    pub(crate) fn take_others(&mut self) -> Vec<Ready> {
        std::mem::take(&mut self.others)
    }

    /// Number of sockets.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Reads once from a socket. False if there was nothing to read.
    pub(crate) fn receive(&mut self, socket: usize, buffers: &mut Buffers) -> bool {
        // A command may have removed a socket.
        let Some(entry) = self.entries.get_mut(socket) else { return false };
        // After an error, such as a reported ICMP message, there may be more to read.
        let filled = entry.readable && entry.socket.receive(buffers).unwrap_or(true);
        entry.readable = filled;
        filled
    }

    /// The next ICMP message about a packet of one of the sockets. `quoted` gets the packet that the message
    /// quotes. `None` if there is no message.
    pub(crate) fn next_report(&mut self, quoted: &mut Vec<u8>) -> Option<Report> {
        for Entry { socket, reports, .. } in &mut self.entries {
            if *reports {
                let report = errors::read(&socket.io, quoted);
                *reports = report.is_some();
                if let Some(mut report) = report {
                    if !socket.framing.is_udp() {
                        report.dst.set_port(0);
                    }
                    return Some(Report { src: socket.address, ..report });
                }
            }
        }
        None
    }

    /// True if the sockets accept packets: no socket holds too many batches.
    pub(crate) fn has_room(&self) -> bool {
        self.entries.iter().all(|entry| !entry.blocked || entry.batches.len() < WAITING)
    }

    /// True if no batch is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.batches.len() == 0)
    }

    /// Adds a packet to the batch of its route: the packets that one system call will send.
    pub(crate) fn push(&mut self, transmit: &Transmit, packet: Octets<'_>) {
        if let Some(entry) = self.entry_for(transmit) {
            entry.batches.push(transmit, packet);
        }
    }

    /// The socket from which a packet leaves: the one of its carrier (UDP or IP) and its source address.
    fn entry_for(&mut self, transmit: &Transmit) -> Option<&mut Entry> {
        let (source, is_udp) = (transmit.src, transmit.udp_port != 0);
        let find = |suits: &dyn Fn(&Socket) -> bool| {
            let mut sockets = self.entries.iter().map(|entry| &entry.socket);
            sockets.position(|socket| socket.framing.is_udp() == is_udp && suits(socket))
        };
        let bound = find(&|socket| socket.address == Some(source));
        let n = bound
            .or_else(|| find(&|socket| socket.address.is_none() && socket.is_ipv4 == source.is_ipv4()))?;
        self.entries.get_mut(n)
    }

    /// Sends all batches that the kernel accepts.
    pub(crate) fn flush(&mut self) {
        for Entry { socket, batches, blocked, .. } in &mut self.entries {
            while !*blocked && let Some(mut batch) = batches.pop() {
                match socket.send(&mut batch) {
                    Sent::Done => batches.recycle(batch),
                    Sent::Blocked => {
                        batches.put_back(batch);
                        *blocked = true;
                    }
                }
            }
        }
    }
}
