//! How often data gives a sample of the round-trip time.

use super::*;
use crate::config::RttSamples;

/// Twenty chunks a millisecond apart, each acknowledged by a SACK of its own 100 ms after it left, but the last 200 ms. The
/// smoothed round-trip time afterwards.
fn srtt(rtt_samples: RttSamples) -> Span {
    let config = Config { rtt_samples, ..cmt(Cmt::default()) };
    let mut rig = Rig::new(&config, 1, 1);
    for _ in 1..=20 {
        rig.transmit(P1);
        rig.pass(Span::from_millis(1));
    }
    rig.pass(Span::from_millis(80));
    for tsn in 1..=19 {
        rig.sack(tsn, &[], 1);
        rig.pass(Span::from_millis(1));
    }
    rig.pass(Span::from_millis(100));
    rig.sack(20, &[], 1);
    rig.paths[P1].rto.srtt().unwrap()
}

// rfc9260#section-6.3.1, rule C4
#[test]
fn with_samples_of_a_round_trip_one_chunk_of_those_in_flight_together_gives_one() {
    assert_eq!(
        srtt(RttSamples::RoundTrip),
        Span::from_millis(100),
        "the last chunk left before the first sample"
    );
    assert_eq!(srtt(RttSamples::EachSack), Span::from_micros(112_500), "one eighth of the last one");
}

// rfc9260#section-6.3.1, rule C4
#[test]
fn with_samples_of_a_round_trip_each_round_trip_gives_one() {
    let config = Config { rtt_samples: RttSamples::RoundTrip, ..cmt(Cmt::default()) };
    let mut rig = Rig::new(&config, 1, 1);
    for (tsn, srtt) in [(1, 100), (2, 100), (3, 100)] {
        rig.transmit(P1);
        rig.pass(Span::from_millis(100));
        rig.sack(tsn, &[], 1);
        assert_eq!(rig.paths[P1].rto.srtt(), Some(Span::from_millis(srtt)));
    }
    rig.transmit(P1);
    rig.pass(Span::from_millis(180));
    rig.sack(4, &[], 1);
    assert_eq!(rig.paths[P1].rto.srtt(), Some(Span::from_millis(110)));
}
