//! Requests of the peer and our answers (`rfc6525#section-5.2`).

use super::{Invited, Unproven, Wish};
use crate::assoc::Association;
use crate::assoc::control::Pending;
use crate::assoc::phase::Phase;
use crate::config::AllowReset;
use crate::path::PathId;
use crate::per_stream::StreamSet;
use units::Instant;
use wire::{CommonHeader, ReConfig, ReConfigList, ReConfigParameter, ReConfigResult, StreamNumbers, Tsn};

/// The peer's last requests, and our answers.
#[derive(Debug)]
pub(super) struct Answers {
    /// Number of the next request of the peer.
    expected: u32,
    /// The answers to the last two requests, the latest first: a chunk holds at most two requests.
    last: [Option<Answered>; 2],
}

/// A request that was processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answered {
    request: u32,
    result: ReConfigResult,
    next_tsns: Option<(Tsn, Tsn)>,
    /// True if a request of our own answers this request (`rfc6525#section-5.2.3`).
    by_request: bool,
}

/// The outcome of a request of the peer.
enum Verdict {
    /// The request was processed, with this result.
    Done(ReConfigResult),
    /// A request of our own will answer the request of the peer.
    ByRequest,
    /// The request cannot be processed yet: the peer has to repeat the request.
    Later,
}

impl Answers {
    pub(super) fn new(peer_initial_tsn: Tsn) -> Self {
        Answers { expected: peer_initial_tsn.0, last: [None; 2] }
    }

    /// Number of the last processed request.
    pub(super) fn last_processed(&self) -> u32 {
        self.expected.wrapping_sub(1)
    }

    fn find(&mut self, request: u32) -> Option<&mut Answered> {
        self.last.iter_mut().flatten().find(|answered| answered.request == request)
    }

    /// Records the result of the expected request.
    fn add(&mut self, result: ReConfigResult, by_request: bool) {
        let answered = Answered { request: self.expected, result, next_tsns: None, by_request };
        self.last = [Some(answered), self.last[0]];
        self.expected = self.expected.wrapping_add(1);
    }

    /// Records that a request of the peer, which was in progress, was performed.
    pub(super) fn perform(&mut self, request: u32, next_tsns: Option<(Tsn, Tsn)>) {
        if let Some(answered) = self.find(request) {
            (answered.result, answered.next_tsns) = (ReConfigResult::Performed, next_tsns);
        }
    }

    /// Records that a request of the peer, which was in progress, was denied.
    pub(super) fn deny(&mut self, request: u32) {
        if let Some(answered) = self.find(request) {
            answered.result = ReConfigResult::Denied;
        }
    }

    /// The response parameter for a request.
    fn parameter(&mut self, response: u32) -> Option<ReConfigParameter<'static>> {
        let Answered { result, next_tsns, .. } = *self.find(response)?;
        Some(ReConfigParameter::Response { response, result, next_tsns })
    }
}

impl Association {
    /// Processes a RE-CONFIG chunk; a malformed one is ignored.
    pub(in crate::assoc) fn on_re_config(&mut self, now: Instant, answer: PathId, chunk: &ReConfig<'_>) {
        if !self.phase.is_open() {
            return;
        }
        let Ok((first, second)) = chunk.parameters() else { return };
        let mut answers = ReConfigList::default();
        let mut invited = None;
        for parameter in std::iter::once(first).chain(second) {
            match parameter {
                ReConfigParameter::Response { response, result, next_tsns } => {
                    self.on_response(now, response, result, next_tsns);
                }
                request => invited = self.on_request(answer, &request, &mut answers).or(invited),
            }
            if self.phase.is_closed() {
                return;
            }
        }
        let own = self.next_request(now);
        if let Some(response) = invited
            && !self.asks_in_answer_to(response)
        {
            push_response(&mut answers, response, ReConfigResult::InProgress);
        }
        self.push_answers(answer, answers.into_bytes(), own);
    }

    /// Queues the answers and a request of our own, in one chunk if possible (`rfc6525#section-5.2.1`).
    fn push_answers(&mut self, answer: PathId, mut answers: Vec<u8>, own: Option<(PathId, Vec<u8>)>) {
        let Some((path, own)) = own else {
            if !answers.is_empty() {
                self.control.push(answer, Pending::ReConfig(answers));
            }
            return;
        };
        let together = [answers.as_slice(), own.as_slice()].concat();
        let auth = self.auth_len(&[ReConfig::TYPE], &None);
        let fits = CommonHeader::LEN + auth + 4 + together.len() <= self.paths[path].packet_limit();
        if fits && (ReConfig { bytes: &together }).parameters().is_ok() {
            return self.control.push(path, Pending::ReConfig(together));
        }
        if !answers.is_empty() {
            self.control.push(answer, Pending::ReConfig(std::mem::take(&mut answers)));
        }
        self.control.push(path, Pending::ReConfig(own));
    }

