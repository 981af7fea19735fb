//! Tests of a guard (encryption layer) with several peers: no peer can act in the name of another one.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::blocking::{Builder, Connection, Endpoint};
use anabranch_io::transport::{Channel, Checksum, Datagram, Octets, Transmit};
use anabranch_io::units::Instant;
use anabranch_io::{Config, ConnectError, Guard, GuardError, Identity, Peer};
use common::{CLIENT, SERVER, SOON};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use testkit::packet;
use wire::{
    Abort, Causes, Chunk, CommonHeader, CookieEcho, Data, DataFlags, Init, InitAck, Packet, Parameter, Ppid,
    Shutdown, Ssn, StreamId, Tsn,
};

/// Numbers of the server, of a client, and of a second client, the insider, who attacks the first client.
const S: u8 = 9;
const P: u8 = 1;
const M: u8 = 2;

/// Address of the [`Gate`], from which the server receives
/// the datagrams of client P and the forged ones of client M.
const GATE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));

/// The message that the server sends to P.
const SECRET: &[u8] = b"only for P, whatever M does";

/// The second byte of each datagram before encryption.
const MARK: u8 = 0xa5;

fn identity(number: u8) -> Identity {
    Identity::PublicKey([number; 32])
}

/// Encrypts or decrypts bytes between two peers.
fn crypt<'a>(one: u8, other: u8, bytes: impl IntoIterator<Item = &'a u8>) -> Vec<u8> {
    bytes.into_iter().map(|byte| byte ^ one ^ other ^ 0x50).collect()
}

/// The datagram with a packet from one peer to another.
fn seal(from: u8, to: u8, packet: &[u8]) -> Vec<u8> {
    [vec![from], crypt(from, to, [&MARK]), crypt(from, to, packet)].concat()
}

/// A packet, and its channel (which stands for one authenticated peer).
type Noted = (Channel, Vec<u8>);

/// The packets that a guard sealed, and those that it opened.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<[Vec<Noted>; 2]>>);

impl Log {
    fn note(&self, opened: bool, channel: Channel, packet: Vec<u8>) {
        self.0.lock().expect("no panic")[usize::from(opened)].push((channel, packet));
    }

    /// The packets sealed for a peer, or opened from it.
    fn of(&self, opened: bool, peer: u8) -> Vec<Vec<u8>> {
        let all = self.0.lock().expect("no panic")[usize::from(opened)].clone();
        let of_peer = all.into_iter().filter(|&(channel, _)| channel == Channel(peer.into()));
        of_peer.map(|(_, packet)| packet).collect()
    }
}

/// A guard that puts the number of the sender before each datagram, and encrypts the rest with a byte
/// that depends on both peers.
#[derive(Debug)]
struct Toy {
    own: u8,
    others: Vec<u8>,
    log: Log,
}

impl Guard for Toy {
    fn overhead(&self) -> usize {
        2
    }

