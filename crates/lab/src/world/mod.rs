//! The simulated world: hosts with endpoints and applications, and the network between them.
//!
//! One kernel runs all events. Events of one instant run in the order in which they were scheduled, and each random draw
//! comes from a stream named after the component that draws. The same scenario, seed and replica therefore give the same
//! output on any machine.

mod build;
mod dial;
mod endpoints;
mod event;
mod flows;
mod topology;
mod transfers;
mod trial;

pub(crate) use event::LabEvent;
pub use trial::parse;

use crate::app::{Flow, Lane, Running, Signal, TransferSource};
use crate::host::{Hosts, Surroundings};
use crate::metrics::{self, Links, Windows};
use crate::output::{RunControl, RunError, RunOutput};
use crate::probe::{ProbeView, Probes};
use crate::scenario::Scenario;
use des::{Kernel, Streams};
use net::{LinkId, Network, NodeId};
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
    /// For endpoints that are created during the run.
    streams: Streams,
    checksum: Checksum,
    probes: Probes,
    links: Links,
    windows: Windows,
    signals: Vec<Signal>,
    /// True if some flow uses UDP.
    datagrams: bool,
    /// Latest end of the run.
    until: Instant,
}

/// Simulates one replica of a scenario until every connection has ended, or two minutes after the last planned stop.
///
/// # Errors
/// [`RunError`] if the scenario cannot be built, a capture cannot be written, or the run was cancelled. A flow that
/// does not connect is not an error: the result has a warning.
pub fn run(scenario: &Scenario, replica: u32, control: &RunControl) -> Result<RunOutput, RunError> {
    let mut world = World::build(scenario, replica, control)?;
    world.run(control)?;
    world
        .network
        .finish_captures()
        .map_err(|source| RunError::Capture { path: control.captures.clone().unwrap_or_default(), source })?;
    let now = world.kernel.now();
    world.links.end(&world.network, now);
    let mut scalars = metrics::of_run(&world.network, &world.flows, &world.links, &world.windows);
    scalars.extend(metrics::of_nats(&world.network));
    world.probes.end(now);
    let (mut series, bursts) = world.probes.into_results(scenario);
    scalars.extend(bursts);
    for source in &world.transfers {
        scalars.extend(metrics::of_transfers(source, &world.windows));
        series.extend(metrics::completion_times(source));
    }
    Ok(RunOutput {
        scalars,
        series,
        warnings: metrics::warnings(
            &world.flows,
            &world.transfers,
            &world.windows,
            world.network.unroutable(),
        ),
        failures: metrics::failures(&world.flows, &world.transfers),
        digest: world.network.digest(),
        packet_hops: world.network.packet_hops(),
        events: world.kernel.events_processed(),
        simulated: now.since(Instant::ZERO),
    })
}

impl World {
    fn run(&mut self, control: &RunControl) -> Result<(), RunError> {
        loop {
            for _ in 0..CANCEL_EVERY {
                let Some(event) = self.kernel.pop(self.until) else { return Ok(()) };
                self.handle(event);
                if !self.signals.is_empty() {
                    self.handle_signals();
                }
                if self.probes.watch_changes() {
                    self.record_changes();
                }
            }
            if control.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
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
