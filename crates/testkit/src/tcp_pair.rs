use crate::{Fate, Side};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tcp::segment::{Flags, Header, Options, Segment};
use tcp::{Config, ConnId, Datagram, Ecn, Endpoint, EndpointConfig, Event, Info, Payload, State, Stats};
use transport::{Checksum, PacketBuf};
use units::{BitRate, ByteCount, Instant, Span};

/// A segment as it was sent.
#[derive(Clone, Debug)]
pub struct TcpSent {
    /// Time of transmission.
    pub at: Instant,
    /// The sender.
    pub from: Side,
    /// Header of the segment.
    pub header: Header,
    /// Options of the segment.
    pub options: Options,
    /// Length of the data in bytes.
    pub len: usize,
    /// Sequence number minus the sequence number of the sender's SYN.
    pub offset: u32,
    /// Acknowledgment number minus the sequence number of the receiver's SYN.
    pub ack: u32,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Index of the segment among all segments of the pair.
    pub number: usize,
    /// The segment itself.
    pub bytes: PacketBuf,
}

impl TcpSent {
    /// True if all of `flags` are set.
    pub fn has(&self, flags: Flags) -> bool {
        self.header.flags.has(flags)
    }

    /// True for an ACK without data and without SYN, FIN or RST.
    pub fn is_bare(&self) -> bool {
        self.len == 0 && !self.header.flags.any(Flags::SYN | Flags::FIN | Flags::RST)
    }
}

/// Two TCP endpoints connected by a simulated wire, in virtual time. A connected side sends the data that the
/// test gives it, and reads all data that arrives.
pub struct TcpPair {
    /// Current time.
    pub now: Instant,
    /// All segments sent so far, including lost ones, if [`Self::keep_log`] is on.
    pub sent: Vec<TcpSent>,
    /// Whether segments are recorded.
    pub keep_log: bool,
    /// If true, ECN-capable segments are marked CE instead of being lost.
    pub mark: bool,
    nodes: [Node; 2],
    delay: Span,
    rate: Option<BitRate>,
    fate: Box<dyn FnMut(&TcpSent) -> Fate>,
    flying: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    packets: Vec<Option<(Side, Ecn, PacketBuf)>>,
    free: Vec<usize>,
    arrivals: u64,
    number: usize,
    buf: PacketBuf,
}

struct Node {
    endpoint: Endpoint,
    id: Option<ConnId>,
    events: Vec<Event>,
    pending: VecDeque<Payload>,
    /// True if the side closes its direction once all pending data is written.
    ending: bool,
    reads: bool,
    received: Vec<u8>,
    keep: bool,
    count: u64,
    /// Sequence number of the SYN of this side.
    initial: Option<u32>,
    busy_until: Instant,
}

impl TcpPair {
    /// Two endpoints. The server listens; the one-way delay is 10 ms.
    ///
    /// # Panics
    /// If a configuration is invalid.
    pub fn new(client: &Config, server: &Config) -> TcpPair {
        let node = |side: Side, config: &Config| {
            let endpoint = Endpoint::new(EndpointConfig {
                addresses: vec![side.address(1)],
                port: side.port(),
                seed: u64::from(side.port()),
                checksum: Checksum::Computed,
                max_connections: 16,
                config: config.clone(),
            });
            Node {
                endpoint: endpoint.expect("a valid configuration"),
                id: None,
                events: Vec::new(),
                pending: VecDeque::new(),
                ending: false,
                reads: true,
                received: Vec::new(),
                keep: true,
                count: 0,
                initial: None,
                busy_until: Instant::ZERO,
            }
        };
        let mut pair = TcpPair {
            now: Instant::ZERO + Span::from_secs(1000),
            sent: Vec::new(),
            keep_log: true,
            mark: false,
            nodes: [node(Side::Client, client), node(Side::Server, server)],
            delay: Span::from_millis(10),
            rate: None,
            fate: Box::new(|_| Fate::Arrives),
            flying: BinaryHeap::new(),
            packets: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            number: 0,
            buf: PacketBuf::default(),
        };
        pair.node(Side::Server).endpoint.listen(true);
        pair
    }

    /// Two endpoints with the same configuration and an established connection.
    ///
    /// # Panics
    /// If the handshake fails.
    pub fn connected(config: &Config) -> TcpPair {
        let mut pair = TcpPair::new(config, config);
        pair.connect(Side::Client);
        pair.run_for(Span::from_millis(100));
        for side in [Side::Client, Side::Server] {
            assert_eq!(pair.state(side), Some(State::Established), "{side:?}");
            assert_eq!(pair.events(side), [Event::Connected]);
        }
        pair.sent.clear();
        pair
    }

    fn node(&mut self, side: Side) -> &mut Node {
        &mut self.nodes[index(side)]
    }

