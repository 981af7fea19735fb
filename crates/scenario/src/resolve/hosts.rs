use super::Nodes;
use super::{FlowGroup, flows};
use crate::decode::{At, OneOrMore};
use crate::diagnostic::Faults;
use crate::file::{FileTable, HostTable, RealTable};
use crate::{Attachment, Flow, Link, NodeKind, Protocol, RealHost};
use std::net::SocketAddr;
use std::ops::Range;

/// The hosts that are real; `None` if a fault was noted.
pub(super) fn resolve(
    tables: &[HostTable],
    nodes: &Nodes,
    links: &[Link],
    faults: &mut Faults,
) -> Option<Vec<RealHost>> {
    let mut hosts: Vec<RealHost> = Vec::new();
    let mut right = true;
    for table in tables {
        match host(table, &hosts, nodes, links, faults) {
            Some(host) => hosts.push(host),
            None => right = false,
        }
    }
    right.then_some(hosts)
}

fn host(
    table: &HostTable,
    others: &[RealHost],
    nodes: &Nodes,
    links: &[Link],
    faults: &mut Faults,
) -> Option<RealHost> {
    let node = flows::host(&table.name, nodes, faults)?;
    let name = &table.name;
    let mut refuse = |message: &str| {
        faults.note(name.span.clone(), format!("\"{}\" {message}", name.value));
        None
    };
    if others.iter().any(|other| other.node == node) {
        return refuse("has another [[host]]; expected one only");
    }
    if nodes.all.iter().any(|node| matches!(node.kind, NodeKind::Nat { .. })) {
        return refuse("cannot be real beside a NAT, which translates packets of simulated hosts only");
    }
    let ends = links.iter().filter(|link| link.between.contains(&node)).count();
    if ends == 0 {
        return refuse("has no link; expected one at least");
    }
    let attachment = attachment(&table.real, name, ends, faults)?;
    let other = others.first().map(|other| kind(&other.attachment));
    if let Some(other) = other.filter(|&other| other != kind(&attachment)) {
        let message = format!(
            "one real host has {other} and another one {}; expected the same for all",
            kind(&attachment)
        );
        faults.note(name.span.clone(), message);
        return None;
    }
    Some(RealHost { node, attachment })
}

/// The kind of an attachment, for messages.
fn kind(attachment: &Attachment) -> &'static str {
    match attachment {
        Attachment::Udp { .. } => "`udp`",
        Attachment::Tun { .. } => "a TUN device",
        Attachment::InProcess => "`in_process`",
    }
}

fn attachment(table: &RealTable, name: &At<String>, ends: usize, faults: &mut Faults) -> Option<Attachment> {
    let RealTable { udp, appears_at, tun, namespace, addresses, in_process } = table;
    let of_tun = [
        tun.as_ref().map(|key| ("tun", &key.span)),
        namespace.as_ref().map(|key| ("namespace", &key.span)),
        addresses.as_ref().map(|key| ("addresses", &key.span)),
    ];
    let stray = of_tun.into_iter().flatten().next();
    if *in_process {
        let of_udp = [("udp", udp), ("appears_at", appears_at)];
        let of_udp = of_udp.into_iter().find_map(|(key, value)| Some((key, &value.as_ref()?.span)));
        let Some((key, span)) = of_udp.or(stray) else { return Some(Attachment::InProcess) };
        let message = format!("a host with `in_process` has no socket and no device; expected no `{key}`");
        faults.note(span.clone(), message);
        return None;
    }
    match (udp, stray) {
        (Some(_), Some((key, span))) => {
            faults.note(span.clone(), format!("a host with `udp` has no TUN device; expected no `{key}`"));
            None
        }
        (Some(udp), None) => sockets(udp, appears_at.as_ref(), ends, faults),
        (None, Some(_)) => {
            if let Some(stray) = appears_at {
                faults.note(stray.span.clone(), "expected `appears_at` only with `udp`".to_owned());
                return None;
            }
            tun_devices(table, ends, faults)
        }
        // A misspelt key was noted already, so no missing key is reported.
        (None, None) if !faults.is_empty() => None,
        (None, None) => {
            let message = format!(
                "`real` of \"{}\" is empty; expected `udp`, `tun`, `namespace` or `in_process`",
                name.value
            );
            faults.note(name.span.clone(), message);
            None
        }
    }
}

