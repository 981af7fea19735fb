//! The associations of all sockets.

use crate::pair::Pair;
use sctp::AssocId;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use units::{Instant, Span};

/// An association.
#[derive(Debug)]
pub struct Association {
    /// Our SCTP port; `id`: the number of the association at the endpoint of this port.
    pub port: u16,
    pub id: AssocId,
    /// Key of its socket in the server's map of sockets; `None` once the program has closed that socket.
    pub owner: Option<usize>,
    /// Addresses of the peer. Before the handshake is complete: those that we
    /// connect to, or that its INIT lists.
    pub peers: Vec<IpAddr>,
    pub peer_port: u16,
    /// Local address of the first path; `None` until the handshake is complete.
    pub local: Option<IpAddr>,
    /// Addresses of the peer whose state has changed; true: the program was told that it failed.
    pub failed: BTreeMap<IpAddr, bool>,
    /// True once the handshake is complete.
    pub up: bool,
    /// True if the program has sent only a part of its last message so far.
    pub unfinished: bool,
    pub outbound: u16,
    pub inbound: u16,
    /// The last time at which a message was sent or received.
    pub active: Instant,
    /// Time without messages after which the association is shut down (`SCTP_AUTOCLOSE`).
    pub autoclose: Option<Span>,
    /// Cookie (`SO_COOKIE`) of the association's socket, once the program has closed this socket.
    pub closed: u64,
    /// UDP port of all addresses of the peer, if the socket that began the association has set one.
    pub udp_port: Option<u16>,
    /// The connection of a program that waits until the association is up.
    pub awaited: Option<Pair>,
    /// Time of the association's entry in [`Associations::timers`].
    timer: Option<Instant>,
}

impl Association {
    /// Creates an association whose handshake is not complete.
    pub fn new(port: u16, id: AssocId, owner: usize, peers: Vec<IpAddr>, peer_port: u16) -> Self {
        Association {
            port,
            id,
            owner: Some(owner),
            peers,
            peer_port,
            local: None,
            failed: BTreeMap::new(),
            up: false,
            unfinished: false,
            outbound: 0,
            inbound: 0,
            active: Instant::ZERO,
            autoclose: None,
            closed: 0,
            udp_port: None,
            awaited: None,
            timer: None,
        }
    }
}

/// Associations by the number that programs see.
#[derive(Debug)]
pub struct Associations {
    all: BTreeMap<i32, Association>,
    numbers: BTreeMap<(u16, AssocId), i32>,
    next: i32,
    /// Times at which an association is checked: whether it is idle (autoclose),
    /// or outlives its closed socket.
    timers: BTreeSet<(Instant, i32)>,
}

impl Default for Associations {
    fn default() -> Self {
        // Numbers 0, 1 and 2 mean future, current and all associations.
        Associations { all: BTreeMap::new(), numbers: BTreeMap::new(), next: 3, timers: BTreeSet::new() }
    }
}

impl Associations {
    pub fn insert(&mut self, association: Association) -> i32 {
        let number = self.next;
        self.next = self.next.checked_add(1).unwrap_or(3);
        self.numbers.insert((association.port, association.id), number);
        self.all.insert(number, association);
        number
    }

    pub fn remove(&mut self, number: i32) -> Option<Association> {
        let association = self.all.remove(&number)?;
        if let Some(at) = association.timer {
            self.timers.remove(&(at, number));
        }
        self.numbers.remove(&(association.port, association.id));
        Some(association)
    }

    pub fn number(&self, port: u16, id: AssocId) -> Option<i32> {
        self.numbers.get(&(port, id)).copied()
    }

    pub fn get(&self, number: i32) -> Option<&Association> {
        self.all.get(&number)
    }

    pub fn get_mut(&mut self, number: i32) -> Option<&mut Association> {
        self.all.get_mut(&number)
    }

    pub fn iter(&self) -> impl Iterator<Item = (i32, &Association)> {
        self.all.iter().map(|(&number, association)| (number, association))
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Sets the timer of an association.
    pub fn arm(&mut self, number: i32, at: Instant) {
        if let Some(association) = self.all.get_mut(&number) {
            if let Some(before) = association.timer.replace(at) {
                self.timers.remove(&(before, number));
            }
            self.timers.insert((at, number));
        }
    }

    /// The first deadline of a timer.
    pub fn deadline(&self) -> Option<Instant> {
        self.timers.first().map(|&(at, _)| at)
    }

    /// The next association whose timer has expired.
    pub fn take_due(&mut self, now: Instant) -> Option<i32> {
        let &(at, number) = self.timers.first().filter(|&&(at, _)| at <= now)?;
        self.timers.remove(&(at, number));
        if let Some(association) = self.all.get_mut(&number) {
            association.timer = None;
        }
        Some(number)
    }
}
