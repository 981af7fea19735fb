use std::collections::BTreeMap;

/// The messages that one side sends. The bytes of a message depend only on the sender (`voice`) and the
/// number of the message, so that the receiver can check them.
#[derive(Clone, Debug)]
pub struct Script {
    voice: u64,
    lines: Vec<Line>,
}

/// One message of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Stream of the message.
    pub stream: u16,
    /// True if the message is sent unordered.
    pub unordered: bool,
    /// Length in bytes, at least [`Script::SHORTEST`].
    pub len: usize,
}

impl Script {
    /// Length of the shortest message, which contains only its number.
    pub const SHORTEST: usize = 4;

    /// A script of the given messages. Scripts with different `voice` have different bytes.
    pub fn new(voice: u64, lines: Vec<Line>) -> Self {
        assert!(lines.iter().all(|line| line.len >= Self::SHORTEST));
        Script { voice, lines }
    }

    /// `count` random messages over `streams` streams, a third of them unordered. Most are short, some fill a
    /// packet, and one in eight has up to `longest` bytes.
    pub fn random(seed: u64, count: usize, streams: u16, longest: usize) -> Self {
        let mut random = des::Streams::new(seed, 0).stream("script");
        let mut lines = Vec::with_capacity(count);
        for _ in 0..count {
            let most = match random.below(8) {
                0 => longest,
                1 | 2 => longest.min(3_000),
                _ => longest.min(400),
            };
            lines.push(Line {
                stream: random.below(u64::from(streams)) as u16,
                unordered: random.below(3) == 0,
                len: Self::SHORTEST + random.below((most - Self::SHORTEST) as u64 + 1) as usize,
            });
        }
        Script::new(seed, lines)
    }

    /// The messages, in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The bytes of message `n`.
    pub fn bytes(&self, n: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.lines[n].len + 8);
        bytes.extend_from_slice(&(n as u32).to_be_bytes());
        let mut state = (self.voice << 32 | n as u64) ^ 0x9e37_79b9_7f4a_7c15;
        while bytes.len() < self.lines[n].len {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.extend_from_slice(&(state >> 32).to_be_bytes());
        }
        bytes.truncate(self.lines[n].len);
        bytes
    }
}

/// The receiver's record of a script. Checks that each message arrives once, unchanged, and in the order of
/// its stream.
#[derive(Debug)]
pub struct Ledger<'a> {
    script: &'a Script,
    heard: Vec<bool>,
    /// The ordered messages of each stream that have not been received, the next one last.
    expected: BTreeMap<u16, Vec<usize>>,
    missing: usize,
    /// True if messages may be missing.
    has_gaps: bool,
}

impl<'a> Ledger<'a> {
    /// A record without received messages.
    pub fn new(script: &'a Script) -> Self {
        let mut expected: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (n, line) in script.lines.iter().enumerate().rev().filter(|(_, line)| !line.unordered) {
            expected.entry(line.stream).or_default().push(n);
        }
        let (heard, missing) = (vec![false; script.lines.len()], script.lines.len());
        Ledger { script, heard, expected, missing, has_gaps: false }
    }

    /// A record in which messages may be missing, as with partial reliability.
    pub fn with_gaps(script: &'a Script) -> Self {
        Ledger { has_gaps: true, ..Ledger::new(script) }
    }

    /// Records a received message.
    ///
    /// # Errors
    /// The message is not one of the script, or is duplicated, changed or out of order.
    pub fn hear(&mut self, stream: u16, bytes: &[u8]) -> Result<(), String> {
        let number = bytes.first_chunk().map(|number| u32::from_be_bytes(*number) as usize);
        let known = number.filter(|&n| n < self.heard.len());
        let Some(n) = known else {
            return Err(format!("{} bytes on stream {stream} that were not sent", bytes.len()));
        };
        let line = self.script.lines[n];
        if line.stream != stream {
            return Err(format!("message {n} of stream {} arrived on stream {stream}", line.stream));
        }
        if self.script.bytes(n) != bytes {
            return Err(format!("message {n} of {} bytes arrived changed, with {}", line.len, bytes.len()));
        }
        if std::mem::replace(&mut self.heard[n], true) {
            return Err(format!("message {n} arrived twice"));
        }
        if !line.unordered {
            let expected = self.expected.get_mut(&stream);
            let next = expected.and_then(|expected| {
                while self.has_gaps && expected.last().is_some_and(|&next| next < n) {
                    expected.pop();
                }
                expected.pop()
            });
            if next != Some(n) {
                return Err(format!("message {n} arrived before {next:?} on stream {stream}"));
            }
        }
        self.missing -= 1;
        Ok(())
    }

    /// True if all messages were received.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// True if message `n` was received.
    pub fn has_heard(&self, n: usize) -> bool {
        self.heard[n]
    }

    /// The number of messages received.
    pub fn heard(&self) -> usize {
        self.heard.len() - self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> Script {
        let line = |stream, unordered| Line { stream, unordered, len: 9 };
        Script::new(1, vec![line(0, false), line(0, true), line(0, false), line(1, false)])
    }

    #[test]
    fn messages_are_accepted_in_any_order_that_keeps_the_order_of_each_stream() {
        let script = script();
        let mut ledger = Ledger::new(&script);
        for (stream, n) in [(1, 3), (0, 0), (0, 2), (0, 1)] {
            assert_eq!(ledger.hear(stream, &script.bytes(n)), Ok(()));
        }
        assert!(ledger.is_complete());
    }

    #[test]
    fn messages_may_be_missing_but_none_may_come_late() {
        let script = script();
        let mut ledger = Ledger::with_gaps(&script);
        assert_eq!(ledger.hear(0, &script.bytes(2)), Ok(()));
        assert_eq!([0, 1, 2, 3].map(|n| ledger.has_heard(n)), [false, false, true, false]);
        assert!(ledger.hear(0, &script.bytes(0)).is_err());
    }

    #[test]
    fn lost_duplicated_changed_and_reordered_messages_are_detected() {
        let script = script();
        let hear = |told: &[(u16, Vec<u8>)]| {
            let mut ledger = Ledger::new(&script);
            told.iter().try_for_each(|(stream, bytes)| ledger.hear(*stream, bytes)).unwrap_err()
        };
        let bytes = |n| script.bytes(n);
        assert_eq!(hear(&[(0, bytes(2))]), "message 2 arrived before Some(0) on stream 0");
        assert_eq!(hear(&[(0, bytes(1)), (0, bytes(1))]), "message 1 arrived twice");
        assert_eq!(hear(&[(1, bytes(0))]), "message 0 of stream 0 arrived on stream 1");
        let mut changed = bytes(0);
        changed[8] ^= 1;
        assert_eq!(hear(&[(0, changed)]), "message 0 of 9 bytes arrived changed, with 9");
        assert_eq!(hear(&[(0, bytes(0)[..8].to_vec())]), "message 0 of 9 bytes arrived changed, with 8");
        assert_eq!(hear(&[(0, vec![9; 9])]), "9 bytes on stream 0 that were not sent");
    }
}
