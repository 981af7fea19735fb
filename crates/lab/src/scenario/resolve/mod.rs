//! From the tables of a file to a scenario: names are looked up, defaults that depend on others filled in, and what
//! fits no network refused.

mod flows;
mod links;
mod probes;
mod transfers;

use super::diagnostic::{Faults, expected_one_of};
use super::file::{FileTable, NodeTable, NodeWord, WindowTable};
use super::{Node, NodeKind, Scenario, Window};
use crate::scenario::decode::At;
use flows::OptionSets;
use units::Span;

/// The scenario a file stands for; `None` if a fault was noted.
pub(super) fn scenario(file: &FileTable, faults: &mut Faults) -> Option<Scenario> {
    let (sctp, tcp) = (file.sctp.resolve(faults), file.tcp.resolve(faults));
    let nodes = nodes(&file.node, faults)?;
    let links = links::resolve(&file.link, &nodes, faults);
    let options = OptionSets { sctp: sctp?, tcp: tcp? };
    let links = links?;
    let (flows, groups) = flows::resolve(&file.flow, &nodes, &links, &options, faults)?;
    let transfers = transfers::resolve(&file.transfers, &groups, &nodes, &links, &options, faults)?;
    let windows = windows(&file.window, faults)?;
    let names = probes::Names { groups: &groups, nodes: &nodes, links: &links, windows: &windows };
    let probes = probes::probes(&file.probe, &names, faults);
    let captures = probes::captures(&file.capture, &nodes, &links, faults);
    Some(Scenario {
        title: file.title.clone(),
        seed: file.seed,
        nodes,
        links,
        flows,
        transfers,
        windows,
        probes: probes?,
        captures: captures?,
    })
}

fn nodes(tables: &[NodeTable], faults: &mut Faults) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut right = true;
    for table in tables {
        right &= is_name(&table.name, faults);
        right &= is_new(&table.name, nodes.iter().map(|node| node.name.as_str()), "node", faults);
        let jitter = table.jitter.as_ref().map_or(Span::ZERO, |jitter| jitter.value);
        let kind = match (table.kind, &table.jitter) {
            (NodeWord::Host, _) => NodeKind::Host { jitter },
            (NodeWord::Router, None) => NodeKind::Router,
            (NodeWord::Router, Some(jitter)) => {
                faults.note(
                    jitter.span.clone(),
                    "a router forwards at once; expected `jitter` only for a host".into(),
                );
                right = false;
                continue;
            }
        };
        nodes.push(Node { name: table.name.value.clone(), kind });
    }
    right.then_some(nodes)
}

fn windows(tables: &[WindowTable], faults: &mut Faults) -> Option<Vec<Window>> {
    let mut windows: Vec<Window> = Vec::new();
    let mut right = true;
    for WindowTable { name, from, to } in tables {
        right &= is_name(name, faults);
        right &= is_new(name, windows.iter().map(|window| window.name.as_str()), "window", faults);
        if to.value <= *from {
            faults.note(to.span.clone(), "nothing is measured; expected `to` after `from`".into());
            right = false;
        }
        windows.push(Window { name: name.value.clone(), from: *from, to: to.value });
    }
    right.then_some(windows)
}

/// Notes a name that does not look like one.
fn is_name(name: &At<String>, faults: &mut Faults) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let right = !name.value.is_empty() && name.value.chars().all(fits);
    if !right {
        let message = format!("\"{}\" is no name; expected letters, digits, `_`, `-` and `.`", name.value);
        faults.note(name.span.clone(), message);
    }
    right
}

/// Notes a name that is there already.
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

/// Index of the node of that name.
fn node_index(name: &At<String>, nodes: &[Node], faults: &mut Faults) -> Option<usize> {
    nodes.iter().position(|node| node.name == name.value).or_else(|| {
        let expected = expected_one_of(&name.value, nodes.iter().map(|node| node.name.as_str()));
        faults.note(name.span.clone(), format!("unknown node \"{}\"; {expected}", name.value));
        None
    })
}
