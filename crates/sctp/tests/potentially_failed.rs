//! Quick failover (rfc7829).

use anabranch_sctp::{AssocId, Cmt, Config, Event, PathInfo, PathState};
use testkit::*;
use units::{Instant, Span};

fn secs(n: u64) -> Span {
    Span::from_secs(n)
}

fn path(pair: &mut Pair, id: AssocId, n: usize) -> PathInfo {
    pair.endpoint(Side::Client).paths(id).unwrap().nth(n).unwrap()
}

fn changed(net: u8, state: PathState) -> Event {
    Event::PathChanged { address: Side::Server.address(net), state }
}

fn pf() -> Config {
    Config { potentially_failed: Some(0), ..Config::default() }
}

fn cmt_pf() -> Config {
    Config { cmt: Cmt { enabled: true, ..Cmt::default() }, ..pf() }
}

/// Two endpoints with two confirmed paths. The networks in `dead` have just failed.
fn failing(config: &Config, dead: &'static [u8]) -> (Pair, AssocId) {
    let mut pair = Pair::new(2, config);
    let (client, _) = pair.establish();
    pair.run_for(ms(100));
    pair.events(Side::Client);
    pair.on_wire(|sent| if dead.contains(&sent.net()) { Fate::Lost } else { Fate::Arrives });
    pair.sent.clear();
    (pair, client)
}

fn times(pair: &Pair, net: u8, chunk: &str) -> Vec<Instant> {
    let of = |sent: &&Sent| sent.from == Side::Client && sent.net() == net && sent.chunks().contains(chunk);
    pair.sent.iter().filter(of).map(|sent| sent.at).collect()
}

// rfc7829#section-3, rules 1, 2 and 4: after one timeout a heartbeat is sent, and data uses the other path.
#[test]
fn one_timeout_moves_data_to_another_path_and_sends_a_heartbeat() {
    let (mut pair, client) = failing(&pf(), &[1]);
    pair.send(Side::Client, 500);
    pair.run_for(ms(1100));
    assert_eq!(pair.events(Side::Client), [changed(1, PathState::PotentiallyFailed)]);
    assert_eq!(path(&mut pair, client, 0).state, PathState::PotentiallyFailed);
    let (t3, heartbeats) = (times(&pair, 2, "DATA"), times(&pair, 1, "HEARTBEAT"));
    assert_eq!(t3, heartbeats, "the chunk again and the heartbeat leave together");
    for _ in 0..5 {
        pair.send(Side::Client, 500);
        pair.run_for(ms(100));
    }
    assert_eq!(times(&pair, 1, "DATA").len(), 1, "no data to a path that may have failed");
    assert_eq!(pair.read_all(Side::Server).len(), 6);
}

// rfc7829#section-3, rules 4 and 5: one heartbeat per RTO, which doubles, even with heartbeats disabled.
#[test]
fn heartbeats_back_off_until_the_path_is_inactive() {
    for hb_interval in [None, Some(secs(30))] {
        let (mut pair, client) = failing(&Config { hb_interval, ..pf() }, &[1]);
        pair.send(Side::Client, 500);
        pair.run_for(secs(120));
        let heartbeats = times(&pair, 1, "HEARTBEAT");
        let gaps: Vec<u64> =
            heartbeats.windows(2).map(|w| w[1].since(w[0]).as_nanos() / 1_000_000_000).collect();
        assert_eq!(gaps[..4], [2, 4, 8, 16], "{hb_interval:?}");
        let states = [PathState::PotentiallyFailed, PathState::Inactive];
        assert_eq!(pair.events(Side::Client), states.map(|state| changed(1, state)));
        assert!(path(&mut pair, client, 0).errors > 5);
    }
}

// rfc7829#section-3, rule 5: errors of a potentially failed path count for Path.Max.Retrans, too.
#[test]
fn a_path_fails_for_good_after_as_many_errors_as_ever() {
    let (mut pair, client) = failing(&Config { path_max_retrans: 2, ..pf() }, &[1]);
    pair.send(Side::Client, 500);
    let mut seen = Vec::new();
    while path(&mut pair, client, 0).state != PathState::Inactive {
        let next = pair.next_change().expect("timers run");
        pair.run_until(next);
        let now = path(&mut pair, client, 0);
        if seen.last() != Some(&(now.errors, now.state)) {
            seen.push((now.errors, now.state));
        }
    }
    let failing = PathState::PotentiallyFailed;
    assert_eq!(seen[seen.len() - 3..], [(1, failing), (2, failing), (3, PathState::Inactive)]);
}

// rfc7829#section-3, rule 6: an answer to a heartbeat makes the path active.
#[test]
fn an_answered_heartbeat_brings_the_path_back() {
    let (mut pair, client) = failing(&pf(), &[1]);
    pair.send(Side::Client, 500);
    pair.run_for(ms(1500));
    pair.heal();
    while path(&mut pair, client, 0).state != PathState::Active {
        let next = pair.next_change().expect("timers run");
        pair.run_until(next);
    }
    let back = path(&mut pair, client, 0);
    assert_eq!((back.state, back.errors), (PathState::Active, 0));
    assert_eq!(back.cwnd.get(), 2 * 1500);
    let before = pair.sent.len();
    pair.send(Side::Client, 500);
    assert_eq!(pair.sent[before].net(), 1, "and the primary path carries data again");
    assert_eq!(pair.events(Side::Client).last(), Some(&changed(1, PathState::Active)));
}

