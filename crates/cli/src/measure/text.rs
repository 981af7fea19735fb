//! Measurements as text.

use super::latency;
use crate::show;
use ::measure::{Association, FlowReport, Interval, Limits, PathSample, Report};

/// The reason that held the sender back longest, and its share of the time.
fn limit(limits: Option<&Limits>) -> String {
    let main = limits.and_then(Limits::main);
    main.map_or(String::new(), |(limit, share)| format!("{limit} {:.0} %", share * 100.0))
}

/// A rate in text: bytes between two times in seconds.
fn rate(bytes: u64, (from, to): (f64, f64)) -> String {
    let seconds = to - from;
    show::rate(if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 })
}

/// Lines for an interval: one for each flow, and one for each path.
pub fn interval(interval: &Interval) -> String {
    let mut text = String::new();
    let span = (interval.from, interval.to);
    let time = format!("{:7.2}-{:<7.2} s", interval.from, interval.to);
    for flow in &interval.flows {
        text += &format!(
            "{time}  {:<12} sent {:>14}  received {:>14}",
            name(flow),
            rate(flow.sent.amount.bytes, span),
            rate(flow.received.amount.bytes, span)
        );
        if flow.lost.packets > 0 {
            text += &format!("  lost {}", flow.lost.packets);
        }
        if let Some(limits) = limits_of_sender(flow, interval) {
            text += &format!("  limited by {}", limit(Some(limits)));
        }
        text = text.trim_end().to_owned() + "\n";
    }
    text += &paths_of_interval(&interval.associations, span, |path| format!("to {}", path.remote));
    if let Some(peer) = &interval.peer {
        let span = (peer.from, peer.to);
        text += &paths_of_interval(&peer.associations, span, |path| format!("from {}", path.local));
    }
    text
}

/// The times for which each reason held a flow's sender back. The sender is this side, or the other side if
/// this side sent no data.
fn limits_of_sender<'i>(flow: &'i FlowReport, interval: &'i Interval) -> Option<&'i Limits> {
    let theirs = || Some(&interval.peer.as_ref()?.associations.get(flow.association?)?.limits);
    if flow.sent.amount.bytes == 0 { theirs().or(flow.limits.as_ref()) } else { flow.limits.as_ref() }
}

fn sends(association: &Association) -> bool {
    association.paths.iter().any(|path| path.user_bytes > 0)
}

/// A line for each path of each association that has several paths and sent data.
fn paths_of_interval(
    associations: &[Association],
    span: (f64, f64),
    name: impl Fn(&PathSample) -> String,
) -> String {
    let mut text = String::new();
    let several = associations.iter().filter(|all| sends(all) && all.paths.len() > 1);
    for path in several.flat_map(|association| &association.paths) {
        text += &format!(
            "{:17}    path {} {:<18} {:>14}  cwnd {:>8}  RTT {:>9}  {} retrans.  {}\n",
            "",
            path.id,
            name(path),
            rate(path.user_bytes, span),
            path.cwnd,
            path.srtt.map_or("-".to_owned(), show::time),
            path.retransmissions,
            if path.state == "active" { "" } else { path.state }
        );
        text = text.trim_end().to_owned() + "\n";
    }
    text
}

fn name(flow: &FlowReport) -> String {
    if flow.description.is_empty() { format!("flow {}", flow.flow) } else { flow.description.clone() }
}

/// Tables of the whole measurement; `other` is the other side, such as `server`.
pub fn report(report: &Report, other: &str) -> String {
    let head =
        ["flow", "transport", "direction", "sent", "received", "throughput", "lost", "jitter", "limited by"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for flow in &report.total.flows {
        let row = |direction: &str, cells: [String; 6]| {
            let begin = [name(flow), flow.transport.to_string(), direction.to_owned()];
            begin.into_iter().chain(cells).collect::<Vec<_>>()
        };
        let jitter = |jitter: f64| show::time(jitter / 1e3);
        let peer = flow.peer.as_ref();
        if flow.sent.amount.bytes > 0 {
            let cells = [
                bytes(flow.sent.amount.bytes),
                peer.map_or("?".into(), |peer| bytes(peer.received.bytes)),
                peer.map_or("?".into(), |peer| show::rate(peer.received_bit_rate)),
                peer.and_then(|peer| peer.lost).map_or(String::new(), |lost| lost.packets.to_string()),
                peer.and_then(|peer| peer.jitter).map_or(String::new(), jitter),
                limit(flow.limits.as_ref()),
            ];
            rows.push(row(&format!("to {other}"), cells));
        }
        if flow.received.amount.bytes > 0 || peer.is_some_and(|peer| peer.sent.bytes > 0) {
            let received = &flow.received;
            let cells = [
                peer.map_or("?".into(), |peer| bytes(peer.sent.bytes)),
                bytes(received.amount.bytes),
                show::rate(received.per_second(received.amount.bytes.saturating_mul(8))),
                flow.lost.packets.to_string(),
                jitter(flow.jitter),
                limit(peer.and_then(|peer| peer.limits.as_ref())),
            ];
            rows.push(row(&format!("from {other}"), cells));
        }
    }
    let mut text = format!("\n{}", show::table(&rows));
    let ours = &report.total;
    let theirs = ours.peer.iter().map(|peer| (&peer.associations, (peer.from, peer.to)));
    for (associations, span) in std::iter::once((&ours.associations, (ours.from, ours.to))).chain(theirs) {
        text.extend(associations.iter().filter(|all| sends(all)).map(|all| paths(all, span)));
    }
    if let Some(found) = &report.latency {
        text += &latency::table(found);
    }
    if let Some((flow, why)) = report.failure() {
        text += &format!("\nFlow {flow} ended early: {why}\n");
    }
    text
}

fn paths(association: &Association, span: (f64, f64)) -> String {
    let head = ["path", "from", "to", "sent", "data packets", "retrans.", "timeouts", "RTT", "limited by"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for path in &association.paths {
        rows.push(vec![
            path.id.to_string(),
            path.local.clone(),
            path.remote.clone(),
            rate(path.user_bytes, span),
            path.data_packets.to_string(),
            path.retransmissions.to_string(),
            path.timeouts.to_string(),
            path.srtt.map_or("-".to_owned(), show::time),
            limit(Some(&path.limits)),
        ]);
    }
    format!("\n{}", show::table(&rows))
}

/// Bytes in B, kB, MB or GB.
fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.2} kB", n / 1e3),
        n => format!("{n} B"),
    }
}
