//! Virtual time of the state machine. Time passes and timers expire; in the end all packets in flight are
//! delivered.

use super::{Host, Machine};
use crate::Side;
use sctp::State;
use units::{Instant, Span};

/// Largest number of packets without user data that an endpoint may send in a simulated second.
const PACKETS_A_SECOND: u64 = 200;

impl Machine {
    /// Runs for `span` and fires each timer when it expires.
    pub(super) fn pass(&mut self, span: Span) {
        let (start, end) = (self.now, self.now + span);
        let before = self.hosts.each_ref().map(|host| host.sent - host.data_packets());
        let mut turns = 0;
        while let Some(due) = self.next_timeout().filter(|&due| due <= end) {
            turns += 1;
            assert!(turns < 20_000, "too many timeouts after {start:?}");
            self.now = self.now.max(due);
            self.fire();
        }
        self.now = end;
        let seconds = span.as_nanos() / 1_000_000_000 + 1;
        for (side, before) in [Side::Client, Side::Server].into_iter().zip(before) {
            let host = self.host(side);
            let sent = host.sent - host.data_packets() - before;
            assert!(sent <= PACKETS_A_SECOND * seconds, "{side:?} sends {sent} packets in {seconds} s");
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.hosts.iter().filter_map(|host| host.endpoint.poll_timeout()).min()
    }

    pub(super) fn fire(&mut self) {
        for side in [Side::Client, Side::Server] {
            let now = self.now;
            if self.host(side).endpoint.poll_timeout().is_some_and(|due| due <= now) {
                self.host(side).endpoint.handle_timeout(now);
                self.drain(side);
            }
        }
    }

    pub(super) fn expire(&mut self) {
        if let Some(due) = self.next_timeout() {
            self.now = self.now.max(due);
            self.fire();
        }
    }

    /// Delivers all packets from now on. Checks that all messages are read, unless an association ended or
    /// packets were forged.
    pub(super) fn finish(&mut self) {
        for _ in 0..4_000 {
            self.deliver_all();
            self.read(Side::Client, usize::MAX);
            self.read(Side::Server, usize::MAX);
            if self.flying.is_empty() {
                if self.is_quiet() {
                    break;
                }
                self.expire();
            }
        }
        // If a COOKIE ECHO arrives after its sender has started a new handshake with the same tag, only one
        // side becomes established (rfc9260#section-5.2.4, no case of table 12). The handshake of the other
        // side fails after Max.Init.Retransmits.
        let established =
            |host: &Host| host.association.and_then(|id| host.endpoint.state(id)) == Some(State::Established);
        if !self.honest || self.ended || !self.hosts.iter().all(established) {
            return;
        }
        for (host, other) in [(0, 1), (1, 0)] {
            let remaining = self.hosts[host].undelivered.remaining();
            assert_eq!(remaining, 0, "messages not delivered to host {other}; {}", self.describe());
        }
    }

    /// Describes the associations of both hosts, for messages of failed assertions.
    pub(super) fn describe(&self) -> String {
        let mut text = format!("at {} s", self.now.as_secs_f64());
        for host in &self.hosts {
            for id in host.endpoint.associations() {
                let (state, stats) = (host.endpoint.state(id), host.endpoint.stats(id));
                let paths: Vec<_> = host.endpoint.paths(id).into_iter().flatten().collect();
                let used = host.association == Some(id);
                text += &format!("\n{id:?}, used {used}: {state:?}, {stats:?}, {paths:?}");
            }
        }
        text
    }

    /// True if no data waits to be sent or acknowledged.
    fn is_quiet(&self) -> bool {
        self.hosts.iter().all(|host| {
            host.stats().is_none_or(|stats| stats.unsent_messages == 0 && stats.outstanding_chunks == 0)
        })
    }
}
