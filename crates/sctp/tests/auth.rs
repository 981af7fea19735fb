//! Authenticated chunks (`rfc4895`) between two endpoints of this crate.

use anabranch_sctp::{Config, Event, KeyError, State};
use std::collections::BTreeSet;
use testkit::{Fate, Pair, Sent, Side, endpoint_config, ms, packet, parse};
use transport::PacketBuf;
use units::Span;
use wire::{Chunk, Init, Parameter, ParameterList, Tsn};

/// All chunk types that can be authenticated, with COOKIE ECHO, DATA, SACK and ABORT among them.
const ALL: [u8; 12] = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x84, 0x10];

fn config(types: &[u8]) -> Config {
    Config { auth: true, auth_chunks: types.to_vec(), ..Config::default() }
}

fn pair(client: &[u8], server: &[u8]) -> Pair {
    Pair::of(
        endpoint_config(Side::Client, 2, &config(client)),
        endpoint_config(Side::Server, 2, &config(server)),
    )
}

fn read(pair: &mut Pair, side: Side) -> usize {
    pair.read_all(side).iter().map(|received| received.payload.len()).sum()
}

/// Sends in both directions, and asserts that all data arrives.
fn exchange(pair: &mut Pair, length: u32) {
    for side in [Side::Client, Side::Server] {
        pair.send(side, length);
    }
    pair.run_for(Span::from_secs(20));
    for side in [Side::Client, Side::Server] {
        assert_eq!(read(pair, side), length as usize, "{side:?}");
    }
}

fn unauthenticated(pair: &mut Pair) -> [u64; 2] {
    [Side::Client, Side::Server].map(|side| {
        let id = pair.only(side);
        pair.endpoint(side).stats(id).unwrap().unauthenticated
    })
}

/// The chunk types of a packet, in order.
fn types(sent: &Sent) -> Vec<u8> {
    parse(&sent.bytes).chunks().map(|chunk| chunk.unwrap().chunk_type()).collect()
}

/// Returns true if all chunks of the `wanted` types follow an AUTH chunk.
fn is_authenticated(sent: &Sent, wanted: &[u8]) -> bool {
    let types = types(sent);
    let auth = types.iter().position(|&kind| kind == 0x0f).unwrap_or(types.len());
    !types[..auth].iter().any(|kind| wanted.contains(kind))
}

// rfc4895#section-6.2
#[test]
fn all_chunks_that_the_peer_wants_authenticated_stand_behind_auth_and_arrive() {
    let mut pair = pair(&ALL, &ALL);
    let mut n = 0;
    pair.on_wire(move |sent| {
        n += 1;
        if n > 10 && sent.chunks().contains("DATA") && n % 13 == 0 { Fate::Lost } else { Fate::Arrives }
    });
    pair.establish();
    exchange(&mut pair, 300_000);
    assert_eq!(unauthenticated(&mut pair), [0, 0]);
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(10));
    assert_eq!((pair.state(Side::Client), pair.state(Side::Server)), (None, None));
    for sent in &pair.sent {
        assert!(is_authenticated(sent, &ALL), "{}", sent.chunks());
        assert!(sent.bytes.len() <= 1480, "{}", sent.bytes.len());
    }
    let full = pair.sent.iter().filter(|sent| sent.bytes.len() > 1470).count();
    assert!(full > 300, "packets are filled");
    let count = |chunks: &str| pair.sent.iter().filter(|sent| sent.chunks().starts_with(chunks)).count();
    assert!(count("AUTH COOKIE_ECHO") > 0 && count("AUTH HEARTBEAT") > 0 && count("AUTH SACK") > 0);
}

// rfc4895#section-3.2
#[test]
fn each_side_authenticates_what_the_other_side_lists_and_nothing_else() {
    let mut pair = pair(&[0], &[3]);
    pair.establish();
    exchange(&mut pair, 100_000);
    assert_eq!(unauthenticated(&mut pair), [0, 0]);
    let bears = |sent: &&Sent| types(sent).contains(&0x0f);
    let of = |side, kind| {
        let sent = pair.sent.iter().filter(move |sent| sent.from == side && types(sent) == [kind]);
        sent.count()
    };
    assert!(of(Side::Client, 0) > 20, "DATA alone needs no AUTH");
    assert_eq!(of(Side::Client, 3), 0, "SACK does");
    assert_eq!(of(Side::Server, 0), 0);
    assert!(pair.sent.iter().filter(bears).count() > 40);
    for sent in &pair.sent {
        let wanted = if sent.from == Side::Client { 3 } else { 0 };
        assert!(is_authenticated(sent, &[wanted]), "{}", sent.chunks());
    }
}

