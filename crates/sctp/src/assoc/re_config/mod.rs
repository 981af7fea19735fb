//! Resets and additions of streams (`rfc6525`): our requests (`ask.rs`) and those of the peer (`answer.rs`).
//!
//! A wish is a request to the peer that is to be sent. One request is outstanding at a time; further wishes
//! wait in a queue. Streams that are to be reset send no new data after the wish.

mod answer;
mod ask;

use super::Association;
use super::phase::{Phase, Retry};
use crate::event::{Event, ResetDirection, ResetError, ResetResult};
use crate::ext::Ext;
use crate::per_stream::StreamSet;
use crate::rx::Reset;
use answer::Answers;
use std::collections::VecDeque;
use units::Instant;
use wire::{ReConfig, StreamId, Tsn};

/// State of RE-CONFIG, if both ends support it.
#[derive(Debug)]
pub(super) struct ReConfiguration {
    /// Number of the next request to the peer (`rfc6525#section-5.1.1`).
    next_request: u32,
    wishes: VecDeque<Wish>,
    /// The outstanding request; it belongs to the first element of `wishes`.
    asked: Option<Asked>,
    /// The request before the outstanding one, and its element of `wishes`, if this end gave that
    /// request up because the peer had added the streams itself. A peer that never received that
    /// request refuses the number of the outstanding one.
    given_up: Option<(Asked, Wish)>,
    /// Earliest time of the next request, after the peer reported that its own request is in progress.
    not_before: Option<Instant>,
    /// How often the peer refused the first request of `wishes` because a request of the peer itself
    /// is in progress.
    refused: u32,
    /// Requests that the peer has agreed to send to us because we asked for them and that have not
    /// arrived yet.
    invited: Vec<Invited>,
    answers: Answers,
    /// Number of the peer's request to reset streams on which it sends, while earlier TSNs are missing.
    deferred: Option<u32>,
    /// Number of the peer's request to reset the association, while our data is not acknowledged.
    peer_reset: Option<u32>,
    /// Number of the request to reset the association that is answered after the last chunk of its packet.
    answer_due: Option<u32>,
    /// The answer to a reset of the association, sent in front of data until the peer has received it.
    unproven: Option<Unproven>,
    /// Requests sent, retransmissions included.
    pub(super) requests: u64,
    /// Resets performed: of streams in either direction, or of the association.
    pub(super) resets: u64,
}

/// A request that is to be sent to the peer.
#[derive(Debug)]
enum Wish {
    ResetOutgoing {
        streams: StreamSet,
        /// Number of the peer's request for this reset, which our request answers.
        answers: Option<u32>,
        /// The first `sent` of the streams have no data left to send.
        sent: usize,
        /// Index after the last chunk of the streams, once all their chunks are sent.
        behind: Option<u64>,
    },
    ResetIncoming(StreamSet),
    ResetAssociation,
    AddOutgoing(u16),
    AddIncoming(u16),
}

/// A request that waits for its answer.
#[derive(Debug)]
struct Asked {
    request: u32,
    /// The parameter as it was sent: retransmissions are identical (`rfc6525#section-5.1.1`).
    bytes: Vec<u8>,
    retry: Retry,
    /// The peer reported that the request is in progress: repeating it after an RTO is not an error.
    in_progress: bool,
    /// The peer sent a request to add the same streams. Some peers send that request in place of a response.
    /// That does not prove that the peer received our request.
    served: bool,
}

/// A request that the peer agreed to send because a request of ours invited it.
#[derive(Debug, PartialEq, Eq)]
enum Invited {
    Reset(StreamSet),
    Add(u16),
}

/// An answer that the peer may not have received.
#[derive(Debug)]
struct Unproven {
    /// The parameter with the answer.
    answer: Vec<u8>,
    /// The peer has the answer once all chunks below this index are acknowledged.
    behind: u64,
}

/// Largest number of wishes (requests to the peer that are to be sent) in the queue.
const MOST_WISHES: usize = 64;

/// Largest number of streams in one request, which fits a packet of 576 bytes. Longer lists are split.
const MOST_STREAMS: usize = 250;

impl ReConfiguration {
    pub(super) fn new(initial_tsn: Tsn, peer_initial_tsn: Tsn) -> Self {
        ReConfiguration {
            next_request: initial_tsn.0,
            wishes: VecDeque::new(),
            asked: None,
            given_up: None,
            not_before: None,
            refused: 0,
            invited: Vec::new(),
            answers: Answers::new(peer_initial_tsn),
            deferred: None,
            peer_reset: None,
            answer_due: None,
            unproven: None,
            requests: 0,
            resets: 0,
        }
    }

    /// True if a waiting or outstanding request of ours resets one of these outgoing streams.
    fn is_resetting(&self, streams: &StreamSet) -> bool {
        self.wishes.iter().any(|wish| match wish {
            Wish::ResetOutgoing { streams: others, .. } => others.meets(streams),
            Wish::ResetAssociation => true,
            Wish::ResetIncoming(_) | Wish::AddOutgoing(_) | Wish::AddIncoming(_) => false,
        })
    }

