//! Reassembly by message identifier and fragment sequence number, as I-DATA needs it (`rfc8260#section-2.2`).
//!
//! It is the second kind beside [`Reassembly`](super::reassembly::Reassembly), which joins fragments of successive TSNs. With
//! I-DATA, fragments of several messages may be interleaved, so the stream, the U bit and the MID identify the message. Only tests
//! use it until I-DATA chunks are received.

use super::fragments::{Chain, Fragments};
use crate::message::Payload;
use crate::steps::count_search;
use std::collections::BTreeMap;
use units::ByteCount;
use wire::Ppid;

/// What names a message: ordered and unordered ones of a stream are numbered apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageKey {
    /// Stream number.
    pub(super) stream: u16,
    pub(super) unordered: bool,
    pub(super) mid: u32,
}

/// A fragment of a message.
#[derive(Debug)]
pub(super) struct Fragment {
    /// Fragment sequence number, 0 of the first fragment.
    pub(super) fsn: u32,
    /// Payload protocol identifier; of use in the first fragment only.
    pub(super) ppid: Ppid,
    /// It ends its message.
    pub(super) ending: bool,
    pub(super) payload: Payload,
}

/// Fragments of messages that are not complete.
#[derive(Debug)]
pub(super) struct Interleaved {
    messages: BTreeMap<MessageKey, Unfinished>,
    fragments: Fragments,
}

#[derive(Debug, Default)]
struct Unfinished {
    /// Runs of successive fragments by their first FSN. Runs are maximal.
    runs: BTreeMap<u32, Run>,
    ppid: Option<Ppid>,
    /// FSN of the fragment that ends the message, once it arrived.
    end: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    last: u32,
    length: usize,
    chain: Chain,
}

impl Unfinished {
    /// Checks a fragment against those that arrived before; the error names the contradiction.
    fn check(&self, fsn: u32, ending: bool) -> Result<(), &'static str> {
        count_search(self.runs.len());
        let before = self.runs.range(..=fsn).next_back();
        if before.is_some_and(|(_, run)| run.last >= fsn) {
            return Err("a fragment sequence number is used twice");
        }
        let highest = self.runs.last_key_value().map(|(_, run)| run.last);
        let too_early = ending && (self.end.is_some() || highest.is_some_and(|highest| highest > fsn));
        if too_early || self.end.is_some_and(|end| end < fsn) {
            return Err("a fragment lies beyond the end of its message");
        }
        Ok(())
    }
}

impl Interleaved {
    pub(super) fn new(receive_buffer: ByteCount) -> Self {
        Interleaved { messages: BTreeMap::new(), fragments: Fragments::new(receive_buffer) }
    }

    /// True if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Takes a fragment that has not arrived before. Returns the payload protocol identifier and the bytes of the message
    /// that it completes. An error names what the peer broke; then nothing has changed.
    pub(super) fn insert(
        &mut self,
        key: MessageKey,
        fragment: Fragment,
    ) -> Result<Option<(Ppid, Payload)>, &'static str> {
        let Fragment { fsn, ppid, ending, payload } = fragment;
        count_search(self.messages.len());
        if let Some(message) = self.messages.get(&key) {
            message.check(fsn, ending)?;
        }
        let message = self.messages.entry(key).or_default();
        if ending {
            message.end = Some(fsn);
        }
        if fsn == 0 {
            message.ppid = Some(ppid);
        }
        let (mut first, mut run) = (
            fsn,
            Run {
                last: fsn,
                length: payload.len(),
                chain: self.fragments.begin(payload.as_octets(), fsn == 0),
            },
        );
        let before = message.runs.range(..fsn).next_back().map(|(&first, &run)| (first, run));
        if let Some((its_first, before)) = before.filter(|(_, before)| before.last + 1 == fsn) {
            first = its_first;
            run = Run { chain: self.fragments.join(before.chain, run.chain), ..joined(before, run) };
        }
        if let Some(after) = fsn.checked_add(1).and_then(|next| message.runs.remove(&next)) {
            run = Run { chain: self.fragments.join(run.chain, after.chain), ..joined(run, after) };
        }
        match message.ppid {
            Some(ppid) if first == 0 && message.end == Some(run.last) => {
                self.messages.remove(&key);
                Ok(Some((ppid, self.fragments.gather(run.chain, run.length))))
            }
            _ => {
                message.runs.insert(first, run);
                Ok(None)
            }
        }
    }
}