    fn seal(&mut self, _: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool {
        let packet = packet.to_vec();
        out.extend(seal(self.own, route.channel.0 as u8, &packet));
        self.log.note(false, route.channel, packet);
        true
    }

    fn open(&mut self, _: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> Option<Channel> {
        let [from, sealed @ ..] = datagram.bytes.head else { return None };
        let opened = crypt(self.own, *from, sealed);
        let [MARK, packet @ ..] = &opened[..] else { return None };
        out.extend_from_slice(packet);
        let channel = self.others.contains(from).then_some(Channel((*from).into()))?;
        self.log.note(true, channel, packet.to_vec());
        Some(channel)
    }

    fn channel(&mut self, peer: Option<&Identity>) -> Result<Channel, GuardError> {
        let found = match (peer, &self.others[..]) {
            (None, &[only]) => Some(only),
            (None, others) => return Err(GuardError::WhichPeer { known: others.len() }),
            (Some(peer), others) => others.iter().copied().find(|&other| identity(other) == *peer),
        };
        found.map(|number| Channel(number.into())).ok_or(GuardError::UnknownPeer)
    }

    fn identity(&self, channel: Channel) -> Option<Identity> {
        Some(identity(channel.0 as u8))
    }

    fn poll_transmit(&mut self, _: Instant, _: &mut Vec<u8>) -> Option<Transmit> {
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _: Instant) {}
}

fn builder(local: IpAddr) -> Builder {
    Endpoint::builder().local(local).udp_port(0).config(common::quick(Config::recommended()))
}

/// Creates an endpoint whose guard has the identity `own` and knows
/// the peers `others`. Returns the endpoint, and the log of the guard.
fn endpoint(local: IpAddr, own: u8, others: &[u8]) -> (Endpoint, Log) {
    let log = Log::default();
    let toy = Toy { own, others: others.to_vec(), log: log.clone() };
    (builder(local).guard(toy).bind().expect("binds"), log)
}

/// A NAT between client P and the server. The forged packets of client M leave from the same socket.
struct Gate {
    socket: UdpSocket,
    server: SocketAddr,
}

impl Gate {
    fn start(server: SocketAddr) -> Gate {
        let socket = UdpSocket::bind((GATE, 0)).expect("binds");
        let relay = socket.try_clone().expect("a second handle");
        thread::spawn(move || {
            let (mut buffer, mut client) = ([0; 65_535], None);
            while let Ok((length, from)) = relay.recv_from(&mut buffer) {
                let to = if from == server { client } else { Some(server) };
                if from != server {
                    client = Some(from);
                }
                to.map(|to| relay.send_to(&buffer[..length], to));
            }
        });
        Gate { socket, server }
    }

    /// Sends a packet of peer M to the server, but from the address and port of peer P.
    fn forge(&self, packet: &[u8]) {
        self.socket.send_to(&seal(M, S, packet), self.server).expect("is sent");
    }
}

/// The server, with an association of client P and one of client M, the attacker.
struct World {
    server: Endpoint,
    log: Log,
    listener: anabranch_io::blocking::Listener,
    gate: Gate,
    /// The two ends of the connection of client P.
    p: [Connection; 2],
    /// The two ends of the connection of client M.
    m: [Connection; 2],
    /// Keeps the endpoints of the clients P and M.
    _clients: [Endpoint; 2],
}

impl World {
    fn new() -> World {
        let (server, log) = endpoint(SERVER[0], S, &[P, M]);
        let listener = server.listen(8);
        let gate = Gate::start((SERVER[0], server.udp_port()).into());
        let (p, _) = endpoint(CLIENT[0], P, &[M, S]);
        let through = gate.socket.local_addr().expect("is bound").port();
        let peer = Peer::from((GATE, server.port())).udp_port(through).identity(identity(S));
        let of_p = p.connect_timeout(peer, SOON).expect("connects in time");
        let accepted_p = listener.accept_timeout(SOON).expect("accepts in time");
        let (m, _) = endpoint(CLIENT[1], M, &[S]);
        let peer = Peer::from((SERVER[0], server.port())).udp_port(server.udp_port());
        let of_m = m.connect_timeout(peer, SOON).expect("connects in time");
        let accepted_m = listener.accept_timeout(SOON).expect("accepts in time");
        let world = World {
            server,
            log,
            listener,
            gate,
            p: [of_p, accepted_p],
            m: [of_m, accepted_m],
            _clients: [p, m],
        };
        world.exchange();
        world
    }

    /// Sends messages between the server and both clients.
    fn exchange(&self) {
        let [p, to_p] = &self.p;
        let [m, to_m] = &self.m;
        for (from, to, bytes) in
            [(p, to_p, &b"from P"[..]), (to_p, p, SECRET), (m, to_m, b"from M"), (to_m, m, b"for M")]
        {
            for _ in 0..20 {
                from.send(bytes.to_vec()).expect("is open");
                let received = to.recv_timeout(SOON).expect("arrives in time").expect("is open");
                assert_eq!(received.data, bytes);
            }
        }
    }

    /// Waits until the server has discarded this number of packets of the wrong channel.
    fn await_discarded(&self, wrong_channel: usize) {
        let server: anabranch_io::Endpoint = self.server.clone().into();
        soon(|| {
            let discarded = common::run(server.discarded()).expect("is open");
            (discarded.wrong_channel >= wrong_channel as u64).then_some(())
        });
    }

    /// Checks that the connection of peer P works, and that none of its packets was sent to peer M.
    fn assert_unharmed(&self) {
        self.exchange();
        let for_m = self.log.of(false, M);
        let leaked = |packet: &Vec<u8>| packet.windows(SECRET.len()).any(|part| part == SECRET);
        assert!(self.log.of(false, P).iter().any(leaked), "the test sees what goes to P");
        assert!(!for_m.iter().any(leaked), "a packet for P was sealed for M");
        // Peer M may copy the INIT of peer P. M then gets an INIT ACK for M itself.
        let tag = init_of(&self.log.of(true, P)[0]).0.initiate_tag;
        for packet in for_m.iter().filter(|packet| parse(packet).header.verification_tag == tag) {
            let chunk = parse(packet).chunks().next();
            assert!(matches!(chunk, Some(Ok(Chunk::InitAck(_)))), "{chunk:?}");
        }
    }
}

/// Repeats `look` until it finds something.
fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..4000 {
        if let Some(found) = look() {
            return found;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("not found in time")
}

fn parse(packet: &[u8]) -> Packet<'_> {
    Packet::parse(packet.into(), Checksum::Offloaded).expect("a packet")
}

/// The INIT in a packet, and the header of the packet.
fn init_of(packet: &[u8]) -> (Init<'_>, CommonHeader) {
    let parsed = parse(packet);
    match parsed.chunks().next() {
        Some(Ok(Chunk::Init(init))) => (init, parsed.header),
        other => panic!("{other:?} is no INIT"),
    }
}

#[test]
fn each_end_knows_whom_it_is_connected_with() {
    let world = World::new();
    let identities = [&world.p, &world.m].map(|ends| ends.each_ref().map(Connection::peer_identity));
    assert_eq!(identities, [[Some(identity(S)), Some(identity(P))], [Some(identity(S)), Some(identity(M))]]);
    world.p[1].abort("");
    world.p[0].closed();
    assert_eq!(world.p[0].peer_identity(), Some(identity(S)), "after the end, too");
}

#[test]
fn copies_of_the_packets_of_another_peer_have_no_effect() {
    let world = World::new();
    let of_p = world.log.of(true, P);
    for packet in &of_p {
        world.gate.forge(packet);
    }
    // The server checks the channel of the association for all packets except INIT and COOKIE ECHO.
    let named = of_p.iter().filter(|packet| {
        let first = parse(packet).chunks().next();
        !matches!(first, Some(Ok(Chunk::Init(_) | Chunk::CookieEcho(_))))
    });
    world.await_discarded(named.count());
    let server: anabranch_io::Endpoint = world.server.clone().into();
    let discarded = common::run(server.discarded()).expect("is open");
    assert!(discarded.bad_cookie >= 1, "the cookie of P: {discarded:?}");
    world.assert_unharmed();
}

#[test]
fn forged_chunks_with_the_tags_of_another_peer_have_no_effect() {
    let world = World::new();
    let of_p = world.log.of(true, P);
    let (init, CommonHeader { source_port, destination_port, .. }) = init_of(&of_p[0]);
    let to_server = parse(of_p.last().expect("data")).header.verification_tag;
    let flags = DataFlags { beginning: true, ending: true, ..DataFlags::default() };
    let (stream, ssn, ppid, payload) = (StreamId(0), Ssn(20), Ppid(0), b"from M"[..].into());
    let tsn = Tsn(init.initial_tsn.0.wrapping_add(20));
    let abort = |reflected_tag| Chunk::Abort(Abort { reflected_tag, causes: Causes::default() });
    for (tag, chunk) in [
        (init.initiate_tag, abort(true)),
        (to_server, Chunk::Data(Data { flags, tsn, stream, ssn, ppid, payload })),
        (to_server, Chunk::Shutdown(Shutdown { cumulative_tsn_ack: tsn })),
        (to_server, abort(false)),
    ] {
        world.gate.forge(&packet(source_port, destination_port, tag, &[chunk]).head);
    }
    world.await_discarded(3);
    world.assert_unharmed();
}

#[test]
fn a_handshake_from_the_address_and_ports_of_another_peer_makes_an_association_of_its_own() {
    let world = World::new();
    let (of_p, before) = (world.log.of(true, P), world.log.of(false, M).len());
    let (init, CommonHeader { source_port, destination_port, .. }) = init_of(&of_p[0]);
    let init = Init { initiate_tag: !init.initiate_tag, parameters: Default::default(), ..init };
    world.gate.forge(&packet(source_port, destination_port, 0, &[Chunk::Init(init)]).head);
    let is_answer = |packet: &Vec<u8>| parse(packet).header.verification_tag == init.initiate_tag;
    let ack = soon(|| world.log.of(false, M).split_off(before).into_iter().find(is_answer));
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(&ack).chunks().next() else { panic!("no INIT ACK") };
    let cookie = ack.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::StateCookie(cookie)) => Some(cookie),
        _ => None,
    });
    let echo = Chunk::CookieEcho(CookieEcho { cookie: cookie.expect("a cookie") });
    world.gate.forge(&packet(source_port, destination_port, ack.initiate_tag, &[echo]).head);
    let accepted = world.listener.accept_timeout(SOON).expect("accepts in time");
    assert_eq!(accepted.peer_identity(), Some(identity(M)));
    world.assert_unharmed();
}

