//! The engine of the emulation: packets of real hosts enter the network when the engine reads them, and leave
//! the network when the time of their delivery has come.

use crate::error::EmulateError;
use crate::lateness::Lateness;
use crate::log::Counts;
use crate::outcome::{LinkCounts, Outcome};
use lab::output::RunControl;
use lab::scenario::Scenario;
use lab::world::Live;
use net::{NodeId, Outgoing, Packet, Whole};
use std::io;
use units::{Instant, Span};

/// Where packets enter and leave the emulated network.
pub trait Doors {
    /// Passes the packets that can be read now to `enter`. It should limit their number, so that the engine
    /// returns to its events in time.
    fn read(&mut self, enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>));

    /// Writes a packet to a real host; false if it could not be written.
    fn write(&mut self, to: NodeId, packet: &Packet<'_>) -> bool;

    /// Waits until a packet can be read, at most for `longest`.
    ///
    /// # Errors
    /// The error of the system if it cannot wait.
    fn wait(&mut self, longest: Span) -> io::Result<()>;
}

/// A packet that a real host sends.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The payload of an IP packet.
    Payload(Outgoing),
    /// A whole IP packet.
    Whole(Whole),
}

/// Maximum number of packets in the network; further packets are dropped. A link of 2.5 Gbit/s with a delay
/// of 1 s holds about this number of packets of 1200 bytes.
const MOST_PACKETS: usize = 1 << 18;

/// Longest wait, so that the thread sees a request to stop.
const LONGEST_WAIT: Span = Span::from_millis(100);

/// The emulated network of a scenario.
pub struct Emulator {
    live: Live,
    /// Packets that the engine has read and that have not entered the network yet.
    read: Vec<(NodeId, Entry, Vec<u8>)>,
    /// Buffers for packets to be read.
    spare: Vec<Vec<u8>>,
    lateness: Lateness,
    entered: u64,
    left: u64,
    refused: u64,
    overflowed: u64,
    smallest_delay: Span,
    names: Vec<[String; 2]>,
}

impl Emulator {
    /// Builds the network at time zero.
    ///
    /// # Errors
    /// [`EmulateError`] if no host is real, or the network cannot be built.
    pub fn new(scenario: &Scenario, control: &RunControl) -> Result<Emulator, EmulateError> {
        if scenario.real.is_empty() {
            return Err(EmulateError::NoRealHost);
        }
        let delays =
            scenario.links.iter().flat_map(|link| [link.forward.delay.least(), link.back.delay.least()]);
        let name = |node: usize| scenario.nodes[node].name.as_str();
        let both = |link: &lab::scenario::Link| {
            let [a, b] = link.between.map(name);
            [format!("{} {a} > {b}", link.name), format!("{} {b} > {a}", link.name)]
        };
        Ok(Emulator {
            live: Live::new(scenario, 0, control)?,
            read: Vec::new(),
            spare: Vec::new(),
            lateness: Lateness::default(),
            entered: 0,
            left: 0,
            refused: 0,
            overflowed: 0,
            smallest_delay: delays.min().unwrap_or(Span::ZERO),
            names: scenario.links.iter().map(both).collect(),
        })
    }

    /// The simulated part of the emulation: the network and the simulated hosts.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Passes packets of real hosts into the network, runs the events that are due, and writes the packets
    /// that these events deliver. `clock` returns the time since the emulation began. Returns the time of the
    /// next event.
    pub fn turn(&mut self, clock: &impl Fn() -> Instant, doors: &mut impl Doors) -> Option<Instant> {
        self.run(clock(), clock, doors);
        let Emulator { spare, read, .. } = self;
        doors.read(&mut |from, entry, bytes| {
            let bytes = std::mem::replace(bytes, spare.pop().unwrap_or_default());
            read.push((from, entry, bytes));
        });
        // Takes the time anew after the read: with the earlier time, a packet that arrived in between would
        // leave too early.
        let now = clock();
        self.run(now, clock, doors);
        self.enter();
        self.run(now, clock, doors);
        self.live.next()
    }

    /// Lets the packets that were read from real hosts enter the network.
    fn enter(&mut self) {
        let Emulator { live, read, spare, .. } = self;
        for (from, entry, mut bytes) in read.drain(..) {
            self.entered += 1;
            if live.network().packets_in_use() >= MOST_PACKETS {
                self.overflowed += 1;
                continue;
            }
            match entry {
                Entry::Payload(outgoing) => live.send(from, outgoing, &mut bytes),
                Entry::Whole(whole) => live.send_whole(from, &whole, &mut bytes),
            }
            spare.push(bytes);
        }
    }

    fn run(&mut self, now: Instant, clock: &impl Fn() -> Instant, doors: &mut impl Doors) {
        let Emulator { live, lateness, left, refused, .. } = self;
        live.run_until(now, |due, to, packet| {
            if doors.write(to, packet) {
                *left += 1;
            } else {
                *refused += 1;
            }
            lateness.note(clock().since(due));
        });
    }

    /// Waits until the next event is due, or a packet can be read.
    ///
    /// # Errors
    /// The error of the system if it cannot wait.
    pub fn wait(
        &self,
        next: Option<Instant>,
        clock: &impl Fn() -> Instant,
        doors: &mut impl Doors,
    ) -> io::Result<()> {
        let due = next.map_or(LONGEST_WAIT, |next| next.since(clock()).min(LONGEST_WAIT));
        doors.wait(due)
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            entered: self.entered,
            left: self.left,
            refused: self.refused,
            overflowed: self.overflowed,
            unroutable: self.live.network().unroutable(),
            latest: self.lateness.most(),
        }
    }

    /// The results of the emulation up to `now`.
    pub fn outcome(&self, now: Instant) -> Outcome {
        let network = self.live.network();
        let count = |(link, names): (net::LinkId, &[String; 2])| {
            let both = [link.forward(), link.backward()];
            let of = |at: usize| LinkCounts::new(&names[at], network.counters(both[at]));
            [of(0), of(1)]
        };
        Outcome {
            begun: None,
            time: now.since(Instant::ZERO),
            entered: self.entered,
            left: self.left,
            refused: self.refused,
            overflowed: self.overflowed,
            unroutable: network.unroutable(),
            late: self.lateness.is_late(self.smallest_delay),
            smallest_delay: self.smallest_delay,
            lateness: self.lateness.clone(),
            links: network.links().zip(&self.names).flat_map(count).collect(),
        }
    }

    /// Ends the simulated part, and returns its results and captures.
    ///
    /// # Errors
    /// [`EmulateError`] if a capture cannot be written.
    pub fn finish(
        self,
        scenario: &Scenario,
        control: &RunControl,
    ) -> Result<lab::output::RunOutput, EmulateError> {
        Ok(self.live.finish(scenario, control)?)
    }
}
