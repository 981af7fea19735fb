//! Short transfers. Each transfer has its own connection and begins at a random time.

use super::Reaction;
use super::flow::Dial;
use crate::host::{ConnId, EndpointId, Event, Service, Side, Transport};
use crate::scenario::{self, Flow};
use crate::traffic::draw;
use des::Random;
use std::collections::VecDeque;
use units::{Instant, Span};

/// Starts the transfers of one entry of the scenario.
#[derive(Debug)]
pub(crate) struct TransferSource {
    pub(crate) spec: scenario::Transfers,
    pub(crate) dial: Dial,
    pub(crate) server: EndpointId,
    random: Random,
    /// Indices of the unused [`Lane`]s of this source, the one unused for longest first.
    pub(crate) free: VecDeque<usize>,
    /// The client port that the next new [`Lane`] gets.
    pub(crate) next_port: Option<u16>,
    /// Start time of each transfer.
    pub(crate) begun: Vec<Instant>,
    /// Delivered transfers, in the order of completion.
    pub(crate) done: Vec<Done>,
    /// Number of transfers that have not ended.
    pub(crate) open: usize,
}

/// A transfer that was delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    pub(crate) bytes: u64,
}

/// First of the client ports (dynamic ports of IANA).
const FIRST_PORT: u16 = 49_152;

impl TransferSource {
    pub(crate) fn new(spec: scenario::Transfers, dial: Dial, server: EndpointId, random: Random) -> Self {
        TransferSource {
            spec,
            dial,
            server,
            random,
            free: VecDeque::new(),
            next_port: Some(FIRST_PORT),
            begun: Vec::new(),
            done: Vec::new(),
            open: 0,
        }
    }

    /// The flow that is the template of each connection.
    pub(crate) fn like(&self) -> &Flow {
        &self.spec.like
    }

    /// Returns the start of the transfer that follows one at `now`; `None` if it is after the last allowed
    /// time.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Instant> {
        let at = now + draw::wait(self.spec.rate, &mut self.random);
        (at <= self.spec.to).then_some(at)
    }

    /// Draws the size of a transfer, bytes.
    pub(crate) fn size(&mut self) -> u64 {
        draw::size(self.spec.size, &mut self.random).get()
    }

    /// True if no transfer is in progress and none follows.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.open == 0 && now >= self.spec.to
    }
}

/// A client port that transfers use one after another.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) source: usize,
    pub(crate) client: EndpointId,
    most: u32,
    began: Instant,
    size: u64,
    /// Bytes that the transport has not yet accepted.
    left: u64,
    received: u64,
    /// Whether the connection exists, at the client and at the server.
    pub(crate) open: [bool; 2],
    told: bool,
}

impl Lane {
    /// A lane (client port) of `source`, with messages of at most `most` bytes.
    pub(crate) fn new(source: usize, client: EndpointId, most: u64) -> Self {
        Lane {
            source,
            client,
            most: u32::try_from(most).unwrap_or(u32::MAX),
            began: Instant::ZERO,
            size: 0,
            left: 0,
            received: 0,
            open: [false; 2],
            told: false,
        }
    }

    /// Begins a transfer of `size` bytes.
    pub(crate) fn begin(&mut self, now: Instant, size: u64) {
        (self.began, self.size, self.left, self.received) = (now, size, size, 0);
        (self.open, self.told) = ([true, false], false);
    }

    /// Returns the transfer when all of it is delivered; `None` before that, and in later calls.
    pub(crate) fn delivered(&mut self, now: Instant) -> Option<Done> {
        let whole = self.received >= self.size && !self.told;
        self.told |= whole;
        whole.then_some(Done { began: self.began, ended: now, bytes: self.size })
    }

    /// Handles an event of the connection at one end.
    pub(crate) fn on_event<T: Transport>(
        &mut self,
        now: Instant,
        side: Side,
        endpoint: &mut T,
        id: ConnId,
        event: Event,
    ) -> Reaction {
        match (event, side) {
            (Event::Connected, Side::Client) => self.push(now, endpoint, id),
            (Event::Connected, Side::Server) => self.open[1] = true,
            (Event::Writable, _) => self.push(now, endpoint, id),
            (Event::Readable, _) => return self.read(now, endpoint, id),
            (Event::PeerClosed, _) => {
                endpoint.shutdown(now, id);
                return self.read(now, endpoint, id);
            }
            (Event::Closed(ending), _) => {
                self.read(now, endpoint, id);
                return Reaction::Closed(ending);
            }
            (Event::Other | Event::Echoed(_), _) => {}
        }
        Reaction::None
    }

    /// Sends as much as the transport accepts, and ends the connection after the last byte.
    fn push<T: Transport>(&mut self, now: Instant, endpoint: &mut T, id: ConnId) {
        while self.left > 0 {
            let length = u64::from(self.most).min(self.left) as u32;
            let taken = endpoint.send(now, id, length, Service::PLAIN);
            self.left -= u64::from(taken);
            if taken < length {
                return;
            }
        }
        endpoint.shutdown(now, id);
    }

    fn read<T: Transport>(&mut self, now: Instant, endpoint: &mut T, id: ConnId) -> Reaction {
        while let Some(piece) = endpoint.receive(now, id) {
            self.received += piece.bytes;
        }
        if self.received >= self.size && !self.told { Reaction::Delivered } else { Reaction::None }
    }
}

impl Done {
    /// Completion time: from the start of the handshake to the delivery of the last byte.
    pub(crate) fn time(&self) -> Span {
        self.ended.since(self.began)
    }
}