/// Two runs side by side, but for their chains.
fn joined(a: Run, b: Run) -> Run {
    Run { last: b.last, length: a.length + b.length, chain: a.chain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUFFER: ByteCount = ByteCount::new(1 << 20);

    fn key(stream: u16, unordered: bool, mid: u32) -> MessageKey {
        MessageKey { stream, unordered, mid }
    }

    fn fragment(fsn: u32, ending: bool, bytes: &'static [u8]) -> Fragment {
        Fragment {
            fsn,
            ppid: Ppid(if fsn == 0 { 51 } else { 0 }),
            ending,
            payload: Payload::Bytes(bytes.into()),
        }
    }

    // rfc8260#section-2.2.3
    #[test]
    fn fragments_that_contradict_others_of_their_message_are_refused() {
        let refused = [
            (&[(1, false)][..], (1, false)),
            (&[(0, false), (1, false)], (0, false)),
            (&[(2, false)], (1, true)),
            (&[(2, true)], (3, false)),
            (&[(2, true)], (4, true)),
            (&[(2, true)], (1, true)),
        ];
        for (accepted, (fsn, ending)) in refused {
            let mut messages = Interleaved::new(BUFFER);
            for &(fsn, ending) in accepted {
                assert!(messages.insert(key(1, false, 3), fragment(fsn, ending, b"x")).is_ok());
            }
            let outcome = messages.insert(key(1, false, 3), fragment(fsn, ending, b"x"));
            assert!(outcome.is_err(), "{accepted:?} then {fsn} {ending}");
            let other = messages.insert(key(1, true, 3), fragment(fsn, ending, b"x"));
            assert!(other.is_ok(), "unordered messages have identifiers of their own");
        }
    }

    #[test]
    fn the_last_fragment_sequence_number_can_be_used() {
        let mut messages = Interleaved::new(BUFFER);
        assert_eq!(messages.insert(key(0, false, 0), fragment(u32::MAX, true, b"x")), Ok(None));
        assert_eq!(messages.insert(key(0, false, 0), fragment(u32::MAX - 1, false, b"x")), Ok(None));
    }

    proptest! {
        /// Fragments of several messages of all streams and orders, in whatever order they arrive.
        #[test]
        fn each_message_is_complete_with_its_last_fragment(
            lengths in prop::collection::vec((0u16..3, any::<bool>(), 1u32..9), 1..12),
            seed in any::<u64>(),
        ) {
            let mut arriving = Vec::new();
            for (mid, &(stream, unordered, length)) in (0..).zip(&lengths) {
                arriving.extend((0..length).map(|fsn| (key(stream, unordered, mid), fsn, length)));
            }
            arriving.sort_by_cached_key(|&(key, fsn, _)| {
                (u64::from(key.mid) << 32 | u64::from(fsn)).wrapping_mul(seed | 1).rotate_left(17)
            });
            let mut messages = Interleaved::new(BUFFER);
            let mut missing: Vec<u32> = lengths.iter().map(|&(_, _, length)| length).collect();
            for (key, fsn, length) in arriving {
                let payload = Payload::Bytes(vec![fsn as u8; 2].into());
                let ppid = Ppid(if fsn == 0 { key.mid } else { 99 });
                let done = messages.insert(key, Fragment { fsn, ppid, ending: fsn + 1 == length, payload });
                missing[key.mid as usize] -= 1;
                let whole: Vec<u8> = (0..length).flat_map(|fsn| [fsn as u8; 2]).collect();
                let expected =
                    (missing[key.mid as usize] == 0).then(|| (Ppid(key.mid), Payload::Bytes(whole.into())));
                prop_assert_eq!(done, Ok(expected));
            }
            prop_assert!(messages.is_empty());
        }
    }
}
