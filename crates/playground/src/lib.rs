//! The simulator for a web page. The page simulates a scenario step by step, and reads windows, queues and
//! packets between the steps. Numbers are returned as rows in flat arrays. Times are in seconds, and a
//! missing number is NaN.
//!
//! The page is in the folder `page`; `make playground` builds it.
#![forbid(unsafe_code)]

mod describe;
mod samples;

use lab::scenario::{Scenario, with_values};
use lab::watch::PacketKind;
use lab::world::Simulation;
use samples::Samples;
use serde_json::json;
use units::{Instant, Span};
use wasm_bindgen::prelude::wasm_bindgen;

/// A run in progress.
#[wasm_bindgen]
pub struct Playground {
    description: String,
    simulation: Simulation,
    samples: Samples,
    now: Instant,
}

#[wasm_bindgen]
impl Playground {
    /// Builds the first combination of a scenario, at time zero. `settings` are pairs of a key and its new
    /// value, one after the other, as for `anabranch run --set`.
    ///
    /// # Errors
    /// What is wrong with the scenario, and where.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, settings: Vec<String>) -> Result<Playground, String> {
        let scenario = read(text, &settings)?;
        let description = describe::scenario(&scenario);
        let simulation = Simulation::new(scenario, 0).map_err(|error| error.to_string())?;
        let samples = Samples::new(simulation.planned_end());
        Ok(Playground { description, simulation, samples, now: Instant::ZERO })
    }

    /// Nodes, links and flows of the scenario as JSON: see `describe.rs`.
    pub fn description(&self) -> String {
        self.description.clone()
    }

    /// Time at which the last flow is planned to stop, in seconds.
    pub fn planned_end(&self) -> f64 {
        self.simulation.planned_end().as_secs_f64()
    }

    /// Simulates up to a time in seconds. Returns true once the run is over.
    pub fn advance(&mut self, until: f64) -> bool {
        let until = Instant::ZERO + Span::from_secs_f64(until.max(0.0));
        while self.samples.next <= until {
            let at = self.samples.next;
            if self.simulation.advance(at) {
                return true;
            }
            self.now = at;
            self.samples.take(&mut self.simulation, at);
        }
        let over = self.simulation.advance(until);
        self.now = self.now.max(until);
        over
    }

    /// The time that the run has reached, in seconds.
    pub fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// Samples of paths since the last call, in rows of nine numbers: time, flow, path, cwnd, ssthresh,
    /// flight, SRTT, payload sent, retransmissions.
    pub fn path_samples(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.samples.paths)
    }

    /// Samples of flows since the last call, in rows of four numbers: time, flow, payload received, and the
    /// index in the description of the reason that holds the sender back.
    pub fn flow_samples(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.samples.flows)
    }

    /// Samples of link directions since the last call, in rows of seven numbers: time, direction, packets in
    /// the queue, bytes in the queue, packets dropped, bytes delivered, 1 if the link is up and 0 if it is
    /// down. Direction 2 n is link n from its first node to its second; direction 2 n + 1 is the reverse.
    pub fn link_samples(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.samples.links)
    }

    /// The directions of links now, in rows as those of [`Playground::link_samples`].
    pub fn links(&mut self) -> Vec<f64> {
        samples::links(&mut self.simulation, self.now)
    }

    /// The paths of flows now, in rows as those of [`Playground::path_samples`].
    pub fn paths(&mut self) -> Vec<f64> {
        samples::paths(&mut self.simulation, self.now)
    }

    /// Names of the paths of all flows as JSON: a list for each flow, with null for a path without a name.
    pub fn path_names(&mut self) -> String {
        json!(self.simulation.path_names(self.now)).to_string()
    }

    /// The packets on the links now, in rows of six numbers: direction of the link, start of the
    /// transmission, arrival at the far end, flow, path, and kind (0: payload, 1: retransmission, 2: no
    /// payload).
    pub fn packets(&mut self) -> Vec<f64> {
        let number = |index: Option<usize>| index.map_or(f64::NAN, |index| index as f64);
        let packets = self.simulation.packets(self.now).into_iter();
        packets
            .flat_map(|(direction, packet)| {
                let kind = match packet.kind {
                    PacketKind::Data => 0.0,
                    PacketKind::Retransmission => 1.0,
                    PacketKind::Control => 2.0,
                };
                let times = [packet.start, packet.arrival].map(Instant::as_secs_f64);
                [direction as f64, times[0], times[1], number(packet.flow), number(packet.path), kind]
            })
            .collect()
    }

    /// The digest of all packets that have reached a host, in hexadecimal as in manifests.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.simulation.digest())
    }

    /// Ends the run and returns its totals as JSON: see `describe.rs`.
    pub fn finish(self) -> String {
        describe::output(&self.simulation.finish())
    }
}

/// Parses a scenario with these settings and returns its first combination, without probes (recorded time
/// series): the web page takes its own samples.
fn read(text: &str, settings: &[String]) -> Result<Scenario, String> {
    let pairs = settings.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    let text = with_values(text, pairs)?;
    let sweep = lab::parse(&text, "scenario.toml").map_err(|error| error.render())?;
    let mut scenario = sweep.variants()[0].scenario.clone();
    scenario.probes.clear();
    Ok(scenario)
}
