use super::{Rule, Values};
use std::collections::{BTreeMap, VecDeque};
use wire::StreamId;

/// Priority (`rfc8260#section-3.4`): the lowest number is sent first; streams of equal priority take turns.
#[derive(Debug)]
pub(super) struct Priority {
    priorities: Values,
    /// The waiting streams of each priority, in the order of their turns. No list is empty.
    levels: BTreeMap<u16, VecDeque<StreamId>>,
}

impl Priority {
    pub(super) fn new(priorities: Values) -> Self {
        Priority { priorities, levels: BTreeMap::new() }
    }

    /// Removes a stream. Returns false if the stream does not wait to send.
    fn remove(&mut self, stream: StreamId) -> bool {
        let priority = self.priorities.of(stream);
        let Some(level) = self.levels.get_mut(&priority) else { return false };
        let Some(at) = level.iter().position(|&waiting| waiting == stream) else { return false };
        level.remove(at);
        if level.is_empty() {
            self.levels.remove(&priority);
        }
        true
    }
}

impl Rule for Priority {
    fn add(&mut self, stream: StreamId) {
        self.levels.entry(self.priorities.of(stream)).or_default().push_back(stream);
    }

    fn next(&self) -> Option<StreamId> {
        self.levels.first_key_value()?.1.front().copied()
    }

    fn sent(&mut self, stream: StreamId, _bytes: u64, more: bool) {
        self.remove(stream);
        if more {
            self.add(stream);
        }
    }

    fn set_value(&mut self, stream: StreamId, value: u16) {
        let waits = self.remove(stream);
        self.priorities.set(stream, value);
        if waits {
            self.add(stream);
        }
    }

    fn value(&self, stream: StreamId) -> u16 {
        self.priorities.of(stream)
    }
}
