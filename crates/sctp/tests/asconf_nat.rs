//! A host with two uplinks, each behind its own NAT, over UDP (`rfc6951`): an ASCONF with the wildcard
//! address adds the second uplink to an association, and then the first uplink is removed
//! (`rfc5061#section-4.2.1`).

use anabranch_sctp::{
    AddressChange, AssocId, Config, Encapsulation, Endpoint, EndpointConfig, Event, Message, PathSet,
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

/// Public address and UDP port that the NAT of an uplink assigns to the client.
fn public(uplink: u8) -> (IpAddr, u16) {
    ([192, 0, uplink, 1].into(), 40_000 + u16::from(uplink))
}

/// A mapping of a NAT: an address of the client and its public address.
#[derive(Clone, Copy)]
struct Mapping {
    uplink: u8,
    private: IpAddr,
    public: (IpAddr, u16),
}

impl Mapping {
    fn of(uplink: u8) -> Mapping {
        Mapping { uplink, private: private(uplink), public: public(uplink) }
    }

    /// Address number `count` of the client on uplink 1. `public` is the last byte of the public address.
    fn renumbered(count: u16, public: u8) -> Mapping {
        let [high, low] = count.to_be_bytes();
        Mapping {
            uplink: 1,
            private: [10, 1, high + 1, low].into(),
            public: ([192, 0, 1, public].into(), 50_000 + count),
        }
    }
}

/// The two endpoints, and two NATs between them.
struct Nats {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    /// Packets in flight: time of arrival, true if to the server, mapping, and packet.
    flying: VecDeque<(Instant, bool, Mapping, PacketBuf)>,
    /// The uplink that loses all packets.
    dead: u8,
    /// For each uplink, the only address of the server that packets on this uplink can reach.
    reached: [IpAddr; 2],
    /// Mappings of the client's current addresses.
    mappings: Vec<Mapping>,
    events: Vec<Event>,
}

impl Nats {
    /// An association over the client's first uplink. `reached`: the server's address that each uplink can
    /// reach.
    fn connected(reached: [IpAddr; 2]) -> (Nats, AssocId, AssocId) {
        Nats::connected_to(reached, &[server_address(1)])
    }

    /// Like [`Nats::connected`], but the client calls `connect` with the addresses `named`.
    fn connected_to(reached: [IpAddr; 2], named: &[IpAddr]) -> (Nats, AssocId, AssocId) {
        // The options that the tunnel uses.
        let config = Config { nat_friendly: true, paths: PathSet::Pairs, ..Config::recommended() };
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
        let mappings = vec![Mapping::of(1), Mapping::of(2)];
        let mut nats = Nats { now, client, server, flying, dead: 0, reached, mappings, events };
        let id = nats.client.connect(now, 5002, named).unwrap();
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
            let mapping = self.mappings.iter().copied().find(|mapping| mapping.private == src);
            // The client cannot send from an address that it has lost.
            if let Some(mapping) = mapping.filter(|mapping| self.carries(mapping.uplink, dst)) {
                self.flying.push_back((due, true, mapping, buf.clone()));
            }
        }
        while let Some(Transmit { src, dst, udp_port, .. }) = self.server.poll_transmit(self.now, &mut buf) {
            // A NAT drops packets that match none of its mappings.
            let mapping = self.mappings.iter().copied().find(|mapping| mapping.public == (dst, udp_port));
            if let Some(mapping) = mapping.filter(|mapping| self.carries(mapping.uplink, src)) {
                self.flying.push_back((due, false, mapping, buf.clone()));
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
                let (_, to_server, mapping, packet) = self.flying.pop_front().expect("a packet");
                let ((address, udp_port), server) =
                    (mapping.public, self.reached[usize::from(mapping.uplink) - 1]);
                let (to, src, dst, udp_port) = if to_server {
                    (&mut self.server, address, server, udp_port)
                } else {
                    (&mut self.client, server, mapping.private, Encapsulation::PORT)
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
        while let Some(received) = endpoint.receive(id, usize::MAX) {
            read += received.payload.len();
        }
        read
    }

    /// Replaces the client's address on the first uplink.
    fn renumber(&mut self, mapping: Mapping) {
        self.leave();
        self.mappings.push(mapping);
    }

    /// Removes the client's address on the first uplink.
    fn leave(&mut self) {
        self.mappings.retain(|mapping| mapping.uplink != 1);
    }

    fn add(&mut self, id: AssocId, address: IpAddr) {
        assert!(self.client.add_local_address(self.now, id, address).is_ok(), "{address}");
    }

    fn remove(&mut self, id: AssocId, address: IpAddr) {
        assert!(self.client.remove_local_address(self.now, id, address).is_ok(), "{address}");
    }

    /// Asserts that both ends can send while only the first uplink carries packets.
    fn assert_first_uplink_is_enough(&mut self, (mine, theirs): (AssocId, AssocId), case: &str) {
        self.dead = 2;
        self.send(false, mine, 100_000);
        self.send(true, theirs, 100_000);
        self.run_for(Span::from_secs(5));
        assert_eq!((self.read(true, theirs), self.read(false, mine)), (100_000, 100_000), "{case}");
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
    assert!(nats.client.add_local_address(nats.now, mine, private(2)).is_ok());
    nats.run_for(Span::from_millis(200));
    assert_eq!(nats.paths_of_server(theirs), [seen(1), seen(2)]);
    nats.send(false, mine, 200_000);
    nats.send(true, theirs, 200_000);
    nats.run_for(Span::from_millis(40));
    nats.dead = 1;
    assert!(nats.client.remove_local_address(nats.now, mine, private(1)).is_ok());
    nats.run_for(Span::from_secs(10));
    assert_eq!(nats.paths_of_server(theirs), [seen(2)]);
    assert_eq!((nats.read(true, theirs), nats.read(false, mine)), (700_000, 700_000));
    let (change, address, accepted) = (AddressChange::Add, private(2), true);
    assert!(nats.events.contains(&Event::AddressChange { change, address, accepted }));
    // The uplink that was removed joins again.
    nats.dead = 0;
    assert!(nats.client.add_local_address(nats.now, mine, private(1)).is_ok());
    nats.run_for(Span::from_secs(3));
    assert_eq!(nats.paths_of_server(theirs).len(), 2);
}

// rfc5061#section-5.1, rule B: an ASCONF without an answer is sent to another address of the peer.
#[test]
fn a_second_uplink_joins_that_reaches_only_an_address_of_the_server_which_the_first_cannot() {
    let (mut nats, mine, theirs) = Nats::connected([server_address(1), server_address(2)]);
    assert!(nats.client.add_local_address(nats.now, mine, private(2)).is_ok());
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

// rfc5061#section-4.2.1: the wildcard address deletes all addresses but the source of the packet.
#[test]
fn an_uplink_that_is_renumbered_joins_again_whatever_comes_first_and_whichever_public_address_it_gets() {
    // The last bytes of the public addresses that the uplink gets one after another; the initial one is 1.
    for publics in [&[1, 1][..], &[2], &[2, 1], &[1, 2, 1], &[2, 3, 2]] {
        for (order, gap) in [(0, 0), (0, 5), (0, 500), (1, 0), (1, 5), (1, 15), (1, 25), (1, 500), (2, 0)] {
            let case = format!("public addresses {publics:?}, order {order}, after {gap} ms");
            let (mut nats, mine, theirs) = Nats::connected([server_address(1); 2]);
            nats.add(mine, private(2));
            nats.run_for(Span::from_millis(500));
            let mut before = private(1);
            for (count, &public) in (1..).zip(publics) {
                let mapping = Mapping::renumbered(count, public);
                nats.leave();
                match order {
                    0 => {
                        nats.remove(mine, before);
                        nats.run_for(Span::from_millis(gap));
                        nats.renumber(mapping);
                        nats.add(mine, mapping.private);
                    }
                    1 => {
                        nats.run_for(Span::from_millis(500));
                        nats.renumber(mapping);
                        nats.add(mine, mapping.private);
                        nats.run_for(Span::from_millis(gap));
                        nats.remove(mine, before);
                    }
                    // The new address is lost immediately, and later returns.
                    _ => {
                        nats.renumber(mapping);
                        nats.add(mine, mapping.private);
                        nats.remove(mine, before);
                        nats.remove(mine, mapping.private);
                        nats.run_for(Span::from_millis(500));
                        nats.add(mine, mapping.private);
                    }
                }
                nats.run_for(Span::from_secs(2));
                before = mapping.private;
                let (address, udp_port) = mapping.public;
                let seen = nats.paths_of_server(theirs);
                assert!(seen.contains(&(address, udp_port, PathState::Active)), "{case}: {seen:?}");
            }
            nats.assert_first_uplink_is_enough((mine, theirs), &case);
        }
    }
}

#[test]
fn an_address_that_goes_while_it_asks_to_join_does_not_delay_the_next_one() {
    let (mut nats, mine, theirs) = Nats::connected([server_address(1); 2]);
    nats.add(mine, private(2));
    nats.run_for(Span::from_millis(500));
    // The client gets address `lost`, and loses this address before the client sends a packet from it.
    let (lost, next) = (Mapping::renumbered(1, 1), Mapping::renumbered(2, 1));
    nats.leave();
    nats.add(mine, lost.private);
    nats.remove(mine, private(1));
    nats.run_for(Span::from_secs(2));
    nats.renumber(next);
    nats.add(mine, next.private);
    nats.remove(mine, lost.private);
    nats.run_for(Span::from_secs(1));
    let paths: Vec<_> = nats.client.paths(mine).unwrap().map(|path| path.local).collect();
    assert_eq!(paths, [private(2), next.private]);
    nats.assert_first_uplink_is_enough((mine, theirs), "after an address that never joined");
}

#[test]
fn addresses_that_a_host_behind_a_nat_left_do_not_fill_the_paths_of_its_peer() {
    let (mut nats, mine, theirs) = Nats::connected([server_address(1); 2]);
    nats.add(mine, private(2));
    nats.run_for(Span::from_millis(500));
    let mut before = private(1);
    for count in 1..=40 {
        let mapping = Mapping::renumbered(count, count as u8 + 1);
        nats.renumber(mapping);
        nats.add(mine, mapping.private);
        nats.remove(mine, before);
        nats.run_for(Span::from_secs(120));
        before = mapping.private;
        let seen = nats.paths_of_server(theirs);
        assert!(seen.iter().any(|&(address, ..)| address == mapping.public.0), "{count}: {seen:?}");
    }
    nats.assert_first_uplink_is_enough((mine, theirs), "after 40 addresses");
}

#[test]
fn an_uplink_of_another_family_than_the_first_joins() {
    let v6 = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
    for named in [&[server_address(1), v6(1)][..], &[v6(1), server_address(1)]] {
        let (mut nats, mine, theirs) = Nats::connected_to([server_address(1), v6(1)], named);
        let mapping = Mapping { uplink: 2, private: v6(7), public: (v6(7), 40_002) };
        nats.mappings[1] = mapping;
        nats.add(mine, mapping.private);
        nats.run_for(Span::from_secs(3));
        let (change, address, accepted) = (AddressChange::Add, mapping.private, true);
        assert!(
            nats.events.contains(&Event::AddressChange { change, address, accepted }),
            "{:?}",
            nats.events
        );
        let active: Vec<_> = nats.client.paths(mine).unwrap().map(|path| (path.local, path.state)).collect();
        assert_eq!(active, [(private(1), PathState::Active), (mapping.private, PathState::Active)]);
        nats.dead = 1;
        nats.send(false, mine, 100_000);
        nats.send(true, theirs, 100_000);
        nats.run_for(Span::from_secs(10));
        assert_eq!((nats.read(true, theirs), nats.read(false, mine)), (100_000, 100_000));
    }
}
