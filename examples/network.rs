//! Two endpoints in memory, the packets between them, and a virtual clock.

use anabranch::{
    Config, Datagram, Endpoint, EndpointConfig, Instant, Octets, PacketBuf, Seed, Span, Transmit,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::net::IpAddr;

/// A packet in flight: arrival time, number, index of the destination endpoint, source, destination, bytes.
type InFlight = (Instant, u64, usize, IpAddr, IpAddr, Vec<u8>);

/// Two endpoints, the packets between them, and the virtual time.
pub struct World {
    pub now: Instant,
    pub endpoints: [Endpoint; 2],
    /// Number of packets sent.
    pub packets: u64,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    delay: fn(u64, IpAddr) -> Option<Span>,
}

impl World {
    /// `delay` returns the delay of a packet by its number and destination; `None`: the packet is lost.
    pub fn new(endpoints: [Endpoint; 2], delay: fn(u64, IpAddr) -> Option<Span>) -> World {
        World { now: Instant::ZERO, endpoints, packets: 0, in_flight: BinaryHeap::new(), delay }
    }

    /// Takes all packets that the endpoints have ready, and puts them into the network.
    fn transmit(&mut self) {
        let mut buf = PacketBuf::default();
        for side in 0..2 {
            while let Some(Transmit { src, dst, .. }) = self.endpoints[side].poll_transmit(self.now, &mut buf)
            {
                self.packets += 1;
                if let Some(delay) = (self.delay)(self.packets, dst) {
                    let bytes = buf.as_octets().to_vec();
                    let packet = (self.now + delay, self.packets, 1 - side, src, dst, bytes);
                    self.in_flight.push(Reverse(packet));
                }
            }
        }
    }

    /// Moves to the next arrival or timeout, and handles it. Returns false if there is neither.
    pub fn step(&mut self) -> bool {
        self.transmit();
        let arrival = self.in_flight.peek().map(|Reverse(packet)| packet.0);
        let timeouts = self.endpoints.iter().filter_map(Endpoint::poll_timeout);
        let Some(next) = timeouts.chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        while self.in_flight.peek().is_some_and(|Reverse(packet)| packet.0 <= self.now) {
            let Some(Reverse((_, _, side, src, dst, bytes))) = self.in_flight.pop() else { break };
            self.endpoints[side].handle(self.now, Datagram::new(src, dst, Octets::new(&bytes, 0)));
            self.transmit();
        }
        for endpoint in &mut self.endpoints {
            if endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                endpoint.handle_timeout(self.now);
            }
        }
        true
    }
}

/// The addresses of an endpoint, in the networks 10.1 and 10.2.
pub fn addresses(side: usize) -> [IpAddr; 2] {
    [1, 2].map(|network| [10, network, 0, 1 + side as u8].into())
}

/// An endpoint at port 5001 or 5002.
pub fn endpoint(side: usize, config: Config) -> Result<Endpoint, Box<dyn Error>> {
    // The seed makes each run the same. On a real network use `Seed::from_system`.
    let seed = Seed::for_simulation(side as u64);
    Ok(Endpoint::new(EndpointConfig {
        config: config.into(),
        ..EndpointConfig::new(5001 + side as u16, addresses(side).to_vec(), seed)
    })?)
}
