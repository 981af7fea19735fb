//! The course of a measurement on the active side: from START to the results.

use super::{ANSWER, Client, MeasureError, Opened};
use crate::clock::micros;
use crate::control::ControlError;
use crate::counters::Counters;
use crate::files::Snapshot;
use crate::latency::Prober;
use crate::npmp::{FlowId, Message, Start};
use crate::paths::Association;
use crate::peer::PeerSample;
use crate::report::{FlowReport, Interval, Report};
use crate::sender;
use crate::short_queue::ShortQueue;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval of checks whether the measurement is over.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for the delivery of all queued data, after a measurement that ends by a number of bytes.
const DRAIN: Duration = Duration::from_secs(10);

/// All counters at one time.
pub(super) struct Reading {
    at: Instant,
    pub(super) snapshot: Snapshot,
    associations: Vec<Association>,
    /// The latest state of its paths that the passive side has reported.
    peer: Option<PeerSample>,
}

/// What was read so far in a running measurement, and the results of its intervals.
pub(super) struct Course {
    pub(super) begun: u64,
    started: Instant,
    /// Counters at the time from which data counts (after the time `omit`).
    base: Reading,
    /// Counters at the end of the last completed interval.
    last: Reading,
    pub(super) intervals: Vec<Interval>,
    /// The counters at each second, for the vector file (output file with rows for each second).
    pub(super) snapshots: Vec<Snapshot>,
}

impl Client {
    fn read(&self) -> Reading {
        let counters = self.flows.iter().map(|opened| opened.flow.counters()).collect();
        Reading {
            at: Instant::now(),
            snapshot: Snapshot { time: micros(), counters },
            associations: self.sample(),
            peer: self.samples.latest(),
        }
    }

    /// Lets both sides send for the chosen time, and then returns the report.
    pub(super) fn measure(
        &mut self,
        cancelled: &dyn Fn() -> bool,
        mut watch: impl FnMut(&Interval),
    ) -> Result<Report, MeasureError> {
        let whole = FlowId { measurement: self.measurement, ..FlowId::default() };
        let no_vectors = self.options.vectors.is_none();
        let paths_every = self.paths_every();
        let latency = self.options.latency.is_some();
        let start =
            Start { measurement: self.measurement, no_vectors, paths_every, latency, ..Start::default() };
        self.wait_for_start(cancelled);
        let mut course = self.begin();
        self.writer.send(&Message::Start(start))?;
        self.acknowledged(whole, "to start", ANSWER)?;
        course.started = Instant::now();
        let mut senders = Vec::new();
        for Opened { flow, channel, .. } in &self.flows {
            let queue = latency.then(ShortQueue::new);
            let sender = sender::start(flow, channel.clone(), self.options.bytes, queue);
            senders.extend(sender.map_err(MeasureError::System)?);
        }
        let prober = self.probe(course.started)?;
        self.send_until_over(&senders, &mut course, cancelled, &mut watch)?;
        let latency = prober.map(Prober::finish);
        if self.options.bytes.is_some() {
            self.drain(cancelled);
        }
        for Opened { flow, .. } in &self.flows {
            flow.stop.close();
        }
        for sender in senders {
            // `join` fails if the thread panicked. Then the flow has sent less data, which the counters show.
            drop(sender.join());
        }
        let mut end = self.read();
        course.snapshots.push(end.snapshot.clone());
        self.writer.send(&Message::Stop { measurement: self.measurement })?;
        self.acknowledged(whole, "to stop", ANSWER)?;
        // The passive side reports its paths for the last time before it acknowledges STOP.
        end.peer = self.samples.latest();
        let total = self.since(&course, &course.base, &end);
        if !self.options.interval.is_zero() && end.at > course.last.at + LOOK {
            self.interval(&mut course, end, &mut watch);
        }
        let mut report = Report {
            measurement: self.measurement,
            begun: course.begun,
            total,
            intervals: std::mem::take(&mut course.intervals),
            capture: None,
            latency,
        };
        self.results(&course, &mut report)?;
        Ok(report)
    }

    /// Interval in milliseconds at which the passive side is to report its paths: half an interval of the
    /// measurement, or 1000. `None` if the passive side sends on no association.
    fn paths_every(&self) -> Option<u32> {
        let sends =
            |opened: &Opened| opened.association.is_some() && opened.flow.spec.inbound.size.values[0] != 0.0;
        let interval = match self.options.interval {
            Duration::ZERO => Duration::from_secs(2),
            interval => interval,
        };
        self.flows.iter().any(sends).then(|| u32::try_from(interval.as_millis() / 2).unwrap_or(u32::MAX))
    }

    /// Waits until the chosen time to start.
    fn wait_for_start(&self, cancelled: &dyn Fn() -> bool) {
        let left = || self.options.at.map_or(0, |at| at.saturating_sub(micros()));
        while left() > 0 && !cancelled() {
            thread::sleep(LOOK.min(Duration::from_micros(left())));
        }
    }

