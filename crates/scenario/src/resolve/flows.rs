use super::links::networks_between;
use super::{FlowGroup, Nodes, has_room, is_count, is_name, is_new, limits, members, node_indices};
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{FlowTable, PrimaryPathWord, TrafficTable};
use crate::{
    Changes, Distribution, Flow, Hertz, Link, LocalAddress, NodeKind, OnOff, Pace, PrimaryPath, Protocol,
    RemoteAddress, StreamResets, Traffic,
};
use sctp::Reliability;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use units::{ByteCount, Probability, Span};

/// Option sets by name.
pub(super) struct OptionSets {
    pub sctp: BTreeMap<String, sctp::Config>,
    pub tcp: BTreeMap<String, tcp::Config>,
}

/// The flows, and one group for each flow table; `None` if a fault was noted.
pub(super) fn resolve<'t>(
    tables: &'t [FlowTable],
    nodes: &Nodes,
    links: &[Link],
    options: &OptionSets,
    faults: &mut Faults,
) -> Option<(Vec<Flow>, Vec<FlowGroup<'t>>)> {
    let (mut flows, mut groups): (Vec<Flow>, Vec<FlowGroup<'_>>) = (Vec::new(), Vec::new());
    let mut right = true;
    for table in tables {
        right &= is_name(&table.name, faults);
        right &= is_new(&table.name, groups.iter().map(|group| group.name.value.as_str()), "flow", faults);
        let ends = ends(table, nodes, faults);
        let template = flow(table, ends.as_ref(), links, options, faults);
        let (Some(ends), Some(template)) = (ends, template) else {
            right = false;
            continue;
        };
        let first = flows.len();
        if !has_room(&table.count, first, "flows", &table.name, faults) {
            right = false;
            continue;
        }
        for (i, name) in members(&template.name, table.count.value).enumerate() {
            let [client, server] = [&ends.client, &ends.server].map(|nodes| nodes.start + i % nodes.len());
            flows.push(Flow { name, client, server, ..template.clone() });
        }
        let FlowTable { name, client, local_port, .. } = table;
        groups.push(FlowGroup { name, client, local_port: local_port.as_ref(), flows: first..flows.len() });
    }
    right = right && same_server_options(tables, &flows, &groups, faults);
    right.then_some((flows, groups))
}

/// The hosts of a flow table. If a name stands for several hosts, the flows of the table take them in turn,
/// and start again from the first.
struct Ends {
    client: Range<usize>,
    server: Range<usize>,
}

fn ends(table: &FlowTable, nodes: &Nodes, faults: &mut Faults) -> Option<Ends> {
    let (client, server) = (hosts(&table.client, nodes, faults), hosts(&table.server, nodes, faults));
    Some(Ends { client: client?, server: server? })
}

/// The first of the flows that a table describes.
fn flow(
    table: &FlowTable,
    ends: Option<&Ends>,
    links: &[Link],
    sets: &OptionSets,
    faults: &mut Faults,
) -> Option<Flow> {
    let sctp = options(&table.sctp, &table.server_sctp, &sets.sctp, sctp::Config::default, faults);
    let tcp = options(&table.tcp, &table.server_tcp, &sets.tcp, tcp::Config::modern, faults);
    if !means_its_protocol(table, faults) {
        return None;
    }
    let protocol = table.protocol.value;
    let abandons = sctp.as_ref().is_none_or(|both| both.client.pr_sctp && both.server.pr_sctp);
    let forward = traffic(protocol, abandons, &table.traffic.forward, faults);
    let back = match (&table.bidirectional, table.traffic.has_back) {
        (Some(At { value: false, span }), true) => {
            faults.note(span.clone(), "a flow with a `back` table is bidirectional; expected true".into());
            None
        }
        (Some(At { value: true, .. }), _) | (None, true) => {
            traffic(protocol, abandons, &table.traffic.back, faults)
        }
        _ => Some(None),
    };
    if !is_count(&table.count, faults) {
        return None;
    }
    if table.reset_time.value >= table.stop_time.value {
        let message = format!(
            "nothing is measured: `stop_time` {} is not after `reset_time` {}; expected reset_time < stop_time",
            table.stop_time.value, table.reset_time.value
        );
        // A default value has no position in the file.
        let at = [&table.stop_time, &table.reset_time].into_iter().find(|time| !time.span.is_empty());
        faults.note(at.map_or(table.name.span.clone(), |time| time.span.clone()), message);
        return None;
    }
    let (ends, sctp, tcp) = (ends?, sctp?, tcp?);
    let both = [(&forward, &table.traffic.forward, true), (&back, &table.traffic.back, false)];
    for (traffic, written, from_client) in both {
        let (sender, receiver) =
            if from_client { (&sctp.client, &sctp.server) } else { (&sctp.server, &sctp.client) };
        let most = sender.outbound_streams.min(receiver.max_inbound_streams);
        if traffic.as_ref().is_some_and(|traffic| traffic.as_ref().is_some_and(|t| t.streams > most)) {
            let message = format!(
                "the association has {most} streams in this direction; expected at most so many, or more \
                 `outbound_streams` of the sender and `max_inbound_streams` of the receiver"
            );
            faults.note(written.streams.span.clone(), message);
            return None;
        }
    }
    can_reset_streams(table, &sctp.client, faults)?;
    can_echo(table, &forward, &back, faults)?;
    let (client, server) = (ends.client.start, ends.server.start);
    let wanted = &table.networks;
    let reachable = networks([&table.client, &table.server], wanted, [client, server], links, faults)?;
    Some(Flow {
        name: table.name.value.clone(),
        client,
        server,
        protocol,
        udp_encapsulation: table.udp_encapsulation.value,
        client_options: sctp.client,
        server_options: sctp.server,
        client_tcp: tcp.client,
        server_tcp: tcp.server,
        identify: table.identify,
        echo: table.echo.value,
        connect_time: table.connect_time,
        start_time: table.start_time,
        reset_time: table.reset_time.value,
        stop_time: table.stop_time.value,
        forward: forward?,
        back: back?,
        local_address: table.local_address.value.0.map_or(LocalAddress::Any, LocalAddress::Ip),
        local_port: table.local_port.as_ref().map_or(0, |port| port.value),
        remote_address: table.remote_address.value.0.map_or(RemoteAddress::Any, RemoteAddress::Ip),
        remote_port: table.remote_port.value,
        primary_path: primary_path(&table.primary_path.value, &reachable, faults)?,
        networks: table.networks.as_ref().map(|ids| ids.value.iter().map(|id| id.value).collect()),
        ip_version: table.ip_version,
        stream_resets: StreamResets {
            times: table.stream_request_time.iter().map(|time| time.value).collect(),
            kind: table.stream_reset_type,
            streams: table.stream_to_reset.iter().map(|stream| stream.value).collect(),
        },
    })
}

/// Checks that a flow with `echo` sends one datagram for each frame, with room for the time at which it was
/// sent, and that only the client sends. If not, notes a fault and returns `None`.
fn can_echo(
    table: &FlowTable,
    forward: &Option<Option<Traffic>>,
    back: &Option<Option<Traffic>>,
    faults: &mut Faults,
) -> Option<()> {
    let At { value: true, ref span } = table.echo else { return Some(()) };
    let fits = forward.as_ref()?.as_ref().is_some_and(|traffic| {
        let one = TIME_IN_A_DATAGRAM..=traffic.max_msg_size;
        matches!(traffic.frame_size, Distribution::Constant(size) if one.contains(&size))
    });
    if table.protocol.value == Protocol::Udp && fits && back.as_ref()?.is_none() {
        return Some(());
    }
    let message = "round-trip times need datagrams from the client alone; expected protocol = \"UDP\", a constant \
                   `frame_size` from 8 B to `max_msg_size`, and no traffic back";
    faults.note(span.clone(), message.to_owned());
    None
}

/// Checks that a client that resets streams has the options for it. If not, notes a fault and returns `None`.
fn can_reset_streams(table: &FlowTable, options: &sctp::Config, faults: &mut Faults) -> Option<()> {
    let Some(first) = table.stream_request_time.first() else { return Some(()) };
    if table.protocol.value != Protocol::Sctp || !options.stream_reset {
        let message = "streams can be reset only over SCTP with the option `stream_reset`; expected \
                       stream_reset = true in the option sets of both ends";
        faults.note(first.span.clone(), message.to_owned());
        return None;
    }
    let streams = options.outbound_streams.min(options.max_inbound_streams);
    if let Some(stream) = table.stream_to_reset.iter().find(|stream| stream.value >= streams) {
        let message = format!("no stream {}; expected 0 to {}", stream.value, streams - 1);
        faults.note(stream.span.clone(), message);
        return None;
    }
    Some(())
}

/// The host of that name; several hosts are a fault.
pub(super) fn host(name: &At<String>, nodes: &Nodes, faults: &mut Faults) -> Option<usize> {
    let found = hosts(name, nodes, faults)?;
    if found.len() > 1 {
        let message = format!("{} nodes; expected one of them, such as \"{}-1\"", found.len(), name.value);
        faults.note(name.span.clone(), message);
        return None;
    }
    Some(found.start)
}

fn hosts(name: &At<String>, nodes: &Nodes, faults: &mut Faults) -> Option<Range<usize>> {
    let found = node_indices(name, nodes, faults)?;
    let is_a = match &nodes.all[found.start].kind {
        NodeKind::Host { .. } => return Some(found),
        NodeKind::Router => "router",
        NodeKind::Nat { .. } => "NAT",
    };
    faults.note(name.span.clone(), format!("\"{}\" is a {is_a}; expected a host", name.value));
    None
}

/// Options of the client and of the server.
pub(super) struct BothOptions<S> {
    pub client: S,
    pub server: S,
}

pub(super) fn options<S: Clone>(
    client: &Option<At<String>>,
    server: &Option<At<String>>,
    sets: &BTreeMap<String, S>,
    default: fn() -> S,
    faults: &mut Faults,
) -> Option<BothOptions<S>> {
    let mut named = |name: &Option<At<String>>| {
        let Some(At { value: name, span }) = name else { return Some(default()) };
        sets.get(name).cloned().or_else(|| {
            let expected = expected_one_of(name, sets.keys().map(String::as_str));
            faults.note(span.clone(), format!("unknown option set \"{name}\"; {expected}"));
            None
        })
    };
    let (client, server) = (named(client), named(if server.is_some() { server } else { client }));
    Some(BothOptions { client: client?, server: server? })
}

/// Adds a fault for a flow that is encapsulated in UDP but is not SCTP, and for a flow that names TCP options
/// but neither a protocol nor SCTP options: it would use SCTP, and was probably meant to use TCP.
fn means_its_protocol(table: &FlowTable, faults: &mut Faults) -> bool {
    let unsaid = table.protocol.span.is_empty() && table.sctp.is_none();
    let At { value: encapsulated, span } = &table.udp_encapsulation;
    if *encapsulated && table.protocol.value != Protocol::Sctp {
        let message =
            format!("{} does not travel in UDP; expected protocol = \"SCTP\"", table.protocol.value);
        faults.note(span.clone(), message);
        return false;
    }
    match table.tcp.as_ref().filter(|_| unsaid) {
        Some(tcp) => {
            faults.note(
                tcp.span.clone(),
                "the flow uses SCTP, the default; expected protocol = \"TCP\" as well".into(),
            );
            false
        }
        None => true,
    }
}

/// The traffic in one direction. The inner `None`: the file turns this traffic
/// off; the outer `None`: a fault was noted. `abandons`: both sides have PR-SCTP.
fn traffic(
    protocol: Protocol,
    abandons: bool,
    table: &TrafficTable,
    faults: &mut Faults,
) -> Option<Option<Traffic>> {
    if table.frame_size.value == Distribution::Constant(ByteCount::ZERO) {
        return Some(None);
    }
    limits::message(&table.max_msg_size, faults)?;
    if !(1..=limits::QUEUE_SIZE).contains(&table.queue_size.value) {
        let message = format!("expected a `queue_size` from 1 to {}", limits::QUEUE_SIZE);
        faults.note(table.queue_size.span.clone(), message);
        return None;
    }
    let pace = match table.frame_rate.value {
        Distribution::Constant(Hertz(0.0)) => Pace::Saturated,
        rate => {
            limits::frames(rate, table, faults)?;
            Pace::Frames(rate)
        }
    };
    if protocol == Protocol::Udp && pace == Pace::Saturated {
        let message =
            "UDP has no flow control, so its sender cannot be saturated; expected a `frame_rate` above 0 Hz";
        faults.note(table.frame_rate.span.clone(), message.into());
        return None;
    }
    let size = table.max_msg_size.value;
    if protocol == Protocol::Udp && size.get() > MOST_IN_A_DATAGRAM {
        let message = format!(
            "a message of {size} does not fit a UDP datagram; expected at most {MOST_IN_A_DATAGRAM} B"
        );
        faults.note(table.max_msg_size.span.clone(), message);
        return None;
    }
    if protocol != Protocol::Sctp && !table.unordered.value.is_zero() {
        let message = "only SCTP sends messages unordered; expected 0, or protocol = \"SCTP\"";
        faults.note(table.unordered.span.clone(), message.into());
        return None;
    }
    if table.streams.value == 0 || (protocol != Protocol::Sctp && table.streams.value > 1) {
        let message = "expected at least 1 stream, and more only with protocol = \"SCTP\"";
        faults.note(table.streams.span.clone(), message.into());
        return None;
    }
    let (unreliable, reliability) = reliability(protocol, abandons, table, faults)?;
    Some(Some(Traffic {
        pace,
        on_off: on_off(pace, table, faults)?,
        changes: changes(table, faults)?,
        frame_size: table.frame_size.value,
        max_msg_size: table.max_msg_size.value,
        queue_size: table.queue_size.value,
        unordered: table.unordered.value,
        unreliable,
        reliability,
        streams: table.streams.value,
    }))
}

/// The fraction of messages that may be abandoned, and when they are abandoned.
fn reliability(
    protocol: Protocol,
    abandons: bool,
    table: &TrafficTable,
    faults: &mut Faults,
) -> Option<(Probability, Reliability)> {
    let policy = table.reliability.as_ref().map(|policy| policy.value.0);
    let all = if policy.is_some() { Probability::ONE } else { Probability::ZERO };
    let fraction = table.unreliable.as_ref().map_or(all, |fraction| fraction.value);
    let spans = [table.unreliable.as_ref().map(|at| &at.span), table.reliability.as_ref().map(|at| &at.span)];
    if let Some(span) = spans.into_iter().flatten().next().filter(|_| !fraction.is_zero()) {
        let message = match protocol {
            Protocol::Sctp if abandons => None,
            Protocol::Sctp => {
                Some("no message is abandoned; expected `pr_sctp = true` in the options of both sides")
            }
            Protocol::Tcp | Protocol::Udp => {
                Some("only SCTP abandons messages; expected 0, or protocol = \"SCTP\"")
            }
        };
        if let Some(message) = message {
            faults.note(span.clone(), message.into());
            return None;
        }
    }
    Some((fraction, policy.unwrap_or(Reliability::Retransmissions(0))))
}

/// Largest UDP payload in IPv4, limited by the length field of the IP header.
const MOST_IN_A_DATAGRAM: u64 = 65_507;

/// Payload that a datagram of a flow with `echo` needs: the time at which it was sent.
const TIME_IN_A_DATAGRAM: ByteCount = ByteCount::new(8);

/// Active times and pauses. The inner `None`: the file has none; the outer `None`: a fault was noted.
fn on_off(pace: Pace, table: &TrafficTable, faults: &mut Faults) -> Option<Option<OnOff>> {
    let (on, off) = match (&table.on, &table.off) {
        (None, None) => return Some(None),
        (Some(on), Some(off)) => (on, off),
        (Some(one), None) | (None, Some(one)) => {
            faults
                .note(one.span.clone(), "active times and pauses alternate; expected `on` and `off`".into());
            return None;
        }
    };
    if pace == Pace::Saturated {
        let message = "only a paced sender pauses; expected a `frame_rate` above 0 Hz";
        faults.note(on.span.clone(), message.into());
        return None;
    }
    if [on, off].iter().all(|law| limits::mean(law.value, Span::as_secs_f64) == 0.0) {
        faults.note(
            on.span.clone(),
            "active times and pauses are both zero; expected `on` or `off` above 0 s".into(),
        );
        return None;
    }
    Some(Some(OnOff { on: on.value, off: off.value }))
}

/// When the sender is turned on and off.
fn changes(table: &TrafficTable, faults: &mut Faults) -> Option<Changes> {
    let times: Vec<_> = table.on_off.iter().map(|change| change.value.0).collect();
    if let (Some(first), Some(on)) = (table.on_off.first(), &table.on) {
        let message = "`on_off` says when it sends; expected either that, or `on` and `off`";
        let place = if on.span.start < first.span.start { &first.span } else { &on.span };
        faults.note(place.clone(), message.into());
        return None;
    }
    if times.is_empty() && table.on_off_repeat.value {
        faults.note(table.on_off_repeat.span.clone(), "nothing is repeated; expected `on_off`".into());
        return None;
    }
    Some(Changes { times, repeat: table.on_off_repeat.value })
}

/// The networks that the flow uses; at least one. `None` if a fault was noted.
pub(super) fn networks(
    names: [&At<String>; 2],
    wanted: &Option<At<Vec<At<u16>>>>,
    ends: [usize; 2],
    links: &[Link],
    faults: &mut Faults,
) -> Option<BTreeSet<u16>> {
    let [client, At { value: server, span }] = names;
    let client = &client.value;
    if ends[0] == ends[1] {
        faults.note(span.clone(), "a flow joins two hosts; expected another one".into());
        return None;
    }
    let reachable = networks_between(ends[0], ends[1], links);
    if reachable.is_empty() {
        let message = format!("\"{server}\" cannot be reached from \"{client}\": no network joins them");
        faults.note(span.clone(), message);
        return None;
    }
    let Some(wanted) = wanted else { return Some(reachable) };
    if wanted.value.is_empty() {
        faults.note(wanted.span.clone(), "expected at least one network".into());
        return None;
    }
    for id in &wanted.value {
        if !reachable.contains(&id.value) {
            let message = format!(
                "network {} does not join \"{client}\" and \"{server}\"; {}",
                id.value,
                expected_network(&reachable)
            );
            faults.note(id.span.clone(), message);
            return None;
        }
    }
    Some(wanted.value.iter().map(|id| id.value).collect())
}

fn primary_path(
    word: &PrimaryPathWord,
    reachable: &BTreeSet<u16>,
    faults: &mut Faults,
) -> Option<PrimaryPath> {
    match word {
        PrimaryPathWord::Any => Some(PrimaryPath::Any),
        PrimaryPathWord::Ip(address) => Some(PrimaryPath::Ip(*address)),
        PrimaryPathWord::Network(id) if reachable.contains(&id.value) => Some(PrimaryPath::Network(id.value)),
        PrimaryPathWord::Network(id) => {
            let message =
                format!("the flow does not use network {}; {}", id.value, expected_network(reachable));
            faults.note(id.span.clone(), message);
            None
        }
    }
}

fn expected_network(reachable: &BTreeSet<u16>) -> String {
    let ids: Vec<_> = reachable.iter().map(u16::to_string).collect();
    expected_one_of("", ids.iter().map(String::as_str))
}

/// Checks that all flows to a port of a server have the same server options: the port has one endpoint.
fn same_server_options(
    tables: &[FlowTable],
    flows: &[Flow],
    groups: &[FlowGroup<'_>],
    faults: &mut Faults,
) -> bool {
    let mut servers: BTreeMap<(Protocol, usize, u16), &Flow> = BTreeMap::new();
    let mut right = true;
    for (table, group) in tables.iter().zip(groups) {
        let flow = &flows[group.flows.start];
        let first = servers.entry((flow.protocol, flow.server, flow.remote_port)).or_insert(flow);
        let (differ, server, client) = match flow.protocol {
            Protocol::Sctp => (first.server_options != flow.server_options, &table.server_sctp, &table.sctp),
            Protocol::Tcp => (first.server_tcp != flow.server_tcp, &table.server_tcp, &table.tcp),
            Protocol::Udp => continue,
        };
        if differ {
            let at = server.as_ref().or(client.as_ref()).unwrap_or(&table.name);
            let message = format!(
                "flow \"{}\" has other options at port {} of \"{}\"; expected the same, or another `remote_port`",
                first.name, flow.remote_port, table.server.value
            );
            faults.note(at.span.clone(), message);
            right = false;
        }
    }
    right
}

/// Gives each flow its client port: `local_port` of its table, or the first free port from 9000.
pub(super) fn ports(flows: &mut [Flow], groups: &[FlowGroup<'_>], faults: &mut Faults) -> bool {
    let mut taken: BTreeSet<(Protocol, usize, u16)> =
        flows.iter().map(|flow| (flow.protocol, flow.server, flow.remote_port)).collect();
    let mut right = true;
    for group in groups {
        let Some(port) = group.local_port else { continue };
        for (flow, number) in flows[group.flows.clone()].iter_mut().zip(u32::from(port.value)..) {
            let free = u16::try_from(number)
                .ok()
                .filter(|n| *n != 0 && taken.insert((flow.protocol, flow.client, *n)));
            match free {
                Some(free) => flow.local_port = free,
                None => {
                    let message =
                        format!("port {number} of \"{}\" is not free; expected another", group.client.value);
                    faults.note(port.span.clone(), message);
                    right = false;
                    break;
                }
            }
        }
    }
    // For each protocol and client, the port at which the search continues: all ports from 9000 up to it are
    // taken.
    let mut next: BTreeMap<(Protocol, usize), u16> = BTreeMap::new();
    for group in groups.iter().filter(|group| group.local_port.is_none()) {
        for flow in &mut flows[group.flows.clone()] {
            let first = next.entry((flow.protocol, flow.client)).or_insert(9000);
            match (*first..=u16::MAX).find(|port| taken.insert((flow.protocol, flow.client, *port))) {
                Some(port) => (*first, flow.local_port) = (port, port),
                None => {
                    faults.note(
                        group.name.span.clone(),
                        format!("\"{}\" has no free port left", group.client.value),
                    );
                    return false;
                }
            }
        }
    }
    right
}
