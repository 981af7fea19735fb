//! State shared by the driver and all handles.

use super::attempt::Attempt;
use super::backlog::Backlog;
use super::source::Source;
use super::wait::{Place, Wakers};
use crate::stats::SocketCounters;
use crate::types::{AddressError, ConnectError, PathError, Peer};
use bytes::Bytes;
use futures_channel::oneshot;
use sctp::{AssocId, Config};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use units::Instant;

/// Immediate result of a connection attempt.
pub(crate) type Opening = Result<Attempt, ConnectError>;

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
            // The send fails if the caller was dropped meanwhile.
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
    /// Begin an association, with options of its own if there are any.
    Connect(Peer, Option<Arc<Config>>, oneshot::Sender<Opening>),
    /// Let peers begin associations if there is a listener.
    Listen,
    /// There are messages in the outbox or in the source.
    Outbox(AssocId),
    /// Take messages from this source, too.
    Source(AssocId, Source),
    /// There is room in the inbox.
    Inbox(AssocId),
    /// Answer once the peer has acknowledged everything that was given so far; false if some of it was lost.
    Flush(AssocId, oneshot::Sender<bool>),
    /// Send a heartbeat to an address of the peer, and answer with its round-trip time.
    Heartbeat(AssocId, IpAddr, oneshot::Sender<Result<Duration, PathError>>),
    /// Shut the association down once everything is delivered.
    Shutdown(AssocId),
    /// The last handle of a connection was dropped: shut it down, or give up the attempt.
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

/// State shared by the driver and all handles.
#[derive(Debug)]
pub(crate) struct Hub {
    queue: Mutex<Queue>,
    /// True if the driver sleeps or is about to sleep.
    asleep: AtomicBool,
    waker: mio::Waker,
    backlog: Mutex<Backlog>,
    places: Mutex<Places>,
    pub(crate) ports: Ports,
    /// The options of the endpoint.
    pub(crate) config: Arc<Config>,
    /// Bytes that may wait in the outbox of each connection.
    pub(crate) outbox: usize,
}

/// Ports of the endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    /// SCTP port.
    pub(crate) sctp: u16,
    pub(crate) udp: u16,
}

/// Addresses and sockets of the endpoint, which come and go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) addresses: Vec<IpAddr>,
    /// One entry for each socket.
    pub(crate) counters: Vec<Arc<SocketCounters>>,
}

#[derive(Debug, Default)]
struct Queue {
    commands: Vec<Command>,
    ended: bool,
    watchers: Wakers,
}

impl Hub {
    pub(crate) fn new(
        waker: mio::Waker,
        places: Places,
        ports: Ports,
        config: Arc<Config>,
        outbox: usize,
    ) -> Self {
        Hub {
            queue: Mutex::default(),
            asleep: AtomicBool::new(false),
            waker,
            backlog: Mutex::default(),
            places: Mutex::new(places),
            ports,
            config,
            outbox,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current addresses and sockets, which only the driver changes.
    pub(crate) fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn backlog(&self) -> MutexGuard<'_, Backlog> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a command to the driver. If the driver has ended, the command and its answer channel are
    /// dropped.
    pub(crate) fn tell(&self, command: Command) {
        let mut queue = self.queue();
        if queue.ended {
            return;
        }
        queue.commands.push(command);
        drop(queue);
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The call fails only if the driver's poll is gone.
            let _ = self.waker.wake();
        }
    }

    /// Runs a call in the driver thread; `None` if the driver has ended.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut sctp::Endpoint, Instant) -> T + Send + 'static,
    ) -> Option<T> {
        let (call, receiver) = Call::answered(call);
        self.tell(Command::Call(call));
        receiver.await.ok()
    }

    // Methods for the driver.

    /// Removes and returns all commands.
    pub(crate) fn take(&self, commands: &mut Vec<Command>) {
        commands.append(&mut self.queue().commands);
    }

    /// Marks the driver as asleep. Returns false if commands wait.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        let sleeps = self.queue().commands.is_empty();
        if !sleeps {
            self.awake();
        }
        sleeps
    }

    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    /// Records the end of the driver: drops queued and later commands, wakes all callers, ends the backlog.
    pub(crate) fn end(&self) {
        let mut queue = self.queue();
        queue.ended = true;
        let dropped = std::mem::take(&mut queue.commands);
        let watchers = queue.watchers.take();
        drop(queue);
        // Dropping a command may lock again: lost answers wake their callers, and handles release
        // connections.
        drop(dropped);
        watchers.wake();
        self.end_backlog();
    }

    /// Closes the backlog after the last listener was dropped.
    pub(crate) fn end_backlog(&self) {
        let (untaken, listeners) = self.backlog().end();
        // Dropping the handles releases their connections, which must not happen under the lock.
        drop(untaken);
        listeners.wake();
    }

    /// Ready once the driver has ended.
    pub(crate) fn poll_ended(&self, cx: &Context<'_>, place: &mut Place) -> Poll<()> {
        let mut queue = self.queue();
        if queue.ended {
            return Poll::Ready(());
        }
        queue.watchers.register(cx, place);
        Poll::Pending
    }

    /// Removes the waker of a caller that stopped waiting for the driver's end.
    pub(crate) fn stop_waiting(&self, place: &Place) {
        self.queue().watchers.leave(place);
    }
}
