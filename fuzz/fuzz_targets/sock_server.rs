//! Plays hostile records and requests against the host process of SCTP sockets.
#![no_main]

#[path = "../../crates/sock/tests/play/mod.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| play::play(input));
