//! A flow at one side, shared by the threads that send, receive and report.

use crate::clock::{Gate, micros};
use crate::counters::{Arrival, Counters};
use crate::npmp::{Data, FlowId};
use crate::spec::FlowSpec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of rows that may still be added to the vector
/// files (a row for each received message) of a measurement.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Room {
    /// Allows `rows` rows in total.
    pub fn new(rows: usize) -> Self {
        Room(AtomicUsize::new(rows))
    }

    /// Counts one row as used. Returns false if no row is left.
    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rows| rows.checked_sub(1)).is_ok()
    }
}

/// A flow at one side.
#[derive(Debug)]
pub struct Flow {
    /// Numbers that identify the flow.
    pub id: FlowId,
    /// Specification of the flow; this side sends the outbound data.
    pub spec: FlowSpec,
    /// Closed when the sender must stop.
    pub stop: Gate,
    /// Closed when the receiver must stop, too.
    pub over: Gate,
    counters: Mutex<Counters>,
    /// The received messages for the flow's vector file; `None` if no such file is written.
    arrivals: Option<(Mutex<Vec<Arrival>>, Arc<Room>)>,
    failure: Mutex<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flow {
    /// Creates a flow. `vector` limits the rows of the flow's vector file; `None`: no such file is written.
    pub fn new(id: FlowId, spec: FlowSpec, vector: Option<Arc<Room>>) -> Self {
        Flow {
            id,
            spec,
            stop: Gate::default(),
            over: Gate::default(),
            counters: Mutex::default(),
            arrivals: vector.map(|room| (Mutex::default(), room)),
            failure: Mutex::default(),
        }
    }

    /// The present counters.
    pub fn counters(&self) -> Counters {
        *lock(&self.counters)
    }

    /// Counts a message that was sent.
    pub fn sent(&self, bytes: usize, end_of_frame: bool) {
        lock(&self.counters).send(micros(), bytes as u64, end_of_frame);
    }

    /// Counts a received message.
    pub fn received(&self, data: &Data, bytes: usize) {
        let now = micros();
        let (difference, counters) = {
            let mut counters = lock(&self.counters);
            (counters.receive(now, data, bytes as u64), *counters)
        };
        if let Some((arrivals, room)) = &self.arrivals
            && room.take()
        {
            lock(arrivals).push(Arrival {
                time: now,
                sequence: data.sequence,
                bytes: bytes as u32,
                end: data.end,
                delay: [counters.delay, difference, counters.jitter].map(|value| value as f32),
            });
        }
    }

    /// Removes and returns the received messages that were recorded for the vector file.
    pub fn take_arrivals(&self) -> Vec<Arrival> {
        self.arrivals.as_ref().map(|(arrivals, _)| std::mem::take(&mut *lock(arrivals))).unwrap_or_default()
    }

    /// Records the reason why the flow ended early, unless an earlier reason is recorded.
    pub fn fail(&self, why: String) {
        lock(&self.failure).get_or_insert(why);
        self.stop.close();
    }

    /// Reason why the flow ended early, if it did.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}
