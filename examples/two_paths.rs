//! Two endpoints in memory transfer 2 MB over two paths of different delay.
//!
//! `cargo run -p anabranch --example two_paths`

use anabranch::{
    AssocId, Config, Datagram, Endpoint, EndpointConfig, Event, Instant, Message, PacketBuf, Payload, Seed,
    SendError, Span, Transmit,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::net::IpAddr;

const TOTAL: usize = 2_000_000;
const MESSAGE: usize = 1000;

/// A packet on its way: when it arrives, its number, to which endpoint, between which addresses, and its bytes.
type InFlight = (Instant, u64, usize, IpAddr, IpAddr, Vec<u8>);

/// Two endpoints, the packets between them, and the time.
struct World {
    now: Instant,
    endpoints: [Endpoint; 2],
    in_flight: BinaryHeap<Reverse<InFlight>>,
    packets: u64,
}

impl World {
    /// Sends what the endpoints have to send. Packets in the network 10.1 take 5 ms, those in 10.2 take 20 ms.
    fn transmit(&mut self) {
        let mut buf = PacketBuf::default();
        for side in 0..2 {
            while let Some(Transmit { src, dst, .. }) = self.endpoints[side].poll_transmit(self.now, &mut buf)
            {
                let delay = if dst == address(1, 1 - side) { 5 } else { 20 };
                let arrival = self.now + Span::from_millis(delay);
                let bytes = buf.as_octets().to_vec();
                self.in_flight.push(Reverse((arrival, self.packets, 1 - side, src, dst, bytes)));
                self.packets += 1;
            }
        }
    }

    /// Moves on to the next arrival or timeout, and handles it. False if there is neither.
    fn step(&mut self) -> bool {
        self.transmit();
        let arrival = self.in_flight.peek().map(|Reverse(packet)| packet.0);
        let timeouts = self.endpoints.iter().filter_map(Endpoint::poll_timeout);
        let Some(next) = timeouts.chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        while self.in_flight.peek().is_some_and(|Reverse(packet)| packet.0 <= self.now) {
            let Some(Reverse((_, _, side, src, dst, bytes))) = self.in_flight.pop() else { break };
            let bytes = anabranch::Octets::new(&bytes, 0);
            self.endpoints[side].handle(self.now, Datagram::new(src, dst, bytes));
        }
        for endpoint in &mut self.endpoints {
            if endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                endpoint.handle_timeout(self.now);
            }
        }
        true
    }
}

/// The address of an endpoint in network 10.1 or 10.2.
fn address(network: u8, side: usize) -> IpAddr {
    [10, network, 0, 1 + side as u8].into()
}

fn endpoint(side: usize) -> Result<Endpoint, Box<dyn Error>> {
    // The same run each time. On a network use `Seed::from_system`.
    let seed = Seed::for_simulation(side as u64);
    let addresses = vec![address(1, side), address(2, side)];
    Ok(Endpoint::new(EndpointConfig {
        config: Config::recommended().into(),
        ..EndpointConfig::new(5001 + side as u16, addresses, seed)
    })?)
}

/// Sends messages until the send buffer is full or nothing is left.
fn send(world: &mut World, association: AssocId, left: &mut usize) -> Result<(), SendError> {
    while *left > 0 {
        let message = Message::new(Payload::Bytes(vec![0x5a; MESSAGE].into()));
        match world.endpoints[0].send(world.now, association, message) {
            Ok(()) => *left -= MESSAGE,
            Err(SendError::WouldBlock) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World {
        now: Instant::ZERO,
        endpoints: [endpoint(0)?, endpoint(1)?],
        in_flight: BinaryHeap::new(),
        packets: 0,
    };
    world.endpoints[1].listen(true);
    let association = world.endpoints[0].connect(world.now, 5002, &[address(1, 1), address(2, 1)])?;

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
        while let Some(message) = theirs.and_then(|id| world.endpoints[1].receive(world.now, id, usize::MAX))
        {
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
