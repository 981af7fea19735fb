//! A control connection of the passive side: flows are announced, started and stopped; results are sent.

use super::registry::{Bound, Found, Slot};
use super::{Notice, Shared, limits};
use crate::channel::Channel;
use crate::clock::micros;
use crate::control::{ControlError, ControlReader, ControlWriter};
use crate::files::{self, Snapshot};
use crate::flow::{Flow, Room};
use crate::npmp::{AddFlow, EventSize, FlowId, Message, Start};
use crate::paths::Association;
use crate::peer::{PeerSample, cookie_text};
use crate::report::{FlowReport, Report};
use crate::sender;
use crate::short_queue::ShortQueue;
use crate::spec::FlowSpec;
use io::PathState;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between two snapshots of a running measurement, and of checks whether the server ends.
const TICK: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(200);
/// Interval of checks for data connections.
const LOOK_FOR_DATA: Duration = Duration::from_millis(10);

/// Error text for the user of this side, because NPMP cannot send an error text to the peer.
const NO_COMPRESSION: &str = "it wants compressed files: choose names without .bz2";

/// Reason why a session ended early.
enum End {
    /// The peer closed the control connection.
    Quiet,
    Error(String),
}

impl From<ControlError> for End {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Closed => End::Quiet,
            error => End::Error(error.to_string()),
        }
    }
}

/// A message of the active side, as far as the passive side understands it.
enum Request {
    Add(Box<AddFlow>),
    Remove(FlowId),
    Start(Start),
    Stop(u64),
    Other,
}

impl Request {
    fn of(message: Message<'_>) -> Self {
        match message {
            Message::AddFlow(flow) => Request::Add(flow),
            Message::RemoveFlow(id) => Request::Remove(id),
            Message::Start(start) => Request::Start(start),
            Message::Stop { measurement } => Request::Stop(measurement),
            Message::Acknowledge(_) | Message::Identify(_) | Message::Data(..) | Message::Results { .. } => {
                Request::Other
            }
        }
    }
}

/// A measurement between START and STOP.
struct Running {
    start: Start,
    begun: Instant,
    next: Instant,
    senders: Vec<JoinHandle<()>>,
    paths: Option<Paths>,
    /// Cookie of the probes of latency, if the active side measures latency.
    cookie: Option<u64>,
}

/// When the passive side reports its paths to the active side.
struct Paths {
    every: Duration,
    next: Instant,
}

impl Paths {
    fn wanted(start: &Start, begun: Instant) -> Option<Self> {
        let every = Duration::from_millis(start.paths_every?.into());
        Some(Paths { every: every.max(limits::PATHS), next: begun })
    }
}

/// A control connection of the passive side.
pub struct Session<'s> {
    shared: &'s Shared,
    stream: TcpStream,
    peer: IpAddr,
    room: Arc<Room>,
    slots: Vec<Arc<Slot>>,
    /// The flows whose data connections are not found yet.
    waiting: Vec<Arc<Slot>>,
    running: Option<Running>,
    snapshots: Vec<Snapshot>,
}

impl<'s> Session<'s> {
    pub fn new(shared: &'s Shared, stream: TcpStream, peer: IpAddr) -> Self {
        Session {
            shared,
            stream,
            peer,
            room: Arc::new(Room::new(limits::ROWS)),
            slots: Vec::new(),
            waiting: Vec::new(),
            running: None,
            snapshots: Vec::new(),
        }
    }

    /// Serves the connection until it ends.
    pub fn run(mut self) {
        let was_running = |session: &Self| session.running.is_some();
        let refused = match self.serve() {
            Err(End::Error(why)) => Some(why),
            Err(End::Quiet) if was_running(&self) => Some("it left during the measurement".to_owned()),
            Ok(()) | Err(End::Quiet) => None,
        };
        self.halt();
        for slot in &self.slots {
            self.shared.registry.remove(slot.id);
            if let Some(bound) = slot.bound() {
                bound.flow.over.close();
            }
        }
        if let Some(why) = refused {
            (self.shared.notify)(Notice::Refused { peer: self.peer, why });
        }
    }

