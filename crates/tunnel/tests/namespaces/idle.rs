//! Test of the heartbeats while no packets pass.

use crate::metered::link_bytes;
use crate::world::{World, write_configs};
use crate::{assert_datagrams_pass, exchange_datagrams, play};
use std::thread;
use std::time::Duration;

#[test]
fn heartbeats_are_rare_while_no_packets_pass_and_frequent_again_afterwards() {
    play(
        "idle::heartbeats_are_rare_while_no_packets_pass_and_frequent_again_afterwards",
        &["ip", "tc", "nsenter"],
        while_no_packets_pass,
    );
}

/// Bytes of both links during this time.
fn count(seconds: u64) -> u64 {
    let all = || link_bytes(0) + link_bytes(1);
    let before = all();
    thread::sleep(Duration::from_secs(seconds));
    all() - before
}

fn while_no_packets_pass(name: &'static str) {
    let world = World::new(name);
    world.silence_kernels();
    write_configs();
    let mut echo = world.start("echo", "there");
    echo.await_line("ready");
    let _here = world.start("tunnel", "here");
    let _there = world.start("tunnel", "there");
    assert_datagrams_pass();
    // By then path MTU discovery has ended.
    thread::sleep(Duration::from_secs(15));
    let idle = count(40);
    exchange_datagrams(1);
    let busy = count(10);
    println!("{idle} bytes in 40 s while idle, {busy} in 10 s after a packet");
    // Each end sends two heartbeats on each link at most: 1760 bytes with their answers; ARP takes 400.
    assert!(idle <= 2500, "{idle} bytes");
    // The client asks on each link at once, and each end sends one or two heartbeats on each link.
    assert!(busy >= 1200, "{busy} bytes");
}