    /// Processes one request and appends its answer. If a request of ours will answer the peer's
    /// request instead, returns the number of the peer's request.
    fn on_request(
        &mut self,
        answer: PathId,
        parameter: &ReConfigParameter<'_>,
        answers: &mut ReConfigList,
    ) -> Option<u32> {
        let request = match *parameter {
            ReConfigParameter::OutgoingReset { request, .. }
            | ReConfigParameter::IncomingReset { request, .. }
            | ReConfigParameter::AssociationReset { request }
            | ReConfigParameter::AddOutgoing { request, .. }
            | ReConfigParameter::AddIncoming { request, .. } => request,
            ReConfigParameter::Response { .. } => return None,
        };
        let config = self.re_config.as_deref_mut()?;
        if let Some(answered) = config.answers.find(request) {
            if !(answered.by_request && self.repeat_own(request, answer)) {
                self.push_answer(request, answers);
            }
            return None;
        }
        if request != config.answers.expected {
            push_response(answers, request, ReConfigResult::BadSequenceNumber);
            return None;
        }
        // The peer sends a new request only after it has the answers to the earlier ones.
        if config.unproven.take().is_some() {
            self.reserve_for_answer();
        }
        let verdict = match parameter {
            ReConfigParameter::OutgoingReset { response, last_tsn, streams, .. } => {
                self.on_outgoing_reset(request, *response, *last_tsn, *streams)
            }
            ReConfigParameter::IncomingReset { streams, .. } => self.on_incoming_reset(request, *streams),
            ReConfigParameter::AssociationReset { .. } => self.on_association_reset(request),
            ReConfigParameter::AddOutgoing { streams, .. } => self.on_add_outgoing(*streams),
            ReConfigParameter::AddIncoming { streams, .. } => self.on_add_incoming(*streams),
            ReConfigParameter::Response { .. } => return None,
        };
        let config = self.re_config.as_deref_mut()?;
        match verdict {
            Verdict::Done(result) => {
                config.answers.add(result, false);
                self.finish_deferred();
                self.finish_peer_reset();
                if !self.answers_later(request) {
                    self.push_answer(request, answers);
                }
                None
            }
            Verdict::ByRequest => {
                config.answers.add(ReConfigResult::InProgress, true);
                Some(request)
            }
            Verdict::Later => {
                push_response(answers, request, ReConfigResult::InProgress);
                None
            }
        }
    }

    /// Appends the answer to a processed request.
    fn push_answer(&mut self, request: u32, answers: &mut ReConfigList) {
        if let Some(parameter) = self.re_config.as_mut().and_then(|config| config.answers.parameter(request))
        {
            answers.push(&parameter);
        }
    }

    /// True if our outstanding request answers this request of the peer.
    fn asks_in_answer_to(&self, request: u32) -> bool {
        let Some(config) = &self.re_config else { return false };
        let first = config.wishes.front();
        config.asked.is_some()
            && matches!(first, Some(Wish::ResetOutgoing { answers: Some(answers), .. }) if *answers == request)
    }

    /// Sends our own request again if it answers this request of the peer. Otherwise returns false.
    fn repeat_own(&mut self, request: u32, answer: PathId) -> bool {
        let repeats = self.asks_in_answer_to(request);
        if repeats && let Some(asked) = self.re_config.as_ref().and_then(|config| config.asked.as_ref()) {
            self.control.push(answer, Pending::ReConfig(asked.bytes.clone()));
        }
        repeats
    }

    fn allows(&self, level: AllowReset) -> bool {
        self.config().allow_reset.rank() >= level.rank()
    }

    /// Processes the peer's Outgoing SSN Reset Request (`rfc6525#section-5.2.2`).
    fn on_outgoing_reset(
        &mut self,
        request: u32,
        response: u32,
        last_tsn: Tsn,
        streams: StreamNumbers<'_>,
    ) -> Verdict {
        let set = StreamSet::of(streams.iter());
        let allowed = self.allows(AllowReset::Streams);
        let (Some(config), Some(receiver)) = (&mut self.re_config, &mut self.receiver) else {
            return Verdict::Done(ReConfigResult::Denied);
        };
        if receiver.has_deferred() {
            return Verdict::Done(ReConfigResult::RequestInProgress);
        }
        if receiver.has_many_marks() {
            return Verdict::Later;
        }
        let asked = config.asked.as_ref().is_some_and(|asked| asked.request == response);
        let ours =
            asked && matches!(config.wishes.front(), Some(Wish::ResetIncoming(wished)) if *wished == set);
        let invited = ours || config.take_invitation(&Invited::Reset(set.clone()));
        let result = if !invited && !allowed {
            ReConfigResult::Denied
        } else if set.highest().is_some_and(|stream| stream.0 >= receiver.inbound_streams()) {
            ReConfigResult::WrongStream
        } else {
            receiver.reset_after(set, last_tsn);
            config.deferred = Some(request);
            ReConfigResult::InProgress
        };
        if ours {
            self.end_request();
        }
        Verdict::Done(result)
    }

