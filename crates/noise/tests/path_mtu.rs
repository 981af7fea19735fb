//! Path MTU discovery of an encrypted association on a link whose MTU becomes smaller, in virtual time.

use anabranch_noise::{Noise, Peers, PrivateKey};
use io::Guard;
use io::sctp::{AssocId, Config, Encapsulation, EndpointConfig, Icmp, IcmpNews, Message, Payload, State};
use std::cell::RefCell;
use std::rc::Rc;
use testkit::{Fate, Pair, Sent, Side, endpoint_config, ms};
use transport::{Channel, Datagram, Octets, Transmit};
use units::{ByteCount, Instant, Span};

/// The number of the only peer.
const PEER: Channel = Channel(1);
const UDP_PORT: u16 = 9899;
/// Bytes of an IPv4 header and a UDP header.
const HEADERS: usize = 28;
const ETHERNET: usize = 1500;

/// A link that seals each packet, drops it silently if it is too long, and opens it at the other end.
struct Link {
    client: Noise,
    server: Noise,
    mtu: usize,
    /// Length of the longest IP packet that passed.
    longest: usize,
    /// The last datagram that was too long.
    too_long: Vec<u8>,
}

impl Link {
    /// A link between two ends that have a session.
    fn new(now: Instant) -> Link {
        let [one, two] = [(); 2].map(|()| PrivateKey::generate().expect("randomness"));
        let guard = |own: &PrivateKey, peer: &PrivateKey| {
            Noise::new(own.clone(), Peers::known([peer.public()])).expect("good keys")
        };
        let (client, server) = (guard(&one, &two), guard(&two, &one));
        let mut link = Link { client, server, mtu: ETHERNET, longest: 0, too_long: Vec::new() };
        let route = Transmit {
            channel: PEER,
            udp_port: UDP_PORT,
            ..Transmit::new(Side::Client.address(1), Side::Server.address(1))
        };
        let first = Octets::from(&b"the guard keeps this packet until there is a session"[..]);
        assert!(!link.client.seal(now, &route, first, &mut Vec::new()));
        for side in [Side::Client, Side::Server, Side::Client, Side::Server] {
            let mut datagram = Vec::new();
            while let Some(route) = link.guard(side).poll_transmit(now, &mut datagram) {
                link.open(side.other(), now, &route, &datagram);
                datagram.clear();
            }
        }
        link
    }

    fn guard(&mut self, side: Side) -> &mut Noise {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn open(&mut self, to: Side, now: Instant, route: &Transmit, datagram: &[u8]) -> Option<Vec<u8>> {
        let arrived = Datagram::new(route.src, route.dst, Octets::from(datagram));
        let mut packet = Vec::new();
        let channel = self.guard(to).open(now, &Datagram { udp_port: UDP_PORT, ..arrived }, &mut packet)?;
        (channel == PEER).then_some(packet)
    }

    fn carry(&mut self, sent: &Sent) -> Fate {
        let route =
            Transmit { channel: sent.channel, udp_port: sent.udp_port, ..Transmit::new(sent.src, sent.dst) };
        let mut datagram = Vec::new();
        let packet = sent.bytes.as_octets();
        assert!(self.guard(sent.from).seal(sent.at, &route, packet, &mut datagram), "there is a session");
        let length = datagram.len() + HEADERS;
        if length > self.mtu && !sent.may_fragment {
            self.too_long = datagram;
            return Fate::Lost;
        }
        if !sent.may_fragment {
            self.longest = self.longest.max(length);
        }
        let opened = self.open(sent.from.other(), sent.at, &route, &datagram);
        assert_eq!(opened, Some(sent.bytes.as_octets().to_vec()));
        Fate::Arrives
    }
}

/// An established association whose packets cross the link.
fn encrypted() -> (Pair, AssocId, Rc<RefCell<Link>>) {
    let overhead = {
        let key = PrivateKey::generate().expect("randomness");
        Noise::new(key, Peers::any()).expect("a good key").overhead()
    };
    let config = Config {
        pmtud: true,
        // The MTU without the bytes of the encryption, as `Builder::bind` sets it.
        mtu: ByteCount::from(ETHERNET - overhead),
        rto_min: ms(300),
        send_buffer: ByteCount::new(120_000).into(),
        ..Config::recommended()
    };
    let side = |side| EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        ..endpoint_config(side, 1, &config)
    };
    let mut pair = Pair::of(side(Side::Client), side(Side::Server));
    let link = Rc::new(RefCell::new(Link::new(pair.now)));
    let carrier = link.clone();
    pair.on_wire(move |sent| carrier.borrow_mut().carry(sent));
    pair.set_channel(Side::Client, PEER);
    pair.set_channel(Side::Server, PEER);
    let (now, remotes) = (pair.now, [Side::Server.address(1)]);
    let client = pair.endpoint(Side::Client);
    let id = client.connect_with(now, Side::Server.port(), &remotes, config.clone().into(), PEER);
    let id = id.expect("a new association");
    pair.drain();
    pair.run_for(ms(100));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    (pair, id, link)
}

