use super::*;
use proptest::prelude::*;

/// Chunks no sane peer sends: everything drawn at random, close enough together to meet.
fn nonsense() -> impl Strategy<Value = Data<'static>> {
    let flags = prop::sample::select(vec!["B", "", "E", "BE", "BE", "UB", "U", "UE", "UBE", "UBE"]);
    (flags, 0_u32..200, 0..STREAMS + 1, 0_u16..20, prop_oneof![1_usize..20, Just(1400), Just(0)]).prop_map(
        |(flags, tsn, stream, ssn, length)| chunk(flags, tsn.wrapping_sub(100), stream, ssn, length),
    )
}

proptest! {
    // Whatever comes, memory stays in proportion to the buffer. At a violation a new association begins.
    #[test]
    fn nonsense_never_outgrows_the_buffer(chunks in prop::collection::vec((nonsense(), any::<bool>()), 1..400)) {
        let limit = 4000;
        let mut f = Fixture::new(&with_buffer(limit), 0_u32.wrapping_sub(50));
        for (data, read) in chunks {
            if let DataVerdict::Violation(_) = f.take(data) {
                f = Fixture::new(&with_buffer(limit), 0_u32.wrapping_sub(50));
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

// Delivered messages leave nothing but the memory of their TSN, and that is bounded too.
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
