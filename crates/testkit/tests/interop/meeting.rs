//! Our endpoint and another stack on UDP sockets; some packets are lost.
#![expect(clippy::disallowed_types, reason = "sockets work in real time")]

use super::capture::Capture;
use crate::peers::PORT;
use anabranch_testkit::{Ending, Ours, Speaker, header};
use sctp::{AssocId, Config, EndpointConfig, Event, Seed};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant as Clock};
use transport::{Checksum, Octets, PacketBuf};
use units::Instant;
use wire::{Chunk, Packet, Parameter};

/// The addresses that the two stacks use. The sockets have other addresses, on loopback.
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
/// In each direction, one of so many packets is lost.
const LOST: usize = 25;
/// Maximum duration of a test.
const LIMIT: Duration = Duration::from_secs(30);
/// Pause when no packet has arrived.
const REST: Duration = Duration::from_micros(200);

/// The side that starts or ends the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    Ours,
    Theirs,
}

impl Opener {
    pub const BOTH: [Opener; 2] = [Opener::Ours, Opener::Theirs];
}

/// The two connected stacks.
pub struct Meeting<P> {
    pub ours: Ours,
    pub theirs: P,
    /// Events of our endpoint so far, except the events about readable data and free send buffer.
    pub events: Vec<Event>,
    sockets: [UdpSocket; 2],
    /// Number of packets of each side so far.
    sent: [usize; 2],
    capture: Capture,
    /// True once one side has begun to end the association.
    closing: bool,
    start: Clock,
}

impl<P: Speaker> Meeting<P> {
    pub fn new(opener: Opener, config: Config, theirs: P) -> Meeting<P> {
        let settings = EndpointConfig {
            checksum: Checksum::Computed,
            config: config.into(),
            ..EndpointConfig::new(PORT, vec![HERE], Seed::for_simulation(1))
        };
        let sockets =
            [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a port"));
        for (socket, other) in sockets.iter().zip(sockets.iter().rev()) {
            socket.connect(other.local_addr().expect("it is bound")).expect("loopback can be reached");
            socket.set_nonblocking(true).expect("it can be");
        }
        let (ours, capture, start) = (Ours::new(settings, vec![THERE]), Capture::new(), Clock::now());
        let mut meeting = Meeting {
            ours,
            theirs,
            events: Vec::new(),
            sockets,
            sent: [0; 2],
            capture,
            closing: false,
            start,
        };
        let now = meeting.now();
        match opener {
            Opener::Ours => meeting.ours.connect(now),
            Opener::Theirs => meeting.theirs.connect(now),
        }
        meeting.until("it connects", |meeting| meeting.ours.is_connected() && meeting.theirs.is_connected());
        meeting
    }

    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Our association.
    pub fn id(&self) -> AssocId {
        self.ours.association().expect("it was begun")
    }

    /// Runs until the condition is true.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        while !condition(self) {
            let ended = self.ours.ending().or_else(|| self.theirs.ending());
            if self.start.elapsed() > LIMIT || (ended.is_some() && !self.closing) {
                let file = self.capture.write("failed");
                panic!("{what}: {ended:?}; ours: {:?}, capture: {}", self.events, file.display());
            }
            self.turn();
        }
    }

    /// Lets both sides process their packets and timers once.
    fn turn(&mut self) {
        let mut quiet = true;
        for side in 0..2 {
            let mut bytes = vec![0; 1 << 16];
            self.transmit(side);
            while let Ok(length) = self.sockets[side].recv(&mut bytes) {
                quiet = false;
                let (now, packet) = (self.now(), Octets::from(&bytes[..length]));
                let ends = if side == 0 { (THERE, HERE) } else { (HERE, THERE) };
                self.speaker(side).handle(now, ends.0, ends.1, packet);
                self.transmit(side);
            }
            let now = self.now();
            if self.speaker(side).poll_timeout().is_some_and(|at| at <= now) {
                self.speaker(side).handle_timeout(now);
            }
            self.transmit(side);
        }
        let events = std::iter::from_fn(|| self.ours.poll_event());
        self.events.extend(events.filter(|event| !matches!(event, Event::Readable | Event::Writable)));
        if quiet {
            thread::sleep(REST);
        }
    }

    fn speaker(&mut self, side: usize) -> &mut dyn Speaker {
        if side == 0 { &mut self.ours } else { &mut self.theirs }
    }

    fn transmit(&mut self, side: usize) {
        let mut packet = PacketBuf::default();
        let now = self.now();
        while self.speaker(side).poll_transmit(now, &mut packet).is_some() {
            let bytes = packet.as_octets().to_vec();
            self.capture.record(now, &bytes);
            self.sent[side] += 1;
            if !self.sent[side].is_multiple_of(LOST) {
                self.sockets[side].send(&bytes).expect("loopback takes packets");
            }
        }
    }

    /// Ends the association from one side. Asserts that one side ends it gracefully, and the
    /// other one gracefully or by an ABORT without a cause. Checks the capture, which must
    /// contain chunks of these types.
    pub fn finish(mut self, closer: Opener, name: &str, chunks: &[u8]) {
        let now = self.now();
        self.closing = true;
        match closer {
            Opener::Ours => self.ours.shutdown(now),
            Opener::Theirs => self.theirs.shutdown(now),
        }
        self.until("it ends", |meeting| meeting.ours.ending().is_some() && meeting.theirs.ending().is_some());
        let endings = [self.ours.ending(), self.theirs.ending()];
        let graceful = |ending: &Option<Ending>| *ending == Some(Ending::Graceful);
        // If the last packet of the shutdown is lost, one side may report an abort.
        let well = |ending: &Option<Ending>| graceful(ending) || *ending == Some(Ending::Aborted);
        assert!(endings.iter().any(graceful) && endings.iter().all(well), "{endings:?}");
        self.capture.check(name, chunks);
    }
}

/// Asserts that the peer's INIT announces these extensions, but not authentication, ECN or zero checksums.
pub fn announces<P: Speaker>(mut peer: P, extensions: &[u8]) {
    let mut packet = PacketBuf::default();
    peer.connect(Instant::ZERO);
    peer.poll_transmit(Instant::ZERO, &mut packet).expect("it sends an INIT");
    assert_eq!(header(&packet).verification_tag, 0);
    let parsed = Packet::parse(packet.as_octets(), Checksum::Computed).expect("a right checksum");
    let Some(Ok(Chunk::Init(init))) = parsed.chunks().next() else { panic!("an INIT") };
    let mut announced = Vec::new();
    for parameter in init.parameters.iter() {
        match parameter.expect("a right parameter") {
            Parameter::SupportedExtensions(types) => announced.extend_from_slice(types),
            Parameter::ForwardTsnSupported => {}
            other => panic!("{other:?}"),
        }
    }
    let (mut announced, mut extensions) = (announced, extensions.to_vec());
    announced.sort_unstable();
    extensions.sort_unstable();
    assert_eq!(announced, extensions);
}
