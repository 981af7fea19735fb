//! TCP as a [`Transport`].

use super::endpoint::{
    ConnId, Counted, Ending, Event, PathCounts, PathView, Piece, Protocolled, Service, Transport,
};
use net::Protocol;
use std::net::IpAddr;
use tcp::{CloseReason, Endpoint, Payload};
use transport::{Limit, Stopwatch};
use units::{ByteCount, Instant};

impl Transport for Endpoint {
    #[inline]
    fn protocol(&self) -> Protocol {
        Protocol::Tcp
    }

    #[inline]
    fn is_stream(&self) -> bool {
        true
    }

    fn listen(&mut self) {
        Endpoint::listen(self, true);
    }

    fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId> {
        Endpoint::connect(self, now, port, remotes).ok().map(|tcp::ConnId(id)| ConnId(id))
    }

    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        self.remote(tcp::ConnId(id.0))
    }

    #[inline]
    fn send(&mut self, now: Instant, id: ConnId, length: u32, _: Service) -> u32 {
        let taken = Endpoint::send(self, now, tcp::ConnId(id.0), Payload::Filler(length));
        taken.map_or(0, |bytes| bytes as u32)
    }

    #[inline]
    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece> {
        let payload = Endpoint::receive(self, now, tcp::ConnId(id.0), usize::MAX)?;
        Some(Piece { bytes: payload.len() as u64, end_of_record: false, unordered: false })
    }

    fn shutdown(&mut self, now: Instant, id: ConnId) {
        Endpoint::shutdown(self, now, tcp::ConnId(id.0));
    }

    fn counted(&self, id: ConnId) -> Counted {
        let id = tcp::ConnId(id.0);
        let (Some(stats), Some(local), Some((remote, _))) = (self.stats(id), self.local(id), self.remote(id))
        else {
            return Counted::default();
        };
        let path = PathCounts {
            local,
            remote,
            data_packets: stats.data_segments_sent,
            user_bytes: stats.user_bytes_sent,
            packet_bytes: stats.transport_bytes_sent,
            ack_bytes: None,
            needless_retransmissions: 0,
            undone_recoveries: stats.undone_reductions,
            fast_retransmissions: stats.fast_retransmissions,
            timer_retransmissions: stats.timeout_retransmissions,
            fast_recoveries: stats.recoveries,
            timeouts: stats.timeouts,
            srtt: self.info(id).and_then(|info| info.srtt),
            limits: stats.limits,
            blocks: Stopwatch::default(),
        };
        Counted {
            data_packets: stats.data_segments_received,
            duplicates: 0,
            refused: 0,
            acks: stats.acks_sent,
            limits: stats.limits,
            paths: vec![path],
        }
    }

    fn peer_window(&self, id: ConnId) -> Option<ByteCount> {
        Some(self.info(tcp::ConnId(id.0))?.peer_rwnd)
    }

    fn limit(&self, id: ConnId) -> Option<Limit> {
        self.stats(tcp::ConnId(id.0))?.limits.present()
    }

    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView)) {
        let conn = tcp::ConnId(id.0);
        if let (Some(info), Some(stats)) = (self.info(conn), self.stats(conn)) {
            show(PathView {
                cwnd: info.cwnd,
                ssthresh: info.ssthresh,
                flight: info.flight,
                srtt: info.srtt,
                rto: info.rto,
                data_packets: stats.data_segments_sent,
                last_chunk: None,
                limit: stats.limits.present(),
            });
        }
    }

    fn inspect(&self, id: ConnId, path: usize, show: &mut dyn FnMut(&'static str, f64)) {
        if path == 0 {
            Endpoint::inspect(self, tcp::ConnId(id.0), show);
        }
    }
}

impl Protocolled for Endpoint {
    #[inline]
    fn shared(tcp::ConnId(id): tcp::ConnId, event: tcp::Event) -> (ConnId, Event) {
        let event = match event {
            tcp::Event::Readable => Event::Readable,
            tcp::Event::Writable => Event::Writable,
            tcp::Event::Connected => Event::Connected,
            tcp::Event::PeerClosed => Event::PeerClosed,
            tcp::Event::Closed { reason: CloseReason::Graceful } => Event::Closed(Ending::Graceful),
            tcp::Event::Closed { reason } => Event::Closed(Ending::Failed(format!("{reason:?}"))),
        };
        (ConnId(id), event)
    }
}
