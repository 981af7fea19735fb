//! Messages on their way from the callers to the stack.

use super::commands::Call;
use super::wait::Woken;
use futures_channel::oneshot;
use sctp::{Message, Reliability};
use std::collections::VecDeque;
use std::task::{Context, Waker};
use std::time::Instant as Clock;

/// Default of the largest number of bytes that wait for room in the stack's send buffer.
pub(crate) const OUTBOX: usize = 256 * 1024;

/// Tells the sender that its message was delivered. If the message was not delivered, this is dropped unused.
pub(crate) type Receipt = oneshot::Sender<()>;

/// A message, or a piece of one, that waits for room in the stack.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) message: Message,
    /// Receipt of a tracked message.
    pub(crate) receipt: Option<Receipt>,
    /// Time of queueing, if the lifetime is limited.
    given: Option<Clock>,
}

impl Parcel {
    pub(crate) fn new(message: Message, receipt: Option<Receipt>) -> Parcel {
        let limited = matches!(message.reliability, Reliability::Until(_));
        Parcel { message, receipt, given: limited.then(Clock::now) }
    }

    /// The reliability to pass to the stack. The time in the outbox is part of a limited lifetime. `None` if
    /// the lifetime has passed.
    pub(crate) fn reliability(&self) -> Option<Reliability> {
        match (self.message.reliability, self.given) {
            (Reliability::Until(life), Some(given)) => {
                let left = life.saturating_sub(given.elapsed().into());
                (!left.is_zero() || life.is_zero()).then_some(Reliability::Until(left))
            }
            (reliability, _) => Some(reliability),
        }
    }

    fn len(&self) -> usize {
        self.message.payload.len()
    }
}

impl From<Message> for Parcel {
    fn from(message: Message) -> Self {
        Parcel::new(message, None)
    }
}

/// Items of the outbox in order.
#[derive(Debug)]
pub(crate) enum Item {
    Parcel(Parcel),
    /// A call to be made between the messages.
    Call(Call),
}

/// A place in the queue of callers that wait for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// Bounded queue of messages. Callers get room in the order of their calls, so that a large message cannot
/// starve. Urgent messages have separate room and are removed first.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Largest number of bytes; one message may be longer. Urgent
    /// messages are counted separately, with the same limit.
    limit: usize,
    items: VecDeque<Item>,
    bytes: usize,
    urgent: VecDeque<Item>,
    urgent_bytes: usize,
    /// True if the last piece taken out did not end its message, so that its next piece must follow.
    inside: bool,
    waiting: VecDeque<Waiting>,
    /// The caller whose message is not complete. Pieces of messages are not interleaved, so no other caller
    /// gets room.
    writer: Option<Waiting>,
    tickets: u64,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    /// Waker of the caller; `None` if the caller was already woken.
    waker: Option<Waker>,
}

impl Outbox {
    pub(super) fn new(limit: usize) -> Outbox {
        Outbox {
            limit,
            items: VecDeque::new(),
            bytes: 0,
            urgent: VecDeque::new(),
            urgent_bytes: 0,
            inside: false,
            waiting: VecDeque::new(),
            writer: None,
            tickets: 0,
        }
    }

    fn has_room(&self, length: usize) -> bool {
        self.items.is_empty() || self.bytes + length <= self.limit
    }

    /// True if a caller has queued a part of a message.
    pub(super) fn is_writer(&self, ticket: Option<Ticket>) -> bool {
        self.writer.as_ref().is_some_and(|writer| Some(writer.ticket) == ticket)
    }

    /// True if the message of another caller comes before that of the caller with this ticket.
    fn is_behind(&self, ticket: Option<Ticket>) -> bool {
        let first = self.writer.as_ref().or(self.waiting.front());
        first.is_some_and(|first| Some(first.ticket) != ticket)
    }

    /// True if a message is urgent and complete, and there is room for urgent messages. A message that had to
    /// wait for room keeps its place among all callers.
    fn overtakes(&self, parcel: &Parcel, ticket: Option<Ticket>) -> bool {
        let message = &parcel.message;
        let whole = message.end_of_record && ticket.is_none();
        message.urgent && whole && self.urgent_bytes + parcel.len() <= self.limit
    }

    /// Queues the message if there is room and no other caller precedes this one; returns it otherwise.
    /// `ticket` is the caller's place in the queue, if any, and is removed when the message is queued. After
    /// a piece that does not end its message the caller stays first.
    pub(super) fn offer(&mut self, parcel: Parcel, ticket: &mut Option<Ticket>) -> Result<(), Parcel> {
        if self.overtakes(&parcel, *ticket) {
            self.urgent_bytes += parcel.len();
            self.urgent.push_back(Item::Parcel(parcel));
            return Ok(());
        }
        if self.is_behind(*ticket) || !self.has_room(parcel.len()) {
            return Err(parcel);
        }
        if self.writer.is_none() && ticket.is_some() {
            self.waiting.pop_front();
        }
        if parcel.message.end_of_record {
            self.writer = None;
            *ticket = None;
        } else if self.writer.is_none() {
            let ticket = *ticket.get_or_insert_with(|| next_ticket(&mut self.tickets));
            self.writer = Some(Waiting { ticket, waker: None });
        }
        self.bytes += parcel.len();
        self.items.push_back(Item::Parcel(parcel));
        Ok(())
    }

