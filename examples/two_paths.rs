//! Two endpoints in memory transfer 2 MB over two paths of different delay.
//!
//! `cargo run -p anabranch --example two_paths`

mod network;

use anabranch::{AssocId, Config, Event, Message, Payload, SendError, Span};
use network::{World, addresses, endpoint};
use std::error::Error;

const TOTAL: usize = 2_000_000;
const MESSAGE: usize = 1000;

/// Sends messages until the send buffer is full or nothing is left.
fn send(world: &mut World, association: AssocId, left: &mut usize) -> Result<(), SendError> {
    while *left > 0 {
        let message = Message::new(Payload::Bytes(vec![0x5a; MESSAGE].into()));
        match world.endpoints[0].send(world.now, association, message) {
            Ok(_) => *left -= MESSAGE,
            Err(SendError::WouldBlock) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let endpoints = [endpoint(0, Config::recommended())?, endpoint(1, Config::recommended())?];
    // Packets in the network 10.1 take 5 ms, and packets in the network 10.2 take 20 ms.
    let mut world = World::new(endpoints, |_, to| {
        let first = (0..2).any(|side| to == addresses(side)[0]);
        Some(Span::from_millis(if first { 5 } else { 20 }))
    });
    world.endpoints[1].listen(true);
    let association = world.endpoints[0].connect(world.now, 5002, &addresses(1))?;

    let (mut left, mut received, mut connected) = (TOTAL, 0, false);
    while received < TOTAL && world.step() {
        while let Some((_, event)) = world.endpoints[0].poll_event() {
            connected |= matches!(event, Event::Connected { .. });
        }
        while world.endpoints[1].poll_event().is_some() {}
        if connected {
            send(&mut world, association, &mut left)?;
        }
        let theirs = world.endpoints[1].associations().next();
        while let Some(message) = theirs.and_then(|id| world.endpoints[1].receive(id, usize::MAX)) {
            received += message.payload.len();
        }
    }

    println!(
        "{received} bytes in {:.3} s of simulated time, {} packets",
        world.now.as_secs_f64(),
        world.packets
    );
    let paths = world.endpoints[0].paths(association).ok_or("the association ended")?;
    for path in paths {
        println!("to {}: {} user bytes, RTT {:?}", path.remote, path.stats.user_bytes.get(), path.srtt);
        assert!(path.stats.data_packets > 0, "both paths carry data");
    }
    assert_eq!(received, TOTAL);
    Ok(())
}

#[test]
fn everything_arrives_and_both_paths_carry_data() {
    main().expect("the example runs");
}
