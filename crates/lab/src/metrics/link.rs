use super::quantity as q;
use crate::output::Scalar;
use crate::scenario::Scenario;
use net::{Counters, DropCause, LinkDir, LinkId, Network};
use units::{BitRate, Instant};

/// The measurement of all links, from the first flow's begin of measurement to the last one's end.
#[derive(Debug)]
pub(crate) struct LinkWindow {
    directions: Vec<Measured>,
    begin: Option<Instant>,
    end: Option<Instant>,
}

#[derive(Debug)]
struct Measured {
    name: String,
    direction: LinkDir,
    rate: BitRate,
    begin: Counters,
    end: Counters,
}

/// What a direction of a link is called in results.
pub(crate) fn direction_name(link: &str, back: bool) -> String {
    if back { format!("link:{link}:back") } else { format!("link:{link}") }
}

impl LinkWindow {
    pub(crate) fn new(scenario: &Scenario, links: &[LinkId]) -> Self {
        let mut directions = Vec::with_capacity(2 * links.len());
        for (link, id) in scenario.links.iter().zip(links) {
            for (back, direction, rate) in
                [(false, id.forward(), link.forward.rate), (true, id.backward(), link.back.rate)]
            {
                let name = direction_name(&link.name, back);
                let (begin, end) = (Counters::default(), Counters::default());
                directions.push(Measured { name, direction, rate, begin, end });
            }
        }
        LinkWindow { directions, begin: None, end: None }
    }

    /// A flow's measurement begins.
    pub(crate) fn begin(&mut self, network: &Network, now: Instant) {
        if self.begin.is_none() {
            self.begin = Some(now);
            for measured in &mut self.directions {
                measured.begin = *network.counters(measured.direction);
            }
        }
    }

    /// The last flow's measurement ends, or the run does.
    pub(crate) fn end(&mut self, network: &Network, now: Instant) {
        if self.end.is_none() {
            self.end = Some(now);
            for measured in &mut self.directions {
                measured.end = *network.counters(measured.direction);
            }
        }
    }

    /// The scalars of all links; none if no flow was measured.
    pub(crate) fn scalars(&self) -> Vec<Scalar> {
        let (Some(begin), Some(end)) = (self.begin, self.end) else { return Vec::new() };
        let seconds = end.since(begin).as_secs_f64();
        let mut scalars = Vec::new();
        for Measured { name, rate, begin, end, .. } in &self.directions {
            let mut put = |quantity, value: f64| {
                scalars.push(Scalar { flow: name.clone(), path: None, quantity, value });
            };
            let bytes = (end.delivered_bytes - begin.delivered_bytes).as_f64();
            put(q::LINK_OFFERED, (end.offered - begin.offered) as f64);
            put(q::LINK_DELIVERED, (end.delivered - begin.delivered) as f64);
            put(q::LINK_BYTES, bytes);
            put(q::LINK_UTILISATION, 8.0 * bytes / (rate.as_bps() as f64 * seconds));
            put(q::LINK_QUEUE_MAX, end.queue_max as f64);
            for (quantity, cause) in q::LINK_DROPS.into_iter().zip(DropCause::ALL) {
                put(quantity, (end.dropped(cause) - begin.dropped(cause)) as f64);
            }
        }
        scalars
    }
}
