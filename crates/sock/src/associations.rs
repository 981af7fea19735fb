//! The associations of all sockets.

use sctp::AssocId;
use std::collections::BTreeMap;
use std::net::IpAddr;
use units::Instant;

/// An association.
#[derive(Clone, Debug)]
pub struct Association {
    /// Our SCTP port and the number of the association there.
    pub port: u16,
    pub id: AssocId,
    /// The socket; none once the program has closed it.
    pub owner: Option<usize>,
    /// Addresses of the peer: at first those that it was reached at.
    pub peers: Vec<IpAddr>,
    pub peer_port: u16,
    /// The handshake is complete.
    pub up: bool,
    pub outbound: u16,
    pub inbound: u16,
    /// When an association without socket is aborted.
    pub abort_at: Option<Instant>,
}

/// Associations by the number that programs see.
#[derive(Debug)]
pub struct Associations {
    all: BTreeMap<i32, Association>,
    numbers: BTreeMap<(u16, AssocId), i32>,
    next: i32,
}

impl Default for Associations {
    fn default() -> Self {
        // Numbers 0, 1 and 2 mean future, current and all associations.
        Associations { all: BTreeMap::new(), numbers: BTreeMap::new(), next: 3 }
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

    /// The first time at which an association without socket is aborted.
    pub fn deadline(&self) -> Option<Instant> {
        self.all.values().filter_map(|association| association.abort_at).min()
    }
}
