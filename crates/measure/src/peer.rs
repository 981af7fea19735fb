//! States of the other side's paths, which that side reports during a measurement.
//!
//! An extension of NetPerfMeter's protocol: in START, the active side requests these reports
//! ([`crate::npmp::Start::paths_every`]). Until STOP is acknowledged, they arrive as files in messages of
//! type RESULTS; each file is a [`PeerSample`]. Before START is acknowledged, one such file may instead
//! contain the cookie that the active side's latency probes must carry.

use crate::npmp::Message;
use crate::paths::Association;
use serde_json::{Value, json};

/// Longest report in bytes.
const LONGEST: usize = 1 << 20;

/// The associations of the other side during a measurement or one of its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerPaths {
    /// Beginning, in seconds since the other side handled START.
    pub from: f64,
    /// End, in seconds since the other side handled START.
    pub to: f64,
    /// The associations, in the order of those of this side.
    pub associations: Vec<Association>,
}

/// States of all associations of one side at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerSample {
    /// Time of the report, in seconds since the reporting side handled START.
    pub at: f64,
    /// Each association, with the number of the flow on its stream 0.
    pub associations: Vec<(u32, Association)>,
}

impl PeerSample {
    /// The report as JSON text.
    pub fn to_text(&self) -> String {
        let one = |(flow, association): &(u32, Association)| {
            let mut value = association.to_json();
            value["flow"] = json!(flow);
            value
        };
        let associations: Vec<_> = self.associations.iter().map(one).collect();
        json!({ "at_s": self.at, "associations": associations }).to_string()
    }

    /// Parses a report of the other side; `None` if the text is invalid.
    fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let one =
            |value: &Value| Some((u32::try_from(value["flow"].as_u64()?).ok()?, Association::of_json(value)));
        let associations = value["associations"].as_array()?.iter().filter_map(one).collect();
        Some(PeerSample { at: value["at_s"].as_f64()?, associations })
    }

    /// The change since `before`, of the associations whose stream 0 carries the flows with these numbers.
    pub fn since(&self, before: &PeerSample, flows: &[Option<u32>]) -> PeerPaths {
        let of = |sample: &PeerSample, flow: u32| {
            let found = sample.associations.iter().find(|(other, _)| *other == flow);
            found.map(|(_, association)| association.clone()).unwrap_or_default()
        };
        let one =
            |flow: &Option<u32>| flow.map(|flow| of(self, flow).since(&of(before, flow))).unwrap_or_default();
        PeerPaths { from: before.at, to: self.at, associations: flows.iter().map(one).collect() }
    }
}

/// The text that tells the other side the cookie for its latency probes.
pub fn cookie_text(cookie: u64) -> String {
    json!({ "probe_cookie": format!("{cookie:016x}") }).to_string()
}

/// Reads the text of [`cookie_text`].
fn read_cookie(text: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(text).ok()?;
    u64::from_str_radix(value["probe_cookie"].as_str()?, 16).ok()
}

/// Assembles the reports of the other side from messages.
#[derive(Debug, Default)]
pub struct Samples {
    pending: Vec<u8>,
    first: Option<PeerSample>,
    latest: Option<PeerSample>,
    cookie: Option<u64>,
}

impl Samples {
    /// Adds a message if it is a piece of a report. Ignores invalid reports.
    pub fn take(&mut self, message: &Message<'_>) {
        let Message::Results { last, piece } = message else { return };
        if self.pending.len() <= LONGEST {
            self.pending.extend_from_slice(piece);
        }
        if !last {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        if pending.len() > LONGEST {
            return;
        }
        self.cookie = self.cookie.or_else(|| read_cookie(&pending));
        let sample = PeerSample::read(&pending);
        let Some(sample) = sample else { return };
        if self.latest.as_ref().is_none_or(|latest| latest.at < sample.at) {
            self.first.get_or_insert_with(|| sample.clone());
            self.latest = Some(sample);
        }
    }

    /// The cookie for latency probes, once the other side has told it.
    pub fn cookie(&self) -> Option<u64> {
        self.cookie
    }

    /// The latest report.
    pub fn latest(&self) -> Option<PeerSample> {
        self.latest.clone()
    }

    /// The change between two reports (`before: None`: since the first one); `None` if no time passed.
    pub fn between(
        &self,
        before: Option<&PeerSample>,
        now: Option<&PeerSample>,
        flows: &[Option<u32>],
    ) -> Option<PeerPaths> {
        let before = before.or(self.first.as_ref())?;
        now.filter(|now| now.at > before.at).map(|now| now.since(before, flows))
    }
}

#[cfg(test)]
mod tests;
