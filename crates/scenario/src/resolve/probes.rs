use super::FlowGroup;
use super::limits::{self, PlannedEnd};
use super::links::named;
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{CaptureTable, ProbeTable};
use crate::{Capture, Every, Link, Node, Probe, ProbeQuantity, ProbeTarget, Window};
use std::collections::BTreeSet;
use units::{Instant, Span};

/// The flows, links and windows of time that probes can name.
pub(super) struct Names<'a> {
    pub groups: &'a [FlowGroup<'a>],
    pub nodes: &'a [Node],
    pub links: &'a [Link],
    pub windows: &'a [Window],
    pub end: PlannedEnd,
}

/// The probes, one for each quantity of each flow or link that a table names; `None` if a fault was noted.
pub(super) fn probes(tables: &[ProbeTable], names: &Names<'_>, faults: &mut Faults) -> Option<Vec<Probe>> {
    let resolved: Vec<_> = tables.iter().map(|table| probe(table, names, faults)).collect();
    let each = resolved.into_iter().collect::<Option<Vec<_>>>()?;
    let (mut watched, mut rows) = (Vec::new(), 0);
    for (table, probes) in tables.iter().zip(&each) {
        for probe in probes.iter().filter(|probe| matches!(probe.quantity, ProbeQuantity::Bursts)) {
            if watched.contains(&&probe.target) {
                let message = "another probe counts the bursts of this link; expected one for each link";
                faults.note(table.quantity.0[0].span.clone(), message.into());
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

/// The probes of a table: each of its quantities, of each of its flows or links.
fn probe(table: &ProbeTable, names: &Names<'_>, faults: &mut Faults) -> Option<Vec<Probe>> {
    let (from, to) = times(table, names.windows, faults)?;
    let mut probes = Vec::new();
    for quantity in &table.quantity.0 {
        fits(table, quantity, faults)?;
        let gap = table.gap.as_ref().map_or(Span::ZERO, |gap| gap.value);
        let (quantity, every) = (quantity.value, table.every.value);
        let targets = targets(table, names, faults)?;
        probes.extend(targets.into_iter().map(|target| Probe { quantity, target, from, to, every, gap }));
    }
    Some(probes)
}

/// Adds a fault for a quantity that does not fit the flows, links or times in the table, and returns `None`
/// then.
fn fits(table: &ProbeTable, quantity: &At<ProbeQuantity>, faults: &mut Faults) -> Option<()> {
    use ProbeQuantity::{Bursts, Drops, Queue, QueueAverage, SentThroughput, Sequence, Throughput};
    let kind = quantity.value;
    let at_every = if table.every.span.is_empty() { &quantity.span } else { &table.every.span };
    let changes = table.every.value == Every::Change;
    let fault = match (&table.flow, &table.link) {
        _ if table.gap.is_some() && kind != Bursts => {
            let span = table.gap.as_ref().map_or(&quantity.span, |gap| &gap.span);
            Some((span, "only bursts have a `gap`; expected quantity = \"bursts\""))
        }
        (Some(_), None) if matches!(kind, Queue | QueueAverage | Drops | Bursts) => {
            Some((&quantity.span, "a queue belongs to a link; expected `link` instead of `flow`"))
        }
        (None, Some(_)) if !matches!(kind, Queue | QueueAverage | Drops | Throughput | Bursts) => {
            Some((&quantity.span, "this quantity belongs to a flow; expected `flow` instead of `link`"))
        }
        (Some(_), Some(_)) | (None, None) => {
            Some((&quantity.span, "a probe watches a flow or a link; expected one of `flow` and `link`"))
        }
        _ if matches!(kind, Throughput | SentThroughput) && changes => {
            Some((at_every, "throughput is counted over intervals; expected `every` such as \"100 ms\""))
        }
        _ if kind == Sequence && !changes => {
            Some((at_every, "every chunk is recorded; expected no `every`, or \"change\""))
        }
        _ => None,
    };
    let Some((span, message)) = fault else { return Some(()) };
    faults.note(span.clone(), message.into());
    None
}

/// The flows or links that a table names, each once.
fn targets(table: &ProbeTable, names: &Names<'_>, faults: &mut Faults) -> Option<Vec<ProbeTarget>> {
    let mut found: Vec<ProbeTarget> = Vec::new();
    for flow in table.flow.iter().flat_map(|flows| &flows.0) {
        found.extend(flow_targets(flow, names.groups, faults)?);
    }
    for link in table.link.iter().flat_map(|links| &links.0) {
        found.extend(link_targets(link, names, faults)?);
    }
    let mut seen = BTreeSet::new();
    found.retain(|target| {
        seen.insert(match *target {
            ProbeTarget::Flow(flow) => (flow, None),
            ProbeTarget::Link { link, back } => (link, Some(back)),
        })
    });
    Some(found)
}

/// The direction of the link that `name` names. If `name` is a pattern: for
/// each link whose name fits the pattern, the direction from its first node.
fn link_targets(name: &At<String>, names: &Names<'_>, faults: &mut Faults) -> Option<Vec<ProbeTarget>> {
    let fitting = (0..names.links.len()).filter(|&link| matches(&name.value, &names.links[link].name));
    let fitting: Vec<_> = fitting.map(|link| ProbeTarget::Link { link, back: false }).collect();
    if !fitting.is_empty() {
        return Some(fitting);
    }
    let (link, back) = named(name, names.nodes, names.links, faults)?;
    Some(vec![ProbeTarget::Link { link, back }])
}

/// True if a name fits a pattern, in which each `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
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

/// All flows of a group, the one flow whose number is at the end of the name, or all flows whose names fit a
/// pattern.
fn flow_targets(
    name: &At<String>,
    groups: &[FlowGroup<'_>],
    faults: &mut Faults,
) -> Option<Vec<ProbeTarget>> {
    let numbered =
        |group: &FlowGroup<'_>, flow: usize| format!("{}-{}", group.name.value, flow - group.flows.start + 1);
    let mut found = Vec::new();
    for group in groups {
        let whole = matches(&name.value, &group.name.value);
        let flows = group.flows.clone().filter(|&flow| whole || matches(&name.value, &numbered(group, flow)));
        found.extend(flows.map(ProbeTarget::Flow));
    }
    if found.is_empty() {
        let expected = expected_one_of(&name.value, groups.iter().map(|group| group.name.value.as_str()));
        faults.note(name.span.clone(), format!("unknown flow \"{}\"; {expected}", name.value));
        return None;
    }
    Some(found)
}

/// The files that a run writes beside its captures.
const RESULTS: [&str; 5] =
    ["scalars.parquet", "series.parquet", "scalars.csv", "series.csv", "manifest.json"];

/// The captures; `None` if a fault was noted.
pub(super) fn captures(
    tables: &[CaptureTable],
    nodes: &[Node],
    links: &[Link],
    faults: &mut Faults,
) -> Option<Vec<Capture>> {
    let mut captures: Vec<Capture> = Vec::new();
    for CaptureTable { link, file, limit } in tables {
        let (link, _) = named(link, nodes, links, faults)?;
        let fits = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        if file.value.is_empty() || file.value.starts_with('.') || !file.value.chars().all(fits) {
            let message = format!("\"{}\" is not a file name; expected one without folders", file.value);
            faults.note(file.span.clone(), message);
            return None;
        }
        if RESULTS.iter().any(|name| name.eq_ignore_ascii_case(&file.value)) {
            let message = format!(
                "\"{}\" is a file of the results; expected another name such as \"bottleneck.pcapng\"",
                file.value
            );
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
        captures.push(Capture { link, file: file.value.clone(), limit: *limit });
    }
    Some(captures)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, fits, differs) in [
            ("f", &["f"][..], &["", "ff"][..]),
            ("f*", &["f", "flow-1"], &["", "g"]),
            ("*", &["", "x"], &[]),
            ("*-1", &["a-1", "-1"], &["a-12", "1"]),
            ("a*b*c", &["abc", "a-b-c", "abbc"], &["ac", "acb", "ab"]),
            ("ab*ab", &["abab", "abxab"], &["ab"]),
        ] {
            assert!(fits.iter().all(|name| matches(pattern, name)), "{pattern}");
            assert!(!differs.iter().any(|name| matches(pattern, name)), "{pattern}");
        }
    }
}
