//! What the host adapter and the applications ask of an endpoint of any protocol, in terms that all of them share.

use super::udp;
use net::Protocol;
use std::net::IpAddr;
use units::{ByteCount, Instant, Span};

/// A connection of an endpoint; of SCTP an association, of UDP a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u32);

/// The operations of an application on the connections of an endpoint.
pub(crate) trait Transport {
    /// What its packets carry in their IP header.
    fn protocol(&self) -> Protocol;
    /// True if it delivers a stream of bytes, in which messages have no bounds.
    fn is_stream(&self) -> bool;
    /// Accepts connections that others begin.
    fn listen(&mut self);
    /// Begins a connection; none if that is impossible.
    fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId>;
    /// The address and port at the other end.
    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)>;
    /// Offers a message of filler. Returns the bytes taken: none if there is no room, and all or none where messages
    /// have bounds.
    fn send(&mut self, now: Instant, id: ConnId, length: u32, unordered: bool) -> u32;
    /// Hands over something that has arrived.
    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece>;
    /// Ends a connection once everything sent has been delivered.
    fn shutdown(&mut self, now: Instant, id: ConnId);
    /// What a connection has counted since its start.
    fn counted(&self, id: ConnId) -> Counted;
    /// What the peer can still take, where peers say so.
    fn peer_window(&self, id: ConnId) -> Option<ByteCount>;
    /// Shows how each path of a connection stands.
    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView));
}

/// An endpoint of one protocol, which the host adapter feeds and drains.
pub(crate) trait Protocolled: Transport + transport::Endpoint {
    /// A connection and what happened to it, in terms that all protocols share.
    fn shared(id: Self::Id, event: Self::Event) -> (ConnId, Event);
}

/// Something that happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It is there.
    Connected,
    /// Something can be read.
    Readable,
    /// There is room to send again.
    Writable,
    /// The peer sends no more.
    PeerClosed,
    /// It is gone.
    Closed(Ending),
    /// Nothing that concerns an application.
    Other,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Both sides delivered everything.
    Graceful,
    /// Otherwise; in the transport's words.
    Failed(String),
}

/// Something read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: u64,
    /// It ends a message.
    pub(crate) end_of_record: bool,
    pub(crate) unordered: bool,
}

/// What a connection has counted at one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// Packets with data that came in.
    pub(crate) data_packets: u64,
    /// Pieces of data, chunks or segments, that had come in before.
    pub(crate) duplicates: u64,
    /// Those for which there was no room.
    pub(crate) refused: u64,
    /// Packets with an acknowledgement that went out: of SCTP those with a SACK, of TCP those without data.
    pub(crate) acks: u64,
    /// What each path has sent.
    pub(crate) paths: Vec<PathCounts>,
}

/// What a path has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathCounts {
    /// Where it leads.
    pub(crate) remote: IpAddr,
    pub(crate) data_packets: u64,
    /// Payload with all retransmissions.
    pub(crate) user_bytes: ByteCount,
    /// All packets, without the IP header.
    pub(crate) packet_bytes: ByteCount,
    pub(crate) fast_retransmissions: u64,
    pub(crate) timer_retransmissions: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
    /// As it stands.
    pub(crate) srtt: Option<Span>,
}

/// How a path stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathView {
    pub(crate) cwnd: ByteCount,
    pub(crate) ssthresh: Option<ByteCount>,
    pub(crate) flight: ByteCount,
    pub(crate) srtt: Option<Span>,
    pub(crate) rto: Span,
    /// Packets with data sent so far.
    pub(crate) data_packets: u64,
    /// The number of the chunk sent last, where data has numbers; from 1, and zero before the first.
    pub(crate) last_chunk: Option<u64>,
}

/// An endpoint of any kind.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Sctp(::sctp::Endpoint),
    Tcp(::tcp::Endpoint),
    Udp(udp::Endpoint),
}

/// Does the same with an endpoint of any kind, each time with the type it has.
macro_rules! with {
    ($endpoint:expr, $it:ident => $do:expr) => {
        match $endpoint {
            $crate::host::endpoint::Endpoint::Sctp($it) => $do,
            $crate::host::endpoint::Endpoint::Tcp($it) => $do,
            $crate::host::endpoint::Endpoint::Udp($it) => $do,
        }
    };
}
pub(super) use with;

impl Transport for Endpoint {
    fn protocol(&self) -> Protocol {
        with!(self, it => it.protocol())
    }

    fn is_stream(&self) -> bool {
        with!(self, it => it.is_stream())
    }

    fn listen(&mut self) {
        with!(self, it => Transport::listen(it));
    }

    fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId> {
        with!(self, it => Transport::connect(it, now, port, remotes))
    }

    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        with!(self, it => it.peer(id))
    }

    fn send(&mut self, now: Instant, id: ConnId, length: u32, unordered: bool) -> u32 {
        with!(self, it => Transport::send(it, now, id, length, unordered))
    }

    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece> {
        with!(self, it => Transport::receive(it, now, id))
    }

    fn shutdown(&mut self, now: Instant, id: ConnId) {
        with!(self, it => Transport::shutdown(it, now, id));
    }

    fn counted(&self, id: ConnId) -> Counted {
        with!(self, it => it.counted(id))
    }

    fn peer_window(&self, id: ConnId) -> Option<ByteCount> {
        with!(self, it => it.peer_window(id))
    }

    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView)) {
        with!(self, it => Transport::paths(it, id, show));
    }
}