/// Connects, and returns the error.
fn refused(client: &Endpoint, peer: Peer) -> ConnectError {
    client.connect_timeout(peer, SOON).expect_err("no connection")
}

#[test]
fn a_peer_to_connect_to_must_be_known_and_named_unless_it_is_the_only_one() {
    let peer = || Peer::from((SERVER[0], 5001)).udp_port(9);
    let (client, _) = endpoint(CLIENT[0], P, &[M, S]);
    let unknown = refused(&client, peer().identity(identity(7)));
    assert_eq!(unknown, ConnectError::Guard(GuardError::UnknownPeer));
    assert_eq!(refused(&client, peer()), ConnectError::Guard(GuardError::WhichPeer { known: 2 }));
    let (client, _) = endpoint(CLIENT[0], P, &[]);
    let error = refused(&client, peer());
    assert_eq!(error, ConnectError::Guard(GuardError::WhichPeer { known: 0 }));
}

#[test]
fn without_a_guard_no_identity_can_be_named_and_none_is_known() {
    let server = builder(SERVER[0]).bind().expect("binds");
    let listener = server.listen(1);
    let client = builder(CLIENT[0]).bind().expect("binds");
    let peer = Peer::from((SERVER[0], server.port())).udp_port(server.udp_port());
    let error = refused(&client, peer.clone().identity(identity(S)));
    assert_eq!(error, ConnectError::Unguarded);
    let connection = client.connect_timeout(peer, SOON).expect("connects in time");
    let accepted = listener.accept_timeout(SOON).expect("accepts in time");
    assert_eq!([&connection, &accepted].map(Connection::peer_identity), [None, None]);
}