    fn serve(&mut self) -> Result<(), End> {
        let io = |error| End::from(ControlError::Io(error));
        let writer = ControlWriter::new(self.stream.try_clone().map_err(io)?, EventSize::default());
        let mut reader = ControlReader::new(self.stream.try_clone().map_err(io)?, limits::MESSAGE);
        let mut idle_since = Instant::now();
        while !self.shared.over.is_closed() {
            let mut patience = if self.waiting.is_empty() { LOOK } else { LOOK_FOR_DATA };
            if let Some(paths) = self.running.as_ref().and_then(|running| running.paths.as_ref()) {
                patience = patience.min(paths.next.saturating_duration_since(Instant::now()));
            }
            if let Some(request) = reader.next(patience, Request::of)? {
                idle_since = Instant::now();
                self.handle(request, &writer)?;
            }
            self.tell_found(&writer)?;
            self.allow_echoes();
            self.tick(&writer)?;
            if self.running.is_none() && idle_since.elapsed() > limits::IDLE {
                return Err(End::Error("its control connection was silent".to_owned()));
            }
        }
        Ok(())
    }

    /// Informs the active side of the data connections that were found.
    fn tell_found(&mut self, writer: &ControlWriter) -> Result<(), End> {
        let mut refused = false;
        for slot in std::mem::take(&mut self.waiting) {
            match slot.found() {
                Found::No => self.waiting.push(slot),
                Found::Yes(_) => writer.acknowledge(slot.id, true)?,
                Found::Refused => {
                    writer.acknowledge(slot.id, false)?;
                    refused = true;
                }
            }
        }
        if refused { Err(End::Error(NO_COMPRESSION.to_owned())) } else { Ok(()) }
    }

    /// Takes a snapshot each second, reports paths, and ends a measurement that lasts too long.
    fn tick(&mut self, writer: &ControlWriter) -> Result<(), End> {
        let now = Instant::now();
        let Some(running) = &mut self.running else { return Ok(()) };
        if now.duration_since(running.begun) > self.shared.longest {
            return Err(End::Error(format!("it measured for more than {} s", self.shared.longest.as_secs())));
        }
        if now >= running.next {
            running.next = now.max(running.next + TICK);
            let room = self.snapshots.len() * self.slots.len() < limits::SNAPSHOTS;
            if room && !running.start.no_vectors {
                self.snapshot();
            }
        }
        match self.running.as_mut().and_then(|running| running.paths.as_mut()) {
            Some(paths) if now >= paths.next => {
                paths.next = now.max(paths.next + paths.every);
                self.tell_paths(writer)
            }
            _ => Ok(()),
        }
    }

    /// Tells the active side the cookie of its probes, if it measures latency.
    fn tell_cookie(&self, writer: &ControlWriter) -> Result<(), End> {
        let Some(cookie) = self.running.as_ref().and_then(|running| running.cookie) else { return Ok(()) };
        Ok(writer.file(|out| out.write_all(cookie_text(cookie).as_bytes()))?)
    }

    /// Allows echoes of this session's latency probes to the active side's
    /// addresses that are verified by now.
    fn allow_echoes(&self) {
        let Some(cookie) = self.running.as_ref().and_then(|running| running.cookie) else { return };
        let mut addresses = BTreeSet::from([self.peer]);
        for (_, bound) in self.bound() {
            let Channel::Sctp(connection, 0) = bound.channel else { continue };
            let paths = connection.paths().unwrap_or_default();
            let proved = paths.iter().filter(|path| path.state != PathState::Unconfirmed);
            addresses.extend(proved.map(|path| path.remote.to_canonical()));
        }
        self.shared.echoes.allow(cookie, addresses);
    }

