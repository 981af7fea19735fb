//! ASCONF (`rfc5061`) adds addresses to an association and deletes them. This module keeps the requests and
//! serial numbers of one end; `assoc/asconf.rs` and `assoc/changes.rs` change the paths.

mod answer;
mod queue;

pub(crate) use answer::{Answered, Verdict};
pub(crate) use queue::{Outstanding, Queue, Wanted, unspecified};

use crate::config::Config;
use std::collections::VecDeque;
use std::net::IpAddr;
use wire::{Asconf, AsconfAck, Tsn};

pub(crate) const TYPES: &[u8] = &[Asconf::TYPE, AsconfAck::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.asconf
}

/// Largest number of deleted addresses of the peer that are stored; packets from them may still arrive.
const MOST_DEPARTED: usize = 16;

/// State of an association with ASCONF.
#[derive(Debug)]
pub(crate) struct AsconfState {
    /// Our requests.
    pub(crate) queue: Queue,
    /// Our answers to requests of the peer.
    pub(crate) answered: Answered,
    /// Addresses that the peer deleted.
    departed: VecDeque<IpAddr>,
    /// Addresses that the current packet requests to add, although they belong to other associations.
    pub(crate) taken: Vec<IpAddr>,
    /// The address that becomes primary at the request of the peer once it is confirmed.
    pub(crate) preferred: Option<IpAddr>,
}

impl AsconfState {
    /// Starts with the initial TSNs as the first serial numbers (`rfc5061#section-5.1`).
    pub(crate) fn new(ours: Tsn, theirs: Tsn) -> Self {
        AsconfState {
            queue: Queue::new(ours.0),
            answered: Answered::new(theirs.0),
            departed: VecDeque::new(),
            taken: Vec::new(),
            preferred: None,
        }
    }

    /// Notes that the peer deleted an address.
    pub(crate) fn depart(&mut self, address: IpAddr) {
        if self.departed.len() == MOST_DEPARTED {
            self.departed.pop_front();
        }
        self.departed.push_back(address);
    }

    /// Notes that the peer added an address again.
    pub(crate) fn arrive(&mut self, address: IpAddr) {
        self.departed.retain(|&departed| departed != address);
    }

    pub(crate) fn has_departed(&self, address: IpAddr) -> bool {
        self.departed.contains(&address)
    }
}
