//! Test of the heartbeats while no packets pass.

use crate::metered::link_bytes;
use crate::world::{World, write_configs};
use crate::{play, start_both};
use std::thread;
use std::time::Duration;

#[test]
fn heartbeats_are_rare_while_no_packets_pass() {
    play("idle::heartbeats_are_rare_while_no_packets_pass", &["ip", "tc", "nsenter"], while_no_packets_pass);
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
    let [_here, _there, _echo] = start_both(&world);
    // After this time path MTU discovery has ended.
    thread::sleep(Duration::from_secs(15));
    let idle = count(40);
    println!("{idle} bytes in 40 s while idle");
    // Each end sends two heartbeats on each link at most: 1760 bytes with their answers; ARP takes 400. While
    // packets pass, there are 25 heartbeats in this time: 5500 bytes.
    assert!(idle <= 2500, "{idle} bytes");
}
