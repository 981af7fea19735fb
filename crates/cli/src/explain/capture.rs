//! What a capture tells, as a table and as JSON.

use super::words::percent;
use crate::{Failure, code, complain, say, show};
use clap::ArgMatches;
use lab::explain::capture::{CaptureReport, DirectionReport, PathReport, read_capture};
use net::CaptureError;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::{BufReader, Read};

/// True if a file is a capture.
pub(super) fn is_capture(file: &str) -> bool {
    let mut first = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && net::is_capture(first)
}

/// Explains a capture.
pub(super) fn explain(chosen: &ArgMatches, file: &str) -> Result<i32, Failure> {
    let opened = File::open(file).map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    let report = read_capture(BufReader::new(opened)).map_err(|error| match error {
        CaptureError::Io(error) => Failure::failed(format!("cannot read {file}: {error}")),
        error => Failure::usage(format!("{file} cannot be used: {error}")),
    })?;
    if report.directions.is_empty() {
        return Err(Failure::failed(format!(
            "no data of SCTP in {file}: {} packets, {} of them of SCTP",
            report.frames, report.sctp_packets
        )));
    }
    if chosen.get_flag("json") {
        say(&format!("{:#}\n", as_json(&report)))?;
    } else if !chosen.get_flag("quiet") {
        say(&readable(&report))?;
    }
    if report.truncated {
        complain(&format!("{file} ends in the middle of a packet"));
    }
    if report.cut_sacks > 0 {
        complain(&format!(
            "{} SACKs do not count since only a part was captured: capture 256 bytes of each packet, or all",
            report.cut_sacks
        ));
    }
    if report.left_out > 0 {
        complain(&format!("{} packets were left out: there are too many associations", report.left_out));
    }
    Ok(code::OK)
}

fn rate(bytes: u64, direction: &DirectionReport) -> f64 {
    let seconds = direction.time.as_secs_f64();
    if seconds > 0.0 { 8.0 * bytes as f64 / seconds } else { 0.0 }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn closed_share(direction: &DirectionReport) -> f64 {
    ratio(direction.closed.as_secs_f64(), direction.time.as_secs_f64())
}

/// Bytes of acknowledgements for each byte of packets with data.
fn sack_share(path: &PathReport) -> f64 {
    ratio(path.sack_bytes as f64, path.bytes as f64)
}

fn readable(report: &CaptureReport) -> String {
    let mut text = String::new();
    for direction in &report.directions {
        text += &sentences(direction);
        text += &format!("\n{}\n", table(direction));
    }
    text + "RTTs are those from the place of the capture to the receiver and back: capture at the sender.\n"
}

fn sentences(direction: &DirectionReport) -> String {
    let sum = |of: fn(&PathReport) -> u64| direction.paths.iter().map(of).sum::<u64>();
    let (again, needless, chunks) = (sum(|p| p.retransmissions), sum(|p| p.needless), sum(|p| p.chunks));
    let mut text = format!(
        "Association {}, port {} to port {}: {} of user data in {}.\n",
        direction.association,
        direction.ports.0,
        direction.ports.1,
        show::rate(rate(direction.user_bytes, direction)),
        show::time(direction.time.as_secs_f64()),
    );
    text += &format!(
        "{} of {} chunks were sent again ({}), {} of them needlessly.\n",
        again,
        chunks,
        percent(ratio(again as f64, chunks as f64)),
        needless
    );
    text += &format!(
        "For {} of the time the receive window had no room for another chunk; SACKs took {} of the bytes of data.\n",
        percent(closed_share(direction)),
        percent(ratio(sum(|p| p.sack_bytes) as f64, sum(|p| p.bytes) as f64))
    );
    text
}

fn table(direction: &DirectionReport) -> String {
    const HEAD: [&str; 10] = [
        "path",
        "rate",
        "data packets",
        "RTT least",
        "mean",
        "greatest",
        "sent again",
        "needless",
        "SACKs",
        "SACK share",
    ];
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for path in &direction.paths {
        let times = path
            .rtt
            .map(|rtt| [rtt.least, rtt.mean, rtt.greatest].map(|time| show::time(time.as_secs_f64())));
        let mut row = vec![
            format!("{} to {}", path.src, path.dst),
            show::rate(rate(path.user_bytes, direction)),
            path.packets.to_string(),
        ];
        row.extend(times.unwrap_or_default());
        row.extend([path.retransmissions, path.needless, path.sacks].map(|n| n.to_string()));
        row.push(percent(sack_share(path)));
        rows.push(row);
    }
    show::table(&rows)
}

fn as_json(report: &CaptureReport) -> Json {
    let path = |direction: &DirectionReport, path: &PathReport| {
        let rtt = path.rtt.map(|rtt| {
            let [least, mean, greatest] = [rtt.least, rtt.mean, rtt.greatest].map(|time| time.as_secs_f64());
            json!({ "least_s": least, "mean_s": mean, "greatest_s": greatest })
        });
        json!({
            "source": path.src.to_string(),
            "destination": path.dst.to_string(),
            "sent_throughput_bps": rate(path.user_bytes, direction),
            "data_packets": path.packets,
            "data_packet_bytes": path.bytes,
            "user_bytes": path.user_bytes,
            "chunks": path.chunks,
            "retransmissions": path.retransmissions,
            "needless_retransmissions": path.needless,
            "rtt": rtt,
            "sacks": path.sacks,
            "sack_bytes": path.sack_bytes,
            "sack_share": sack_share(path),
        })
    };
    let directions: Vec<Json> = report
        .directions
        .iter()
        .map(|direction| {
            let paths: Vec<Json> = direction.paths.iter().map(|one| path(direction, one)).collect();
            json!({
                "association": direction.association,
                "source_port": direction.ports.0,
                "destination_port": direction.ports.1,
                "time_s": direction.time.as_secs_f64(),
                "user_bytes": direction.user_bytes,
                "throughput_bps": rate(direction.user_bytes, direction),
                "window_closed_share": closed_share(direction),
                "paths": paths,
            })
        })
        .collect();
    json!({
        "packets": report.frames,
        "sctp_packets": report.sctp_packets,
        "left_out": report.left_out,
        "cut_sacks": report.cut_sacks,
        "truncated": report.truncated,
        "directions": directions,
    })
}
