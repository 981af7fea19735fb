//! The active side of a measurement.

mod course;
mod data;
mod probes;
mod results;

use crate::channel::{Channel, PATIENCE};
use crate::control::{self, ControlError, ControlReader, ControlWriter};
use crate::flow::{Flow, Room};
use crate::keys::Keys;
use crate::latency::{LatencyPlan, Table};
use crate::npmp::{EventSize, FlowId, Message};
use crate::paths::Association;
use crate::pcap::{CaptureFile, Captured, Recorder};
use crate::peer::Samples;
use crate::report::Report;
use crate::spec::{BadFlow, FlowSpec, Transport};
use io::Carrier;
use io::blocking::{Connection, Endpoint};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use crate::report::Interval;

/// Time limit for an answer of the passive side.
const ANSWER: Duration = Duration::from_secs(10);
/// Largest total number of rows in the vector files (a row for each received message) of this side's flows.
const ROWS: usize = 1 << 22;

/// A flow and the number of its SCTP association. Flows with the same number are streams of one association.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The flow.
    pub spec: FlowSpec,
    /// Number of the flow's SCTP association.
    pub association: u32,
}

/// Options of the active side.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Addresses of the passive side: all for SCTP, the first one for everything else.
    pub peers: Vec<IpAddr>,
    /// Port for data; the control port is the next one.
    pub port: u16,
    /// The peer's UDP port of SCTP (RFC 6951).
    pub udp_port: u16,
    /// What carries SCTP: UDP, IP or both.
    pub carrier: Carrier,
    /// Local addresses: all for SCTP; the first one of the peer's family for TCP and UDP. If empty, the
    /// system chooses.
    pub locals: Vec<IpAddr>,
    /// The flows.
    pub flows: Vec<Planned>,
    /// Options of SCTP.
    pub config: sctp::Config,
    /// Time for which both sides send.
    pub duration: Duration,
    /// Start time in microseconds since 1970. `None`, or a time in the past: both sides start at once.
    pub at: Option<u64>,
    /// Time at the beginning whose data is not counted; `duration` begins after this time.
    pub omit: Duration,
    /// Length of an interval; zero for no intervals.
    pub interval: Duration,
    /// Bytes sent or received after which a flow ends; `None`: a flow ends after `duration`.
    pub bytes: Option<u64>,
    /// Name pattern of NetPerfMeter's scalar files, such as `run.sca`.
    pub scalars: Option<PathBuf>,
    /// Name pattern of NetPerfMeter's vector files, such as `run.vec`.
    pub vectors: Option<PathBuf>,
    /// Capture file for the SCTP packets of this side.
    pub capture: Option<CaptureFile>,
    /// Folder of the logs of this side's associations in the format qlog; `None`: no logs.
    pub qlog: Option<PathBuf>,
    /// Keys that encrypt SCTP; `None`: SCTP is sent in clear, as TCP, UDP and the control connection always
    /// are. With keys, all flows of SCTP have the same association.
    pub keys: Option<Keys>,
    /// Size of on/off events: `Packed` for NetPerfMeter 2.0.3 and later.
    pub events: EventSize,
    /// The plan of a measurement of latency under load, if latency is to be measured. Then
    /// [`LatencyPlan::flows`] are the flows, and [`LatencyPlan::total`] is the duration.
    pub latency: Option<LatencyPlan>,
}

