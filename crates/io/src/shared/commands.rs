//! Requests of the handles to the driver.

use super::source::Source;
use crate::types::{AddressError, PathError};
use bytes::Bytes;
use futures_channel::oneshot;
use sctp::AssocId;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use units::Instant;

/// A call that runs in the driver thread.
pub(crate) struct Call(Work);

type Work = Box<dyn FnOnce(&mut sctp::Endpoint, Instant) + Send>;

impl Call {
    /// A call, and the receiver of its answer.
    pub(crate) fn answered<T: Send + 'static>(
        call: impl FnOnce(&mut sctp::Endpoint, Instant) -> T + Send + 'static,
    ) -> (Self, oneshot::Receiver<T>) {
        let (answer, receiver) = oneshot::channel();
        let call = Box::new(move |endpoint: &mut sctp::Endpoint, now| {
            // The send fails if the caller no longer waits for the answer.
            let _ = answer.send(call(endpoint, now));
        });
        (Call(call), receiver)
    }

    pub(crate) fn make(self, endpoint: &mut sctp::Endpoint, now: Instant) {
        self.0(endpoint, now);
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call")
    }
}

/// A request of a handle to the driver.
pub(crate) enum Command {
    /// Begin the association that was requested first.
    Connect,
    /// Let peers begin associations if there is a listener.
    Listen,
    /// There are messages in the outbox or in the source.
    Outbox(AssocId),
    /// Take messages from this source of the application, too, when the outbox is empty.
    Source(AssocId, Source),
    /// The inbox has room again.
    Inbox(AssocId),
    /// Answer once the peer has acknowledged all messages queued so far; false if some of them were lost.
    Flush(AssocId, oneshot::Sender<bool>),
    /// Send a heartbeat to an address of the peer, and answer with its round-trip time.
    Heartbeat(AssocId, IpAddr, oneshot::Sender<Result<Duration, PathError>>),
    /// Look for channels (authenticated peers) that the guard has ended. The driver does so in each round;
    /// this only wakes it.
    Guard,
    /// Shut the association down once everything is delivered.
    Shutdown(AssocId),
    /// The last handle of a connection was dropped: shut it down, or abort it if its handshake is incomplete
    /// and nothing is queued.
    Release(AssocId),
    /// End the association at once.
    Abort(AssocId, Bytes),
    /// Run a call with the endpoint.
    Call(Call),
    /// Add a local address, on an interface if one is named.
    AddAddress(IpAddr, Option<String>, oneshot::Sender<Result<(), AddressError>>),
    /// Remove a local address.
    RemoveAddress(IpAddr, oneshot::Sender<Result<(), AddressError>>),
    /// The last handle of the endpoint was dropped: end once all connections have ended.
    Leave,
    /// Shut all associations down, then end.
    Close,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Command")
    }
}
