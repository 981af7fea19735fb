//! Resolves the tables of a file to a scenario: looks up names, fills in defaults that depend on other
//! values, and rejects flows that cannot work on the network.

mod changes;
mod files;
mod flows;
mod hosts;
mod latency;
mod limits;
mod links;
mod nats;
mod probes;
mod transfers;
mod trial;

use super::diagnostic::{Faults, expected_one_of};
use super::file::{FileTable, NodeTable, NodeWord, WindowTable};
use super::{NewTrial, Node, NodeKind, Scenario, Window};
use crate::decode::At;
pub(super) use files::Files;
use flows::OptionSets;
use limits::PlannedEnd;
use std::ops::Range;
use units::{Instant, Span};

/// The nodes, and the range of nodes of each table: a table with a `count` describes several.
struct Nodes {
    all: Vec<Node>,
    groups: Vec<NodeGroup>,
}

/// A table that describes flows: its name, the client and its port, and the indices of the flows.
struct FlowGroup<'t> {
    name: &'t At<String>,
    client: &'t At<String>,
    local_port: Option<&'t At<u16>>,
    flows: Range<usize>,
}

struct NodeGroup {
    name: String,
    members: Range<usize>,
}

/// Largest number of nodes, links or flows that one table describes.
const MOST_OF_A_TABLE: u32 = 10_000;

/// Largest number of nodes, links or flows of a scenario.
const MOST_OF_A_KIND: usize = 20_000;

/// The scenario that a file describes; `None` if a fault was noted.
pub(super) fn scenario(
    file: &FileTable,
    files: &mut Files,
    new_trial: NewTrial,
    faults: &mut Faults,
) -> Option<Scenario> {
    let (sctp, tcp) = (file.sctp.resolve(faults), file.tcp.resolve(faults));
    let mut groups = nodes(&file.node, faults)?;
    let links = links::resolve(&file.link, &groups, files, faults);
    let options = OptionSets { sctp: sctp?, tcp: tcp? };
    let (links, tables) = links?;
    nats::resolve(&file.node, &mut groups, &links, faults)?;
    let real = hosts::resolve(&file.host, &groups, &links, faults)?;
    let (mut flows, mut flow_groups) = flows::resolve(&file.flow, &groups, &links, &options, faults)?;
    hosts::flows(file, &flows, &flow_groups, &real, faults).then_some(())?;
    let transfers = transfers::resolve(&file.transfers, &flow_groups, &groups, &links, &options, faults)?;
    let end = PlannedEnd::of(&flows, &transfers);
    let windows = windows(&file.window, end, faults)?;
    let load = latency::Load { end, transfers: &transfers, windows: &windows };
    latency::resolve(&file.latency, &groups, &links, &load, (&mut flows, &mut flow_groups), faults)?;
    flows::ports(&mut flows, &flow_groups, faults).then_some(())?;
    let nodes = groups.all;
    let names = probes::Names { groups: &flow_groups, nodes: &nodes, links: &links, windows: &windows, end };
    let probes = probes::probes(&file.probe, &names, faults);
    let changes = changes::resolve(&file.change, &flows, &names, faults);
    let captures = probes::captures(&file.capture, &nodes, &links, faults);
    let scenario = Scenario {
        title: file.title.clone(),
        seed: file.seed,
        nodes,
        real,
        links,
        flows,
        transfers,
        changes: changes?,
        windows,
        probes: probes?,
        captures: captures?,
    };
    let right = limits::scenario(file, &scenario, &flow_groups, faults)
        && trial::scenario(file, &scenario, &flow_groups, new_trial, faults);
    warn_of_detours(file, &scenario, &tables, faults);
    right.then_some(scenario)
}

/// Adds warnings of links whose packets are lost although another route joins the ends of the link: at most
/// one warning for each table, of its first such link. `tables`: the number of the table of each link.
fn warn_of_detours(file: &FileTable, scenario: &Scenario, tables: &[usize], faults: &mut Faults) {
    let mut links = scenario.detours();
    links.dedup_by_key(|link| tables[*link]);
    for link in links {
        let down = &file.link[tables[link]].down;
        let span = down.first().map_or(0..0, |first| first.span.start..down[down.len() - 1].span.end);
        faults.warn(span, scenario.detour_warning(link));
    }
}

