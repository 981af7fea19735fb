//! Real endpoints of the crate `io` on both sides of emulated links.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

mod common;

use common::{Emulation, SOON, endpoint, local, sockets};
use io::blocking;
use std::net::IpAddr;
use std::time::{Duration, Instant};

const MESSAGE: usize = 1200;

/// Two real hosts, joined by one link for each address of a host.
fn scenario(client: &str, server: &str, links: &str) -> String {
    format!(
        "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\n\
         [[host]]\nname = \"client\"\nreal = {{ udp = {client} }}\n\
         [[host]]\nname = \"server\"\nreal = {{ udp = {server} }}\n{links}"
    )
}

fn link(net: u8, mbps: u8, more: &str) -> String {
    format!(
        "[[link]]\nname = \"link-{net}\"\nbetween = [\"client\", \"server\"]\nnet_id = {net}\nrate = \"{mbps} Mbit/s\"\n\
         delay = \"10 ms\"\n{more}\n"
    )
}

struct World {
    emulation: Emulation,
    client: blocking::Connection,
    server: blocking::Connection,
    _endpoints: [blocking::Endpoint; 2],
}

impl World {
    fn new(clients: &[IpAddr], servers: &[IpAddr], links: &str) -> World {
        let (client, server) = (endpoint(clients, None), endpoint(servers, None));
        let listener = server.listen(1);
        let text = scenario(&sockets(clients, &client), &sockets(servers, &server), links);
        let emulation = Emulation::start(&text);
        let peer = emulation.peer("server", servers.to_vec(), server.port());
        let connection = client.connect_timeout(peer, SOON).expect("connects in time");
        let accepted = listener.accept_timeout(SOON).expect("accepts in time");
        World { emulation, client: connection, server: accepted, _endpoints: [client, server] }
    }

    /// Sends messages from client to server. Returns the time from the first to the last message.
    fn transfer(&self, messages: usize) -> Duration {
        let sender = self.client.clone();
        let sending = std::thread::spawn(move || {
            for number in 0..messages {
                sender.send(vec![number as u8; MESSAGE]).expect("is open");
            }
        });
        let (mut received, mut first) = (0, None);
        while received < messages {
            let message = self.server.recv_timeout(SOON).expect("in time").expect("is open");
            assert_eq!(message.data.len(), MESSAGE);
            first.get_or_insert_with(Instant::now);
            received += 1;
        }
        sending.join().expect("no panic");
        first.expect("one at least").elapsed()
    }
}

#[test]
fn a_transfer_between_real_endpoints_keeps_the_rate_and_the_delay_of_the_emulated_link() {
    let world = World::new(&[local(1)], &[local(2)], &link(1, 20, ""));
    let rtt = world.client.heartbeat(local(2)).expect("answers");
    assert!(rtt >= Duration::from_millis(20), "RTT {rtt:?} over two times 10 ms");
    let messages = 2500;
    let took = world.transfer(messages).as_secs_f64();
    let goodput = (messages * MESSAGE * 8) as f64 / took / 1e6;
    let outcome = world.emulation.stop();
    println!("goodput {goodput:.2} Mbit/s, RTT {rtt:?}\n{}", outcome.render());
    // The goodput can hardly exceed the rate of the link: if this process is late, only the last packets
    // may arrive together.
    assert!(goodput < 24.0, "{goodput} Mbit/s over 20 Mbit/s");
    let forward = &outcome.links[0];
    assert!(
        forward.name.ends_with("client > server") && forward.delivered as usize >= messages,
        "{forward:?}"
    );
    assert_eq!((outcome.unroutable, outcome.lateness.count()), (0, outcome.left + outcome.refused));
}

#[test]
fn two_emulated_links_carry_the_two_paths_of_an_association() {
    let links = link(1, 10, "") + &link(2, 10, "");
    let world = World::new(
        &[[127, 1, 0, 1].into(), [127, 2, 0, 1].into()],
        &[[127, 1, 0, 2].into(), [127, 2, 0, 2].into()],
        &links,
    );
    world.transfer(1500);
    let outcome = world.emulation.stop();
    for at in [0, 2] {
        let forward = &outcome.links[at];
        assert!(forward.delivered > 100, "both paths carry data: {}", outcome.render());
    }
}

#[test]
fn a_full_queue_of_an_emulated_link_drops_packets_and_the_transfer_completes() {
    let queue = "queue = { kind = \"drop-tail\", packets = 10 }";
    let world = World::new(&[local(21)], &[local(22)], &link(1, 5, queue));
    world.transfer(1000);
    let outcome = world.emulation.stop();
    let forward = &outcome.links[0];
    assert!(
        forward.drops.iter().any(|(cause, count)| *cause == "queue full" && *count > 0),
        "{}",
        outcome.render()
    );
}
