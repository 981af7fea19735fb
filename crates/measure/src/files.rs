//! The files of NetPerfMeter: scalars, the vector of a measurement, and those of its flows.

use crate::counters::{Amount, Arrival, Counters, Direction};
use crate::flow::Flow;
use std::fmt::Display;
use std::io::{self, Write};

/// The counters of all flows at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Microseconds since 1970.
    pub time: u64,
    /// In the order of the flows.
    pub counters: Vec<Counters>,
}

/// A line of scalars.
fn scalar(out: &mut impl Write, object: &str, name: &str, value: impl Display) -> io::Result<()> {
    let name = format!("\"{name}\"");
    writeln!(out, "scalar \"netPerfMeter.{object}\" {name:<24} {value}")
}

/// Writes the scalars of one side (`active` or `passive`). The measurement lasted from the first to the last snapshot.
///
/// # Errors
/// Those of the sink.
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

/// Writes the vector of a measurement: three rows for each flow, and three for their sum, at each snapshot.
///
/// # Errors
/// Those of the sink.
pub fn total_vector(out: &mut impl Write, flows: &[(u32, String)], snapshots: &[Snapshot]) -> io::Result<()> {
    writeln!(
        out,
        "AbsTime RelTime Interval\tFlowID Description Jitter\tAction\tAbsBytes AbsPackets AbsFrames\tRelBytes RelPackets RelFrames"
    )?;
    let mut line = 0;
    let start = snapshots.first().map_or(0, |snapshot| snapshot.time);
    for (n, snapshot) in snapshots.iter().enumerate() {
        let before = &snapshots[n.saturating_sub(1)];
        let mut sums = [(Amount::default(), Amount::default()); 3];
        let mut rows =
            |out: &mut dyn Write, flow: String, amounts: [(Amount, Amount); 3]| -> io::Result<()> {
                for ((all, new), action) in
                    amounts.into_iter().zip(["\"Sent\"    ", "\"Received\"", "\"Lost\"    "])
                {
                    line += 1;
                    writeln!(
                        out,
                        "{line:06} {} {:.6} {:.6}\t{flow}\t{action} {} {} {}\t{} {} {}",
                        snapshot.time,
                        snapshot.time.saturating_sub(start) as f64 / 1e6,
                        snapshot.time.saturating_sub(before.time) as f64 / 1e6,
                        all.bytes,
                        all.packets,
                        all.frames,
                        new.bytes,
                        new.packets,
                        new.frames
                    )?;
                }
                Ok(())
            };
        let counters = snapshot.counters.iter().zip(&before.counters);
        for ((id, description), (now, before)) in flows.iter().zip(counters) {
            let kinds =
                |counters: &Counters| [counters.sent.amount, counters.received.amount, counters.lost()];
            let (all, old) = (kinds(now), kinds(before));
            let amounts: [_; 3] = std::array::from_fn(|kind| (all[kind], all[kind] - old[kind]));
            for (sum, amount) in sums.iter_mut().zip(amounts) {
                *sum = (sum.0 + amount.0, sum.1 + amount.1);
            }
            rows(out, format!("{id} \"{description}\" {:.3}", now.jitter), amounts)?;
        }
        rows(out, "-1 \"Total\" 0".to_owned(), sums)?;
    }
    Ok(())
}

/// Writes the vector of a flow: a row for each message that arrived.
///
/// # Errors
/// Those of the sink.
pub fn flow_vector(out: &mut impl Write, start: u64, arrivals: &[Arrival]) -> io::Result<()> {
    writeln!(
        out,
        "AbsTime RelTime SeqNumber\tAbsBytes AbsPackets AbsFrames\tRelBytes RelPackets RelFrames\tDelay PrevPacketDelayDiff Jitter"
    )?;
    let mut all = Amount::default();
    for (line, arrival) in (1..).zip(arrivals) {
        let new = Amount { bytes: arrival.bytes.into(), packets: 1, frames: arrival.end.into() };
        all = all + new;
        let [delay, difference, jitter] = arrival.delay;
        writeln!(
            out,
            "{line:06} {} {:.6} {}\t{} {} {}\t{} {} {}\t{delay:.3} {difference:.3} {jitter:.3}",
            arrival.time,
            arrival.time.saturating_sub(start) as f64 / 1e6,
            arrival.sequence,
            all.bytes,
            all.packets,
            all.frames,
            new.bytes,
            new.packets,
            new.frames
        )?;
    }
    Ok(())
}

/// The values of the scalars of an object, such as `passive.flow[0]`, by their names.
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
