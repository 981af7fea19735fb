//! Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07), as visible on the wire.

use anabranch_sctp::{Cmt, Config, EcnMode, PathInfo};
use testkit::*;
use transport::Ecn;
use units::Span;
use wire::{Chunk, Parameter, Parameters, Tsn};

const FULL: u32 = Played::FULL;

fn on() -> Config {
    Config { ecn: EcnMode::On, ..Config::default() }
}

fn paths(pair: &mut Pair) -> Vec<PathInfo> {
    let id = pair.only(Side::Client);
    pair.endpoint(Side::Client).paths(id).unwrap().collect()
}

fn announces_ecn(parameters: Parameters<'_>) -> bool {
    parameters.iter().any(|parameter| parameter == Ok(Parameter::EcnCapable))
}

/// Whether INIT and INIT ACK announce ECN, and the ECN field of the first packet with DATA.
fn agreement(client: &Config, server: &Config) -> (bool, bool, Ecn) {
    let mut pair =
        Pair::of(endpoint_config(Side::Client, 1, client), endpoint_config(Side::Server, 1, server));
    pair.establish();
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    let Some(Ok(Chunk::InitAck(ack))) = parse(&pair.sent[1].bytes).chunks().next() else {
        panic!("no INIT ACK")
    };
    let announced = (announces_ecn(init.parameters), announces_ecn(ack.0.parameters));
    pair.send(Side::Client, FULL);
    (announced.0, announced.1, pair.sent.last().unwrap().ecn)
}

// rfc3168#section-6.1.1: ECN is used only if both ends announce it.
#[test]
fn ecn_is_used_if_both_ends_announce_it() {
    let off = Config::default();
    assert_eq!(agreement(&on(), &on()), (true, true, Ecn::Capable0));
    assert_eq!(agreement(&on(), &off), (true, false, Ecn::NotCapable));
    assert_eq!(agreement(&off, &on()), (false, false, Ecn::NotCapable));
    assert_eq!(agreement(&off, &off), (false, false, Ecn::NotCapable));
}

// rfc3168#section-6.1.5: retransmissions are not ECN-capable.
#[test]
fn only_packets_with_new_data_are_ecn_capable() {
    let mut pair = Pair::new(2, &on());
    pair.establish();
    pair.run_for(Span::from_secs(2));
    let mut lost = 0;
    pair.on_wire(move |sent| {
        let lose = sent.chunks() == "DATA" && lost < 4;
        lost += i32::from(lose);
        if lose { Fate::Lost } else { Fate::Arrives }
    });
    for _ in 0..12 {
        pair.send(Side::Client, FULL);
    }
    pair.run_for(Span::from_secs(20));
    assert_eq!(pair.read_all(Side::Server).len(), 12);
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(1));
    let mut next: Option<Tsn> = None;
    for sent in &pair.sent {
        let tsn = parse(&sent.bytes).chunks().find_map(|chunk| match chunk {
            Ok(Chunk::Data(data)) => Some(data.tsn),
            _ => None,
        });
        let fresh = tsn.filter(|tsn| next.is_none_or(|next| !tsn.precedes(next)));
        assert_eq!(sent.ecn != Ecn::NotCapable, fresh.is_some(), "{} at {:?}", sent.chunks(), sent.at);
        next = fresh.map(Tsn::next).or(next);
    }
}

// rfc3168#section-6.1.3
#[test]
fn marks_are_echoed_with_each_sack_until_the_sender_has_answered() {
    let mut pair = Pair::new(1, &on());
    pair.establish();
    let (mut marks, mut lost) = (0, 0);
    pair.on_wire(move |sent| match sent.chunks().as_str() {
        "DATA" if sent.from == Side::Client && marks < 1 => {
            marks += 1;
            Fate::Marked
        }
        chunks if chunks.starts_with("CWR") && lost < 2 => {
            lost += 1;
            Fate::Lost
        }
        _ => Fate::Arrives,
    });
    let before = pair.sent.len();
    for _ in 0..4 {
        pair.send(Side::Client, FULL);
        pair.run_for(Span::from_millis(300));
    }
    assert_eq!(pair.said(Side::Server, before), ["ECNE SACK", "ECNE SACK", "ECNE SACK", "SACK"]);
    assert_eq!(pair.said(Side::Client, before).iter().filter(|said| *said == "CWR").count(), 3);
    let path = paths(&mut pair)[0];
    assert_eq!(path.stats.ecn_reductions, 1);
    let id = pair.only(Side::Server);
    assert_eq!(pair.endpoint(Side::Server).stats(id).unwrap().received.marked_packets, 1);
}

