//! SCTP in UDP, over routers that translate addresses and ports.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunControl, RunOutput};
use lab::scenario::{Capture, Distribution, Hertz, Node, NodeKind, Pace, Scenario};
use std::path::Path;
use units::{BitRate, ByteCount, Instant, Span};

/// client - home (NAT) - isp - server at 2 Mbit/s and 20 ms, with an upload of 1.7 Mbit/s in UDP from 1 s to
/// 7 s.
fn scenario(timeout: Span, rebind_at: &[Instant]) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(2), 1);
    let nat = NodeKind::Nat { outside: 1, timeout, rebind_at: rebind_at.to_vec() };
    scenario.nodes[2] = Node { name: "home".into(), kind: nat };
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(20).into());
    let flow = &mut scenario.flows[0];
    flow.udp_encapsulation = true;
    flow.reset_time = Span::from_secs(1);
    flow.stop_time = Span::from_secs(6);
    let forward = flow.forward.as_mut().expect("it sends");
    forward.pace = frames(150.0);
    (forward.max_msg_size, forward.frame_size) =
        (ByteCount::new(1444), Distribution::Constant(ByteCount::new(1444)));
    scenario
}

fn frames(rate: f64) -> Pace {
    Pace::Frames(Distribution::Constant(Hertz::new(rate).expect("a frequency")))
}

const LONG: Span = Span::from_secs(300);

/// A packet between NAT and server: its time, the UDP port of the client, whether the client sent it, and its
/// bytes.
struct Seen {
    at: Instant,
    port: u16,
    from_client: bool,
    bytes: Vec<u8>,
}

/// Runs a scenario with a capture of the outside link, and reads the capture (pcapng, little-endian).
fn packets(mut scenario: Scenario, name: &str) -> Vec<Seen> {
    let file = format!("{name}.pcapng");
    scenario.captures.push(Capture { link: 1, file: file.clone(), limit: None });
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nat");
    let control = RunControl { captures: Some(folder.clone()), ..RunControl::default() };
    let output = lab::world::run(&scenario, 0, &control).expect("the scenario can be simulated");
    assert_eq!(output.warnings, Vec::<String>::new());
    let file = std::fs::read(folder.join(file)).expect("the capture");
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut seen, mut at) = (Vec::new(), 0);
    while at < file.len() {
        if word(at) == 6 {
            let nanos = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            let ip = &file[at + 28..at + 28 + word(at + 20) as usize];
            let half = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
            assert_eq!((ip[0], ip[9]), (0x45, 17), "IPv4 and UDP");
            assert_eq!(usize::from(half(24)), ip.len() - 20, "length of UDP");
            assert!(ip.len() <= 1500);
            let from_client = half(22) == 9899 && ip[12..16] == [10, 1, 0, 2];
            assert!(from_client || half(20) == 9899 && ip[16..20] == [10, 1, 0, 2]);
            let port = if from_client { half(20) } else { half(22) };
            seen.push(Seen { at: Instant::from_nanos(nanos), port, from_client, bytes: ip[28..].to_vec() });
        }
        at += word(at + 4) as usize;
    }
    seen
}

#[test]
fn a_rebinding_loses_only_what_was_sent_to_the_old_port() {
    let output = run(&scenario(LONG, &[at(3)]));
    assert_eq!(output.warnings, Vec::<String>::new());
    for quantity in ["undelivered_messages", "retransmitted_chunks", "timeouts"] {
        assert_eq!(scalar(&output, "flow", quantity), 0.0, "{quantity}");
    }
    assert_eq!(scalar(&output, "nat:home", "nat_mappings"), 2.0);
    let drops = scalar(&output, "nat:home", "nat_drops");
    assert!((1.0..10.0).contains(&drops), "SACKs of about one round-trip time: {drops}");
    let steady = run(&scenario(LONG, &[]));
    let [rebound, steady] = [&output, &steady].map(|output| scalar(output, "flow", "throughput_bps"));
    assert_eq!((rebound, steady), (150.0 * 1444.0 * 8.0, rebound));
}

// rfc6951#section-5.4
#[test]
fn the_next_packet_of_the_server_goes_to_the_new_port() {
    let seen = packets(scenario(LONG, &[at(3)]), "rebinding");
    let old = seen[0].port;
    let first = seen.iter().position(|packet| packet.port != old).expect("another port");
    let new = seen[first].port;
    assert!(seen[first].from_client && seen[first].at >= at(3));
    let data = |packet: &&Seen| packet.bytes[12] == 0;
    assert!(seen.iter().filter(data).count() > 500);
    // The transmission of a packet takes 6 ms, its propagation 20 ms; the answer takes as long.
    let changed = seen[first].at + Span::from_millis(50);
    for packet in &seen[first..] {
        assert!([old, new].contains(&packet.port));
        let late = packet.from_client || packet.at > changed;
        assert!(!late || packet.port == new, "to the old port at {:?}", packet.at);
    }
}

/// The server sends a message every 40 s, and each end a heartbeat after `heartbeats` of silence.
fn rare_messages(heartbeats: Option<Span>) -> Scenario {
    let mut scenario = scenario(Span::from_secs(30), &[]);
    let flow = &mut scenario.flows[0];
    flow.back = flow.forward.take();
    flow.back.as_mut().expect("the server sends").pace = frames(0.025);
    (flow.reset_time, flow.stop_time) = (Span::ZERO, Span::from_secs(125));
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.hb_interval = heartbeats;
    }
    scenario
}