    /// Performs a deferred reset of the peer's streams once all earlier TSNs have arrived. Returns the number
    /// of the request.
    pub(super) fn finish_deferred(&mut self) -> Option<u32> {
        let (config, receiver) = (self.re_config.as_deref_mut()?, self.receiver.as_mut()?);
        let request = config.deferred?;
        match receiver.finish_deferred() {
            Ok(false) => None,
            Ok(true) => {
                config.deferred = None;
                config.resets += 1;
                config.answers.perform(request, None);
                Some(request)
            }
            Err(what) => {
                self.violation(what);
                None
            }
        }
    }

    /// Processes the peer's request to reset streams on which we send (`rfc6525#section-5.2.3`).
    fn on_incoming_reset(&mut self, request: u32, streams: StreamNumbers<'_>) -> Verdict {
        let set = StreamSet::of(streams.iter());
        let auth = self.auth_len(&[ReConfig::TYPE], &None);
        let room = self.paths.iter().map(|path| path.packet_limit() - auth).min().unwrap_or(0);
        let fits = CommonHeader::LEN + 4 + 16 + 2 * set.streams().len() <= room;
        if !self.may_serve(AllowReset::Streams) || !fits {
            return Verdict::Done(ReConfigResult::Denied);
        }
        if set.highest().is_some_and(|stream| stream.0 >= self.sender.streams()) {
            return Verdict::Done(ReConfigResult::WrongStream);
        }
        if self.is_asking_in_turn() || self.re_config.as_ref().is_none_or(|config| config.is_resetting(&set))
        {
            return Verdict::Done(ReConfigResult::RequestInProgress);
        }
        if self.is_busy() || self.sender.unfinished_among(&set).is_some() {
            return Verdict::Later;
        }
        self.sender.hold_streams(&set);
        self.wish_first(Wish::ResetOutgoing { streams: set, answers: Some(request), sent: 0, behind: None });
        Verdict::ByRequest
    }

    /// Processes the peer's reset of all streams and TSNs (`rfc6525#section-5.2.4`).
    fn on_association_reset(&mut self, request: u32) -> Verdict {
        if !self.may_serve(AllowReset::All) {
            return Verdict::Done(ReConfigResult::Denied);
        }
        let all = StreamSet::default();
        let (Some(config), Some(receiver)) = (&mut self.re_config, &self.receiver) else {
            return Verdict::Done(ReConfigResult::Denied);
        };
        if config.asked.is_some() || config.peer_reset.is_some() || receiver.has_deferred() {
            return Verdict::Done(ReConfigResult::RequestInProgress);
        }
        if receiver.has_many_marks() || self.sender.unfinished_among(&all).is_some() {
            return Verdict::Later;
        }
        config.peer_reset = Some(request);
        self.sender.hold_streams(&all);
        Verdict::Done(ReConfigResult::InProgress)
    }

    /// Performs the reset of the association that the peer requested, once no data of ours is outstanding.
    /// Returns the number of the request.
    pub(super) fn finish_peer_reset(&mut self) -> Option<u32> {
        let (config, receiver) = (self.re_config.as_deref_mut()?, self.receiver.as_mut()?);
        let request = config.peer_reset.filter(|_| self.sender.is_at_rest())?;
        // The peer's new TSNs begin 2^31 higher, so that no old TSN in the network counts as new.
        let theirs = receiver.cumulative_tsn().next().add(1 << 31);
        let ours = self.sender.next_tsn();
        receiver.begin_again(theirs);
        self.sender.begin_again(None);
        self.sender.resume_streams(&StreamSet::default(), true);
        config.peer_reset = None;
        config.resets += 1;
        config.answers.perform(request, Some((ours, theirs)));
        let mut list = ReConfigList::default();
        if let Some(parameter) = config.answers.parameter(request) {
            list.push(&parameter);
        }
        config.unproven = Some(Unproven { answer: list.into_bytes(), behind: self.sender.next_index() + 1 });
        self.reserve_for_answer();
        Some(request)
    }

