//! The simulated world: hosts with endpoints and applications, and the network between them.
//!
//! One kernel runs all events. Events of one instant run in the order in which they were scheduled, and each
//! random draw comes from a stream named after the component that draws. The same scenario, seed and replica
//! therefore give the same output on any machine.

mod build;
mod changes;
mod dial;
mod endpoints;
mod event;
mod flows;
mod live;
mod logs;
mod simulation;
mod topology;
mod transfers;
mod trial;

pub(crate) use event::LabEvent;
pub use live::Live;
pub use simulation::Simulation;
pub use trial::parse;

use crate::app::{Flow, Lane, Meter, Running, Signal, TransferSource};
use crate::host::{Hosts, Side, Surroundings};
use crate::metrics::{self, Links, Windows};
use crate::output::{FlowPaths, RunControl, RunError, RunOutput};
use crate::probe::{ProbeView, Probes};
use crate::scenario::Scenario;
use changes::Changes;
use des::{Kernel, Streams};
use net::{LinkDir, LinkId, Network, NodeId};
use transport::Checksum;
use units::{Instant, Span};

/// Time after the last planned stop in which connections may end.
const LINGER: Span = Span::from_secs(120);

/// Events between two checks of the cancel flag.
const CANCEL_EVERY: u64 = 1 << 14;

/// The state of the simulation.
struct World {
    kernel: Kernel<LabEvent>,
    network: Network,
    hosts: Hosts,
    flows: Vec<Flow>,
    transfers: Vec<TransferSource>,
    lanes: Vec<Lane>,
    /// Random streams for endpoints that are created during the run.
    streams: Streams,
    checksum: Checksum,
    probes: Probes,
    changes: Changes,
    links: Links,
    /// Both directions of each link, in the order of the scenario.
    directions: Vec<LinkDir>,
    windows: Windows,
    signals: Vec<Signal>,
    /// True if a flow uses UDP.
    datagrams: bool,
    /// Time at which the run ends at the latest.
    until: Instant,
}

/// Simulates one replica of a scenario until every connection has ended, or two minutes after the last
/// planned stop.
///
/// # Errors
/// [`RunError`] if the scenario cannot be built, a capture cannot be written, or the run was cancelled. A
/// flow that does not connect is not an error, but causes a warning in the output.
pub fn run(scenario: &Scenario, replica: u32, control: &RunControl) -> Result<RunOutput, RunError> {
    if let Some(host) = scenario.real.first() {
        let name = &scenario.nodes[host.node].name;
        return Err(RunError::Failed(format!(
            "\"{name}\" is a real host, which cannot be simulated; use `anabranch emulate`, or remove its [[host]]"
        )));
    }
    let mut world = World::build(scenario, replica, control)?;
    world.run(control)?;
    world.into_output(scenario, control)
}

impl World {
    /// Ends the run now and returns its output, after writing the captures.
    fn into_output(mut self, scenario: &Scenario, control: &RunControl) -> Result<RunOutput, RunError> {
        let left_out = self.network.finish_captures().map_err(|source| RunError::Capture {
            path: control.captures.clone().unwrap_or_default(),
            source,
        })?;
        let cut = topology::cut_captures(scenario, &left_out);
        let mut output = self.finish(scenario);
        output.warnings.extend(cut);
        Ok(output)
    }

