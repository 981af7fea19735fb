//! SCTP as a [`Transport`].

use super::endpoint::{
    ConnId, Counted, Ending, Event, PathCounts, PathView, Piece, Protocolled, Service, Transport,
};
use net::Protocol;
use scenario::{StreamResetType, StreamResets};
use sctp::{AssocId, CloseReason, Endpoint, Message, Payload, ResetDirection, SendError};
use std::net::IpAddr;
use transport::Limit;
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
    fn send(&mut self, now: Instant, id: ConnId, length: u32, service: Service) -> u32 {
        let Service { stream, unordered, reliability } = service;
        let stream = StreamId(stream);
        let message = Message { stream, unordered, reliability, ..Message::new(Payload::Filler(length)) };
        match Endpoint::send(self, now, AssocId(id.0), message) {
            Ok(_) => length,
            Err(SendError::WouldBlock | SendError::Closed) => 0,
            Err(error) => unreachable!("checked when the flow was built: {error}"),
        }
    }

    #[inline]
    fn receive(&mut self, _: Instant, id: ConnId) -> Option<Piece> {
        let piece = Endpoint::receive(self, AssocId(id.0), usize::MAX)?;
        Some(Piece {
            bytes: piece.payload.len() as u64,
            end_of_record: piece.end_of_record,
            unordered: piece.unordered,
        })
    }

    fn shutdown(&mut self, now: Instant, id: ConnId) {
        Endpoint::shutdown(self, now, AssocId(id.0));
    }

    fn reset_streams(&mut self, now: Instant, id: ConnId, resets: &StreamResets) {
        let streams: Vec<_> = resets.streams.iter().map(|&stream| StreamId(stream)).collect();
        let direction = match resets.kind {
            StreamResetType::Outgoing => ResetDirection::Outgoing,
            StreamResetType::Incoming => ResetDirection::Incoming,
            StreamResetType::Both => ResetDirection::Both,
            StreamResetType::Association => {
                let _ = self.reset_association(now, AssocId(id.0));
                return;
            }
        };
        // While a request is in progress, another request is dropped.
        let _ = Endpoint::reset_streams(self, now, AssocId(id.0), direction, &streams);
    }

    fn counted(&self, id: ConnId) -> Counted {
        let stats = self.stats(AssocId(id.0)).unwrap_or_default();
        let received = stats.received;
        let paths = self.all_paths(AssocId(id.0)).into_iter().flatten();
        let counts = paths.map(|path| PathCounts {
            local: path.local,
            remote: path.remote,
            data_packets: path.stats.data_packets,
            user_bytes: path.stats.user_bytes,
            packet_bytes: path.stats.packet_bytes,
            ack_bytes: Some(path.stats.ack_bytes),
            fast_retransmissions: path.stats.fast_retransmissions,
            needless_retransmissions: path.stats.needless_retransmissions,
            undone_recoveries: path.stats.undone_recoveries,
            timer_retransmissions: path.stats.timer_retransmissions,
            fast_recoveries: path.stats.fast_recoveries,
            timeouts: path.stats.timeouts,
            srtt: path.srtt,
            limits: path.limits,
            blocks: path.blocks,
        });
        Counted {
            data_packets: received.data_packets,
            duplicates: received.duplicates,
            refused: received.dropped,
            acks: received.sacks,
            limits: stats.limits,
            paths: counts.collect(),
        }
    }

    fn peer_window(&self, id: ConnId) -> Option<ByteCount> {
        Some(self.stats(AssocId(id.0))?.peer_rwnd)
    }

    fn limit(&self, id: ConnId) -> Option<Limit> {
        self.stats(AssocId(id.0))?.limits.present()
    }

    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView)) {
        for path in self.all_paths(AssocId(id.0)).into_iter().flatten() {
            show(PathView {
                cwnd: path.cwnd,
                ssthresh: path.ssthresh,
                flight: path.flight,
                srtt: path.srtt,
                rto: path.rto,
                data_packets: path.stats.data_packets,
                last_chunk: Some(path.stats.last_chunk),
                limit: path.limits.present(),
            });
        }
    }

    fn inspect(&self, id: ConnId, path: usize, show: &mut dyn FnMut(&'static str, f64)) {
        Endpoint::inspect(self, AssocId(id.0), path, show);
    }
}

impl Protocolled for Endpoint {
    #[inline]
    fn shared(AssocId(id): AssocId, event: sctp::Event) -> (ConnId, Event) {
        let frequent = match event {
            sctp::Event::Readable => Event::Readable,
            sctp::Event::Writable => Event::Writable,
            event => return (ConnId(id), rare(event)),
        };
        // Readable and Writable own no memory to free, but the compiler does not see that.
        std::mem::forget(event);
        (ConnId(id), frequent)
    }
}

/// Converts rare events. A separate function, because these events own memory that has to be freed.
#[cold]
fn rare(event: sctp::Event) -> Event {
    match event {
        sctp::Event::Connected { .. } => Event::Connected,
        sctp::Event::Closed { reason: CloseReason::Graceful } => Event::Closed(Ending::Graceful),
        sctp::Event::Closed { reason } => Event::Closed(Ending::Failed(format!("{reason:?}"))),
        // [`Event::PeerClosed`] does not occur: a shutdown of SCTP ends both directions at once.
        _ => Event::Other,
    }
}
