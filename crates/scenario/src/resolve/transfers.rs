use super::FlowGroup;
use super::flows::{OptionSets, host, networks, options};
use super::{Nodes, is_name, is_new, limits};
use crate::decode::At;
use crate::diagnostic::Faults;
use crate::file::TransfersTable;
use crate::{Flow, Hertz, Link, Pace, Protocol, Traffic, Transfers};

/// The sources of short transfers; `None` if a fault was noted.
pub(super) fn resolve(
    tables: &[TransfersTable],
    groups: &[FlowGroup<'_>],
    nodes: &Nodes,
    links: &[Link],
    sets: &OptionSets,
    faults: &mut Faults,
) -> Option<Vec<Transfers>> {
    let mut all: Vec<Transfers> = Vec::new();
    let mut right = true;
    for table in tables {
        right &= is_name(&table.name, faults);
        let flows = groups.iter().map(|group| group.name.value.as_str());
        let others = flows.chain(all.iter().map(|transfers| transfers.like.name.as_str()));
        right &= is_new(&table.name, others, "flow", faults);
        match transfers(table, nodes, links, sets, faults) {
            Some(transfers) => all.push(transfers),
            None => right = false,
        }
    }
    right.then_some(all)
}

fn transfers(
    table: &TransfersTable,
    nodes: &Nodes,
    links: &[Link],
    sets: &OptionSets,
    faults: &mut Faults,
) -> Option<Transfers> {
    let (client, server) = (host(&table.client, nodes, faults), host(&table.server, nodes, faults));
    let sctp = options(&table.sctp, &table.server_sctp, &sets.sctp, sctp::Config::default, faults);
    let tcp = options(&table.tcp, &table.server_tcp, &sets.tcp, tcp::Config::modern, faults);
    let (client, server, sctp, tcp) = (client?, server?, sctp?, tcp?);
    networks([&table.client, &table.server], &table.networks, [client, server], links, faults)?;
    let mut fault = |at: &std::ops::Range<usize>, message: &str| {
        faults.note(at.clone(), message.to_owned());
        None
    };
    let At { value: protocol, ref span } = table.protocol;
    if protocol == Protocol::Udp {
        return fault(span, "UDP cannot signal the end of a transfer; expected SCTP or TCP");
    }
    if limits::mean(table.rate.value, Hertz::as_f64) == 0.0 {
        return fault(&table.rate.span, "expected a `rate` above 0 Hz");
    }
    if table.to.value <= table.from {
        return fault(&table.to.span, "nothing is transferred; expected `to` after `from`");
    }
    limits::message(&table.max_msg_size, faults)?;
    let traffic = Traffic::plain(Pace::Saturated, table.size, table.max_msg_size.value);
    let like = Flow {
        client_options: sctp.client,
        server_options: sctp.server,
        client_tcp: tcp.client,
        server_tcp: tcp.server,
        remote_port: table.remote_port.value,
        networks: table.networks.as_ref().map(|ids| ids.value.iter().map(|id| id.value).collect()),
        ip_version: table.ip_version,
        ..Flow::from_client(table.name.value.clone(), [client, server], protocol, traffic)
    };
    let (rate, size) = (table.rate.value, table.size);
    Some(Transfers { like, rate, size, from: table.from, to: table.to.value })
}
