//! Test of the bytes that an idle tunnel costs in an hour: two ends with the options and the encryption of a
//! tunnel, in virtual time.

use super::options::{self, PORT};
use crate::config::{self, TunnelConfig};
use crate::idle::idle_options;
use io::sctp::{AssocId, Encapsulation, Endpoint, EndpointConfig, Seed};
use io::{Guard, PathOptions};
use noise::{Noise, Peers, PrivateKey};
use std::collections::BTreeMap;
use std::net::IpAddr;
use transport::{Checksum, Datagram, Octets, PacketBuf};
use units::{Instant, Span};

/// Bytes of the headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 14 + 20 + 8;
const DELAY: Span = Span::from_millis(20);
const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 9));

struct End {
    endpoint: Endpoint,
    noise: Noise,
}

/// A datagram on its way to an end.
struct Flying {
    to: usize,
    src: IpAddr,
    dst: IpAddr,
    bytes: Vec<u8>,
}

/// A client with two uplinks, end 0, and a server with one address, end 1.
struct World {
    now: Instant,
    ends: [End; 2],
    flying: BTreeMap<(Instant, u64), Flying>,
    /// Datagrams so far.
    number: u64,
    /// For each uplink: bytes in both directions, and how many of them belong to handshakes.
    bytes: [[usize; 2]; 2],
    id: AssocId,
}

fn uplink(n: usize) -> IpAddr {
    [10, 0, n as u8, 1].into()
}

impl World {
    fn connected() -> World {
        let config = options::config(&TunnelConfig::parse_without_keys("encryption = false"));
        let [one, two] = [(); 2].map(|()| PrivateKey::generate().expect("randomness"));
        let noise = |own: &PrivateKey, peer: &PrivateKey| {
            Noise::new(own.clone(), Peers::known([peer.public()])).expect("good keys")
        };
        let end = |addresses, seed, noise| End {
            endpoint: Endpoint::new(EndpointConfig {
                encapsulation: Some(Encapsulation::default()),
                checksum: Checksum::Offloaded,
                config: config.clone().into(),
                ..EndpointConfig::new(PORT, addresses, Seed::for_simulation(seed))
            })
            .expect("valid options"),
            noise,
        };
        let mut ends =
            [end(vec![uplink(0), uplink(1)], 1, noise(&one, &two)), end(vec![SERVER], 2, noise(&two, &one))];
        ends[1].endpoint.listen(true);
        let now = Instant::ZERO + Span::from_secs(1000);
        let channel = ends[0].noise.channel(None).expect("one peer");
        let begun = ends[0].endpoint.connect_with(now, PORT, &[SERVER], config.into(), channel);
        let id = begun.expect("a new association");
        World { now, ends, flying: BTreeMap::new(), number: 0, bytes: [[0; 2]; 2], id }
    }

    fn set(&mut self, n: usize, options: PathOptions) {
        let set = self.ends[0].endpoint.set_path_options(self.now, self.id, uplink(n), options);
        set.expect("it is there");
    }

    fn launch(&mut self, from: usize, src: IpAddr, dst: IpAddr, bytes: Vec<u8>) {
        let at = if src == SERVER { dst } else { src };
        let n = usize::from(at == uplink(1));
        let length = HEADERS + bytes.len();
        self.bytes[n][0] += length;
        // Datagrams of a handshake have the types 1 to 3, and a session begins with an empty packet.
        if bytes[0] != 4 || bytes.len() == 32 {
            self.bytes[n][1] += length;
        }
        self.number += 1;
        self.flying.insert((self.now + DELAY, self.number), Flying { to: 1 - from, src, dst, bytes });
    }

    /// Sends what both ends have ready.
    fn drain(&mut self) {
        let (now, mut packet) = (self.now, PacketBuf::default());
        for n in 0..2 {
            while let Some(route) = self.ends[n].endpoint.poll_transmit(now, &mut packet) {
                let mut sealed = Vec::new();
                if self.ends[n].noise.seal(now, &route, packet.as_octets(), &mut sealed) {
                    self.launch(n, route.src, route.dst, sealed);
                }
            }
            let mut datagram = Vec::new();
            while let Some(route) = self.ends[n].noise.poll_transmit(now, &mut datagram) {
                self.launch(n, route.src, route.dst, std::mem::take(&mut datagram));
            }
            while self.ends[n].endpoint.poll_event().is_some() {}
        }
    }

    fn deliver(&mut self, Flying { to, src, dst, bytes }: Flying) {
        let mut packet = Vec::new();
        let outer =
            Datagram { udp_port: Encapsulation::PORT, ..Datagram::new(src, dst, Octets::from(&bytes[..])) };
        if let Some(channel) = self.ends[to].noise.open(self.now, &outer, &mut packet) {
            let inner = Datagram { channel, bytes: Octets::from(&packet[..]), ..outer };
            self.ends[to].endpoint.handle(self.now, inner);
        }
        self.drain();
    }

    fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        self.drain();
        loop {
            let timers =
                self.ends.iter().flat_map(|end| [end.endpoint.poll_timeout(), end.noise.poll_timeout()]);
            let arrival = self.flying.first_key_value().map(|(&(at, _), _)| at);
            let Some(at) = timers.flatten().chain(arrival).min().filter(|&at| at <= end) else { break };
            self.now = self.now.max(at);
            while let Some(first) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let flying = first.remove();
                self.deliver(flying);
            }
            for n in 0..2 {
                self.ends[n].endpoint.handle_timeout(self.now);
                self.ends[n].noise.handle_timeout(self.now);
            }
            self.drain();
        }
        self.now = end;
    }

    /// For each uplink: bytes in both directions during this time, and how many of them belong to handshakes.
    fn count(&mut self, span: Span) -> [[usize; 2]; 2] {
        self.bytes = Default::default();
        self.run_for(span);
        self.bytes
    }
}

const HOUR: Span = Span::from_secs(3600);

#[test]
fn an_idle_uplink_costs_100_kb_an_hour_at_most_and_a_metered_one_30() {
    let plain = PathOptions::default();
    let metered = PathOptions { cost: 1, heartbeat_interval: Some(config::KEEP_ALIVE) };
    // The association begins on the first uplink.
    for uplinks in [[plain, plain], [plain, metered], [metered, plain]] {
        let mut world = World::connected();
        (0..2).for_each(|n| world.set(n, uplinks[n]));
        // After a minute path MTU discovery has ended.
        world.run_for(Span::from_secs(60));
        let busy = world.count(HOUR);
        (0..2).for_each(|n| world.set(n, idle_options(uplinks[n])));
        let idle = world.count(HOUR);
        println!("bytes an hour, and those of handshakes: {busy:?}, when idle {idle:?}");
        for (n, uplink) in uplinks.iter().enumerate() {
            let limit = if uplink.cost == 0 { 100_000 } else { 30_000 };
            assert!(idle[n][0] <= limit && idle[n][0] > limit / 4, "uplink {n}: {idle:?}");
            assert!(busy[n][0] > 200_000 || uplink.cost > 0, "heartbeats are rarer when idle only: {busy:?}");
        }
    }
}
