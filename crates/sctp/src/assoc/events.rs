use crate::event::{Event, ResetResult};
use crate::path::{PathId, PathState};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Events that wait for the user. A newer event replaces an event that it repeats, so the queue is bounded.
#[derive(Debug, Default)]
#[repr(C)] // the most frequent events come first
pub(crate) struct Events {
    /// Flags for [`Event::Readable`] and [`Event::Writable`], which the user gets after the events in the
    /// queue. Nearly all events are of these kinds, so most associations need no queue.
    readable: bool,
    writable: bool,
    /// The user has been notified and has not read all data yet.
    readable_told: bool,
    writable_told: bool,
    queue: VecDeque<Event>,
}

/// Largest number of waiting error reports of the peer; further ones are dropped.
const PEER_ERRORS: usize = 8;

/// If this number of reset events wait, the peer may not cause further ones.
const RESETS: usize = 32;

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        if std::mem::take(&mut self.readable) {
            self.queue.push_back(Event::Readable);
        }
        if std::mem::take(&mut self.writable) {
            self.queue.push_back(Event::Writable);
        }
        self.queue.push_back(event);
    }

    /// Reports that data can be read, only once until the user has read all data.
    #[inline]
    pub(crate) fn readable(&mut self) {
        if !self.readable_told {
            self.readable_told = true;
            self.readable = true;
        }
    }

    /// Records that the user has read all data.
    pub(crate) fn all_read(&mut self) {
        self.readable_told = false;
    }

    #[inline]
    pub(crate) fn writable(&mut self) {
        if !self.writable_told {
            self.writable_told = true;
            self.writable = true;
        }
    }

    pub(crate) fn path_changed(&mut self, address: IpAddr, state: PathState) {
        self.queue.retain(|event| !matches!(event, Event::PathChanged { address: a, .. } if *a == address));
        self.push(Event::PathChanged { address, state });
    }

    pub(crate) fn primary_changed(&mut self, path: PathId, address: IpAddr) {
        self.queue.retain(|event| !matches!(event, Event::PrimaryChanged { .. }));
        self.push(Event::PrimaryChanged { path, address });
    }

    /// Reports a new path MTU. The report replaces a waiting report for the same path.
    pub(crate) fn mtu_changed(&mut self, event: Event) {
        let Event::MtuChanged { path, .. } = event else { return };
        self.queue.retain(|other| !matches!(other, Event::MtuChanged { path: p, .. } if *p == path));
        self.push(event);
    }

    /// Reports that the peer may use `more` streams. Successive reports are merged.
    pub(crate) fn streams_added(&mut self, more: u16) {
        if let Some(Event::StreamsAdded { incoming, outgoing: 0, result: ResetResult::Performed }) =
            self.queue.back_mut()
        {
            *incoming = incoming.saturating_add(more);
            return;
        }
        self.push(Event::StreamsAdded { incoming: more, outgoing: 0, result: ResetResult::Performed });
    }

    /// True if the peer may not cause further reset events, because [`RESETS`] of them wait.
    pub(crate) fn has_many_resets(&self) -> bool {
        let resets =
            |event: &&Event| matches!(event, Event::StreamsReset { .. } | Event::StreamsAdded { .. });
        self.queue.iter().filter(resets).count() >= RESETS
    }

    /// Reports the key that the peer uses now. The report replaces a waiting one.
    pub(crate) fn auth_key_used(&mut self, id: u16) {
        self.queue.retain(|event| !matches!(event, Event::AuthKeyUsed { .. }));
        self.push(Event::AuthKeyUsed { id });
    }

    pub(crate) fn restarted(&mut self) {
        if !self.queue.contains(&Event::Restarted) {
            self.push(Event::Restarted);
        }
    }

    pub(crate) fn peer_error(&mut self, causes: &[u8]) {
        if self.queue.iter().filter(|event| matches!(event, Event::PeerError { .. })).count() < PEER_ERRORS {
            self.push(Event::PeerError { causes: bytes::Bytes::copy_from_slice(causes) });
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let Some(event) = self.queue.pop_front() else { return self.pop_frequent() };
        if self.queue.is_empty() {
            self.queue = VecDeque::new(); // these events are rare: do not keep the memory
        }
        self.writable_told &= event != Event::Writable;
        Some(event)
    }

    /// The next event from the flags, while the queue is empty.
    #[inline]
    pub(crate) fn pop_frequent(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.readable) {
            return Some(Event::Readable);
        }
        let writable = std::mem::take(&mut self.writable);
        self.writable_told &= !writable;
        if writable { Some(Event::Writable) } else { None }
    }

    /// True if the queue holds an event.
    #[inline]
    pub(crate) fn has_rare(&self) -> bool {
        !self.queue.is_empty()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.readable && !self.writable && self.queue.is_empty()
    }
}
