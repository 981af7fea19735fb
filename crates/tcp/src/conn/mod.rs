//! One connection: its state, its sending and receiving half, and the negotiated options.

mod close;
mod events;
mod handshake;
mod info;
mod input;
mod output;
mod phase;
mod stamps;
mod timers;

pub(crate) use input::Handled;

use crate::Config;
use crate::event::{CloseReason, Event, SendError};
use crate::rx::Receiver;
use crate::sequence::Seq;
use crate::sequence::Space;
use crate::tx::Sender;
use events::Events;
use handshake::Agreed;
use phase::{Phase, Retry};
use stamps::Stamps;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{BufferBudget, Checksum, Payload};
use units::{Instant, Span};

/// Parameters common to all connections of an endpoint.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) port: u16,
    pub(crate) checksum: Checksum,
    pub(crate) config: Arc<Config>,
    pub(crate) budget: Arc<BufferBudget>,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends {
    pub(crate) remote_port: u16,
    pub(crate) remote: IpAddr,
    pub(crate) local: IpAddr,
}

/// Secret random initial values of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    pub(crate) isn: Seq,
    pub(crate) clock_offset: u32,
}

#[derive(Debug)]
pub(crate) struct Connection {
    local: Arc<Local>,
    ends: Ends,
    phase: Phase,
    ours: Space,
    theirs: Space,
    agreed: Agreed,
    stamps: Stamps,
    sender: Sender,
    /// `None` until the peer's SYN arrives.
    receiver: Option<Receiver>,
    /// A SYN is to be sent.
    syn_due: bool,
    /// Time of the first SYN; `None` after a SYN cookie.
    syn_at: Option<Instant>,
    /// The user has closed the sending side, perhaps before the end of the handshake.
    closing: bool,
    /// Segments carry ECE until the peer sends CWR (`rfc3168#section-6.1.3`).
    echo_congestion: bool,
    challenges: Challenges,
    events: Events,
}

/// Rate limit of challenge ACKs (`rfc5961#section-7`).
#[derive(Debug, Default)]
struct Challenges {
    since: Instant,
    sent: u32,
}

impl Challenges {
    const LIMIT: u32 = 10;
    const PERIOD: Span = Span::from_secs(5);

    fn allow(&mut self, now: Instant) -> bool {
        if now.since(self.since) >= Self::PERIOD || self.sent == 0 {
            self.since = now;
            self.sent = 0;
        }
        self.sent += 1;
        self.sent <= Self::LIMIT
    }
}

impl Connection {
    fn new(now: Instant, local: &Arc<Local>, ends: Ends, birth: Birth, passive: bool) -> Self {
        let sender = Sender::new(&local.config, &local.budget);
        let retry = Retry { deadline: sender.rto.deadline(now), count: 0 };
        Connection {
            local: local.clone(),
            ends,
            phase: if passive { Phase::SynReceived { retry, passive } } else { Phase::SynSent { retry } },
            ours: Space::new(birth.isn),
            theirs: Space::new(Seq(0)),
            agreed: Agreed::default(),
            stamps: Stamps::new(birth.clock_offset),
            sender,
            receiver: None,
            syn_due: true,
            syn_at: Some(now),
            closing: false,
            echo_congestion: false,
            challenges: Challenges::default(),
            events: Events::default(),
        }
    }

    /// Opens a connection, whose SYN is sent next.
    pub(crate) fn connect(now: Instant, local: &Arc<Local>, ends: Ends, birth: Birth) -> Self {
        Self::new(now, local, ends, birth, false)
    }

    #[inline]
    fn config(&self) -> &Config {
        &self.local.config
    }

    pub(crate) fn send(&mut self, payload: Payload) -> Result<u64, SendError> {
        if self.closing || !self.phase.may_send() {
            return Err(SendError::Closed);
        }
        Ok(self.sender.push(payload))
    }

    pub(crate) fn receive(&mut self, max: usize) -> Option<Payload> {
        let receiver = self.receiver.as_mut()?;
        let payload = receiver.take(max);
        match &payload {
            Some(payload) => self.sender.stats.bytes_delivered += payload.byte_count(),
            None => self.events.all_read(),
        }
        payload
    }

    /// Updates events and state after a change.
    #[inline]
    fn settle(&mut self, now: Instant) {
        if self.is_readable() {
            self.events.readable();
        }
        if self.sender.take_writable() && self.phase.may_send() {
            self.events.push(Event::Writable);
        }
        if self.sender.is_finished() {
            self.on_our_end(now);
        }
    }

    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        self.receiver.as_ref().is_some_and(|receiver| receiver.readable() > 0)
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    #[inline]
    pub(crate) fn ends(&self) -> Ends {
        self.ends
    }

    /// True if the peer opened the connection and has not yet proved that it receives at its address.
    #[inline]
    pub(crate) fn is_half_open(&self) -> bool {
        matches!(self.phase, Phase::SynReceived { passive: true, .. })
    }

    /// Drops a half-open connection without a packet to the peer.
    pub(crate) fn forget(&mut self) {
        self.phase = Phase::Closed { reset: false };
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    fn end(&mut self, reason: CloseReason, reset: bool) {
        // The application was never told of a connection that the peer opened and that was not established.
        let unknown = matches!(self.phase, Phase::SynReceived { passive: true, .. });
        if !unknown && !matches!(self.phase, Phase::TimeWait { .. }) {
            self.events.push(Event::Closed { reason });
        }
        self.phase = Phase::Closed { reset };
        self.sender.clear();
    }
}
