use super::files::Files;
use super::{Nodes, has_room, is_name, is_new, members, node_indices};
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{BucketTable, Course, DirectionTable, LinkTable, Loss, RateTable, RenumberTable};
use crate::{Link, Node, NodeKind, Outage, Renumbering};
use net::{ChannelSpec, DelaySpec, Impairments, SpecFault, TransmitterSpec};
use std::collections::BTreeSet;
use std::ops::Range;
use units::{ByteCount, Instant, Probability, Span};

/// The links, and the number of the table of each; `None` if a fault was noted.
pub(super) fn resolve(
    tables: &[LinkTable],
    nodes: &Nodes,
    files: &mut Files,
    faults: &mut Faults,
) -> Option<(Vec<Link>, Vec<usize>)> {
    let (mut links, mut of_table) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let mut right = true;
    for (number, table) in tables.iter().enumerate() {
        match alike(table, nodes, &taken, files, faults) {
            Some(alike) => {
                taken.extend(alike.iter().map(|link| link.name.clone()));
                links.extend(alike);
                of_table.resize(links.len(), number);
            }
            None => right = false,
        }
    }
    right.then_some((links, of_table))
}

/// The links that a table describes. If one name stands for several nodes, each is linked to the node of the
/// other name. If both names stand for the same number of nodes, the first nodes are linked, the second nodes
/// are linked, and so on.
fn alike(
    table: &LinkTable,
    nodes: &Nodes,
    taken: &BTreeSet<String>,
    files: &mut Files,
    faults: &mut Faults,
) -> Option<Vec<Link>> {
    let [a, b] = &table.between.value;
    let (from, to) = (node_indices(a, nodes, faults), node_indices(b, nodes, faults));
    let (from, to) = (from?, to?);
    let span = &table.between.span;
    if from.start == to.start {
        faults.note(span.clone(), "a link joins two nodes; expected two different names".into());
        return None;
    }
    if from.len() != to.len() && from.len() > 1 && to.len() > 1 {
        let message =
            format!("{} nodes and {} nodes; expected as many of both, or one", from.len(), to.len());
        faults.note(span.clone(), message);
        return None;
    }
    let Ok(net_id) = u8::try_from(table.net_id.value) else {
        faults.note(table.net_id.span.clone(), format!("expected a `net_id` of at most {}", u8::MAX));
        return None;
    };
    let count = from.len().max(to.len());
    let all = At { value: count as u32, span: span.clone() };
    if !has_room(&all, taken.len(), "links", a, faults) {
        return None;
    }
    let down = outages(&table.down, faults)?;
    let renumber = renumberings(&table.renumber, [(a, &from), (b, &to)], nodes, faults)?;
    let names: Vec<String> = match &table.name {
        Some(name) if !is_name(name, faults) => return None,
        Some(name) => members(&name.value, count as u32).collect(),
        None => {
            pairs(&from, &to).map(|[a, b]| format!("{}-{}", nodes.all[a].name, nodes.all[b].name)).collect()
        }
    };
    let span = table.name.as_ref().map_or(span, |name| &name.span);
    let known = |name: &String| At { value: name.clone(), span: span.clone() };
    let known_already = names.iter().find(|name| taken.contains(*name));
    if let Some(name) = known_already {
        is_new(&known(name), std::iter::once(name.as_str()), "link", faults);
        return None;
    }
    let forward = channel(table, &table.directions.forward, files, faults);
    let back = channel(table, &table.directions.back, files, faults);
    let (forward, back) = (forward?, back?);
    let link = |(name, between)| Link {
        name,
        between,
        net_id,
        forward: forward.clone(),
        back: back.clone(),
        down: down.clone(),
        carrier_delay: table.carrier_delay,
        renumber: renumber.clone(),
    };
    Some(names.into_iter().zip(pairs(&from, &to)).map(link).collect())
}

/// Pairs the first of both ranges, the second of both and so on; a single node is paired with each node of
/// the other range.
fn pairs(from: &Range<usize>, to: &Range<usize>) -> impl Iterator<Item = [usize; 2]> {
    let count = from.len().max(to.len());
    let at = |nodes: &Range<usize>, i: usize| nodes.start + i % nodes.len();
    let (from, to) = (from.clone(), to.clone());
    (0..count).map(move |i| [at(&from, i), at(&to, i)])
}

