use super::{Rule, Values};
use std::collections::{BTreeMap, BTreeSet};
use wire::StreamId;

/// Fair bandwidth (`rfc8260#section-3.5`) and weighted fair queueing (`rfc8260#section-3.6`).
///
/// Streams that always have data get shares of the bytes in proportion to their weights. Each stream has a
/// tag in virtual time: the bytes that it sent, divided by its weight. The stream with the least tag sends
/// next, and the virtual time becomes its tag. A stream without data gets no credit: when it has data again,
/// its tag starts at the virtual time. When no stream waits, all tags and the virtual time return to zero.
#[derive(Debug)]
pub(super) struct Fair {
    /// `None` if all weights are 1.
    weights: Option<Values>,
    /// The streams that wait, sorted by tag.
    waiting: BTreeSet<(u64, StreamId)>,
    /// The tags of all streams that have waited since the virtual time was zero.
    tags: BTreeMap<StreamId, u64>,
    /// Virtual time.
    now: u64,
}

/// Virtual time of one byte at weight 1: large enough that at the largest weight one byte is not rounded to
/// zero.
const SCALE: u64 = 1 << 16;

impl Fair {
    pub(super) fn new(weights: Option<Values>) -> Self {
        Fair { weights, waiting: BTreeSet::new(), tags: BTreeMap::new(), now: 0 }
    }
}

impl Rule for Fair {
    fn add(&mut self, stream: StreamId) {
        let tag = self.tags.entry(stream).or_default();
        *tag = (*tag).max(self.now);
        self.waiting.insert((*tag, stream));
    }

    fn next(&self) -> Option<StreamId> {
        self.waiting.first().map(|&(_, stream)| stream)
    }

    fn sent(&mut self, stream: StreamId, bytes: u64, more: bool) {
        let weight = u64::from(self.value(stream)).max(1);
        let tag = self.tags.entry(stream).or_default();
        self.waiting.remove(&(*tag, stream));
        self.now = self.now.max(*tag);
        *tag = tag.saturating_add(bytes.saturating_mul(SCALE) / weight);
        if more {
            self.waiting.insert((*tag, stream));
        } else if self.waiting.is_empty() {
            self.tags.clear();
            self.now = 0;
        }
    }

    fn set_value(&mut self, stream: StreamId, value: u16) {
        if let Some(weights) = &mut self.weights {
            weights.set(stream, value);
        }
    }

    fn value(&self, stream: StreamId) -> u16 {
        self.weights.as_ref().map_or(0, |weights| weights.of(stream).max(1))
    }
}
