use std::collections::VecDeque;

/// The lengths of the messages in a stream of bytes, run-length encoded.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    runs: VecDeque<Run>,
    /// Bytes of all messages that [`Self::pass`] has removed.
    passed: u64,
}

#[derive(Debug)]
struct Run {
    length: u32,
    messages: u64,
}

impl Bounds {
    /// Adds a message at the end of the stream.
    pub(super) fn push(&mut self, length: u32) {
        match self.runs.back_mut() {
            Some(run) if run.length == length => run.messages += 1,
            _ => self.runs.push_back(Run { length, messages: 1 }),
        }
    }

    /// Removes the messages that end within the first `bytes` bytes of the stream, and returns how many were
    /// removed.
    pub(super) fn pass(&mut self, bytes: u64) -> u64 {
        let mut passed = 0;
        while let Some(run) = self.runs.front_mut() {
            let ended = ((bytes - self.passed) / u64::from(run.length)).min(run.messages);
            passed += ended;
            self.passed += ended * u64::from(run.length);
            run.messages -= ended;
            if run.messages > 0 {
                break;
            }
            self.runs.pop_front();
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_when_its_last_byte_has_arrived() {
        let mut bounds = Bounds::default();
        for length in [10, 10, 10, 5, 10] {
            bounds.push(length);
        }
        assert_eq!(bounds.runs.len(), 3);
        let passed = [0, 9, 10, 29, 34, 35, 44, 45].map(|bytes| bounds.pass(bytes));
        assert_eq!(passed, [0, 0, 1, 1, 1, 1, 0, 1]);
        assert!(bounds.runs.is_empty());
    }
}
