//! Test of packets that leave on all uplinks.

use crate::world::{World, folder, write_configs};
use crate::{await_both_uplinks, exchange, exchange_datagrams, play, start_both};
use std::fs;

#[test]
fn with_redundant_each_uplink_carries_all_data() {
    play("redundant::with_redundant_each_uplink_carries_all_data", &["ip", "tc", "nsenter"], on_all_uplinks);
}

/// Ethernet bytes that each uplink sent.
fn sent_bytes() -> [u64; 2] {
    let devices = fs::read_to_string("/proc/net/dev").expect("can be read");
    ["here0:", "here1:"].map(|name| {
        let counters = devices.lines().find_map(|line| line.trim().strip_prefix(name)).expect("is there");
        counters.split_whitespace().nth(8).and_then(|bytes| bytes.parse().ok()).expect("a number")
    })
}

fn on_all_uplinks(name: &'static str) {
    const BYTES: u64 = 4_000_000;
    let world = World::new(name);
    write_configs();
    for end in ["here", "there"] {
        let file = folder().join(end);
        let text = fs::read_to_string(&file).expect("is written");
        fs::write(&file, format!("{text}redundant = true\n")).expect("can be written");
    }
    let [_here, _there, _echo] = start_both(&world);
    await_both_uplinks("both uplinks are used");

    let before = sent_bytes();
    exchange(BYTES as usize, || ());
    let now = sent_bytes();
    let sent = [0, 1].map(|n| now[n] - before[n]);
    println!("{sent:?} bytes for {BYTES}");
    // Without copies, the headers would add only about 15 %. Copies add less than 100 %, because a path does
    // not send what the other path has already delivered.
    assert!(sent.iter().sum::<u64>() > BYTES * 14 / 10, "{sent:?} bytes for {BYTES}");

    world.silence(0);
    let (came, twice) = exchange_datagrams(200);
    // A copy leaves on the other uplink, so no packet waits until the failure is detected. If the machine
    // stops for half a second, packets are lost.
    assert!(came >= 190, "{came} of 200 came back");
    assert_eq!(twice, 0);
}
