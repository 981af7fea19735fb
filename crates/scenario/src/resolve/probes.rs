use super::flows::Group;
use super::limits::{self, PlannedEnd};
use super::links::named;
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{CaptureTable, ProbeTable};
use crate::{Capture, Every, Link, Node, Probe, ProbeQuantity, ProbeTarget, Window};
use units::{Instant, Span};

/// The flows, links and windows that probes can name.
pub(super) struct Names<'a> {
    pub groups: &'a [Group],
    pub nodes: &'a [Node],
    pub links: &'a [Link],
    pub windows: &'a [Window],
    pub end: PlannedEnd,
}

/// The probes, one for each flow that a table names; `None` if a fault was noted.
pub(super) fn probes(tables: &[ProbeTable], names: &Names<'_>, faults: &mut Faults) -> Option<Vec<Probe>> {
    let resolved: Vec<_> = tables.iter().map(|table| probe(table, names, faults)).collect();
    let each = resolved.into_iter().collect::<Option<Vec<_>>>()?;
    let (mut watched, mut rows) = (Vec::new(), 0);
    for (table, probes) in tables.iter().zip(&each) {
        for probe in probes.iter().filter(|probe| matches!(probe.quantity, ProbeQuantity::Bursts)) {
            if watched.contains(&&probe.target) {
                let message = "another probe counts the bursts of this link; expected one for each link";
                faults.note(table.quantity.span.clone(), message.into());
                return None;
            }
            watched.push(&probe.target);
        }
        rows += probes.iter().map(|probe| limits::rows(probe, names.end)).sum::<u64>();
        if rows > limits::ROWS {
            let message = format!(
                "{rows} rows would be recorded; expected at most {} in all, with a longer `every` or an earlier `to`",
                limits::ROWS
            );
            faults.note(table.every.span.clone(), message);
            return None;
        }
    }
    Some(each.concat())
}

fn probe(table: &ProbeTable, names: &Names<'_>, faults: &mut Faults) -> Option<Vec<Probe>> {
    use ProbeQuantity::{Bursts, Drops, Queue, QueueAverage, SentThroughput, Throughput};
    let quantity = table.quantity.value;
    if let Some(gap) = table.gap.as_ref().filter(|_| quantity != Bursts) {
        faults.note(gap.span.clone(), "only bursts have a `gap`; expected quantity = \"bursts\"".into());
        return None;
    }
    let mut fault = |message: &str| {
        faults.note(table.quantity.span.clone(), message.to_owned());
        None
    };
    let targets = match (&table.flow, &table.link) {
        (Some(_), None) if matches!(quantity, Queue | QueueAverage | Drops | Bursts) => {
            return fault("a queue belongs to a link; expected `link` instead of `flow`");
        }
        (None, Some(_)) if !matches!(quantity, Queue | QueueAverage | Drops | Throughput | Bursts) => {
            return fault("this quantity belongs to a flow; expected `flow` instead of `link`");
        }
        (Some(flow), None) => flow_targets(flow, names.groups, faults)?,
        (None, Some(link)) => {
            let (link, back) = named(link, names.nodes, names.links, faults)?;
            vec![ProbeTarget::Link { link, back }]
        }
        _ => return fault("a probe watches a flow or a link; expected one of `flow` and `link`"),
    };
    let (from, to) = times(table, names.windows, faults)?;
    let every = table.every.value;
    if matches!(quantity, Throughput | SentThroughput) && every == Every::Change {
        let at = if table.every.span.is_empty() { &table.quantity.span } else { &table.every.span };
        faults.note(
            at.clone(),
            "throughput is counted over intervals; expected `every` such as \"100 ms\"".into(),
        );
        return None;
    }
    if quantity == ProbeQuantity::Sequence && every != Every::Change {
        let message = "every chunk is recorded; expected no `every`, or \"change\"";
        faults.note(table.every.span.clone(), message.into());
        return None;
    }
    let gap = table.gap.as_ref().map_or(Span::ZERO, |gap| gap.value);
    Some(targets.into_iter().map(|target| Probe { quantity, target, from, to, every, gap }).collect())
}

/// Start and end of recording: the times of the probe, or of the window that it names.
fn times(table: &ProbeTable, windows: &[Window], faults: &mut Faults) -> Option<(Instant, Option<Instant>)> {
    if let Some(name) = &table.window {
        if table.from.is_some() || table.to.is_some() {
            faults.note(name.span.clone(), "expected either `window`, or `from` and `to`".into());
            return None;
        }
        let Some(window) = windows.iter().find(|window| window.name == name.value) else {
            let expected = expected_one_of(&name.value, windows.iter().map(|window| window.name.as_str()));
            faults.note(name.span.clone(), format!("unknown window \"{}\"; {expected}", name.value));
            return None;
        };
        return Some((window.from, Some(window.to)));
    }
    let from = table.from.as_ref().map_or(Instant::ZERO, |from| from.value);
    if let Some(to) = table.to.as_ref().filter(|to| to.value <= from) {
        faults.note(to.span.clone(), "expected `to` after `from`".into());
        return None;
    }
    Some((from, table.to.as_ref().map(|to| to.value)))
}

/// All flows of a group, or the one flow whose number is at the end of the name.
fn flow_targets(name: &At<String>, groups: &[Group], faults: &mut Faults) -> Option<Vec<ProbeTarget>> {
    if let Some(group) = groups.iter().find(|group| group.name == name.value) {
        return Some(group.flows.clone().map(ProbeTarget::Flow).collect());
    }
    let numbered = |group: &Group| {
        let number: usize = name.value.strip_prefix(&group.name)?.strip_prefix('-')?.parse().ok()?;
        group.flows.clone().nth(number.checked_sub(1)?)
    };
    if let Some(flow) = groups.iter().find_map(numbered) {
        return Some(vec![ProbeTarget::Flow(flow)]);
    }
    let expected = expected_one_of(&name.value, groups.iter().map(|group| group.name.as_str()));
    faults.note(name.span.clone(), format!("unknown flow \"{}\"; {expected}", name.value));
    None
}

/// The captures; `None` if a fault was noted.
pub(super) fn captures(
    tables: &[CaptureTable],
    nodes: &[Node],
    links: &[Link],
    faults: &mut Faults,
) -> Option<Vec<Capture>> {
    let mut captures: Vec<Capture> = Vec::new();
    for CaptureTable { link, file } in tables {
        let (link, _) = named(link, nodes, links, faults)?;
        let fits = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        if file.value.is_empty() || file.value.starts_with('.') || !file.value.chars().all(fits) {
            let message = format!("\"{}\" is not a file name; expected one without folders", file.value);
            faults.note(file.span.clone(), message);
            return None;
        }
        if captures.iter().any(|other| other.file == file.value) {
            faults.note(
                file.span.clone(),
                "another capture goes to this file; expected a file of its own".into(),
            );
            return None;
        }
        captures.push(Capture { link, file: file.value.clone() });
    }
    Some(captures)
}
