//! States of a run as rows of numbers, at regular times.

use lab::watch::FlowNow;
use lab::world::Simulation;
use units::{Instant, Span};

/// Number of values in a row about a path.
const PATH_ROW: usize = 9;
/// Number of values in a row about a flow.
const FLOW_ROW: usize = 4;
/// Number of values in a row about one direction of a link.
const LINK_ROW: usize = 7;

/// Number of samples in a whole run: enough for a curve as wide as a screen.
const SAMPLES: u64 = 1500;

/// The samples that the page has not fetched yet.
pub struct Samples {
    interval: Span,
    /// Time of the next sample.
    pub next: Instant,
    pub paths: Vec<f64>,
    pub flows: Vec<f64>,
    pub links: Vec<f64>,
}

impl Samples {
    /// Creates an empty list for a run of this length.
    pub fn new(length: Span) -> Self {
        let interval = Span::from_nanos((length.as_nanos() / SAMPLES).max(1_000_000));
        Samples { interval, next: Instant::ZERO, paths: Vec::new(), flows: Vec::new(), links: Vec::new() }
    }

    /// Adds the state of the run at `at`.
    pub fn take(&mut self, simulation: &mut Simulation, at: Instant) {
        let flows = simulation.flows(at);
        self.paths.extend(path_rows(&flows, at));
        for (number, flow) in flows.iter().enumerate() {
            let limit = flow.limit.map_or(f64::NAN, |limit| f64::from(limit as u8));
            let row: [f64; FLOW_ROW] = [at.as_secs_f64(), number as f64, flow.received.as_f64(), limit];
            self.flows.extend(row);
        }
        self.links.extend(links(simulation, at));
        self.next = at + self.interval;
    }
}

/// A row for each path.
pub fn paths(simulation: &mut Simulation, at: Instant) -> Vec<f64> {
    path_rows(&simulation.flows(at), at)
}

fn path_rows(flows: &[FlowNow], at: Instant) -> Vec<f64> {
    let mut rows = Vec::new();
    for (flow, now) in flows.iter().enumerate() {
        for (number, path) in now.paths.iter().enumerate() {
            let row: [f64; PATH_ROW] = [
                at.as_secs_f64(),
                flow as f64,
                number as f64,
                path.cwnd.as_f64(),
                path.ssthresh.map_or(f64::NAN, |bytes| bytes.as_f64()),
                path.flight.as_f64(),
                path.srtt.map_or(f64::NAN, Span::as_secs_f64),
                path.sent.as_f64(),
                (path.fast_retransmissions + path.timer_retransmissions) as f64,
            ];
            rows.extend(row);
        }
    }
    rows
}

/// A row for each direction of a link.
pub fn links(simulation: &mut Simulation, at: Instant) -> Vec<f64> {
    let mut rows = Vec::new();
    for (direction, link) in simulation.links(at).into_iter().enumerate() {
        let row: [f64; LINK_ROW] = [
            at.as_secs_f64(),
            direction as f64,
            link.packets as f64,
            link.bytes.as_f64(),
            link.counters.dropped_in_all() as f64,
            link.counters.delivered_bytes.as_f64(),
            f64::from(u8::from(link.up)),
        ];
        rows.extend(row);
    }
    rows
}
