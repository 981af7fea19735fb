//! Text on an association of a capture: a line on its life, and for each direction a
//! line on what held its sender back.

use super::words::{listed, percent};
use crate::show;
use lab::explain::capture::{AssociationReport, DirectionReport, End, Handshake, Verdict};
use serde_json::{Value as Json, json};
use units::Span;

/// One line: the progress of the handshake, the side and reason of the end, and the paths that did not
/// answer.
pub(super) fn line(one: &AssociationReport) -> String {
    let [(from, from_port), (to, to_port)] = one.sides;
    let mut text =
        format!("Association {}, {from} port {from_port} to {to} port {to_port}: ", one.association);
    text += match (one.handshake, one.end) {
        (Handshake::Init, End::Abort { .. }) => "INIT was answered by ABORT",
        (stage, _) => handshake(stage),
    };
    let who = |side: usize| one.sides[side].0;
    text += &match one.end {
        End::NotCaptured => "; the capture does not show its end".to_owned(),
        End::Abort { by } => format!("; {} port {} aborted it", who(by), one.sides[by].1),
        End::Shutdown { by, complete } => {
            let by = match by {
                Some(by) => format!("{} port {} shut it down", who(by), one.sides[by].1),
                None => "it was shut down".to_owned(),
            };
            format!("; {by}{}", if complete { "" } else { ", and SHUTDOWN COMPLETE was not captured" })
        }
    };
    let causes: Vec<String> = one.causes.iter().map(|&name| format!("\"{name}\"")).collect();
    text += &match (causes.is_empty(), one.end) {
        (true, End::Abort { .. }) => " without an error cause".to_owned(),
        (true, _) => String::new(),
        (false, End::Abort { .. }) => format!(" with the cause {}", listed(&causes)),
        (false, _) => format!("; errors were reported: {}", listed(&causes)),
    };
    for (src, dst, sent) in &one.unconfirmed {
        let heartbeats = if *sent == 1 { "1 heartbeat".to_owned() } else { format!("{sent} heartbeats") };
        text += &format!("; path {src} to {dst} is unconfirmed: {heartbeats}, none answered");
    }
    text + "."
}

fn handshake(stage: Handshake) -> &'static str {
    match stage {
        Handshake::NotCaptured => "the capture does not show its handshake",
        Handshake::Init => "INIT was sent, and no answer was captured",
        Handshake::InitAck => "INIT was answered by INIT ACK, and no COOKIE ECHO was captured",
        Handshake::CookieEcho => "COOKIE ECHO was sent, and no answer was captured",
        Handshake::Established => "established",
    }
}

fn stage_name(stage: Handshake) -> &'static str {
    match stage {
        Handshake::NotCaptured => "not-captured",
        Handshake::Init => "init",
        Handshake::InitAck => "init-ack",
        Handshake::CookieEcho => "cookie-echo",
        Handshake::Established => "established",
    }
}

/// The contents of [`line()`] as JSON.
pub(super) fn as_json(one: &AssociationReport) -> Json {
    let sides: Vec<Json> = one
        .sides
        .iter()
        .map(|(address, port)| json!({ "address": address.to_string(), "port": port }))
        .collect();
    let (end, by) = match one.end {
        End::NotCaptured => ("not-captured", None),
        End::Abort { by } => ("abort", Some(by)),
        End::Shutdown { by, complete: true } => ("shutdown", by),
        End::Shutdown { by, complete: false } => ("shutdown-incomplete", by),
    };
    let unconfirmed = one.unconfirmed.iter().map(|(src, dst, sent)| {
        json!({ "source": src.to_string(), "destination": dst.to_string(), "heartbeats": sent })
    });
    json!({
        "association": one.association,
        "sides": sides,
        "handshake": stage_name(one.handshake),
        "end": end,
        "ended_by": by,
        "causes": one.causes,
        "unconfirmed_paths": unconfirmed.collect::<Vec<Json>>(),
        "sentence": line(one),
    })
}

/// What held the sender of a direction back, with the number that shows this.
pub(super) fn slowness(direction: &DirectionReport) -> String {
    let share = |part: Span| {
        let whole = direction.time.as_secs_f64();
        percent(if whole > 0.0 { part.as_secs_f64() / whole } else { 0.0 })
    };
    let packets = direction.sum(|path| path.packets);
    let most = direction.most_outstanding;
    let again = direction.sum(|path| path.retransmissions);
    let rest = direction.time.saturating_sub(direction.idle + direction.closed + direction.timeout_time);
    match direction.verdict() {
        Verdict::TooShort => format!(
            "The capture does not show what limits it: {packets} packets with data in {}.",
            show::time(direction.time.as_secs_f64())
        ),
        Verdict::NoSacks => {
            "The capture does not show what limits it: it has no SACKs of this data.".to_owned()
        }
        Verdict::ReceiveWindow => format!(
            "Limited by the receive window: for {} of the time it had no room for another chunk; at most {most} B were outstanding.",
            share(direction.closed)
        ),
        Verdict::Application => format!(
            "Limited by the application: for {} of the time nothing was outstanding, and the receive window had room.",
            share(direction.idle)
        ),
        Verdict::Timeouts => format!(
            "Limited by timeouts: for {} of the time it waited for the retransmission timer, which expired {} times.",
            share(direction.timeout_time),
            direction.timeouts
        ),
        Verdict::Losses => format!(
            "Limited by losses: for {} of the time data was outstanding, with room in the receive window; {again} of {} chunks were sent again.",
            share(rest),
            direction.sum(|path| path.chunks)
        ),
        Verdict::WindowOrPath => format!(
            "Limited by its congestion window or by the path: for {} of the time data was outstanding, at most {most} B at once{}; the capture does not show which of the two.",
            share(rest),
            mean_rtt(direction).map(|rtt| format!(", with a mean RTT of {rtt}")).unwrap_or_default()
        ),
    }
}

/// The mean RTT of the path with the most packets.
fn mean_rtt(direction: &DirectionReport) -> Option<String> {
    let path = direction.paths.iter().max_by_key(|path| path.packets)?;
    path.rtt.map(|rtt| show::time(rtt.mean.as_secs_f64()))
}
