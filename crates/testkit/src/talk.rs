use std::collections::BTreeMap;

/// What one side says: messages whose every byte follows from who says it and their number, so that the listener
/// knows each of them in advance.
#[derive(Clone, Debug)]
pub struct Script {
    voice: u64,
    lines: Vec<Line>,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its stream.
    pub stream: u16,
    /// Outside the order of its stream.
    pub unordered: bool,
    /// Bytes, at least [`Script::SHORTEST`].
    pub len: usize,
}

impl Script {
    /// Bytes in the shortest message: its number.
    pub const SHORTEST: usize = 4;

    /// A script of the given lines; another `voice` makes other bytes.
    pub fn new(voice: u64, lines: Vec<Line>) -> Self {
        assert!(lines.iter().all(|line| line.len >= Self::SHORTEST));
        Script { voice, lines }
    }

    /// `count` messages over `streams` streams, a third of them unordered: mostly short ones, some that fill packets,
    /// one in eight up to `longest`.
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

    /// Its messages.
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

/// What the listener has heard of a script: nothing twice, nothing changed, the order of each stream kept.
#[derive(Debug)]
pub struct Ledger<'a> {
    script: &'a Script,
    heard: Vec<bool>,
    /// For each stream the ordered messages not heard yet, last first.
    expected: BTreeMap<u16, Vec<usize>>,
    missing: usize,
}

impl<'a> Ledger<'a> {
    /// Nothing heard yet.
    pub fn new(script: &'a Script) -> Self {
        let mut expected: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (n, line) in script.lines.iter().enumerate().rev().filter(|(_, line)| !line.unordered) {
            expected.entry(line.stream).or_default().push(n);
        }
        Ledger { script, heard: vec![false; script.lines.len()], expected, missing: script.lines.len() }
    }

    /// Takes a message as it was received.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn hear(&mut self, stream: u16, bytes: &[u8]) -> Result<(), String> {
        let number = bytes.first_chunk().map(|number| u32::from_be_bytes(*number) as usize);
        let known = number.filter(|&n| n < self.heard.len());
        let Some(n) = known else {
            return Err(format!("{} bytes that nobody sent on stream {stream}", bytes.len()));
        };
        let line = self.script.lines[n];
        if line.stream != stream {
            return Err(format!("message {n} of stream {} came on stream {stream}", line.stream));
        }
        if self.script.bytes(n) != bytes {
            return Err(format!("message {n} of {} bytes came changed, with {}", line.len, bytes.len()));
        }
        if std::mem::replace(&mut self.heard[n], true) {
            return Err(format!("message {n} came twice"));
        }
        if !line.unordered {
            let next = self.expected.get_mut(&stream).and_then(Vec::pop);
            if next != Some(n) {
                return Err(format!("message {n} came before {next:?} on stream {stream}"));
            }
        }
        self.missing -= 1;
        Ok(())
    }

    /// True if every message came.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The number of messages that came.
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
    fn what_is_said_is_heard_in_any_order_that_streams_allow() {
        let script = script();
        let mut ledger = Ledger::new(&script);
        for (stream, n) in [(1, 3), (0, 0), (0, 2), (0, 1)] {
            assert_eq!(ledger.hear(stream, &script.bytes(n)), Ok(()));
        }
        assert!(ledger.is_complete());
    }

    #[test]
    fn each_kind_of_wrong_is_noticed() {
        let script = script();
        let hear = |told: &[(u16, Vec<u8>)]| {
            let mut ledger = Ledger::new(&script);
            told.iter().try_for_each(|(stream, bytes)| ledger.hear(*stream, bytes)).unwrap_err()
        };
        let bytes = |n| script.bytes(n);
        assert_eq!(hear(&[(0, bytes(2))]), "message 2 came before Some(0) on stream 0");
        assert_eq!(hear(&[(0, bytes(1)), (0, bytes(1))]), "message 1 came twice");
        assert_eq!(hear(&[(1, bytes(0))]), "message 0 of stream 0 came on stream 1");
        let mut changed = bytes(0);
        changed[8] ^= 1;
        assert_eq!(hear(&[(0, changed)]), "message 0 of 9 bytes came changed, with 9");
        assert_eq!(hear(&[(0, bytes(0)[..8].to_vec())]), "message 0 of 9 bytes came changed, with 8");
        assert_eq!(hear(&[(0, vec![9; 9])]), "9 bytes that nobody sent on stream 0");
    }
}
