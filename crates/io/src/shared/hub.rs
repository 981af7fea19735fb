//! State shared by the driver and all handles.

use super::commands::{Call, Command};
use super::wait::{Place, Wakers};
use crate::stats::SocketCounters;
use sctp::Config;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake};
use units::Instant;

/// State shared by the driver and all handles.
#[derive(Debug)]
pub(crate) struct Hub {
    queue: Mutex<Queue>,
    /// True if the driver sleeps or is about to sleep.
    asleep: AtomicBool,
    waker: mio::Waker,
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

/// Wakes the driver after another thread has changed its guard (encryption layer).
impl Wake for Hub {
    fn wake(self: Arc<Self>) {
        self.tell(Command::Guard);
    }
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

    /// Passes a command to the driver. If the driver has ended, drops the command with its answer channel and
    /// returns false.
    pub(crate) fn tell(&self, command: Command) -> bool {
        let mut queue = self.queue();
        if queue.ended {
            return false;
        }
        queue.commands.push(command);
        drop(queue);
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The call fails only if the driver's poll is gone.
            let _ = self.waker.wake();
        }
        true
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

    /// Moves all commands from the queue to `commands`.
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

    /// Records the end of the driver: drops queued and later commands, wakes all callers.
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
