//! UDP (RFC 768): datagrams of zeros between two addresses and ports, in wire format.

use super::endpoint::{
    ConnId, Counted, Ending, Event, PathCounts, PathView, Piece, Protocolled, Service, Transport,
};
use net::Protocol;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use transport::{
    Checksum, Datagram, Limit, LimitTimes, Octets, PacketBuf, Stopwatch, Transmit, internet_checksum,
};
use units::{ByteCount, Instant};

/// Length of the header in bytes: both ports, the length and the checksum.
pub(crate) const HEADER: usize = 8;

/// Length in bytes of the time that a probe begins with.
const TIME: usize = 8;

/// A UDP port of a host. It sends each datagram at once.
#[derive(Debug)]
pub(crate) struct Endpoint {
    port: u16,
    addresses: Vec<IpAddr>,
    checksum: Checksum,
    peers: Vec<Peer>,
    by_address: BTreeMap<(IpAddr, u16), u32>,
    /// Datagrams to send: the peer, the length of the payload, and the time that the payload begins with.
    outbox: VecDeque<(ConnId, u32, Option<Instant>)>,
    events: VecDeque<(ConnId, Event)>,
}

/// The contents of the datagrams to and from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    /// Zeros.
    Zeros,
    /// The time at which the datagram was sent, then zeros. The peer returns each datagram.
    Probes,
    /// Each datagram that arrives is sent back.
    Echoes,
}

/// A peer of the socket.
#[derive(Debug)]
struct Peer {
    contents: Contents,
    local: IpAddr,
    remote: IpAddr,
    port: u16,
    open: bool,
    /// Payload lengths of the datagrams that have arrived and are not read.
    inbox: VecDeque<u32>,
    received: u64,
    sent: u64,
    sent_bytes: u64,
}

