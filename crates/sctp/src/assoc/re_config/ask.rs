//! Our requests to the peer (`rfc6525#section-5.1`), and its responses (`rfc6525#section-5.2.7`).

use super::{Asked, Invited, Wish};
use crate::assoc::Association;
use crate::assoc::control::Pending;
use crate::assoc::phase::{Phase, Retry};
use crate::event::{CloseReason, ResetResult};
use crate::path::PathId;
use crate::per_stream::StreamSet;
use units::Instant;
use wire::{ReConfigList, ReConfigParameter, ReConfigResult, StreamNumbers, Tsn};

/// Reason in the ABORT to a peer that does not answer a request.
const NO_ANSWER: &[u8] = b"a request to reset or add streams is not answered";

/// Largest number of retransmissions of a request for streams that the peer has added already.
const SERVED_RETRIES: u32 = 3;

impl Association {
    /// Performs the resets that the peer requested and that can take place now. Then sends our next request,
    /// if one may be sent.
    pub(in crate::assoc) fn advance_re_config(&mut self, now: Instant) {
        if let Some(request) = self.finish_deferred() {
            self.answer_now(request);
        }
        let performed = self.finish_peer_reset();
        let due = self.re_config.as_mut().and_then(|config| config.answer_due.take());
        if let Some(request) = performed.or(due) {
            self.answer_now(request);
        }
        self.prove_answer();
        if let Some((path, request)) = self.next_request(now) {
            self.control.push(path, Pending::ReConfig(request));
        }
    }

    /// Stops repeating the answer to a reset of the association once data sent after the answer is
    /// acknowledged.
    fn prove_answer(&mut self) {
        let Some(config) = self.re_config.as_deref_mut() else { return };
        let proven = |unproven: &mut super::Unproven| self.sender.is_acked_below(unproven.behind);
        if config.unproven.take_if(proven).is_some() {
            self.reserve_for_answer();
        }
    }

    /// The first request that waits to be sent (the first wish), and its path, if it may be sent now.
    pub(super) fn next_request(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let config = self.re_config.as_deref_mut()?;
        config.not_before = config.not_before.filter(|&at| now < at);
        let open = matches!(self.phase, Phase::Established);
        if !open || config.asked.is_some() || config.not_before.is_some() || config.peer_reset.is_some() {
            return None;
        }
        let processed = config.answers.last_processed();
        let request = config.next_request;
        let numbers = |streams: &StreamSet| -> Vec<[u8; 2]> {
            streams.streams().iter().map(|stream| stream.0.to_be_bytes()).collect()
        };
        let mut list = ReConfigList::default();
        match config.wishes.front_mut()? {
            Wish::ResetOutgoing { streams, answers, sent, behind } => {
                if !self.sender.has_sent_all(streams, sent) {
                    return None;
                }
                let behind = *behind.get_or_insert(self.sender.next_index());
                if !self.sender.is_acked_below(behind) {
                    return None;
                }
                list.push(&ReConfigParameter::OutgoingReset {
                    request,
                    response: answers.unwrap_or(processed),
                    last_tsn: self.sender.next_tsn().previous(),
                    streams: StreamNumbers::new(&numbers(streams)),
                });
            }
            Wish::ResetIncoming(streams) => {
                let numbers = numbers(streams);
                list.push(&ReConfigParameter::IncomingReset {
                    request,
                    streams: StreamNumbers::new(&numbers),
                });
            }
            Wish::ResetAssociation => {
                let receiver = self.receiver.as_mut().filter(|receiver| receiver.is_complete())?;
                if !self.sender.is_at_rest() {
                    return None;
                }
                // A SACK acknowledges the peer's data before its TSNs get another meaning.
                if receiver.sack_pending() {
                    receiver.sack_now();
                }
                list.push(&ReConfigParameter::AssociationReset { request });
            }
            Wish::AddOutgoing(streams) => {
                list.push(&ReConfigParameter::AddOutgoing { request, streams: *streams });
            }
            Wish::AddIncoming(streams) => {
                list.push(&ReConfigParameter::AddIncoming { request, streams: *streams });
            }
        }
        let path = self.paths.default_path();
        let retry = Retry::start(now, path, &self.paths);
        config.next_request = request.wrapping_add(1);
        config.requests += 1;
        let bytes = list.into_bytes();
        config.asked =
            Some(Asked { request, bytes: bytes.clone(), retry, in_progress: false, served: false });
        Some((path, bytes))
    }

    /// On expiry of T-reconf, repeats the request, on another path if possible (`rfc6525#section-5.1.1`).
    pub(in crate::assoc) fn on_t_reconf(&mut self, now: Instant) {
        let limit = self.config().association_max_retrans;
        let Some(config) = self.re_config.as_deref_mut() else { return };
        let Some(asked) = config.asked.as_mut().filter(|asked| asked.retry.deadline <= now) else { return };
        config.requests += 1;
        let request = Pending::ReConfig(asked.bytes.clone());
        if std::mem::take(&mut asked.in_progress) {
            asked.retry = Retry::start(now, asked.retry.path, &self.paths);
            return self.control.push(asked.retry.path, request);
        }
        if asked.served && asked.retry.count >= SERVED_RETRIES {
            let given_up = config.asked.take().zip(config.wishes.pop_front());
            (config.given_up, config.refused) = (given_up, 0);
            return;
        }
        if asked.retry.count >= limit {
            return self.give_up(NO_ANSWER, CloseReason::TooManyErrors);
        }
        let failed = asked.retry.path;
        asked.retry.expired(now, &mut self.paths, self.sender.config());
        let path = asked.retry.path;
        self.control.push(path, request);
        self.path_error(now, failed, true);
    }

