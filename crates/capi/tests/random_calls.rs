//! Random calls and structs; `fuzz/fuzz_targets/capi_calls.rs` plays the same with the help of coverage.

mod play;

use play::play;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_call_fails_inside_or_writes_where_it_must_not(input in prop::collection::vec(any::<u8>(), 0..1500)) {
        play(&input);
    }
}

#[test]
fn inputs_that_failed_before_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/cases/capi_calls");
    for file in fs::read_dir(folder).into_iter().flatten() {
        play(&fs::read(file.expect("an entry").path()).expect("can be read"));
    }
}
