//! Runs any sequence of commands on two endpoints and an attacker; see `testkit::machine` for the invariants.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| testkit::machine::play(input));
