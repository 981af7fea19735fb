//! State shared by the driver and the handles of one connection.

use super::commands::{Call, Command};
use super::event_queue::{EventQueue, Reader};
use super::hub::Hub;
use super::inbox::Inbox;
use super::outbox::{Item, Outbox, Parcel, Ticket};
use super::wait::{Place, Wakers, Woken};
use crate::guard::Identity;
use crate::types::{ConnectionError, SendError};
use sctp::{AssocId, Event, Message, Received};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use units::ByteCount;
use wire::StreamId;

/// Phase of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handshake is in progress.
    Opening,
    /// Messages can be sent and received.
    Open {
        /// Number of outbound streams.
        streams: u16,
        /// The peer's addresses, in the order of the paths.
        peer: Vec<IpAddr>,
        /// The peer's SCTP port.
        peer_port: u16,
    },
    /// The connection has ended.
    Ended(ConnectionError),
}

/// State shared by the driver and the handles of one connection. The lock is held only briefly, and never
/// while a waker is used.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub(crate) id: AssocId,
    pub(crate) hub: Arc<Hub>,
    /// Size of the stack's send buffer. A longer message can be sent in pieces only.
    pub(crate) send_buffer: ByteCount,
    /// The peer, if a guard authenticated it.
    pub(crate) identity: Option<Identity>,
    contents: Mutex<Contents>,
}

#[derive(Debug)]
struct Contents {
    phase: Phase,
    /// True once the handshake was completed, also after the end of the connection.
    was_open: bool,
    /// True once the application can queue no more messages.
    shut: bool,
    outbox: Outbox,
    /// True if the driver was notified of messages in the outbox.
    told: bool,
    /// True if queued messages were lost and the loss is not reported yet.
    lost: bool,
    inbox: Inbox,
    event_queue: EventQueue,
    /// Tasks that wait for a message.
    readers: Wakers,
    /// Tasks that wait for a change of the connection's phase.
    watchers: Wakers,
}

/// Reason why the driver stops emptying an outbox.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The outbox is empty.
    Empty,
    /// The stack has no room for the next message.
    Full,
    /// The driver must make this call first.
    Call(Call),
}

/// A handle of the application; the connection is shut down when the last one is dropped.
#[derive(Debug)]
pub(crate) struct Handle(pub(crate) Arc<Mailbox>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.hub.tell(Command::Release(self.0.id));
    }
}

impl Mailbox {
    pub(crate) fn new(
        id: AssocId,
        hub: Arc<Hub>,
        send_buffer: ByteCount,
        identity: Option<Identity>,
    ) -> Self {
        let contents = Contents {
            phase: Phase::Opening,
            was_open: false,
            shut: false,
            outbox: Outbox::new(hub.outbox),
            told: false,
            lost: false,
            inbox: Inbox::default(),
            event_queue: EventQueue::default(),
            readers: Wakers::default(),
            watchers: Wakers::default(),
        };
        Mailbox { id, hub, send_buffer, identity, contents: Mutex::new(contents) }
    }

