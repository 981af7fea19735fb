//! The associations of the endpoint, each with the mailbox that the driver thread shares with the program's
//! handles.

use super::entry::{Entry, Sent};
use super::{Guarded, trace};
use crate::guard::{ChannelEnd, Identity};
use crate::shared::{Handle, Hub, Mailbox, NewConnections, Phase, Source};
use crate::types::{ConnectionError, PathError};
use futures_channel::oneshot;
use sctp::{AssocId, Config, Endpoint, Event, PathState, ResetResult, State};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use transport::Channel;
use units::{Instant, Span};

/// Interval of checks of connections that are closed in the background: no caller waits for their end.
const LOOK_EVERY: Span = Span::from_millis(100);

/// The connections of an endpoint that have not ended, or whose handles are not notified of the end yet.
#[derive(Debug, Default)]
pub(super) struct Connections {
    entries: BTreeMap<AssocId, Entry>,
    /// Connections with messages that wait for the stack. Each time that packets were sent, the stack may
    /// have room for messages (`Config::send_queue`), so the driver tries all of them again.
    sending: Vec<AssocId>,
    /// Connections with callers that wait until all queued messages are acknowledged (flushes).
    flushing: BTreeSet<AssocId>,
    /// Connections that are closed in the background.
    closing: BTreeSet<AssocId>,
    /// Time of the next check of the connections in `closing`.
    next_look: Instant,
    /// Ended connections whose handles are not notified yet.
    ended: Vec<(Entry, ConnectionError)>,
}

impl Connections {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ended.is_empty()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = AssocId> {
        self.entries.keys().copied()
    }

    /// Creates the mailbox of an association.
    pub(super) fn insert(
        &mut self,
        id: AssocId,
        hub: &Arc<Hub>,
        config: &Config,
        identity: Option<Identity>,
    ) -> Handle {
        let mailbox = Arc::new(Mailbox::new(id, hub.clone(), config.send_buffer.most(), identity));
        self.entries.insert(id, Entry::new(mailbox.clone(), config));
        Handle(mailbox)
    }

