//! Tests that the congestion control printed in docs/embed-rust.md is a file that compiles:
//! `printed/gentle.rs`.

use anabranch::cc::{GrowthRule, Setup};
use anabranch::{ByteCount, Endpoint, EndpointConfig, Seed};

#[path = "printed/gentle.rs"]
mod gentle;

#[test]
fn the_printed_control_is_the_compiled_one() {
    let printed =
        include_str!("../../../docs/embed-rust.md").split("```rust\n").nth(1).expect("a block of Rust");
    let printed = printed.split("```").next().expect("the end of the block");
    assert_eq!(printed, include_str!("printed/gentle.rs"), "copy one to the other");
}

#[test]
fn an_endpoint_takes_the_printed_control() {
    let config = gentle::config();
    let setup = Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), ByteCount::new(1_000_000), 2);
    assert_eq!(config.congestion_control.build(&setup, &config.knobs).name(), "gentle");
    let seed = Seed::for_simulation(1);
    let config = EndpointConfig {
        config: config.into(),
        ..EndpointConfig::new(5001, vec![[10, 1, 0, 1].into()], seed)
    };
    assert!(Endpoint::new(config).is_ok());
}