impl Endpoint {
    /// An endpoint without peers. `checksum`: whether the endpoint computes and verifies checksums.
    pub(crate) fn new(port: u16, addresses: Vec<IpAddr>, checksum: Checksum) -> Self {
        Endpoint {
            port,
            addresses,
            checksum,
            peers: Vec::new(),
            by_address: BTreeMap::new(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Opens an exchange of datagrams between `local` and a peer. There is no handshake, so the connection is
    /// established at once.
    pub(crate) fn open(&mut self, local: IpAddr, remote: IpAddr, port: u16) -> ConnId {
        let id = ConnId(self.peers.len() as u32);
        self.peers.push(Peer {
            contents: Contents::Zeros,
            local,
            remote,
            port,
            open: true,
            inbox: VecDeque::new(),
            received: 0,
            sent: 0,
            sent_bytes: 0,
        });
        self.by_address.insert((remote, port), id.0);
        self.events.push_back((id, Event::Connected));
        id
    }

    /// Lets datagrams to a peer begin with their time of sending, so that echoes have a round-trip time.
    pub(crate) fn stamp(&mut self, id: ConnId) {
        self.set_contents(id, Contents::Probes);
    }

    /// Returns each datagram of a peer.
    pub(crate) fn echo(&mut self, id: ConnId) {
        self.set_contents(id, Contents::Echoes);
    }

    fn set_contents(&mut self, id: ConnId, contents: Contents) {
        if let Some(peer) = self.peers.get_mut(id.0 as usize) {
            peer.contents = contents;
        }
    }

    fn peer(&self, id: ConnId) -> Option<&Peer> {
        self.peers.get(id.0 as usize)
    }

    /// The peer that sent a datagram and the length of its payload; `None` if the datagram is corrupted or
    /// has another destination.
    fn parse(&self, datagram: &Datagram<'_>) -> Option<(u32, u32)> {
        let &[s0, s1, d0, d1, l0, l1, c0, c1] = datagram.bytes.head.first_chunk::<HEADER>()?;
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        let unchecked = self.checksum == Checksum::Offloaded || [c0, c1] == [0, 0];
        let sound = unchecked
            || internet_checksum(Protocol::Udp as u8, datagram.src, datagram.dst, datagram.bytes) == 0;
        if length != datagram.bytes.len() || u16::from_be_bytes([d0, d1]) != self.port || !sound {
            return None;
        }
        let peer = *self.by_address.get(&(datagram.src, u16::from_be_bytes([s0, s1])))?;
        Some((peer, (length - HEADER) as u32))
    }
}

impl Transport for Endpoint {
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    fn is_stream(&self) -> bool {
        false
    }

    /// Does nothing: the laboratory adds peers itself, in place of NetPerfMeter's control connection.
    fn listen(&mut self) {}

    fn connect(&mut self, _: Instant, port: u16, remotes: &[IpAddr]) -> Option<ConnId> {
        let pair = |&remote: &IpAddr| Some((transport::nearest(&self.addresses, remote)?, remote));
        let (local, remote) = remotes.iter().find_map(pair)?;
        Some(self.open(local, remote, port))
    }

    fn peer(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        self.peer(id).map(|peer| (peer.remote, peer.port))
    }

    fn send(&mut self, now: Instant, id: ConnId, length: u32, _: Service) -> u32 {
        match self.peers.get_mut(id.0 as usize) {
            Some(peer) if peer.open => {
                peer.sent += 1;
                peer.sent_bytes += u64::from(length);
                self.outbox.push_back((id, length, (peer.contents == Contents::Probes).then_some(now)));
                length
            }
            _ => 0,
        }
    }

    fn receive(&mut self, _: Instant, id: ConnId) -> Option<Piece> {
        let length = self.peers.get_mut(id.0 as usize)?.inbox.pop_front()?;
        Some(Piece { bytes: length.into(), end_of_record: true, unordered: true })
    }

    fn shutdown(&mut self, _: Instant, id: ConnId) {
        if let Some(peer) = self.peers.get_mut(id.0 as usize)
            && std::mem::take(&mut peer.open)
        {
            self.events.push_back((id, Event::Closed(Ending::Graceful)));
        }
    }

    fn counted(&self, id: ConnId) -> Counted {
        let Some(peer) = self.peer(id) else { return Counted::default() };
        let path = PathCounts {
            local: peer.local,
            remote: peer.remote,
            data_packets: peer.sent,
            user_bytes: ByteCount::new(peer.sent_bytes),
            packet_bytes: ByteCount::new(peer.sent_bytes + peer.sent * HEADER as u64),
            ack_bytes: None,
            needless_retransmissions: 0,
            undone_recoveries: 0,
            fast_retransmissions: 0,
            timer_retransmissions: 0,
            fast_recoveries: 0,
            timeouts: 0,
            srtt: None,
            limits: LimitTimes::default(),
            blocks: Stopwatch::default(),
        };
        Counted { data_packets: peer.received, paths: vec![path], ..Counted::default() }
    }

    /// Returns `None`: UDP has no flow control.
    fn peer_window(&self, _: ConnId) -> Option<ByteCount> {
        None
    }

    /// Returns `None`: UDP sends at once.
    fn limit(&self, _: ConnId) -> Option<Limit> {
        None
    }

    /// No paths: UDP keeps no state for a path.
    fn paths(&self, _: ConnId, _: &mut dyn FnMut(PathView)) {}
}

impl transport::Endpoint for Endpoint {
    type Id = ConnId;
    type Event = Event;

    fn handle(&mut self, _: Instant, datagram: Datagram<'_>) {
        let Some((id, length)) = self.parse(&datagram) else { return };
        let peer = &mut self.peers[id as usize];
        let time = datagram.bytes.head.get(HEADER..).and_then(|head| head.first_chunk());
        let time = time.map(|&bytes| Instant::from_nanos(u64::from_be_bytes(bytes)));
        match (peer.contents, time) {
            (Contents::Probes, Some(sent)) => {
                return self.events.push_back((ConnId(id), Event::Echoed(sent)));
            }
            (Contents::Echoes, time) => self.outbox.push_back((ConnId(id), length, time)),
            _ => {}
        }
        peer.received += 1;
        peer.inbox.push_back(length);
        self.events.push_back((ConnId(id), Event::Readable));
    }

    fn poll_transmit(&mut self, _: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        let (id, payload, time) = self.outbox.pop_front()?;
        let peer = &self.peers[id.0 as usize];
        let length = HEADER as u16 + payload as u16;
        buf.clear();
        for field in [self.port, peer.port, length, 0] {
            buf.head.extend(field.to_be_bytes());
        }
        buf.zeros = payload as usize;
        if let Some(time) = time {
            buf.head.extend(time.as_nanos().to_be_bytes());
            buf.zeros = buf.zeros.saturating_sub(TIME);
        }
        if self.checksum == Checksum::Computed {
            fill_in_checksum(peer.local, peer.remote, &mut buf.head, buf.zeros);
        }
        Some(Transmit::new(peer.local, peer.remote))
    }

    fn poll_event(&mut self) -> Option<(ConnId, Event)> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _: Instant) {}
}

impl Protocolled for Endpoint {
    #[inline]
    fn shared(id: ConnId, event: Event) -> (ConnId, Event) {
        (id, event)
    }
}

/// Writes the checksum of a datagram of `head` and `zeros` zero bytes. A sum of zero is written as 0xffff,
/// because zero means no checksum (`rfc768`).
pub(crate) fn fill_in_checksum(src: IpAddr, dst: IpAddr, head: &mut [u8], zeros: usize) {
    let Some(field) = head.get_mut(6..HEADER) else { return };
    field.fill(0);
    let sum = match internet_checksum(Protocol::Udp as u8, src, dst, Octets::new(head, zeros)) {
        0 => 0xffff,
        sum => sum,
    };
    head[6..HEADER].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::Endpoint as _;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn pair(checksum: Checksum) -> (Endpoint, Endpoint) {
        let mut client = Endpoint::new(9001, vec![CLIENT], checksum);
        let mut server = Endpoint::new(9000, vec![SERVER], checksum);
        assert_eq!(client.connect(Instant::ZERO, 9000, &[SERVER]), Some(ConnId(0)));
        server.open(SERVER, CLIENT, 9001);
        (client, server)
    }

    fn sent(client: &mut Endpoint, length: u32) -> PacketBuf {
        assert_eq!(client.send(Instant::ZERO, ConnId(0), length, Service::PLAIN), length);
        let mut buf = PacketBuf::default();
        let transmit = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
        assert_eq!((transmit.src, transmit.dst), (CLIENT, SERVER));
        buf
    }

    fn arrive(server: &mut Endpoint, buf: &PacketBuf) -> Option<u64> {
        server.handle(Instant::ZERO, Datagram::new(CLIENT, SERVER, buf.as_octets()));
        server.receive(Instant::ZERO, ConnId(0)).map(|piece| piece.bytes)
    }

    #[test]
    fn a_datagram_has_a_header_of_eight_bytes_and_arrives() {
        let (mut client, mut server) = pair(Checksum::Computed);
        let buf = sent(&mut client, 100);
        // The sum by hand: 0a00+0001+0a00+0002+0011+006c (pseudo header)
        // + 2329+2328+006c = 5b3d. The checksum is its complement.
        assert_eq!(buf.head, [0x23, 0x29, 0x23, 0x28, 0, 108, 0xa4, 0xc2]);
        assert_eq!(buf.zeros, 100);
        assert_eq!(arrive(&mut server, &buf), Some(100));
    }

    #[test]
    fn a_wrong_datagram_is_lost() {
        let (mut client, mut server) = pair(Checksum::Computed);
        for byte in 0..HEADER {
            let mut buf = sent(&mut client, 100);
            buf.head[byte] ^= 4;
            assert_eq!(arrive(&mut server, &buf), None, "byte {byte}");
        }
    }

    #[test]
    fn a_probe_is_returned_with_the_time_at_which_it_was_sent() {
        let (mut client, mut server) = pair(Checksum::Computed);
        client.stamp(ConnId(0));
        server.echo(ConnId(0));
        let at = |ms| Instant::ZERO + units::Span::from_millis(ms);
        assert_eq!(client.send(at(5), ConnId(0), 64, Service::PLAIN), 64);
        let mut buf = PacketBuf::default();
        client.poll_transmit(at(5), &mut buf).unwrap();
        assert_eq!(buf.as_octets().len(), HEADER + 64);
        server.handle(at(9), Datagram::new(CLIENT, SERVER, buf.as_octets()));
        assert_eq!(server.receive(at(9), ConnId(0)).map(|piece| piece.bytes), Some(64));
        let mut back = PacketBuf::default();
        server.poll_transmit(at(9), &mut back).unwrap();
        while client.poll_event().is_some() {}
        client.handle(at(20), Datagram::new(SERVER, CLIENT, back.as_octets()));
        assert_eq!(client.poll_event(), Some((ConnId(0), Event::Echoed(at(5)))));
        assert_eq!(client.poll_transmit(at(20), &mut buf), None, "the echo is not returned");
    }

    #[test]
    fn after_shutdown_nothing_is_sent_and_arriving_datagrams_are_read() {
        let (mut client, mut server) = pair(Checksum::Offloaded);
        let buf = sent(&mut client, 7);
        for socket in [&mut client, &mut server] {
            socket.shutdown(Instant::ZERO, ConnId(0));
            assert_eq!(socket.send(Instant::ZERO, ConnId(0), 1, Service::PLAIN), 0);
        }
        assert_eq!(arrive(&mut server, &buf), Some(7));
    }
}
