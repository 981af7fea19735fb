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

/// Packets by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// All that were sent.
    pub sent: u64,
    /// Those that did not arrive.
    pub lost: u64,
    /// Those that arrived twice.
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
    /// A world with a path for each of `channels`, the same both ways.
    ///
    /// # Panics
    /// If the channels make no network.
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

    /// The time.
    pub fn now(&self) -> Instant {
        self.kernel.now()
    }

    /// A path fails from `from` until `until`.
    pub fn cut(&mut self, path: usize, from: Instant, until: Instant) {
        self.kernel.schedule(from, NetEvent::fail(self.links[path]).into());
        self.kernel.schedule(until, NetEvent::repair(self.links[path]).into());
    }

    /// The fingerprint of all packets that arrived and when.
    pub fn digest(&self) -> u64 {
        self.network.digest()
    }

    /// What became of all packets so far.
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

    /// Sends what a station has to send, and sets its alarm. To be called after every call of the station from
    /// outside.
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

    /// Does the next thing that happens, if that is not after `until`: answers the host it happened to, or none if
    /// nothing is left to happen.
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