    /// Accepts the next association that a peer requests if the backlog has room, and refuses it otherwise.
    /// Returns false if no request waits.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        guard: Option<&Guarded>,
        (hub, new_connections): (&Arc<Hub>, &NewConnections),
    ) -> bool {
        let Some(arrival) = endpoint.poll_arrival() else { return false };
        if !new_connections.backlog().has_room() {
            endpoint.refuse(arrival.id, b"backlog full");
            trace::refused(&arrival, "backlog full");
            return true;
        }
        // The call fails if the peer has given up the association meanwhile.
        if let Ok(id) = endpoint.accept(now, arrival.id) {
            let identity = guard.and_then(|guard| guard.identity(arrival.channel));
            let handle = self.insert(id, hub, &hub.config, identity);
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.arrival = Some(handle);
            }
        }
        true
    }

    pub(super) fn on_event(
        &mut self,
        endpoint: &mut Endpoint,
        new_connections: &NewConnections,
        id: AssocId,
        event: Event,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        match event {
            Event::Connected { outbound_streams, peer_addresses, peer_port, .. } => {
                entry.mailbox.open(outbound_streams, peer_addresses, peer_port);
                if let Some(handle) = entry.arrival.take() {
                    offer(handle, new_connections);
                }
                self.has_messages(id);
            }
            Event::Readable => entry.deliver(endpoint),
            Event::Writable => self.has_messages(id),
            Event::Closed { reason } => {
                entry.finish(endpoint);
                self.flushing.remove(&id);
                self.closing.remove(&id);
                let entry = self.entries.remove(&id);
                self.ended.extend(entry.map(|mut entry| {
                    let end = entry.end.take();
                    (entry, end.unwrap_or(ConnectionError::Closed(reason)))
                }));
            }
            Event::Delivered { first, last } => entry.confirm(first, last),
            Event::SendFailed { id: message, abandoned, length, .. } if message.is_some() || abandoned => {
                if let Some(message) = message {
                    entry.fail(message);
                }
                if abandoned {
                    entry.abandon(length);
                }
                entry.mailbox.announce(event);
                self.flushing.insert(id);
            }
            Event::StreamsReset { incoming: true, result: ResetResult::Performed, .. } => entry.hold(event),
            other => note(endpoint, entry, other),
        }
    }

    /// Moves messages from the stack to the inbox.
    pub(super) fn deliver(&mut self, endpoint: &mut Endpoint, id: AssocId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.deliver(endpoint);
        }
    }

    /// Records that there are messages for the stack, or that the stack has room again.
    pub(super) fn has_messages(&mut self, id: AssocId) {
        if let Some(entry) = self.entries.get_mut(&id)
            && !std::mem::replace(&mut entry.sends, true)
        {
            self.sending.push(id);
        }
    }

    /// Sets the source of a connection, from which it takes messages while the stack has room.
    pub(super) fn set_source(&mut self, id: AssocId, source: Source) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.set_source(source);
            self.has_messages(id);
        }
    }

    /// Moves messages from outboxes and sources to the stack while the stack has room. Returns true if some
    /// were moved and others wait.
    pub(super) fn send(&mut self, now: Instant, endpoint: &mut Endpoint) -> bool {
        let (entries, mut go_on) = (&mut self.entries, false);
        self.sending.retain(|id| {
            let Some(entry) = entries.get_mut(id) else { return false };
            let Sent { moved, full } = entry.send(now, endpoint);
            entry.sends = full;
            go_on |= moved && full;
            full
        });
        go_on
    }

    /// Shuts an association down once its outbox is empty.
    pub(super) fn shutdown(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.shutdown(now, endpoint);
        }
    }

    /// As [`Self::shutdown`], but aborts a connection without a complete handshake and without queued
    /// messages. The driver later aborts the connection if its peer acknowledges nothing for too long.
    pub(super) fn close(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if entry.mailbox.phase() == Phase::Opening && entry.mailbox.outbox_is_empty() {
            endpoint.abort(id, b"");
        } else {
            entry.shutdown_in_background(now, endpoint);
            self.closing.insert(id);
        }
    }

    /// Handles the drop of the last handle of a connection.
    pub(super) fn release(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.released = true;
            entry.mailbox.clear_inbox();
            entry.deliver(endpoint);
            self.close(now, endpoint, id);
        }
    }

    /// Ends the associations of a channel (one authenticated peer) that has ended: all of them, or, if no
    /// session with the peer came about, only those that wait for INIT ACK.
    pub(super) fn end_channel(&mut self, endpoint: &mut Endpoint, channel: Channel, end: ChannelEnd) {
        for (&id, entry) in &mut self.entries {
            let reason = match end {
                ChannelEnd::Revoked => ConnectionError::Revoked,
                ChannelEnd::NoSession => ConnectionError::NoSession,
            };
            let opens = endpoint.state(id) == Some(State::CookieWait);
            if endpoint.channel(id) == Some(channel) && (end == ChannelEnd::Revoked || opens) {
                entry.end = Some(reason);
                endpoint.abort(id, b"");
            }
        }
    }

    /// Aborts associations that are closed in the background and whose peer has acknowledged nothing for too
    /// long.
    pub(super) fn abort_stalled(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK_EVERY;
        for id in &self.closing {
            if self.entries.get_mut(id).is_some_and(|entry| entry.is_stalled(now, endpoint)) {
                endpoint.abort(*id, b"the peer takes no data");
            }
        }
    }

    /// Sends `answer` once all messages queued so far are acknowledged.
    pub(super) fn flush(&mut self, id: AssocId, answer: oneshot::Sender<bool>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.flush(answer);
            self.flushing.insert(id);
        }
    }

    /// Answers the completed flushes.
    pub(super) fn answer_flushes(&mut self, endpoint: &Endpoint) {
        let entries = &mut self.entries;
        self.flushing.retain(|id| entries.get_mut(id).is_some_and(|entry| entry.answer_flushes(endpoint)));
    }

    /// Sends a heartbeat. Sends `answer` when the peer acknowledges the heartbeat.
    pub(super) fn heartbeat(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        id: AssocId,
        address: IpAddr,
        answer: oneshot::Sender<Result<Duration, PathError>>,
    ) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.heartbeat(now, endpoint, address, answer);
        }
    }

    /// Notifies handles that their connections have ended. Called after the last packets were sent, since the
    /// program may exit once it is notified.
    pub(super) fn tell_ends(&mut self) {
        for (entry, reason) in self.ended.drain(..) {
            entry.mailbox.end(reason);
        }
    }
}

/// The end of the driver ends all connections.
impl Drop for Connections {
    fn drop(&mut self) {
        self.tell_ends();
        for entry in std::mem::take(&mut self.entries).into_values() {
            entry.mailbox.end(ConnectionError::EndpointClosed);
        }
    }
}

/// Adds a connection to the backlog. Without a listener, the handle is dropped, which
/// releases the connection.
fn offer(handle: Handle, new_connections: &NewConnections) {
    let offered = new_connections.backlog().push(handle);
    if let Ok(listeners) = offered {
        listeners.wake();
    }
}

/// Handles an event that concerns neither data nor the beginning or end of the connection.
fn note(endpoint: &mut Endpoint, entry: &mut Entry, event: Event) {
    let mailbox = entry.mailbox.clone();
    match event {
        Event::HeartbeatAnswered { address, rtt } => {
            entry.answer_heartbeats(address, &Ok(rtt.into()));
        }
        Event::PathChanged { address, state: PathState::Inactive } => {
            entry.answer_heartbeats(address, &Err(PathError::Failed { address }));
        }
        Event::PeerAddressAdded { address } => mailbox.change_peer(address, true),
        Event::PeerAddressRemoved { address } => mailbox.change_peer(address, false),
        Event::StreamsAdded { outgoing, result: ResetResult::Performed, .. } => mailbox.add_streams(outgoing),
        Event::Restarted if !entry.restart() => endpoint.abort(mailbox.id, b"restart within a message"),
        Event::ShutdownReceived => {
            for lost in entry.refuse_messages() {
                let (stream, length) = (lost.message.stream, lost.message.payload.len());
                mailbox.announce(Event::SendFailed {
                    id: None,
                    stream,
                    tsn: None,
                    length,
                    sent: false,
                    abandoned: false,
                    message: Box::new(lost.message),
                });
            }
        }
        _ => {}
    }
    mailbox.announce(event);
}