#[test]
fn a_peer_without_auth_is_unharmed() {
    for (client, server) in [(config(&ALL), Config::default()), (Config::default(), config(&ALL))] {
        let mut pair =
            Pair::of(endpoint_config(Side::Client, 2, &client), endpoint_config(Side::Server, 2, &server));
        pair.establish();
        exchange(&mut pair, 50_000);
        assert!(!pair.sent.iter().any(|sent| sent.chunks().contains("AUTH")));
    }
}

// rfc9000#section-8.1
#[test]
fn init_ack_is_at_most_three_times_as_long_as_the_init() {
    let types: Vec<u8> = (0x20..0x40).collect();
    let server = Config { asconf: true, nr_sack: true, ..config(&types) };
    for client in [Config { asconf: true, ..config(&[]) }, config(&[]), config(&types)] {
        let mut pair =
            Pair::of(endpoint_config(Side::Client, 1, &client), endpoint_config(Side::Server, 16, &server));
        pair.establish();
        let (init, ack) = (pair.sent[0].bytes.len(), pair.sent[1].bytes.len());
        assert_eq!((pair.sent[0].chunks(), pair.sent[1].chunks()), ("INIT".into(), "INIT_ACK".into()));
        assert!(ack <= 3 * init, "{ack} bytes for {init}");
        exchange(&mut pair, 10_000);
    }
}

// rfc4895#section-3.1: when INITs collide, an end uses the random number of the chunk whose tag it uses.
#[test]
fn a_simultaneous_open_derives_one_key() {
    for late in [0, 3, 12, 25] {
        let mut pair = pair(&ALL, &ALL);
        pair.connect(Side::Client, 2);
        pair.run_for(ms(late));
        if pair.state(Side::Server).is_none() {
            pair.connect(Side::Server, 2);
        }
        pair.run_for(ms(3000));
        assert_eq!(pair.state(Side::Client), Some(State::Established), "{late}");
        assert_eq!(pair.state(Side::Server), Some(State::Established), "{late}");
        exchange(&mut pair, 50_000);
        assert_eq!(unauthenticated(&mut pair), [0, 0], "{late}");
    }
}

// rfc9260#section-5.2.4, action A
#[test]
fn a_restart_derives_a_new_key() {
    let mut pair = pair(&ALL, &ALL);
    pair.establish();
    exchange(&mut pair, 20_000);
    let mut again = endpoint_config(Side::Client, 2, &config(&ALL));
    again.seed = anabranch_sctp::Seed::for_simulation(99);
    pair.replace(Side::Client, again);
    pair.connect(Side::Client, 1);
    pair.run_for(ms(3000));
    assert!(pair.events(Side::Server).contains(&Event::Restarted));
    exchange(&mut pair, 20_000);
    assert_eq!(unauthenticated(&mut pair), [0, 0]);
}

