//! Paths that fail during a part of each second, as with periodic interference or bursts of traffic.

use anabranch_sctp::{Config, EndpointConfig, Seed};
use testkit::*;
use units::{Instant, Span};

/// The period of the outages. The RTO is one period, and after each timeout a multiple of a period.
const PERIOD: Span = Span::from_secs(1);

/// Seconds until a message arrived, for 20 seeds; `None` if more than two minutes passed. All paths (RTT 20
/// ms) fail in the first 300 ms of each second; the message is sent in the middle of this time.
fn delays(config: &Config, nets: u8) -> Vec<Option<f64>> {
    (1..=20).map(|seed| delay(config, nets, seed)).collect()
}

fn delay(config: &Config, nets: u8, seed: u64) -> Option<f64> {
    let down = Span::from_millis(300);
    let endpoint = |side: Side| {
        let seed = 2 * seed + u64::from(side == Side::Server);
        EndpointConfig { seed: Seed::for_simulation(seed), ..endpoint_config(side, nets, config) }
    };
    let mut pair = Pair::of(endpoint(Side::Client), endpoint(Side::Server));
    pair.establish();
    for _ in 0..20 {
        pair.send(Side::Client, 1400);
        pair.send(Side::Client, 1400);
        pair.run_for(Span::from_millis(100));
    }
    pair.read_all(Side::Server);
    let phase = |at: Instant| Span::from_nanos(at.since(Instant::ZERO).as_nanos() % PERIOD.as_nanos());
    pair.run_for(PERIOD - phase(pair.now) + down / 2);
    pair.on_wire(move |sent| if phase(sent.at) < down { Fate::Lost } else { Fate::Arrives });
    let begin = pair.now;
    pair.send(Side::Client, 500);
    while pair.now < begin + Span::from_secs(120) {
        pair.run_for(Span::from_millis(10));
        if !pair.read_all(Side::Server).is_empty() {
            return Some(pair.now.since(begin).as_secs_f64());
        }
    }
    None
}

/// Without probes, T3-rtx expires after one second, two, four and so on: always in an outage.
#[test]
fn without_probes_every_retransmission_falls_into_a_periodic_outage() {
    for nets in [1, 2] {
        assert_eq!(delays(&Config::default(), nets), [None; 20], "{nets} paths");
    }
}

/// Tail loss probes are sent before T3-rtx expires. With two paths, copies are sent before it, too.
#[test]
fn the_recommended_options_escape_a_periodic_outage() {
    for nets in [1, 2] {
        let found = delays(&Config::recommended(), nets);
        assert!(found.iter().all(|delay| delay.is_some_and(|s| s < 1.0)), "{nets} paths: {found:?}");
    }
}
