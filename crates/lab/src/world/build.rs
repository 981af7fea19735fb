//! Builds the simulated world of a scenario, at time zero.

use super::changes::Changes;
use super::{LINGER, LabEvent, World, dial, endpoints, logs, topology};
use crate::app::{Dial, Flow, Meter, Plan, Source, Step, TransferSource};
use crate::host::{EndpointId, Hosts};
use crate::metrics::{Links, Windows};
use crate::output::{RunControl, RunError};
use crate::probe::Probes;
use crate::scenario::{self, Protocol, Scenario, Traffic};
use crate::traffic::draw;
use des::{Kernel, Streams};
use endpoints::Bindings;
use units::Instant;

impl World {
    /// Builds the simulation of one replica.
    pub(super) fn build(scenario: &Scenario, replica: u32, control: &RunControl) -> Result<World, RunError> {
        let streams = Streams::new(scenario.seed, replica);
        let topology::Built { mut network, nodes, links } = topology::build(scenario, &streams)?;
        let mut kernel = Kernel::new();
        topology::schedule_outages(scenario, &links, &mut kernel);
        topology::schedule_carriers(scenario, &mut kernel);
        topology::schedule_renumberings(scenario, &nodes, &links, &mut kernel);
        topology::schedule_rebindings(scenario, &nodes, &mut kernel);
        topology::start_captures(scenario, &mut network, &nodes, &links, control)?;

        let mut bindings = Bindings::default();
        let mut dials = Vec::with_capacity(scenario.flows.len());
        for flow in &scenario.flows {
            dials.push(dial::bind(flow, scenario, &network, &nodes, &mut bindings)?);
        }
        let mut callers = Vec::with_capacity(scenario.transfers.len());
        for transfers in &scenario.transfers {
            callers.push(dial::bind_server(&transfers.like, scenario, &network, &nodes, &mut bindings)?);
        }
        let checksum = topology::checksum(scenario);
        let qlog = control.qlog.as_deref().map(|dir| logs::folder(dir, scenario, &dials)).transpose()?;
        let mut hosts = Hosts::new(nodes.len(), qlog);
        let placed = bindings.create(&streams, checksum, &network, &mut hosts)?;
        let mut flows = Vec::with_capacity(dials.len());
        let mut until = Instant::ZERO;
        for (index, (spec, dial)) in scenario.flows.iter().zip(dials).enumerate() {
            let (client, server) = (placed[2 * index], placed[2 * index + 1]);
            hosts.expect(server, &dial.callers, spec.local_port, index);
            let flow = flow(spec, dial, [client, server], &streams);
            let Plan { connect, start, stop, .. } = flow.plan;
            // A client on a real host (one outside the simulation) opens its connection itself.
            if scenario.real.iter().all(|host| host.node != spec.client) {
                kernel.schedule(connect, LabEvent::Flow(index as u32, Step::Connect));
            }
            kernel.schedule(connect + start, LabEvent::Flow(index as u32, Step::Start));
            until = until.max(connect + start + stop + LINGER);
            flows.push(flow);
        }
        let mut transfers = Vec::with_capacity(callers.len());
        let servers = &placed[2 * flows.len()..];
        for ((spec, dial), &server) in scenario.transfers.iter().zip(callers).zip(servers) {
            let random = streams.stream(&format!("transfers {}", spec.like.name));
            let mut source = TransferSource::new(spec.clone(), dial, server, random);
            if let Some(at) = source.next(spec.from) {
                kernel.schedule(at, LabEvent::Transfer(transfers.len() as u32));
            }
            until = until.max(spec.to + LINGER);
            transfers.push(source);
        }
        for (number, window) in (0..).zip(&scenario.windows) {
            kernel.schedule(window.from, LabEvent::Window(number));
            kernel.schedule(window.to, LabEvent::Window(number));
        }
        let (probes, first) = Probes::new(scenario, &links, &flows, &mut network)?;
        first.into_iter().for_each(|(at, probe)| kernel.schedule(at, LabEvent::Probe(probe)));
        Ok(World {
            changes: Changes::new(&scenario.changes, &links, &mut kernel),
            links: Links::new(scenario, &links),
            directions: links.iter().flat_map(|link| [link.forward(), link.backward()]).collect(),
            windows: Windows::new(scenario),
            kernel,
            network,
            hosts,
            flows,
            transfers,
            lanes: Vec::new(),
            streams,
            checksum,
            probes,
            signals: Vec::new(),
            datagrams: scenario.flows.iter().any(|flow| flow.protocol == Protocol::Udp),
            until,
        })
    }
}

/// Creates a flow between two endpoints, which has not started yet.
fn flow(spec: &scenario::Flow, dial: Dial, ends: [EndpointId; 2], streams: &Streams) -> Flow {
    let drawn = |law, what: &str| draw::span(law, &mut streams.stream(&format!("{what} {}", spec.name)));
    let plan = Plan {
        connect: Instant::ZERO + drawn(spec.connect_time, "connect"),
        start: drawn(spec.start_time, "start"),
        reset: spec.reset_time,
        stop: spec.stop_time,
    };
    let meter = |endpoint, traffic: &Option<Traffic>, way| {
        let random = ["frames", "turns"].map(|what| streams.stream(&format!("{what} {} {way}", spec.name)));
        Meter::new(endpoint, traffic.clone().map(|traffic| Source::new(traffic, random)))
    };
    let meters = [meter(ends[0], &spec.forward, "forward"), meter(ends[1], &spec.back, "back")];
    let concurrent = spec.protocol == Protocol::Sctp && spec.client_options.cmt.enabled;
    let mut flow = Flow::new(spec.name.clone(), plan, dial, concurrent, meters);
    flow.identifies = spec.identify;
    flow.echoes = spec.echo;
    flow.stream_resets = spec.stream_resets.clone();
    flow
}
