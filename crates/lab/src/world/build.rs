//! From a scenario to a world at time zero.

use super::{LINGER, LabEvent, World, dial, endpoints, topology};
use crate::app::{Flow, Meter, Plan, Side, Source, Step, TransferSource, draw_span};
use crate::host::Hosts;
use crate::metrics::{Links, Windows};
use crate::output::{RunControl, RunError};
use crate::probe::Probes;
use crate::scenario::{Protocol, Scenario};
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
        let mut hosts = Hosts::new(nodes.len());
        let placed = bindings.create(&streams, checksum, &network, &mut hosts)?;
        let mut flows = Vec::with_capacity(dials.len());
        let mut until = Instant::ZERO;
        for (index, (spec, dial)) in scenario.flows.iter().zip(dials).enumerate() {
            let (client, server) = (placed[2 * index], placed[2 * index + 1]);
            hosts.expect(server, &dial.locals, spec.local_port, index);
            let connect_time =
                draw_span(spec.connect_time, &mut streams.stream(&format!("connect {}", spec.name)));
            let plan = Plan {
                connect: Instant::ZERO + connect_time,
                start: spec.start_time,
                reset: spec.reset_time,
                stop: spec.stop_time,
            };
            kernel.schedule(plan.connect, LabEvent::Flow(index as u32, Step::Connect));
            kernel.schedule(plan.connect + plan.start, LabEvent::Flow(index as u32, Step::Start));
            until = until.max(plan.connect + plan.start + plan.stop + LINGER);
            let source = |side: Side| {
                let (traffic, way) = match side {
                    Side::Client => (&spec.forward, "forward"),
                    Side::Server => (&spec.back, "back"),
                };
                let random = streams.stream(&format!("frames {} {way}", spec.name));
                traffic.clone().map(|traffic| Source::new(traffic, random))
            };
            let ends = [Meter::new(client, source(Side::Client)), Meter::new(server, source(Side::Server))];
            let concurrent = spec.protocol == Protocol::Sctp && spec.client_options.cmt.enabled;
            flows.push(Flow::new(spec.name.clone(), plan, dial, concurrent, ends));
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
        let probes = Probes::new(scenario, &links, &flows, &mut network, &mut kernel)?;
        Ok(World {
            links: Links::new(scenario, &links),
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
