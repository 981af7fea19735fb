//! The files of NetPerfMeter: scalars (totals), and vectors (tables with a row for each time or message).

use crate::counters::{Amount, Arrival, Counters, Direction};
use crate::flow::Flow;
use std::fmt::{Arguments, Display};
use std::io::{self, Write};

/// The counters of all flows at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Time of the counters, in microseconds since 1970.
    pub time: u64,
    /// Counters of each flow, in the order of the flows.
    pub counters: Vec<Counters>,
}

/// Writes a line of scalars.
fn scalar(out: &mut impl Write, object: &str, name: &str, value: impl Display) -> io::Result<()> {
    let name = format!("\"{name}\"");
    writeln!(out, "scalar \"netPerfMeter.{object}\" {name:<24} {value}")
}

/// Writes the scalars (totals) of one side (`active` or `passive`).
/// `span` is the time of the first and of the last snapshot.
///
/// # Errors
/// Errors of the sink.
pub fn scalars<'f>(
    out: &mut impl Write,
    side: &str,
    flows: impl Iterator<Item = &'f Flow>,
    span: (u64, u64),
) -> io::Result<()> {
    let mut sums = [Amount::default(); 3];
    for flow in flows {
        let counters = flow.counters();
        let object = format!("{side}.flow[{}]", flow.id.flow);
        let object = object.as_str();
        for (direction, name) in [(&counters.sent, "Transmission"), (&counters.received, "Reception")] {
            scalar(out, object, &format!("First {name}"), direction.first)?;
            scalar(out, object, &format!("Last {name}"), direction.last)?;
        }
        let lost = Direction { amount: counters.lost(), ..counters.received };
        let kinds = [("Transmitted", counters.sent), ("Received", counters.received), ("Lost", lost)];
        for ((name, direction), sum) in kinds.into_iter().zip(&mut sums) {
            amounts(out, object, name, &direction, true)?;
            *sum = *sum + direction.amount;
        }
        scalar(out, object, "Jitter", format_args!("{:.6}", counters.jitter))?;
    }
    let object = format!("{side}.total");
    scalar(out, &object, "First Statistics Event", span.0)?;
    scalar(out, &object, "Last Statistics Event", span.1)?;
    for (name, amount) in ["Transmitted", "Received", "Lost"].into_iter().zip(sums) {
        amounts(out, &object, name, &Direction { amount, first: span.0, last: span.1 }, false)?;
    }
    Ok(())
}

fn amounts(
    out: &mut impl Write,
    object: &str,
    name: &str,
    direction: &Direction,
    with_bits: bool,
) -> io::Result<()> {
    let Amount { bytes, packets, frames } = direction.amount;
    for (unit, value) in [("Bytes", bytes), ("Packets", packets), ("Frames", frames)] {
        scalar(out, object, &format!("{name} {unit}"), value)?;
    }
    let rates = [("Bit", bytes.saturating_mul(8)), ("Byte", bytes), ("Packet", packets), ("Frame", frames)];
    for (unit, value) in &rates[usize::from(!with_bits)..] {
        let rate = direction.per_second(*value);
        scalar(out, object, &format!("{name} {unit} Rate"), format_args!("{rate:.6}"))?;
    }
    Ok(())
}

/// Names of the columns of counters, as [`row`] writes them.
const COUNTERS: &str = "AbsBytes AbsPackets AbsFrames\tRelBytes RelPackets RelFrames";

/// Number and time of a row, and the start time of the file; times in microseconds since 1970.
#[derive(Clone, Copy)]
struct Place {
    line: u32,
    time: u64,
    start: u64,
}

/// Writes a row of a vector file: number and times, the columns `front`, the
/// counters (totals, and increase since the last row), and the columns `back`.
fn row(
    out: &mut impl Write,
    Place { line, time, start }: Place,
    front: Arguments<'_>,
    [all, new]: [Amount; 2],
    back: Arguments<'_>,
) -> io::Result<()> {
    let seconds = time.saturating_sub(start) as f64 / 1e6;
    write!(out, "{line:06} {time} {seconds:.6} {front}")?;
    write!(
        out,
        "{} {} {}\t{} {} {}",
        all.bytes, all.packets, all.frames, new.bytes, new.packets, new.frames
    )?;
    writeln!(out, "{back}")
}

