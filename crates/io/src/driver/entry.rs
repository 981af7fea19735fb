//! The driver's record of one connection.

use crate::shared::{Handle, Mailbox, Parcel, Receipt, Source, Stop};
use crate::types::{ConnectionError, PathError};
use futures_channel::oneshot;
use sctp::{AllowReset, Config, Endpoint, Event, Message, MessageId, SendError, StreamScheduler};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use units::{Instant, Span};

/// A connection that is closed in the background is aborted after this time without progress, in units
/// of RTO.Max. The timer T5-shutdown-guard (`rfc9260#section-9.2`) is as long, but runs only once
/// everything is acknowledged.
const STALL_RTOS: u64 = 5;

/// Largest number of stream resets by the peer whose reports wait until earlier data is read. With more
/// resets, the oldest one is reported although earlier data is unread.
const MOST_HELD: usize = 64;

/// One connection.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) mailbox: Arc<Mailbox>,
    /// Handle of a connection that the peer began, until its handshake is complete.
    pub(super) arrival: Option<Handle>,
    /// True if the connection is in the list `Connections::sending`.
    pub(super) sends: bool,
    /// True once the last handle was dropped: messages that arrive are discarded.
    pub(super) released: bool,
    /// Why the connection ends, if the driver ends it for a reason that the association does not know.
    pub(super) end: Option<ConnectionError>,
    /// Messages that the application keeps, taken when the outbox is empty.
    source: Option<Source>,
    /// True if the association is to be shut down once the outbox is empty.
    shutting_down: bool,
    /// User bytes passed to the stack.
    given: u64,
    /// User bytes that the stack abandoned.
    abandoned: u64,
    /// True if the last piece passed to the stack did not end its message.
    incomplete: bool,
    /// True if the stack sends messages in the order of queueing: the stream scheduler is `Fcfs`, no message
    /// was urgent, no reset was queued, and the peer may not reset streams.
    in_order: bool,
    /// Unanswered flushes, in the order of `Flush::bytes`.
    flushes: VecDeque<Flush>,
    /// Receipts of the tracked messages that were passed to the stack and are not acknowledged.
    receipts: BTreeMap<MessageId, Receipt>,
    /// Receipts of lost messages. They are dropped only once it is known whether the connection has ended,
    /// because the end is then the reason of the loss.
    failed: Vec<Receipt>,
    heartbeats: Vec<Heartbeat>,
    /// Resets of streams by the peer that are not reported yet.
    held: VecDeque<Event>,
    /// Longest time without progress while the connection is closed in the background.
    patience: Span,
    /// Acknowledged bytes at the last progress, and its time; set while the connection is closed in the
    /// background.
    progress: Option<(u64, Instant)>,
}

/// The result of passing messages to the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// True if at least one message was passed on.
    pub(super) moved: bool,
    /// True if a message waits because the stack has no room.
    pub(super) full: bool,
}

#[derive(Debug)]
struct Flush {
    /// User bytes that must be acknowledged before the flush is complete.
    bytes: u64,
    /// User bytes that had been abandoned when the flush was requested.
    abandoned: u64,
    answer: oneshot::Sender<bool>,
}

#[derive(Debug)]
struct Heartbeat {
    address: IpAddr,
    answer: oneshot::Sender<Result<Duration, PathError>>,
}

impl Entry {
    pub(super) fn new(mailbox: Arc<Mailbox>, config: &Config) -> Self {
        Entry {
            mailbox,
            arrival: None,
            sends: false,
            released: false,
            end: None,
            source: None,
            shutting_down: false,
            given: 0,
            abandoned: 0,
            incomplete: false,
            in_order: config.stream_scheduler == StreamScheduler::Fcfs
                && config.allow_reset == AllowReset::None,
            flushes: VecDeque::new(),
            receipts: BTreeMap::new(),
            failed: Vec::new(),
            heartbeats: Vec::new(),
            held: VecDeque::new(),
            patience: config.rto_max * STALL_RTOS,
            progress: None,
        }
    }

    /// Takes messages from `source` from now on.
    pub(super) fn set_source(&mut self, source: Source) {
        self.source = Some(source).filter(|_| !self.shutting_down);
    }