// rfc4895#section-6.3
#[test]
fn a_changed_packet_is_discarded_from_its_auth_chunk_on_and_the_association_is_unharmed() {
    let mut pair = pair(&[0], &[0]);
    pair.establish();
    pair.on_wire(|sent| if sent.chunks() == "AUTH DATA" { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Client, 4);
    let lost = pair.sent.last().unwrap();
    assert_eq!(lost.chunks(), "AUTH DATA");
    let (src, dst, bytes) = (lost.src, lost.dst, lost.bytes.as_octets().to_vec());
    let inject = |pair: &mut Pair, head: Vec<u8>| {
        let mut head = head;
        head[8..12].fill(0);
        let crc = wire::crc32c(head.as_slice().into());
        head[8..12].copy_from_slice(&crc.to_le_bytes());
        pair.inject(Side::Server, src, dst, &PacketBuf { head, zeros: 0 });
    };
    for bit in 12 * 8..bytes.len() * 8 {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        inject(&mut pair, forged);
        assert_eq!(read(&mut pair, Side::Server), 0, "bit {bit}");
    }
    // The packet without its AUTH chunk.
    inject(&mut pair, [&bytes[..12], &bytes[12 + 40..]].concat());
    assert_eq!(read(&mut pair, Side::Server), 0);
    assert!(unauthenticated(&mut pair)[1] > 100);
    inject(&mut pair, bytes);
    assert_eq!(read(&mut pair, Side::Server), 4);
    pair.heal();
    exchange(&mut pair, 10_000);
}

// rfc4895#section-4.1, rfc4895#section-6.3
#[test]
fn an_hmac_identifier_that_was_not_offered_is_reported() {
    for (offered, id) in [(vec![3, 1], 9), (vec![1], 3)] {
        let with = |side| endpoint_config(side, 2, &Config { auth_hmacs: offered.clone(), ..config(&[0]) });
        let mut pair = Pair::of(with(Side::Client), with(Side::Server));
        pair.establish();
        pair.send(Side::Client, 4);
        let sent = pair.sent.last().unwrap();
        let (src, dst, mut head) = (sent.src, sent.dst, sent.bytes.as_octets().to_vec());
        head[12 + 7] = id;
        head[8..12].fill(0);
        let crc = wire::crc32c(head.as_slice().into());
        head[8..12].copy_from_slice(&crc.to_le_bytes());
        pair.inject(Side::Server, src, dst, &PacketBuf { head, zeros: 0 });
        let answer = pair.sent.last().unwrap();
        assert_eq!(answer.chunks(), "ERROR");
        assert_eq!(testkit::causes(&answer.bytes), [format!("UnsupportedHmac {{ hmac_id: {id} }}")]);
    }
}

// rfc4895#section-3.3
#[test]
fn each_side_uses_the_hmac_that_the_other_side_prefers() {
    let hmacs = [vec![1, 3], vec![3, 1]];
    let of =
        |side, n: usize| endpoint_config(side, 2, &Config { auth_hmacs: hmacs[n].clone(), ..config(&ALL) });
    let mut pair = Pair::of(of(Side::Client, 0), of(Side::Server, 1));
    pair.establish();
    exchange(&mut pair, 20_000);
    assert_eq!(unauthenticated(&mut pair), [0, 0]);
    let used = |from: Side| {
        let packets = pair.sent.iter().filter(move |sent| sent.from == from);
        let ids = packets.flat_map(|sent| {
            let chunks = parse(&sent.bytes).chunks();
            let ids = chunks.filter_map(|chunk| match chunk {
                Ok(Chunk::Auth(auth)) => Some(auth.hmac_id),
                _ => None,
            });
            ids.collect::<Vec<_>>()
        });
        ids.collect::<BTreeSet<u16>>()
    };
    assert_eq!([Side::Client, Side::Server].map(used), [BTreeSet::from([3]), BTreeSet::from([1])]);
}

// rfc4895#section-6.3
#[test]
fn an_out_of_the_blue_packet_is_answered_as_if_it_had_no_auth_chunk() {
    let mut pair = pair(&[0], &[0]);
    pair.establish();
    pair.send(Side::Client, 4);
    let sent = pair.sent.last().unwrap().clone();
    let mut other = self::pair(&[0], &[0]);
    other.inject(Side::Server, sent.src, sent.dst, &sent.bytes);
    assert_eq!(other.sent.iter().map(|sent| sent.chunks()).collect::<Vec<_>>(), ["ABORT/T"]);
    assert_eq!(other.endpoint(Side::Server).discarded().out_of_the_blue, 1);
}

// rfc4895#section-3.1, rfc4895#section-3.3
#[test]
fn an_init_that_violates_the_rules_of_auth_is_aborted() {
    let (short, good): (&[u8], &[u8]) = (&[1; 31], &[1; 32]);
    for (random, algorithms, aborted) in
        [(short, &[0, 1][..], true), (good, &[0, 3], true), (good, &[0, 1, 0], true), (good, &[0, 1], false)]
    {
        let mut pair = pair(&[0], &[0]);
        let mut parameters = ParameterList::new();
        parameters.push(&Parameter::Random(random));
        parameters.push(&Parameter::Random(short)); // the first Random parameter counts
        parameters.push(&Parameter::HmacAlgorithms(algorithms));
        let init = Init {
            initiate_tag: 7,
            a_rwnd: 65_536,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            parameters: parameters.as_parameters(),
        };
        let init = packet(5001, 5002, 0, &[Chunk::Init(init)]);
        pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &init);
        let answer = pair.sent[0].chunks();
        assert_eq!(answer, if aborted { "ABORT" } else { "INIT_ACK" }, "{algorithms:?}");
    }
}