    /// Processes the response to a request (`rfc6525#section-5.2.7`).
    pub(super) fn on_response(
        &mut self,
        now: Instant,
        response: u32,
        result: ReConfigResult,
        next_tsns: Option<(Tsn, Tsn)>,
    ) {
        let limit = self.config().association_max_retrans;
        let Some(config) = self.re_config.as_deref_mut() else { return };
        let Some(asked) = config.asked.as_mut().filter(|asked| asked.request == response) else { return };
        self.errors = 0;
        let given_up = config.given_up.take();
        if result == ReConfigResult::BadSequenceNumber
            && let Some((given_up, wish)) = given_up
        {
            return self.ask_again(now, given_up, wish);
        }
        let outcome = match result {
            ReConfigResult::InProgress => {
                asked.in_progress = true;
                asked.retry = Retry::start(now, asked.retry.path, &self.paths);
                return;
            }
            ReConfigResult::RequestInProgress if config.refused < limit => {
                // Requests of both ends may have crossed: a random delay lets one of them go first.
                let rto = self.paths[asked.retry.path].rto.current();
                config.not_before = Some(now + rto.mul_f64(0.5 + self.random.unit()));
                config.refused += 1;
                config.asked = None;
                // The request of the peer may wait for another request of ours, so the next request in the
                // queue is sent first.
                config.wishes.rotate_left(1);
                return;
            }
            ReConfigResult::Performed | ReConfigResult::NothingToDo => ResetResult::Performed,
            ReConfigResult::Denied => ResetResult::Denied,
            ReConfigResult::WrongStream => ResetResult::WrongStream,
            ReConfigResult::RequestInProgress
            | ReConfigResult::BadSequenceNumber
            | ReConfigResult::Unknown(_) => ResetResult::Failed,
        };
        let nothing = result == ReConfigResult::NothingToDo;
        let served = asked.served;
        let Some(wish) = self.end_request() else { return };
        if outcome == ResetResult::Performed {
            self.performed(wish, nothing, served, next_tsns);
        } else if !served {
            self.release(&wish, false);
            self.answer_peer(&wish, outcome);
            self.tell(wish, outcome);
        }
    }

    /// Repeats a given-up request, which the peer never received. The outstanding request gets a new number.
    fn ask_again(&mut self, now: Instant, given_up: Asked, wish: Wish) {
        let Some(config) = self.re_config.as_deref_mut() else { return };
        let path = self.paths.default_path();
        let retry = Retry::start(now, path, &self.paths);
        config.next_request = given_up.request.wrapping_add(1);
        config.requests += 1;
        config.wishes.push_front(wish);
        self.control.push(path, Pending::ReConfig(given_up.bytes.clone()));
        config.asked = Some(Asked { retry, in_progress: false, served: false, ..given_up });
    }

    /// Ends the outstanding request, and returns what it requested (the first wish).
    pub(super) fn end_request(&mut self) -> Option<Wish> {
        let config = self.re_config.as_deref_mut()?;
        config.asked = None;
        config.refused = 0;
        config.wishes.pop_front()
    }

    /// Applies the effects of our request `wish`, which the peer performed.
    fn performed(&mut self, wish: Wish, nothing: bool, served: bool, next_tsns: Option<(Tsn, Tsn)>) {
        let Some(config) = self.re_config.as_deref_mut() else { return };
        match &wish {
            Wish::ResetOutgoing { .. } => config.resets += 1,
            // The peer now sends the request that we invited. The event follows when that request is done.
            Wish::ResetIncoming(streams) if !nothing => {
                return config.invite(Invited::Reset(streams.clone()));
            }
            Wish::AddIncoming(_) if served => return,
            Wish::AddIncoming(streams) if !nothing => return config.invite(Invited::Add(*streams)),
            Wish::ResetIncoming(_) | Wish::AddIncoming(_) => {}
            Wish::AddOutgoing(more) => {
                let streams = self.sender.streams().saturating_add(*more);
                self.sender.set_streams(streams);
            }
            Wish::ResetAssociation => {
                let (Some((theirs, ours)), Some(receiver)) = (next_tsns, &mut self.receiver) else {
                    return self.violation("a reset of TSNs was answered without TSNs");
                };
                config.resets += 1;
                receiver.begin_again(theirs);
                self.sender.begin_again(Some(ours));
                return self.release(&wish, true); // the event follows when the user has read up to the reset
            }
        }
        self.release(&wish, true);
        self.answer_peer(&wish, ResetResult::Performed);
        self.tell(wish, ResetResult::Performed);
    }

    /// If a request of the peer caused our request `wish`, records the final answer to the peer's request.
    fn answer_peer(&mut self, wish: &Wish, result: ResetResult) {
        if let (Wish::ResetOutgoing { answers: Some(request), .. }, Some(config)) =
            (wish, &mut self.re_config)
        {
            match result {
                ResetResult::Performed => config.answers.perform(*request, None),
                _ => config.answers.deny(*request),
            }
        }
    }
}
