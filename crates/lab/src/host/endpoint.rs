//! The operations that the host adapter and the applications use on an endpoint of any protocol.

use net::Protocol;
use scenario::StreamResets;
use std::net::IpAddr;
use transport::{Limit, LimitTimes, Stopwatch};
use units::{ByteCount, Instant, Span};

/// Identifies a connection of an endpoint: an association of SCTP, a connection of TCP, or a peer of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u32);

/// The operations of an application on the connections of an endpoint.
pub(crate) trait Transport {
    /// The protocol number in the IP header of the packets.
    fn protocol(&self) -> Protocol;
    /// True if the transport delivers a byte stream without message boundaries.
    fn is_stream(&self) -> bool;
    /// Accepts connections of peers.
    fn listen(&mut self);
    /// Connects to a peer; `None` if that is impossible.
    fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId>;
    /// The address and port at the other end.
    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)>;
    /// Offers a message of zeros, on a stream if the protocol has streams. Returns the number of accepted
    /// bytes: zero if the buffer is full. A transport with message boundaries accepts all bytes or none.
    fn send(&mut self, now: Instant, id: ConnId, length: u32, service: Service) -> u32;
    /// The next piece of data that has arrived.
    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece>;
    /// Ends a connection once everything sent has been delivered.
    fn shutdown(&mut self, now: Instant, id: ConnId);
    /// Resets streams of a connection; does nothing if the protocol has no streams.
    fn reset_streams(&mut self, _now: Instant, _id: ConnId, _resets: &StreamResets) {}
    /// The counters of a connection since its start.
    fn counted(&self, id: ConnId) -> Counted;
    /// The receive window of the peer, if the protocol has one.
    fn peer_window(&self, id: ConnId) -> Option<ByteCount>;
    /// The reason that keeps the sender from sending more at present; `None` before its first transmission,
    /// and for UDP.
    fn limit(&self, id: ConnId) -> Option<Limit>;
    /// Calls `show` with the state of each path of a connection.
    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView));
    /// Calls `show` with the inner quantities of the congestion control of a path
    /// ([`CongestionControl::inspect`](cc::CongestionControl::inspect)).
    fn inspect(&self, _id: ConnId, _path: usize, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// How a message is delivered. Values other than [`Service::PLAIN`] work over SCTP only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    pub(crate) stream: u16,
    pub(crate) unordered: bool,
    pub(crate) reliability: sctp::Reliability,
}

impl Service {
    /// The plain service: on stream 0, in order, and retransmitted until the message arrives.
    pub(crate) const PLAIN: Service =
        Service { stream: 0, unordered: false, reliability: sctp::Reliability::Reliable };
}

/// An endpoint of one protocol, which the host adapter polls.
pub(crate) trait Protocolled: Transport + transport::Endpoint {
    /// Converts a connection and its event to the types that all protocols share.
    fn shared(id: Self::Id, event: Self::Event) -> (ConnId, Event);
}

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The connection is established.
    Connected,
    /// Data can be read.
    Readable,
    /// The send buffer has room again.
    Writable,
    /// A datagram that was sent at this time has been returned.
    Echoed(Instant),
    /// The peer sends no more data.
    PeerClosed,
    /// The connection has ended.
    Closed(Ending),
    /// The event does not concern an application.
    Other,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Both sides delivered everything.
    Graceful,
    /// Abnormally, with the reason that the transport reports.
    Failed(String),
}

/// Data that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: u64,
    /// True if the data ends a message.
    pub(crate) end_of_record: bool,
    pub(crate) unordered: bool,
}

/// The counters of a connection at one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// Packets with data received.
    pub(crate) data_packets: u64,
    /// Chunks or segments received more than once.
    pub(crate) duplicates: u64,
    /// Chunks or segments dropped because the receive buffer was full.
    pub(crate) refused: u64,
    /// Packets with an acknowledgement sent: for SCTP those with a SACK, for TCP those without data.
    pub(crate) acks: u64,
    /// For each reason that can hold the sender back, the time in which it did; zero for UDP.
    pub(crate) limits: LimitTimes,
    /// The counters of each path.
    pub(crate) paths: Vec<PathCounts>,
}

impl Counted {
    /// The path between two addresses, or, if there is none, the path to the address of the peer.
    pub(crate) fn path(&self, local: IpAddr, remote: IpAddr) -> Option<usize> {
        let exact = self.paths.iter().position(|path| (path.local, path.remote) == (local, remote));
        exact.or_else(|| self.paths.iter().position(|path| path.remote == remote))
    }

    /// Returns a copy in which times are counted up to `now`.
    pub(crate) fn until(mut self, now: Instant) -> Self {
        self.limits = self.limits.until(now);
        for path in &mut self.paths {
            path.limits = path.limits.until(now);
            path.blocks = path.blocks.until(now);
        }
        self
    }
}

/// The counters of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathCounts {
    /// Source address.
    pub(crate) local: IpAddr,
    /// Destination address.
    pub(crate) remote: IpAddr,
    pub(crate) data_packets: u64,
    /// Payload including retransmissions.
    pub(crate) user_bytes: ByteCount,
    /// Bytes of all packets, without the IP header.
    pub(crate) packet_bytes: ByteCount,
    /// Packets with an acknowledgement and no data, including IP headers; `None` if they are not counted.
    pub(crate) ack_bytes: Option<ByteCount>,
    pub(crate) fast_retransmissions: u64,
    /// Fast retransmissions that are known to be needless.
    pub(crate) needless_retransmissions: u64,
    pub(crate) undone_recoveries: u64,
    pub(crate) timer_retransmissions: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
    /// The current smoothed RTT.
    pub(crate) srtt: Option<Span>,
    /// For each reason that can hold the sender back on this path, the time in which it did.
    pub(crate) limits: LimitTimes,
    /// Time in which a chunk of this path blocked the whole connection (head-of-line blocking).
    pub(crate) blocks: Stopwatch,
}

/// The state of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathView {
    pub(crate) cwnd: ByteCount,
    pub(crate) ssthresh: Option<ByteCount>,
    pub(crate) flight: ByteCount,
    pub(crate) srtt: Option<Span>,
    pub(crate) rto: Span,
    /// Packets with data sent so far.
    pub(crate) data_packets: u64,
    /// Number of the last chunk sent, counted from 1; zero before the first. `None` for TCP and UDP.
    pub(crate) last_chunk: Option<u64>,
    /// The reason that keeps the sender from sending more on this path at present.
    pub(crate) limit: Option<Limit>,
}
