//! State that all peers of a guard (the encryption layer of an endpoint) share.

use crate::keys::{PrivateKey, PublicKey, Secret, fill_random};
use crate::stats::Stats;
use crate::suite::Suites;
use std::collections::{BTreeMap, VecDeque};
use transport::{Datagram, Transmit};

/// Largest number of queued handshake datagrams.
const OUTGOING: usize = 64;

/// Keys of this end, and the tables that all peers use.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) private: PrivateKey,
    pub(crate) public: PublicKey,
    pub(crate) door: Secret,
    pub(crate) suites: Suites,
    /// The number of the peer for each index by which a datagram may name a session or a handshake.
    pub(crate) indices: BTreeMap<u32, u32>,
    /// Datagrams of handshakes that wait to be sent.
    pub(crate) outgoing: VecDeque<(Transmit, Vec<u8>)>,
    pub(crate) stats: Stats,
}

impl Common {
    pub(crate) fn send(&mut self, route: Transmit, datagram: Vec<u8>) {
        if self.has_room() {
            self.outgoing.push_back((route, datagram));
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.outgoing.len() < OUTGOING
    }

    /// An index that names no session and cannot be predicted. `None` if the system has no randomness.
    pub(crate) fn new_index(&self) -> Option<u32> {
        let mut bytes = [0; 4];
        loop {
            fill_random(&mut bytes).ok()?;
            let index = u32::from_le_bytes(bytes);
            if !self.indices.contains_key(&index) {
                return Some(index);
            }
        }
    }
}

/// The route back to the sender of a datagram.
pub(crate) fn back(datagram: &Datagram<'_>) -> Transmit {
    Transmit { udp_port: datagram.udp_port, ..Transmit::new(datagram.dst, datagram.src) }
}
