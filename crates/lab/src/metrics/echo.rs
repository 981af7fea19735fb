//! Round-trip times of a UDP flow whose server returns each datagram.

use super::quantity as q;
use super::rows::RowWriter;
use super::windows::Windows;
use crate::app::{Flow, TransferSource, Window};
use crate::host::Side;
use crate::output::Series;
use crate::scenario;
use crate::statistics::quantile;
use units::{Instant, Span};

/// Start and end of the time without load: of the window `idle` or, if the scenario has none, the time until
/// the first flow without `echo` starts to send or the first transfer begins, whichever is earlier.
pub(super) fn idle(
    flows: &[Flow],
    sources: &[TransferSource],
    windows: &Windows,
) -> Option<(Instant, Instant)> {
    let named = windows.times().find(|&(name, ..)| name == scenario::Window::IDLE);
    let started = flows.iter().filter(|flow| !flow.echoes).filter_map(|flow| flow.started);
    let begun = sources.iter().filter_map(|source| source.begun.first().copied());
    match named {
        Some((_, from, to)) => Some((from, to)),
        None => Some((Instant::ZERO, started.chain(begun).min()?)),
    }
}

/// The rows of a flow with `echo` in a window; none if the flow sent nothing in the window. `idle`: start and
/// end of the time without load.
pub(super) fn report(
    flow: &Flow,
    (begin, end): (&Window, &Window),
    idle: Option<(Instant, Instant)>,
    rows: &mut RowWriter<'_>,
) {
    let times = sorted(flow, begin.from, end.from);
    let sent = end.client.offered.messages - begin.client.offered.messages;
    if sent == 0 {
        return;
    }
    rows.write(q::ECHOES_LOST, sent.saturating_sub(times.len() as u64) as f64);
    if !times.is_empty() {
        rows.write(q::ECHO_P50, quantile(&times, 50));
        rows.write(q::ECHO_P95, quantile(&times, 95));
        rows.write(q::ECHO_P99, quantile(&times, 99));
    }
    let idle = idle.map(|(from, to)| sorted(flow, from, to)).unwrap_or_default();
    if !idle.is_empty() {
        let idle = quantile(&idle, 50);
        rows.write(q::ECHO_IDLE, idle);
        rows.write(q::ECHO_ADDED, if times.is_empty() { f64::INFINITY } else { quantile(&times, 95) - idle });
    }
}

/// The round-trip time of each datagram of a flow with `echo`; `None` for other flows.
pub(crate) fn round_trips(flow: &Flow) -> Option<Series> {
    let mut points: Vec<_> = answered(flow).map(|(sent, rtt)| (sent, rtt.as_secs_f64())).collect();
    points.sort_by_key(|&(sent, _)| sent);
    let series = || Series { flow: flow.name.clone(), path: None, quantity: q::PROBE_RTT, points };
    flow.echoes.then(series)
}

/// Round-trip times in seconds, sorted, of the datagrams sent from `from` to before `to`.
fn sorted(flow: &Flow, from: Instant, to: Instant) -> Vec<f64> {
    let within = answered(flow).filter(|&(sent, _)| sent >= from && sent < to);
    let mut times: Vec<f64> = within.map(|(_, rtt)| rtt.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Time of sending and round-trip time of each datagram that was returned, in the order of their return.
fn answered(flow: &Flow) -> impl Iterator<Item = (Instant, Span)> {
    flow.end(Side::Client).echoes.iter().copied()
}
