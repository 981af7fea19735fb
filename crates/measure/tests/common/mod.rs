//! A server on the loopback interface, and the options of its clients.
#![allow(dead_code)] // Each test uses a part of it.

use anabranch_measure::{ClientOptions, FlowSpec, Notice, Planned, Report, Server, ServerOptions, Transport};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time limit for every event that must happen.
pub const SOON: Duration = Duration::from_secs(20);
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server in a separate thread. Dropping it ends the server.
pub struct Running {
    /// The port for data over TCP and UDP, and the UDP port of SCTP.
    pub ports: [u16; 2],
    notices: Receiver<Notice>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start() -> Self {
        Self::start_with(ServerOptions::default())
    }

    /// As [`Self::start`], with other options. The ports are always chosen by the system.
    pub fn start_with(options: ServerOptions) -> Self {
        let (sender, notices) = channel();
        let locals = if options.locals.is_empty() { vec![HERE] } else { options.locals };
        let options = ServerOptions { locals, port: 0, udp_port: 0, ..options };
        let notify = move |notice| drop(sender.send(notice));
        let server = Server::bind(options, notify).expect("a server");
        let ports = [server.port(), server.udp_port()];
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::spawn(move || server.run(&flag).expect("it serves"));
        Running { ports, notices, stop, thread: Some(thread) }
    }

    /// Waits until the server ends by itself.
    pub fn join(mut self) {
        self.thread.take().expect("it runs").join().expect("it did not panic");
    }

    /// The report of the next measurement, when it ends.
    pub fn report(&self) -> Report {
        self.await_notice(|notice| match notice {
            Notice::Ended { report, .. } => Some(*report),
            Notice::Began { .. } | Notice::Refused { .. } => None,
        })
    }

    /// The reason why the next peer is refused.
    pub fn refusal(&self) -> String {
        self.await_notice(|notice| match notice {
            Notice::Refused { why, .. } => Some(why),
            Notice::Began { .. } | Notice::Ended { .. } => None,
        })
    }

    fn await_notice<T>(&self, wanted: impl Fn(Notice) -> Option<T>) -> T {
        loop {
            if let Some(found) = wanted(self.notices.recv_timeout(SOON).expect("a notice")) {
                return found;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

/// Options of a client of the server at this address, with flows of one association.
pub fn client(peer: IpAddr, [port, udp_port]: [u16; 2], flows: &[&str]) -> ClientOptions {
    let plan = |spec: &&str| Planned {
        spec: FlowSpec::parse(spec, Transport::Sctp).expect("a flow"),
        association: 0,
    };
    ClientOptions {
        peers: vec![peer],
        port,
        udp_port,
        carrier: io::Carrier::Udp,
        locals: Vec::new(),
        flows: flows.iter().map(plan).collect(),
        config: ServerOptions::default().config,
        duration: Duration::from_millis(400),
        at: None,
        omit: Duration::ZERO,
        interval: Duration::from_millis(100),
        bytes: None,
        scalars: None,
        vectors: None,
        capture: None,
        qlog: None,
        keys: None,
        events: Default::default(),
        latency: None,
    }
}
