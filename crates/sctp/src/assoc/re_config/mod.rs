//! Resetting and adding streams (`rfc6525`): what the user wishes, what is asked of the peer (`ask.rs`), and what the peer asks
//! of us (`answer.rs`).
//!
//! One request at a time is asked of the peer. What the user wishes waits in a queue until then, and streams that are to be
//! reset take no new data from the moment of the wish.

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

/// What an association keeps for RE-CONFIG, if both ends have it.
#[derive(Debug)]
pub(super) struct ReConfiguration {
    /// Number of the next request to the peer (`rfc6525#section-5.1.1`).
    next_request: u32,
    wishes: VecDeque<Wish>,
    /// The request for the first wish, once it is sent.
    asked: Option<Asked>,
    /// The request before the one at hand, and its wish, if it was given up as served. A peer that never received it refuses the
    /// number of the next.
    given_up: Option<(Asked, Wish)>,
    /// When to ask again, after the peer answered that its own request is in progress.
    not_before: Option<Instant>,
    /// How often the peer gave that answer to the first wish.
    refused: u32,
    /// Requests that the peer may send because it agreed to; without the one that we are asking it for now.
    invited: Vec<Invited>,
    answers: Answers,
    /// The peer's reset of its streams that waits for TSNs.
    deferred: Option<u32>,
    /// The peer's reset of the association that waits until our data is acknowledged.
    peer_reset: Option<u32>,
    /// The number of that request until it is answered, after the last chunk of its packet.
    answer_due: Option<u32>,
    /// The answer to a reset of the association goes before data until the peer has shown that it got it.
    unproven: Option<Unproven>,
    /// Requests sent, retransmissions included.
    pub(super) requests: u64,
    /// Resets performed, of either direction.
    pub(super) resets: u64,
}

/// Something to be asked of the peer.
#[derive(Debug)]
enum Wish {
    ResetOutgoing {
        streams: StreamSet,
        /// Number of the peer's request that it answers.
        answers: Option<u32>,
        /// The streams before this place in the list have no data left to send.
        sent: usize,
        /// Index behind the last chunk of the streams, once all of them are sent.
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
    /// The parameter as it was sent: retransmissions are the same (`rfc6525#section-5.1.1`).
    bytes: Vec<u8>,
    retry: Retry,
    /// The peer answered that it is in progress: the request is repeated after an RTO, which does not count as an error.
    in_progress: bool,
    /// The peer itself requested to add the streams that this request asks for. Some peers give no other answer. But a peer
    /// may also do that of its own accord, without having received this request.
    served: bool,
}

/// A request that the peer agreed to send because we asked for it.
#[derive(Debug, PartialEq, Eq)]
enum Invited {
    Reset(StreamSet),
    Add(u16),
}

/// An answer that the peer may not have received.
#[derive(Debug)]
struct Unproven {
    /// The parameter that holds it.
    answer: Vec<u8>,
    /// The peer has the answer once all chunks below this index are acknowledged.
    behind: u64,
}

/// Most wishes that may wait.
const MOST_WISHES: usize = 64;

/// Most streams in one request: they fit a packet of 576 bytes. Longer lists are split into several requests.
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

    /// True if a wish is about an outgoing stream of these.
    fn is_resetting(&self, streams: &StreamSet) -> bool {
        self.wishes.iter().any(|wish| match wish {
            Wish::ResetOutgoing { streams: others, .. } => others.meets(streams),
            Wish::ResetAssociation => true,
            Wish::ResetIncoming(_) | Wish::AddOutgoing(_) | Wish::AddIncoming(_) => false,
        })
    }

    /// When T-reconf expires, or a wish may be asked for again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.as_ref().map(|asked| asked.retry.deadline).or(self.not_before)
    }

    /// The request that is not answered yet, as it was sent.
    pub(super) fn request(&self) -> Option<&[u8]> {
        self.asked.as_ref().map(|asked| &asked.bytes[..])
    }

    /// The path of the request at hand.
    pub(super) fn path_mut(&mut self) -> Option<&mut crate::path::PathId> {
        self.asked.as_mut().map(|asked| &mut asked.retry.path)
    }

    /// Bytes of an answer that goes before data.
    pub(super) fn answer_len(&self) -> usize {
        self.unproven.as_ref().map_or(0, |unproven| 4 + unproven.answer.len())
    }

    /// That answer.
    pub(super) fn answer_before_data(&self) -> Option<ReConfig<'_>> {
        self.unproven.as_ref().map(|unproven| ReConfig { bytes: &unproven.answer })
    }

    /// The peer has agreed to ask for this.
    fn invite(&mut self, invited: Invited) {
        if self.invited.len() == MOST_WISHES {
            self.invited.remove(0);
        }
        self.invited.push(invited);
    }

    /// True if the peer agreed to send this request. That is used up: the next such request needs a new agreement.
    fn take_invitation(&mut self, invited: &Invited) -> bool {
        let found = self.invited.iter().position(|other| other == invited);
        found.map(|at| self.invited.swap_remove(at)).is_some()
    }

    /// True if the peer may have reset its TSNs: then it is not known which TSNs an acknowledgement means.
    #[cold]
    pub(super) fn awaits_new_tsns(&self) -> bool {
        self.asked.is_some() && matches!(self.wishes.front(), Some(Wish::ResetAssociation))
    }
}

impl Association {
    /// Begins the reset of streams: all, or those listed (`rfc6525#section-6.3.2`).
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

    /// Checks that so many more wishes may be made.
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

    /// Called once it is known whether both ends support stream reset. Request numbers start at the initial TSNs.
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

    /// Gives up requests before a shutdown. One goes on: an outstanding request that data is held for. That data cannot be
    /// numbered without the answer.
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

    /// The streams of a wish send again, from 0 if they were reset.
    fn release(&mut self, wish: &Wish, reset: bool) {
        match wish {
            Wish::ResetOutgoing { streams, .. } => self.sender.resume_streams(streams, reset),
            Wish::ResetAssociation => self.sender.resume_streams(&StreamSet::default(), reset),
            Wish::ResetIncoming(_) | Wish::AddOutgoing(_) | Wish::AddIncoming(_) => {}
        }
    }

    /// Tells the user what became of a wish.
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

    /// A reset of the peer's streams of which the user is told now: everything before it has been read.
    pub(super) fn next_reset(&mut self) -> Option<Event> {
        let reset = self.receiver.as_mut()?.take_mark()?;
        self.events.all_read();
        if self.is_readable() {
            self.events.readable();
        }
        Some(reset_by_peer(&reset))
    }

    /// The association has ended, and the user may not ask for events before the rest is read.
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

/// A set of streams in parts that fit a request.
fn parts_of(set: &StreamSet) -> Vec<StreamSet> {
    if set.is_all() {
        return vec![set.clone()];
    }
    set.streams().chunks(MOST_STREAMS).map(|part| StreamSet::of(part.iter().copied())).collect()
}
