//! A server whose client is scripted, for tests of RE-CONFIG.

use anabranch_sctp::*;
use testkit::*;
use units::Span;
use wire::*;

/// A server whose client is scripted: the test reads the server's packets, which are lost, and injects the
/// client's packets. TSNs and request numbers count from the initial TSN of the sending side.
pub struct Desk {
    pub pair: Pair,
    pub id: AssocId,
    pub tag: u32,
    pub ours: Tsn,
    pub theirs: Tsn,
    pub seen: usize,
}

/// Options with RE-CONFIG that let the peer make the requests of `allow_reset`.
pub fn allowing(allow_reset: AllowReset) -> Config {
    Config { stream_reset: true, allow_reset, ..Config::default() }
}

fn relative(number: u32, from: Tsn) -> i32 {
    number.wrapping_sub(from.0) as i32
}

impl Desk {
    pub fn new(config: &Config) -> Desk {
        Desk::in_nets(1, config)
    }

    pub fn in_nets(nets: u8, config: &Config) -> Desk {
        let mut pair = Pair::new(nets, config);
        let (_, id) = pair.establish();
        pair.run_for(Span::from_secs(5));
        let tag = header(&pair.sent[2].bytes).verification_tag;
        let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("INIT") };
        let Some(Ok(Chunk::InitAck(ack))) = parse(&pair.sent[1].bytes).chunks().next() else {
            panic!("INIT ACK")
        };
        let (theirs, ours) = (init.initial_tsn, ack.0.initial_tsn);
        pair.on_wire(|_| Fate::Lost);
        let seen = pair.sent.len();
        Desk { pair, id, tag, ours, theirs, seen }
    }

    pub fn inject(&mut self, chunks: &[Chunk<'_>]) {
        let bytes = packet(5001, 5002, self.tag, chunks);
        self.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    }

    /// Injects a RE-CONFIG with these parameters.
    pub fn ask(&mut self, parameters: &[ReConfigParameter<'_>]) {
        let mut list = ReConfigList::default();
        assert!(parameters.iter().all(|parameter| list.push(parameter)));
        self.inject(&[Chunk::ReConfig(ReConfig { bytes: list.as_bytes() })]);
    }

    /// Injects a request of the client to reset its own streams. Its last chunk before the reset is chunk
    /// `last`.
    pub fn reset(&mut self, request: u32, last: u32, streams: &[u16]) {
        let numbers: Vec<_> = streams.iter().map(|stream| stream.to_be_bytes()).collect();
        let last_tsn = self.theirs.add(last).previous();
        let streams = StreamNumbers::new(&numbers);
        self.ask(&[ReConfigParameter::OutgoingReset {
            request: self.theirs.0.wrapping_add(request),
            response: self.ours.0.wrapping_sub(1),
            last_tsn,
            streams,
        }]);
    }

    /// Injects a request of the client that the server resets the streams on which the server sends.
    pub fn ask_for_reset(&mut self, request: u32, streams: &[u16]) {
        let numbers: Vec<_> = streams.iter().map(|stream| stream.to_be_bytes()).collect();
        let request = self.theirs.0.wrapping_add(request);
        self.ask(&[ReConfigParameter::IncomingReset { request, streams: StreamNumbers::new(&numbers) }]);
    }

    pub fn answer(&mut self, request: u32, result: ReConfigResult) {
        let response = self.ours.0.wrapping_add(request);
        self.ask(&[ReConfigParameter::Response { response, result, next_tsns: None }]);
    }

    /// Injects chunk number `n`, counted from 1, with a whole message.
    pub fn data(&mut self, n: u32, stream: u16, ssn: u16, payload: &'static str) {
        let flags = DataFlags { beginning: true, ending: true, ..DataFlags::default() };
        let tsn = self.theirs.add(n).previous();
        let (stream, ssn, ppid) = (StreamId(stream), Ssn(ssn), Ppid(0));
        let payload = payload.as_bytes().into();
        self.inject(&[Chunk::Data(Data { flags, tsn, stream, ssn, ppid, payload })]);
    }

    /// Injects a SACK that acknowledges the server's chunks up to number `n`.
    pub fn sack(&mut self, n: u32) {
        let mut bytes = transport::PacketBuf::default();
        let header = CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: self.tag };
        let mut w = PacketWriter::new(&mut bytes, header, 1480);
        assert!(w.sack(self.ours.add(n).previous(), 1 << 20, 0, std::iter::empty(), &[]));
        w.finish(transport::Checksum::Computed);
        self.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    }

    pub fn send(&mut self, stream: u16, payload: &'static str) {
        let (now, id) = (self.pair.now, self.id);
        let message = Message { stream: StreamId(stream), ..Message::new(Payload::Bytes(payload.into())) };
        self.pair.endpoint(Side::Server).send(now, id, message).expect("there is room");
        self.pair.drain();
    }

    pub fn reset_own(&mut self, direction: ResetDirection, streams: &[u16]) -> Result<(), ResetError> {
        let streams: Vec<_> = streams.iter().map(|&stream| StreamId(stream)).collect();
        let (now, id) = (self.pair.now, self.id);
        let begun = self.pair.endpoint(Side::Server).reset_streams(now, id, direction, &streams);
        self.pair.drain();
        begun
    }

    /// Runs for `ms` milliseconds.
    pub fn pass(&mut self, ms: u64) {
        self.pair.run_for(Span::from_millis(ms));
    }

    /// The RE-CONFIG chunks and DATA chunks that the server sent since the last call.
    pub fn said(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        for sent in self.pair.sent[self.seen..].iter().filter(|sent| sent.from == Side::Server) {
            for chunk in parse(&sent.bytes).chunks() {
                match chunk.expect("a chunk") {
                    Chunk::ReConfig(chunk) => said.push(self.text(&chunk)),
                    Chunk::Data(data) => {
                        let immediate = if data.flags.immediate { " I" } else { "" };
                        let payload = String::from_utf8_lossy(data.payload.head).into_owned();
                        let n = relative(data.tsn.0, self.ours) + 1;
                        said.push(format!("data {n} {}:{} {payload}{immediate}", data.stream.0, data.ssn.0));
                    }
                    _ => {}
                }
            }
        }
        self.seen = self.pair.sent.len();
        said
    }

    pub fn text(&self, chunk: &ReConfig<'_>) -> String {
        let (first, second) = chunk.parameters().expect("well formed");
        let text = |parameter: ReConfigParameter<'_>| match parameter {
            ReConfigParameter::OutgoingReset { request, response, last_tsn, streams } => format!(
                "reset {} answers {} last {} {streams:?}",
                relative(request, self.ours),
                relative(response, self.theirs),
                relative(last_tsn.0, self.ours) + 1
            ),
            ReConfigParameter::IncomingReset { request, streams } => {
                format!("ask {} {streams:?}", relative(request, self.ours))
            }
            ReConfigParameter::AssociationReset { request } => {
                format!("all {}", relative(request, self.ours))
            }
            ReConfigParameter::Response { response, result, next_tsns } => {
                let tsns = next_tsns.map_or(String::new(), |(mine, yours)| {
                    format!(" {} {:#x}", relative(mine.0, self.ours) + 1, yours.distance_from(self.theirs))
                });
                format!("{result:?} {}{tsns}", relative(response, self.theirs))
            }
            ReConfigParameter::AddOutgoing { request, streams } => {
                format!("add {} {streams}", relative(request, self.ours))
            }
            ReConfigParameter::AddIncoming { request, streams } => {
                format!("ask to add {} {streams}", relative(request, self.ours))
            }
        };
        std::iter::once(first).chain(second).map(text).collect::<Vec<_>>().join(" + ")
    }

    /// Messages that the user reads and reset events, in order.
    pub fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let events = self.pair.events(Side::Server);
            told.extend(events.iter().filter_map(|event| match event {
                Event::StreamsReset { incoming, outgoing, streams, result } => {
                    let kind =
                        ["-", "out", "in", "both"][2 * usize::from(*incoming) + usize::from(*outgoing)];
                    let streams: Vec<_> = streams.iter().map(|stream| stream.0).collect();
                    Some(format!("{kind} {streams:?} {}", result.name()))
                }
                Event::StreamsAdded { incoming, outgoing, result } => {
                    Some(format!("added {outgoing} {incoming} {}", result.name()))
                }
                Event::Closed { .. } => Some("closed".to_owned()),
                _ => None,
            }));
            let read = self.pair.read_all(Side::Server);
            told.extend(read.iter().map(|m| {
                let payload = m.payload.to_bytes();
                format!("{}:{} {}", m.stream.0, m.ssn.0, String::from_utf8_lossy(&payload))
            }));
            if read.is_empty() && events.is_empty() {
                return told;
            }
        }
    }
}
