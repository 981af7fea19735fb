use std::net::IpAddr;
use transport::named;
use units::{ByteCount, Probability, Span};

/// A NetPerfMeter flow (paper 001, table 2): one connection, its application, and its measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique in the scenario; with a `count` above 1 the name of the file and a number: `background-1`.
    pub name: String,
    /// Index of the connecting host in [`Scenario::nodes`](super::Scenario::nodes).
    pub client: usize,
    /// Index of the listening host.
    pub server: usize,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Packets of SCTP travel in UDP (RFC 6951).
    pub udp_encapsulation: bool,
    /// SCTP options of the client's endpoint.
    pub client_options: sctp::Config,
    /// SCTP options of the server's endpoint. Flows to the same port of the same server have equal ones.
    pub server_options: sctp::Config,
    /// TCP options of the client's endpoint, if it is one.
    pub client_tcp: tcp::Config,
    /// TCP options of the server's endpoint, if it is one.
    pub server_tcp: tcp::Config,
    /// When the client connects, from the start of the run.
    pub connect_time: Distribution<Span>,
    /// Transmission starts so long after `connect_time`.
    pub start_time: Span,
    /// Measurement starts so long after the start of transmission.
    pub reset_time: Span,
    /// Measurement and transmission stop so long after the start of transmission; the association is then shut down.
    pub stop_time: Span,
    /// From client to server; none: turned off.
    pub forward: Option<Traffic>,
    /// From server to client; none: turned off.
    pub back: Option<Traffic>,
    /// What the client binds.
    pub local_address: LocalAddress,
    /// The client's port. No two flows of a client to the same server and remote port share it.
    pub local_port: u16,
    /// What the client connects to.
    pub remote_address: RemoteAddress,
    /// The server's port.
    pub remote_port: u16,
    /// The path preferred from the start.
    pub primary_path: PrimaryPath,
    /// The networks whose interfaces both ends use; none: all.
    pub networks: Option<Vec<u16>>,
    /// The kind of addresses both ends use.
    pub ip_version: IpVersion,
}

named! {
    /// Transport protocol of a flow.
    #[derive(PartialOrd, Ord)]
    "protocol" Protocol {
        /// Stream Control Transmission Protocol.
        Sctp = "SCTP",
        /// Transmission Control Protocol: a stream of bytes, over the first path.
        Tcp = "TCP",
        /// User Datagram Protocol: a message is a datagram, and nothing is retransmitted.
        Udp = "UDP",
    }
}

/// What an application sends in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// When frames are sent.
    pub pace: Pace,
    /// A paced sender that pauses now and then.
    pub on_off: Option<OnOff>,
    /// Payload of a frame, drawn anew for each.
    pub frame_size: Distribution<ByteCount>,
    /// Frames are cut into messages of at most this.
    pub max_msg_size: ByteCount,
    /// Messages a saturated sender keeps waiting for their first transmission; a paced sender drops what exceeds it.
    pub queue_size: u32,
    /// Fraction of messages sent unordered, drawn for each.
    pub unordered: Probability,
}

/// Active times and pauses of a paced sender, in turn, starting with an active time of at least one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// Length of an active time, drawn anew for each.
    pub on: Distribution<Span>,
    /// Length of a pause, drawn anew for each.
    pub off: Distribution<Span>,
}

/// When frames are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As many as the transport takes (a frame rate of 0 Hz).
    Saturated,
    /// So many a second; the rate that determines the wait for the next frame is drawn anew for each. With an
    /// exponential distribution the waits are exponential, with the inverse of the rate as their mean.
    Frames(Distribution<Hertz>),
}

/// A number or what it is drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution<T> {
    /// Always the same.
    Constant(T),
    /// Uniform from the first, inclusive, to the second.
    Uniform(T, T),
    /// Exponential with this mean.
    Exponential(T),
    /// Pareto with this mean and shape, the shape above 1. Up to a shape of 2 the variance is infinite.
    Pareto(T, f64),
}

/// A frequency in 1/s, finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Hertz(pub(super) f64);

impl Hertz {
    /// A frequency; none if it is negative or not finite.
    pub fn new(per_second: f64) -> Option<Hertz> {
        (per_second.is_finite() && per_second >= 0.0).then_some(Hertz(per_second))
    }

    /// The frequency in 1/s.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

/// What a client binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalAddress {
    /// Every address of the host in the networks of the flow.
    Any,
    /// This one only.
    Ip(IpAddr),
}

/// What a client connects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAddress {
    /// Every address of the server in the networks of the flow.
    Any,
    /// This one; the peer announces the others by itself.
    Ip(IpAddr),
}

/// The path preferred from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimaryPath {
    /// The first.
    Any,
    /// The one to this address of the server.
    Ip(IpAddr),
    /// The one through this network.
    Network(u16),
}

/// The kind of addresses a flow uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}