    /// Time at which T-reconf expires or, if no request is outstanding, at which the next request may be
    /// sent.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.as_ref().map(|asked| asked.retry.deadline).or(self.not_before)
    }

    /// The bytes of the outstanding request.
    pub(super) fn request(&self) -> Option<&[u8]> {
        self.asked.as_ref().map(|asked| &asked.bytes[..])
    }

    /// The path of the outstanding request.
    pub(super) fn path_mut(&mut self) -> Option<&mut crate::path::PathId> {
        self.asked.as_mut().map(|asked| &mut asked.retry.path)
    }

    /// Bytes of the RE-CONFIG chunk in front of data that repeats an answer; zero without such an answer.
    pub(super) fn answer_len(&self) -> usize {
        self.unproven.as_ref().map_or(0, |unproven| 4 + unproven.answer.len())
    }

    /// The RE-CONFIG chunk in front of data, with an answer that the peer may not have received.
    pub(super) fn answer_before_data(&self) -> Option<ReConfig<'_>> {
        self.unproven.as_ref().map(|unproven| ReConfig { bytes: &unproven.answer })
    }

    /// Notes that the peer agreed to send this request.
    fn invite(&mut self, invited: Invited) {
        if self.invited.len() == MOST_WISHES {
            self.invited.remove(0);
        }
        self.invited.push(invited);
    }

    /// Removes a request that the peer agreed to send; false if the peer did not agree.
    fn take_invitation(&mut self, invited: &Invited) -> bool {
        let found = self.invited.iter().position(|other| other == invited);
        found.map(|at| self.invited.swap_remove(at)).is_some()
    }

    /// True if the peer may have reset its TSNs, so that the TSNs of an acknowledgement are ambiguous.
    #[cold]
    pub(super) fn awaits_new_tsns(&self) -> bool {
        self.asked.is_some() && matches!(self.wishes.front(), Some(Wish::ResetAssociation))
    }
}

impl Association {
    /// Begins the reset of streams: the listed ones, or all if the list is empty (`rfc6525#section-6.3.2`).
    pub(crate) fn reset_streams(
        &mut self,
        now: Instant,
        direction: ResetDirection,
        streams: &[StreamId],
    ) -> Result<(), ResetError> {
        let set = StreamSet::of(streams.iter().copied());
        let (outgoing, incoming) = direction.parts();
        let inbound = self.receiver.as_ref().map_or(0, |receiver| receiver.inbound_streams());
        let outbound = self.sender.streams();
        let parts = set.streams().len().div_ceil(MOST_STREAMS).max(1);
        let config = self.may_wish(parts * (usize::from(outgoing) + usize::from(incoming)))?;
        for (asked, count) in [(outgoing, outbound), (incoming, inbound)] {
            if asked && let Some(stream) = set.highest().filter(|stream| stream.0 >= count) {
                return Err(ResetError::NoSuchStream { stream, streams: count });
            }
        }
        if outgoing && config.is_resetting(&set) {
            return Err(ResetError::InProgress);
        }
        if outgoing && let Some(stream) = self.sender.unfinished_among(&set) {
            return Err(ResetError::UnfinishedMessage { stream });
        }
        for part in parts_of(&set) {
            if outgoing {
                self.sender.hold_streams(&part);
                let wish =
                    Wish::ResetOutgoing { streams: part.clone(), answers: None, sent: 0, behind: None };
                self.wish(wish);
            }
            if incoming {
                self.wish(Wish::ResetIncoming(part));
            }
        }
        self.settle(now);
        Ok(())
    }

    /// Begins to add streams (`rfc6525#section-6.3.4`).
    pub(crate) fn add_streams(
        &mut self,
        now: Instant,
        outgoing: u16,
        incoming: u16,
    ) -> Result<(), ResetError> {
        let inbound = self.receiver.as_ref().map_or(0, |receiver| receiver.inbound_streams());
        let sums = [(self.sender.streams(), outgoing), (inbound, incoming)];
        self.may_wish(2)?;
        if sums.iter().any(|(now, more)| now.checked_add(*more).is_none()) {
            return Err(ResetError::TooManyStreams);
        }
        if outgoing > 0 {
            self.wish(Wish::AddOutgoing(outgoing));
        }
        if incoming > 0 {
            self.wish(Wish::AddIncoming(incoming));
        }
        self.settle(now);
        Ok(())
    }

    /// Begins the reset of all streams and TSNs (`rfc6525#section-6.3.3`).
    pub(crate) fn reset_association(&mut self, now: Instant) -> Result<(), ResetError> {
        let all = StreamSet::default();
        if self.may_wish(1)?.is_resetting(&all) {
            return Err(ResetError::InProgress);
        }
        if let Some(stream) = self.sender.unfinished_among(&all) {
            return Err(ResetError::UnfinishedMessage { stream });
        }
        self.sender.hold_streams(&all);
        self.wish(Wish::ResetAssociation);
        self.settle(now);
        Ok(())
    }