#[test]
fn without_heartbeats_the_mapping_ends_and_the_server_cannot_reach_the_client() {
    let silent = run(&rare_messages(None));
    let received = |output: &RunOutput| scalar(output, "flow", "back_messages");
    assert_eq!(received(&silent), 1.0);
    assert!(scalar(&silent, "nat:home", "nat_drops") > 3.0, "a message and its retransmissions");
    assert_eq!(scalar(&silent, "nat:home", "nat_mappings"), 2.0, "the second by the client's SHUTDOWN");
    // With a heartbeat interval of 30 s, heartbeats in UDP are sent every 15 s.
    for interval in [15, 30] {
        let kept = run(&rare_messages(Some(Span::from_secs(interval))));
        assert!(received(&kept) >= 3.0, "{} messages", received(&kept));
        assert_eq!(scalar(&kept, "nat:home", "nat_mappings"), 1.0);
        assert_eq!(scalar(&kept, "nat:home", "nat_drops"), 0.0);
        assert_eq!(kept.warnings, Vec::<String>::new());
    }
}

#[test]
fn encapsulation_costs_eight_bytes_a_packet() {
    let mut native = disjoint_paths(BitRate::from_mbps(2), 1);
    let mut encapsulated = native.clone();
    encapsulated.flows[0].udp_encapsulation = true;
    for scenario in [&mut native, &mut encapsulated] {
        let flow = &mut scenario.flows[0];
        (flow.reset_time, flow.stop_time) = (Span::from_secs(1), Span::from_secs(6));
        let forward = flow.forward.as_mut().expect("it sends");
        (forward.max_msg_size, forward.frame_size) =
            (ByteCount::new(1000), Distribution::Constant(ByteCount::new(1000)));
        flow.client_options.bundling = false;
    }
    let size = |scenario| {
        let output = run(scenario);
        let link = |quantity| scalar(&output, "link:west1-east1", quantity);
        link("delivered_bytes") / link("delivered_packets")
    };
    // Bytes of IP, common header, DATA header, payload and framing.
    assert_eq!(size(&native), 20.0 + 12.0 + 16.0 + 1000.0 + 7.0);
    assert_eq!(size(&encapsulated), size(&native) + 8.0);
}

/// The error message for a scenario file with a NAT in which `from` is replaced by `to`.
fn answer(from: &str, to: &str) -> String {
    const RIGHT: &str = r#"
[[node]]
name = "client"
[[node]]
name = "other"
[[node]]
name = "home"
kind = "nat"
outside = "server"
[[node]]
name = "server"
[[link]]
between = ["client", "home"]
rate = "1 Mbit/s"
[[link]]
between = ["other", "home"]
rate = "1 Mbit/s"
[[link]]
between = ["home", "server"]
rate = "1 Mbit/s"
[[flow]]
name = "a"
client = "client"
server = "server"
udp_encapsulation = true
[[flow]]
name = "b"
client = "other"
server = "server"
local_port = 9001
udp_encapsulation = true
# more
"#;
    assert_eq!(RIGHT.matches(from).count(), 1, "{from} stands in the file once");
    anabranch_lab::parse(RIGHT, "x.toml").expect("the file itself is right");
    anabranch_lab::parse(&RIGHT.replace(from, to), "x.toml").expect_err(to).to_string()
}

#[test]
fn flows_that_cannot_pass_a_nat_are_refused_with_the_place() {
    assert_eq!(
        answer("local_port = 9001", "local_port = 9000"),
        "x.toml:30:14: another flow comes to the server from 10.0.0.3 and SCTP port 9000, too, as both pass a NAT; \
         expected another `local_port`"
    );
    assert_eq!(
        answer("9001\nudp_encapsulation = true", "9001\nudp_encapsulation = false"),
        "x.toml:31:21: only SCTP in UDP passes the NAT \"home\" on the way; expected protocol = \"SCTP\" with \
         udp_encapsulation = true"
    );
    let second = "[[link]]\nbetween = [\"client\", \"home\"]\nname = \"second\"\nrate = \"1 Mbit/s\"";
    assert_eq!(
        answer("# more", second),
        "x.toml:22:8: the server cannot reach the 2 addresses that the client lists from behind the NAT \"home\"; \
         expected `networks` or `local_address` to choose one"
    );
    let answered = answer("# more", &second.replace("client", "server"));
    assert!(
        answered.starts_with("x.toml:9:11: several links join the NAT \"home\" and \"server\""),
        "{answered}"
    );
    assert_eq!(
        answer("client = \"client\"\nserver = \"server\"", "client = \"server\"\nserver = \"client\""),
        "x.toml:24:10: no route leads from \"server\" to \"client\"; expected links of one network, over routers only, \
         or over NATs to their outside"
    );
    let udp = "[[flow]]\nname = \"udp\"\nclient = \"client\"\nserver = \"other\"\nprotocol = \"UDP\"\nremote_port = 9899";
    let answered = answer("# more", udp);
    assert!(
        answered.contains("x.toml:37:15: flow `udp`: UDP port 9899 of a host is that of SCTP in UDP"),
        "{answered}"
    );
    let transfers = "[[transfers]]\nname = \"short\"\nclient = \"client\"\nserver = \"server\"\nprotocol = \"SCTP\"\n\
                     rate = \"1 Hz\"\nsize = \"10 kB\"\nto = \"5 s\"";
    assert_eq!(
        answer("# more", transfers),
        "x.toml:33:8: short transfers cannot pass a NAT; expected a [[flow]] with udp_encapsulation = true"
    );
    let bursts = "[[probe]]\nquantity = \"bursts\"\nlink = \"home-server\"";
    let answered = answer("# more", bursts);
    assert!(answered.contains("x.toml:25:21: bursts are counted by SCTP ports"), "{answered}");
}
