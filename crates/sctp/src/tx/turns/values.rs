use std::collections::BTreeMap;
use wire::StreamId;

/// The priority or weight of each stream.
#[derive(Debug)]
pub(super) struct Values {
    set: BTreeMap<StreamId, u16>,
    default: u16,
}

impl Values {
    /// Takes the values in the order of stream numbers; all further streams have the default.
    pub(super) fn new(values: &[u16], default: u16) -> Self {
        let set = (0..).map(StreamId).zip(values.iter().copied()).collect();
        Values { set, default }
    }

    pub(super) fn of(&self, stream: StreamId) -> u16 {
        self.set.get(&stream).copied().unwrap_or(self.default)
    }

    pub(super) fn set(&mut self, stream: StreamId, value: u16) {
        self.set.insert(stream, value);
    }
}
