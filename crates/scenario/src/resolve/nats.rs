use super::Nodes;
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{NodeTable, NodeWord};
use crate::{Link, NodeKind};
use units::{Instant, Span};

/// Makes a NAT of each router that has kind "nat" in the file; `None` if a fault was noted.
pub(super) fn resolve(
    tables: &[NodeTable],
    nodes: &mut Nodes,
    links: &[Link],
    faults: &mut Faults,
) -> Option<()> {
    let mut right = true;
    for (at, table) in tables.iter().enumerate() {
        right &= match table.kind {
            NodeWord::Nat => nat(table, at, nodes, links, faults).is_some(),
            NodeWord::Host | NodeWord::Router => has_no_keys_of_a_nat(table, faults),
        };
    }
    right.then_some(())
}

fn has_no_keys_of_a_nat(table: &NodeTable, faults: &mut Faults) -> bool {
    let outside = table.outside.as_ref().map(|outside| ("outside", &outside.span));
    let timeout = table.timeout.as_ref().map(|timeout| ("timeout", &timeout.span));
    let rebind_at = table.rebind_at.first().map(|first| ("rebind_at", &first.span));
    let stray = [outside, timeout, rebind_at].into_iter().flatten().next();
    if let Some((key, span)) = stray {
        faults.note(span.clone(), format!("only a NAT has `{key}`; expected kind = \"nat\""));
    }
    stray.is_none()
}

/// Default timeout of a mapping: the least default that `rfc4787#section-4.3` recommends.
const TIMEOUT: Span = Span::from_secs(300);

fn nat(table: &NodeTable, at: usize, nodes: &mut Nodes, links: &[Link], faults: &mut Faults) -> Option<()> {
    let Some(neighbour) = &table.outside else {
        let message =
            "a NAT has an outside; expected `outside`, the name of the node that its outside link leads to";
        faults.note(table.name.span.clone(), message.into());
        return None;
    };
    let timeout = table.timeout.as_ref().map_or(TIMEOUT, |timeout| timeout.value);
    if let Some(At { value: Span::ZERO, span }) = &table.timeout {
        faults.note(span.clone(), "no mapping would live; expected a `timeout` above 0 s".into());
        return None;
    }
    let rebind_at: Vec<Instant> = table.rebind_at.iter().map(|time| time.value).collect();
    for node in nodes.groups[at].members.clone() {
        let outside = outside_link(neighbour, node, nodes, links, faults)?;
        nodes.all[node].kind = NodeKind::Nat { outside, timeout, rebind_at: rebind_at.clone() };
    }
    Some(())
}

/// The one link between a NAT and the node of that name.
fn outside_link(
    neighbour: &At<String>,
    nat: usize,
    nodes: &Nodes,
    links: &[Link],
    faults: &mut Faults,
) -> Option<usize> {
    let other_end = |link: &Link| match link.between {
        [a, b] if a == nat => Some(&nodes.all[b].name),
        [a, b] if b == nat => Some(&nodes.all[a].name),
        _ => None,
    };
    let neighbours: Vec<(usize, &String)> =
        links.iter().enumerate().filter_map(|(n, link)| Some((n, other_end(link)?))).collect();
    let mut found = neighbours.iter().filter(|(_, name)| **name == neighbour.value);
    let (first, second) = (found.next(), found.next());
    let name = &nodes.all[nat].name;
    let message = match (first, second) {
        (Some((link, _)), None) => return Some(*link),
        (Some(_), Some(_)) => format!(
            "several links join the NAT \"{name}\" and \"{}\"; expected one outside link",
            neighbour.value
        ),
        (None, _) => {
            let expected =
                expected_one_of(&neighbour.value, neighbours.iter().map(|(_, name)| name.as_str()));
            format!("no link joins the NAT \"{name}\" and \"{}\"; {expected}", neighbour.value)
        }
    };
    faults.note(neighbour.span.clone(), message);
    None
}
