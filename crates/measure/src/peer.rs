//! Samples of its paths that the other side reports while it sends.
//!
//! NetPerfMeter does not know this: the active side asks for it in START
//! ([`crate::npmp::Start::paths_every`]), and gets it before the answer to STOP in messages of type RESULTS,
//! each file of which is a [`PeerSample`].

use crate::npmp::Message;
use crate::paths::Association;
use serde_json::{Value, json};

/// Most bytes of a sample.
const LONGEST: usize = 1 << 20;

/// The associations of the other side during a measurement or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerPaths {
    /// Begin, in seconds from its START.
    pub from: f64,
    /// End.
    pub to: f64,
    /// In the order of those of this side.
    pub associations: Vec<Association>,
}

/// The associations of a side at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerSample {
    /// Seconds since its START.
    pub at: f64,
    /// Each with the number of its flow of stream 0.
    pub associations: Vec<(u32, Association)>,
}

impl PeerSample {
    /// The sample as text.
    pub fn to_text(&self) -> String {
        let one = |(flow, association): &(u32, Association)| {
            let mut value = association.to_json();
            value["flow"] = json!(flow);
            value
        };
        let associations: Vec<_> = self.associations.iter().map(one).collect();
        json!({ "at_s": self.at, "associations": associations }).to_string()
    }

    /// A sample of the other side; none if it is not one.
    fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let one =
            |value: &Value| Some((u32::try_from(value["flow"].as_u64()?).ok()?, Association::of_json(value)));
        let associations = value["associations"].as_array()?.iter().filter_map(one).collect();
        Some(PeerSample { at: value["at_s"].as_f64()?, associations })
    }

    /// What happened since `before`, for associations with these numbers.
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

/// Puts the samples of the other side together.
#[derive(Debug, Default)]
pub struct Samples {
    pending: Vec<u8>,
    first: Option<PeerSample>,
    latest: Option<PeerSample>,
}

impl Samples {
    /// Takes a message, if it is a piece of a sample. What cannot be read is left out.
    pub fn take(&mut self, message: &Message<'_>) {
        let Message::Results { last, piece } = message else { return };
        if self.pending.len() <= LONGEST {
            self.pending.extend_from_slice(piece);
        }
        if !last {
            return;
        }
        let sample = PeerSample::read(&self.pending).filter(|_| self.pending.len() <= LONGEST);
        self.pending.clear();
        let Some(sample) = sample else { return };
        if self.latest.as_ref().is_none_or(|latest| latest.at < sample.at) {
            self.first.get_or_insert_with(|| sample.clone());
            self.latest = Some(sample);
        }
    }

    /// The latest sample.
    pub fn latest(&self) -> Option<PeerSample> {
        self.latest.clone()
    }

    /// What happened between two samples, or from the first one on; none if no time passed between them.
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
