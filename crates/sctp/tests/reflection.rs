//! An attacker that forges a source address causes at most as many bytes to that address as it sent
//! (rfc9260#section-5.4), or three times as many for an INIT.

use anabranch_sctp::{Config, EcnMode, PathState, Timestamps};
use std::net::IpAddr;
use testkit::*;
use transport::PacketBuf;
use units::Span;
use wire::*;

const VICTIM: [u8; 4] = [10, 2, 0, 1];

/// A server whose client has listed the address of a victim; tag and next TSN of the client's packets.
struct Scene {
    pair: Pair,
    tag: u32,
    tsn: Tsn,
}

fn scene(config: &Config) -> Scene {
    let mut pair = Pair::of(
        endpoint_config(Side::Client, 2, &Config::default()),
        endpoint_config(Side::Server, 2, config),
    );
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
    let (_, server) = pair.establish();
    pair.run_for(Span::from_secs(60));
    pair.on_wire(|_| Fate::Lost);
    let states: Vec<_> = pair.endpoint(Side::Server).paths(server).unwrap().map(|path| path.state).collect();
    assert_eq!(states, [PathState::Active, PathState::Unconfirmed]);
    let (init, ack) =
        (parse(&pair.sent[0].bytes).chunks().next(), parse(&pair.sent[1].bytes).chunks().next());
    let (Some(Ok(Chunk::Init(init))), Some(Ok(Chunk::InitAck(InitAck(ack))))) = (init, ack) else { panic!() };
    let (tag, tsn) = (ack.initiate_tag, init.initial_tsn);
    Scene { pair, tag, tsn }
}

impl Scene {
    /// Delivers a packet from this source to the server. Returns the length of the packet, the bytes that the
    /// server sends to the victim, and the chunks to other hosts. Heartbeats to the victim do not count.
    fn server_gets(&mut self, src: IpAddr, chunks: &[Chunk<'_>]) -> (usize, usize, Vec<String>) {
        let bytes = packet(5001, 5002, self.tag, chunks);
        let before = self.pair.sent.len();
        self.pair.inject(Side::Server, src, Side::Server.address(2), &bytes);
        let said: Vec<&Sent> =
            self.pair.sent[before..].iter().filter(|sent| sent.from == Side::Server).collect();
        let to_victim = |sent: &&&Sent| sent.dst == IpAddr::from(VICTIM);
        let victims = said.iter().filter(to_victim).filter(|sent| sent.chunks() != "HEARTBEAT");
        // Each packet has an IP header of 20 bytes.
        let reflected = victims.map(|sent| sent.bytes.len() + 20).sum();
        let others = said.iter().filter(|sent| !to_victim(sent)).map(|sent| sent.chunks()).collect();
        (bytes.len() + 20, reflected, others)
    }

    fn data(&self, n: u32) -> Chunk<'static> {
        let flags = DataFlags { beginning: true, ending: true, unordered: true, ..DataFlags::default() };
        let (stream, ssn, ppid) = (StreamId(0), Ssn(0), Ppid(0));
        Chunk::Data(Data { flags, tsn: self.tsn.add(n), stream, ssn, ppid, payload: b"x"[..].into() })
    }
}

// rfc9260#section-5.4
#[test]
fn a_sack_does_not_go_to_an_unconfirmed_address() {
    let mut scene = scene(&Config::default());
    for n in 1..=360 {
        let chunk = scene.data(2 * n);
        scene.server_gets(Side::Client.address(1), &[chunk]);
    }
    let duplicate = scene.data(2);
    for _ in 0..10 {
        assert_eq!(scene.server_gets(VICTIM.into(), &[duplicate]), (52, 0, vec!["SACK".to_owned()]));
    }
    assert!(scene.pair.sent.last().unwrap().bytes.len() > 1400, "it is a large one");
}

// rfc9260#section-5.4
#[test]
fn only_a_heartbeat_is_answered_to_an_unconfirmed_address_and_with_no_more_bytes() {
    let unknown = [0xff, 0, 0, 40].into_iter().chain([0; 36]).collect::<Vec<u8>>();
    let unknown = Chunk::Unknown(UnknownChunk { chunk_type: 0xff, bytes: unknown[..].into() });
    let heartbeat = |info: &'static [u8]| Chunk::Heartbeat(Heartbeat { info });
    let shutdown = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(0) });
    for bundling in [true, false] {
        let new = || scene(&Config { bundling, ..Config::default() });
        let bad_stream = match new().data(0) {
            Chunk::Data(data) => Chunk::Data(Data { stream: StreamId(999), ..data }),
            _ => unreachable!(),
        };
        for chunks in [
            vec![new().data(0)],
            vec![bad_stream],
            vec![unknown; 8],
            vec![shutdown],
            vec![Chunk::CookieAck(CookieAck)],
            vec![heartbeat(b"")],
            vec![heartbeat(b"some information")],
            (0..20).map(|n| heartbeat(&b"abcdefghijklmnopqrstuvwxyz"[..n])).collect(),
            vec![heartbeat(b"a"), unknown, heartbeat(b"b"), new().data(0)],
        ] {
            let (came, reflected, _) = new().server_gets(VICTIM.into(), &chunks);
            let heard = chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)));
            assert!(reflected <= if heard { came } else { 0 }, "{reflected} for {came} bytes: {chunks:?}");
        }
        let (came, reflected, _) = new().server_gets(VICTIM.into(), &[heartbeat(b"some information")]);
        assert_eq!(came, reflected);
    }
}

/// An IPv6 or IPv4 address of an unknown host or of the server.
fn address(ipv6: bool, n: u16) -> IpAddr {
    let [high, low] = n.to_be_bytes();
    if ipv6 {
        [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low].into()
    } else {
        [10, 1, high, low].into()
    }
}

