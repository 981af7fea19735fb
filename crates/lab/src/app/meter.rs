use super::source::{Source, SourceCounters};
use crate::host::EndpointId;
use sctp::{AssocId, AssocStats, CloseReason, Endpoint, Event, PathStats};
use units::{Instant, Span};

/// NetPerfMeter at one end of a flow.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) endpoint: EndpointId,
    /// The association, once there is one and until it ends.
    pub(crate) assoc: Option<AssocId>,
    /// None if nothing is sent in this direction.
    source: Option<Source>,
    sending: bool,
    received: Received,
    /// What the association had counted when it ended.
    last: Option<Box<Counted>>,
}

/// What an association has counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) association: AssocStats,
    pub(crate) paths: Vec<PathStats>,
    /// Smoothed round-trip time of each path, as it stands.
    pub(crate) srtt: Vec<Option<Span>>,
}

impl Counted {
    fn new(endpoint: &Endpoint, id: AssocId) -> Self {
        let paths = || endpoint.paths(id).into_iter().flatten();
        Counted {
            association: endpoint.stats(id).unwrap_or_default(),
            paths: paths().map(|path| path.stats).collect(),
            srtt: paths().map(|path| path.srtt).collect(),
        }
    }
}

/// What was delivered to the application since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) messages: u64,
    /// Those of them that were sent unordered.
    pub(crate) unordered: u64,
    pub(crate) bytes: u64,
}

/// What an event means to the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Nothing beyond this end.
    None,
    /// The association is there.
    Connected,
    /// The association is gone.
    Closed(CloseReason),
}

/// Everything an end counts, all since the start of the run: differences of two tallies describe the time between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) received: Received,
    pub(crate) offered: SourceCounters,
    pub(crate) counted: Counted,
}

impl Meter {
    pub(crate) fn new(endpoint: EndpointId, source: Option<Source>) -> Self {
        Meter { endpoint, assoc: None, source, sending: false, received: Received::default(), last: None }
    }

    /// Starts to send. Returns the wait until the second frame if the source is paced.
    pub(crate) fn start(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Span> {
        self.sending = self.assoc.is_some();
        self.refill(now, endpoint);
        self.frame(now, endpoint)
    }

    /// Sends nothing new any more.
    pub(crate) fn stop(&mut self) {
        self.sending = false;
    }

    /// Sends a frame of a paced source. Returns the wait until the next.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Span> {
        let (Some(source), Some(id), true) = (&mut self.source, self.assoc, self.sending) else {
            return None;
        };
        source.frame(now, endpoint, id)
    }

    fn refill(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if let (Some(source), Some(id), true) = (&mut self.source, self.assoc, self.sending)
            && source.is_saturated()
        {
            source.refill(now, endpoint, id);
        }
    }

    /// Takes what the endpoint tells of this association.
    #[inline]
    pub(crate) fn on_event(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        id: AssocId,
        event: Event,
    ) -> Reaction {
        match event {
            Event::Readable => self.read(now, endpoint, id),
            Event::Writable => self.refill(now, endpoint),
            Event::Connected { .. } => {
                self.assoc = Some(id);
                return Reaction::Connected;
            }
            Event::Closed { reason } => {
                self.read(now, endpoint, id);
                self.last = Some(Box::new(Counted::new(endpoint, id)));
                self.assoc = None;
                return Reaction::Closed(reason);
            }
            Event::Restarted
            | Event::PathChanged { .. }
            | Event::SendFailed { .. }
            | Event::PeerError { .. }
            | Event::ShutdownReceived => {}
        }
        Reaction::None
    }

    /// Reads everything there is.
    #[inline]
    fn read(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        while let Some(piece) = endpoint.receive(now, id, usize::MAX) {
            self.received.bytes += piece.payload.len() as u64;
            self.received.messages += u64::from(piece.end_of_record);
            self.received.unordered += u64::from(piece.end_of_record && piece.unordered);
        }
    }

    /// What was delivered here so far.
    pub(crate) fn received(&self) -> Received {
        self.received
    }

    /// What was offered here so far.
    pub(crate) fn offered(&self) -> SourceCounters {
        self.source.as_ref().map(|source| source.counters).unwrap_or_default()
    }

    /// True if this end has anything to send at all.
    pub(crate) fn sends(&self) -> bool {
        self.source.is_some()
    }

    /// The counters as they stand.
    pub(crate) fn tally(&self, endpoint: &Endpoint) -> Tally {
        let counted = match (self.assoc, &self.last) {
            (Some(id), _) => Counted::new(endpoint, id),
            (None, Some(last)) => (**last).clone(),
            (None, None) => Counted::default(),
        };
        Tally { received: self.received, offered: self.offered(), counted }
    }
}
