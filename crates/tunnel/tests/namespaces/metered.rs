//! Test of an uplink with a cost beside an uplink without a cost.

use crate::world::{World, folder, write_configs};
use crate::{exchange, exchange_datagrams, play, start_both, wait_until};
use anabranch_tunnel::{ask, render};
use std::fs;
use std::thread;
use std::time::Duration;

#[test]
fn a_metered_uplink_carries_nothing_but_signs_of_life_until_it_is_needed() {
    play(
        "metered::a_metered_uplink_carries_nothing_but_signs_of_life_until_it_is_needed",
        &["ip", "tc", "nsenter"],
        over_a_metered_link,
    );
}

/// Ethernet bytes that a link carried in both directions.
pub fn link_bytes(link: u8) -> u64 {
    let name = format!("here{link}:");
    let devices = fs::read_to_string("/proc/net/dev").expect("can be read");
    let counters = devices.lines().find_map(|line| line.trim().strip_prefix(&name)).expect("is there");
    let counters: Vec<u64> =
        counters.split_whitespace().map(|counter| counter.parse().expect("a number")).collect();
    counters[0] + counters[8]
}

/// Packets with data on the paths of this cost, and whether one of these paths is active.
fn paths_of_cost(end: &str, cost: u64) -> Option<(u64, bool)> {
    let status = ask(&folder().join(format!("{end}.sock"))).ok()?;
    let paths = status["paths"].as_array()?.iter().filter(|path| path["cost"] == cost);
    Some(paths.fold((0, false), |(packets, active), path| {
        (packets + path["data_packets"].as_u64().unwrap_or(0), active || path["state"] == "active")
    }))
}

/// The packets with data on the metered paths of both ends. The status is at most one second old.
fn metered_packets() -> [u64; 2] {
    thread::sleep(Duration::from_millis(1500));
    ["here", "there"].map(|end| paths_of_cost(end, 1).expect("is connected").0)
}

/// Checks that almost no packet with data used the metered link. If the machine stops for a moment, an
/// acknowledgement is late, and the sender may use that link, too.
fn assert_few(before: [u64; 2], now: [u64; 2]) {
    assert!(now[0] <= before[0] + 10 && now[1] <= before[1] + 10, "{before:?}, then {now:?}");
}

fn await_active(cost: u64) {
    for end in ["here", "there"] {
        wait_until("the path is active", || paths_of_cost(end, cost)?.1.then_some(()));
    }
}

fn over_a_metered_link(name: &'static str) {
    let world = World::new(name);
    write_configs();
    let file = folder().join("here");
    let text = fs::read_to_string(&file).expect("is written");
    let metered = text.replace("['here0', 'here1']", "['here0', { device = 'here1', cost = 1 }]");
    assert_ne!(text, metered);
    fs::write(&file, metered).expect("can be written");
    let [_here, _there, _echo] = start_both(&world);
    await_active(1);
    let status = ask(&folder().join("here.sock")).expect("is connected");
    assert!(render(&status).contains(" cost "), "{}", render(&status));
    // After this time path MTU discovery has ended.
    thread::sleep(Duration::from_secs(5));

    let (bytes, packets) = (link_bytes(1), metered_packets());
    exchange_datagrams(200);
    thread::sleep(Duration::from_secs(25));
    let bytes = link_bytes(1) - bytes;
    println!("{bytes} bytes in half a minute, data packets {packets:?}");
    // The heartbeats of both ends and their answers take 440 bytes, an exchange of keys 440, ARP 200. Without
    // a cost there would be ten times as many bytes.
    assert!(bytes <= 3000, "{bytes} bytes in half a minute");
    assert_few(packets, metered_packets());

    exchange(4_000_000, || ());
    let full = metered_packets();
    assert!(full[0] > packets[0] && full[1] > packets[1], "the other uplink was full: {full:?}");

    world.silence(0);
    let (came, twice) = exchange_datagrams(200);
    // If the machine stops for half a second, the tunnel abandons some packets.
    assert!(came >= 150, "{came} of 200 came back");
    assert_eq!(twice, 0);
    let dead = metered_packets();
    assert!(dead[0] > full[0] && dead[1] > full[1], "the other uplink is dead: {dead:?}");

    world.unsilence(0);
    await_active(0);
    thread::sleep(Duration::from_secs(2));
    let before = metered_packets();
    exchange_datagrams(100);
    assert_few(before, metered_packets());
}
