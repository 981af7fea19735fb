//! In-process mode: sans-IO endpoints in threads of the test, over emulated links on the wall clock.
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

use anabranch_emulate::{Control, Door, DoorPacket, Ended, InProcess};
use lab::scenario::Scenario;
use net::{Ecn, Protocol};
use sctp::{Config, Endpoint, EndpointConfig, Message, Payload, Seed};
use std::thread;
use std::time::{Duration, Instant};
use transport::PacketBuf;
use units::Span;

/// Time limit of the test; much longer than it should take.
const SOON: Duration = Duration::from_secs(60);
const MESSAGES: u32 = 1500;
const LENGTH: usize = 1000;
/// Longest wait in one call of [`Door::turn`].
const TURN: Span = Span::from_millis(20);

fn scenario(links: &str, more: &str) -> Scenario {
    let text = format!(
        "node = [{{ name = \"client\" }}, {{ name = \"server\" }}]\n\
         [[host]]\nname = \"client\"\nreal = {{ in_process = true }}\n{more}\n{links}"
    );
    lab::parse(&text, "test.toml").expect("is right").variants()[0].scenario.clone()
}

const SERVER: &str = "[[host]]\nname = \"server\"\nreal = { in_process = true }";

fn link(net: u8, more: &str) -> String {
    format!(
        "[[link]]\nname = \"link-{net}\"\nbetween = [\"client\", \"server\"]\nnet_id = {net}\nrate = \"20 Mbit/s\"\n\
         delay = \"5 ms\"\n{more}\n"
    )
}

fn endpoint(door: &Door, port: u16) -> Endpoint {
    let config = EndpointConfig {
        config: Config::recommended().into(),
        ..EndpointConfig::new(port, door.addresses(), Seed::for_simulation(port.into()))
    };
    Endpoint::new(config).expect("is right")
}

