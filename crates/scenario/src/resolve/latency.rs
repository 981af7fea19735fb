use super::flows::{host, networks};
use super::limits::{PlannedEnd, starts};
use super::{FlowGroup, Nodes, is_name, is_new, members};
use crate::decode::At;
use crate::diagnostic::Faults;
use crate::file::LatencyTable;
use crate::{Distribution, Flow, Hertz, Link, Pace, Protocol, Traffic, Transfers, Window};
use units::{ByteCount, Instant, Span};

/// Payload of a probe, and of its echo.
const PROBE: ByteCount = ByteCount::new(64);

/// The server's port of the first path: that of the echo service (`rfc862`). Each further path has the next
/// free port, because all flows to one port have the same addresses of the server.
const ECHO_PORT: u16 = 7;

/// Adds a flow with `echo` for each path of each table; `None` if a fault was noted.
pub(super) fn resolve<'t>(
    tables: &'t [LatencyTable],
    nodes: &Nodes,
    links: &[Link],
    load: &Load<'_>,
    (flows, groups): (&mut Vec<Flow>, &mut Vec<FlowGroup<'t>>),
    faults: &mut Faults,
) -> Option<()> {
    let times = load.times(flows);
    for table in tables {
        let LatencyTable { name, client, .. } = table;
        let transfers = load.transfers.iter().map(|transfers| transfers.like.name.as_str());
        let others = groups.iter().map(|group| group.name.value.as_str()).chain(transfers);
        let named = At { span: table.place().clone(), ..name.clone() };
        let is_named = is_name(name, faults) && is_new(&named, others, "flow", faults);
        let probes = probes(table, nodes, links, (flows, times), faults).filter(|_| is_named)?;
        let first = flows.len();
        flows.extend(probes);
        groups.push(FlowGroup { name, client, local_port: None, flows: first..flows.len() });
    }
    Some(())
}

/// The probes of a table, one flow for each path. `others`: the flows that exist already.
fn probes(
    table: &LatencyTable,
    nodes: &Nodes,
    links: &[Link],
    (others, times): (&[Flow], Option<Times>),
    faults: &mut Faults,
) -> Option<Vec<Flow>> {
    let ends = [&table.client, &table.server].map(|name| host(name, nodes, faults));
    let ends = [ends[0]?, ends[1]?];
    let paths = networks([&table.client, &table.server], &table.networks, ends, links, faults)?;
    let mut fault = |message: &str| {
        faults.note(table.place().clone(), message.to_owned());
        None
    };
    let Some(Times { idle_to, from, to }) = times else {
        let message = "there is no load; expected a [[flow]] or [[transfers]] beside the probes";
        return fault(message);
    };
    if idle_to == Instant::ZERO {
        let message = "no time is without load; expected a `start_time` of the flows, or a `from` of the transfers, \
                       above 0 s, or a [[window]] named \"idle\"";
        return fault(message);
    }
    let pace = Pace::Frames(Distribution::Constant(Hertz(table.rate.0.into())));
    let traffic = Traffic::plain(pace, Distribution::Constant(PROBE), PROBE);
    let ports = (ECHO_PORT..).filter(|port| others.iter().all(|flow| flow.remote_port != *port));
    let names = members(&table.name.value, paths.len() as u32);
    let probes = names.zip(ports).zip(&paths).map(|((name, remote_port), &network)| Flow {
        remote_port,
        echo: true,
        reset_time: from.since(Instant::ZERO),
        stop_time: to.since(Instant::ZERO),
        networks: Some(vec![network]),
        ..Flow::from_client(name, ends, Protocol::Udp, traffic.clone())
    });
    Some(probes.collect())
}

/// The transfers, which load the paths as the flows do, and the times that bound the measurement.
pub(super) struct Load<'a> {
    pub end: PlannedEnd,
    pub transfers: &'a [Transfers],
    pub windows: &'a [Window],
}

/// The end of the time before any traffic of flows and transfers, and the time in which probes are measured.
#[derive(Clone, Copy)]
struct Times {
    idle_to: Instant,
    from: Instant,
    to: Instant,
}

impl Load<'_> {
    /// The times of the probes; `None` if there are no flows and no transfers.
    ///
    /// Probes are measured from the earliest `reset_time` of a flow, or `from` of transfers, to the planned
    /// end.
    fn times(&self, flows: &[Flow]) -> Option<Times> {
        let flows = flows.iter().filter(|flow| !flow.echo);
        let flows = flows.map(|flow| (Instant::ZERO + starts(flow)[0], flow.reset_time));
        let transfers = self.transfers.iter().map(|transfers| (transfers.from, Span::ZERO));
        let load: Vec<_> = flows.chain(transfers).collect();
        let idle = self.windows.iter().find(|window| window.name == Window::IDLE);
        let idle_to = idle.map_or(load.iter().map(|&(start, _)| start).min()?, |window| window.to);
        Some(Times {
            idle_to,
            from: load.iter().map(|&(start, reset)| start + reset).min()?,
            to: self.end.at,
        })
    }
}
