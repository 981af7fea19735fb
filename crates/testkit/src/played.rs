use crate::{Fate, Pair, Sent, Side, parse};
use sctp::{AssocId, Config, Message, PathInfo, Payload};
use transport::{Checksum, PacketBuf};
use units::{Instant, Span};
use wire::*;

/// A client whose server is scripted by the test: the test reads the client's packets and injects the
/// server's.
pub struct Played {
    /// Both endpoints, and a wire that loses every packet after the handshake.
    pub pair: Pair,
    /// The client's association.
    pub id: AssocId,
    /// The client's verification tag.
    tag: u32,
    /// The client's first TSN.
    first: Tsn,
    /// Number of packets that the test has already processed.
    seen: usize,
}

/// A DATA chunk that the client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Time of transmission.
    pub at: Instant,
    /// The network through which the chunk was sent.
    pub net: u8,
    /// Number of the chunk: TSN - initial TSN + 1.
    pub n: u32,
    /// Stream of the chunk.
    pub stream: u16,
    /// Stream sequence number (SSN).
    pub ssn: u16,
    /// Length of the user data in bytes.
    pub len: usize,
    /// Flags of the chunk.
    pub flags: DataFlags,
}

impl Played {
    /// User bytes of a chunk that fills a packet of 1500 bytes.
    pub const FULL: u32 = 1452;

    /// An established association in one network. After the handshake the wire loses all packets; only
    /// packets that the test injects arrive.
    pub fn new(config: &Config) -> Played {
        Played::in_nets(1, config)
    }

    /// An established association in several networks, with all paths confirmed.
    pub fn in_nets(nets: u8, config: &Config) -> Played {
        let mut pair = Pair::new(nets, config);
        let (id, _) = pair.establish();
        pair.run_for(Span::from_secs(5));
        let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
        let (tag, first) = (init.initiate_tag, init.initial_tsn);
        pair.on_wire(|_| Fate::Lost);
        let seen = pair.sent.len();
        Played { pair, id, tag, first, seen }
    }

    /// Sends a message of zeros on stream 0.
    pub fn send(&mut self, len: u32) {
        self.say(Message::new(Payload::Filler(len)));
    }

    /// Sends a message.
    ///
    /// # Panics
    /// If the send buffer does not accept it.
    pub fn say(&mut self, message: Message) {
        let now = self.pair.now;
        self.pair.endpoint(Side::Client).send(now, self.id, message).expect("there is room");
        self.pair.drain();
    }

    /// Sends `count` messages that each fill a packet, at the current time.
    pub fn send_full(&mut self, count: usize) {
        for _ in 0..count {
            self.send(Self::FULL);
        }
    }

    /// Runs for `ms` milliseconds.
    pub fn pass(&mut self, ms: u64) {
        self.pair.run_for(Span::from_millis(ms));
    }

    /// The DATA chunks of each packet that the client has sent since the last call.
    pub fn packets(&mut self) -> Vec<Vec<Seen>> {
        let new = &self.pair.sent[self.seen..];
        let packets = new.iter().filter(|sent| sent.from == Side::Client).map(|sent| self.read(sent));
        let packets = packets.filter(|packet| !packet.is_empty()).collect();
        self.seen = self.pair.sent.len();
        packets
    }

    /// The numbers of the DATA chunks that the client has sent since the last call.
    pub fn numbers(&mut self) -> Vec<u32> {
        self.packets().iter().flatten().map(|seen| seen.n).collect()
    }

    fn read(&self, sent: &Sent) -> Vec<Seen> {
        assert!(sent.bytes.len() <= 1480, "a packet of {} bytes", sent.bytes.len());
        let chunks = parse(&sent.bytes).chunks().map(|chunk| chunk.expect("a chunk"));
        let data = chunks.filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(Seen {
                at: sent.at,
                net: sent.net(),
                n: data.tsn.distance_from(self.first) + 1,
                stream: data.stream.0,
                ssn: data.ssn.0,
                len: data.payload.len(),
                flags: data.flags,
            }),
            _ => None,
        });
        data.collect()
    }

    /// Injects a SACK for the chunks up to number `cum` and those in `gaps`, with a large a_rwnd.
    pub fn sack(&mut self, cum: u32, gaps: &[(u32, u32)]) {
        self.sack_with(cum, gaps, 1 << 20);
    }

    /// Injects a SACK for the chunks up to number `cum` and those in `gaps`, with this a_rwnd in bytes.
    pub fn sack_with(&mut self, cum: u32, gaps: &[(u32, u32)], a_rwnd: u32) {
        let blocks = gaps.iter().map(|&(a, b)| GapBlock { start: (a - cum) as u16, end: (b - cum) as u16 });
        let mut bytes = PacketBuf::default();
        let header = CommonHeader { source_port: 5002, destination_port: 5001, verification_tag: self.tag };
        let mut w = PacketWriter::new(&mut bytes, header, 1480);
        assert!(w.sack(self.first.add(cum).previous(), a_rwnd, 0, blocks, &[]));
        w.finish(Checksum::Computed);
        self.pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
    }

    /// A path of the client.
    ///
    /// # Panics
    /// If the path does not exist.
    pub fn path(&mut self, n: usize) -> PathInfo {
        self.pair.endpoint(Side::Client).paths(self.id).expect("it stands").nth(n).expect("a path")
    }

    /// The peer's receive window in bytes, as the client computes it.
    ///
    /// # Panics
    /// If the association has ended.
    pub fn peer_rwnd(&mut self) -> u64 {
        self.pair.endpoint(Side::Client).stats(self.id).expect("it stands").peer_rwnd.get()
    }
}
