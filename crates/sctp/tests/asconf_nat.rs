//! A host with two uplinks, each behind a NAT of its own, over UDP (`rfc6951`): the second uplink joins a running association by
//! an ASCONF that names no address, and the first one leaves it (`rfc5061#section-4.2.1`).

use anabranch_sctp::{
    AddressChange, AssocId, Cmt, Config, Encapsulation, Endpoint, EndpointConfig, Event, Message, PathSet,
    PathState, Payload, Seed,
};
use std::collections::VecDeque;
use std::net::IpAddr;
use transport::{Datagram, PacketBuf, Transmit};
use units::{Instant, Span};

const DELAY: Span = Span::from_millis(10);

fn server_address(link: u8) -> IpAddr {
    [198, 51, 99 + link, 1].into()
}

/// Address of the client on an uplink.
fn private(uplink: u8) -> IpAddr {
    [10, uplink, 0, 7].into()
}

/// Address and UDP port that the NAT of an uplink gives it.
fn public(uplink: u8) -> (IpAddr, u16) {
    ([192, 0, uplink, 1].into(), 40_000 + u16::from(uplink))
}

/// The two endpoints, and two NATs between them.
struct Nats {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    /// When it arrives, whether at the server, the uplink, and the packet.
    flying: VecDeque<(Instant, bool, u8, PacketBuf)>,
    /// The uplink that carries nothing.
    dead: u8,
    /// The address of the server that each uplink reaches, and no other.
    reached: [IpAddr; 2],
    events: Vec<Event>,
}

impl Nats {
    /// An association over the first uplink with a server whose addresses these uplinks reach.
    fn connected(reached: [IpAddr; 2]) -> (Nats, AssocId, AssocId) {
        let config = Config {
            auth: true,
            asconf: true,
            nat_friendly: true,
            paths: PathSet::Pairs,
            cmt: Cmt { enabled: true, ..Cmt::default() },
            ..Config::default()
        };
        let endpoint = |port, addresses, seed| {
            Endpoint::new(EndpointConfig {
                encapsulation: Some(Encapsulation::default()),
                config: config.clone().into(),
                ..EndpointConfig::new(port, addresses, Seed::for_simulation(seed))
            })
            .unwrap()
        };
        let mut addresses = reached.to_vec();
        addresses.dedup();
        let (client, mut server) = (endpoint(5001, vec![private(1)], 1), endpoint(5002, addresses, 2));
        server.listen(true);
        let now = Instant::ZERO;
        let (flying, events) = (VecDeque::new(), Vec::new());
        let mut nats = Nats { now, client, server, flying, dead: 0, reached, events };
        let id = nats.client.connect(now, 5002, &[server_address(1)]).unwrap();
        nats.run_for(Span::from_secs(2));
        let theirs = nats.server.associations().next().expect("an association");
        (nats, id, theirs)
    }

    fn carries(&self, uplink: u8, server: IpAddr) -> bool {
        uplink != self.dead && self.reached[usize::from(uplink) - 1] == server
    }

    fn drain(&mut self) {
        let mut buf = PacketBuf::default();
        let due = self.now + DELAY;
        while let Some(Transmit { src, dst, .. }) = self.client.poll_transmit(self.now, &mut buf) {
            let uplink = (1..=2).find(|&uplink| private(uplink) == src).expect("an address of the client");
            if self.carries(uplink, dst) {
                self.flying.push_back((due, true, uplink, buf.clone()));
            }
        }
        while let Some(Transmit { src, dst, udp_port, .. }) = self.server.poll_transmit(self.now, &mut buf) {
            // A NAT drops what is for none of its mappings.
            let uplink = (1..=2).find(|&uplink| public(uplink) == (dst, udp_port));
            if let Some(uplink) = uplink.filter(|&uplink| self.carries(uplink, src)) {
                self.flying.push_back((due, false, uplink, buf.clone()));
            }
        }
        while let Some((_, event)) = self.client.poll_event() {
            self.events.push(event);
        }
        while self.server.poll_event().is_some() {}
    }

    fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            self.drain();
            let arrival = self.flying.front().map(|flying| flying.0);
            let timers = [self.client.poll_timeout(), self.server.poll_timeout(), arrival];
            let next = timers.into_iter().flatten().min().unwrap_or(until);
            if next > until {
                return self.now = until;
            }
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, to_server, uplink, packet) = self.flying.pop_front().expect("a packet");
                let ((address, udp_port), server) = (public(uplink), self.reached[usize::from(uplink) - 1]);
                let (to, src, dst, udp_port) = if to_server {
                    (&mut self.server, address, server, udp_port)
                } else {
                    (&mut self.client, server, private(uplink), Encapsulation::PORT)
                };
                to.handle(self.now, Datagram { udp_port, ..Datagram::new(src, dst, packet.as_octets()) });
            } else {
                self.client.handle_timeout(self.now);
                self.server.handle_timeout(self.now);
            }
        }
    }

    fn send(&mut self, from_server: bool, id: AssocId, length: u32) {
        let endpoint = if from_server { &mut self.server } else { &mut self.client };
        endpoint.send(self.now, id, Message::new(Payload::Filler(length))).expect("there is room");
    }

    fn read(&mut self, at_server: bool, id: AssocId) -> usize {
        let endpoint = if at_server { &mut self.server } else { &mut self.client };
        let mut read = 0;
        while let Some(received) = endpoint.receive(self.now, id, usize::MAX) {
            read += received.payload.len();
        }
        read
    }

    fn paths_of_server(&self, id: AssocId) -> Vec<(IpAddr, u16, PathState)> {
        let paths = self.server.paths(id).unwrap();
        paths.map(|path| (path.remote, path.udp_port, path.state)).collect()
    }
}

// rfc5061#section-4.2.1
#[test]
fn a_second_uplink_behind_a_nat_joins_and_the_first_leaves_while_data_flows_both_ways() {
    let (mut nats, mine, theirs) = Nats::connected([server_address(1); 2]);
    let seen = |uplink| {
        let (address, udp_port) = public(uplink);
        (address, udp_port, PathState::Active)
    };
    assert_eq!(nats.paths_of_server(theirs), [seen(1)]);
    nats.send(false, mine, 500_000);
    nats.send(true, theirs, 500_000);
    nats.run_for(Span::from_millis(50));
    assert!(nats.client.add_local_address(nats.now, mine, private(2)));
    nats.run_for(Span::from_millis(200));
    assert_eq!(nats.paths_of_server(theirs), [seen(1), seen(2)]);
    nats.send(false, mine, 200_000);
    nats.send(true, theirs, 200_000);
    nats.run_for(Span::from_millis(40));
    nats.dead = 1;
    assert!(nats.client.remove_local_address(nats.now, mine, private(1)));
    nats.run_for(Span::from_secs(10));
    assert_eq!(nats.paths_of_server(theirs), [seen(2)]);
    assert_eq!((nats.read(true, theirs), nats.read(false, mine)), (700_000, 700_000));
    let (change, address, accepted) = (AddressChange::Add, private(2), true);
    assert!(nats.events.contains(&Event::AddressChange { change, address, accepted }));
    // And back, from the uplink that had gone.
    nats.dead = 0;
    assert!(nats.client.add_local_address(nats.now, mine, private(1)));
    nats.run_for(Span::from_secs(3));
    assert_eq!(nats.paths_of_server(theirs).len(), 2);
}

// rfc5061#section-5.1, rule B: to another address of the peer if the one before does not answer.
#[test]
fn a_second_uplink_joins_that_reaches_only_an_address_of_the_server_which_the_first_cannot() {
    let (mut nats, mine, theirs) = Nats::connected([server_address(1), server_address(2)]);
    assert!(nats.client.add_local_address(nats.now, mine, private(2)));
    nats.run_for(Span::from_secs(10));
    let active = |endpoint: &Endpoint, id| -> Vec<(IpAddr, IpAddr)> {
        let paths = endpoint.paths(id).unwrap().filter(|path| path.state == PathState::Active);
        paths.map(|path| (path.local, path.remote)).collect()
    };
    let expected = [(private(1), server_address(1)), (private(2), server_address(2))];
    assert_eq!(active(&nats.client, mine), expected);
    assert!(active(&nats.server, theirs).contains(&(server_address(2), public(2).0)));
    nats.dead = 1;
    nats.send(false, mine, 100_000);
    nats.send(true, theirs, 100_000);
    nats.run_for(Span::from_secs(60));
    assert_eq!((nats.read(true, theirs), nats.read(false, mine)), (100_000, 100_000));
}