    /// Reports the paths to the active side, if it requested the reports.
    fn tell_paths(&self, writer: &ControlWriter) -> Result<(), End> {
        let Some(Running { begun, paths: Some(_), .. }) = &self.running else { return Ok(()) };
        // The flow of stream 0 represents its association.
        let all = self.bound().filter(|(_, bound)| bound.flow.id.stream == 0);
        let associations =
            all.filter_map(|(slot, bound)| Some((slot.id.flow, association(&bound)?))).collect();
        let sample = PeerSample { at: begun.elapsed().as_secs_f64(), associations };
        Ok(writer.file(|out| out.write_all(sample.to_text().as_bytes()))?)
    }

    fn bound(&self) -> impl Iterator<Item = (&Slot, Bound)> {
        self.slots.iter().filter_map(|slot| Some((&**slot, slot.bound()?)))
    }

    fn snapshot(&mut self) {
        let counters =
            self.slots.iter().map(|slot| slot.bound().map(|bound| bound.flow.counters()).unwrap_or_default());
        let counters = counters.collect();
        self.snapshots.push(Snapshot { time: micros(), counters });
    }

    fn handle(&mut self, request: Request, writer: &ControlWriter) -> Result<(), End> {
        let whole = |measurement| FlowId { measurement, ..FlowId::default() };
        match request {
            Request::Add(message) => {
                let added = self.add(&message);
                writer.acknowledge(message.id, added.is_ok())?;
                added.map_err(End::Error)
            }
            Request::Start(start) => {
                let started = self.start(start);
                self.tell_cookie(writer)?;
                writer.acknowledge(whole(start.measurement), started.is_ok())?;
                started.map_err(End::Error)
            }
            Request::Stop(measurement) => self.stop(whole(measurement), writer),
            Request::Remove(id) => self.remove(id, writer),
            Request::Other => Err(End::Error("it sent what only a passive side sends".to_owned())),
        }
    }

    fn add(&mut self, message: &AddFlow) -> Result<(), String> {
        if self.running.is_some() {
            return Err("it announced a flow during the measurement".to_owned());
        }
        if self.slots.len() >= limits::FLOWS {
            return Err(format!("it announced more than {} flows", limits::FLOWS));
        }
        if self.slots.first().is_some_and(|slot| slot.id.measurement != message.id.measurement) {
            return Err("it announced flows of two measurements".to_owned());
        }
        let spec = FlowSpec::of_message(message).map_err(|error| error.to_string())?;
        spec.traffic().and(spec.changes()).map_err(|error| error.to_string())?;
        let slot = Slot::new(message.id, spec, self.peer, self.room.clone());
        let slot = Arc::new(slot);
        if !self.shared.registry.add(slot.clone()) {
            return Err("it announced a flow that exists".to_owned());
        }
        self.waiting.push(slot.clone());
        self.slots.push(slot);
        Ok(())
    }

    fn start(&mut self, start: Start) -> Result<(), String> {
        if start.compress_vectors || start.compress_scalars {
            return Err(NO_COMPRESSION.to_owned());
        }
        let again = self.bound().any(|(_, bound)| bound.flow.stop.is_closed());
        if self.running.is_some() || again || self.slots.is_empty() {
            return Err("it started nothing, or twice".to_owned());
        }
        if self.bound().count() < self.slots.len() {
            return Err("it started before all flows had their data connections".to_owned());
        }
        let begun = Instant::now();
        self.snapshots.clear();
        self.snapshot();
        let paths = Paths::wanted(&start, begun);
        let cookie = start.latency.then(|| RandomState::new().hash_one(start.measurement));
        let next = begun + TICK;
        let mut running = Running { start, begun, next, senders: Vec::new(), paths, cookie };
        for (_, Bound { flow, channel, .. }) in self.bound() {
            running.senders.extend(sender::start(&flow, channel, None, start.latency.then(ShortQueue::new))?);
        }
        self.running = Some(running);
        (self.shared.notify)(Notice::Began { peer: self.peer, flows: self.slots.len() });
        Ok(())
    }

