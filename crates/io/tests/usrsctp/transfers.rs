//! Transfers between our stack and usrsctp over UDP, over two paths of equal or different rates.

use crate::capture::{Capture, Expected, Verdict};
use crate::network::{LONG_QUEUE, Network};
use crate::ours;
use crate::peer::{Data, Peer};
use std::path::Path;
use std::time::Duration;

/// Number of attempts to reach the expected rate, because other processes may disturb a transfer.
const TRIES: usize = 3;
/// Rate of user data that fills one path of 50 Mbit/s, in Mbit/s: 1400 of 1470 bytes of an Ethernet frame.
const ONE_PATH: f64 = 47.6;

/// The side that sends the data. It also begins and ends the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Ours,
    Usrsctp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    /// Both paths have 50 Mbit/s.
    Equal,
    /// Both paths have 50 Mbit/s; the first path fails for two seconds.
    Failing,
    /// The paths have 50 and 10 Mbit/s.
    Unequal,
}

/// One transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    sender: Sender,
    cmt: bool,
    paths: Paths,
}

/// The result of a transfer.
struct Outcome {
    /// User data received, in Mbit/s.
    rate: f64,
    verdict: Verdict,
}

impl Transfer {
    fn all() -> impl Iterator<Item = Transfer> {
        let networks = [Paths::Equal, Paths::Failing, Paths::Unequal].into_iter();
        networks.flat_map(|paths| {
            let senders = [Sender::Ours, Sender::Usrsctp].into_iter();
            senders.flat_map(move |sender| [false, true].map(|cmt| Transfer { sender, cmt, paths }))
        })
    }

    fn seconds(self) -> f64 {
        if self.paths == Paths::Failing { 3.2 } else { 2.0 }
    }

    /// Runs the transfer. Asserts all conditions that do not depend on its rate.
    fn run(self, program: &Path) -> Outcome {
        let rates = if self.paths == Paths::Unequal { [50, 10] } else { [50, 50] };
        let network = Network::new(rates, LONG_QUEUE);
        let capture = Capture::start(&network, &program.with_extension("pcapng"));
        let failure = (self.paths == Paths::Failing).then(|| std::thread::spawn(fail_first_path));
        let ((sent, received), seconds, report) = match self.sender {
            Sender::Ours => {
                let peer = Peer::receive(&network, program, self.cmt);
                let sent = ours::send(self.cmt, Duration::from_secs_f64(self.seconds()));
                let report = peer.finish();
                ((sent, report.data), report.seconds, report)
            }
            Sender::Usrsctp => {
                let listener = ours::listen(self.cmt);
                let peer = Peer::send(&network, program, self.cmt, self.seconds());
                let (received, seconds) = listener.receive();
                let report = peer.finish();
                ((report.data, received), seconds, report)
            }
        };
        failure.into_iter().for_each(|thread| thread.join().expect("the link goes down and up"));
        let verdict = capture.finish(Expected::default());
        let outcome = Outcome { rate: received.bytes as f64 * 8e-6 / seconds, verdict };
        eprintln!("{}  {}", self.row(&outcome), report.json["paths"]);
        assert!(report.graceful, "{self:?}: {}", report.json);
        assert_eq!(sent, received, "{self:?}: what was sent was not received");
        assert_ne!(sent, Data::default(), "{self:?}");
        outcome
    }

    fn row(self, outcome: &Outcome) -> String {
        let Transfer { sender, cmt, paths } = self;
        let Outcome { rate, verdict } = outcome;
        let [first, second] = [0, 1].map(|path| {
            let (share, gap) = (100.0 * verdict.share(path), verdict.longest_gap(path));
            format!("{share:5.1} % {gap:4.1} s")
        });
        let (sender, paths) = (format!("{sender:?}"), format!("{paths:?}"));
        format!(
            "{sender:8} {cmt:5} {paths:8} {rate:6.1} Mbit/s  {first}  {second}  {} packets",
            verdict.packets
        )
    }

    /// Checks the conditions that a busy machine may violate. Returns the first unmet
    /// one; `None` if all hold.
    fn complaint(self, Outcome { rate, verdict }: &Outcome) -> Option<String> {
        let least_rate = match (self.cmt, self.sender, self.paths) {
            (true, Sender::Ours, Paths::Equal) => 1.5 * ONE_PATH,
            (true, Sender::Usrsctp, Paths::Equal) => 60.0,
            (true, Sender::Ours, Paths::Unequal) => 50.0,
            _ => 0.0,
        };
        let least_share = if self.cmt { 0.05 } else { 0.0 };
        if *rate < least_rate {
            return Some(format!("{rate:.1} Mbit/s, expected at least {least_rate:.1}"));
        }
        if let Some(path) = [0, 1].into_iter().find(|&path| verdict.share(path) < least_share) {
            return Some(format!("path {path} carries only {:.3} of the data", verdict.share(path)));
        }
        if !self.cmt && self.paths != Paths::Failing && verdict.share(1) > 0.05 {
            return Some(format!("without CMT, path 1 carries {:.3} of the data", verdict.share(1)));
        }
        if self.paths == Paths::Failing {
            if verdict.longest_gap(0) < 1.8 {
                return Some("the first path was not without data when it was down".into());
            }
            // While the first path is down, usrsctp as the sender sends nothing, even to another usrsctp.
            if self.cmt && self.sender == Sender::Ours && verdict.longest_gap(1) > 1.5 {
                return Some("the second path did not go on when the first one was down".into());
            }
        }
        None
    }
}

/// Takes the first path down for 2 s, after some data was sent.
fn fail_first_path() {
    std::thread::sleep(Duration::from_millis(700));
    Network::set_first_link("down");
    std::thread::sleep(Duration::from_secs(2));
    Network::set_first_link("up");
}

/// Runs all transfers. Repeats a transfer whose rate is not as expected.
pub fn run_all(program: &Path) {
    eprintln!("sender   CMT   paths       goodput       path 0: data, gap  path 1: data, gap");
    for transfer in Transfer::all() {
        let mut complaints = Vec::new();
        while let Some(complaint) = transfer.complaint(&transfer.run(program)) {
            complaints.push(complaint);
            assert!(complaints.len() < TRIES, "{transfer:?}: {complaints:?}");
        }
    }
}