// rfc4895#section-6.1, rfc6458#section-8.3
#[test]
fn keys_of_the_user_are_used_changed_and_told_as_unused() {
    let mut pair = pair(&[0], &[0]);
    let (client, server) = pair.establish();
    for (side, id) in [(Side::Client, client), (Side::Server, server)] {
        let endpoint = pair.endpoint(side);
        assert_eq!(endpoint.set_auth_key(id, 5, b"secret"), Ok(()));
        assert_eq!(endpoint.activate_auth_key(id, 6), Err(KeyError::NoSuchKey { key: 6 }));
        assert_eq!(endpoint.activate_auth_key(id, 5), Ok(()));
    }
    let before = pair.sent.len();
    exchange(&mut pair, 50_000);
    let ids = |sent: &[Sent]| {
        let mut ids: Vec<u16> = Vec::new();
        for sent in sent {
            let chunks = parse(&sent.bytes).chunks();
            ids.extend(chunks.filter_map(|chunk| match chunk {
                Ok(Chunk::Auth(auth)) => Some(auth.key_id),
                _ => None,
            }));
        }
        ids.dedup();
        ids
    };
    assert_eq!(ids(&pair.sent[before..]), [5]);
    // The client activates key 0 again while data is outstanding; the server still has both keys.
    pair.events(Side::Client);
    pair.send(Side::Client, 20_000);
    let client_endpoint = pair.endpoint(Side::Client);
    assert_eq!(client_endpoint.activate_auth_key(client, 0), Ok(()));
    assert_eq!(client_endpoint.deactivate_auth_key(client, 5), Ok(()));
    assert_eq!(client_endpoint.deactivate_auth_key(client, 0), Err(KeyError::Active { key: 0 }));
    pair.drain();
    assert_eq!(pair.events(Side::Client), []);
    pair.run_for(ms(2000));
    assert!(pair.events(Side::Client).contains(&Event::AuthKeyUnused { id: 5 }));
    let told = pair.events(Side::Server);
    assert!(told.contains(&Event::AuthKeyUsed { id: 0 }), "{told:?}");
    assert_eq!(read(&mut pair, Side::Server), 20_000);
    assert!(pair.endpoint(Side::Client).remove_auth_key(client, 5).is_ok());
    // Now the client cannot verify the server's packets, since it has removed key 5.
    pair.send(Side::Server, 1000);
    pair.run_for(ms(500));
    assert_eq!(read(&mut pair, Side::Client), 0);
    assert!(pair.endpoint(Side::Client).set_auth_key(client, 5, b"secret").is_ok());
    pair.run_for(ms(5000));
    assert_eq!(read(&mut pair, Side::Client), 1000);
}

#[test]
fn options_that_cannot_work_are_refused() {
    let check = |config: Config| config.check().map_err(|error| error.option);
    assert_eq!(check(config(&ALL)), Ok(()));
    for wrong in [1, 2, 14, 15] {
        assert_eq!(check(config(&[wrong])), Err("auth_chunks"));
    }
    assert_eq!(check(config(&[0; 33])), Err("auth_chunks"));
    for wrong in [vec![], vec![3], vec![1, 1], vec![1, 3, 3], vec![1, 2]] {
        assert_eq!(check(Config { auth_hmacs: wrong, ..config(&ALL) }), Err("auth_hmacs"));
    }
    assert_eq!(check(Config { asconf: true, ..Config::default() }), Err("asconf"));
}
