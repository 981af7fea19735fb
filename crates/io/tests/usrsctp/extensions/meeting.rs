//! An association between our endpoint and usrsctp, with a capture of its packets.
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

use super::endpoint::{Ours, PORT};
use super::scripted::Scripted;
use crate::capture::{Capture, Expected};
use crate::network::{LONG_QUEUE, Network};
use sctp::{CloseReason, Config, Event};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit of a whole test.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Network and options of a test.
pub struct Setting<'a> {
    /// Rates of the links, in Mbit/s.
    pub rates: [u32; 2],
    /// Time that a full queue takes to drain, in ms.
    pub queue: u32,
    /// Number of addresses of each side at the beginning.
    pub paths: usize,
    pub config: Config,
    /// The extensions of usrsctp, by their names in its program.
    pub options: &'a [(&'a str, u32)],
    /// Commands that usrsctp executes before the association begins.
    pub commands: &'a [&'a str],
}

impl Default for Setting<'_> {
    fn default() -> Self {
        let config = Config::default();
        Setting { rates: [50, 20], queue: LONG_QUEUE, paths: 2, config, options: &[], commands: &[] }
    }
}

/// An association between our endpoint and usrsctp on both paths, with a capture of its packets.
pub struct Meeting {
    pub ours: Ours,
    pub theirs: Scripted,
    /// The network lasts as long as its last process.
    _network: Network,
    capture: Capture,
    start: Instant,
}

/// The side that begins the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    Ours,
    Usrsctp,
}

impl Opener {
    pub const BOTH: [Opener; 2] = [Opener::Ours, Opener::Usrsctp];
}

impl Meeting {
    /// Connects the two sides. Before that, usrsctp executes `commands`.
    pub fn new(program: &Path, opener: Opener, setting: &Setting<'_>) -> Meeting {
        let Setting { rates, queue, paths, config, options, commands } = setting;
        let network = Network::new(*rates, *queue);
        let capture = Capture::start(&network, &program.with_extension("pcapng"));
        let (here, there) = (Network::addresses_here(), Network::addresses_there());
        let mut ours = Ours::new(&here[..*paths], config.clone());
        let names: Vec<String> = there[..*paths].iter().map(ToString::to_string).collect();
        let mut theirs = Scripted::start(&network, program, options, &names);
        commands.iter().for_each(|line| theirs.tell(line));
        match opener {
            Opener::Ours => {
                theirs.tell("listen");
                theirs.await_event("listening", LIMIT);
                let now = ours.now();
                ours.id = Some(ours.endpoint.connect(now, PORT, &there[..1]).expect("an address"));
            }
            Opener::Usrsctp => {
                ours.endpoint.listen(true);
                theirs.tell(&format!("connect {}", here[0]));
            }
        }
        let mut meeting = Meeting { ours, theirs, _network: network, capture, start: Instant::now() };
        meeting
            .until("it is connected", |ours, _| ours.saw(|event| matches!(event, Event::Connected { .. })));
        meeting
    }

    /// Runs both sides until a condition holds.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Ours, &mut Scripted) -> bool) {
        while !condition(&mut self.ours, &mut self.theirs) {
            self.turn(what);
        }
    }

    /// Lets both sides handle their packets and timers once. `what` names the awaited condition in an error.
    pub fn turn(&mut self, what: &str) {
        let failure =
            |event: &&Event| matches!(event, Event::Closed { reason } if *reason != CloseReason::Graceful);
        if let Some(closed) = self.ours.events.iter().find(failure) {
            panic!("{closed:?} instead of: {what}; usrsctp: {:?}", self.theirs.events());
        }
        assert!(
            self.start.elapsed() < LIMIT,
            "not in time: {what}; ours: {:?}; usrsctp: {:?}",
            self.ours.events,
            self.theirs.events()
        );
        self.ours.turn();
        self.theirs.listen(Duration::ZERO);
    }

    /// Ends the association from our side. Checks that both sides end it gracefully, and that the capture
    /// contains chunks of these types.
    pub fn finish(mut self, chunks: &[u8]) {
        let now = self.ours.now();
        self.ours.endpoint.shutdown(now, self.ours.id());
        self.await_end(chunks);
    }

    /// Waits until usrsctp has ended the association gracefully. Checks that the capture contains chunks of
    /// these types.
    pub fn await_end(mut self, chunks: &[u8]) {
        self.until("it ends", |ours, _| ours.saw(|event| matches!(event, Event::Closed { .. })));
        let graceful = |event: &Event| matches!(event, Event::Closed { reason: CloseReason::Graceful });
        assert!(self.ours.saw(graceful), "{:?}", self.ours.events);
        self.theirs.tell("quit");
        self.capture.finish(Expected { damaged: self.ours.damage[0].damaged, chunks });
    }

    /// The counters of usrsctp.
    pub fn status(&mut self) -> serde_json::Value {
        self.theirs.tell("status");
        let mut status = None;
        self.until("usrsctp says its status", |_, theirs| {
            status = theirs.event("status", |_| true);
            status.is_some()
        });
        status.expect("it was awaited")
    }
}
