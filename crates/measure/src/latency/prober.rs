//! The threads of the client that send probes.

use super::plan::{LatencyPlan, Phase, Window};
use super::probe::{LENGTH, Probe};
use super::report::{Latency, PhaseLatency, ProbeKind, Probes};
use super::table::{Sent, Table};
use crate::channel::{Channel, PATIENCE, Service};
use crate::clock::Gate;
use crate::flow::Flow;
use io::blocking::{Connection, Endpoint};
use io::{Message, PathInfo, Peer};
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes of a probe on the wire with the headers of UDP and IPv4, and the largest share of the load that all
/// probes may take (draft-ietf-ippm-responsiveness).
const WIRE: f64 = (LENGTH + 28) as f64;
const SHARE: f64 = 0.05;
/// Time between two probes by a new association, and time limit for each answer to such a probe.
const FOREIGN: Duration = Duration::from_secs(1);
const PATIENT: Duration = Duration::from_secs(3);

/// Function that opens the endpoint of a new association.
type Bind = Box<dyn Fn() -> Result<Endpoint, String> + Send>;

/// What a measurement of latency probes, and when.
pub struct Probed {
    /// The phases.
    pub plan: LatencyPlan,
    /// Time at which the server's acknowledgement of START arrived.
    pub started: Instant,
    /// Cookie of the server; `None` if the server does not echo probes.
    pub cookie: Option<u64>,
    /// The association that carries the load, and its stream for probes.
    pub connection: Connection,
    pub stream: u16,
    /// The probes sent in the association with the load. The thread
    /// that receives the association's messages records the answers.
    pub own: Arc<Table>,
    /// The flows that load the paths: from the server, and to the server.
    pub flows: [Arc<Flow>; 2],
    /// Opens endpoints of new associations with the server; `None` if no new association is allowed.
    pub foreign: Option<(Bind, Peer)>,
}

/// State that all threads share.
struct Shared {
    plan: LatencyPlan,
    started: Instant,
    flows: [Arc<Flow>; 2],
    /// Number of threads that send probes. Together, they may use [`SHARE`] of the load.
    sources: usize,
    /// Bytes that each flow had carried at each beginning and end of a phase so far.
    edges: Mutex<Vec<[u64; 2]>>,
    stop: Gate,
}

/// The running threads. They end when this value is dropped.
pub struct Prober {
    shared: Arc<Shared>,
    tables: Vec<(ProbeKind, Arc<Table>)>,
    threads: Vec<JoinHandle<()>>,
    echoes: bool,
}

impl Prober {
    /// Starts to probe.
    ///
    /// # Errors
    /// The system's error if it cannot start a thread.
    pub fn start(probed: Probed) -> std::io::Result<Self> {
        let Probed { plan, started, cookie, connection, stream, own, flows, foreign } = probed;
        let paths = cookie.and_then(|_| connection.paths().ok()).unwrap_or_default();
        let shared = Arc::new(Shared {
            plan,
            started,
            flows,
            sources: 1 + paths.len(),
            edges: Mutex::default(),
            stop: Gate::default(),
        });
        let echoes = cookie.is_some();
        let mut prober = Prober { shared: shared.clone(), tables: Vec::new(), threads: Vec::new(), echoes };
        prober.spawn("edges", move || shared.record_edges())?;
        for path in &paths {
            prober.probe_path(path, cookie.unwrap_or_default())?;
        }
        prober.tables.push((ProbeKind::Own, own.clone()));
        let shared = prober.shared.clone();
        let Some(cookie) = cookie else {
            prober.spawn("heartbeats", move || shared.probe_by_heartbeats(&connection, &own))?;
            return Ok(prober);
        };
        let channel = Channel::Sctp(connection, stream);
        prober.spawn("self", move || shared.probe_association(&channel, cookie, &own))?;
        if let Some((bind, peer)) = foreign {
            let [handshake, message] = [(); 2].map(|()| Arc::new(Table::default()));
            prober.tables.push((ProbeKind::Handshake, handshake.clone()));
            prober.tables.push((ProbeKind::Message, message.clone()));
            let shared = prober.shared.clone();
            let run = move || shared.probe_by_associations((&*bind, &peer), cookie, &[handshake, message]);
            prober.spawn("foreign", run)?;
        }
        Ok(prober)
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        self.threads.push(thread::Builder::new().name(format!("probe {name}")).spawn(run)?);
        Ok(())
    }

