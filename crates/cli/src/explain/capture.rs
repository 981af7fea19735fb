//! Explains a capture, as a table and as JSON.

use super::association;
use super::words::percent;
use crate::{Failure, code, complain, say, show};
use clap::ArgMatches;
use flate2::read::MultiGzDecoder;
use lab::explain::capture::{CaptureReport, DirectionReport, Missed, PathReport, read_capture};
use net::CaptureError;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// The first bytes of a file compressed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, a pipe or standard input, of which the first bytes were examined.
pub(super) struct Opened {
    first: [u8; 4],
    source: Box<dyn BufRead>,
}

/// Opens a file; `-` is standard input.
pub(super) fn open(file: &str) -> io::Result<Opened> {
    let source: Box<dyn Read> = if file == "-" { Box::new(io::stdin()) } else { Box::new(File::open(file)?) };
    let (first, source) = peek(source)?;
    if !first.starts_with(&GZIP) {
        return Ok(Opened { first, source });
    }
    // The data is unpacked while it is read: a small file may contain very much data.
    let (first, source) = peek(Box::new(MultiGzDecoder::new(source)))?;
    Ok(Opened { first, source })
}

/// Returns the first bytes of a source, and a source of all its bytes.
fn peek(mut source: Box<dyn Read>) -> io::Result<([u8; 4], Box<dyn BufRead>)> {
    let mut begin = Vec::new();
    source.by_ref().take(4).read_to_end(&mut begin)?;
    let mut first = [0; 4];
    first[..begin.len()].copy_from_slice(&begin);
    Ok((first, Box::new(BufReader::new(io::Cursor::new(begin).chain(source)))))
}

impl Opened {
    /// True if the file is a capture.
    pub(super) fn is_capture(&self) -> bool {
        net::is_capture(self.first)
    }
}

/// Explains a capture.
pub(super) fn explain(chosen: &ArgMatches, file: &str, opened: Opened) -> Result<i32, Failure> {
    let report = read_capture(opened.source).map_err(|error| match error {
        CaptureError::Io(error) => Failure::failed(format!("cannot read {file}: {error}")),
        error => Failure::usage(format!("{file} cannot be used: {error}")),
    })?;
    let missed = not_decoded(&report);
    if report.associations.is_empty() {
        let (frames, sctp) = (report.frames, report.sctp_packets);
        let missed = missed.map(|missed| format!("; {missed}")).unwrap_or_default();
        return Err(Failure::failed(format!(
            "no data of SCTP in {file}: {frames} packets, {sctp} of them of SCTP{missed}"
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
    if let Some(missed) = missed {
        complain(&missed);
    }
    if report.not_decoded.count(Missed::CutSack) + report.not_decoded.count(Missed::CutPacket) > 0 {
        complain("capture 256 bytes of each packet or, if packets hold several chunks, all of it");
    }
    Ok(code::OK)
}

/// One line on the parts of a capture that were not decoded; `None` if everything was decoded.
fn not_decoded(report: &CaptureReport) -> Option<String> {
    let parts: Vec<String> = report.not_decoded.iter().map(|(why, times)| format!("{times} {why}")).collect();
    (!parts.is_empty()).then(|| format!("left out: {}", parts.join("; ")))
}

/// User bytes per time of a direction, in bit/s; `None` if the time is too short for a rate.
fn rate(bytes: u64, direction: &DirectionReport) -> Option<f64> {
    direction.has_rate().then(|| 8.0 * bytes as f64 / direction.time.as_secs_f64())
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn closed_share(direction: &DirectionReport) -> f64 {
    ratio(direction.closed.as_secs_f64(), direction.time.as_secs_f64())
}

/// Bytes of acknowledgements, divided by the bytes of packets with data.
fn sack_share(path: &PathReport) -> f64 {
    ratio(path.sack_bytes as f64, path.bytes as f64)
}

fn readable(report: &CaptureReport) -> String {
    let mut text = String::new();
    for one in &report.associations {
        text += &format!("{}\n", association::line(one));
        for direction in report.directions.iter().filter(|d| d.association == one.association) {
            text += &sentences(direction);
            text += &format!("{}\n", table(direction));
        }
    }
    if !report.directions.is_empty() {
        text +=
            "RTTs are those from the place of the capture to the receiver and back: capture at the sender.\n";
    }
    text
}

fn sentences(direction: &DirectionReport) -> String {
    let sum = |of| direction.sum(of);
    let (again, needless, chunks) = (sum(|p| p.retransmissions), sum(|p| p.needless), sum(|p| p.chunks));
    let (bytes, time) = (direction.user_bytes, show::time(direction.time.as_secs_f64()));
    let amount = match rate(bytes, direction) {
        Some(rate) => format!("{} of user data in {time}", show::rate(rate)),
        None => format!("{bytes} B of user data in {time}"),
    };
    let mut text = format!("Port {} to port {}: {amount}.\n", direction.ports.0, direction.ports.1);
    text += &format!("{}\n", association::slowness(direction));
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
            rate(path.user_bytes, direction).map(show::rate).unwrap_or_default(),
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
                "idle_share": ratio(direction.idle.as_secs_f64(), direction.time.as_secs_f64()),
                "timeout_share": ratio(direction.timeout_time.as_secs_f64(), direction.time.as_secs_f64()),
                "timeouts": direction.timeouts,
                "most_outstanding_bytes": direction.most_outstanding,
                "limited_by": direction.verdict().name(),
                "sentence": association::slowness(direction),
                "paths": paths,
            })
        })
        .collect();
    let missed = report.not_decoded.iter();
    let missed: Vec<Json> =
        missed.map(|(why, times)| json!({ "reason": why.to_string(), "count": times })).collect();
    json!({
        "packets": report.frames,
        "sctp_packets": report.sctp_packets,
        "left_out": report.not_decoded.count(Missed::Association),
        "cut_sacks": report.not_decoded.count(Missed::CutSack),
        "not_decoded": missed,
        "truncated": report.truncated,
        "associations": report.associations.iter().map(association::as_json).collect::<Vec<Json>>(),
        "directions": directions,
    })
}
