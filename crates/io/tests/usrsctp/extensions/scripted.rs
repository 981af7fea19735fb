//! The program `scripted.c`: usrsctp, which executes commands line by line.
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

use crate::network::Network;
use crate::process::Running;
use serde_json::Value;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A message that usrsctp has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    pub stream: u16,
    pub ssn: u16,
    /// Number of the message on its stream, which the sender wrote into the first 4 bytes.
    pub number: u32,
    pub length: usize,
}

/// usrsctp at the other side of the network.
pub struct Scripted {
    program: Running,
    printed: Receiver<Value>,
    /// Printed events that no test has removed yet.
    events: Vec<Value>,
    /// Messages received, in order.
    pub heard: Vec<Heard>,
}

impl Scripted {
    /// Starts usrsctp on addresses of the other side, with these extensions and no others.
    pub fn start(
        network: &Network,
        program: &Path,
        options: &[(&str, u32)],
        addresses: &[String],
    ) -> Scripted {
        let mut command = network.there(program.to_str().expect("a path in UTF-8"));
        let mut program = Running::start(&mut command);
        let mut stdout = program.take_stdout();
        let (lines, printed) = channel();
        thread::spawn(move || {
            let mut line = String::new();
            while stdout.read_line(&mut line).is_ok_and(|read| read > 0) {
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if lines.send(value).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let mut peer = Scripted { program, printed, events: Vec::new(), heard: Vec::new() };
        for name in ["asconf", "auth", "cmt", "ecn", "nrsack", "pktdrop", "pr", "reconfig", "nat"] {
            let value = options.iter().find(|(option, _)| *option == name).map_or(0, |(_, value)| *value);
            peer.tell(&format!("option {name} {value}"));
        }
        peer.tell(&format!("bind {}", addresses.join(" ")));
        peer
    }

    /// Passes a command to the program.
    pub fn tell(&mut self, line: &str) {
        writeln!(self.program.stdin(), "{line}").expect("it reads");
    }

    /// Reads the printed events. If there are none, waits at most `patience` for the first one.
    pub fn listen(&mut self, patience: Duration) {
        let mut wait = patience;
        loop {
            match self.printed.recv_timeout(wait) {
                Ok(value) if value["event"] == "message" => self.heard.push(Heard {
                    stream: value["stream"].as_u64().expect("a number") as u16,
                    ssn: value["ssn"].as_u64().expect("a number") as u16,
                    number: value["number"].as_u64().expect("a number") as u32,
                    length: value["length"].as_u64().expect("a number") as usize,
                }),
                Ok(value) => self.events.push(value),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
            wait = Duration::ZERO;
        }
    }

    /// Removes and returns the first event with this name that satisfies the condition, if there is one.
    pub fn event(&mut self, name: &str, condition: impl Fn(&Value) -> bool) -> Option<Value> {
        let place = self.events.iter().position(|event| event["event"] == name && condition(event))?;
        Some(self.events.remove(place))
    }

    /// Waits for an event.
    pub fn await_event(&mut self, name: &str, limit: Duration) -> Value {
        let start = Instant::now();
        loop {
            if let Some(event) = self.event(name, |_| true) {
                return event;
            }
            assert!(start.elapsed() < limit, "no {name} in time: {:?}", self.events);
            self.listen(Duration::from_millis(20));
        }
    }

    /// All events that no test has removed.
    pub fn events(&self) -> &[Value] {
        &self.events
    }
}