    /// Probes a path from a separate socket, so that fair queues treat the probes and the load as two flows.
    fn probe_path(&mut self, path: &PathInfo, cookie: u64) -> std::io::Result<()> {
        let table = Arc::new(Table::default());
        let (local, remote) = (path.local.to_string(), path.remote.to_string());
        self.tables.push((ProbeKind::Path { path: path.id.0, local, remote }, table.clone()));
        let socket = UdpSocket::bind(SocketAddr::new(path.local, 0)).and_then(|socket| {
            socket.connect(SocketAddr::new(path.remote, path.udp_port))?;
            Ok(socket)
        });
        // If there is no socket, the results show the path without probes.
        let Ok(socket) = socket else { return Ok(()) };
        let shared = self.shared.clone();
        self.spawn("path", move || shared.probe_by_datagrams(&socket, cookie, &table))
    }

    /// Ends the threads, and returns the results.
    pub fn finish(mut self) -> Latency {
        self.shared.stop.close();
        for thread in self.threads.drain(..) {
            // `join` fails if the thread panicked. Then the thread has sent fewer probes.
            drop(thread.join());
        }
        let started = self.shared.started;
        let rtts = |(kind, table): &(ProbeKind, Arc<Table>)| {
            // A handshake takes two round trips.
            let rounds = if *kind == ProbeKind::Handshake { 2.0 } else { 1.0 };
            let rtt = |sent: &Sent| sent.rtt.map(|rtt| rtt.as_secs_f64() / rounds);
            let point = |sent: &Sent| (sent.at.saturating_duration_since(started).as_secs_f64(), rtt(sent));
            Probes { kind: kind.clone(), rtts: table.sent().iter().map(point).collect() }
        };
        Latency {
            phases: self.shared.phases(),
            probes: self.tables.iter().map(rtts).collect(),
            echoes: self.echoes,
        }
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.shared.stop.close();
    }
}

/// Seconds between two probes of each of `sources` threads: the inverse of the chosen rate, or
/// more if all probes together would exceed [`SHARE`] of `load` (bytes per second). Each
/// thread sends at least one probe a second.
fn spacing(rate: f64, sources: usize, load: Option<f64>) -> f64 {
    let least = load.map_or(0.0, |load| WIRE * sources as f64 / (SHARE * load));
    least.min(1.0).max(1.0 / rate)
}