fn nodes(tables: &[NodeTable], faults: &mut Faults) -> Option<Nodes> {
    let mut nodes = Nodes { all: Vec::new(), groups: Vec::new() };
    let mut right = true;
    for table in tables {
        right &= is_name(&table.name, faults);
        right &= is_new(&table.name, nodes.groups.iter().map(|group| group.name.as_str()), "node", faults);
        let first = nodes.all.len();
        if !is_count(&table.count, faults) || !has_room(&table.count, first, "nodes", &table.name, faults) {
            right = false;
            continue;
        }
        let jitter = table.jitter.as_ref().map_or(Span::ZERO, |jitter| jitter.value);
        let kind = match (table.kind, &table.jitter) {
            (NodeWord::Host, _) => NodeKind::Host { jitter },
            // The outside link of a NAT is not known yet.
            (NodeWord::Router | NodeWord::Nat, None) => NodeKind::Router,
            (kind, Some(jitter)) => {
                let kind = if kind == NodeWord::Nat { "NAT" } else { "router" };
                faults.note(
                    jitter.span.clone(),
                    format!("a {kind} forwards at once; expected `jitter` only for a host"),
                );
                right = false;
                continue;
            }
        };
        let names = members(&table.name.value, table.count.value);
        nodes.all.extend(names.map(|name| Node { name, kind: kind.clone() }));
        nodes.groups.push(NodeGroup { name: table.name.value.clone(), members: first..nodes.all.len() });
    }
    right.then_some(nodes)
}

fn windows(tables: &[WindowTable], end: PlannedEnd, faults: &mut Faults) -> Option<Vec<Window>> {
    let mut windows: Vec<Window> = Vec::new();
    let mut right = true;
    for WindowTable { name, from, to } in tables {
        right &= is_name(name, faults);
        right &= is_new(name, windows.iter().map(|window| window.name.as_str()), "window", faults);
        if to.value <= *from {
            faults.note(to.span.clone(), "nothing is measured; expected `to` after `from`".into());
            right = false;
        }
        if end.certain && *from >= end.at {
            let end = end.at.since(Instant::ZERO);
            let message =
                format!("nothing is measured: the last flow stops at {end}; expected `from` before");
            faults.note(name.span.clone(), message);
            right = false;
        }
        windows.push(Window { name: name.value.clone(), from: *from, to: to.value });
    }
    right.then_some(windows)
}

/// The names of the members of a table: `name` for a single one, otherwise `name-1`, `name-2` and so on.
fn members(name: &str, count: u32) -> impl Iterator<Item = String> + use<'_> {
    (1..=count).map(move |number| if count == 1 { name.to_owned() } else { format!("{name}-{number}") })
}

/// Adds a fault for a `count` that is zero or too large.
fn is_count(count: &At<u32>, faults: &mut Faults) -> bool {
    let right = (1..=MOST_OF_A_TABLE).contains(&count.value);
    if !right {
        faults.note(count.span.clone(), format!("expected a `count` from 1 to {MOST_OF_A_TABLE}"));
    }
    right
}

/// Adds a fault for a `count` that makes the total of the scenario too large. If the table has no `count`,
/// the fault is at `name`.
fn has_room(count: &At<u32>, others: usize, what: &str, name: &At<String>, faults: &mut Faults) -> bool {
    let all = others + count.value as usize;
    if all > MOST_OF_A_KIND {
        let at = if count.span.is_empty() { &name.span } else { &count.span };
        faults.note(at.clone(), format!("{all} {what} in all; expected at most {MOST_OF_A_KIND}"));
    }
    all <= MOST_OF_A_KIND
}

/// Adds a fault for a name with characters that are not allowed.
fn is_name(name: &At<String>, faults: &mut Faults) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let right = !name.value.is_empty() && name.value.chars().all(fits);
    if !right {
        let message =
            format!("\"{}\" is not a valid name; expected letters, digits, `_`, `-` and `.`", name.value);
        faults.note(name.span.clone(), message);
    }
    right
}

/// Adds a fault for a name that is already in use.
fn is_new<'n>(
    name: &At<String>,
    mut others: impl Iterator<Item = &'n str>,
    what: &str,
    faults: &mut Faults,
) -> bool {
    let new = others.all(|other| other != name.value);
    if !new {
        let message = format!("there is another {what} \"{}\"; expected a name of its own", name.value);
        faults.note(name.span.clone(), message);
    }
    new
}

/// Indices of the nodes of that name: one, or all of a table with a `count`.
fn node_indices(name: &At<String>, nodes: &Nodes, faults: &mut Faults) -> Option<Range<usize>> {
    if let Some(group) = nodes.groups.iter().find(|group| group.name == name.value) {
        return Some(group.members.clone());
    }
    if let Some(i) = nodes.all.iter().position(|node| node.name == name.value) {
        return Some(i..i + 1);
    }
    let expected = expected_one_of(&name.value, nodes.groups.iter().map(|group| group.name.as_str()));
    faults.note(name.span.clone(), format!("unknown node \"{}\"; {expected}", name.value));
    None
}