    /// Puts a message for which the stack has no room yet before all other messages.
    pub(super) fn push_first(&mut self, parcel: Parcel) {
        self.bytes += parcel.len();
        self.items.push_front(Item::Parcel(parcel));
    }

    /// Adds a call (such as a reset of streams) after the queued messages. It needs no room.
    pub(super) fn push_call(&mut self, call: Call) {
        self.items.push_back(Item::Call(call));
    }

    /// Adds a caller to the queue, or renews its waker.
    pub(super) fn wait(&mut self, ticket: &mut Option<Ticket>, cx: &Context<'_>) {
        let ticket = *ticket.get_or_insert_with(|| {
            let ticket = next_ticket(&mut self.tickets);
            self.waiting.push_back(Waiting { ticket, waker: None });
            ticket
        });
        let mut all = self.writer.iter_mut().chain(&mut self.waiting);
        if let Some(waiting) = all.find(|waiting| waiting.ticket == ticket) {
            waiting.waker = Some(cx.waker().clone());
        }
    }

    /// Removes a caller from the queue of those that wait for room.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|waiting| waiting.ticket != ticket);
    }

    /// Wakes the next caller if there may be room; the caller checks whether its message fits.
    pub(super) fn next_caller(&mut self) -> Woken {
        let next = self
            .writer
            .as_mut()
            .or(self.waiting.front_mut())
            .filter(|_| self.items.is_empty() || self.bytes < self.limit);
        next.and_then(|waiting| waiting.waker.take()).into()
    }

    /// Returns the wakers of all callers except the writer, when no new message is accepted.
    pub(super) fn all_callers(&mut self) -> Woken {
        self.waiting.drain(..).filter_map(|waiting| waiting.waker).collect()
    }

    /// True if an urgent message comes next. It never comes between the pieces of another message.
    fn urgent_is_next(&self) -> bool {
        !self.inside && !self.urgent.is_empty()
    }

    pub(super) fn front(&mut self) -> Option<&mut Item> {
        if self.urgent_is_next() { self.urgent.front_mut() } else { self.items.front_mut() }
    }

    pub(super) fn pop(&mut self) -> Option<Item> {
        let (items, bytes) = match self.urgent_is_next() {
            true => (&mut self.urgent, &mut self.urgent_bytes),
            false => (&mut self.items, &mut self.bytes),
        };
        let item = items.pop_front()?;
        if let Item::Parcel(parcel) = &item {
            *bytes -= parcel.len();
            self.inside = !parcel.message.end_of_record;
        }
        Some(item)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.urgent_bytes
    }

    /// True if the queue is empty and no message is incomplete.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.urgent.is_empty() && self.writer.is_none()
    }

    /// Empties the outbox when nothing can be sent; returns the wakers of all callers, and the items.
    pub(super) fn clear(&mut self) -> (Woken, VecDeque<Item>) {
        let empty = Outbox { tickets: self.tickets, ..Outbox::new(self.limit) };
        let Outbox { writer, waiting, mut items, urgent, .. } = std::mem::replace(self, empty);
        items.extend(urgent);
        (writer.into_iter().chain(waiting).filter_map(|waiting| waiting.waker).collect(), items)
    }
}

