use std::net::IpAddr;
use transport::named;
use units::{ByteCount, Probability, Span};

/// A NetPerfMeter flow (paper 001, table 2): one connection, its application, and its measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique in the scenario. With a `count` above 1, the name in the file and a number: `background-1`.
    pub name: String,
    /// Index of the connecting host in [`Scenario::nodes`](super::Scenario::nodes).
    pub client: usize,
    /// Index of the listening host.
    pub server: usize,
    /// Transport protocol.
    pub protocol: Protocol,
    /// True if SCTP packets are encapsulated in UDP (RFC 6951).
    pub udp_encapsulation: bool,
    /// SCTP options of the client's endpoint.
    pub client_options: sctp::Config,
    /// SCTP options of the server's endpoint; equal for all flows to the same port of the same server.
    pub server_options: sctp::Config,
    /// TCP options of the client's endpoint; used only by flows over TCP.
    pub client_tcp: tcp::Config,
    /// TCP options of the server's endpoint; used only by flows over TCP.
    pub server_tcp: tcp::Config,
    /// True if the client sends NetPerfMeter's identifying message of a data connection as soon as it is
    /// connected.
    pub identify: bool,
    /// True if the server returns each datagram of a UDP flow at once, so that the client measures
    /// round-trip times.
    pub echo: bool,
    /// Time from the start of the run until the client connects.
    pub connect_time: Distribution<Span>,
    /// Time from `connect_time` to the start of transmission.
    pub start_time: Distribution<Span>,
    /// Time from the start of transmission to the start of measurement.
    pub reset_time: Span,
    /// Time from the start of transmission to the end of transmission and measurement. The association is
    /// then shut down.
    pub stop_time: Span,
    /// Traffic from client to server; `None`: no traffic.
    pub forward: Option<Traffic>,
    /// Traffic from server to client; `None`: no traffic.
    pub back: Option<Traffic>,
    /// The addresses that the client binds.
    pub local_address: LocalAddress,
    /// The client's port. Flows of one protocol from one client have different ports.
    pub local_port: u16,
    /// The addresses that the client connects to.
    pub remote_address: RemoteAddress,
    /// The server's port.
    pub remote_port: u16,
    /// The client's primary path.
    pub primary_path: PrimaryPath,
    /// The networks whose interfaces both ends use; `None`: all.
    pub networks: Option<Vec<u16>>,
    /// The IP version of the addresses of both ends.
    pub ip_version: IpVersion,
    /// Resets of streams by the client.
    pub stream_resets: StreamResets,
}

impl Flow {
    /// A flow whose client sends to the server from the start of the run. All other values are the defaults.
    pub(super) fn from_client(
        name: String,
        [client, server]: [usize; 2],
        protocol: Protocol,
        traffic: Traffic,
    ) -> Self {
        Flow {
            name,
            client,
            server,
            protocol,
            udp_encapsulation: false,
            client_options: sctp::Config::default(),
            server_options: sctp::Config::default(),
            client_tcp: tcp::Config::modern(),
            server_tcp: tcp::Config::modern(),
            identify: false,
            echo: false,
            connect_time: Distribution::Constant(Span::ZERO),
            start_time: Distribution::Constant(Span::ZERO),
            reset_time: Span::ZERO,
            stop_time: Span::ZERO,
            forward: Some(traffic),
            back: None,
            local_address: LocalAddress::Any,
            local_port: 0,
            remote_address: RemoteAddress::Any,
            remote_port: 9000,
            primary_path: PrimaryPath::Any,
            networks: None,
            ip_version: IpVersion::V4,
            stream_resets: StreamResets::default(),
        }
    }
}

/// Resets of the streams of an SCTP flow, requested by the client (RFC 6525).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamResets {
    /// Times of the resets, from the start of transmission.
    pub times: Vec<Span>,
    /// The direction that is reset, or the whole association.
    pub kind: StreamResetType,
    /// Numbers of the streams; empty: all streams.
    pub streams: Vec<u16>,
}

