use crate::lateness::{LATEST, Lateness, allowed};
use net::{Counters, DropCause};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use units::Span;

/// Result of an emulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Start time in microseconds since 1970; `None` if the caller has a clock of its own.
    pub begun: Option<u64>,
    /// Duration of the emulation.
    pub time: Span,
    /// Packets that real hosts sent.
    pub entered: u64,
    /// Packets that were written to real hosts.
    pub left: u64,
    /// Packets for real hosts that could not be written.
    pub refused: u64,
    /// Packets that were dropped because too many packets were in the network.
    pub overflowed: u64,
    /// Packets without a route, or to addresses that no host has.
    pub unroutable: u64,
    /// Lateness of the packets that left, and of those that could not be written.
    pub lateness: Lateness,
    /// True if the emulation was too late to be compared with a simulation.
    pub late: bool,
    /// The smallest delay among all links.
    pub smallest_delay: Span,
    /// Both directions of each link.
    pub links: Vec<LinkCounts>,
}

/// Counters of one direction of a link.
#[derive(Clone, Debug)]
pub struct LinkCounts {
    /// Names of the link and of the nodes at its beginning and at its end.
    pub name: String,
    /// Packets that arrived at the queue of the link.
    pub offered: u64,
    /// Packets that reached the other end of the link.
    pub delivered: u64,
    /// Bytes of the delivered packets, including framing.
    pub delivered_bytes: u64,
    /// Packets that the queue marked as "congestion experienced".
    pub marked: u64,
    /// Dropped packets by cause; causes without a packet are left out.
    pub drops: Vec<(&'static str, u64)>,
}

impl LinkCounts {
    pub(crate) fn new(name: &str, counters: &Counters) -> Self {
        let drops = DropCause::ALL.map(|cause| (cause.name(), counters.dropped(cause)));
        LinkCounts {
            name: name.to_owned(),
            offered: counters.offered,
            delivered: counters.delivered,
            delivered_bytes: counters.delivered_bytes.get(),
            marked: counters.marked,
            drops: drops.into_iter().filter(|(_, count)| *count > 0).collect(),
        }
    }
}

impl Outcome {
    /// The outcome as JSON.
    pub fn as_json(&self) -> Value {
        let link = |link: &LinkCounts| {
            let drops: Map<String, Value> =
                link.drops.iter().map(|(cause, count)| ((*cause).to_owned(), json!(count))).collect();
            json!({
                "link": link.name,
                "offered": link.offered,
                "delivered": link.delivered,
                "delivered_bytes": link.delivered_bytes,
                "marked": link.marked,
                "drops": drops,
            })
        };
        json!({
            "version": 1,
            "begun_us": self.begun,
            "time_s": self.time.as_secs_f64(),
            "entered": self.entered,
            "left": self.left,
            "refused": self.refused,
            "overflowed": self.overflowed,
            "unroutable": self.unroutable,
            "late": self.late,
            "allowed_p99_s": allowed(self.smallest_delay).as_secs_f64(),
            "allowed_max_s": LATEST.as_secs_f64(),
            "lateness": self.lateness.as_json(),
            "links": self.links.iter().map(link).collect::<Vec<_>>(),
        })
    }

    /// The outcome as text.
    pub fn render(&self) -> String {
        let seconds = self.time.as_secs_f64();
        let mut text = format!("{seconds:.1} s: {} packets in, {} out", self.entered, self.left);
        for (count, what) in [
            (self.refused, "not written"),
            (self.overflowed, "dropped because the network was full"),
            (self.unroutable, "without a route"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        text.push('\n');
        for link in self.links.iter().filter(|link| link.offered > 0) {
            let rate = link.delivered_bytes as f64 * 8e-6 / seconds.max(1e-9);
            let _ = write!(text, "{}: {} packets, {rate:.3} Mbit/s", link.name, link.delivered);
            for (cause, count) in &link.drops {
                let _ = write!(text, ", {count} dropped ({cause})");
            }
            if link.marked > 0 {
                let _ = write!(text, ", {} marked", link.marked);
            }
            text.push('\n');
        }
        let milli = |span: Span| span.as_secs_f64() * 1e3;
        let [p50, p99] = [0.5, 0.99].map(|fraction| milli(self.lateness.percentile(fraction)));
        let most = milli(self.lateness.most());
        let _ = writeln!(text, "lateness: p50 {p50:.3} ms, p99 {p99:.3} ms, max {most:.3} ms");
        if self.late {
            let _ = writeln!(
                text,
                "LATE: do not compare this run with others. Expected p99 <= {:.3} ms and max <= {:.0} ms",
                milli(allowed(self.smallest_delay)),
                milli(LATEST)
            );
        }
        text
    }
}
