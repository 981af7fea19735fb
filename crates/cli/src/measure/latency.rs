//! Latency under load as text.

use crate::show;
use ::measure::{Latency, Phase, PhaseLatency, ProbeKind, Probes, Spread};

/// Tables of latency: round-trip times of each phase, then load, RPM and the grade.
pub fn table(latency: &Latency) -> String {
    let head = ["phase", "probe", "p50", "p95", "p99", "jitter", "lost", "added"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for one in &latency.phases {
        rows.extend(latency.probes.iter().filter_map(|probes| row(latency, one, probes)));
    }
    let mut text = format!("\n{}", show::table(&rows));
    let loads = latency.phases.iter().filter(|one| one.phase != Phase::Idle).map(|one| {
        let rpm = latency.rpm(one.phase).map_or("-".to_owned(), |rpm| format!("{rpm:.0}"));
        vec![one.phase.to_string(), show::rate(one.load[0]), show::rate(one.load[1]), rpm]
    });
    let head = ["phase", "from server", "to server", "RPM"].map(str::to_owned).to_vec();
    let loads: Vec<_> = std::iter::once(head).chain(loads).collect();
    if loads.len() > 1 {
        text += &format!("\n{}", show::table(&loads));
    }
    if !latency.echoes {
        text += "\nThe server does not echo probes: only heartbeats of the association were measured. A newer anabranch \
                 there measures paths and RPM.\n";
    }
    if latency.echoes && !latency.probes.iter().any(|probes| probes.kind == ProbeKind::Handshake) {
        text += "\nNo RPM: with --key there are no new associations.\n";
    }
    text + &verdict(latency)
}

/// A row with the round-trip times of `probes` in a phase. `None` if none was sent; a path always has a row.
fn row(latency: &Latency, one: &PhaseLatency, probes: &Probes) -> Option<Vec<String>> {
    let is_path = matches!(probes.kind, ProbeKind::Path { .. });
    let sent = is_path || probes.rtts.iter().any(|(at, _)| (one.time.0..one.time.1).contains(at));
    let begin = [one.phase.to_string(), name(&probes.kind)];
    let spread = latency.spread(probes, one.phase);
    let numbers = match &spread {
        Some(Spread { p50, p95, p99, jitter, .. }) => [p50, p95, p99, jitter].map(|time| show::time(*time)),
        None => ["-"; 4].map(str::to_owned),
    };
    let lost = spread.map_or(1.0, |spread| spread.lost as f64 / spread.sent as f64);
    let added = latency.added(probes, one.phase).map_or(String::new(), show::added);
    let end = [format!("{:.1} %", lost * 100.0), added];
    sent.then(|| begin.into_iter().chain(numbers).chain(end).collect())
}

fn name(kind: &ProbeKind) -> String {
    match kind {
        ProbeKind::Path { path, remote, .. } => format!("path {path} to {remote}"),
        ProbeKind::Own => "within the load".to_owned(),
        ProbeKind::Handshake => "new: handshake / 2".to_owned(),
        ProbeKind::Message => "new: message".to_owned(),
    }
}

/// The grade and the reason for it.
fn verdict(latency: &Latency) -> String {
    let (Some(grade), Some(worst)) = (latency.grade(), latency.worst()) else {
        return "\nNo grade: no probe was answered in the idle phase.\n".to_owned();
    };
    let confidence = latency.confidence();
    let why = match worst.added {
        added if added.is_finite() => format!("{} adds at most {}", worst.phase, show::time(added)),
        _ => format!("no probe was answered in {}", worst.phase),
    };
    format!("\nGrade {grade}: {why} ({}); confidence in RPM: {confidence}\n", name(&worst.kind))
}
