//! The rows of a run: for each window those of flows, links, and all flows together.

use super::fairness::fairness;
use super::flow::{self, Achieved, ratio};
use super::link::{LinkCounts, Links};
use super::quantity as q;
use super::windows::Windows;
use crate::app::{Flow, Measured, Window};
use crate::output::Scalar;
use net::{LinkDir, Network};
use std::collections::BTreeMap;
use units::Instant;

/// What the rows of one window are made from.
pub(super) struct Around<'a> {
    pub(super) network: &'a Network,
    pub(super) links: &'a Links,
    /// The window is that of the flows themselves, with which what belongs to the whole run is told.
    pub(super) whole_run: bool,
}

impl Around<'_> {
    /// The rates of the tightest links on these ways, each link counted once, in bit/s.
    pub(super) fn tightest(&self, ways: &[Vec<LinkDir>]) -> f64 {
        let rate = |&direction: &LinkDir| self.links.rate(direction);
        let tight =
            ways.iter().filter_map(|way| way.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b))));
        let distinct: BTreeMap<LinkDir, f64> = tight.map(|link| (link, rate(&link))).collect();
        distinct.values().sum()
    }
}

/// Takes the rows of one flow, link or the like in one window.
pub(super) struct Put<'a> {
    pub(super) window: &'a str,
    pub(super) flow: &'a str,
    pub(super) out: &'a mut Vec<Scalar>,
}

impl Put<'_> {
    pub(super) fn whole(&mut self, quantity: &'static str, value: f64) {
        self.of_path(quantity, None, value);
    }

    pub(super) fn of_path(&mut self, quantity: &'static str, path: Option<usize>, value: f64) {
        self.out.push(Scalar {
            flow: self.flow.to_owned(),
            window: self.window.to_owned(),
            path: path.map(|path| path as u8),
            quantity,
            // Adding zero makes -0, the sum of nothing, a plain 0.
            value: value + 0.0,
        });
    }
}

/// All scalars of a run.
pub(crate) fn of_run(network: &Network, flows: &[Flow], links: &Links, windows: &Windows) -> Vec<Scalar> {
    let mut out = Vec::new();
    let edges: Vec<_> = flows.iter().map(own).collect();
    let around = Around { network, links, whole_run: true };
    stretch("", flows, &edges, links.counted(), &around, &mut out);
    let around = Around { whole_run: false, ..around };
    for (name, begin, end) in windows.measured() {
        let edges: Vec<_> = begin.flows.iter().zip(&end.flows).map(Some).collect();
        stretch(name, flows, &edges, Some((&begin.links, &end.links)), &around, &mut out);
    }
    out
}

/// The edges of a flow's own measurement.
fn own(flow: &Flow) -> Option<(&Window, &Window)> {
    match &flow.measured {
        Measured::Done(edges) => Some((&edges.0, &edges.1)),
        Measured::No | Measured::Since(_) => None,
    }
}

/// The rows of one window.
fn stretch(
    window: &str,
    flows: &[Flow],
    edges: &[Option<(&Window, &Window)>],
    counted: Option<(&LinkCounts, &LinkCounts)>,
    around: &Around<'_>,
    out: &mut Vec<Scalar>,
) {
    let (mut all, mut carried) = (Achieved::default(), BTreeMap::new());
    for (flow, &edges) in flows.iter().zip(edges) {
        let put = &mut Put { window, flow: &flow.name, out: &mut *out };
        if let Some(connected) = flow.connected
            && around.whole_run
        {
            put.whole(q::HANDSHAKE, connected.since(flow.plan.connect).as_secs_f64());
        }
        let achieved = flow::report(flow, edges, around, put);
        for (sent, way) in &achieved.carried {
            way.iter().for_each(|&link| *carried.entry(link).or_insert(0.0) += sent);
        }
        if edges.is_some_and(|(begin, end)| flow.sends_between(begin.from, end.from)) {
            all.sent.extend(achieved.sent);
            all.goodput += achieved.goodput;
            all.load += achieved.load;
        }
    }
    if !all.sent.is_empty() {
        let put = &mut Put { window, flow: q::ALL_FLOWS, out: &mut *out };
        let (sum, n) = (all.sent.iter().sum(), all.sent.len() as f64);
        put.whole(q::FLOWS, n);
        put.whole(q::THROUGHPUT.forward, all.goodput);
        put.whole(q::SENT_THROUGHPUT.forward, sum);
        put.whole(q::LOAD, all.load);
        put.whole(q::AVERAGE_THROUGHPUT, ratio(sum, n));
        put.whole(q::FAIRNESS, fairness(&all.sent));
        put.whole(q::SYSTEM_UTILISATION, ratio(all.goodput, all.load));
    }
    if let Some((begin, end)) = counted {
        around.links.report(window, begin, end, &carried, out);
    }
}

impl Flow {
    /// Whether it sends at some time between these two.
    fn sends_between(&self, from: Instant, to: Instant) -> bool {
        self.started.is_some_and(|started| started < to && started + self.plan.stop > from)
    }
}
