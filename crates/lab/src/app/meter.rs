use super::source::{Source, SourceCounters};
use crate::host::{ConnId, Counted, Ending, EndpointId, Event, Service, Transport};
use crate::scenario::Pace;
use units::{Instant, Span};

/// NetPerfMeter at one end of a flow.
#[derive(Debug)]
#[repr(C, align(64))] // the fields that each message changes come first
pub(crate) struct Meter {
    received: Received,
    /// The connection, while there is one.
    pub(crate) conn: Option<ConnId>,
    pub(crate) endpoint: EndpointId,
    sending: bool,
    /// Source of the data that this end sends; `None` if it sends none.
    source: Option<Source>,
    /// The counters of the connection when it ended.
    last: Option<Box<Counted>>,
    /// Of each datagram that was returned: the time at which it left, and its round-trip time.
    pub(crate) echoes: Vec<(Instant, Span)>,
}

/// Data delivered to the application since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) messages: u64,
    /// Messages that were sent unordered.
    pub(crate) unordered: u64,
    pub(crate) bytes: u64,
}

/// The effect of an event on the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// No effect on the other end.
    None,
    /// The connection is established.
    Connected,
    /// All data of a transfer has been delivered.
    Delivered,
    /// The connection has ended.
    Closed(Ending),
}

/// All counters of an end since the start of the run. The difference of two tallies covers the time between
/// the two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) received: Received,
    pub(crate) offered: SourceCounters,
    pub(crate) counted: Counted,
}

/// Length of NetPerfMeter's identifying message: header, flow, measurement, stream, and a constant.
const IDENTIFY: u32 = 26;

impl Tally {
    /// Bytes of all packets sent, without IP headers.
    pub(crate) fn transport_bytes(&self) -> u64 {
        self.counted.paths.iter().map(|path| path.packet_bytes.get()).sum()
    }
}

impl Meter {
    pub(crate) fn new(endpoint: EndpointId, source: Option<Source>) -> Self {
        Meter {
            endpoint,
            conn: None,
            source,
            sending: false,
            received: Received::default(),
            last: None,
            echoes: Vec::new(),
        }
    }

    /// Starts to send. Returns the wait until the second frame if the source is paced.
    pub(crate) fn start(&mut self, now: Instant, endpoint: &mut impl Transport) -> Option<Span> {
        self.sending = self.conn.is_some();
        self.refill(now, endpoint);
        self.frame(now, endpoint)
    }

    /// Changes the pace of the frames. Returns the wait until the next frame, if one was sent now.
    pub(crate) fn set_pace(
        &mut self,
        now: Instant,
        endpoint: &mut impl Transport,
        pace: Pace,
    ) -> Option<Span> {
        let due = self.source.as_mut()?.set_pace(pace);
        self.refill(now, endpoint);
        if due { self.frame(now, endpoint) } else { None }
    }

    /// Stops sending new messages.
    pub(crate) fn stop(&mut self) {
        self.sending = false;
    }

    /// Sends a frame of a paced source. Returns the wait until the next frame.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut impl Transport) -> Option<Span> {
        let (Some(source), Some(id), true) = (&mut self.source, self.conn, self.sending) else {
            return None;
        };
        source.frame(now, endpoint, id)
    }

    /// Sends NetPerfMeter's identifying message. It is not counted as offered data.
    pub(crate) fn identify(&mut self, now: Instant, endpoint: &mut impl Transport) {
        let Some(id) = self.conn else { return };
        let taken = endpoint.send(now, id, IDENTIFY, Service::PLAIN);
        if let Some(source) = self.source.as_mut().filter(|_| endpoint.is_stream() && taken > 0) {
            source.bounds.push(taken);
        }
    }

    /// The next time at which the source is turned on or off, from the start of transmission; `None` if no
    /// change follows.
    pub(crate) fn next_change(&mut self) -> Option<Span> {
        self.source.as_mut().filter(|_| self.sending)?.next_change()
    }

    /// Turns the source on or off. If that sends a frame, returns the wait until the next one.
    pub(crate) fn turn(&mut self, now: Instant, endpoint: &mut impl Transport) -> Option<Span> {
        let held = self.source.as_mut().is_some_and(Source::turn);
        self.refill(now, endpoint);
        if held { self.frame(now, endpoint) } else { None }
    }

    fn refill(&mut self, now: Instant, endpoint: &mut impl Transport) {
        if let (Some(source), Some(id), true) = (&mut self.source, self.conn, self.sending) {
            source.refill(now, endpoint, id);
        }
    }

    /// Handles an event of this connection.
    #[inline]
    pub(super) fn on_event(
        &mut self,
        now: Instant,
        endpoint: &mut impl Transport,
        id: ConnId,
        event: Event,
    ) -> Reaction {
        match event {
            Event::Readable => self.read(now, endpoint, id),
            Event::Writable => self.refill(now, endpoint),
            Event::Echoed(sent) => self.echoes.push((sent, now.since(sent))),
            Event::Connected => {
                self.conn = Some(id);
                return Reaction::Connected;
            }
            Event::PeerClosed => {
                self.read(now, endpoint, id);
                self.stop();
                endpoint.shutdown(now, id);
            }
            Event::Closed(ending) => {
                self.read(now, endpoint, id);
                self.last = Some(Box::new(endpoint.counted(id).until(now)));
                self.conn = None;
                return Reaction::Closed(ending);
            }
            Event::Other => {}
        }
        Reaction::None
    }

    /// Reads all data that can be read.
    #[inline]
    fn read(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) {
        while let Some(piece) = endpoint.receive(now, id) {
            self.received.bytes += piece.bytes;
            self.received.messages += u64::from(piece.end_of_record);
            self.received.unordered += u64::from(piece.end_of_record && piece.unordered);
        }
    }

    /// For a byte stream (TCP): counts the messages in the bytes read so far. The peer recorded the lengths
    /// of the messages when it sent them.
    pub(super) fn find_messages_of(&mut self, peer: &mut Meter) {
        if let Some(source) = &mut peer.source {
            self.received.messages += source.bounds.pass(self.received.bytes);
        }
    }

    /// Data delivered at this end so far.
    pub(crate) fn received(&self) -> Received {
        self.received
    }

    /// Data offered at this end so far.
    pub(crate) fn offered(&self) -> SourceCounters {
        self.source.as_ref().map(|source| source.counters).unwrap_or_default()
    }

    /// True if this end sends data at any time.
    pub(crate) fn sends(&self) -> bool {
        self.source.is_some()
    }

    /// All counters at the time `now`.
    pub(crate) fn tally(&self, now: Instant, endpoint: &impl Transport) -> Tally {
        let counted = match (self.conn, &self.last) {
            (Some(id), _) => endpoint.counted(id).until(now),
            (None, Some(last)) => (**last).clone(),
            (None, None) => Counted::default(),
        };
        Tally { received: self.received, offered: self.offered(), counted }
    }
}
