use std::collections::VecDeque;
use wire::StreamId;

/// The stream scheduler "first come, first served" (`rfc8260#section-3.1`): messages are sent in the order in
/// which the user gave them.
///
/// A stream scheduler counts the pieces of messages (whole messages, or parts as the user gave them) that
/// wait on each stream, and chooses the stream of the next piece. The pieces themselves wait in the queue of
/// their stream.
#[derive(Debug, Default)]
pub(super) struct FirstCome {
    /// The stream that sends now, and the number of its messages (or parts) in this turn: zero if no data
    /// waits.
    current: Turn,
    /// Later turns in their order; in a turn, one stream sends successive messages or parts of messages. A
    /// stream can have several turns.
    later: VecDeque<Turn>,
}

#[derive(Debug, Default)]
struct Turn {
    stream: StreamId,
    pieces: u32,
}

/// Number of turns (successive pieces of one stream) for which memory is kept when no data waits.
const KEPT: usize = 64;

impl FirstCome {
    /// Counts a message (or part of one) that was added at the end of the queue of a stream.
    #[inline]
    pub(super) fn add(&mut self, stream: StreamId) {
        if self.current.pieces == 0 {
            self.current.stream = stream;
        }
        let last = self.later.back_mut().unwrap_or(&mut self.current);
        if last.stream == stream {
            last.pieces += 1;
        } else {
            self.later.push_back(Turn { stream, pieces: 1 });
        }
    }

    /// The stream that sends next; `None` if no data waits.
    #[inline]
    pub(super) fn next(&self) -> Option<StreamId> {
        (self.current.pieces > 0).then_some(self.current.stream)
    }

    /// Records that a message (or part of one) of stream [`Self::next`] was sent. Returns true if the
    /// stream's turn ended.
    #[inline]
    pub(super) fn sent(&mut self) -> bool {
        self.current.pieces = self.current.pieces.saturating_sub(1);
        let ended = self.current.pieces == 0;
        if ended {
            self.current = self.later.pop_front().unwrap_or_default();
            if self.later.is_empty() {
                self.later.shrink_to(KEPT);
            }
        }
        ended
    }

    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.later.capacity() * size_of::<Turn>()
    }
}
