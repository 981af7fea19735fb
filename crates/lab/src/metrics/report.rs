//! The rows of results of a run: for each window those of flows, of links, and of all flows together.

use super::echo;
use super::fairness::fairness;
use super::flow::{self, Achieved, RunContext};
use super::link::{LinkCounts, Links};
use super::quantity as q;
use super::rows::RowWriter;
use super::statistics::ratio;
use super::windows::Windows;
use crate::app::{Flow, Measured, TransferSource, Window};
use crate::output::Scalar;
use net::Network;
use std::collections::BTreeMap;
use units::Instant;

/// All scalars of a run.
pub(crate) fn of_run(
    network: &Network,
    (flows, transfers): (&[Flow], &[TransferSource]),
    links: &Links,
    windows: &Windows,
) -> Vec<Scalar> {
    let mut out = Vec::new();
    let edges: Vec<_> = flows.iter().map(own).collect();
    let idle = echo::idle(flows, transfers, windows);
    let run = RunContext { network, links, whole_run: true, idle };
    window_rows("", flows, &edges, links.counted(), &run, &mut out);
    let run = RunContext { whole_run: false, ..run };
    for (name, begin, end) in windows.measured() {
        let edges: Vec<_> = begin.flows.iter().zip(&end.flows).map(Some).collect();
        window_rows(name, flows, &edges, Some((&begin.links, &end.links)), &run, &mut out);
    }
    out
}

/// The counters of a flow at its `reset_time` and at its `stop_time`; `None` if it was not measured to the
/// end.
fn own(flow: &Flow) -> Option<(&Window, &Window)> {
    match &flow.measured {
        Measured::Done(edges) => Some((&edges.0, &edges.1)),
        Measured::No | Measured::Since(_) => None,
    }
}

fn window_rows(
    window: &str,
    flows: &[Flow],
    edges: &[Option<(&Window, &Window)>],
    counted: Option<(&LinkCounts, &LinkCounts)>,
    run: &RunContext<'_>,
    out: &mut Vec<Scalar>,
) {
    let (mut all, mut carried) = (Achieved::default(), BTreeMap::new());
    for (flow, &edges) in flows.iter().zip(edges) {
        let rows = &mut RowWriter { window, flow: &flow.name, out: &mut *out };
        if let Some(connected) = flow.connected
            && run.whole_run
        {
            rows.write(q::HANDSHAKE, connected.since(flow.plan.connect).as_secs_f64());
        }
        let achieved = flow::report(flow, edges, run, rows);
        for (sent, way) in &achieved.carried {
            way.iter().for_each(|&link| *carried.entry(link).or_insert(0.0) += sent);
        }
        let sends = edges.is_some_and(|(begin, end)| flow.sends_between(begin.from, end.from));
        if sends && !flow.echoes {
            all.sent.extend(achieved.sent);
            all.goodput += achieved.goodput;
            all.load += achieved.load;
        }
    }
    if !all.sent.is_empty() {
        let rows = &mut RowWriter { window, flow: q::ALL_FLOWS, out: &mut *out };
        let (sum, n) = (all.sent.iter().sum(), all.sent.len() as f64);
        rows.write(q::FLOWS, n);
        rows.write(q::THROUGHPUT.forward, all.goodput);
        rows.write(q::SENT_THROUGHPUT.forward, sum);
        rows.write(q::LOAD, all.load);
        rows.write(q::AVERAGE_THROUGHPUT, ratio(sum, n));
        rows.write(q::FAIRNESS, fairness(&all.sent));
        rows.write(q::SYSTEM_UTILISATION, ratio(all.goodput, all.load));
    }
    if let Some((begin, end)) = counted {
        run.links.report(window, begin, end, &carried, out);
    }
}

impl Flow {
    /// True if the source sends at some time between the two instants.
    fn sends_between(&self, from: Instant, to: Instant) -> bool {
        self.started.is_some_and(|started| started < to && started + self.plan.stop > from)
    }
}
