//! One type for the endpoints of all protocols.

use super::endpoint::{ConnId, Counted, PathView, Piece, Service, Transport};
use super::udp;
use net::Protocol;
use scenario::StreamResets;
use std::net::IpAddr;
use transport::Limit;
use units::{ByteCount, Instant};

/// An endpoint of any protocol.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Sctp(::sctp::Endpoint),
    Tcp(::tcp::Endpoint),
    Udp(udp::Endpoint),
}

/// Evaluates an expression with the concrete type of an endpoint, so that it is compiled for each type.
macro_rules! with {
    ($endpoint:expr, $it:ident => $do:expr) => {
        match $endpoint {
            $crate::host::any::Endpoint::Sctp($it) => $do,
            $crate::host::any::Endpoint::Tcp($it) => $do,
            $crate::host::any::Endpoint::Udp($it) => $do,
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

    fn send(&mut self, now: Instant, id: ConnId, length: u32, service: Service) -> u32 {
        with!(self, it => Transport::send(it, now, id, length, service))
    }

    fn receive(&mut self, now: Instant, id: ConnId) -> Option<Piece> {
        with!(self, it => Transport::receive(it, now, id))
    }

    fn shutdown(&mut self, now: Instant, id: ConnId) {
        with!(self, it => Transport::shutdown(it, now, id));
    }

    fn reset_streams(&mut self, now: Instant, id: ConnId, resets: &StreamResets) {
        with!(self, it => Transport::reset_streams(it, now, id, resets));
    }

    fn counted(&self, id: ConnId) -> Counted {
        with!(self, it => it.counted(id))
    }

    fn peer_window(&self, id: ConnId) -> Option<ByteCount> {
        with!(self, it => it.peer_window(id))
    }

    fn limit(&self, id: ConnId) -> Option<Limit> {
        with!(self, it => it.limit(id))
    }

    fn paths(&self, id: ConnId, show: &mut dyn FnMut(PathView)) {
        with!(self, it => Transport::paths(it, id, show));
    }

    fn inspect(&self, id: ConnId, path: usize, show: &mut dyn FnMut(&'static str, f64)) {
        with!(self, it => Transport::inspect(it, id, path, show));
    }
}