    /// True if the answer to a reset of the association is sent only after the last chunk of its packet. A
    /// SACK of our data may follow in this packet, and then the answer is not "in progress". Some peers
    /// (usrsctp 0.9.5) take "in progress" for the end of the request, and repeat the request forever.
    fn answers_later(&mut self, request: u32) -> bool {
        let Some(config) = &mut self.re_config else { return false };
        config.answer_due = config.peer_reset.filter(|&waits| waits == request);
        config.answer_due.is_some()
    }

    /// Processes the peer's addition of streams on which it sends (`rfc6525#section-5.2.5`).
    fn on_add_outgoing(&mut self, more: u16) -> Verdict {
        let allowed = self.allows(AllowReset::Add);
        let (Some(config), Some(receiver)) = (&mut self.re_config, &mut self.receiver) else {
            return Verdict::Done(ReConfigResult::Denied);
        };
        let wished = matches!(config.wishes.front(), Some(Wish::AddIncoming(wished)) if *wished == more);
        let ours = config.asked.as_mut().filter(|asked| wished && !asked.served);
        let ours = ours.map(|asked| asked.served = true).is_some();
        let invited = ours || config.take_invitation(&Invited::Add(more));
        let sum = receiver.inbound_streams().checked_add(more).filter(|_| invited || allowed);
        let result = match sum {
            None => ReConfigResult::Denied,
            Some(_) if more == 0 => ReConfigResult::NothingToDo,
            Some(sum) => {
                receiver.set_inbound_streams(sum);
                self.events.streams_added(more);
                ReConfigResult::Performed
            }
        };
        Verdict::Done(result)
    }

    /// Processes the peer's request that we add streams on which we send (`rfc6525#section-5.2.6`).
    fn on_add_incoming(&mut self, more: u16) -> Verdict {
        if !self.may_serve(AllowReset::Add) || self.sender.streams().checked_add(more).is_none() {
            return Verdict::Done(ReConfigResult::Denied);
        }
        if more == 0 {
            return Verdict::Done(ReConfigResult::NothingToDo);
        }
        if self.is_asking_in_turn() {
            return Verdict::Done(ReConfigResult::RequestInProgress);
        }
        if self.is_busy() {
            return Verdict::Later;
        }
        self.wish_first(Wish::AddOutgoing(more));
        Verdict::Done(ReConfigResult::Performed)
    }

    /// True if the option `allow_reset` permits requests of this level, and the association is
    /// established, so that we may answer with a request of our own.
    fn may_serve(&self, level: AllowReset) -> bool {
        matches!(self.phase, Phase::Established) && self.allows(level)
    }

    /// True if our own request can proceed only after one of the peer, which then must not wait for ours.
    fn is_asking_in_turn(&self) -> bool {
        let Some(config) = &self.re_config else { return false };
        let first = config.wishes.front();
        let in_turn = |wish: &Wish| {
            matches!(wish, Wish::ResetIncoming(_) | Wish::AddIncoming(_) | Wish::ResetAssociation)
        };
        config.peer_reset.is_some() || config.asked.is_some() && first.is_some_and(in_turn)
    }

    /// True if no other request of the peer is accepted, because too many reset events or wishes
    /// (requests of ours that are to be sent) wait.
    fn is_busy(&self) -> bool {
        self.events.has_many_resets()
            || self.re_config.as_ref().is_none_or(|config| config.wishes.len() >= super::MOST_WISHES)
    }

    /// Queues a request of ours for which the peer waits: before all others, but after an outstanding one.
    fn wish_first(&mut self, wish: Wish) {
        if let Some(config) = &mut self.re_config {
            config.wishes.insert(usize::from(config.asked.is_some()), wish);
            config.not_before = None;
        }
    }

    /// Sends the answer to a request of the peer at once, without waiting until the peer repeats the request.
    pub(super) fn answer_now(&mut self, request: u32) {
        let mut list = ReConfigList::default();
        self.push_answer(request, &mut list);
        self.control.push(self.paths.default_path(), Pending::ReConfig(list.into_bytes()));
    }

    /// Reserves room in packets with data for a RE-CONFIG answer in front of the data.
    pub(super) fn reserve_for_answer(&mut self) {
        let extra = self.ahead_of_data();
        self.sender.set_extra(extra, &self.paths);
    }
}

/// Appends a result that is not stored for repetitions of the request.
fn push_response(answers: &mut ReConfigList, response: u32, result: ReConfigResult) {
    answers.push(&ReConfigParameter::Response { response, result, next_tsns: None });
}
