//! The associations of the endpoint and their mailboxes.

use crate::shared::{Handle, Hub, Mailbox, Phase};
use crate::types::ConnectionError;
use futures_channel::oneshot;
use sctp::{AssocId, Endpoint, Event, SendError};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{ByteCount, Instant};

/// All connections that have not ended.
#[derive(Debug, Default)]
pub(super) struct Connections {
    entries: BTreeMap<AssocId, Entry>,
    /// Those that have messages for the stack, which had room when it was last asked.
    sending: Vec<AssocId>,
    flushes: Vec<Flush>,
    /// Those that have ended and are not told yet.
    ended: Vec<(Arc<Mailbox>, ConnectionError)>,
}

#[derive(Debug)]
struct Entry {
    mailbox: Arc<Mailbox>,
    /// User bytes given to the stack.
    given: u64,
    /// Shut down once the outbox is empty.
    shutting_down: bool,
}

#[derive(Debug)]
struct Flush {
    id: AssocId,
    /// User bytes that must be acknowledged.
    bytes: u64,
    answer: oneshot::Sender<()>,
}

impl Connections {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ended.is_empty()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = AssocId> {
        self.entries.keys().copied()
    }

    /// Makes the mailbox of an association.
    pub(super) fn insert(&mut self, id: AssocId, hub: &Arc<Hub>, send_buffer: ByteCount) -> Handle {
        let mailbox = Arc::new(Mailbox::new(id, hub.clone(), send_buffer));
        self.entries.insert(id, Entry { mailbox: mailbox.clone(), given: 0, shutting_down: false });
        Handle(mailbox)
    }

    /// Accepts those that ask for an association as long as the backlog has room, and refuses the others.
    pub(super) fn accept(&mut self, now: Instant, endpoint: &mut Endpoint, hub: &Arc<Hub>) {
        while let Some(arrival) = endpoint.poll_arrival() {
            let mut backlog = hub.backlog();
            if !backlog.has_room() {
                drop(backlog);
                endpoint.refuse(arrival.id, b"backlog full");
                continue;
            }
            // It fails if the peer gave up meanwhile.
            if let Ok(id) = endpoint.accept(now, arrival.id) {
                let wakers = backlog.push(self.insert(id, hub, hub.config.send_buffer));
                drop(backlog);
                wakers.wake();
            }
        }
    }

    pub(super) fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId, event: Event) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        match event {
            Event::Connected { outbound_streams, peer_addresses, peer_port, .. } => {
                entry.mailbox.open(outbound_streams, peer_addresses, peer_port);
                self.has_messages(id);
            }
            Event::Readable => self.deliver(now, endpoint, id),
            Event::Writable => self.has_messages(id),
            Event::Closed { reason } => {
                entry.mailbox.fill_inbox(true, || endpoint.receive(now, id, usize::MAX));
                self.ended.push((entry.mailbox.clone(), ConnectionError::Closed(reason)));
                self.entries.remove(&id);
            }
            other => entry.mailbox.announce(other),
        }
    }

    /// Moves messages from the stack to the inbox.
    pub(super) fn deliver(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        if let Some(entry) = self.entries.get(&id) {
            entry.mailbox.fill_inbox(false, || endpoint.receive(now, id, usize::MAX));
        }
    }

    /// There are messages for the stack, or the stack has room again.
    pub(super) fn has_messages(&mut self, id: AssocId) {
        if !self.sending.contains(&id) {
            self.sending.push(id);
        }
    }

    /// Moves messages from the outboxes to the stack as far as it has room.
    pub(super) fn send(&mut self, now: Instant, endpoint: &mut Endpoint) {
        for id in std::mem::take(&mut self.sending) {
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let given = &mut entry.given;
            let full = entry.mailbox.empty_outbox(|message| {
                let length = message.payload.len() as u64;
                // The bytes are shared, not copied.
                match endpoint.send(now, id, message.clone()) {
                    Ok(_) => *given += length,
                    // `Event::Writable` follows.
                    Err(SendError::WouldBlock) => return false,
                    // The association ended a moment ago, and its event follows.
                    Err(_) => {}
                }
                true
            });
            if entry.shutting_down && !full {
                endpoint.shutdown(now, id);
            }
        }
    }

    /// Shuts an association down once its outbox is empty.
    pub(super) fn shutdown(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.mailbox.shut();
        entry.shutting_down = true;
        if entry.mailbox.outbox_is_empty() {
            endpoint.shutdown(now, id);
        }
    }

    /// Nobody holds the connection any more.
    pub(super) fn release(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        let Some(entry) = self.entries.get(&id) else { return };
        if entry.mailbox.phase() == Phase::Opening && entry.mailbox.outbox_is_empty() {
            endpoint.abort(now, id, b"");
        } else {
            self.shutdown(now, endpoint, id);
        }
    }

    /// Answers once everything given so far is acknowledged.
    pub(super) fn flush(&mut self, id: AssocId, answer: oneshot::Sender<()>) {
        let Some(entry) = self.entries.get(&id) else { return };
        let bytes = entry.given + entry.mailbox.outbox_bytes() as u64;
        self.flushes.push(Flush { id, bytes, answer });
    }

    /// Answers the flushes that are complete. Chunks are first sent in the order in which their messages were given, and
    /// `buffered` falls as the cumulative TSN advances: the first bytes given are the first acknowledged.
    pub(super) fn answer_flushes(&mut self, endpoint: &Endpoint) {
        let mut n = 0;
        while let Some(flush) = self.flushes.get(n) {
            let given = self.entries.get(&flush.id).map_or(0, |entry| entry.given);
            let buffered = endpoint.stats(flush.id).map_or(u64::MAX, |stats| stats.buffered.get());
            if given.saturating_sub(buffered) >= flush.bytes {
                let _ = self.flushes.swap_remove(n).answer.send(());
            } else {
                n += 1;
            }
        }
    }

    /// Tells handles of connections that these have ended. The last packets must have left before: the program may exit at once.
    pub(super) fn tell_ends(&mut self) {
        for (mailbox, reason) in self.ended.drain(..) {
            mailbox.end(reason);
            self.flushes.retain(|flush| flush.id != mailbox.id);
        }
    }

    /// Ends all of them for one reason.
    pub(super) fn end_all(&mut self, reason: &ConnectionError) {
        self.tell_ends();
        for entry in std::mem::take(&mut self.entries).into_values() {
            entry.mailbox.end(reason.clone());
        }
    }
}