// rfc7829#section-3, rule 6: acknowledged data makes the path active, but only if it was sent once.
#[test]
fn data_sent_once_brings_the_path_back_and_data_sent_again_does_not() {
    let (mut pair, client) = failing(&cmt_pf(), &[]);
    // All packets with data are late: the chunk times out, and is sent again before it is acknowledged.
    pair.on_wire(|sent| match sent.chunks().as_str() {
        "HEARTBEAT" => Fate::Lost,
        chunks if chunks.contains("DATA") => Fate::Late(ms(1500)),
        _ => Fate::Arrives,
    });
    pair.send(Side::Client, 500);
    let mut states = Vec::new();
    for _ in 0..30 {
        pair.run_for(ms(100));
        states.push(path(&mut pair, client, 0).state);
    }
    assert!(states.contains(&PathState::PotentiallyFailed));
    assert_eq!(states.last(), Some(&PathState::PotentiallyFailed), "the copy says nothing of the path");
}

// rfc7829#section-3, rule 6: acknowledged data makes a path active, but not data sent before the failure.
#[test]
fn acknowledgement_of_data_sent_before_the_failure_leaves_the_path_potentially_failed() {
    let (mut pair, client) = failing(&Config { max_burst: 100, ..pf() }, &[]);
    for _ in 0..40 {
        pair.send(Side::Client, 1400);
    }
    pair.run_for(ms(500));
    assert_eq!(pair.read_all(Side::Server).len(), 40);
    pair.sent.clear();
    // The last data arrives on path 1. Then the path fails before an acknowledgement returns.
    pair.on_wire(|sent| {
        let lost = sent.net() == 1 && (sent.from == Side::Server || sent.chunks() == "HEARTBEAT");
        if lost { Fate::Lost } else { Fate::Arrives }
    });
    for _ in 0..10 {
        pair.send(Side::Client, 1400);
    }
    pair.run_for(ms(1500));
    let (first, again) = (times(&pair, 1, "DATA").len(), times(&pair, 2, "DATA").len());
    assert_eq!(pair.read_all(Side::Server).len(), 10);
    assert!(again > 0 && again < 10, "the acknowledgement comes before all of them were sent again: {again}");
    assert_eq!(pair.events(Side::Client), [changed(1, PathState::PotentiallyFailed)]);
    pair.send(Side::Client, 1400);
    pair.run_for(ms(100));
    assert_eq!(path(&mut pair, client, 0).state, PathState::PotentiallyFailed);
    assert_eq!(times(&pair, 1, "DATA").len(), first, "new data takes the other path");
}

// rfc7829#section-3, rule 3: with no active path, the path with the fewest errors sends one packet at a time.
#[test]
fn with_all_paths_failing_the_best_is_used_and_slowly() {
    for config in [pf(), cmt_pf()] {
        let (mut pair, client) =
            failing(&Config { path_max_retrans: 1000, association_max_retrans: 1000, ..config }, &[1, 2]);
        for _ in 0..20 {
            pair.send(Side::Client, 1400);
        }
        let mut checked = 0;
        for _ in 0..400 {
            let next = pair.next_change().expect("timers run");
            let before = [0, 1].map(|n| path(&mut pair, client, n));
            let sent = pair.sent.len();
            pair.run_until(next);
            if before.iter().any(|p| p.state != PathState::PotentiallyFailed) {
                continue;
            }
            let after = [0, 1].map(|n| path(&mut pair, client, n));
            for packet in &pair.sent[sent..] {
                if packet.from == Side::Client && packet.chunks().contains("DATA") {
                    let used = usize::from(packet.net()) - 1;
                    assert!(after[used].errors <= after[1 - used].errors, "{after:?}");
                    // The flight size is at most one MTU, and the excess that rfc9260#section-6.1, rule B,
                    // allows.
                    assert!(after[used].flight < after[used].mtu * 2, "{after:?}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 2, "{checked} packets");
        pair.heal();
        pair.run_for(secs(200));
        assert_eq!(pair.read_all(Side::Server).len(), 20);
    }
}

// rfc7829#section-5: the primary path changes permanently.
#[test]
fn the_primary_path_is_switched_over() {
    let (mut pair, client) = failing(&Config { primary_switchover: Some(1), ..pf() }, &[1]);
    pair.send(Side::Client, 500);
    pair.run_for(ms(1500));
    assert!(path(&mut pair, client, 0).is_primary, "one error");
    pair.run_for(secs(4));
    assert!(path(&mut pair, client, 1).is_primary, "two");
    pair.heal();
    pair.run_for(secs(100));
    assert_eq!(path(&mut pair, client, 0).state, PathState::Active);
    assert!(path(&mut pair, client, 1).is_primary, "and stays so");
}

#[test]
fn limits_in_the_wrong_order_are_refused() {
    let wrong = |config: Config| config.check().map_err(|error| error.option);
    assert_eq!(wrong(Config { potentially_failed: Some(6), ..pf() }), Err("potentially_failed"));
    let config = Config { potentially_failed: Some(2), primary_switchover: Some(1), ..pf() };
    assert_eq!(wrong(config), Err("primary_switchover"));
}