    fn begin(&self) -> Course {
        let (base, last) = (self.read(), self.read());
        Course {
            begun: base.snapshot.time,
            started: base.at,
            snapshots: vec![base.snapshot.clone()],
            base,
            last,
            intervals: Vec::new(),
        }
    }

    /// Waits until the measurement is over. Meanwhile reads messages of the passive side, and passes each
    /// completed interval to `watch`.
    fn send_until_over(
        &mut self,
        senders: &[JoinHandle<()>],
        course: &mut Course,
        cancelled: &dyn Fn() -> bool,
        watch: &mut impl FnMut(&Interval),
    ) -> Result<(), MeasureError> {
        let begin = course.started + self.options.omit;
        let end = begin + self.options.duration;
        let mut omitted = self.options.omit.is_zero();
        let mut next = begin + self.options.interval;
        let mut second = course.started + Duration::from_secs(1);
        loop {
            let now = Instant::now();
            if !omitted && now >= begin {
                omitted = true;
                (course.base, course.last) = (self.read(), self.read());
            }
            if omitted && !self.options.interval.is_zero() && now >= next && now < end {
                self.interval(course, self.read(), watch);
                next = now.max(next + self.options.interval);
            }
            if now >= second {
                second = now.max(second + Duration::from_secs(1));
                course.snapshots.push(self.read().snapshot);
            }
            let failed = self.flows.iter().any(|opened| opened.flow.failure().is_some());
            let by_bytes = self.options.bytes.is_some_and(|bytes| self.all_done(senders, bytes));
            if cancelled() || failed || by_bytes || (now >= end && self.options.bytes.is_none()) {
                return Ok(());
            }
            let mut until = now + LOOK;
            for deadline in [end, next, second].into_iter().filter(|deadline| *deadline > now) {
                until = until.min(deadline);
            }
            // The passive side now sends nothing but reports of its paths, or closes the connection.
            let wait = until.saturating_duration_since(now).max(Duration::from_millis(1));
            match self.reader.next(wait, |message| self.samples.take(&message)) {
                Ok(_) => {}
                Err(ControlError::Closed) => {
                    return Err(MeasureError::Refused("to go on with the measurement".to_owned()));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// True if all senders are done, and `bytes` bytes have arrived on each flow on which
    /// the passive side sends.
    fn all_done(&self, senders: &[JoinHandle<()>], bytes: u64) -> bool {
        senders.iter().all(JoinHandle::is_finished)
            && self.flows.iter().all(|Opened { flow, .. }| {
                let counters = flow.counters();
                let receives = flow.spec.inbound.size.values[0] != 0.0;
                !receives || counters.received.amount.bytes >= bytes
            })
    }

    /// Waits until the associations have delivered all queued data.
    fn drain(&self, cancelled: &dyn Fn() -> bool) {
        let deadline = Instant::now() + DRAIN;
        let pending = || {
            let stats = self.associations.iter().filter_map(|numbered| numbered.connection.stats().ok());
            stats.into_iter().any(|stats| stats.buffered.get() > 0)
        };
        while pending() && Instant::now() < deadline && !cancelled() {
            thread::sleep(LOOK);
        }
    }

    fn interval(&self, course: &mut Course, now: Reading, watch: &mut impl FnMut(&Interval)) {
        let interval = self.since(course, &course.last, &now);
        watch(&interval);
        course.last = now;
        course.intervals.push(interval);
    }

    fn since(&self, course: &Course, before: &Reading, now: &Reading) -> Interval {
        let associations: Vec<_> = now
            .associations
            .iter()
            .zip(&before.associations)
            .map(|(now, before)| now.since(before))
            .collect();
        let counters: Vec<(&Counters, &Counters)> =
            before.snapshot.counters.iter().zip(&now.snapshot.counters).collect();
        let flows = self.flows.iter().zip(counters).map(|(opened, (before, now))| {
            let association = opened.association.map(|place| (place, &associations[place]));
            FlowReport::new(&opened.flow, before, now, association)
        });
        let firsts: Vec<_> = (0..associations.len()).map(|place| self.first_flow(place)).collect();
        let peer = self.samples.between(before.peer.as_ref(), now.peer.as_ref(), &firsts);
        let seconds = |at: Instant| at.saturating_duration_since(course.started).as_secs_f64();
        let (from, to, flows) = (seconds(before.at), seconds(now.at), flows.collect());
        Interval { from, to, flows, associations, peer }
    }

    /// The number of the flow that is stream 0 of an association.
    fn first_flow(&self, association: usize) -> Option<u32> {
        let mut all = self.flows.iter().filter(|opened| opened.association == Some(association));
        all.find(|opened| opened.flow.id.stream == 0).map(|opened| opened.flow.id.flow)
    }
}
