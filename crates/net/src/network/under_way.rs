//! The packets on a link at one moment, for programs that show a running network.

use super::Network;
use crate::ids::LinkDir;
use crate::packet::Packet;
use units::Instant;

/// A packet between the entrance of a link's queue and the far end of the link.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay<'a> {
    /// Start of the transmission; until then the packet waits in the queue.
    pub start: Instant,
    /// Time at which the packet reaches the far end.
    pub arrival: Instant,
    /// The packet.
    pub packet: Packet<'a>,
}

impl Network {
    /// The packets in one direction of a link, in the order in which they leave the link.
    ///
    /// Excluded are packets that wait in a [`Server`](crate::Server), and packets that may arrive out of
    /// order (jitter, reordering, duplicates).
    pub fn under_way(&self, direction: LinkDir) -> impl Iterator<Item = UnderWay<'_>> {
        self.channels[direction.index()].flights.iter().filter_map(|flight| {
            let packet = self.packet(flight.packet?);
            Some(UnderWay { start: flight.start, arrival: flight.arrival, packet })
        })
    }

    /// True unless the link has failed and is not repaired yet.
    pub fn is_up(&self, direction: LinkDir) -> bool {
        self.channels[direction.index()].up
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        ChannelSpec, Ecn, LinkSpec, NetEvent, NetworkBuilder, NodeKind, Outgoing, Protocol, TransmitterSpec,
    };
    use units::{BitRate, Instant, Span};

    #[test]
    fn packets_are_under_way_from_the_queue_until_they_arrive() {
        let mut builder = NetworkBuilder::new();
        let host = NodeKind::Host { jitter: Span::ZERO };
        let (a, b) = (builder.add_node("a", host), builder.add_node("b", host));
        let transmitter = TransmitterSpec::Rate(BitRate::from_mbps(8));
        let channel = ChannelSpec { transmitter, delay: Span::from_millis(5).into(), ..Default::default() };
        let link = builder.add_link(LinkSpec::symmetric(a, b, 1, channel));
        let mut network = builder.configure(&des::Streams::new(1, 0)).expect("two hosts and a link");
        let mut kernel = des::Kernel::<NetEvent>::new();
        let [src, dst] = [a, b].map(|node| network.addresses(node)[0].ipv4.into());
        let outgoing = Outgoing { src, dst, protocol: Protocol::Udp, ecn: Ecn::NotCapable, zeros: 977 };
        for _ in 0..2 {
            network.send(&mut kernel, a, outgoing, &mut vec![0; 3]);
        }
        let times = |network: &crate::Network| -> Vec<[u64; 2]> {
            let packets = network.under_way(link.forward());
            packets.map(|one| [one.start.as_nanos() / 1000, one.arrival.as_nanos() / 1000]).collect()
        };
        // 1000 bytes at 8 Mbit/s take 1 ms.
        assert_eq!(times(&network), [[0, 6000], [1000, 7000]]);
        assert_eq!(network.under_way(link.backward()).count(), 0);
        let event = kernel.pop(Instant::FAR).expect("an arrival");
        network.handle(&mut kernel, event);
        assert_eq!(times(&network), [[1000, 7000]]);
        assert!(network.is_up(link.forward()));
        network.handle(&mut kernel, NetEvent::fail(link));
        assert!(!network.is_up(link.forward()) && times(&network).is_empty());
    }
}
