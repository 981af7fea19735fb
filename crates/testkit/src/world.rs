use crate::Station;
use des::{Alarm, Kernel, Streams, Wake};
use net::{
    ChannelSpec, Ecn, LinkId, LinkSpec, NetEvent, Network, NetworkBuilder, NodeId, NodeKind, Outgoing,
    Protocol,
};
use std::net::IpAddr;
use transport::{Octets, PacketBuf};
use units::Instant;

/// Two hosts and one link for each path between them.
#[derive(Debug)]
pub struct World {
    kernel: Kernel<Occurrence>,
    network: Network,
    hosts: [NodeId; 2],
    links: Vec<LinkId>,
    alarms: [Alarm; 2],
    packet: PacketBuf,
}

/// Counters of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets sent.
    pub sent: u64,
    /// Packets that did not arrive.
    pub lost: u64,
    /// Packets that arrived twice.
    pub doubled: u64,
}

#[derive(Clone, Copy, Debug)]
enum Occurrence {
    Net(NetEvent),
    Wake(usize),
}

impl From<NetEvent> for Occurrence {
    fn from(event: NetEvent) -> Self {
        Occurrence::Net(event)
    }
}

impl World {
    /// Two hosts with one path for each of `channels`, equal in both directions.
    ///
    /// # Panics
    /// If a channel is invalid.
    pub fn new(seed: u64, channels: &[ChannelSpec]) -> Self {
        let mut builder = NetworkBuilder::new();
        let hosts =
            ["a", "b"].map(|name| builder.add_node(name, NodeKind::Host { jitter: units::Span::ZERO }));
        let links = (1..)
            .zip(channels)
            .map(|(net_id, channel)| {
                builder.add_link(LinkSpec::symmetric(hosts[0], hosts[1], net_id, channel.clone()))
            })
            .collect();
        let network = builder.configure(&Streams::new(seed, 0)).expect("a network");
        World {
            kernel: Kernel::new(),
            network,
            hosts,
            links,
            alarms: [Alarm::new(); 2],
            packet: PacketBuf::default(),
        }
    }

    /// The IPv4 addresses of host 0 or 1, one for each path.
    pub fn addresses(&self, host: usize) -> Vec<IpAddr> {
        self.network.addresses(self.hosts[host]).iter().map(|interface| interface.ipv4.into()).collect()
    }

    /// Current time.
    pub fn now(&self) -> Instant {
        self.kernel.now()
    }

    /// Schedules an outage of a path, from `from` until `until`.
    pub fn cut(&mut self, path: usize, from: Instant, until: Instant) {
        self.kernel.schedule(from, NetEvent::fail(self.links[path]).into());
        self.kernel.schedule(until, NetEvent::repair(self.links[path]).into());
    }

    /// Digest of all packets that arrived and of their arrival times.
    pub fn digest(&self) -> u64 {
        self.network.digest()
    }

    /// Counters of all packets so far.
    pub fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        for direction in self.links.iter().flat_map(|link| [link.forward(), link.backward()]) {
            let counters = self.network.counters(direction);
            all.sent += counters.offered;
            all.lost += counters.dropped_in_all();
            all.doubled += counters.duplicated;
        }
        all
    }

    /// Sends the packets of a station and schedules its next timeout. Call this after each call of the
    /// station that [`Self::step`] did not make.
    pub fn flush(&mut self, host: usize, station: &mut (impl Station + ?Sized)) {
        let now = self.kernel.now();
        while let Some((src, dst)) = station.poll_transmit(now, &mut self.packet) {
            let outgoing = Outgoing {
                src,
                dst,
                protocol: Protocol::Sctp,
                ecn: Ecn::NotCapable,
                zeros: self.packet.zeros,
            };
            self.network.send(&mut self.kernel, self.hosts[host], outgoing, &mut self.packet.head);
        }
        let due = station.poll_timeout().unwrap_or(Instant::FAR).max(now);
        if let Some(at) = self.alarms[host].set(due) {
            self.kernel.schedule(at, Occurrence::Wake(host));
        }
    }

    /// Processes the next event if it is not later than `until`. Returns the host of the event; `None` if
    /// there is no such event.
    pub fn step<S: Station + ?Sized>(&mut self, stations: &mut [&mut S; 2], until: Instant) -> Option<usize> {
        loop {
            let host = match self.kernel.pop(until)? {
                Occurrence::Net(event) => self.deliver(event, stations),
                Occurrence::Wake(host) => match self.alarms[host].fire(self.kernel.now()) {
                    Wake::Due => {
                        stations[host].handle_timeout(self.kernel.now());
                        Some(host)
                    }
                    Wake::Later(at) => {
                        self.kernel.schedule(at, Occurrence::Wake(host));
                        None
                    }
                    Wake::Stale => None,
                },
            };
            if let Some(host) = host {
                self.flush(host, stations[host]);
                return Some(host);
            }
        }
    }

    fn deliver<S: Station + ?Sized>(&mut self, event: NetEvent, stations: &mut [&mut S; 2]) -> Option<usize> {
        let delivered = self.network.handle(&mut self.kernel, event)?;
        let host = usize::from(delivered.node == self.hosts[1]);
        let packet = self.network.packet(delivered.packet);
        let octets = Octets { head: packet.head, zeros: packet.zeros };
        stations[host].handle(self.kernel.now(), packet.src, packet.dst, octets);
        self.network.release(delivered.packet);
        Some(host)
    }
}