fn sockets(
    udp: &At<OneOrMore<At<crate::file::Socket>>>,
    appears_at: Option<&At<OneOrMore<At<crate::file::Socket>>>>,
    ends: usize,
    faults: &mut Faults,
) -> Option<Attachment> {
    one_for_each_link(udp.value.0.len(), ends, &udp.span, faults)?;
    let at: Vec<SocketAddr> = udp.value.0.iter().map(|socket| socket.value.0).collect();
    let appears_at = match appears_at {
        None => at.iter().map(|socket| SocketAddr::new(socket.ip(), 0)).collect(),
        Some(list) => {
            one_for_each_link(list.value.0.len(), ends, &list.span, faults)?;
            list.value.0.iter().map(|socket| socket.value.0).collect()
        }
    };
    Some(Attachment::Udp { at, appears_at })
}

fn tun_devices(table: &RealTable, ends: usize, faults: &mut Faults) -> Option<Attachment> {
    let device = table.tun.as_ref().map_or("ana", |name| name.value.as_str());
    let longest = if ends > 1 { LONGEST_DEVICE - 4 } else { LONGEST_DEVICE };
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    for (name, most) in [(&table.tun, longest), (&table.namespace, 64)] {
        let Some(At { value, span }) = name else { continue };
        if value.is_empty() || value.len() > most || value.starts_with(['.', '-']) || !value.chars().all(fits)
        {
            let message =
                format!("expected 1 to {most} letters, digits, `_`, `-` and `.`, first a letter or a digit");
            faults.note(span.clone(), message);
            return None;
        }
    }
    let addresses = match &table.addresses {
        None => Vec::new(),
        Some(list) => {
            one_for_each_link(list.value.0.len(), ends, &list.span, faults)?;
            list.value.0.iter().map(|interface| interface.value.0).collect()
        }
    };
    let namespace = table.namespace.as_ref().map(|name| name.value.clone());
    Some(Attachment::Tun { device: device.to_owned(), namespace, addresses })
}

/// Longest name of a device on Linux.
const LONGEST_DEVICE: usize = 15;

fn one_for_each_link(found: usize, ends: usize, span: &Range<usize>, faults: &mut Faults) -> Option<()> {
    if found != ends {
        let message = format!("{found} addresses; expected {ends}, one for each link of this host");
        faults.note(span.clone(), message);
        return None;
    }
    Some(())
}

/// Adds a fault for each flow that real hosts cannot have. Returns true if there are no such flows.
pub(super) fn flows(
    file: &FileTable,
    flows: &[Flow],
    groups: &[FlowGroup<'_>],
    hosts: &[RealHost],
    faults: &mut Faults,
) -> bool {
    let before = faults.len();
    let real = |node: usize| hosts.iter().find(|host| host.node == node);
    for (table, group) in file.flow.iter().zip(groups) {
        for flow in &flows[group.flows.clone()] {
            let message = match (real(flow.client), real(flow.server)) {
                (None, None) => continue,
                (Some(_), Some(_)) => {
                    "both ends of this flow are real hosts, whose programs make their own flows; expected one simulated end"
                }
                (Some(one), None) | (None, Some(one)) => {
                    let in_udp = flow.protocol == Protocol::Sctp && flow.udp_encapsulation;
                    if in_udp || !matches!(one.attachment, Attachment::Udp { .. }) {
                        continue;
                    }
                    "a real host with `udp` understands only SCTP in UDP; expected udp_encapsulation = true"
                }
            };
            faults.note(table.name.span.clone(), message.to_owned());
            break;
        }
    }
    let transfers = file.transfers.iter().map(|table| ("short transfers", [&table.client, &table.server]));
    let latency = file.latency.iter().map(|table| ("probes of latency", [&table.client, &table.server]));
    for (what, names) in transfers.chain(latency) {
        let is_real = |name: &&&At<String>| file.host.iter().any(|host| host.name.value == name.value);
        if let Some(name) = names.iter().find(is_real) {
            faults.note(name.span.clone(), format!("{what} join simulated hosts; expected no real host"));
        }
    }
    faults.len() == before
}
