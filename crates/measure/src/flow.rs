//! A flow at one side, shared by the threads that send, receive and report.

use crate::clock::{Gate, micros};
use crate::counters::{Arrival, Counters};
use crate::npmp::{Data, FlowId};
use crate::spec::FlowSpec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows that the vectors of a measurement may still get.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Room {
    /// Makes room for `rows` rows in all.
    pub fn new(rows: usize) -> Self {
        Room(AtomicUsize::new(rows))
    }

    /// Takes a row; false if there is none.
    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rows| rows.checked_sub(1)).is_ok()
    }
}

/// A flow at one side.
#[derive(Debug)]
pub struct Flow {
    /// Its names.
    pub id: FlowId,
    /// What it is; this side sends what is outbound.
    pub spec: FlowSpec,
    /// The sender stops.
    pub stop: Gate,
    /// The receiver stops, too.
    pub over: Gate,
    counters: Mutex<Counters>,
    /// The messages that arrived; none if no vector is wanted.
    arrivals: Option<(Mutex<Vec<Arrival>>, Arc<Room>)>,
    failure: Mutex<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flow {
    /// A flow; `vector`: the rows that its vector may get, none without a vector.
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

    /// The counters now.
    pub fn counters(&self) -> Counters {
        *lock(&self.counters)
    }

    /// Counts a message that was sent.
    pub fn sent(&self, bytes: usize, end_of_frame: bool) {
        lock(&self.counters).send(micros(), bytes as u64, end_of_frame);
    }

    /// Counts a message that arrived.
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

    /// Takes the messages that arrived, up to the number of rows there was room for.
    pub fn take_arrivals(&self) -> Vec<Arrival> {
        self.arrivals.as_ref().map(|(arrivals, _)| std::mem::take(&mut *lock(arrivals))).unwrap_or_default()
    }

    /// Notes why the flow ended early, if it is the first reason.
    pub fn fail(&self, why: String) {
        lock(&self.failure).get_or_insert(why);
        self.stop.close();
    }

    /// Why the flow ended early.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}
