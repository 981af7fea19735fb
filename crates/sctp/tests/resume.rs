//! Paths that start with the rate of an earlier path between the same addresses (`rfc9959`).

use anabranch_sctp::{
    AssocId, Cmt, Config, EndpointConfig, Message, PathSelection, PathSet, Payload, Resume, Seed,
};
use std::net::IpAddr;
use testkit::*;
use transport::BufferSize;
use units::{ByteCount, Span};

const RTT: Span = Span::from_millis(40);

/// Maximum number of packets with data in the first 2.5 round trips of a path that begins with the initial
/// cwnd, or with what is left of its old cwnd.
const SLOW_START: usize = 80;

fn config(resume: Resume) -> Config {
    let fixed = BufferSize::Fixed(ByteCount::new(1 << 20));
    let recommended = Config::recommended();
    // All paths carry data, even if one path is enough.
    let cmt = Cmt { path_selection: PathSelection::RoundRobin, ..recommended.cmt.clone() };
    Config { resume, cmt, receive_buffer: fixed, send_buffer: fixed, ..recommended }
}

fn pair(nets: u8, config: &Config) -> Pair {
    let mut pair = Pair::new(nets, config);
    pair.set_delay(RTT / 2);
    pair
}

/// Runs for `span`, in which `side` always has data to send.
fn saturate(pair: &mut Pair, side: Side, id: AssocId, span: Span) {
    for _ in 0..span.as_nanos() / 1_000_000 {
        let now = pair.now;
        while pair.endpoint(side).send(now, id, Message::new(Payload::Filler(10_000))).is_ok() {}
        pair.run_for(ms(1));
        pair.read_all(side.other());
    }
}

/// Runs until all data in the send buffers has arrived.
fn deliver_all(pair: &mut Pair) {
    for _ in 0..20 {
        pair.run_for(ms(50));
        pair.read_all(Side::Client);
        pair.read_all(Side::Server);
    }
}

/// Number of packets with data that `side` sent to or from this address of the client in 2.5 round trips.
/// These round trips begin with the first such packet from packet number `before` on.
fn begins_with(pair: &Pair, before: usize, side: Side, client: IpAddr) -> usize {
    let with_data = |sent: &&Sent| {
        sent.from == side && [sent.src, sent.dst].contains(&client) && sent.chunks().contains("DATA")
    };
    let mut sent = pair.sent[before..].iter().filter(with_data).map(|sent| sent.at).peekable();
    let end = *sent.peek().expect("data") + RTT * 5 / 2;
    sent.take_while(|&at| at < end).count()
}

/// Runs one association after the other. In each of them `side` sends for the given time in milliseconds or,
/// if the time is 0, one small message. Returns how many packets the last association begins with.
fn one_after_the_other(pair: &mut Pair, side: Side, times: &[u64]) -> usize {
    let mut before = 0;
    for &time in times {
        before = pair.sent.len();
        let (client, server) = pair.establish();
        let id = if side == Side::Client { client } else { server };
        saturate(pair, side, id, ms(time));
        if time == 0 {
            pair.send(side, 1000);
        }
        pair.shutdown(side);
        deliver_all(pair);
        assert_eq!(pair.state(side), None, "the association has ended");
    }
    begins_with(pair, before, side, Side::Client.address(1))
}

#[test]
fn a_new_association_resumes_with_full_only() {
    for side in [Side::Client, Side::Server] {
        for (resume, jumps) in [(Resume::Off, false), (Resume::Return, false), (Resume::Full, true)] {
            let found = one_after_the_other(&mut pair(1, &config(resume)), side, &[1000, 400]);
            assert_eq!(found > 2 * SLOW_START, jumps, "{side:?}, {resume}: {found} packets");
            assert!(jumps || found <= SLOW_START, "{side:?}, {resume}: {found} packets");
        }
    }
}

#[test]
fn an_association_that_ends_before_its_jump_leaves_the_saved_set_to_the_next() {
    let found = one_after_the_other(&mut pair(1, &config(Resume::Full)), Side::Client, &[1000, 0, 400]);
    assert!(found > 2 * SLOW_START, "{found} packets");
}

#[test]
fn an_association_resumes_after_its_peer_restarted() {
    let mut pair = pair(1, &config(Resume::Full));
    let (_, server) = pair.establish();
    saturate(&mut pair, Side::Server, server, ms(1000));
    deliver_all(&mut pair);
    let again = endpoint_config(Side::Client, 1, &config(Resume::Full));
    pair.replace(Side::Client, EndpointConfig { seed: Seed::for_simulation(7), ..again });
    let before = pair.sent.len();
    pair.establish();
    saturate(&mut pair, Side::Server, server, ms(400));
    let found = begins_with(&pair, before, Side::Server, Side::Client.address(1));
    assert!(found > 2 * SLOW_START, "{found} packets");
}

#[test]
fn an_endpoint_resumes_what_an_earlier_one_saved() {
    let mut pair = pair(1, &config(Resume::Full));
    one_after_the_other(&mut pair, Side::Client, &[1000]);
    let (now, wall) = (pair.now, Span::from_secs(1_780_000_000));
    let saved = pair.endpoint(Side::Client).saved_paths(now, wall);
    pair.replace(Side::Client, endpoint_config(Side::Client, 1, &config(Resume::Full)));
    pair.endpoint(Side::Client).restore_paths(now, wall, &saved).expect("saved paths");
    let found = one_after_the_other(&mut pair, Side::Client, &[400]);
    assert!(found > 2 * SLOW_START, "{found} packets");
}

#[test]
fn paths_of_an_association_that_has_not_ended_are_saved_too() {
    let mut pair = pair(1, &config(Resume::Full));
    let (client, _) = pair.establish();
    saturate(&mut pair, Side::Client, client, ms(1000));
    let now = pair.now;
    let text = pair.endpoint(Side::Client).saved_paths(now, Span::ZERO);
    let line = format!("\n{} {} ", Side::Client.address(1), Side::Server.address(1));
    assert!(text.contains(&line), "{text}");
}

/// The client's second address is removed and added again. Returns the number of packets with which the path
/// begins.
fn removed_and_added(resume: Resume, side: Side) -> usize {
    let mut pair = pair(2, &Config { paths: PathSet::SameSubnet, ..config(resume) });
    let (client, server) = pair.establish();
    let (id, two) = (if side == Side::Client { client } else { server }, Side::Client.address(2));
    saturate(&mut pair, side, id, ms(1000));
    let now = pair.now;
    pair.endpoint(Side::Client).remove_local_address(now, client, two).expect("another address");
    // The cwnd of this path decays while it is idle (`rfc9260#section-7.2.1`).
    (0..6).for_each(|_| deliver_all(&mut pair));
    let (now, before) = (pair.now, pair.sent.len());
    pair.endpoint(Side::Client).add_local_address(now, client, two).expect("a removed address");
    saturate(&mut pair, side, id, ms(500));
    begins_with(&pair, before, side, two)
}

// rfc5061#section-5.3
#[test]
fn an_address_that_is_removed_and_added_again_resumes() {
    for side in [Side::Client, Side::Server] {
        for (resume, jumps) in [(Resume::Off, false), (Resume::Return, true), (Resume::Full, true)] {
            let found = removed_and_added(resume, side);
            assert_eq!(found > 2 * SLOW_START, jumps, "{side:?}, {resume}: {found} packets");
            assert!(jumps || found <= SLOW_START, "{side:?}, {resume}: {found} packets");
        }
    }
}