    /// Moves messages from the outbox, and then from the source, to the stack while the stack has room. Makes
    /// the calls that were queued between the messages, such as resets of streams.
    pub(super) fn send(&mut self, now: Instant, endpoint: &mut Endpoint) -> Sent {
        let (before, mut lost) = (self.given, false);
        let mailbox = self.mailbox.clone();
        let full = loop {
            match mailbox.empty_outbox(|parcel| self.give(now, endpoint, parcel, &mut lost)) {
                Stop::Call(call) => {
                    self.in_order = false;
                    call.make(endpoint, now);
                }
                Stop::Full => break true,
                Stop::Empty => break self.source.is_some() && self.empty_source(now, endpoint, &mut lost),
            }
        };
        if lost {
            self.lose();
        }
        if self.shutting_down && !full && self.mailbox.outbox_is_empty() {
            endpoint.shutdown(now, self.mailbox.id);
        }
        Sent { moved: self.given != before, full }
    }

    /// Passes messages of the source to the stack. Returns true if the stack has no room for the next one,
    /// which then waits in the outbox.
    fn empty_source(&mut self, now: Instant, endpoint: &mut Endpoint, lost: &mut bool) -> bool {
        // The outbox may have new messages, or may wait for the next piece of one.
        while self.mailbox.outbox_is_empty()
            && let Some(message) = self.source.as_mut().and_then(Source::next)
        {
            let mut parcel = Parcel::from(message);
            if !self.give(now, endpoint, &mut parcel, lost) {
                self.mailbox.keep_first(parcel);
                return true;
            }
        }
        false
    }

    /// Passes a message to the stack. Returns false if the stack has no room for it. Sets `lost` if the
    /// message is lost.
    fn give(&mut self, now: Instant, endpoint: &mut Endpoint, parcel: &mut Parcel, lost: &mut bool) -> bool {
        let reliability = parcel.reliability();
        let Parcel { message, receipt, .. } = parcel;
        let length = message.payload.len() as u64;
        match reliability {
            // The lifetime of the message ended in the outbox, so the message is lost. If the stack already
            // has the first pieces of the message, it also gets the rest, and then abandons the whole
            // message.
            None if message.end_of_record && !self.incomplete => {
                *receipt = None;
                *lost = true;
            }
            reliability => {
                let reliability = reliability.unwrap_or(message.reliability);
                // The bytes are shared, not copied.
                match endpoint.send(now, self.mailbox.id, Message { reliability, ..message.clone() }) {
                    Ok(number) => {
                        self.incomplete = !message.end_of_record;
                        self.receipts.extend(number.zip(receipt.take()));
                    }
                    Err(SendError::WouldBlock) => return false,
                    Err(_) => *lost = true,
                }
            }
        }
        self.given += length;
        self.in_order &= !message.urgent;
        true
    }

    /// Shuts the association down once its outbox is empty.
    pub(super) fn shutdown(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.mailbox.shut();
        self.source = None;
        self.shutting_down = true;
        if self.mailbox.outbox_is_empty() {
            endpoint.shutdown(now, self.mailbox.id);
        }
    }

    /// As [`Self::shutdown`], but watches the progress of the peer to detect a stalled connection.
    pub(super) fn shutdown_in_background(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.shutdown(now, endpoint);
        self.progress.get_or_insert((self.acked(endpoint), now));
    }

    /// True if the connection is closed in the background and the peer acknowledged no data for too long.
    pub(super) fn is_stalled(&mut self, now: Instant, endpoint: &Endpoint) -> bool {
        let acked = self.acked(endpoint);
        match &mut self.progress {
            Some((last, at)) if *last == acked => now.since(*at) > self.patience,
            Some(progress) => {
                *progress = (acked, now);
                false
            }
            None => false,
        }
    }

    /// User bytes that the peer can no longer renege on: those passed to the
    /// stack, without those that the stack's send buffer still holds. If
    /// `in_order`, bytes are acknowledged in the order in which they were queued.
    fn acked(&self, endpoint: &Endpoint) -> u64 {
        let stats = endpoint.stats(self.mailbox.id).unwrap_or_default();
        self.given.saturating_sub(stats.buffered.get())
    }

    /// Passes readable data to the mailbox, unless the report of a reset waits until earlier data is read.
    pub(super) fn deliver(&mut self, endpoint: &mut Endpoint) {
        self.announce_held(0);
        if !self.held.is_empty() {
            return;
        }
        let mut next = || endpoint.receive(self.mailbox.id, usize::MAX);
        if self.released {
            while next().is_some() {}
        } else {
            self.mailbox.fill_inbox(false, next);
        }
    }

    /// Holds back the report of a stream reset by the peer until earlier data has been read. Later data is
    /// read after the report.
    pub(super) fn hold(&mut self, reset: Event) {
        self.held.push_back(reset);
        self.announce_held(self.held.len().saturating_sub(MOST_HELD));
    }

