//! Round-trip times of a UDP flow whose server returns each datagram.

use super::quantity as q;
use super::rows::RowWriter;
use super::statistics::quantile;
use crate::app::{Flow, Window};
use crate::host::Side;
use units::Instant;

/// The rows of a flow with `echo` in a window. `idle`: start and end of the window without load.
pub(super) fn report(
    flow: &Flow,
    (begin, end): (&Window, &Window),
    idle: Option<(Instant, Instant)>,
    rows: &mut RowWriter<'_>,
) {
    let times = sorted(flow, begin.from, end.from);
    let p95 = quantile(&times, 95);
    rows.write(q::ECHO_P50, quantile(&times, 50));
    rows.write(q::ECHO_P95, p95);
    rows.write(q::ECHO_P99, quantile(&times, 99));
    let sent = end.client.offered.messages - begin.client.offered.messages;
    rows.write(q::ECHOES_LOST, sent.saturating_sub(times.len() as u64) as f64);
    if let Some((from, to)) = idle {
        rows.write(q::ECHO_ADDED, p95 - quantile(&sorted(flow, from, to), 50));
    }
}

/// Round-trip times in seconds of the datagrams sent from `from` until before `to`, the least first.
fn sorted(flow: &Flow, from: Instant, to: Instant) -> Vec<f64> {
    let echoes = flow.end(Side::Client).echoes.iter();
    let within = echoes.filter(|&&(sent, _)| sent >= from && sent < to);
    let mut times: Vec<f64> = within.map(|(_, rtt)| rtt.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times
}