fn next_ticket(tickets: &mut u64) -> Ticket {
    *tickets += 1;
    Ticket(*tickets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sctp::Payload;
    use units::Span;

    #[test]
    fn the_wait_in_the_outbox_counts_for_the_lifetime_of_a_message() {
        let left = |reliability| Parcel::from(Message { reliability, ..message(1) });
        let long = left(Reliability::Until(Span::from_secs(60)));
        let short = left(Reliability::Until(Span::from_nanos(1)));
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(short.reliability(), None);
        let Some(Reliability::Until(left_of_long)) = long.reliability() else { panic!("it lives") };
        assert!(left_of_long <= Span::from_secs(60) - Span::from_millis(2), "{left_of_long}");
        let once = Reliability::Until(Span::ZERO);
        assert_eq!(left(once).reliability(), Some(once), "it is sent if it can be at once");
        assert_eq!(left(Reliability::Reliable).reliability(), Some(Reliability::Reliable));
    }

    fn message(length: u32) -> Message {
        Message::new(Payload::Filler(length))
    }

    fn offer(outbox: &mut Outbox, length: u32, ticket: &mut Option<Ticket>) -> bool {
        let taken = outbox.offer(message(length).into(), ticket).is_ok();
        if !taken {
            outbox.wait(ticket, &Context::from_waker(Waker::noop()));
        }
        taken
    }

    #[test]
    fn room_is_given_in_order_of_arrival_so_that_a_large_message_cannot_starve() {
        let mut outbox = Outbox::new(OUTBOX);
        assert!(offer(&mut outbox, 200_000, &mut None));
        let (mut large, mut small) = (None, None);
        assert!(!offer(&mut outbox, 100_000, &mut large));
        assert!(!offer(&mut outbox, 10, &mut small), "it would fit, but another caller came before");
        outbox.pop();
        assert!(!offer(&mut outbox, 10, &mut small));
        assert!(offer(&mut outbox, 100_000, &mut large));
        assert!(offer(&mut outbox, 10, &mut small));
    }

    #[test]
    fn a_caller_that_leaves_the_queue_lets_the_next_one_pass() {
        let mut outbox = Outbox::new(OUTBOX);
        assert!(offer(&mut outbox, 200_000, &mut None));
        let (mut large, mut small) = (None, None);
        assert!(!offer(&mut outbox, 100_000, &mut large));
        assert!(!offer(&mut outbox, 10, &mut small));
        outbox.leave(large.expect("it waits"));
        assert!(offer(&mut outbox, 10, &mut small));
    }

    #[test]
    fn a_message_longer_than_the_limit_passes_alone() {
        let mut outbox = Outbox::new(OUTBOX);
        assert!(offer(&mut outbox, 1_000_000, &mut None));
        assert!(!offer(&mut outbox, 1, &mut None));
    }

    /// Removes the next item and returns its length.
    fn pop(outbox: &mut Outbox) -> usize {
        match outbox.pop() {
            Some(Item::Parcel(parcel)) => parcel.len(),
            other => panic!("no message: {other:?}"),
        }
    }

    fn urgent(length: u32) -> Parcel {
        Parcel::from(Message { urgent: true, ..message(length) })
    }

    #[test]
    fn urgent_messages_have_room_of_their_own_and_overtake_the_others() {
        let mut outbox = Outbox::new(1000);
        let mut waits = None;
        assert!(offer(&mut outbox, 900, &mut None) && !offer(&mut outbox, 500, &mut waits));
        for length in [100, 101] {
            outbox.offer(urgent(length), &mut None).expect("there is room");
        }
        assert_eq!(outbox.bytes(), 1101);
        assert!(outbox.offer(urgent(800), &mut None).is_err(), "as much as all others may take, and no more");
        assert_eq!([100, 101, 900].map(|_| pop(&mut outbox)), [100, 101, 900]);
        // A message that had to wait keeps its place in the queue.
        assert!(outbox.offer(urgent(100), &mut waits).is_ok() && waits.is_none());
        assert!(offer(&mut outbox, 50, &mut None));
        outbox.offer(urgent(10), &mut None).expect("there is room");
        assert_eq!([10, 100, 50].map(|_| pop(&mut outbox)), [10, 100, 50]);
        assert!(outbox.is_empty() && outbox.bytes() == 0);
        outbox.offer(urgent(10), &mut None).expect("there is room");
        assert!(!outbox.is_empty());
        assert_eq!((outbox.clear().1.len(), outbox.bytes(), outbox.is_empty()), (1, 0, true));
    }

    #[test]
    fn an_urgent_message_does_not_come_between_the_pieces_of_another() {
        let mut outbox = Outbox::new(OUTBOX);
        let mut writer = None;
        let piece = |length, end_of_record| Parcel::from(Message { end_of_record, ..message(length) });
        outbox.offer(piece(1, false), &mut writer).expect("there is room");
        outbox.offer(piece(2, false), &mut writer).expect("there is room");
        outbox.offer(urgent(9), &mut None).expect("it needs no place among the callers");
        assert_eq!(pop(&mut outbox), 9);
        assert_eq!(pop(&mut outbox), 1);
        outbox.offer(urgent(8), &mut None).expect("there is room");
        assert_eq!(pop(&mut outbox), 2);
        assert!(outbox.front().is_none(), "the message has no end yet");
        outbox.offer(piece(3, true), &mut writer).expect("there is room");
        assert_eq!([3, 8].map(|_| pop(&mut outbox)), [3, 8]);
    }

    #[test]
    fn while_a_message_is_incomplete_only_its_writer_gets_room() {
        let mut outbox = Outbox::new(OUTBOX);
        let piece = |end_of_record| Parcel::from(Message { end_of_record, ..message(100) });
        let (mut writer, mut other) = (None, None);
        outbox.offer(piece(false), &mut writer).expect("there is room");
        assert!(outbox.is_writer(writer));
        outbox.pop();
        assert!(!outbox.is_empty(), "the message has no end yet");
        assert!(!offer(&mut outbox, 10, &mut other));
        outbox.offer(piece(true), &mut writer).expect("there is room");
        assert!(!outbox.is_writer(writer));
        assert!(offer(&mut outbox, 10, &mut other));
    }
}
