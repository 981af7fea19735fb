//! Readings of the other side's paths, which that side reports while it sends.
//!
//! An extension of NetPerfMeter's protocol: the active side requests the readings in START
//! ([`crate::npmp::Start::paths_every`]). Until the answer to STOP it receives them as files in messages of
//! type RESULTS; each file is a [`PeerSample`]. Before START is answered, one such file may tell the cookie
//! of probes instead.

use crate::npmp::Message;
use crate::paths::Association;
use serde_json::{Value, json};

/// Longest reading in bytes.
const LONGEST: usize = 1 << 20;

/// The associations of the other side during a measurement or one of its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerPaths {
    /// Beginning, in seconds since START of the other side.
    pub from: f64,
    /// End, in seconds since START of the other side.
    pub to: f64,
    /// The associations, in the order of those of this side.
    pub associations: Vec<Association>,
}

/// A reading of all associations of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerSample {
    /// Time of the reading, in seconds since START of that side.
    pub at: f64,
    /// Each association, with the number of its flow of stream 0.
    pub associations: Vec<(u32, Association)>,
}

impl PeerSample {
    /// The reading as JSON text.
    pub fn to_text(&self) -> String {
        let one = |(flow, association): &(u32, Association)| {
            let mut value = association.to_json();
            value["flow"] = json!(flow);
            value
        };
        let associations: Vec<_> = self.associations.iter().map(one).collect();
        json!({ "at_s": self.at, "associations": associations }).to_string()
    }

    /// Parses a reading of the other side; `None` if the text is invalid.
    fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let one =
            |value: &Value| Some((u32::try_from(value["flow"].as_u64()?).ok()?, Association::of_json(value)));
        let associations = value["associations"].as_array()?.iter().filter_map(one).collect();
        Some(PeerSample { at: value["at_s"].as_f64()?, associations })
    }

    /// The change since `before`, for the associations with these numbers of flows.
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

/// The text that tells the cookie of probes to the other side.
pub fn cookie_text(cookie: u64) -> String {
    json!({ "probe_cookie": format!("{cookie:016x}") }).to_string()
}

/// Reads the text of [`cookie_text`].
fn read_cookie(text: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(text).ok()?;
    u64::from_str_radix(value["probe_cookie"].as_str()?, 16).ok()
}

/// Assembles the readings of the other side from messages.
#[derive(Debug, Default)]
pub struct Samples {
    pending: Vec<u8>,
    first: Option<PeerSample>,
    latest: Option<PeerSample>,
    cookie: Option<u64>,
}

impl Samples {
    /// Adds a message if it is a piece of a reading. Invalid readings are ignored.
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

    /// The cookie of probes, once the other side told it.
    pub fn cookie(&self) -> Option<u64> {
        self.cookie
    }

    /// The latest reading.
    pub fn latest(&self) -> Option<PeerSample> {
        self.latest.clone()
    }

    /// The change between two readings, or since the first one; `None` if no time passed between them.
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
