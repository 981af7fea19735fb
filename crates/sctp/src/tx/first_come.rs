use std::collections::VecDeque;
use wire::StreamId;

/// The stream scheduler "first come, first served" (`rfc8260#section-3.1`): messages leave in the order in which they were
/// given, whatever their streams.
///
/// A stream scheduler knows how many pieces of messages wait on which stream, and decides which stream the next piece comes
/// from. It never sees the pieces, which wait in the queue of their stream.
#[derive(Debug, Default)]
pub(super) struct FirstCome {
    /// Streams in the order of their turns; a stream can have many.
    turns: VecDeque<Turn>,
}

#[derive(Debug)]
struct Turn {
    stream: StreamId,
    pieces: u32,
}

/// Memory for so many turns is kept when none is left.
const KEPT: usize = 64;

impl FirstCome {
    /// A piece was added at the end of the queue of a stream.
    #[inline]
    pub(super) fn add(&mut self, stream: StreamId) {
        match self.turns.back_mut() {
            Some(turn) if turn.stream == stream => turn.pieces += 1,
            _ => self.turns.push_back(Turn { stream, pieces: 1 }),
        }
    }

    /// The stream whose first piece is sent next; none if nothing waits.
    #[inline]
    pub(super) fn next(&self) -> Option<StreamId> {
        self.turns.front().map(|turn| turn.stream)
    }

    /// The first piece of the [next](Self::next) stream was sent to its end.
    #[inline]
    pub(super) fn sent(&mut self) {
        if let Some(turn) = self.turns.front_mut() {
            turn.pieces -= 1;
            if turn.pieces == 0 {
                self.turns.pop_front();
            }
        }
        if self.turns.is_empty() {
            self.turns.shrink_to(KEPT);
        }
    }

    /// Bytes allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>()
    }
}