/// The server: receives all messages and returns their numbers. Continues until the client has received all
/// acknowledgements.
fn receive(mut door: Door, mut server: Endpoint) -> Vec<u32> {
    let mut numbers = Vec::new();
    server.listen(true);
    while door.turn(&mut server, Protocol::Sctp, TURN).is_ok() {
        while server.poll_event().is_some() {}
        let Some(id) = server.associations().next() else { continue };
        while let Some(received) = server.receive(id, usize::MAX) {
            let bytes = received.payload.to_bytes();
            assert_eq!(bytes.len(), LENGTH);
            numbers.push(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        }
    }
    numbers
}

/// The client: sends all messages, and returns when all are acknowledged.
fn send(door: &mut Door, client: &mut Endpoint, to: &[std::net::IpAddr]) {
    let id = client.connect(door.now(), 5002, to).expect("is right");
    let message = |number: u32| {
        let mut bytes = vec![0; LENGTH];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Message::new(Payload::Bytes(bytes.into()))
    };
    let (end, mut next) = (Instant::now() + SOON, 0);
    loop {
        while next < MESSAGES && client.send(door.now(), id, message(next)).is_ok() {
            next += 1;
        }
        door.turn(client, Protocol::Sctp, TURN).expect("goes on");
        while client.poll_event().is_some() {}
        let stats = client.stats(id).expect("lives");
        if next == MESSAGES && stats.unsent_messages + stats.outstanding_chunks == 0 {
            return;
        }
        assert!(Instant::now() < end, "{next} messages sent, {stats:?}");
    }
}

#[test]
fn sans_io_endpoints_transfer_all_in_order_over_two_emulated_links_with_losses() {
    let links = link(1, "loss = 0.02") + &link(2, "loss = 0.02");
    let (emulation, doors) =
        InProcess::start(&scenario(&links, SERVER), &Control::default()).expect("begins");
    let [mut at_client, at_server] = <[Door; 2]>::try_from(doors).expect("two hosts");
    assert_eq!(at_client.addresses().len(), 2);
    let to = at_server.addresses();
    let server = endpoint(&at_server, 5002);
    let receiving = thread::spawn(move || receive(at_server, server));
    let mut client = endpoint(&at_client, 5001);
    send(&mut at_client, &mut client, &to);
    let (outcome, _) = emulation.stop().expect("ends well");
    let numbers = receiving.join().expect("no panic");
    assert!(numbers.iter().copied().eq(0..MESSAGES), "everything arrives in order");
    for at in [0, 2] {
        let forward = &outcome.links[at];
        assert!(forward.delivered_bytes > 100_000, "both links carry data: {}", outcome.render());
        assert!(
            forward.drops.iter().any(|(_, count)| *count > 0),
            "the losses of the scenario: {}",
            outcome.render()
        );
    }
    assert!(outcome.left > u64::from(MESSAGES));
    assert_eq!(outcome.lateness.count(), outcome.left + outcome.refused);
    assert_eq!(at_client.turn(&mut client, Protocol::Sctp, TURN), Err(Ended));
}

fn packet(from: &Door, to: std::net::IpAddr, number: usize) -> DoorPacket {
    let payload = PacketBuf { head: number.to_be_bytes().to_vec(), zeros: 100 };
    DoorPacket { src: from.addresses()[0], dst: to, protocol: Protocol::Udp, ecn: Ecn::Capable0, payload }
}

#[test]
fn a_packet_passes_unchanged_and_what_a_full_door_cannot_hold_is_dropped() {
    let (emulation, doors) =
        InProcess::start(&scenario(&link(1, ""), SERVER), &Control::default()).expect("begins");
    let [from, to] = <[Door; 2]>::try_from(doors).expect("two hosts");
    let address = to.addresses()[0];
    let began = from.now();
    assert!(from.send(packet(&from, address, 7)).expect("goes on"));
    let arrived = to.receive(Span::from_secs(60)).expect("goes on").expect("in time");
    assert!(to.now().since(began) >= Span::from_millis(5), "the delay of the link");
    assert_eq!((arrived.src, arrived.dst), (from.addresses()[0], address));
    assert_eq!((arrived.protocol, arrived.ecn), (Protocol::Udp, Ecn::Capable0));
    assert_eq!((arrived.payload.head, arrived.payload.zeros), (7_usize.to_be_bytes().to_vec(), 100));
    // No thread takes packets from the queue of the other host.
    let (end, mut sent) = (Instant::now() + SOON, 0);
    while sent < 4000 {
        if !from.send(packet(&from, address, sent)).expect("goes on") || sent % 64 == 0 {
            thread::sleep(Duration::from_millis(5));
        }
        sent += 1;
        assert!(Instant::now() < end);
    }
    let (outcome, _) = emulation.stop().expect("ends well");
    assert!(outcome.refused > 0, "{}", outcome.render());
    let mut held = 0;
    while to.receive(Span::ZERO).is_ok() {
        held += 1;
    }
    assert_eq!(held + 1, outcome.left, "what was written to the door can be taken after the end");
}

#[test]
fn a_simulated_host_answers_an_endpoint_in_the_process() {
    let flow = "[[flow]]\nname = \"flow\"\nclient = \"client\"\nserver = \"server\"\nframe_rate = \"100 Hz\"\n\
                frame_size = \"800 B\"\nstart_time = \"0 s\"\nremote_port = 5002\nlocal_port = 5001\n";
    let (emulation, doors) =
        InProcess::start(&scenario(&link(1, ""), flow), &Control::default()).expect("begins");
    let [mut door] = <[Door; 1]>::try_from(doors).expect("one host");
    let mut client = endpoint(&door, 5001);
    let host = door.addresses()[0].to_string().replace(".0.1", ".0.2").parse().expect("an address");
    send(&mut door, &mut client, &[host]);
    drop(door);
    let (outcome, _) = emulation.stop().expect("ends well");
    assert!(outcome.entered > u64::from(MESSAGES), "{}", outcome.render());
}

#[cfg(target_os = "linux")]
#[test]
fn emulation_between_programs_refuses_a_host_in_the_process() {
    let scenario = scenario(&link(1, ""), SERVER);
    let error = anabranch_emulate::run(&scenario, &Control::default(), |_| ()).expect_err("is refused");
    assert!(error.to_string().contains("expected `udp`, `tun` or `namespace`"), "{error}");
}
