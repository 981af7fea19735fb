use super::links::named;
use super::probes::Names;
use crate::decode::At;
use crate::diagnostic::{Faults, expected_one_of};
use crate::file::{ChangeTable, WhenTable};
use crate::{Distribution, Effect, Flow, Hertz, Pace, RunChange, Trigger};
use net::{ChannelChange, ChannelSpec, DelaySpec, TransmitterSpec};
use std::ops::Range;
use units::Span;

/// The changes; `None` if a fault was noted.
pub(super) fn resolve(
    tables: &[ChangeTable],
    flows: &[Flow],
    names: &Names<'_>,
    faults: &mut Faults,
) -> Option<Vec<RunChange>> {
    let all: Vec<_> = tables.iter().map(|table| change(table, flows, names, faults)).collect();
    all.into_iter().collect()
}

fn change(table: &ChangeTable, flows: &[Flow], names: &Names<'_>, faults: &mut Faults) -> Option<RunChange> {
    let trigger = trigger(table, flows, names, faults)?;
    let effect = match (&table.link, &table.flow) {
        (Some(link), None) => link_change(table, link, names, faults)?,
        (None, Some(flow)) => flow_change(table, flow, flows, names, faults)?,
        (Some(both), Some(_)) => {
            return fault(
                faults,
                &both.span,
                "a change is of a link or of a flow; expected one of `link` and `flow`",
            );
        }
        (None, None) => {
            return fault(faults, &start(table), "nothing is changed; expected `link` or `flow`");
        }
    };
    if let Some(lasts) = table.r#for.as_ref().filter(|lasts| lasts.value.is_zero()) {
        return fault(faults, &lasts.span, "expected a time above zero, or no `for`: the change then stays");
    }
    Some(RunChange { trigger, lasts: table.r#for.as_ref().map(|lasts| lasts.value), effect })
}

fn fault<T>(faults: &mut Faults, span: &Range<usize>, message: &str) -> Option<T> {
    faults.note(span.clone(), message.to_owned());
    None
}

/// The byte range at which those faults of a table are reported that belong to none of its keys.
fn start(table: &ChangeTable) -> Range<usize> {
    let (at, when) = (table.at.as_ref().map(|at| &at.span), table.when.as_ref().map(|when| &when.span));
    at.or(when).cloned().unwrap_or(0..0)
}

fn trigger(table: &ChangeTable, flows: &[Flow], names: &Names<'_>, faults: &mut Faults) -> Option<Trigger> {
    match (&table.at, &table.when) {
        (Some(at), None) => Some(Trigger::At(at.value)),
        (None, Some(when)) => entry(&when.value, flows, names, faults),
        (Some(at), Some(_)) => fault(faults, &at.span, "expected one of `at` and `when`"),
        (None, None) => {
            let name = table.link.as_ref().or(table.flow.as_ref());
            let span = name.map_or(0..0, |name| name.span.clone());
            fault(faults, &span, "the change has no time; expected `at` or `when`")
        }
    }
}

fn entry(when: &WhenTable, flows: &[Flow], names: &Names<'_>, faults: &mut Faults) -> Option<Trigger> {
    let flow = flow_named(&when.flow, flows, names, faults)?;
    if when.entry.value == 0 {
        return fault(faults, &when.entry.span, "entries are counted from 1; expected at least 1");
    }
    let WhenTable { path, state, after, .. } = *when;
    Some(Trigger::Entry { flow, path, state, entry: when.entry.value, after })
}

/// The one flow of that name.
fn flow_named(name: &At<String>, flows: &[Flow], names: &Names<'_>, faults: &mut Faults) -> Option<usize> {
    let found = flows.iter().position(|flow| flow.name == name.value);
    if found.is_none() {
        let groups = names.groups.iter();
        let message = match groups.clone().find(|group| group.name.value == name.value) {
            Some(group) => format!(
                "\"{}\" stands for {} flows; expected one of them, such as \"{0}-1\"",
                name.value,
                group.flows.len()
            ),
            None => {
                let expected = expected_one_of(&name.value, groups.map(|group| group.name.value.as_str()));
                format!("unknown flow \"{}\"; {expected}", name.value)
            }
        };
        faults.note(name.span.clone(), message);
    }
    found
}

fn link_change(
    table: &ChangeTable,
    name: &At<String>,
    names: &Names<'_>,
    faults: &mut Faults,
) -> Option<Effect> {
    if let Some(stray) = &table.frame_rate {
        return fault(faults, &stray.span, "a link has no `frame_rate`; expected `flow` instead of `link`");
    }
    let (link, back) = named(name, names.nodes, names.links, faults)?;
    let of = &names.links[link];
    let spec = if back { &of.back } else { &of.forward };
    let new = ChannelChange {
        rate: value(&table.rate),
        delay: value(&table.delay),
        loss: value(&table.loss),
        reordering: value(&table.reorder),
        reordering_delay: value(&table.reorder_delay),
    };
    if new == ChannelChange::default() {
        let expected = "expected `rate`, `delay`, `loss`, `reorder` or `reorder_delay`";
        return fault(faults, &name.span, &format!("nothing of the link is changed; {expected}"));
    }
    if let Some(rate) = table.rate.as_ref().filter(|_| !has_constant_rate(spec)) {
        let message =
            "the rate of this link varies already; expected a link with a constant `rate` and no `shaper`";
        return fault(faults, &rate.span, message);
    }
    let constant_delay = match spec.delay {
        DelaySpec::Constant(delay) => Some(delay),
        _ => None,
    };
    if let Some(delay) = table.delay.as_ref().filter(|_| constant_delay.is_none()) {
        let message = "the delay of this link varies already; expected a link with a constant `delay`";
        return fault(faults, &delay.span, message);
    }
    Some(Effect::Link { link, back, new, first: first(spec, &new, constant_delay) })
}

fn value<T: Copy>(key: &Option<At<T>>) -> Option<T> {
    key.as_ref().map(|key| key.value)
}

fn has_constant_rate(spec: &ChannelSpec) -> bool {
    matches!(spec.transmitter, TransmitterSpec::Rate(_)) && spec.shaper.is_none()
}

/// The values of the link before any change, for the parameters that `new` changes.
fn first(spec: &ChannelSpec, new: &ChannelChange, delay: Option<Span>) -> ChannelChange {
    let wire = &spec.impairments;
    ChannelChange {
        rate: new.rate.and(spec.transmitter.mean_rate()),
        delay: new.delay.and(delay),
        loss: new.loss.map(|_| wire.loss),
        reordering: new.reordering.map(|_| wire.reordering),
        reordering_delay: new.reordering_delay.map(|_| wire.reordering_delay),
    }
}

fn flow_change(
    table: &ChangeTable,
    name: &At<String>,
    flows: &[Flow],
    names: &Names<'_>,
    faults: &mut Faults,
) -> Option<Effect> {
    let flow = flow_named(name, flows, names, faults)?;
    let stray = [
        table.rate.as_ref().map(|key| ("rate", &key.span)),
        table.delay.as_ref().map(|key| ("delay", &key.span)),
        table.loss.as_ref().map(|key| ("loss", &key.span)),
        table.reorder.as_ref().map(|key| ("reorder", &key.span)),
        table.reorder_delay.as_ref().map(|key| ("reorder_delay", &key.span)),
    ];
    if let Some((key, span)) = stray.into_iter().flatten().next() {
        return fault(faults, span, &format!("a flow has no `{key}`; expected `link` instead of `flow`"));
    }
    let Some(rate) = &table.frame_rate else {
        return fault(faults, &name.span, "nothing of the flow is changed; expected `frame_rate`");
    };
    let Some(traffic) = &flows[flow].forward else {
        let message = "the client of this flow sends nothing; expected a `frame_size` above 0 B";
        return fault(faults, &name.span, message);
    };
    if flows[flow].protocol == crate::Protocol::Udp && rate.value == Hertz(0.0) {
        let message = "UDP has no flow control; expected a `frame_rate` above 0 Hz";
        return fault(faults, &rate.span, message);
    }
    let new = match rate.value {
        Hertz(0.0) => Pace::Saturated,
        rate => Pace::Frames(Distribution::Constant(rate)),
    };
    Some(Effect::Pace { flow, new, first: traffic.pace })
}
