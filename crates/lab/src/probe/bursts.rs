//! Lengths of bursts: numbers of packets of a flow that arrive at a link back to back.

use crate::app::Flow;
use crate::metrics::{direction_name, quantity as q};
use crate::output::Scalar;
use crate::scenario::{self, ProbeQuantity, ProbeTarget, Scenario};
use net::{Arrival, LinkDir, LinkId, Protocol};
use std::collections::BTreeMap;
use std::net::IpAddr;
use units::{Instant, Span};

/// All links whose bursts are counted.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    links: Vec<Link>,
    /// Flows by protocol, address and port of the client.
    flows: BTreeMap<(u8, IpAddr, u16), usize>,
}

#[derive(Debug)]
struct Link {
    direction: LinkDir,
    name: String,
    gap: Span,
    from: Instant,
    to: Instant,
    /// Counters by flow.
    counts: BTreeMap<usize, Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    last: Option<Instant>,
    /// Packets of the current burst.
    length: u64,
    /// Number of bursts by length.
    ended: BTreeMap<u64, u64>,
}

impl Bursts {
    /// The counters for the probes of a scenario, and the link directions to observe.
    pub(super) fn new(scenario: &Scenario, links: &[LinkId], flows: &[Flow]) -> (Bursts, Vec<LinkDir>) {
        let mut bursts = Bursts::default();
        for probe in &scenario.probes {
            let (ProbeQuantity::Bursts, ProbeTarget::Link { link, back }) = (probe.quantity, probe.target)
            else {
                continue;
            };
            bursts.links.push(Link {
                direction: if back { links[link].backward() } else { links[link].forward() },
                name: direction_name(&scenario.links[link].name, back),
                gap: probe.gap,
                from: probe.from,
                to: probe.to.unwrap_or(Instant::FAR),
                counts: BTreeMap::new(),
            });
        }
        for (number, (spec, flow)) in scenario.flows.iter().zip(flows).enumerate() {
            let protocol = number_of(spec.protocol);
            let keys =
                flow.dial.locals.iter().map(|&local| ((protocol, local, flow.dial.local_port), number));
            bursts.flows.extend(keys);
        }
        let directions = bursts.links.iter().map(|link| link.direction).collect();
        (bursts, directions)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Adds a packet that arrives at a link.
    pub(super) fn count(&mut self, arrival: &Arrival) {
        let Arrival { at, link, src, dst, protocol, ports } = *arrival;
        let protocol = protocol as u8;
        let owner = self.flows.get(&(protocol, src, ports[0])).or(self.flows.get(&(protocol, dst, ports[1])));
        let watched = self.links.iter_mut().find(|one| one.direction == link);
        if let (Some(&flow), Some(watched)) = (owner, watched)
            && at >= watched.from
            && at <= watched.to
        {
            watched.counts.entry(flow).or_default().add(at, watched.gap);
        }
    }

    /// The distributions of burst lengths, as rows of each flow at each link.
    pub(super) fn into_scalars(self, scenario: &Scenario) -> Vec<Scalar> {
        let mut scalars = Vec::new();
        for link in self.links {
            for (flow, counts) in link.counts {
                let name = format!("{}@{}", scenario.flows[flow].name, link.name);
                counts.report(&name, &mut scalars);
            }
        }
        scalars
    }
}

fn number_of(protocol: scenario::Protocol) -> u8 {
    let protocol = match protocol {
        scenario::Protocol::Sctp => Protocol::Sctp,
        scenario::Protocol::Tcp => Protocol::Tcp,
        scenario::Protocol::Udp => Protocol::Udp,
    };
    protocol as u8
}

impl Counts {
    fn add(&mut self, at: Instant, gap: Span) {
        if self.last.is_none_or(|last| at.since(last) > gap) {
            self.end();
        }
        self.length += 1;
        self.last = Some(at);
    }

    fn end(&mut self) {
        let length = std::mem::take(&mut self.length);
        if length > 0 {
            *self.ended.entry(length).or_default() += 1;
        }
    }

    fn report(mut self, name: &str, out: &mut Vec<Scalar>) {
        self.end();
        let number: u64 = self.ended.values().sum();
        let packets: u64 = self.ended.iter().map(|(length, number)| length * number).sum();
        let mut put = |quantity, value: u64| {
            let (flow, window) = (name.to_owned(), String::new());
            out.push(Scalar { flow, window, path: None, quantity, value: value as f64 });
        };
        put(q::BURSTS, number);
        put(q::BURST_P95, self.quantile(number * 95));
        put(q::BURST_MAX, self.ended.last_key_value().map_or(0, |(length, _)| *length));
        for (place, quantity) in (1..).zip(q::BURSTS_OF) {
            let last = place == q::BURSTS_OF.len() as u64;
            let lengths = self.ended.range(place..if last { u64::MAX } else { place + 1 });
            put(quantity, lengths.map(|(_, number)| number).sum());
        }
        let mean = packets as f64 / number.max(1) as f64;
        let (flow, window) = (name.to_owned(), String::new());
        out.push(Scalar { flow, window, path: None, quantity: q::BURST_MEAN, value: mean });
    }

    /// The smallest length that at least n bursts do not exceed, where n is `hundredths` / 100.
    fn quantile(&self, hundredths: u64) -> u64 {
        let mut seen = 0;
        let reached = self.ended.iter().find(|(_, number)| {
            seen += *number;
            seen * 100 >= hundredths
        });
        reached.map_or(0, |(length, _)| *length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_within_the_gap_of_the_one_before_are_a_burst() {
        let mut counts = Counts::default();
        for micros in [0, 10, 20, 31, 50, 60, 100] {
            counts.add(Instant::ZERO + Span::from_micros(micros), Span::from_micros(10));
        }
        // Arrival times of packets in µs, with `|` between bursts: 0 10 20 | 31 | 50 60 | 100
        let mut scalars = Vec::new();
        counts.report("f@link:l", &mut scalars);
        let value = |quantity| scalars.iter().find(|s| s.quantity == quantity).map(|s| s.value);
        assert_eq!(
            [q::BURSTS, q::BURST_MEAN, q::BURST_P95, q::BURST_MAX].map(value),
            [4.0, 1.75, 3.0, 3.0].map(Some)
        );
        assert_eq!(
            ["bursts_of_1", "bursts_of_2", "bursts_of_3", "bursts_of_4"].map(value),
            [2.0, 1.0, 1.0, 0.0].map(Some)
        );
    }

    #[test]
    fn a_gap_of_zero_joins_what_comes_at_one_instant() {
        let mut counts = Counts::default();
        for nanos in [5, 5, 5, 6, 7, 7] {
            counts.add(Instant::from_nanos(nanos), Span::ZERO);
        }
        counts.end();
        assert_eq!(counts.ended, BTreeMap::from([(1, 1), (2, 1), (3, 1)]));
    }
}