/// One direction of a link; `None` if a fault was noted.
fn channel(
    link: &LinkTable,
    direction: &DirectionTable,
    files: &mut Files,
    faults: &mut Faults,
) -> Option<ChannelSpec> {
    let (loss, loss_bursts) = match direction.loss {
        Loss::Single(loss) => (loss, None),
        Loss::Bursts(bursts) => (Probability::ZERO, Some(bursts)),
    };
    let bucket = |table: &BucketTable| table.0.as_ref().map(|bucket| bucket.value);
    let channel = ChannelSpec {
        transmitter: transmitter(&direction.rate, files, faults)?,
        delay: delay(&direction.delay, files, faults)?,
        policer: bucket(&direction.policer),
        queue: direction.queue.0.clone(),
        shaper: bucket(&direction.shaper),
        mtu: link.mtu,
        framing: ByteCount::new(link.framing.into()),
        impairments: Impairments {
            jitter: direction.jitter.up_to,
            jitter_reorders: direction.jitter.reorder,
            loss,
            loss_bursts,
            duplication: direction.duplicate,
            reordering: direction.reorder,
            reordering_delay: direction.reorder_delay,
            bit_errors: direction.bit_errors,
        },
    };
    let Err((part, SpecFault { field, expected })) = channel.check() else { return Some(channel) };
    let place = if part == "policer" { &direction.policer } else { &direction.shaper };
    let span = place.0.as_ref().map_or(&link.between.span, |bucket| &bucket.span);
    faults.note(span.clone(), format!("wrong `{field}` of the {part}; expected {expected}"));
    None
}

fn transmitter(rate: &RateTable, files: &mut Files, faults: &mut Faults) -> Option<TransmitterSpec> {
    Some(match rate {
        RateTable::Course(Course::Constant(rate)) => (*rate).into(),
        RateTable::Course(Course::Model(model)) => TransmitterSpec::Model(*model),
        RateTable::Course(Course::Series(series)) => TransmitterSpec::Series(series.clone()),
        RateTable::Course(Course::File { file, repeat }) => {
            TransmitterSpec::Series(files.rates(file, period(repeat), faults)?)
        }
        RateTable::Deliveries { file } => TransmitterSpec::Trace(files.deliveries(file, faults)?),
    })
}

fn delay(delay: &Course<Span>, files: &mut Files, faults: &mut Faults) -> Option<DelaySpec> {
    Some(match delay {
        Course::Constant(delay) => (*delay).into(),
        Course::Model(model) => DelaySpec::Model(*model),
        Course::Series(series) => DelaySpec::Series(series.clone()),
        Course::File { file, repeat } => DelaySpec::Series(files.delays(file, period(repeat), faults)?),
    })
}

fn period(repeat: &Option<At<Span>>) -> Option<Span> {
    repeat.as_ref().map(|repeat| repeat.value)
}

/// The new addresses that hosts get on a link. `ends`: the names of both ends in the table, and their nodes.
fn renumberings(
    tables: &[RenumberTable],
    ends: [(&At<String>, &Range<usize>); 2],
    nodes: &Nodes,
    faults: &mut Faults,
) -> Option<Vec<Renumbering>> {
    let renumbering = |RenumberTable { node, at }: &RenumberTable| {
        let Some(end) = ends.iter().position(|(name, _)| name.value == node.value) else {
            let expected = expected_one_of(&node.value, ends.iter().map(|(name, _)| name.value.as_str()));
            faults.note(node.span.clone(), format!("\"{}\" is no end of this link; {expected}", node.value));
            return None;
        };
        let is_host = |node: usize| matches!(nodes.all[node].kind, NodeKind::Host { .. });
        if !ends[end].1.clone().all(is_host) {
            faults.note(node.span.clone(), format!("\"{}\" has no address; expected a host", node.value));
            return None;
        }
        Some(Renumbering { second: end == 1, at: *at })
    };
    tables.iter().map(renumbering).collect()
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

/// The link of that name, and whether the name gives the two nodes in reverse order.
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

/// Networks in which both nodes have an interface and a route to each other. Links of network 0 belong to all
/// networks.
pub(super) fn networks_between(a: usize, b: usize, links: &[Link]) -> BTreeSet<u16> {
    let mut ids: BTreeSet<u16> = links.iter().map(|link| link.net_id.into()).filter(|id| *id != 0).collect();
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
        for link in links.iter().filter(|link| [0, id].contains(&link.net_id.into())) {
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