named! {
    /// The streams that a reset concerns; in INET `streamResetType` 6 to 9.
    #[derive(Default)]
    "stream reset type" StreamResetType {
        /// Streams on which the client sends.
        #[default]
        Outgoing = "outgoing",
        /// Streams on which the server sends.
        Incoming = "incoming",
        /// Streams of the same numbers in both directions.
        Both = "both",
        /// All streams of both directions, and the TSNs.
        Association = "association",
    }
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

/// The traffic that an application sends in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The times at which frames are sent.
    pub pace: Pace,
    /// Active and pause times of a paced sender; `None`: it never pauses.
    pub on_off: Option<OnOff>,
    /// When the sender is turned on and off.
    pub changes: Changes,
    /// Payload of a frame, drawn for each frame.
    pub frame_size: Distribution<ByteCount>,
    /// Largest message; larger frames are sent as several messages.
    pub max_msg_size: ByteCount,
    /// Largest number of messages that wait for their first transmission. A saturated sender keeps this
    /// number of messages waiting; a paced sender drops messages beyond it.
    pub queue_size: u32,
    /// Probability with which a message is sent unordered.
    pub unordered: Probability,
    /// Probability with which a message has the `reliability`; the others are reliable.
    pub unreliable: Probability,
    /// When a message is abandoned.
    pub reliability: sctp::Reliability,
    /// Number of streams. The messages use the streams in turn, from stream 0 on.
    pub streams: u16,
}

impl Traffic {
    /// Reliable messages of at most `max_msg_size` on one stream.
    pub(super) fn plain(pace: Pace, frame_size: Distribution<ByteCount>, max_msg_size: ByteCount) -> Self {
        Traffic {
            pace,
            on_off: None,
            changes: Changes::default(),
            frame_size,
            max_msg_size,
            queue_size: u32::MAX,
            unordered: Probability::ZERO,
            unreliable: Probability::ZERO,
            reliability: sctp::Reliability::Reliable,
            streams: 1,
        }
    }
}

/// Alternating active times and pauses of a paced sender. The sender starts with an active time of at least
/// one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// Length of an active time, drawn for each.
    pub on: Distribution<Span>,
    /// Length of a pause, drawn for each.
    pub off: Distribution<Span>,
}

/// The times at which a sender is turned on and off in turn: NetPerfMeter's on/off events. Without any change
/// the sender is always on; otherwise it is off until the first change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The changes, in the order of time.
    pub times: Vec<Change>,
    /// True if the changes begin anew after the last one.
    pub repeat: bool,
}

/// The time at which a sender is turned on or off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// At this time after the start of transmission, or at the time of the previous change if that is later.
    At(Distribution<Span>),
    /// At this time after the previous change. The first change counts from the start of transmission.
    After(Distribution<Span>),
}

/// The times at which frames are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as the transport accepts them (a frame rate of 0 Hz in the file).
    Saturated,
    /// At this rate in frames per second, drawn for each wait for the next frame. With an exponential
    /// distribution the waits are exponential, with the inverse of the rate as their mean.
    Frames(Distribution<Hertz>),
}

/// The distribution that a value is drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution<T> {
    /// Always this value.
    Constant(T),
    /// Uniform from the first, inclusive, to the second.
    Uniform(T, T),
    /// Exponential, with this mean.
    Exponential(T),
    /// Pareto, with this mean and shape. The shape is above 1; up to 2 the variance is infinite.
    Pareto(T, f64),
}

/// A frequency in 1/s, finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Hertz(pub(super) f64);

impl Hertz {
    /// A frequency; `None` if it is negative or not finite.
    pub fn new(per_second: f64) -> Option<Hertz> {
        (per_second.is_finite() && per_second >= 0.0).then_some(Hertz(per_second))
    }

    /// The frequency in 1/s.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

/// Local addresses that a client binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalAddress {
    /// Every address of the host in the networks of the flow.
    Any,
    /// Only this address.
    Ip(IpAddr),
}

/// Addresses that a client connects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAddress {
    /// Every address of the server in the networks of the flow.
    Any,
    /// This address; an SCTP server announces its other addresses in the handshake.
    Ip(IpAddr),
}

/// The client's primary path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimaryPath {
    /// The first path.
    Any,
    /// The path to this address of the server.
    Ip(IpAddr),
    /// The path through this network.
    Network(u16),
}

/// The IP version of the addresses of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}
