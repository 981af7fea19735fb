//! Notices that a peer does not answer.

use units::{Instant, Span};

/// Time after which a peer that answers no packets may have lost its keys.
const SILENCE: Span = Span::from_secs(5);
/// As [`SILENCE`], for an end that sends steadily. A time of this length without a sent packet is a pause.
const STEADY_SILENCE: Span = Span::from_secs(1);

/// Packets sent to the peer since the last packet from it.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// Time of the first packet sent after the first pause (see [`STEADY_SILENCE`]). Packets before that
    /// pause do not count, since the last of them may have needed no answer.
    since: Option<Instant>,
    /// Time of the first packet sent after the last pause.
    steady: Instant,
    last: Instant,
}

impl Unanswered {
    pub(crate) fn new(now: Instant) -> Unanswered {
        Unanswered { since: None, steady: now, last: now }
    }

    pub(crate) fn note(&mut self, now: Instant) {
        if now.since(self.last) >= STEADY_SILENCE {
            self.steady = now;
            self.since.get_or_insert(now);
        }
        self.last = now;
    }

    /// True if the peer should have answered by now.
    pub(crate) fn is_silence(&self, now: Instant) -> bool {
        let is_steady = now.since(self.last) < STEADY_SILENCE;
        self.since.is_some_and(|since| now.since(since) >= SILENCE)
            || (is_steady && now.since(self.steady) >= STEADY_SILENCE)
    }
}
