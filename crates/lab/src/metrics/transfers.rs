//! Completion times of short transfers.

use super::quantity as q;
use super::rows::RowWriter;
use super::statistics::ratio;
use super::windows::Windows;
use crate::app::{Done, TransferSource};
use crate::output::{Scalar, Series};
use crate::statistics::quantile;
use units::Instant;

/// The rows of results of one source of transfers: for all transfers, and for those that began in each
/// window.
pub(crate) fn of_transfers(source: &TransferSource, windows: &Windows) -> Vec<Scalar> {
    let mut out = Vec::new();
    window_rows(source, "", Instant::ZERO, Instant::FAR, &mut out);
    for (name, from, to) in windows.times() {
        window_rows(source, name, from, to, &mut out);
    }
    out
}

fn window_rows(source: &TransferSource, window: &str, from: Instant, to: Instant, out: &mut Vec<Scalar>) {
    let within = |began: Instant| began >= from && began < to;
    let begun = source.begun.iter().filter(|&&began| within(began)).count();
    let done: Vec<&Done> = source.done.iter().filter(|done| within(done.began)).collect();
    let mut times: Vec<f64> = done.iter().map(|done| done.time().as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    let bytes: u64 = done.iter().map(|done| done.bytes).sum();
    let rows = &mut RowWriter { window, flow: &source.like().name, out };
    rows.write(q::TRANSFERS, done.len() as f64);
    rows.write(q::TRANSFERS_UNFINISHED, (begun - done.len()) as f64);
    rows.write(q::TRANSFER_BYTES, bytes as f64);
    rows.write(q::COMPLETION_MEAN, ratio(times.iter().sum(), times.len() as f64));
    rows.write(q::COMPLETION_MEDIAN, quantile(&times, 50));
    rows.write(q::COMPLETION_P95, quantile(&times, 95));
}

/// Completion time and size of each transfer, at the time of its end.
pub(crate) fn completion_times(source: &TransferSource) -> [Series; 2] {
    let series = |quantity, value: &dyn Fn(&Done) -> f64| Series {
        flow: source.like().name.clone(),
        path: None,
        quantity,
        points: source.done.iter().map(|done| (done.ended, value(done))).collect(),
    };
    [
        series(q::COMPLETION_TIME, &|done| done.time().as_secs_f64()),
        series(q::TRANSFER_SIZE, &|done| done.bytes as f64),
    ]
}

pub(super) fn warning(source: &TransferSource) -> Option<String> {
    let missing = source.begun.len() - source.done.len();
    (missing > 0).then(|| format!("{missing} transfers of `{}` were not delivered", source.like().name))
}