    /// Reports each reset whose earlier data has been read, and in any case the first `regardless` resets.
    fn announce_held(&mut self, regardless: usize) {
        let mut told = 0;
        while let Some(Event::StreamsReset { streams, .. }) = self.held.front()
            && (told < regardless || self.released || !self.mailbox.awaits_reading(streams))
        {
            self.held.pop_front().into_iter().for_each(|reset| self.mailbox.announce(reset));
            told += 1;
        }
    }

    /// Sends `answer` once all messages queued so far are acknowledged.
    pub(super) fn flush(&mut self, answer: oneshot::Sender<bool>) {
        if self.mailbox.take_lost() {
            let _ = answer.send(false);
            return;
        }
        // Flushes of callers that stopped waiting are removed.
        self.flushes.retain(|flush| !flush.answer.is_canceled());
        let bytes = self.given + self.mailbox.outbox_bytes() as u64;
        self.flushes.push_back(Flush { bytes, abandoned: self.abandoned, answer });
    }

    /// Answers the complete flushes, and drops the receipts of lost messages. Returns
    /// false if no flush is left.
    pub(super) fn answer_flushes(&mut self, endpoint: &Endpoint) -> bool {
        let (acked, given, abandoned) = (self.acked(endpoint), self.given, self.abandoned);
        let complete = self.flushes.iter().take_while(|flush| {
            // Bytes abandoned after the flush was requested may belong to messages queued after it.
            let first = flush.bytes + (abandoned - flush.abandoned) <= acked;
            (first && self.in_order) || (acked == given && flush.bytes <= given)
        });
        let complete = complete.count();
        for flush in self.flushes.drain(..complete) {
            let _ = flush.answer.send(true);
        }
        self.failed.clear();
        !self.flushes.is_empty()
    }

    /// Records the loss of queued messages: waiting flushes report it, otherwise the next flush does.
    fn lose(&mut self) {
        if self.flushes.is_empty() {
            self.mailbox.set_lost();
        }
        for flush in self.flushes.drain(..) {
            let _ = flush.answer.send(false);
        }
    }

    /// Handles a restart of the peer, in which data in flight is lost. Returns false if only a part of a
    /// message is lost: the peer would mistake the rest for a whole message.
    pub(super) fn restart(&mut self) -> bool {
        self.lose();
        !self.incomplete
    }

    /// Refuses further messages, and returns the messages in the outbox, which are lost.
    pub(super) fn refuse_messages(&mut self) -> VecDeque<Parcel> {
        self.source = None;
        let lost = self.mailbox.close_outbox();
        if !lost.is_empty() {
            self.lose();
        }
        lost
    }

    /// Sends the receipts of the tracked messages from `first` to `last`, which the peer has received.
    pub(super) fn confirm(&mut self, first: MessageId, last: MessageId) {
        let mut delivered = self.receipts.split_off(&first);
        self.receipts.append(&mut delivered.split_off(&MessageId(last.0 + 1)));
        for receipt in delivered.into_values() {
            let _ = receipt.send(());
        }
    }

    /// Counts `length` bytes of a message that the stack abandoned.
    pub(super) fn abandon(&mut self, length: usize) {
        self.abandoned += length as u64;
    }

    /// Records the loss of a tracked message.
    pub(super) fn fail(&mut self, message: MessageId) {
        self.failed.extend(self.receipts.remove(&message));
    }

    /// Sends a heartbeat. Sends `answer` when the peer acknowledges the heartbeat.
    pub(super) fn heartbeat(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        address: IpAddr,
        answer: oneshot::Sender<Result<Duration, PathError>>,
    ) {
        self.heartbeats.retain(|heartbeat| !heartbeat.answer.is_canceled());
        match endpoint.heartbeat(now, self.mailbox.id, address) {
            Ok(()) => self.heartbeats.push(Heartbeat { address, answer }),
            // The association is about to end. Without an answer, the caller waits for the reason of the end.
            Err(sctp::PathError::Closed) => {}
            // If the caller is gone, nobody needs the answer.
            Err(refusal) => drop(answer.send(Err(refusal.into()))),
        }
    }

    /// Answers the callers that wait for heartbeats to an address.
    pub(super) fn answer_heartbeats(&mut self, address: IpAddr, result: &Result<Duration, PathError>) {
        for heartbeat in self.heartbeats.extract_if(.., |heartbeat| heartbeat.address == address) {
            let _ = heartbeat.answer.send(result.clone());
        }
    }

    /// Moves all readable data to the mailbox after the end of the association.
    pub(super) fn finish(&mut self, endpoint: &mut Endpoint) {
        if !self.released {
            let id = self.mailbox.id;
            self.mailbox.fill_inbox(true, || endpoint.receive(id, usize::MAX));
        }
        self.announce_held(usize::MAX);
    }
}
