//! The engine with a clock of the test, and packets in memory: no kernel, no waiting, always the same result.

use anabranch_emulate::{Doors, Emulator, Entry};
use lab::output::RunControl;
use lab::scenario::Scenario;
use net::{Ecn, NodeId, Outgoing, Packet, Protocol, Whole};
use std::cell::Cell;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Instant, Span};

const A: [u8; 4] = [10, 1, 0, 1];
const B: [u8; 4] = [10, 1, 0, 2];

fn scenario(queue: &str) -> Scenario {
    scenario_with("link", &format!("rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n{queue}"))
}

fn scenario_with(name: &str, link: &str) -> Scenario {
    let text = format!(
        "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[host]]\nname = \"a\"\nreal = {{ tun = \"a\" }}\n\
         [[host]]\nname = \"b\"\nreal = {{ tun = \"b\" }}\n\
         [[link]]\nname = \"{name}\"\nbetween = [\"a\", \"b\"]\nnet_id = 1\n{link}"
    );
    lab::parse(&text, "test.toml").expect("is right").variants()[0].scenario.clone()
}

/// Real hosts in memory: packets to read, and written packets with their times.
#[derive(Default)]
struct Memory {
    incoming: Vec<(NodeId, Entry, Vec<u8>)>,
    written: Vec<(Instant, NodeId, Vec<u8>)>,
    now: Rc<Cell<Instant>>,
    /// Time by which the clock advances before packets are read, as if the emulation's thread was not
    /// scheduled.
    suspended: Span,
}

impl Doors for &mut Memory {
    fn read(&mut self, enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>)) {
        self.now.set(self.now.get() + self.suspended);
        for (node, entry, mut bytes) in self.incoming.drain(..) {
            enter(node, entry, &mut bytes);
        }
    }

    fn write(&mut self, to: NodeId, packet: &Packet<'_>) -> bool {
        let mut bytes = Vec::new();
        packet.write_whole(&mut bytes);
        self.written.push((self.now.get(), to, bytes));
        true
    }

    fn wait(&mut self, _: Span) -> io::Result<()> {
        Ok(())
    }
}

/// An ICMP packet; simulated hosts do not process ICMP.
fn ping(length: usize) -> Vec<u8> {
    let total = (length as u16).to_be_bytes();
    let mut bytes = vec![0x45, 2, total[0], total[1], 0, 0, 0x40, 0, 64, 1, 0, 0];
    bytes.extend(A);
    bytes.extend(B);
    bytes.resize(length, 0xaa);
    bytes
}

struct World {
    emulator: Emulator,
    memory: Memory,
    nodes: [NodeId; 2],
}

impl World {
    fn new(link: &str) -> World {
        let emulator = Emulator::new(&scenario(link), &RunControl::default()).expect("is right");
        let network = emulator.live().network();
        let nodes = ["a", "b"].map(|name| network.node(name).expect("is there"));
        World { emulator, memory: Memory::default(), nodes }
    }

    fn turn(&mut self, micros: u64) -> Option<Instant> {
        let now = Rc::clone(&self.memory.now);
        now.set(Instant::ZERO + Span::from_micros(micros));
        self.emulator.turn(&|| now.get(), &mut &mut self.memory)
    }

    fn ping(&mut self, length: usize) {
        let bytes = ping(length);
        let whole = Whole::read(&bytes).expect("is a packet");
        self.memory.incoming.push((self.nodes[0], Entry::Whole(whole), bytes));
    }
}

#[test]
fn a_whole_packet_crosses_the_link_unchanged_after_its_transmission_and_delay() {
    let mut world = World::new("");
    world.ping(1000);
    // 8 ms of serialization at 1 Mbit/s, then 10 ms of delay.
    let due = world.turn(500);
    assert_eq!(due, Some(Instant::ZERO + Span::from_micros(18_500)));
    world.turn(18_499);
    assert!(world.memory.written.is_empty());
    world.turn(18_500);
    let (at, to, bytes) = world.memory.written.pop().expect("is due");
    assert_eq!((at, to), (due.expect("some"), world.nodes[1]));
    assert!(bytes == ping(1000), "not a byte differs");
}