/// An INIT with these parameters.
fn init(parameters: &[u8]) -> PacketBuf {
    let init = Init {
        initiate_tag: 0x1234,
        a_rwnd: 65_536,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: Parameters::from_bytes(parameters),
    };
    packet(77, 5002, 0, &[Chunk::Init(init)])
}

fn parameters(all: &[Parameter<'_>]) -> Vec<u8> {
    let mut list = ParameterList::new();
    all.iter().for_each(|parameter| assert!(list.push(parameter)));
    list.as_parameters().as_bytes().to_vec()
}

fn address_parameter(address: IpAddr) -> Parameter<'static> {
    match address {
        IpAddr::V4(address) => Parameter::Ipv4(address),
        IpAddr::V6(address) => Parameter::Ipv6(address),
    }
}

// rfc9260#section-5.1: an INIT is easy to forge (the limit is that of rfc9000#section-8.1).
#[test]
fn an_init_ack_is_at_most_three_times_the_init() {
    let unknown: Vec<u8> = (0..100).flat_map(|n| [0xc0, n, 0, 4]).collect();
    let mut most: f64 = 0.0;
    for ipv6 in [false, true] {
        let listed =
            |count| (0..count).map(|n| address_parameter(address(ipv6, 500 + n))).collect::<Vec<_>>();
        let lists = [
            Vec::new(),
            unknown.clone(),
            parameters(&[Parameter::SupportedExtensions(&[0x10])]),
            parameters(&[Parameter::EcnCapable]),
            parameters(&[Parameter::EcnCapable, Parameter::SupportedExtensions(&[0x10, 0x81, 0xb0, 0xb1])]),
            parameters(&[address_parameter(address(!ipv6, 7))]),
            parameters(&listed(1)),
            parameters(&listed(2)),
            parameters(&listed(16)),
            parameters(&listed(200)),
        ];
        for (addresses, list) in [1, 2, 16].into_iter().flat_map(|n| lists.iter().map(move |list| (n, list)))
        {
            let extended = Config {
                nr_sack: true,
                timestamps: Timestamps::Chunk,
                ecn: EcnMode::On,
                packet_drop_reports: true,
                ..Config::default()
            };
            let mut server = endpoint_config(Side::Server, 1, &extended);
            server.addresses = (1..=addresses).map(|n| address(ipv6, n)).collect();
            let mut pair = Pair::of(endpoint_config(Side::Client, 1, &Config::default()), server);
            let (src, dst) = (address(ipv6, 999), address(ipv6, 1));
            let bytes = init(list);
            // The first INIT is for a new association, the second for an existing one: its INIT ACK also has
            // tie-tags.
            for again in [false, true] {
                let before = pair.sent.len();
                pair.inject(Side::Server, src, dst, &bytes);
                assert_eq!(pair.said(Side::Server, before), ["INIT_ACK"]);
                let answer = &pair.sent[before];
                most = most.max(answer.bytes.len() as f64 / bytes.len() as f64);
                assert!(
                    answer.bytes.len() <= 3 * bytes.len(),
                    "{} bytes for {}, {addresses} addresses, again {again}",
                    answer.bytes.len(),
                    bytes.len()
                );
                let echo = echo(answer);
                pair.inject(Side::Server, src, dst, &echo);
                assert_eq!(pair.endpoint(Side::Server).associations().count(), 1);
            }
        }
    }
    assert!(most > 2.7, "{most}: there would be room for more");
}

/// A COOKIE ECHO with the cookie of an INIT ACK.
fn echo(ack: &Sent) -> PacketBuf {
    let Some(Ok(Chunk::InitAck(InitAck(init)))) = parse(&ack.bytes).chunks().next() else { panic!() };
    let cookie = init.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::StateCookie(cookie)) => Some(cookie),
        _ => None,
    });
    packet(77, 5002, init.initiate_tag, &[Chunk::CookieEcho(CookieEcho { cookie: cookie.unwrap() })])
}

/// Number of the server's addresses that a client learns, if the client has `ours` addresses and the server
/// `theirs`.
fn learnt(ipv6: bool, ours: u16, theirs: u16) -> usize {
    let mut client = endpoint_config(Side::Client, 1, &Config::default());
    let mut server = endpoint_config(Side::Server, 1, &Config::default());
    client.addresses = (1..=ours).map(|n| address(ipv6, 256 * n + 1)).collect();
    server.addresses = (1..=theirs).map(|n| address(ipv6, 256 * n + 2)).collect();
    let mut pair = Pair::of(client, server);
    let now = pair.now;
    let id = pair.endpoint(Side::Client).connect(now, 5002, &[address(ipv6, 258)]).unwrap();
    pair.run_for(Span::from_millis(50));
    pair.endpoint(Side::Client).paths(id).unwrap().count()
}

// rfc9260#section-5.1.2: the limit on the INIT ACK does not affect hosts with few addresses. Hosts with many
// list only as many as fit.
#[test]
fn an_init_ack_names_all_addresses_of_ordinary_hosts() {
    for theirs in 1..=6 {
        assert_eq!(learnt(false, 1, theirs), usize::from(theirs));
    }
    for theirs in 1..=3 {
        assert_eq!(learnt(true, 1, theirs), usize::from(theirs));
    }
    for n in 2..=16 {
        assert_eq!(learnt(false, n, n), usize::from(n));
        assert_eq!(learnt(true, n, n), usize::from(n));
    }
    let beyond = [learnt(false, 1, 16), learnt(false, 2, 16), learnt(true, 1, 16), learnt(true, 2, 16)];
    assert_eq!(beyond, [6, 10, 3, 7]);
}