impl Shared {
    fn edges(&self) -> Vec<[u64; 2]> {
        self.edges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Bytes of the load so far: from the server, and to the server.
    fn load(&self) -> [u64; 2] {
        let [down, up] = &self.flows;
        [down.counters().received.amount.bytes, up.counters().sent.amount.bytes]
    }

    /// Records the load at the beginning and end of each phase.
    fn record_edges(&self) {
        for Window { from, to, .. } in self.plan.windows() {
            for edge in [from, to] {
                if self.stop.wait_until(Some(self.started + edge)) {
                    return;
                }
                self.edges.lock().unwrap_or_else(PoisonError::into_inner).push(self.load());
            }
        }
    }

    /// The phases that are complete.
    fn phases(&self) -> Vec<PhaseLatency> {
        let edges = self.edges();
        let phase = |(window, edges): (Window, &[[u64; 2]])| {
            let time = (window.from.as_secs_f64(), window.to.as_secs_f64());
            let rate = |bytes: u64| bytes as f64 * 8.0 / (time.1 - time.0);
            let load = std::array::from_fn(|way| rate(edges[1][way] - edges[0][way]));
            PhaseLatency { phase: window.phase, time, load }
        };
        self.plan.windows().into_iter().zip(edges.chunks_exact(2)).map(phase).collect()
    }

    /// `due`, or the beginning of the next phase if `due` is in no phase; `None` after the last phase.
    fn next(&self, due: Duration) -> Option<Duration> {
        let window = self.plan.windows().into_iter().find(|window| due < window.to)?;
        Some(due.max(window.from))
    }

    /// The time at which a thread's next probe is due, if it has sent one at the time `at`.
    fn after(&self, at: Duration) -> Duration {
        let spacing = spacing(self.plan.rate, self.sources, self.measured_rate());
        self.started.elapsed().max(at + Duration::from_secs_f64(spacing))
    }

    /// Rate of the load in this phase so far, in bytes a second; `None` without load and in the first second.
    fn measured_rate(&self) -> Option<f64> {
        let now = self.started.elapsed();
        let window = self.plan.windows().into_iter().find(|window| now < window.to)?;
        let elapsed = now.checked_sub(window.from).filter(|elapsed| *elapsed > FOREIGN)?;
        let edges = self.edges();
        let before = edges.chunks(2).last().filter(|edges| edges.len() == 1)?[0];
        let bytes = self.load().iter().zip(before).map(|(now, before)| now - before).sum::<u64>();
        (window.phase != Phase::Idle).then(|| bytes as f64 / elapsed.as_secs_f64())
    }

    /// Waits until the next time to probe, not before `due`;
    /// `None` after the last phase or if the prober stops.
    fn wait(&self, due: Duration) -> Option<Duration> {
        let at = self.next(due)?;
        (!self.stop.wait_until(Some(self.started + at))).then_some(at)
    }

    fn probe_by_datagrams(&self, socket: &UdpSocket, cookie: u64, table: &Table) {
        let mut due = Duration::ZERO;
        while !self.stop.is_closed() {
            let at = self.next(due);
            let left = at.map_or(PATIENCE, |at| at.saturating_sub(self.started.elapsed()));
            if left.is_zero() {
                let probe = Probe { cookie, sequence: table.begin(), is_answer: false };
                // A datagram that cannot be sent counts as lost, because no answer arrives.
                let _ = socket.send(&probe.encode());
                due = self.after(at.unwrap_or(due));
                continue;
            }
            let mut buffer = [0; LENGTH + 1];
            // `set_read_timeout` rejects zero. `recv` fails if the timeout
            // expires, or if an earlier datagram caused an ICMP error.
            let timeout = left.clamp(Duration::from_micros(100), PATIENCE);
            if let Ok(length) = socket.set_read_timeout(Some(timeout)).and_then(|()| socket.recv(&mut buffer))
                && let Some(Probe { sequence, .. }) = Probe::decode(&buffer[..length])
                    .filter(|answer| answer.is_answer && answer.cookie == cookie)
            {
                table.end(sequence);
            }
        }
    }

    fn probe_association(&self, channel: &Channel, cookie: u64, table: &Table) {
        let mut due = Duration::ZERO;
        while let Some(at) = self.wait(due) {
            let probe = Probe { cookie, sequence: table.begin(), is_answer: false };
            if !matches!(channel.send(&probe.encode(), Service::default(), &self.stop), Ok(true)) {
                return;
            }
            due = self.after(at);
        }
    }

    /// Probes an association whose peer does not echo messages, by heartbeats on the primary path.
    fn probe_by_heartbeats(&self, connection: &Connection, table: &Table) {
        let mut due = Duration::ZERO;
        while let Some(at) = self.wait(due) {
            let Ok(paths) = connection.paths() else { return };
            if let Some(path) = paths.iter().find(|path| path.is_primary) {
                let sequence = table.begin();
                if connection.heartbeat(path.remote).is_ok() {
                    table.end(sequence);
                }
            }
            due = self.after(at);
        }
    }

    fn probe_by_associations(
        &self,
        (bind, peer): (&dyn Fn() -> Result<Endpoint, String>, &Peer),
        cookie: u64,
        [handshake, message]: &[Arc<Table>; 2],
    ) {
        let mut due = Duration::ZERO;
        while let Some(at) = self.wait(due) {
            due = self.started.elapsed().max(at + FOREIGN);
            let Ok(endpoint) = bind() else { continue };
            let sequence = handshake.begin();
            let Ok(connection) = endpoint.connect_timeout(peer.clone(), PATIENT) else { continue };
            handshake.end(sequence);
            let probe = Probe { cookie, sequence: message.begin(), is_answer: false };
            if connection.send_timeout(Message::from(&probe.encode()[..]), PATIENT).is_ok()
                && let Ok(Some(answer)) = connection.recv_timeout(PATIENT)
                && Probe::decode(&answer.data) == Some(Probe { is_answer: true, ..probe })
            {
                message.end(probe.sequence);
            }
            connection.abort("the probe is over");
            due = due.max(self.started.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_take_at_most_a_twentieth_of_the_load() {
        // A probe has 92 bytes. Two sources with 20 probes a second send 3680 byte/s: 5 % of 73,600 byte/s.
        assert_eq!(spacing(20.0, 2, None), 0.05);
        assert_eq!(spacing(20.0, 2, Some(73_600.0)), 0.05);
        assert_eq!(spacing(20.0, 2, Some(36_800.0)), 0.1);
        assert_eq!([1.0, 0.0].map(|load| spacing(20.0, 2, Some(load))), [1.0; 2]);
    }
}