/// The packet may have arrived at any time in the 5 ms before the read. Its transmission begins at the read,
/// so that the packet does not leave too early.
#[test]
fn a_packet_does_not_leave_too_early_if_it_was_read_late() {
    let mut world = World::new("");
    world.ping(1000);
    world.memory.suspended = Span::from_millis(5);
    assert_eq!(world.turn(500), Some(Instant::ZERO + Span::from_micros(23_500)));
}

#[test]
fn lateness_is_the_time_from_the_event_to_the_write() {
    let mut world = World::new("");
    world.ping(1000);
    world.turn(0);
    world.turn(20_500);
    let outcome = world.emulator.outcome(Instant::ZERO + Span::from_millis(21));
    assert_eq!((outcome.left, outcome.lateness.most()), (1, Span::from_micros(2500)));
    assert!(outcome.late, "2.5 ms exceed 1 ms");
    assert_eq!(outcome.as_json()["late"], true);
    assert_eq!(outcome.as_json()["lateness"]["max_s"], 0.0025);
    assert!(outcome.render().contains("LATE"));
}

#[test]
fn a_queue_marks_and_drops_whole_packets() {
    let mut world = World::new(
        "queue = { kind = \"red\", min = 5, max = 25, max_p = 0.5, weight = 0.9, capacity = 30, ecn = true }\n",
    );
    (0..40).for_each(|_| world.ping(1000));
    world.turn(0);
    world.turn(2_000_000);
    let outcome = world.emulator.outcome(Instant::ZERO + Span::from_secs(2));
    let forward = &outcome.links[0];
    assert_eq!(forward.offered, 40);
    assert!(forward.marked > 0 && forward.delivered < 40, "{}", outcome.render());
    let is_marked = |bytes: &&(Instant, NodeId, Vec<u8>)| bytes.2[1] & 3 == 3;
    assert_eq!(world.memory.written.iter().filter(is_marked).count() as u64, forward.marked);
}

#[test]
fn a_fair_queue_tells_whole_packets_of_different_ports_apart() {
    let mut world = World::new("queue = { kind = \"fq-codel\" }\n");
    // Ten UDP packets at once from source port 7, and then one from port 8.
    for (port, length) in [(7, 1000); 10].into_iter().chain([(8, 100)]) {
        let mut bytes = ping(length);
        bytes[9] = 17;
        bytes[20..24].copy_from_slice(&[0, port, 0, 9]);
        let whole = Whole::read(&bytes).expect("is a packet");
        world.memory.incoming.push((world.nodes[0], Entry::Whole(whole), bytes));
    }
    world.turn(0);
    world.turn(1_000_000);
    let lengths: Vec<_> = world.memory.written.iter().map(|(_, _, bytes)| bytes.len()).collect();
    let place = lengths.iter().position(|length| *length == 100).expect("it arrives");
    assert!(place <= 2, "the other flow does not wait behind the first one: {lengths:?}");
}

#[test]
fn a_network_that_holds_too_many_packets_takes_no_more() {
    let mut world = World::new("");
    let spec = "rate = \"10 Gbit/s\"\ndelay = \"1 h\"\nqueue = { kind = \"drop-tail\", packets = 10000000 }";
    world.emulator = Emulator::new(&scenario_with("long", spec), &RunControl::default()).expect("is right");
    (0..(1 << 18) + 5).for_each(|_| world.ping(28));
    world.turn(0);
    let outcome = world.emulator.outcome(Instant::ZERO);
    assert_eq!((outcome.links[0].offered, outcome.overflowed), (1 << 18, 5));
}

#[test]
fn packets_to_nobody_are_counted_and_do_no_harm() {
    let mut world = World::new("");
    let mut bytes = ping(100);
    bytes[16..20].copy_from_slice(&[192, 0, 2, 1]);
    let whole = Whole::read(&bytes).expect("is a packet");
    world.memory.incoming.push((world.nodes[0], Entry::Whole(whole), bytes));
    let (src, dst) = (IpAddr::from(A), IpAddr::from([192, 0, 2, 1]));
    let outgoing = Outgoing { src, dst, protocol: Protocol::Udp, ecn: Ecn::NotCapable, zeros: 0 };
    world.memory.incoming.push((world.nodes[0], Entry::Payload(outgoing), vec![1]));
    assert_eq!(world.turn(0), None);
    assert_eq!(world.emulator.outcome(Instant::ZERO).unroutable, 2);
}