// rfc3168#section-6.1.2
#[test]
fn a_mark_halves_the_window_once_in_a_window_of_data() {
    let window = |marked: bool| {
        let config = Config { initial_window: Some(20), max_burst: 100, ..on() };
        let mut pair = Pair::new(1, &config);
        pair.establish();
        if marked {
            pair.on_wire(|sent| if sent.from == Side::Client { Fate::Marked } else { Fate::Arrives });
        }
        for _ in 0..18 {
            pair.send(Side::Client, FULL);
        }
        pair.run_for(Span::from_millis(25));
        paths(&mut pair)[0].window()
    };
    let (cwnd, _) = window(false);
    assert_eq!(window(true), (cwnd / 2, Some(cwnd / 2)));
}

trait Window {
    fn window(&self) -> (u64, Option<u64>);
}

impl Window for PathInfo {
    fn window(&self) -> (u64, Option<u64>) {
        (self.cwnd.get(), self.ssthresh.map(|ssthresh| ssthresh.get()))
    }
}

#[test]
fn with_cmt_marks_belong_to_their_path_and_a_sack_echoes_those_of_all_paths() {
    let config = Config { cmt: Cmt { enabled: true, ..Cmt::default() }, ..on() };
    let reductions = |nets: &'static [u8]| {
        let mut pair = Pair::new(2, &config);
        pair.establish();
        pair.run_for(Span::from_secs(2));
        pair.on_wire(move |sent| {
            let marked = sent.from == Side::Client && nets.contains(&sent.net());
            if marked { Fate::Marked } else { Fate::Arrives }
        });
        let before = pair.sent.len();
        for _ in 0..60 {
            pair.send(Side::Client, FULL);
        }
        pair.run_for(Span::from_secs(2));
        let both = pair.said(Side::Server, before).contains(&"ECNE ECNE SACK".to_owned());
        pair.heal();
        pair.send(Side::Client, FULL);
        pair.run_for(Span::from_secs(2));
        assert_eq!(pair.read_all(Side::Server).len(), 61);
        let last = pair.said(Side::Server, before).pop();
        assert_eq!(last.as_deref(), Some("SACK"), "every mark was answered");
        let paths: Vec<bool> = paths(&mut pair).iter().map(|path| path.stats.ecn_reductions > 0).collect();
        (paths, both)
    };
    assert_eq!(reductions(&[2]), (vec![false, true], false));
    assert_eq!(reductions(&[1, 2]), (vec![true, true], true));
}

// The path of the marked packet fails: the CWR is sent on another path and applies to all paths.
#[test]
fn an_echo_of_a_path_that_failed_is_answered_on_another_one() {
    let config = Config { path_max_retrans: 0, cmt: Cmt { enabled: true, ..Cmt::default() }, ..on() };
    let mut pair = Pair::new(2, &config);
    pair.establish();
    pair.run_for(Span::from_secs(2));
    // Marked data arrives on network 2, which then fails.
    let mut passed = 0;
    pair.on_wire(move |sent| match (sent.from, sent.net()) {
        (Side::Client, 2) if passed < 1 && sent.chunks() == "DATA" => {
            passed += 1;
            Fate::Marked
        }
        (_, 2) => Fate::Lost,
        _ => Fate::Arrives,
    });
    for _ in 0..12 {
        pair.send(Side::Client, FULL);
    }
    pair.run_for(Span::from_secs(20));
    pair.send(Side::Client, FULL);
    pair.run_for(Span::from_secs(20));
    assert_eq!(pair.read_all(Side::Server).len(), 13);
    let before = pair.sent.len();
    pair.send(Side::Client, FULL);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.said(Side::Server, before).pop().as_deref(), Some("SACK"), "no echo any more");
}