    /// A panic elsewhere leaves the contents consistent: every change under the lock is complete before
    /// anything can panic.
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase.clone()
    }

    /// Ready once `wanted` returns a value for the phase of the connection.
    pub(crate) fn poll_phase<T>(
        &self,
        cx: &Context<'_>,
        place: &mut Place,
        wanted: impl FnOnce(&Phase) -> Option<T>,
    ) -> Poll<T> {
        let mut contents = self.lock();
        match wanted(&contents.phase) {
            Some(found) => Poll::Ready(found),
            None => {
                contents.watchers.register(cx, place);
                Poll::Pending
            }
        }
    }

    /// Ready once the handshake is complete or has failed. A connection whose handshake was complete counts
    /// as open even if it has ended since: the peer may have sent messages, which can still be read.
    pub(crate) fn poll_open(&self, cx: &Context<'_>, place: &mut Place) -> Poll<Result<(), ConnectionError>> {
        let mut contents = self.lock();
        match &contents.phase {
            _ if contents.was_open => Poll::Ready(Ok(())),
            Phase::Ended(reason) => Poll::Ready(Err(reason.clone())),
            Phase::Opening | Phase::Open { .. } => {
                contents.watchers.register(cx, place);
                Poll::Pending
            }
        }
    }

    /// Removes the waker of a caller that no longer waits for a change of the connection's state.
    pub(crate) fn stop_watching(&self, place: &Place) {
        self.lock().watchers.leave(place);
    }

    // Sending.

    /// Queues a message if there is room; then `parcel` is empty. `ticket` is the caller's place in the queue
    /// of waiting callers.
    pub(crate) fn poll_send(
        &self,
        cx: &Context<'_>,
        parcel: &mut Option<Parcel>,
        ticket: &mut Option<Ticket>,
    ) -> Poll<Result<(), SendError>> {
        let mut contents = self.lock();
        let Some(offered) = parcel.take() else { return Poll::Ready(Ok(())) };
        contents.check(&offered.message, self.send_buffer, *ticket)?;
        match contents.outbox.offer(offered, ticket) {
            Ok(()) => {
                self.tell_of_outbox(contents);
                Poll::Ready(Ok(()))
            }
            Err(refused) => {
                *parcel = Some(refused);
                contents.outbox.wait(ticket, cx);
                Poll::Pending
            }
        }
    }

    /// Wakes the next caller after a message was added, and notifies the driver if necessary.
    fn tell_of_outbox(&self, mut contents: MutexGuard<'_, Contents>) {
        let next = contents.outbox.next_caller();
        let tell = !std::mem::replace(&mut contents.told, true);
        drop(contents);
        next.wake();
        if tell {
            self.hub.tell(Command::Outbox(self.id));
        }
    }

    /// Notifies the driver that the source has a message, unless the driver is notified already.
    pub(crate) fn tell_of_source(&self) {
        if !std::mem::replace(&mut self.lock().told, true) {
            self.hub.tell(Command::Outbox(self.id));
        }
    }

    /// Queues a message if there is room and no caller waits; returns it otherwise.
    pub(crate) fn try_send(&self, message: Message) -> Result<Result<(), Message>, SendError> {
        let mut contents = self.lock();
        contents.check(&message, self.send_buffer, None)?;
        if let Err(parcel) = contents.outbox.offer(message.into(), &mut None) {
            return Ok(Err(parcel.message));
        }
        self.tell_of_outbox(contents);
        Ok(Ok(()))
    }

    /// Removes a caller from the queue of those that wait for room.
    pub(crate) fn leave_queue(&self, ticket: Ticket) {
        let mut contents = self.lock();
        contents.outbox.leave(ticket);
        let next = contents.outbox.next_caller();
        drop(contents);
        next.wake();
    }

    /// Makes a call in the driver thread, after the messages queued before the call and before those queued
    /// later. The call is dropped if the connection has ended.
    pub(crate) fn call_in_order(&self, call: Call) {
        let mut contents = self.lock();
        if !matches!(contents.phase, Phase::Ended(_)) {
            contents.outbox.push_call(call);
            self.tell_of_outbox(contents);
        }
    }

    /// Removes messages from the outbox while `take` accepts them, up to the next queued call (such as a
    /// reset of streams). Used only by the driver.
    pub(crate) fn empty_outbox(&self, mut take: impl FnMut(&mut Parcel) -> bool) -> Stop {
        let mut contents = self.lock();
        let stop = loop {
            if let Some(Item::Parcel(parcel)) = contents.outbox.front()
                && !take(parcel)
            {
                break Stop::Full;
            }
            match contents.outbox.pop() {
                None => break Stop::Empty,
                Some(Item::Call(call)) => break Stop::Call(call),
                Some(Item::Parcel(_)) => {}
            }
        };
        contents.told = !matches!(stop, Stop::Empty);
        let next = contents.outbox.next_caller();
        drop(contents);
        next.wake();
        stop
    }

    /// Puts a message that the driver took from the application's source into the outbox
    /// until the stack has room. Used only by the driver, when the outbox is empty.
    pub(crate) fn keep_first(&self, parcel: Parcel) {
        let mut contents = self.lock();
        contents.outbox.push_first(parcel);
        contents.told = true;
    }

    /// Bytes that the driver has not taken from the outbox.
    pub(crate) fn outbox_bytes(&self) -> usize {
        self.lock().outbox.bytes()
    }

    /// Refuses further messages; false if they were refused before. Queued messages are still sent.
    pub(crate) fn shut(&self) -> bool {
        let mut contents = self.lock();
        let first = !std::mem::replace(&mut contents.shut, true);
        let callers = contents.outbox.all_callers();
        drop(contents);
        callers.wake();
        first
    }

    /// True if the stack has all queued messages, and none is incomplete.
    pub(crate) fn outbox_is_empty(&self) -> bool {
        self.lock().outbox.is_empty()
    }

    /// Closes the outbox of a connection that can send nothing more but has not ended. Returns the messages
    /// that the driver has not taken.
    pub(crate) fn close_outbox(&self) -> VecDeque<Parcel> {
        let mut contents = self.lock();
        contents.shut = true;
        let (callers, items) = contents.outbox.clear();
        drop(contents);
        callers.wake();
        let parcel = |item| match item {
            Item::Parcel(parcel) => Some(parcel),
            Item::Call(_) => None,
        };
        items.into_iter().filter_map(parcel).collect()
    }

    /// Records the loss of queued messages, which the next flush reports.
    pub(crate) fn set_lost(&self) {
        self.lock().lost = true;
    }

    /// True if messages were lost and this was not reported yet. The loss counts as reported from then on.
    pub(crate) fn take_lost(&self) -> bool {
        std::mem::take(&mut self.lock().lost)
    }

    // Receiving.

    /// The next message of a stream, or of all streams without a reader of their own. `None` once the
    /// connection was shut down and everything was read.
    pub(crate) fn poll_receive(
        &self,
        cx: &Context<'_>,
        stream: Option<StreamId>,
        place: &mut Place,
    ) -> Poll<Result<Option<Received>, ConnectionError>> {
        self.poll_inbox(cx, place, |inbox| inbox.pop(stream))
    }

    /// As [`Self::poll_receive`], for all messages of all streams without a reader of their own: passes each
    /// to `take`, and returns their number.
    pub(crate) fn poll_receive_many(
        &self,
        cx: &Context<'_>,
        place: &mut Place,
        take: impl FnMut(Received),
    ) -> Poll<Result<Option<usize>, ConnectionError>> {
        self.poll_inbox(cx, place, |inbox| {
            let messages = std::iter::from_fn(|| inbox.pop(None));
            Some(messages.map(take).count()).filter(|&number| number > 0)
        })
    }

    /// Ready once `take` returns something from the inbox. `None` once the connection was shut down and
    /// everything was read.
    fn poll_inbox<T>(
        &self,
        cx: &Context<'_>,
        place: &mut Place,
        take: impl FnOnce(&mut Inbox) -> Option<T>,
    ) -> Poll<Result<Option<T>, ConnectionError>> {
        let mut contents = self.lock();
        if let Some(taken) = take(&mut contents.inbox) {
            let resumes = contents.inbox.resumes();
            drop(contents);
            if resumes {
                self.hub.tell(Command::Inbox(self.id));
            }
            return Poll::Ready(Ok(Some(taken)));
        }
        if let Phase::Ended(reason) = &contents.phase {
            return Poll::Ready(reason.graceful().map(|()| None));
        }
        contents.readers.register(cx, place);
        Poll::Pending
    }

    /// Removes the waker of a caller that stopped waiting for a message.
    pub(crate) fn stop_reading(&self, place: &Place) {
        self.lock().readers.leave(place);
    }

    /// Moves messages to the inbox while there is room; with `regardless`, moves all of them. Returns false
    /// if there was no room left. Used only by the driver.
    pub(crate) fn fill_inbox(&self, regardless: bool, mut next: impl FnMut() -> Option<Received>) -> bool {
        let mut contents = self.lock();
        let mut added = false;
        let has_room = loop {
            if !contents.inbox.has_room() && !regardless {
                break false;
            }
            let Some(message) = next() else { break true };
            contents.inbox.push(message);
            added = true;
        };
        let readers = if added { contents.readers.take() } else { Woken::default() };
        drop(contents);
        readers.wake();
        has_room
    }

    /// Adds or removes a separate reader of a stream.
    pub(crate) fn separate(&self, stream: StreamId, separate: bool) {
        let mut contents = self.lock();
        if separate {
            contents.inbox.open_stream(stream);
        } else {
            contents.inbox.close_stream(stream);
        }
        let readers = contents.readers.take();
        drop(contents);
        readers.wake();
    }

    /// True if messages of these streams are unread, or of any stream if the list is empty. Then the driver
    /// is notified once those messages are read.
    pub(crate) fn awaits_reading(&self, streams: &[StreamId]) -> bool {
        self.lock().inbox.awaits(streams)
    }

    /// Discards all messages, because no reader is left.
    pub(crate) fn clear_inbox(&self) {
        self.lock().inbox.clear();
    }

    /// Number of unread messages of a stream.
    pub(crate) fn unread(&self, stream: StreamId) -> usize {
        self.lock().inbox.unread(stream)
    }

    // Events.

    /// Begins to keep events for a reader, which replaces the earlier one.
    pub(crate) fn subscribe(&self) -> Reader {
        let (reader, earlier) = self.lock().event_queue.open();
        earlier.wake();
        reader
    }

    /// Removes a reader of events.
    pub(crate) fn unsubscribe(&self, reader: Reader) {
        self.lock().event_queue.close(reader);
    }

    /// The next event, or the number of events lost before it; `None` once the connection has ended, or if
    /// another reader replaced this one.
    pub(crate) fn poll_event(
        &self,
        cx: &Context<'_>,
        reader: Reader,
        place: &mut Place,
    ) -> Poll<Option<Result<Event, u64>>> {
        let mut contents = self.lock();
        let ended = matches!(contents.phase, Phase::Ended(_));
        contents.event_queue.poll_next(cx, reader, place, ended)
    }

    /// Queues an event for the reader.
    pub(crate) fn announce(&self, event: Event) {
        let wakers = self.lock().event_queue.push(event);
        wakers.wake();
    }

    /// Records that the handshake is complete.
    pub(crate) fn open(&self, streams: u16, peer: Vec<IpAddr>, peer_port: u16) {
        let mut contents = self.lock();
        contents.phase = Phase::Open { streams, peer, peer_port };
        contents.was_open = true;
        let wakers = [contents.watchers.take(), contents.outbox.next_caller()];
        drop(contents);
        wakers.into_iter().for_each(Woken::wake);
    }

    /// Records that the peer added or removed an address.
    pub(crate) fn change_peer(&self, address: IpAddr, added: bool) {
        if let Phase::Open { peer, .. } = &mut self.lock().phase {
            peer.retain(|&known| known != address);
            peer.extend(added.then_some(address));
        }
    }

    /// Records additional outbound streams.
    pub(crate) fn add_streams(&self, more: u16) {
        if let Phase::Open { streams, .. } = &mut self.lock().phase {
            *streams = streams.saturating_add(more);
        }
    }

    /// Records the end of the connection; received messages can still be read.
    pub(crate) fn end(&self, reason: ConnectionError) {
        let mut contents = self.lock();
        if matches!(contents.phase, Phase::Ended(_)) {
            return;
        }
        contents.phase = Phase::Ended(reason);
        let (callers, items) = contents.outbox.clear();
        let wakers =
            [contents.watchers.take(), contents.readers.take(), contents.event_queue.waiting(), callers];
        drop(contents);
        // Dropped receipts and calls wake the callers that wait for them.
        drop(items);
        wakers.into_iter().for_each(Woken::wake);
    }
}

impl Contents {
    /// Refuses a message that the stack would refuse later, when the caller could no longer be informed.
    fn check(
        &self,
        message: &Message,
        send_buffer: ByteCount,
        ticket: Option<Ticket>,
    ) -> Result<(), SendError> {
        match &self.phase {
            Phase::Ended(reason) => return Err(SendError::Ended(reason.clone())),
            // The writer of an incomplete message may complete it.
            _ if self.shut && !self.outbox.is_writer(ticket) => return Err(SendError::Shut),
            Phase::Open { streams, .. } if message.stream.0 >= *streams => {
                return Err(SendError::NoSuchStream { stream: message.stream, streams: *streams });
            }
            Phase::Open { .. } | Phase::Opening => {}
        }
        let length = message.payload.len();
        match length {
            0 => Err(SendError::Empty),
            _ if ByteCount::from(length) > send_buffer => {
                Err(SendError::TooLong { length, limit: send_buffer.get() })
            }
            _ => Ok(()),
        }
    }
}
