//! A host process neither panics nor stops serving, whatever programs send.
#![cfg(target_os = "linux")]

mod play;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_records_and_requests_leave_the_host_process_serving(
        input in prop::collection::vec(any::<u8>(), 0..600)
    ) {
        play::play(&input);
    }
}
