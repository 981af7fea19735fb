//! Answers to datagrams of other protocols.

use std::fmt::Debug;
use transport::Datagram;

/// Answers datagrams that are not SCTP at the UDP sockets of an endpoint, for example probes of a measuring
/// tool ([`Builder::responder`](crate::Builder::responder)). A responder runs in the driver's thread: the
/// stack waits while the responder works. Anybody may have sent the datagram, from a forged address.
pub trait Responder: Debug + Send {
    /// Takes a datagram, and writes its answer to `answer`, which is empty. Returns false if the datagram is
    /// for the endpoint.
    ///
    /// The driver sends the answer to the source of the datagram. It sends nothing if the answer is empty, or
    /// longer than the datagram, so that no responder amplifies.
    fn take(&mut self, datagram: &Datagram<'_>, answer: &mut Vec<u8>) -> bool;
}
