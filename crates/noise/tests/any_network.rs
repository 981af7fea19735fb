//! Random commands for two ends and their network; `fuzz/fuzz_targets/noise.rs` runs the same.

mod play;

use play::play;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_an_end_opens_the_other_sealed_and_ends_recover(input in prop::collection::vec(any::<u8>(), 0..400)) {
        play(&input);
    }
}

#[test]
fn inputs_that_failed_before_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/cases/noise");
    for file in fs::read_dir(folder).into_iter().flatten() {
        play(&fs::read(file.expect("an entry").path()).expect("can be read"));
    }
}
