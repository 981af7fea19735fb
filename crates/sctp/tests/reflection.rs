//! Who forges a source address gets no more sent there than it sent (rfc9260#section-5.4).

use anabranch_sctp::{Config, PathState};
use std::net::IpAddr;
use testkit::*;
use units::Span;
use wire::*;

const VICTIM: [u8; 4] = [10, 2, 0, 1];

/// A server whose client listed the address of a victim, and what packets to it bear.
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
    /// The server gets a packet that claims to come from this address: what it then says to the victim, in bytes, and to
    /// others, in chunks. Its own probes of the address do not count.
    fn server_gets(&mut self, src: IpAddr, chunks: &[Chunk<'_>]) -> (usize, usize, Vec<String>) {
        let bytes = packet(5001, 5002, self.tag, chunks);
        let before = self.pair.sent.len();
        self.pair.inject(Side::Server, src, Side::Server.address(2), &bytes);
        let said: Vec<&Sent> =
            self.pair.sent[before..].iter().filter(|sent| sent.from == Side::Server).collect();
        let to_victim = |sent: &&&Sent| sent.dst == IpAddr::from(VICTIM);
        let victims = said.iter().filter(to_victim).filter(|sent| sent.chunks() != "HEARTBEAT");
        // With 20 bytes of IP header each.
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
