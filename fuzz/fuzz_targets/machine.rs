//! Any sequence of commands over two endpoints and a meddler between them; `testkit::machine` says what must hold.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| testkit::machine::play(input));
