use super::quantity as q;
use super::rows::RowWriter;
use crate::output::Scalar;
use crate::scenario::Scenario;
use net::{Counters, DropCause, LinkDir, LinkId, Network};
use std::collections::BTreeMap;
use units::Instant;

/// All directions of links. They are measured from the start of the first measurement of a flow to the end of
/// the last one.
#[derive(Debug)]
pub(crate) struct Links {
    directions: Vec<Direction>,
    begin: Option<LinkCounts>,
    end: Option<LinkCounts>,
}

#[derive(Debug)]
struct Direction {
    name: String,
    direction: LinkDir,
    /// Mean rate in bit/s; infinite if a transmission takes no time.
    rate: f64,
}

/// The counters of all directions at an instant.
#[derive(Clone, Debug)]
pub(crate) struct LinkCounts {
    at: Instant,
    counters: Vec<Counters>,
}

/// Name of a direction of a link in results.
pub(crate) fn direction_name(link: &str, back: bool) -> String {
    if back { format!("link:{link}:back") } else { format!("link:{link}") }
}

impl Links {
    pub(crate) fn new(scenario: &Scenario, links: &[LinkId]) -> Self {
        let mut directions = Vec::with_capacity(2 * links.len());
        for (link, id) in scenario.links.iter().zip(links) {
            for (back, direction, channel) in
                [(false, id.forward(), &link.forward), (true, id.backward(), &link.back)]
            {
                let rate = channel.mean_rate().map_or(f64::INFINITY, |rate| rate.as_bps() as f64);
                directions.push(Direction { name: direction_name(&link.name, back), direction, rate });
            }
        }
        Links { directions, begin: None, end: None }
    }

    /// The rate of a direction in bit/s.
    pub(super) fn rate(&self, direction: LinkDir) -> f64 {
        let found = self.directions.iter().find(|other| other.direction == direction);
        found.map_or(0.0, |found| found.rate)
    }

    /// The counters of all directions now.
    pub(crate) fn count(&self, network: &Network, at: Instant) -> LinkCounts {
        let counters = self.directions.iter().map(|one| *network.counters(one.direction));
        LinkCounts { at, counters: counters.collect() }
    }

    /// Records the start of a flow's measurement.
    pub(crate) fn begin(&mut self, network: &Network, now: Instant) {
        if self.begin.is_none() {
            self.begin = Some(self.count(network, now));
        }
    }

    /// Records the end of the last flow's measurement, or of the run.
    pub(crate) fn end(&mut self, network: &Network, now: Instant) {
        if self.end.is_none() {
            self.end = Some(self.count(network, now));
        }
    }

    /// The counters at the start and at the end of the flows' measurement; `None` if no flow was measured.
    pub(super) fn counted(&self) -> Option<(&LinkCounts, &LinkCounts)> {
        self.begin.as_ref().zip(self.end.as_ref())
    }

    /// The rows of results of all links in a window; `sent` is the payload sent over each link, in bit/s.
    pub(super) fn report(
        &self,
        window: &str,
        begin: &LinkCounts,
        end: &LinkCounts,
        sent: &BTreeMap<LinkDir, f64>,
        out: &mut Vec<Scalar>,
    ) {
        let seconds = end.at.since(begin.at).as_secs_f64();
        for ((Direction { name, direction, rate }, begin), end) in
            self.directions.iter().zip(&begin.counters).zip(&end.counters)
        {
            let rows = &mut RowWriter { window, flow: name, out: &mut *out };
            let bytes = (end.delivered_bytes - begin.delivered_bytes).as_f64();
            rows.write(q::LINK_OFFERED, (end.offered - begin.offered) as f64);
            rows.write(q::LINK_DELIVERED, (end.delivered - begin.delivered) as f64);
            rows.write(q::LINK_BYTES, bytes);
            rows.write(q::LINK_UTILISATION, 8.0 * bytes / (rate * seconds));
            rows.write(q::LINK_THROUGHPUT, sent.get(direction).copied().unwrap_or(0.0) / rate);
            rows.write(q::LINK_QUEUE_MAX, end.queue_max as f64);
            for (quantity, cause) in q::LINK_DROPS.into_iter().zip(DropCause::ALL) {
                rows.write(quantity, (end.dropped(cause) - begin.dropped(cause)) as f64);
            }
        }
    }
}