    /// Checks that `more` requests may be queued.
    fn may_wish(&self, more: usize) -> Result<&ReConfiguration, ResetError> {
        match (&self.phase, &self.re_config) {
            (Phase::Established, Some(config)) if config.wishes.len() + more <= MOST_WISHES => Ok(config),
            (Phase::Established, Some(_)) => Err(ResetError::InProgress),
            (Phase::Established, None) => Err(ResetError::NotSupported),
            _ => Err(ResetError::Closed),
        }
    }

    fn wish(&mut self, wish: Wish) {
        if let Some(config) = &mut self.re_config {
            config.wishes.push_back(wish);
        }
    }

    /// Begins anew; without RE-CONFIG at both ends no state is kept. Request numbers start at the
    /// initial TSNs.
    pub(super) fn start_re_config(&mut self, peer_initial_tsn: Tsn) {
        self.forget_wishes();
        let both = self.extensions.has(Ext::ReConfig);
        let initial_tsn = self.initial_tsn;
        self.re_config = both.then(|| Box::new(ReConfiguration::new(initial_tsn, peer_initial_tsn)));
    }

    /// Gives up all requests, because the peer restarted or the association ends.
    pub(super) fn forget_wishes(&mut self) {
        let Some(config) = &mut self.re_config else { return };
        config.asked = None;
        for wish in std::mem::take(&mut config.wishes) {
            self.tell(wish, ResetResult::GivenUp);
        }
    }

    /// Gives up requests before a shutdown, except an outstanding request that holds data back: only
    /// the answer to it decides how the messages held back are numbered.
    pub(super) fn give_up_wishes(&mut self) {
        let Some(config) = &mut self.re_config else { return };
        let needed = config.asked.is_some() && self.sender.has_held();
        let first = config.wishes.front().filter(|_| needed);
        let kept =
            first.is_some_and(|wish| matches!(wish, Wish::ResetOutgoing { .. } | Wish::ResetAssociation));
        let given_up = config.wishes.split_off(usize::from(kept));
        config.not_before = None;
        if !kept {
            config.asked = None;
        }
        if let Some(request) = config.peer_reset.take() {
            config.answers.deny(request);
            self.sender.resume_streams(&StreamSet::default(), false);
        }
        for wish in given_up {
            self.release(&wish, false);
            self.tell(wish, ResetResult::GivenUp);
        }
    }

    /// Lets the streams that a request of ours held back send again, from number 0 if they were reset.
    fn release(&mut self, wish: &Wish, reset: bool) {
        match wish {
            Wish::ResetOutgoing { streams, .. } => self.sender.resume_streams(streams, reset),
            Wish::ResetAssociation => self.sender.resume_streams(&StreamSet::default(), reset),
            Wish::ResetIncoming(_) | Wish::AddOutgoing(_) | Wish::AddIncoming(_) => {}
        }
    }

    /// Reports the outcome of a request of ours to the user.
    fn tell(&mut self, wish: Wish, result: ResetResult) {
        let reset = |direction: ResetDirection, streams: &StreamSet| {
            let (outgoing, incoming) = direction.parts();
            Event::StreamsReset { incoming, outgoing, streams: streams.streams().to_vec(), result }
        };
        self.events.push(match wish {
            Wish::ResetOutgoing { streams, .. } => reset(ResetDirection::Outgoing, &streams),
            Wish::ResetIncoming(streams) => reset(ResetDirection::Incoming, &streams),
            Wish::ResetAssociation => reset(ResetDirection::Both, &StreamSet::default()),
            Wish::AddOutgoing(outgoing) => Event::StreamsAdded { incoming: 0, outgoing, result },
            Wish::AddIncoming(incoming) => Event::StreamsAdded { incoming, outgoing: 0, result },
        });
    }

    /// The event of a reset of the peer's streams, once the user has read all data before the reset.
    pub(super) fn next_reset(&mut self) -> Option<Event> {
        let reset = self.receiver.as_mut()?.take_mark()?;
        self.events.all_read();
        if self.is_readable() {
            self.events.readable();
        }
        Some(reset_by_peer(&reset))
    }

    /// Queues the events of all waiting resets, since the association ends. The user has not yet read the
    /// data before these resets.
    pub(super) fn tell_of_marks(&mut self) {
        let resets = self.receiver.as_mut().map(|receiver| receiver.drop_marks());
        for reset in resets.into_iter().flatten() {
            self.events.push(reset_by_peer(&reset));
        }
    }
}

fn reset_by_peer(reset: &Reset) -> Event {
    let (outgoing, streams) = match reset {
        Reset::Streams(streams) => (false, streams.streams().to_vec()),
        Reset::Association => (true, Vec::new()),
    };
    Event::StreamsReset { incoming: true, outgoing, streams, result: ResetResult::Performed }
}

/// Splits a set of streams into parts that fit a request.
fn parts_of(set: &StreamSet) -> Vec<StreamSet> {
    if set.is_all() {
        return vec![set.clone()];
    }
    set.streams().chunks(MOST_STREAMS).map(|part| StreamSet::of(part.iter().copied())).collect()
}
