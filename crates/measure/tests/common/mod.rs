//! A server on the loopback interface.

use anabranch_measure::{Notice, Report, Server, ServerOptions};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than anything that must happen takes.
pub const SOON: Duration = Duration::from_secs(20);
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server in a thread of its own, which ends when this is dropped.
pub struct Running {
    /// Those of data over TCP and UDP, and the UDP port of SCTP.
    pub ports: [u16; 2],
    notices: Receiver<Notice>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start() -> Self {
        let (sender, notices) = channel();
        let options = ServerOptions { locals: vec![HERE], port: 0, udp_port: 0, ..ServerOptions::default() };
        let notify = move |notice| drop(sender.send(notice));
        let server = Server::bind(options, notify).expect("a server");
        let ports = [server.port(), server.udp_port()];
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::spawn(move || server.run(&flag).expect("it serves"));
        Running { ports, notices, stop, thread: Some(thread) }
    }

    /// The report of the next measurement that ends.
    pub fn report(&self) -> Report {
        self.await_notice(|notice| match notice {
            Notice::Ended { report, .. } => Some(*report),
            Notice::Began { .. } | Notice::Refused { .. } => None,
        })
    }

    /// Why the next peer is refused.
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
        let ended = self.thread.take().expect("it runs").join();
        assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
    }
}
