//! The congestion control that README.md prints is a file that compiles: `readme/gentle.rs`.

// `crate::` in that file names the crate cc, where the reader is told to put it.
use anabranch::cc::*;
use units::ByteCount;

#[path = "readme"]
mod algorithm {
    pub mod gentle;

    pub fn build(setup: &crate::Setup) -> Box<dyn crate::CongestionControl> {
        gentle::build(setup)
    }
}

#[test]
fn the_printed_control_is_the_compiled_one() {
    let printed = include_str!("../../../README.md").split("```rust\n").nth(1).expect("a block of Rust");
    let printed = printed.split("```").next().expect("the end of the block");
    assert_eq!(printed, include_str!("readme/gentle.rs"), "copy one to the other");
}

#[test]
fn the_printed_control_builds_a_controller_of_its_name() {
    let setup = Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), ByteCount::new(1_000_000), 2);
    assert_eq!(algorithm::build(&setup).name(), "gentle");
}
