use super::meter::{Meter, Reaction, Tally};
use crate::host::{ConnId, Ending, Event, Side, Transport};
use net::NodeId;
use scenario::StreamResets;
use std::net::IpAddr;
use units::{Instant, Span};

/// A step of a flow's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The client opens the connection.
    Connect,
    /// Transmission starts. If the connection is not established yet, transmission starts once it is.
    Start,
    /// Measurement starts.
    Reset,
    /// Measurement and transmission stop.
    Stop,
    /// A paced sender sends its next frame.
    Frame(Side),
    /// A sender is turned on or off.
    Turn(Side),
    /// The client resets streams.
    ResetStreams,
}

/// The times of a flow (paper 001, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) connect: Instant,
    /// From connecting to the start of transmission.
    pub(crate) start: Span,
    /// From the start of transmission to the start of measurement.
    pub(crate) reset: Span,
    /// From the start of transmission to the end of transmission and measurement.
    pub(crate) stop: Span,
}

/// The addresses and ports of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dial {
    /// The nodes of the client and of the server.
    pub(crate) nodes: [NodeId; 2],
    /// Addresses of the client. The first packet may come from any of these addresses.
    pub(crate) locals: Vec<IpAddr>,
    /// The client's addresses as the server sees them: NATs may translate addresses.
    pub(crate) callers: Vec<IpAddr>,
    /// Addresses of the server, the preferred one first.
    pub(crate) remotes: Vec<IpAddr>,
    /// The client's port.
    pub(crate) local_port: u16,
    /// The server's port.
    pub(crate) port: u16,
}

/// How a flow ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The flow has not ended.
    Open,
    /// The handshake failed.
    NeverConnected,
    /// The connection has ended, with the reason that the client's transport reported.
    Closed(Ending),
}

/// The counters of both ends at the start or at the end of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) from: Instant,
    pub(crate) client: Tally,
    pub(crate) server: Tally,
}

/// The measurement of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) enum Measured {
    /// The measurement has not begun.
    #[default]
    No,
    /// The measurement has begun. Holds the counters at its start.
    Since(Box<Window>),
    /// The measurement has ended. Holds the counters at its start and at its end.
    Done(Box<(Window, Window)>),
}

/// A flow at run time: one connection, NetPerfMeter at both ends, and the measurement.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) dial: Dial,
    /// True with CMT. In sums over all flows, each path then counts as a flow.
    pub(crate) concurrent: bool,
    client: Meter,
    server: Meter,
    /// True if the client sends NetPerfMeter's identifying message as soon as it is connected.
    pub(crate) identifies: bool,
    /// True if the server returns each datagram.
    pub(crate) echoes: bool,
    /// Resets of streams by the client.
    pub(crate) stream_resets: StreamResets,
    /// Time at which the connection was established at the client.
    pub(crate) connected: Option<Instant>,
    /// Time at which transmission started.
    pub(crate) started: Option<Instant>,
    pub(crate) measured: Measured,
    pub(crate) fate: Fate,
    /// True if the connection has ended at the server, too, or never existed there.
    pub(crate) server_closed: bool,
}

impl Flow {
    pub(crate) fn new(
        name: String,
        plan: Plan,
        dial: Dial,
        concurrent: bool,
        [client, server]: [Meter; 2],
    ) -> Self {
        Flow {
            name,
            plan,
            dial,
            concurrent,
            client,
            server,
            identifies: false,
            echoes: false,
            stream_resets: StreamResets::default(),
            connected: None,
            started: None,
            measured: Measured::No,
            fate: Fate::Open,
            server_closed: true,
        }
    }

    /// Returns the application (NetPerfMeter) at one end.
    #[inline]
    pub(crate) fn meter(&mut self, side: Side) -> &mut Meter {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Handles an event of the connection at one end.
    #[inline]
    pub(crate) fn on_event<T: Transport>(
        &mut self,
        now: Instant,
        side: Side,
        endpoint: &mut T,
        id: ConnId,
        event: Event,
    ) -> Reaction {
        let (this, other) = match side {
            Side::Client => (&mut self.client, &mut self.server),
            Side::Server => (&mut self.server, &mut self.client),
        };
        let reaction = this.on_event(now, endpoint, id, event);
        if endpoint.is_stream() {
            this.find_messages_of(other);
        }
        reaction
    }

    /// Returns the application (NetPerfMeter) at one end, for reading.
    pub(crate) fn end(&self, side: Side) -> &Meter {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// True if the measurement of the flow is complete or will never begin.
    pub(crate) fn is_measured(&self) -> bool {
        match self.measured {
            Measured::Done(_) => true,
            Measured::Since(_) => false,
            Measured::No => self.fate != Fate::Open && self.started.is_none(),
        }
    }

    /// True if no more steps or events of this flow follow.
    pub(crate) fn is_over(&self) -> bool {
        self.fate != Fate::Open && self.server_closed && self.is_measured()
    }
}
