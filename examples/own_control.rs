//! A congestion control of your own with two formulas. With it, an endpoint transfers 4 MB over two paths,
//! one of which loses packets.
//!
//! `cargo run -p anabranch --example own_control`
//!
//! The documentation of the crate `anabranch-cc` shows how to give the control a name in scenarios.

mod network;

use anabranch::cc::{ControlFactory, Growth, LossBased, LossKind, Snapshot, WindowPolicy};
use anabranch::{BufferSize, ByteCount, Config, Message, Payload, Span};
use network::{World, addresses, endpoint};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const TOTAL: usize = 4_000_000;
const MESSAGE: usize = 1000;

/// All paths together grow as fast as one flow. A loss reduces the cwnd of its path by a third.
#[derive(Debug)]
struct Thirds {
    losses: Arc<AtomicU64>,
}

impl WindowPolicy for Thirds {
    fn name(&self) -> &'static str {
        "thirds"
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        growth.standard / at.coupled().count() as f64
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        self.losses.fetch_add(1, Ordering::Relaxed);
        at.reduced_by(1.0 / 3.0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let losses = Arc::<AtomicU64>::default();
    let counter = losses.clone();
    let thirds = ControlFactory::new("thirds", move |setup| {
        Box::new(LossBased::new(Thirds { losses: counter.clone() }, setup))
    });
    // The program gives all messages to the endpoint at once.
    let send_buffer = BufferSize::fixed(TOTAL as u64);
    let config = Config { congestion_control: thirds.into(), send_buffer, ..Config::recommended() };
    // Every 40th packet is lost if it is sent to the server's address in the network 10.1.
    let mut world = World::new([endpoint(0, config)?, endpoint(1, Config::recommended())?], |number, to| {
        let lost = number.is_multiple_of(40) && to == addresses(1)[0];
        (!lost).then_some(Span::from_millis(5))
    });

    world.endpoints[1].listen(true);
    let association = world.endpoints[0].connect(world.now, 5002, &addresses(1))?;
    for _ in 0..TOTAL / MESSAGE {
        let message = Message::new(Payload::Bytes(vec![0x5a; MESSAGE].into()));
        world.endpoints[0].send(world.now, association, message)?;
    }

    let mut received = 0;
    while received < TOTAL && world.step() {
        for endpoint in &mut world.endpoints {
            while endpoint.poll_event().is_some() {}
        }
        let theirs = world.endpoints[1].associations().next();
        while let Some(message) = theirs.and_then(|id| world.endpoints[1].receive(id, usize::MAX)) {
            received += message.payload.len();
        }
    }

    let losses = losses.load(Ordering::Relaxed);
    println!("{received} bytes in {:.2} s, {losses} reductions of a window", world.now.as_secs_f64());
    let paths: Vec<_> = world.endpoints[0].paths(association).ok_or("the association ended")?.collect();
    for path in &paths {
        println!("to {}: {} sent, cwnd {}", path.remote, path.stats.user_bytes, path.cwnd);
    }
    assert_eq!(received, TOTAL);
    assert!(losses > 0, "the endpoint asks the control of this program");
    assert!(paths[0].cwnd < paths[1].cwnd, "the path with losses has the smaller window");
    Ok(())
}

#[test]
fn an_endpoint_transfers_under_a_control_of_this_program() {
    main().expect("the example runs");
}
