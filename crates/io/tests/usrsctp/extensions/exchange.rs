//! Messages both ways, without an extension and with NR-SACK.

use super::Row;
use super::endpoint::Ours;
use super::scripted::Scripted;
use crate::capture::Capture;
use crate::network::Network;
use sctp::{Config, Event};
use std::path::Path;
use std::time::{Duration, Instant};

/// Everything must be over by then.
const LIMIT: Duration = Duration::from_secs(30);
const MESSAGES: usize = 300;
const LENGTH: usize = 3000;

/// Our endpoint and usrsctp on both paths, with a capture of what passes.
pub struct Meeting {
    pub ours: Ours,
    pub theirs: Scripted,
    pub network: Network,
    capture: Capture,
    start: Instant,
}

/// Who begins the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    Ours,
    Usrsctp,
}

impl Opener {
    pub const BOTH: [Opener; 2] = [Opener::Ours, Opener::Usrsctp];

    pub fn name(self) -> &'static str {
        match self {
            Opener::Ours => "we connect",
            Opener::Usrsctp => "usrsctp connects",
        }
    }
}

impl Meeting {
    /// Connects them over links of these rates in Mbit/s, with as many addresses as are asked for.
    pub fn new(
        program: &Path,
        rates: [u32; 2],
        paths: usize,
        opener: Opener,
        config: Config,
        options: &[(&str, u32)],
    ) -> Meeting {
        let network = Network::new(rates);
        let capture = Capture::start(&network, &program.with_extension("pcapng"));
        let (here, there) = (Network::addresses_here(), Network::addresses_there());
        let mut ours = Ours::new(&here[..paths], config);
        let names: Vec<String> = there[..paths].iter().map(ToString::to_string).collect();
        let mut theirs = Scripted::start(&network, program, options, &names);
        match opener {
            Opener::Ours => {
                theirs.tell("listen");
                theirs.await_event("listening", LIMIT);
                let now = ours.now();
                ours.id =
                    Some(ours.endpoint.connect(now, super::endpoint::PORT, &there[..1]).expect("an address"));
            }
            Opener::Usrsctp => {
                ours.endpoint.listen(true);
                theirs.tell(&format!("connect {}", here[0]));
            }
        }
        let mut meeting = Meeting { ours, theirs, network, capture, start: Instant::now() };
        meeting.until("it is connected", |ours, _| {
            ours.events.iter().any(|event| matches!(event, Event::Connected { .. }))
        });
        meeting
    }

    /// Goes on until something holds.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Ours, &mut Scripted) -> bool) {
        while !condition(&mut self.ours, &mut self.theirs) {
            assert!(
                self.start.elapsed() < LIMIT,
                "not in time: {what}; ours: {:?}; usrsctp: {:?}",
                self.ours.events,
                self.theirs.events()
            );
            self.ours.turn();
            self.theirs.listen(Duration::ZERO);
        }
    }

    /// Ends the association gracefully, and checks the capture.
    pub fn finish(mut self) -> crate::capture::Verdict {
        let now = self.ours.now();
        self.ours.endpoint.shutdown(now, self.ours.id.expect("it is connected"));
        self.until("it ends gracefully", |ours, _| {
            ours.events.iter().any(
                |event| matches!(event, Event::Closed { reason } if *reason == sctp::CloseReason::Graceful),
            )
        });
        self.theirs.tell("quit");
        self.capture.finish()
    }
}

/// All messages of both sides arrive, in order on their streams.
fn exchange(program: &Path, opener: Opener, config: Config, options: &[(&str, u32)]) -> String {
    let mut meeting = Meeting::new(program, [50, 20], 2, opener, config, options);
    meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} 1 0 none 0"));
    let mut sent = 0;
    meeting.until("all messages arrive", |ours, theirs| {
        sent += ours.send(MESSAGES - sent, LENGTH, |message| message, 2);
        ours.received.len() == MESSAGES && theirs.heard.len() == MESSAGES
    });
    let numbers: Vec<u32> = meeting.theirs.heard.iter().map(|heard| heard.number).collect();
    assert_eq!(numbers, (0..MESSAGES as u32).collect::<Vec<_>>(), "in the order of their stream");
    let packets = meeting.finish().packets;
    format!("{MESSAGES} messages each way, {packets} packets")
}

/// The cells without an extension, and with NR-SACK.
pub fn run(program: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    for opener in Opener::BOTH {
        let shown = exchange(program, opener, Config::default(), &[]);
        rows.push(Row { extension: "none", role: opener.name(), shown });
        let config = Config { nr_sack: true, ..Config::default() };
        let shown = exchange(program, opener, config, &[("nrsack", 1)]);
        rows.push(Row { extension: "NR-SACK", role: opener.name(), shown });
    }
    rows
}