    /// The endpoint of a side. Call [`Self::drain`] after each call that changes it.
    pub fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        &mut self.node(side).endpoint
    }

    /// Sets the function that decides the fate of each segment sent from now on.
    pub fn on_wire(&mut self, fate: impl FnMut(&TcpSent) -> Fate + 'static) {
        self.fate = Box::new(fate);
    }

    /// Sets the one-way delay and the rate of the wire. `None` means an unlimited rate.
    pub fn set_wire(&mut self, delay: Span, rate: Option<BitRate>) {
        self.delay = delay;
        self.rate = rate;
    }

    /// Starts a connection.
    ///
    /// # Panics
    /// If the endpoint refuses.
    pub fn connect(&mut self, side: Side) -> ConnId {
        let (now, peer) = (self.now, side.other());
        let node = self.node(side);
        let id = node.endpoint.connect(now, peer.port(), &[peer.address(1)]).expect("a new connection");
        node.id = Some(id);
        self.drain();
        id
    }

    /// The latest connection of a side.
    ///
    /// # Panics
    /// If the side has no connection.
    pub fn id(&mut self, side: Side) -> ConnId {
        self.node(side).id.expect("a connection")
    }

    /// Passes data to a side for sending. Data that does not fit into the send buffer is written later.
    pub fn send(&mut self, side: Side, payload: Payload) {
        self.node(side).pending.push_back(payload);
        self.push(side);
        self.drain();
    }

    /// Closes the sending direction of a side after its pending data.
    pub fn end(&mut self, side: Side) {
        self.node(side).ending = true;
        self.push(side);
        self.drain();
    }

    /// Sets whether a side reads arriving data immediately.
    pub fn set_reading(&mut self, side: Side, reads: bool) {
        self.node(side).reads = reads;
        if reads {
            self.read(side);
            self.drain();
        }
    }

    /// Makes a side count the bytes that it reads, without storing them.
    pub fn count_only(&mut self, side: Side) {
        self.node(side).keep = false;
    }

    /// All bytes that a side has read.
    pub fn received(&self, side: Side) -> &[u8] {
        &self.nodes[index(side)].received
    }

    /// Number of bytes that a side has read.
    pub fn received_bytes(&self, side: Side) -> u64 {
        self.nodes[index(side)].count
    }

    /// Events of one side since the last call, except the events about readable and writable connections.
    pub fn events(&mut self, side: Side) -> Vec<Event> {
        std::mem::take(&mut self.node(side).events)
    }

    /// The state of a side's connection; `None` if it no longer exists.
    pub fn state(&mut self, side: Side) -> Option<State> {
        let id = self.node(side).id?;
        self.endpoint(side).state(id)
    }

    /// The current status of a side's connection.
    ///
    /// # Panics
    /// If the connection no longer exists.
    pub fn info(&mut self, side: Side) -> Info {
        let id = self.id(side);
        self.endpoint(side).info(id).expect("a connection")
    }

    /// The counters of a side's connection.
    ///
    /// # Panics
    /// If the connection no longer exists.
    pub fn stats(&mut self, side: Side) -> Stats {
        let id = self.id(side);
        self.endpoint(side).stats(id).expect("a connection")
    }

    /// Delivers a segment to a side immediately.
    pub fn inject(&mut self, to: Side, ecn: Ecn, bytes: &PacketBuf) {
        let (now, src, dst) = (self.now, to.other().address(1), to.address(1));
        self.endpoint(to).handle(now, Datagram { ecn, ..Datagram::new(src, dst, bytes.as_octets()) });
        self.drain();
    }

    fn push(&mut self, side: Side) {
        let now = self.now;
        let node = self.node(side);
        let Some(id) = node.id else { return };
        while let Some(payload) = node.pending.front_mut() {
            let taken = node.endpoint.send(now, id, payload.clone()).unwrap_or(0);
            payload.split_to(taken as usize);
            if !payload.is_empty() {
                return;
            }
            node.pending.pop_front();
        }
        if std::mem::take(&mut node.ending) {
            node.endpoint.shutdown(now, id);
        }
    }

    fn read(&mut self, side: Side) {
        let now = self.now;
        let node = self.node(side);
        let Some(id) = node.id else { return };
        while let Some(payload) = node.endpoint.receive(now, id, usize::MAX) {
            node.count += payload.len() as u64;
            if node.keep {
                payload.as_octets().append_to(&mut node.received);
            }
        }
    }

    /// Collects all segments and events that both endpoints have ready.
    pub fn drain(&mut self) {
        for side in [Side::Client, Side::Server] {
            while self.drain_events(side) | self.drain_packets(side) {}
        }
    }

    fn drain_events(&mut self, side: Side) -> bool {
        let mut any = false;
        while let Some((id, event)) = self.node(side).endpoint.poll_event() {
            any = true;
            self.node(side).id.get_or_insert(id);
            match event {
                Event::Readable if self.node(side).reads => self.read(side),
                Event::Readable => {}
                Event::Writable => self.push(side),
                Event::Connected => {
                    self.node(side).events.push(event);
                    self.push(side);
                }
                event => self.node(side).events.push(event),
            }
        }
        any
    }

    fn drain_packets(&mut self, side: Side) -> bool {
        let mut any = false;
        let mut buf = std::mem::take(&mut self.buf);
        while let Some(transmit) = self.nodes[index(side)].endpoint.poll_transmit(self.now, &mut buf) {
            any = true;
            let sent = self.describe(side, transmit.ecn, &buf);
            let fate = (self.fate)(&sent);
            let at = self.departure(side, &buf) + self.delay;
            let wanted = fate == Fate::Marked || (fate == Fate::Lost && self.mark);
            let mark = wanted && transmit.ecn != Ecn::NotCapable;
            let ecn = if mark { Ecn::CongestionExperienced } else { transmit.ecn };
            match fate {
                Fate::Lost if mark => self.launch(at, side, ecn, &buf),
                Fate::Lost | Fate::Damaged(_) => {}
                Fate::Arrives | Fate::Marked => self.launch(at, side, ecn, &buf),
                Fate::Late(late) => self.launch(at + late, side, ecn, &buf),
                Fate::Twice(later) => {
                    self.launch(at, side, ecn, &buf);
                    self.launch(at + later, side, ecn, &buf);
                }
            }
            if self.keep_log {
                self.sent.push(sent);
            }
        }
        self.buf = buf;
        any
    }

    fn describe(&mut self, from: Side, ecn: Ecn, buf: &PacketBuf) -> TcpSent {
        let (src, dst) = (from.address(1), from.other().address(1));
        let segment = Segment::parse(buf.as_octets(), src, dst, Checksum::Computed).expect("our own segment");
        let header = segment.header;
        if header.flags.has(Flags::SYN) {
            self.nodes[index(from)].initial = Some(header.seq.0);
        }
        let since = |side: Side| self.nodes[index(side)].initial.unwrap_or(0);
        let number = self.number;
        self.number += 1;
        TcpSent {
            at: self.now,
            from,
            offset: header.seq.0.wrapping_sub(since(from)),
            ack: header.ack.0.wrapping_sub(since(from.other())),
            len: segment.data.len(),
            header,
            options: segment.options,
            ecn,
            number,
            bytes: if self.keep_log { buf.clone() } else { PacketBuf::default() },
        }
    }

    /// Time at which the last bit of a segment is sent. The segment has an IP header of 20 bytes.
    fn departure(&mut self, side: Side, buf: &PacketBuf) -> Instant {
        let now = self.now;
        let Some(rate) = self.rate else { return now };
        let node = self.node(side);
        let (time, _) = rate.pace().serialise(ByteCount::from(buf.len() + 20), 0);
        node.busy_until = node.busy_until.max(now) + time;
        node.busy_until
    }

    fn launch(&mut self, at: Instant, from: Side, ecn: Ecn, buf: &PacketBuf) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.packets.push(None);
            self.packets.len() - 1
        });
        self.packets[place] = Some((from, ecn, buf.clone()));
        self.arrivals += 1;
        self.flying.push(Reverse((at, self.arrivals, place)));
    }

    /// Processes the next arrival or timeout up to `until` (included). Returns false if there is none.
    pub fn step(&mut self, until: Instant) -> bool {
        let timers = [0, 1].map(|side| self.nodes[side].endpoint.poll_timeout().unwrap_or(Instant::FAR));
        let timer = timers[0].min(timers[1]);
        let arrival = self.flying.peek().map_or(Instant::FAR, |Reverse((at, ..))| *at);
        let next = timer.min(arrival);
        if next > until || next == Instant::FAR {
            self.now = if until == Instant::FAR { self.now } else { self.now.max(until) };
            return false;
        }
        self.now = self.now.max(next);
        if arrival <= timer
            && let Some(Reverse((_, _, place))) = self.flying.pop()
            && let Some((from, ecn, buf)) = self.packets[place].take()
        {
            self.free.push(place);
            self.inject(from.other(), ecn, &buf);
            return true;
        }
        let (now, side) = (self.now, usize::from(timers[1] < timers[0]));
        self.nodes[side].endpoint.handle_timeout(now);
        self.drain();
        true
    }

    /// Runs for `span`.
    pub fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    /// Runs until no arrival or timeout is pending. Returns false if this takes longer than a day.
    pub fn run_dry(&mut self) -> bool {
        let until = self.now + Span::from_secs(86_400);
        while self.step(until) {}
        self.flying.is_empty() && self.nodes.iter().all(|node| node.endpoint.poll_timeout().is_none())
    }
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Server)
}