/// Writes the vector file of a measurement: for each
/// snapshot, three rows for each flow and three for the sum.
///
/// # Errors
/// Errors of the sink.
pub fn total_vector(out: &mut impl Write, flows: &[(u32, String)], snapshots: &[Snapshot]) -> io::Result<()> {
    writeln!(out, "AbsTime RelTime Interval\tFlowID Description Jitter\tAction\t{COUNTERS}")?;
    let start = snapshots.first().map_or(0, |snapshot| snapshot.time);
    let mut place = Place { line: 0, time: start, start };
    for (n, snapshot) in snapshots.iter().enumerate() {
        let before = &snapshots[n.saturating_sub(1)];
        let interval = snapshot.time.saturating_sub(before.time) as f64 / 1e6;
        place.time = snapshot.time;
        let mut sums = [[Amount::default(); 2]; 3];
        let mut rows = |out: &mut _, flow: String, amounts: [[Amount; 2]; 3]| -> io::Result<()> {
            let actions = ["\"Sent\"    ", "\"Received\"", "\"Lost\"    "];
            for (counted, action) in amounts.into_iter().zip(actions) {
                place.line += 1;
                let front = format_args!("{interval:.6}\t{flow}\t{action} ");
                row(out, place, front, counted, format_args!(""))?;
            }
            Ok(())
        };
        let counters = snapshot.counters.iter().zip(&before.counters);
        for ((id, description), (now, before)) in flows.iter().zip(counters) {
            let kinds =
                |counters: &Counters| [counters.sent.amount, counters.received.amount, counters.lost()];
            let (all, old) = (kinds(now), kinds(before));
            let amounts: [_; 3] = std::array::from_fn(|kind| [all[kind], all[kind] - old[kind]]);
            for (sum, amount) in sums.iter_mut().zip(amounts) {
                *sum = [sum[0] + amount[0], sum[1] + amount[1]];
            }
            rows(out, format!("{id} \"{description}\" {:.3}", now.jitter), amounts)?;
        }
        rows(out, "-1 \"Total\" 0".to_owned(), sums)?;
    }
    Ok(())
}

/// Writes the vector file of a flow: one row for each received message.
///
/// # Errors
/// Errors of the sink.
pub fn flow_vector(out: &mut impl Write, start: u64, arrivals: &[Arrival]) -> io::Result<()> {
    writeln!(out, "AbsTime RelTime SeqNumber\t{COUNTERS}\tDelay PrevPacketDelayDiff Jitter")?;
    let mut all = Amount::default();
    for (line, arrival) in (1..).zip(arrivals) {
        let new = Amount { bytes: arrival.bytes.into(), packets: 1, frames: arrival.end.into() };
        all = all + new;
        let [delay, difference, jitter] = arrival.delay;
        let place = Place { line, time: arrival.time, start };
        let front = format_args!("{}\t", arrival.sequence);
        row(out, place, front, [all, new], format_args!("\t{delay:.3} {difference:.3} {jitter:.3}"))?;
    }
    Ok(())
}

/// Reads the scalars of an object, such as `passive.flow[0]`: their names and values.
pub fn read_scalars<'t>(text: &'t str, object: &str) -> Vec<(&'t str, f64)> {
    let prefix = format!("scalar \"netPerfMeter.{object}\"");
    let lines = text.lines().filter_map(|line| line.strip_prefix(&prefix));
    lines
        .filter_map(|line| {
            let (name, value) = line.trim_start().strip_prefix('"')?.split_once('"')?;
            Some((name, value.trim().parse().ok().filter(|value: &f64| value.is_finite())?))
        })
        .collect()
}

#[cfg(test)]
mod tests;
