//! Messages on their way from the callers to the stack.

use super::wait::Wakers;
use sctp::Message;
use std::collections::VecDeque;
use std::task::{Context, Waker};

/// Bytes that wait for the stack's send buffer to have room; one message may be longer.
const LIMIT: usize = 256 * 1024;

/// A place in the queue of callers that wait for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// Bounded. Callers get room in the order in which they came, so that a large message cannot starve.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    messages: VecDeque<Message>,
    bytes: usize,
    waiting: VecDeque<(Ticket, Option<Waker>)>,
    tickets: u64,
}

impl Outbox {
    fn has_room(&self, length: usize) -> bool {
        self.messages.is_empty() || self.bytes + length <= LIMIT
    }

    /// Takes the message if there is room and no other caller is before this one; gives it back otherwise. `ticket` is the
    /// caller's place in the queue, if it has one, and is given up when the message is taken.
    pub(super) fn offer(&mut self, message: Message, ticket: &mut Option<Ticket>) -> Result<(), Message> {
        let first = self.waiting.front().map(|&(ticket, _)| ticket);
        if (first.is_some() && first != *ticket) || !self.has_room(message.payload.len()) {
            return Err(message);
        }
        if ticket.take().is_some() {
            self.waiting.pop_front();
        }
        self.bytes += message.payload.len();
        self.messages.push_back(message);
        Ok(())
    }

    /// Puts a caller into the queue, or renews its waker.
    pub(super) fn wait(&mut self, ticket: &mut Option<Ticket>, cx: &Context<'_>) {
        let ticket = *ticket.get_or_insert_with(|| {
            self.tickets += 1;
            self.waiting.push_back((Ticket(self.tickets), None));
            Ticket(self.tickets)
        });
        if let Some((_, waker)) = self.waiting.iter_mut().find(|(waiting, _)| *waiting == ticket) {
            *waker = Some(cx.waker().clone());
        }
    }

    /// Takes a caller out of the queue.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|&(waiting, _)| waiting != ticket);
    }

    /// Whoever is next, if there may be room: it looks itself whether its message fits.
    pub(super) fn next_caller(&mut self) -> Wakers {
        let mut wakers = Wakers::default();
        if self.has_room(1) {
            wakers.add(self.waiting.front_mut().and_then(|(_, waker)| waker.take()));
        }
        wakers
    }

    /// All callers, when the connection has ended.
    pub(super) fn all_callers(&mut self) -> Wakers {
        let mut wakers = Wakers::default();
        self.waiting.drain(..).for_each(|(_, waker)| wakers.add(waker));
        wakers
    }

    pub(super) fn front(&self) -> Option<&Message> {
        self.messages.front()
    }

    pub(super) fn pop(&mut self) {
        if let Some(message) = self.messages.pop_front() {
            self.bytes -= message.payload.len();
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Forgets the messages, when the connection has ended.
    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sctp::Payload;

    fn message(length: u32) -> Message {
        Message::new(Payload::Filler(length))
    }

    fn offer(outbox: &mut Outbox, length: u32, ticket: &mut Option<Ticket>) -> bool {
        let taken = outbox.offer(message(length), ticket).is_ok();
        if !taken {
            outbox.wait(ticket, &Context::from_waker(Waker::noop()));
        }
        taken
    }

    #[test]
    fn room_is_given_in_order_of_arrival_so_that_a_large_message_cannot_starve() {
        let mut outbox = Outbox::default();
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
        let mut outbox = Outbox::default();
        assert!(offer(&mut outbox, 200_000, &mut None));
        let (mut large, mut small) = (None, None);
        assert!(!offer(&mut outbox, 100_000, &mut large));
        assert!(!offer(&mut outbox, 10, &mut small));
        outbox.leave(large.expect("it waits"));
        assert!(offer(&mut outbox, 10, &mut small));
    }

    #[test]
    fn a_message_longer_than_the_limit_passes_alone() {
        let mut outbox = Outbox::default();
        assert!(offer(&mut outbox, 1_000_000, &mut None));
        assert!(!offer(&mut outbox, 1, &mut None));
    }
}
