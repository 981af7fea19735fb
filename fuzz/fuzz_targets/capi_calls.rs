//! Plays random calls of the C library with random structs.
#![no_main]

#[path = "../../crates/capi/tests/play/mod.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| play::play(input));
