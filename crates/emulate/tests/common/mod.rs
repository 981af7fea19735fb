//! An emulation in a separate thread, between endpoints of the crate `io`.
#![allow(dead_code)] // Each test uses a part of it.

pub mod inside;

use anabranch_emulate::{Control, Outcome, run};
use io::{Config, Peer, blocking};
use lab::output::RunOutput;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time limit of waits in tests; much longer than they should take.
pub const SOON: Duration = Duration::from_secs(20);

pub struct Emulation {
    control: Control,
    thread: Option<JoinHandle<(Outcome, RunOutput)>>,
    /// The lines of text that describe how to reach the hosts.
    pub ways: Vec<String>,
}

impl Emulation {
    pub fn start(text: &str) -> Emulation {
        let sweep = lab::parse(text, "test.toml").expect("is right");
        let scenario = sweep.variants()[0].scenario.clone();
        let control = Control::default();
        let (ready, is_ready) = channel();
        let given = control.clone();
        let work = move || {
            let told = |ways: &[String]| ready.send(ways.to_vec()).expect("the test waits");
            run(&scenario, &given, told).expect("runs")
        };
        let thread = Some(thread::spawn(work));
        let ways = is_ready.recv_timeout(SOON).expect("begins");
        Emulation { control, thread, ways }
    }

    /// The socket address at which programs of other hosts reach this host over its first link.
    pub fn address(&self, host: &str) -> SocketAddr {
        let start = format!("{host} appears at ");
        let way = self.ways.iter().find_map(|way| way.strip_prefix(&start)).expect("has a socket");
        way.split(',').next().and_then(|address| address.parse().ok()).expect("an address")
    }

    pub fn peer(&self, host: &str, addresses: Vec<IpAddr>, sctp_port: u16) -> Peer {
        Peer::from((addresses, sctp_port)).udp_port(self.address(host).port())
    }

    pub fn stop(self) -> Outcome {
        self.stop_with_results().0
    }

    /// Ends the emulation. Also returns the results of its simulated hosts.
    pub fn stop_with_results(mut self) -> (Outcome, RunOutput) {
        self.control.run.cancel.store(true, Ordering::Relaxed);
        self.thread.take().expect("runs").join().expect("no panic")
    }
}

pub fn endpoint(addresses: &[IpAddr], sctp_port: Option<u16>) -> blocking::Endpoint {
    let builder = blocking::Endpoint::builder()
        .locals(addresses.iter().copied())
        .udp_port(0)
        .config(Config::recommended());
    let builder = match sctp_port {
        Some(port) => builder.port(port),
        None => builder,
    };
    builder.bind().expect("loopback addresses can be bound")
}

pub fn local(last: u8) -> IpAddr {
    [127, 0, 0, last].into()
}

/// The addresses, each with the UDP port of the endpoint, as a list in TOML.
pub fn sockets(addresses: &[IpAddr], endpoint: &blocking::Endpoint) -> String {
    let list: Vec<String> =
        addresses.iter().map(|address| format!("\"{address}:{}\"", endpoint.udp_port())).collect();
    format!("[{}]", list.join(", "))
}
