use super::*;
use proptest::prelude::*;

/// Chunks that no correct peer sends: random, but with close numbers, so that they interfere.
fn nonsense() -> impl Strategy<Value = Data<'static>> {
    let flags = prop::sample::select(vec!["B", "", "E", "BE", "BE", "UB", "U", "UE", "UBE", "UBE"]);
    (flags, 0_u32..200, 0..STREAMS + 1, 0_u16..20, prop_oneof![1_usize..20, Just(1400), Just(0)]).prop_map(
        |(flags, tsn, stream, ssn, length)| chunk(flags, tsn.wrapping_sub(100), stream, ssn, length),
    )
}

/// A receiver with a buffer of 4000 bytes, for the random chunks of [`nonsense`].
fn target(reneging: bool) -> Fixture {
    Fixture::new(&Config { reneging, ..with_buffer(4000) }, 0_u32.wrapping_sub(50))
}

proptest! {
    // For any chunks, memory stays in proportion to the buffer. After a violation a new association starts.
    #[test]
    fn nonsense_never_outgrows_the_buffer(
        chunks in prop::collection::vec((nonsense(), any::<bool>()), 1..400),
        reneging in any::<bool>(),
    ) {
        // Without reneging, the first missing chunk is accepted even if the buffer is full.
        let limit = if reneging { 4000 } else { 4000 + 1400 };
        let mut f = target(reneging);
        for (data, read) in chunks {
            if let DataVerdict::Violation(_) = f.take(data) {
                f = target(reneging);
            }
            if read {
                f.rx.read(700);
            }
            prop_assert!(f.rx.window.held() <= limit);
            let kept = f.rx.window.held() / u64::from(ChunkCost::LEAST);
            prop_assert!(f.rx.ready.len() as u64 <= kept + 1);
            f.report();
        }
    }
}

// A peer sends short chunks with gaps between them. Then it sends all missing chunks except the lowest. The
// late chunks are long, and the highest of them arrives first.
#[test]
fn gaps_that_are_filled_late_hold_no_more_than_the_buffer() {
    for every in 2..40 {
        let mut f = Fixture::started(&Config { reneging: false, ..with_buffer(100_000) }, 0);
        for tsn in (1..=3000).rev().filter(|tsn| tsn % every == 0).rev() {
            f.take(message(1 + tsn, 1));
        }
        for tsn in (2..=3000).rev() {
            f.take(message(1 + tsn, 1452));
        }
        let held = f.rx.window.held();
        assert!(held <= 100_000, "{held} bytes with every {every}th TSN first");
    }
}

// Of a delivered message only the record of its TSN is left. The number of these records is limited, too.
#[test]
fn a_peer_that_leaves_every_other_tsn_out_is_stopped() {
    let mut f = Fixture::new(&Config::default(), 0);
    let mut taken = 0_u32;
    while f.take(message(2 * taken + 1, 1)) == DataVerdict::Accepted {
        f.drain();
        taken += 1;
        assert!(taken < 1 << 16);
    }
    assert_eq!(f.take(message(0, 1)), DataVerdict::Accepted, "a gap that closes makes room");
    assert_eq!(f.take(message(2 * taken + 1, 1)), DataVerdict::Accepted);
}

// rfc9260#section-1.6
#[test]
fn a_tsn_half_a_circle_ahead_is_taken_for_an_old_one() {
    let mut f = Fixture::started(&Config::default(), 100);
    assert_eq!(f.take(message(100 + (1 << 31), 10)), DataVerdict::Duplicate);
    assert_eq!(f.take(message(99_u32.wrapping_sub(1 << 30), 10)), DataVerdict::Duplicate);
    assert!(f.drain().is_empty());
}