/// Keeps the send buffer of the client full for `span`; returns the number of bytes that the server reads.
fn keep_busy(pair: &mut Pair, client: AssocId, span: Span) -> usize {
    let (end, mut read) = (pair.now + span, 0);
    while pair.now < end {
        let now = pair.now;
        let message = || Message::new(Payload::Filler(60_000));
        while pair.endpoint(Side::Client).send(now, client, message()).is_ok() {}
        pair.drain();
        pair.run_for(ms(20));
        read += pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum::<usize>();
    }
    read
}

/// The path MTU plus the bytes that the encryption adds.
fn whole_mtu(pair: &mut Pair, client: AssocId, link: &RefCell<Link>) -> usize {
    let path = pair.endpoint(Side::Client).paths(client).expect("is open").next().expect("a path");
    path.mtu.get() as usize + link.borrow().client.overhead()
}

// rfc8899#section-4.3, with 576 bytes, which every IPv4 host accepts (rfc791), in place of BASE_PLPMTU
#[test]
fn a_sealed_association_goes_on_behind_a_black_hole_of_any_mtu() {
    for mtu in [1300, 576] {
        let (mut pair, client, link) = encrypted();
        keep_busy(&mut pair, client, Span::from_secs(5));
        assert_eq!((link.borrow().longest, whole_mtu(&mut pair, client, &link)), (ETHERNET, ETHERNET));
        (link.borrow_mut().mtu, link.borrow_mut().longest) = (mtu, 0);
        keep_busy(&mut pair, client, Span::from_secs(30));
        let read = keep_busy(&mut pair, client, Span::from_secs(5));
        assert!(read > 1_000_000, "{read} bytes in 5 s with an MTU of {mtu}");
        let found = whole_mtu(&mut pair, client, &link);
        assert_eq!(link.borrow().longest, found);
        // The search ends when the largest size that passes and the least one that fails are 8 bytes apart.
        assert!((mtu - 8..=mtu).contains(&found), "{found} of {mtu}");
    }
}

// rfc8899#section-4.6.2
#[test]
fn packet_too_big_lowers_the_mtu_of_a_sealed_association_at_once() {
    let (mut pair, client, link) = encrypted();
    keep_busy(&mut pair, client, Span::from_secs(5));
    link.borrow_mut().mtu = 1300;
    keep_busy(&mut pair, client, ms(40));
    let quote = link.borrow().too_long.clone();
    let now = pair.now;
    let mut tell = |quoted: &[u8]| {
        let channel = link.borrow().client.quoted(quoted);
        // Subtracts the bytes that the encryption adds from the MTU that the router reports, as the driver of
        // crate `io` does.
        let mtu = ByteCount::from(1300 - link.borrow().client.overhead());
        let news = IcmpNews {
            src: Some(Side::Client.address(1)),
            dst: Side::Server.address(1),
            udp_port: UDP_PORT,
            quoted: &[],
            what: Icmp::PacketTooBig { mtu },
        };
        channel.is_some_and(|channel| pair.endpoint(Side::Client).on_guarded_icmp(now, channel, news))
    };
    let mut forged = quote.clone();
    // Changes the highest byte of the counter, so that the counter is one that no packet had.
    forged[15] ^= 0x80;
    assert!(!tell(&forged[..32]), "a quote that was never sent");
    assert!(tell(&quote[..32]));
    pair.drain();
    assert_eq!(whole_mtu(&mut pair, client, &link), 1300);
    link.borrow_mut().longest = 0;
    let read = keep_busy(&mut pair, client, Span::from_secs(5));
    assert!(read > 1_000_000, "{read} bytes in 5 s");
    assert_eq!((link.borrow().longest, whole_mtu(&mut pair, client, &link)), (1300, 1300));
}
