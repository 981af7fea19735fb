//! One host of the state machine: its endpoint and the messages it has sent.

use super::NETS;
use super::forge::Secrets;
use super::reports::Reports;
use crate::Side;
use sctp::{AssocId, Config, Endpoint, EndpointConfig, Event, Seed};
use std::collections::{BTreeMap, VecDeque};
use transport::Checksum;

#[derive(Debug)]
pub(super) struct Host {
    pub(super) endpoint: Endpoint,
    pub(super) config: Config,
    /// The association that the host started or accepted last.
    pub(super) association: Option<AssocId>,
    pub(super) undelivered: SentMessages,
    pub(super) reports: Reports,
    /// Messages of which the host has read a part, by their first TSN.
    pub(super) parts: BTreeMap<u32, Vec<u8>>,
    pub(super) read: u64,
    pub(super) messages: u8,
    /// The values that an attacker uses in packets forged to this host.
    pub(super) secrets: Option<Secrets>,
    pub(super) sent: u64,
}

/// The messages that a host has sent and that the other has not read yet. Each message repeats one byte.
#[derive(Debug, Default)]
pub(super) struct SentMessages {
    /// Ordered messages by stream, in the order of sending.
    ordered: BTreeMap<u16, VecDeque<Vec<u8>>>,
    unordered: Vec<Vec<u8>>,
    /// Abandoned messages, each given by the byte that it repeats. The peer may or may not deliver them.
    abandoned: Vec<u8>,
}

impl Host {
    pub(super) fn new(side: Side, config: Config) -> Host {
        let mut endpoint = Endpoint::new(EndpointConfig {
            port: side.port(),
            addresses: (1..=NETS).map(|net| side.address(net)).collect(),
            seed: Seed::for_simulation(u64::from(side.port())),
            checksum: Checksum::Offloaded,
            max_associations: 4,
            encapsulation: None,
            config: config.clone().into(),
        })
        .expect("a valid configuration");
        endpoint.listen(true);
        Host {
            endpoint,
            config,
            association: None,
            undelivered: SentMessages::default(),
            reports: Reports::default(),
            parts: BTreeMap::new(),
            read: 0,
            messages: 0,
            secrets: None,
            sent: 0,
        }
    }

    pub(super) fn stats(&self) -> Option<sctp::AssocStats> {
        self.endpoint.stats(self.association?)
    }

    /// Number of packets with user data of all current associations.
    pub(super) fn data_packets(&self) -> u64 {
        let paths = self.endpoint.associations().filter_map(|id| self.endpoint.paths(id)).flatten();
        paths.map(|path| path.stats.data_packets).sum()
    }

    pub(super) fn check_bounds(&self) {
        for stats in self.endpoint.associations().filter_map(|id| self.endpoint.stats(id)) {
            assert!(stats.buffered <= self.config.send_buffer.most(), "{stats:?}");
            assert!(stats.outstanding_chunks <= 1 << 15, "{stats:?}");
        }
        let associations = self.endpoint.associations().count();
        assert!(associations <= 4, "{associations} associations");
    }
}

impl SentMessages {
    pub(super) fn push(&mut self, stream: u16, unordered: bool, message: Vec<u8>) {
        if unordered {
            self.unordered.push(message);
        } else {
            self.ordered.entry(stream).or_default().push_back(message);
        }
    }

    /// Removes a message that the other host has read. Returns false if the message was not sent, or is not
    /// the next one of its stream.
    pub(super) fn take(&mut self, stream: u16, unordered: bool, message: &[u8]) -> bool {
        if unordered {
            let sent = self.unordered.iter().position(|sent| sent == message);
            return sent.map(|at| self.unordered.swap_remove(at)).is_some();
        }
        let Some(waiting) = self.ordered.get_mut(&stream) else { return false };
        let skipped = waiting.iter().take_while(|next| *next != message && self.abandoned.contains(&next[0]));
        let skipped = skipped.count();
        waiting.drain(..skipped);
        waiting.pop_front().is_some_and(|next| next == message)
    }

    /// Processes an event: records a message that the endpoint has abandoned.
    pub(super) fn told(&mut self, event: &Event) {
        if let Event::SendFailed { abandoned: true, message, .. } = event {
            self.abandoned.push(message.context as u8);
        }
    }

    pub(super) fn remaining(&self) -> usize {
        let all = self.unordered.iter().chain(self.ordered.values().flatten());
        all.filter(|message| !self.abandoned.contains(&message[0])).count()
    }
}
