//! Runs any sequence of commands on two ends of an encrypted session and their network.
#![no_main]

#[path = "../../crates/noise/tests/play/mod.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| play::play(input));
