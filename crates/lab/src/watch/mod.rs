//! The state of a run at one moment, for viewers while it advances: [`Simulation`](crate::world::Simulation)
//! returns it. Viewing changes no result.

mod packets;

pub(crate) use packets::Packets;
pub use packets::{PacketKind, PacketNow};

use crate::app::Flow;
use crate::host::{Counted, Hosts, Side, Transport};
use crate::metrics;
use crate::scenario::Scenario;
use net::{Counters, LinkDir, Network};
use transport::Limit;
use units::{ByteCount, Instant, Span};

/// The parts of the simulation that viewers can read.
pub(crate) struct View<'a> {
    pub(crate) now: Instant,
    pub(crate) network: &'a mut Network,
    pub(crate) hosts: &'a mut Hosts,
    pub(crate) flows: &'a [Flow],
}

/// The state of a flow. If it sends in both directions, the client is the sending end.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowNow {
    /// Payload that the receiving application has received.
    pub received: ByteCount,
    /// The reason that keeps the sending end from sending more; `None` before its first transmission, and for
    /// UDP.
    pub limit: Option<Limit>,
    /// The paths of the sending end; empty while there is no connection.
    pub paths: Vec<PathNow>,
}

/// The state of a path of a flow's sending end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathNow {
    /// Congestion window.
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` while it is unlimited.
    pub ssthresh: Option<ByteCount>,
    /// Bytes in flight.
    pub flight: ByteCount,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Payload sent so far, retransmissions included.
    pub sent: ByteCount,
    /// Fast retransmissions so far, chunks or segments.
    pub fast_retransmissions: u64,
    /// Retransmissions after timeouts so far, chunks or segments.
    pub timer_retransmissions: u64,
}

/// The state of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkNow {
    /// Packets in the queue.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: ByteCount,
    /// False while the link has failed.
    pub up: bool,
    /// Counters since the start.
    pub counters: Counters,
}

/// The end of a flow that sends payload.
pub(crate) fn sending_end(flow: &Flow) -> Side {
    if flow.end(Side::Client).sends() { Side::Client } else { Side::Server }
}

fn other(side: Side) -> Side {
    match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    }
}

/// All flows, in the order of the scenario.
pub(crate) fn flows(view: &mut View<'_>) -> Vec<FlowNow> {
    let View { hosts, flows, .. } = view;
    let state = |flow: &Flow| {
        let side = sending_end(flow);
        let (end, received) = (flow.end(side), flow.end(other(side)).received().bytes);
        let received = ByteCount::new(received);
        let Some(conn) = end.conn else { return FlowNow { received, limit: None, paths: Vec::new() } };
        let endpoint = hosts.endpoint(end.endpoint);
        let (counted, mut paths) = (endpoint.counted(conn), Vec::new());
        endpoint.paths(conn, &mut |path| {
            let now = PathNow {
                cwnd: path.cwnd,
                ssthresh: path.ssthresh,
                flight: path.flight,
                srtt: path.srtt,
                ..counters(&counted, paths.len())
            };
            paths.push(now);
        });
        FlowNow { received, limit: endpoint.limit(conn), paths }
    };
    flows.iter().map(state).collect()
}

/// The names of the paths of each flow's sending end, in the order of the scenario.
pub(crate) fn path_names(view: &mut View<'_>, scenario: &Scenario) -> Vec<Vec<Option<String>>> {
    let View { now, network, hosts, flows } = view;
    let names = |flow: &Flow| {
        let side = sending_end(flow);
        let end = flow.end(side);
        let paths = end.tally(*now, hosts.endpoint(end.endpoint)).counted.paths;
        metrics::path_names(network, scenario, &flow.dial, side, &paths)
    };
    flows.iter().map(names).collect()
}

/// The counters of a path; all other fields are zero.
fn counters(counted: &Counted, path: usize) -> PathNow {
    let counts = counted.paths.get(path);
    PathNow {
        cwnd: ByteCount::ZERO,
        ssthresh: None,
        flight: ByteCount::ZERO,
        srtt: None,
        sent: counts.map_or(ByteCount::ZERO, |path| path.user_bytes),
        fast_retransmissions: counts.map_or(0, |path| path.fast_retransmissions),
        timer_retransmissions: counts.map_or(0, |path| path.timer_retransmissions),
    }
}

pub(crate) fn link(view: &mut View<'_>, direction: LinkDir) -> LinkNow {
    let backlog = view.network.backlog(direction, view.now);
    LinkNow {
        packets: backlog.packets,
        bytes: backlog.bytes,
        up: view.network.is_up(direction),
        counters: *view.network.counters(direction),
    }
}
