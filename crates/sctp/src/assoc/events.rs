use crate::event::Event;
use crate::path::PathState;
use std::collections::VecDeque;
use std::net::IpAddr;

/// Events that wait for the user. What can happen again and again takes one place, so the queue is bounded.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    /// The user was told and has not yet read everything.
    readable_told: bool,
    writable_queued: bool,
}

/// Error reports of the peer that may wait; more are forgotten.
const PEER_ERRORS: usize = 8;

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// There is something to read: told once until everything was read.
    #[inline]
    pub(crate) fn readable(&mut self) {
        if !self.readable_told {
            self.readable_told = true;
            self.queue.push_back(Event::Readable);
        }
    }

    /// Nothing is left to read.
    pub(crate) fn all_read(&mut self) {
        self.readable_told = false;
    }

    pub(crate) fn writable(&mut self) {
        if !self.writable_queued {
            self.writable_queued = true;
            self.queue.push_back(Event::Writable);
        }
    }

    pub(crate) fn path_changed(&mut self, address: IpAddr, state: PathState) {
        self.queue.retain(|event| !matches!(event, Event::PathChanged { address: a, .. } if *a == address));
        self.queue.push_back(Event::PathChanged { address, state });
    }

    pub(crate) fn restarted(&mut self) {
        if !self.queue.contains(&Event::Restarted) {
            self.queue.push_back(Event::Restarted);
        }
    }

    pub(crate) fn peer_error(&mut self, causes: &[u8]) {
        if self.queue.iter().filter(|event| matches!(event, Event::PeerError { .. })).count() < PEER_ERRORS {
            self.queue.push_back(Event::PeerError { causes: bytes::Bytes::copy_from_slice(causes) });
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let event = self.queue.pop_front()?;
        self.writable_queued &= event != Event::Writable;
        Some(event)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
