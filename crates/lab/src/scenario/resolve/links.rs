use super::{is_name, is_new, node_index};
use crate::scenario::decode::At;
use crate::scenario::diagnostic::{Faults, expected_one_of};
use crate::scenario::file::{DirectionTable, LinkTable};
use crate::scenario::{Direction, Link, Node, Outage};
use std::collections::BTreeSet;
use units::{ByteCount, Instant};

/// The links; `None` if a fault was noted.
pub(super) fn resolve(tables: &[LinkTable], nodes: &[Node], faults: &mut Faults) -> Option<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut right = true;
    for table in tables {
        match link(table, nodes, &links, faults) {
            Some(link) => links.push(link),
            None => right = false,
        }
    }
    right.then_some(links)
}

fn link(table: &LinkTable, nodes: &[Node], others: &[Link], faults: &mut Faults) -> Option<Link> {
    let [a, b] = &table.between.value;
    let (from, to) = (node_index(a, nodes, faults), node_index(b, nodes, faults));
    let between = [from?, to?];
    if between[0] == between[1] {
        faults
            .note(table.between.span.clone(), "a link joins two nodes; expected two different names".into());
        return None;
    }
    let name = match &table.name {
        Some(name) if !is_name(name, faults) => return None,
        Some(name) => name.clone(),
        None => At { value: format!("{}-{}", a.value, b.value), span: table.between.span.clone() },
    };
    if !is_new(&name, others.iter().map(|link| link.name.as_str()), "link", faults) {
        return None;
    }
    Some(Link {
        name: name.value,
        between,
        net_id: table.net_id,
        mtu: table.mtu,
        framing: ByteCount::new(table.framing.into()),
        forward: direction(&table.directions.forward),
        back: direction(&table.directions.back),
        down: outages(&table.down, faults)?,
    })
}

fn direction(table: &DirectionTable) -> Direction {
    Direction {
        rate: table.rate,
        delay: table.delay,
        jitter: table.jitter,
        queue: table.queue.0.clone(),
        loss: table.loss,
        duplicate: table.duplicate,
        reorder: table.reorder,
        reorder_delay: table.reorder_delay,
        bit_errors: table.bit_errors,
    }
}

fn outages(down: &[At<[Instant; 2]>], faults: &mut Faults) -> Option<Vec<Outage>> {
    let mut earliest = Instant::ZERO;
    for At { value: [from, to], span } in down {
        if *from < earliest || to <= from {
            faults.note(span.clone(), "expected times in order, each outage ending after it starts".into());
            return None;
        }
        earliest = *to;
    }
    Some(down.iter().map(|outage| Outage { from: outage.value[0], to: outage.value[1] }).collect())
}

/// The link of that name, and whether the name says its nodes the other way round.
pub(super) fn named(
    name: &At<String>,
    nodes: &[Node],
    links: &[Link],
    faults: &mut Faults,
) -> Option<(usize, bool)> {
    if let Some(link) = links.iter().position(|link| link.name == name.value) {
        return Some((link, false));
    }
    let reversed = |link: &Link| format!("{}-{}", nodes[link.between[1]].name, nodes[link.between[0]].name);
    if let Some(link) = links.iter().position(|link| reversed(link) == name.value) {
        return Some((link, true));
    }
    let expected = expected_one_of(&name.value, links.iter().map(|link| link.name.as_str()));
    faults.note(name.span.clone(), format!("unknown link \"{}\"; {expected}", name.value));
    None
}

/// Networks in which both nodes have an interface and a way to each other. Links of network 0 belong to all.
pub(super) fn networks_between(a: usize, b: usize, links: &[Link]) -> BTreeSet<u16> {
    let mut ids: BTreeSet<u16> = links.iter().map(|link| link.net_id).filter(|id| *id != 0).collect();
    if ids.is_empty() {
        ids.insert(0);
    }
    ids.retain(|id| reaches(a, b, *id, links));
    ids
}

fn reaches(a: usize, b: usize, id: u16, links: &[Link]) -> bool {
    let mut reached = vec![a];
    let mut next = 0;
    while let Some(node) = reached.get(next).copied() {
        next += 1;
        for link in links.iter().filter(|link| [0, id].contains(&link.net_id)) {
            let [from, to] = link.between;
            for (near, far) in [(from, to), (to, from)] {
                if near == node && !reached.contains(&far) {
                    reached.push(far);
                }
            }
        }
    }
    reached.contains(&b)
}