    /// Stops all senders, and the echoes of probes.
    fn halt(&mut self) -> Option<Running> {
        self.bound().for_each(|(_, bound)| bound.flow.stop.close());
        let mut running = self.running.take()?;
        if let Some(cookie) = running.cookie {
            self.shared.echoes.forget(cookie);
        }
        for sender in running.senders.drain(..) {
            // `join` fails if the thread panicked. Then the flow has sent less data, which the counters show.
            drop(sender.join());
        }
        Some(running)
    }

    fn stop(&mut self, whole: FlowId, writer: &ControlWriter) -> Result<(), End> {
        self.tell_paths(writer)?;
        let associations: Vec<_> = self.bound().map(|(_, bound)| association(&bound)).collect();
        let Some(running) = self.halt() else {
            writer.acknowledge(whole, false)?;
            return Err(End::Error("it stopped what did not run".to_owned()));
        };
        self.snapshot();
        let flows: Vec<(Arc<Flow>, Option<Association>)> =
            self.bound().map(|(_, bound)| bound.flow).zip(associations).collect();
        let (first, last) = (&self.snapshots[0], &self.snapshots[self.snapshots.len() - 1]);
        let span = (first.time, last.time);
        let reports =
            flows.iter().map(|(flow, association)| FlowReport::of_passive(flow, association.as_ref()));
        let report = Report::of_passive(whole.measurement, span, reports.collect());
        self.shared.measured.fetch_add(1, Ordering::Relaxed);
        (self.shared.notify)(Notice::Ended { peer: self.peer, report: Box::new(report) });
        writer.acknowledge(whole, true)?;
        self.send_files(running.start, &flows, span, writer)
    }

    /// Sends the files that the active side wants.
    fn send_files(
        &self,
        wanted: Start,
        flows: &[(Arc<Flow>, Option<Association>)],
        span: (u64, u64),
        writer: &ControlWriter,
    ) -> Result<(), End> {
        if !wanted.no_vectors {
            let names: Vec<_> =
                flows.iter().map(|(flow, _)| (flow.id.flow, flow.spec.description.clone())).collect();
            writer.file(|out| files::total_vector(out, &names, &self.snapshots))?;
        }
        if !wanted.no_scalars {
            writer.file(|out| {
                files::scalars(out, "passive", flows.iter().map(|(flow, _)| &**flow), span)?;
                for (flow, association) in flows {
                    if let Some(association) = association {
                        association.write_scalars(out, flow.id.flow)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn remove(&mut self, id: FlowId, writer: &ControlWriter) -> Result<(), End> {
        let place = self.slots.iter().position(|slot| slot.id == id);
        let Some(place) = place.filter(|_| self.running.is_none()) else {
            writer.acknowledge(id, false)?;
            return Err(End::Error("it removed a flow that does not exist, or that runs".to_owned()));
        };
        let slot = self.slots.remove(place);
        self.waiting.retain(|waiting| waiting.id != id);
        self.shared.registry.remove(id);
        let Some(bound) = slot.bound() else { return Ok(writer.acknowledge(id, true)?) };
        bound.flow.stop.close();
        bound.flow.over.close();
        if bound.vector {
            writer.acknowledge(id, true)?;
            let start = self.snapshots.first().map_or(0, |snapshot| snapshot.time);
            let arrivals = bound.flow.take_arrivals();
            writer.file(|out| files::flow_vector(out, start, &arrivals))?;
        }
        Ok(())
    }
}

/// The association of a flow; `None` for TCP and UDP.
fn association(bound: &Bound) -> Option<Association> {
    match &bound.channel {
        Channel::Sctp(connection, _) => Association::of(connection),
        Channel::Tcp(_) | Channel::Udp(..) => None,
    }
}
