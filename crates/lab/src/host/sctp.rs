//! SCTP as a [`Transport`].

use super::endpoint::{ConnId, Counted, Ending, Event, PathCounts, PathView, Piece, Protocolled, Transport};
use net::Protocol;
use sctp::{AssocId, CloseReason, Endpoint, Message, Payload, SendError};
use std::net::IpAddr;
use units::{ByteCount, Instant};
use wire::StreamId;

impl Transport for Endpoint {
    #[inline]
    fn protocol(&self) -> Protocol {
        Protocol::Sctp
    }

    #[inline]
    fn is_stream(&self) -> bool {
        false
    }

    fn listen(&mut self) {
        Endpoint::listen(self, true);
    }

    fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId> {
        Endpoint::connect(self, now, port, remotes).ok().map(|AssocId(id)| ConnId(id))
    }

    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        let remote = Endpoint::paths(self, AssocId(id.0))?.next()?.remote;
        Some((remote, self.peer_port(AssocId(id.0))?))
    }

    #[inline]
    fn send(&mut self, now: Instant, id: ConnId, length: u32, stream: u16, unordered: bool) -> u32 {
        let stream = StreamId(stream);
        let message = Message { stream, unordered, ..Message::new(Payload::Filler(length)) };
        match Endpoint::send(self, now, AssocId(id.0), message) {
            Ok(_) => length,
            Err(SendError::WouldBlock | SendError::Closed) => 0,
            Err(error) => unreachable!("checked when the flow was built: {error}"),
        }
    }

    #[inline]
    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece> {
        let piece = Endpoint::receive(self, now, AssocId(id.0), usize::MAX)?;
        Some(Piece {
            bytes: piece.payload.len() as u64,
            end_of_record: piece.end_of_record,
            unordered: piece.unordered,
        })
    }

    fn shutdown(&mut self, now: Instant, id: ConnId) {
        Endpoint::shutdown(self, now, AssocId(id.0));
    }

    fn counted(&self, id: ConnId) -> Counted {
        let received = self.stats(AssocId(id.0)).unwrap_or_default().received;
        let paths = Endpoint::paths(self, AssocId(id.0)).into_iter().flatten();
        let counts = paths.map(|path| PathCounts {
            local: path.local,
            remote: path.remote,
            data_packets: path.stats.data_packets,
            user_bytes: path.stats.user_bytes,
            packet_bytes: path.stats.packet_bytes,
            fast_retransmissions: path.stats.fast_retransmissions,
            timer_retransmissions: path.stats.timer_retransmissions,
            fast_recoveries: path.stats.fast_recoveries,
            timeouts: path.stats.timeouts,
            srtt: path.srtt,
        });
        Counted {
            data_packets: received.data_packets,
            duplicates: received.duplicates,
            refused: received.dropped,
            acks: received.sacks,
            paths: counts.collect(),
        }
    }

    fn peer_window(&self, id: ConnId) -> Option<ByteCount> {
        Some(self.stats(AssocId(id.0))?.peer_rwnd)
    }

    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView)) {
        for path in Endpoint::paths(self, AssocId(id.0)).into_iter().flatten() {
            show(PathView {
                cwnd: path.cwnd,
                ssthresh: path.ssthresh,
                flight: path.flight,
                srtt: path.srtt,
                rto: path.rto,
                data_packets: path.stats.data_packets,
                last_chunk: Some(path.stats.last_chunk),
            });
        }
    }
}

impl Protocolled for Endpoint {
    #[inline]
    fn shared(AssocId(id): AssocId, event: sctp::Event) -> (ConnId, Event) {
        let event = match event {
            sctp::Event::Readable => Event::Readable,
            sctp::Event::Writable => Event::Writable,
            sctp::Event::Connected { .. } => Event::Connected,
            sctp::Event::Closed { reason: CloseReason::Graceful } => Event::Closed(Ending::Graceful),
            sctp::Event::Closed { reason } => Event::Closed(Ending::Failed(format!("{reason:?}"))),
            // An SCTP shutdown ends both directions without a call of the application.
            sctp::Event::ShutdownReceived
            | sctp::Event::Restarted
            | sctp::Event::PathChanged { .. }
            | sctp::Event::HeartbeatAnswered { .. }
            | sctp::Event::PrimaryChanged { .. }
            | sctp::Event::MtuChanged { .. }
            | sctp::Event::Delivered { .. }
            | sctp::Event::SendFailed { .. }
            | sctp::Event::PeerError { .. } => Event::Other,
        };
        (ConnId(id), event)
    }
}