/// Reason why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A flow has an invalid option.
    #[error(transparent)]
    Flow(#[from] BadFlow),
    /// Keys were given, which allow one association at a time, but the flows need several.
    #[error("a key is in use by one association at a time: measure with streams (--streams) in place of -P")]
    Associations,
    /// The control connection could not be opened.
    #[error(
        "cannot reach a server at {host} on port {port} (control port {}: {}); is `anabranch measure --server -p {port}` running there?",
        u32::from(*.port) + 1, .source.kind()
    )]
    Connect {
        /// Address of the server.
        host: IpAddr,
        /// Port for data; the control port is the next one.
        port: u16,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The control connection failed.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A data connection could not be opened.
    #[error("flow {flow} has no data connection: {why}")]
    Data {
        /// Number of the flow.
        flow: u32,
        /// Reason.
        why: String,
    },
    /// The passive side refused a request.
    #[error("the server refused {0}")]
    Refused(String),
    /// The passive side did not answer.
    #[error("the server did not answer {0}")]
    Silent(String),
    /// A file could not be written.
    #[error("cannot write {file}: {source}")]
    File {
        /// Name of the file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A thread could not be started, or an option is invalid.
    #[error("cannot start: {0}")]
    System(String),
}

fn has_several_associations(flows: &[Planned]) -> bool {
    let sctp = || flows.iter().filter(|flow| flow.spec.transport == Transport::Sctp);
    sctp().next().is_some_and(|first| sctp().any(|flow| flow.association != first.association))
}

/// A flow with its data connection.
struct Opened {
    flow: Arc<Flow>,
    channel: Channel,
    /// Index of the association of the flow.
    association: Option<usize>,
}

/// An association and the number that the user gave it.
struct Numbered {
    number: u32,
    connection: Connection,
    /// The endpoint of this association alone: two SCTP ports can have only one association with each other.
    endpoint: Endpoint,
}

/// The active side of a measurement.
pub struct Client {
    options: ClientOptions,
    reader: ControlReader,
    writer: ControlWriter,
    measurement: u64,
    flows: Vec<Opened>,
    associations: Vec<Numbered>,
    receivers: Vec<JoinHandle<()>>,
    /// States of its paths that the passive side has reported.
    samples: Samples,
    /// Probes of latency within the association.
    own_probes: Arc<Table>,
    recorder: Option<Recorder>,
}

impl Client {
    /// Connects to the passive side and opens all flows.
    ///
    /// # Errors
    /// [`MeasureError`].
    pub fn connect(options: ClientOptions) -> Result<Self, MeasureError> {
        for Planned { spec, .. } in &options.flows {
            spec.traffic()?;
            spec.changes()?;
        }
        if options.keys.is_some() && has_several_associations(&options.flows) {
            return Err(MeasureError::Associations);
        }
        let recorder = options.capture.as_ref().map(|capture| {
            let failed = |source| MeasureError::File { file: capture.file.display().to_string(), source };
            Recorder::create(capture, options.keys.is_some()).map_err(failed)
        });
        let recorder = recorder.transpose()?;
        let peer =
            options.peers.first().ok_or_else(|| MeasureError::System("there is no address".to_owned()))?;
        let port = options.port.checked_add(1);
        let port = port
            .ok_or_else(|| MeasureError::System("the port of control is the one after 65535".to_owned()))?;
        let peer = SocketAddr::new(*peer, port);
        let failed = |source| MeasureError::Connect { host: peer.ip(), port: port - 1, source };
        let stream = data::connect_tcp(peer, &options.locals, ANSWER).map_err(failed)?;
        control::prepare(&stream).map_err(failed)?;
        let reader = ControlReader::new(stream.try_clone().map_err(failed)?, usize::from(u16::MAX));
        let writer = ControlWriter::new(stream, options.events);
        let measurement = RandomState::new().hash_one(crate::clock::micros());
        let mut client = Client {
            options,
            reader,
            writer,
            measurement,
            flows: Vec::new(),
            associations: Vec::new(),
            receivers: Vec::new(),
            samples: Samples::default(),
            own_probes: Arc::default(),
            recorder,
        };
        let opened = client.open_all();
        if opened.is_err() {
            client.close();
        }
        opened.map(|()| client)
    }

    fn open_all(&mut self) -> Result<(), MeasureError> {
        let room = Arc::new(Room::new(ROWS));
        for (place, planned) in self.options.flows.clone().into_iter().enumerate() {
            let streams = self.options.flows[..place].iter().filter(|other| {
                other.spec.transport == planned.spec.transport && other.association == planned.association
            });
            let sctp = planned.spec.transport == Transport::Sctp;
            let stream = if sctp { streams.count() as u16 } else { 0 };
            let flow = planned.spec.id.unwrap_or(place as u32);
            let id = FlowId { measurement: self.measurement, flow, stream };
            let room = self.options.vectors.is_some().then(|| room.clone());
            let mut spec = planned.spec;
            if spec.description.is_empty() {
                spec.description = format!("Flow {flow}");
            }
            let flow = Arc::new(Flow::new(id, spec, room));
            self.open(flow, planned.association)?;
        }
        self.receive()
    }

    /// Waits for the ACKNOWLEDGE of a request.
    fn acknowledged(&mut self, id: FlowId, what: &str, patience: Duration) -> Result<(), MeasureError> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.reader.next(left, |message| match message {
                Message::Acknowledge(answer) if answer.id == id => Some(answer.status),
                // Another message, for example a second ACKNOWLEDGE for an IDENTIFY datagram that was
                // repeated.
                other => {
                    self.samples.take(&other);
                    None
                }
            })?;
            match answer {
                Some(Some(0)) => return Ok(()),
                Some(Some(_)) => return Err(MeasureError::Refused(what.to_owned())),
                Some(None) => {}
                None => return Err(MeasureError::Silent(what.to_owned())),
            }
        }
    }

    /// Measures until the chosen time has passed or `cancel` is set, and fetches the results. Calls `watch`
    /// with each interval when it ends.
    ///
    /// # Errors
    /// [`MeasureError`].
    pub fn run(mut self, cancel: &AtomicBool, watch: impl FnMut(&Interval)) -> Result<Report, MeasureError> {
        let report = self.measure(&|| cancel.load(Ordering::Relaxed), watch);
        let capture = self.close();
        report.map(|report| Report { capture, ..report })
    }

    /// Reads the present state of all associations.
    fn sample(&self) -> Vec<Association> {
        self.associations
            .iter()
            .map(|numbered| Association::of(&numbered.connection).unwrap_or_default())
            .collect()
    }

    /// Ends all data connections, and then the capture.
    fn close(&mut self) -> Option<Captured> {
        for Opened { flow, .. } in &self.flows {
            flow.stop.close();
            flow.over.close();
        }
        for receiver in self.receivers.drain(..) {
            // `join` fails if the thread panicked. Then the thread has counted less data.
            drop(receiver.join());
        }
        self.flows.clear();
        for Numbered { connection, .. } in &self.associations {
            // Messages that are not delivered by now are not counted, so there is no reason to wait for them.
            connection.abort("the measurement has ended");
        }
        let deadline = Instant::now() + PATIENCE * 10;
        for Numbered { endpoint, .. } in self.associations.drain(..) {
            // If the time limit passes, the endpoint closes in the background.
            let _ = endpoint.close_timeout(deadline.saturating_duration_since(Instant::now()));
        }
        self.recorder.take().map(Recorder::finish)
    }
}