    fn run(&mut self, control: &RunControl) -> Result<(), RunError> {
        loop {
            for _ in 0..CANCEL_EVERY {
                if !self.turn(Instant::FAR) {
                    return Ok(());
                }
            }
            if control.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
    }

    /// Handles the next event. Returns false if there is no event up to `limit`.
    #[inline(always)]
    fn turn(&mut self, limit: Instant) -> bool {
        let Some(event) = self.kernel.pop(self.until.min(limit)) else { return false };
        self.handle(event);
        self.react();
        true
    }

    /// Processes the consequences of the last event.
    #[inline(always)]
    fn react(&mut self) {
        if !self.signals.is_empty() {
            self.handle_signals();
        }
        if self.changes.watch() {
            self.watch_states();
        }
        if self.probes.watch_changes() {
            self.record_changes();
        }
    }

    /// Ends the run now and returns its output.
    fn finish(mut self, scenario: &Scenario) -> RunOutput {
        let now = self.kernel.now();
        self.links.end(&self.network, now);
        let paths = self.path_names(scenario);
        let mut scalars =
            metrics::of_run(&self.network, (&self.flows, &self.transfers), &self.links, &self.windows);
        scalars.extend(metrics::of_nats(&self.network));
        self.probes.end(now);
        let (mut series, bursts) = self.probes.into_results(scenario);
        scalars.extend(bursts);
        series.extend(self.flows.iter().filter_map(metrics::round_trips));
        for source in &self.transfers {
            scalars.extend(metrics::of_transfers(source, &self.windows));
            series.extend(metrics::completion_times(source));
        }
        let mut warnings = scenario.warnings();
        let unroutable = self.network.unroutable();
        warnings.extend(metrics::warnings(&self.flows, &self.transfers, &self.windows, unroutable));
        warnings.extend(self.changes.warnings(&self.flows));
        RunOutput {
            scalars,
            series,
            paths,
            warnings,
            failures: metrics::failures(&self.flows, &self.transfers),
            digest: self.network.digest(),
            packet_hops: self.network.packet_hops(),
            events: self.kernel.events_processed(),
            simulated: now.since(Instant::ZERO),
        }
    }

    /// The names of the paths of all flows with named paths.
    fn path_names(&mut self, scenario: &Scenario) -> Vec<FlowPaths> {
        let World { kernel, network, hosts, flows, .. } = self;
        let now = kernel.now();
        let mut paths = |meter: &Meter| meter.tally(now, hosts.endpoint(meter.endpoint)).counted.paths;
        let names = |flow: &Flow| {
            let ends = [Side::Client, Side::Server].map(|side| paths(flow.end(side)));
            metrics::paths_of_flow(network, scenario, flow, [&ends[0], &ends[1]])
        };
        flows.iter().filter_map(names).collect()
    }

    #[inline(always)]
    fn handle(&mut self, event: LabEvent) {
        match event {
            LabEvent::Net(event) => {
                if let Some(delivered) = self.network.handle(&mut self.kernel, event) {
                    let (hosts, mut around) = self.split();
                    hosts.deliver(delivered, &mut around);
                }
            }
            LabEvent::Wake(id) => {
                let (hosts, mut around) = self.split();
                hosts.wake(id, &mut around);
            }
            LabEvent::Carrier { link, up } => {
                let (hosts, mut around) = self.split();
                hosts.carrier(link as usize, up, &mut around);
            }
            LabEvent::Renumber { node, link } => self.renumber(node, link),
            LabEvent::Flow(flow, step) => self.step(flow as usize, step),
            LabEvent::Transfer(source) => self.transfer(source as usize),
            LabEvent::Window(window) => self.reach(window),
            LabEvent::Change { change, ends } => self.change(change, ends),
            LabEvent::Probe(probe) => {
                let (probes, view) = self.view();
                if let Some(again) = probes.record(probe, view) {
                    self.kernel.schedule(again, LabEvent::Probe(probe));
                }
            }
        }
    }

    /// The hosts, and the parts of the world that their endpoints need.
    #[inline]
    fn split(&mut self) -> (&mut Hosts, Surroundings<'_, LabEvent, Running<'_>>) {
        let World { kernel, network, hosts, flows, lanes, signals, .. } = self;
        (hosts, Surroundings { kernel, network, applications: Running { flows, lanes, signals } })
    }

    #[cold]
    fn renumber(&mut self, node: NodeId, link: LinkId) {
        if let Some(change) = self.network.renumber(node, link) {
            let (hosts, mut around) = self.split();
            hosts.renumber(node, change, &mut around);
        }
    }

    /// The probes, and the parts of the world that they record.
    fn view(&mut self) -> (&mut Probes, ProbeView<'_>) {
        let World { kernel, network, hosts, flows, probes, .. } = self;
        (probes, ProbeView { now: kernel.now(), network, hosts, flows })
    }

    #[cold]
    fn record_changes(&mut self) {
        let (probes, view) = self.view();
        probes.record_changes(view);
    }
}
