//! Resets of streams between two endpoints: reuse under loss, random networks, and the cost of streams.

use anabranch_sctp::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use testkit::*;
use units::Span;
use wire::StreamId;

fn config() -> Config {
    Config {
        stream_reset: true,
        allow_reset: AllowReset::All,
        association_max_retrans: 1000,
        path_max_retrans: 1000,
        rto_max: Span::from_secs(2),
        ..Config::default()
    }
}

/// A source of random numbers that a closure can own.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Makes the wire lose `lost` of 1000 packets and delay `late` of 1000 packets.
fn lossy(pair: &mut Pair, seed: u64, lost: u64, late: u64) {
    let mut random = Lcg(seed);
    pair.on_wire(move |_| match random.below(1000) {
        n if n < lost => Fate::Lost,
        n if n < lost + late => Fate::Late(Span::from_millis(random.below(120))),
        _ => Fate::Arrives,
    });
}

/// The messages that one side sends. Each message contains the incarnation of its stream (number of resets so
/// far) and the number of the message in this incarnation.
#[derive(Default)]
struct Book {
    /// By stream: incarnation and number of the next message to be sent.
    next: BTreeMap<u16, (u32, u32)>,
    /// By stream: incarnation and number of the next message to be read.
    read: BTreeMap<u16, (u32, u32)>,
    /// By stream: number of messages sent in each incarnation.
    sent: BTreeMap<u16, Vec<u32>>,
    /// Number of this side's resets, by the result in the event.
    told: BTreeMap<&'static str, u32>,
    messages: u64,
}

impl Book {
    fn message(&mut self, stream: u16, length: usize) -> Message {
        let (incarnation, number) = *self.next.entry(stream).or_default();
        self.next.insert(stream, (incarnation, number + 1));
        let sent = self.sent.entry(stream).or_insert_with(|| vec![0]);
        if let Some(last) = sent.last_mut() {
            *last += 1;
        }
        self.messages += 1;
        let mut bytes = vec![0; length.max(8)];
        bytes[..4].copy_from_slice(&incarnation.to_be_bytes());
        bytes[4..8].copy_from_slice(&number.to_be_bytes());
        Message { stream: StreamId(stream), ..Message::new(Payload::Bytes(bytes.into())) }
    }

    /// Records a reset of these streams (of all streams if the list is empty): later messages have the next
    /// incarnation number and are counted from 0.
    fn begin_again(&mut self, streams: &[StreamId], all: u16) {
        let listed: Vec<u16> =
            if streams.is_empty() { (0..all).collect() } else { streams.iter().map(|s| s.0).collect() };
        for stream in listed {
            self.next.entry(stream).or_default().0 += 1;
            self.next.entry(stream).or_default().1 = 0;
            self.sent.entry(stream).or_insert_with(|| vec![0]).push(0);
        }
    }
}

/// Reads all messages and events of one side. `book` has the peer's messages, `own` those of this side.
fn read(pair: &mut Pair, side: Side, book: &mut Book, own: &mut Book) {
    loop {
        take_events(pair, side, book, own);
        let received = pair.read_all(side);
        if received.is_empty() && !pair.has_events(side) {
            return;
        }
        for message in received {
            let bytes = message.payload.to_bytes();
            let word =
                |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            let expected = book.read.entry(message.stream.0).or_default();
            assert_eq!((word(0), word(4)), *expected, "{side:?} on stream {}", message.stream.0);
            assert_eq!(u32::from(message.ssn.0), expected.1, "numbers begin with 0 in each incarnation");
            expected.1 += 1;
        }
    }
}

fn take_events(pair: &mut Pair, side: Side, book: &mut Book, own: &mut Book) {
    for event in pair.events(side) {
        let Event::StreamsReset { incoming, outgoing, streams, result } = event else { continue };
        if !outgoing || result != ResetResult::Performed {
            *own.told.entry(result.name()).or_default() += 1;
        }
        if incoming && result == ResetResult::Performed {
            let listed: Vec<u16> = if streams.is_empty() {
                (0..STREAMS).collect()
            } else {
                streams.iter().map(|s| s.0).collect()
            };
            for stream in listed {
                let expected = book.read.entry(stream).or_default();
                let sent = book.sent.entry(stream).or_insert_with(|| vec![0]);
                assert_eq!(
                    expected.1, sent[expected.0 as usize],
                    "{side:?}: all of stream {stream} came before"
                );
                *expected = (expected.0 + 1, 0);
            }
        }
    }
}

/// Number of streams in the random networks.
const STREAMS: u16 = 6;

// rfc6525#section-5.1.2: a stream is reset and reused, as with data channels
#[test]
fn a_stream_is_used_a_thousand_times_with_5_percent_of_the_packets_lost() {
    let mut pair = Pair::new(1, &config());
    let (client, _) = pair.establish();
    lossy(&mut pair, 1, 50, 0);
    let (mut sent, mut idle) = (Book::default(), Book::default());
    for incarnation in 0..1000 {
        let now = pair.now;
        for _ in 0..3 {
            let message = sent.message(1, 50);
            pair.endpoint(Side::Client).send(now, client, message).expect("there is room");
        }
        let streams = [StreamId(1)];
        pair.endpoint(Side::Client)
            .reset_streams(now, client, ResetDirection::Outgoing, &streams)
            .expect("the one before was performed");
        sent.begin_again(&streams, STREAMS);
        pair.drain();
        let mut performed = false;
        while !performed {
            pair.run_for(Span::from_millis(20));
            assert!(pair.now.since(now) < Span::from_secs(300), "reset {incarnation} is stuck");
            performed = pair.events(Side::Client).iter().any(|event| {
                matches!(event, Event::StreamsReset { outgoing: true, result: ResetResult::Performed, .. })
            });
        }
        read(&mut pair, Side::Server, &mut sent, &mut idle);
    }
    assert_eq!(sent.read.get(&1), Some(&(1000, 0)));
    let stats = pair.endpoint(Side::Client).stats(client).expect("it stands");
    assert_eq!((stats.resets, sent.messages), (1000, 3000));
    assert!(stats.reset_requests > 1000, "some requests were lost");
}

/// One action of a side in a random network.
#[derive(Clone, Debug)]
enum Step {
    Send(u16, usize),
    Reset(u8, Vec<u16>),
    All,
    Add(u16, u16),
    Read,
    Pass(u64),
}

fn step() -> impl Strategy<Value = (bool, Step)> {
    let step = prop_oneof![
        8 => (0..STREAMS, 1usize..4000).prop_map(|(stream, length)| Step::Send(stream, length)),
        2 => (0u8..3, prop::collection::btree_set(0..STREAMS, 0..3)).prop_map(|(kind, streams)| Step::Reset(kind, streams.into_iter().collect())),
        1 => Just(Step::All),
        1 => (0u16..3, 0u16..3).prop_map(|(outgoing, incoming)| Step::Add(outgoing, incoming)),
        3 => Just(Step::Read),
        4 => (1u64..400).prop_map(Step::Pass),
    ];
    (any::<bool>(), step)
}

struct Random {
    pair: Pair,
    ids: [AssocId; 2],
    books: [Book; 2],
    /// Number of resets that each side has started.
    begun: [u32; 2],
}

impl Random {
    fn new(seed: u64, lost: u64, late: u64, config: &Config) -> Random {
        let mut pair = Pair::new(2, config);
        let (client, server) = pair.establish();
        lossy(&mut pair, seed, lost, late);
        Random { pair, ids: [client, server], books: Default::default(), begun: [0; 2] }
    }

    fn read(&mut self) {
        let [client, server] = &mut self.books;
        read(&mut self.pair, Side::Server, client, server);
        read(&mut self.pair, Side::Client, server, client);
    }

    fn play(&mut self, at_server: bool, step: &Step) {
        let side = if at_server { Side::Server } else { Side::Client };
        let (me, now) = (usize::from(at_server), self.pair.now);
        let (id, endpoint) = (self.ids[me], self.pair.endpoint(side));
        match step {
            Step::Send(stream, length) => {
                let before = (self.books[me].next.clone(), self.books[me].sent.clone());
                let message = self.books[me].message(*stream, *length);
                if endpoint.send(now, id, message).is_err() {
                    (self.books[me].next, self.books[me].sent) = before;
                    self.books[me].messages -= 1;
                }
            }
            Step::Reset(kind, streams) => {
                let streams: Vec<_> = streams.iter().map(|&stream| StreamId(stream)).collect();
                let direction = [ResetDirection::Outgoing, ResetDirection::Incoming, ResetDirection::Both]
                    [usize::from(*kind)];
                let begun = endpoint.reset_streams(now, id, direction, &streams);
                if begun.is_ok() && direction != ResetDirection::Incoming {
                    self.books[me].begin_again(&streams, STREAMS);
                }
                self.begun[me] += u32::from(begun.is_ok());
            }
            Step::All => {
                if endpoint.reset_association(now, id).is_ok() {
                    self.begun[me] += 1;
                }
            }
            Step::Add(outgoing, incoming) => drop(endpoint.add_streams(now, id, *outgoing, *incoming)),
            Step::Read => self.read(),
            Step::Pass(ms) => self.pair.run_for(Span::from_millis(*ms)),
        }
        self.pair.drain();
    }

    /// Runs until no data or request has been outstanding for 20 s. Calls `read` meanwhile.
    fn settle(&mut self, mut read: impl FnMut(&mut Random)) {
        let (mut before, mut quiet) = (None, 0);
        for _ in 0..1000 {
            self.pair.run_for(Span::from_secs(1));
            read(self);
            let state = [Side::Client, Side::Server].into_iter().zip(self.ids).map(|(side, id)| {
                let stats = self.pair.endpoint(side).stats(id).expect("it stands");
                (stats.outstanding_chunks, stats.unsent_messages, stats.reset_requests, stats.resets)
            });
            let state: Vec<_> = state.collect();
            quiet = if before.as_ref() == Some(&state) { quiet + 1 } else { 0 };
            before = Some(state);
            if quiet == 20 {
                return;
            }
        }
        panic!("resets go on for ever");
    }

    /// Runs until all data was sent and acknowledged.
    fn finish(&mut self) {
        self.settle(Random::read);
        for (side, id) in [Side::Client, Side::Server].into_iter().zip(self.ids) {
            let stats = self.pair.endpoint(side).stats(id).expect("it stands");
            assert_eq!((stats.outstanding_chunks, stats.unsent_messages), (0, 0), "{side:?}: {stats:?}");
            assert_eq!(self.pair.state(side), Some(State::Established));
        }
    }
}

/// Performs the steps in a network that loses and delays packets, waits for the end, and checks the result.
fn resets_of_all_kinds(steps: &[(bool, Step)], seed: u64, lost: u64, late: u64) {
    let mut random = Random::new(seed, lost, late, &config());
    let mut sent = [0u32, 0];
    let mut read = [Vec::new(), Vec::new()];
    let mut told = [0, 0];
    let mut wished = [0, 0];
    let take = |random: &mut Random, read: &mut [Vec<(u16, u32)>; 2], told: &mut [u32; 2]| {
        for (me, side) in [Side::Client, Side::Server].into_iter().enumerate() {
            loop {
                let events = random.pair.events(side);
                let received = random.pair.read_all(side);
                if received.is_empty() && events.is_empty() {
                    break;
                }
                read[me].extend(received.iter().map(|m| {
                    let bytes = m.payload.to_bytes();
                    (m.stream.0, u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                }));
                for event in events {
                    if let Event::StreamsReset { result, .. } = event {
                        assert_eq!(result, ResetResult::Performed);
                        told[me] += 1;
                    }
                }
            }
        }
    };
    for (at_server, step) in steps {
        let me = usize::from(*at_server);
        let side = if *at_server { Side::Server } else { Side::Client };
        match step {
            Step::Send(stream, length) => {
                let mut bytes = vec![0; (*length).max(4)];
                bytes[..4].copy_from_slice(&sent[me].to_be_bytes());
                let payload = Payload::Bytes(bytes.into());
                let message = Message { stream: StreamId(*stream), ..Message::new(payload) };
                let (now, id) = (random.pair.now, random.ids[me]);
                if random.pair.endpoint(side).send(now, id, message).is_ok() {
                    sent[me] += 1;
                }
                random.pair.drain();
            }
            Step::Read => take(&mut random, &mut read, &mut told),
            Step::Reset(kind, _) => {
                let before = random.begun[me];
                random.play(*at_server, step);
                wished[me] += (random.begun[me] - before) * if *kind == 2 { 2 } else { 1 };
            }
            Step::All => {
                let before = random.begun[me];
                random.play(*at_server, step);
                wished[me] += random.begun[me] - before;
            }
            step => random.play(*at_server, step),
        }
    }
    random.settle(|random| take(random, &mut read, &mut told));
    for (me, side) in [Side::Client, Side::Server].into_iter().enumerate() {
        let stats = random.pair.endpoint(side).stats(random.ids[me]).expect("it stands");
        assert_eq!((stats.outstanding_chunks, stats.unsent_messages), (0, 0), "{:?}", stats);
        let theirs = &read[1 - me];
        let mut numbers: Vec<u32> = theirs.iter().map(|(_, number)| *number).collect();
        for stream in 0..STREAMS {
            let of_stream: Vec<u32> = theirs.iter().filter(|(s, _)| *s == stream).map(|(_, n)| *n).collect();
            assert!(of_stream.is_sorted(), "stream {stream}: {of_stream:?}");
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..sent[me]).collect::<Vec<_>>(), "all that {:?} sent, each once", side);
    }
    assert!(told[0] + told[1] >= wished[0] + wished[1], "each wish is answered: {told:?} of {wished:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// This test uses only outgoing resets, so that each side knows when an incarnation of its streams
    /// begins.
    // rfc6525#section-5.2.2
    #[test]
    fn in_any_network_each_incarnation_of_a_stream_is_delivered_whole_and_in_order(
        steps in prop::collection::vec(step(), 1..120),
        seed: u64,
        lost in 0u64..200,
        late in 0u64..300,
        nr_sack: bool,
        cmt: bool,
    ) {
        let mut config = Config { nr_sack, ..config() };
        config.cmt.enabled = cmt;
        let mut random = Random::new(seed, lost, late, &config);
        for (at_server, step) in &steps {
            match step {
                Step::Reset(_, streams) => random.play(*at_server, &Step::Reset(0, streams.clone())),
                Step::All => {}
                step => random.play(*at_server, step),
            }
        }
        random.finish();
        for book in &random.books {
            let sent: u32 = book.sent.values().flatten().sum();
            prop_assert_eq!(u64::from(sent), book.messages);
            for (stream, sent) in book.sent.iter() {
                let last = (sent.len() as u32 - 1, *sent.last().unwrap_or(&0));
                prop_assert_eq!(*book.read.get(stream).unwrap_or(&(0, 0)), last, "stream {}", stream);
            }
        }
    }

    /// Both ends make resets of any kind at the same time: no message is lost, read twice, held back for
    /// ever, or out of order.
    // rfc6525#section-5.1.1
    #[test]
    fn resets_of_all_kinds_by_both_ends_lose_nothing_and_end(
        steps in prop::collection::vec(step(), 1..120),
        seed: u64,
        lost in 0u64..150,
        late in 0u64..200,
    ) {
        resets_of_all_kinds(&steps, seed, lost, late);
    }
}

#[test]
fn a_peer_that_asks_for_all_streams_there_can_be_costs_nothing_until_they_are_used() {
    let mut pair =
        Pair::new(1, &Config { max_inbound_streams: u16::MAX, outbound_streams: u16::MAX, ..config() });
    let (client, server) = pair.establish();
    let now = pair.now;
    let all: Vec<StreamId> = (0..u16::MAX).map(StreamId).collect();
    let refused = pair.endpoint(Side::Client).reset_streams(now, client, ResetDirection::Outgoing, &all);
    assert_eq!(refused, Err(ResetError::InProgress), "more requests than may wait");
    pair.endpoint(Side::Client)
        .reset_streams(now, client, ResetDirection::Both, &all[..8000])
        .expect("begun");
    pair.endpoint(Side::Server).reset_streams(now, server, ResetDirection::Incoming, &[]).expect("begun");
    pair.drain();
    for _ in 0..60 {
        pair.run_for(Span::from_secs(1));
        pair.read_all(Side::Client);
        pair.read_all(Side::Server);
    }
    let reset = pair.endpoint(Side::Client).stats(client).expect("it stands").resets;
    assert!(reset >= 65, "{reset} of them");
}

/// Both ends ask for the same number of streams. The request of one end is lost four times. This end
/// withdraws the request, because the other end has added the streams.
#[test]
fn a_request_that_was_given_up_is_asked_again_if_the_peer_refuses_the_number_of_the_next() {
    let steps: Vec<(bool, Step)> = vec![
        (true, Step::All),
        (true, Step::Send(2, 476)),
        (true, Step::Pass(190)),
        (true, Step::Add(1, 2)),
        (false, Step::Send(1, 1242)),
        (true, Step::Reset(2, vec![2])),
        (false, Step::Reset(0, vec![])),
        (true, Step::Reset(1, vec![1])),
        (true, Step::Pass(169)),
        (true, Step::Send(3, 3599)),
        (true, Step::Pass(85)),
        (false, Step::Send(3, 2471)),
        (false, Step::Pass(104)),
        (false, Step::Send(1, 473)),
        (false, Step::Pass(344)),
        (true, Step::Reset(2, vec![4, 5])),
        (true, Step::Send(1, 3974)),
        (true, Step::Pass(224)),
        (false, Step::Send(1, 1225)),
        (false, Step::Reset(0, vec![])),
        (true, Step::Add(1, 2)),
        (true, Step::Send(2, 1606)),
        (false, Step::Send(3, 83)),
        (true, Step::Pass(210)),
        (true, Step::Send(4, 3171)),
        (false, Step::Send(3, 3614)),
        (true, Step::Read),
        (true, Step::Pass(160)),
        (false, Step::Send(0, 913)),
        (true, Step::Read),
        (true, Step::Send(0, 1157)),
        (false, Step::Pass(361)),
        (true, Step::Pass(58)),
        (false, Step::Send(2, 1495)),
        (false, Step::Read),
        (true, Step::Send(0, 1383)),
        (true, Step::Add(1, 1)),
        (true, Step::Send(5, 2920)),
        (false, Step::Send(0, 3864)),
        (true, Step::Pass(306)),
        (true, Step::Send(3, 1797)),
        (true, Step::Send(5, 2915)),
        (false, Step::Reset(2, vec![4])),
        (true, Step::Read),
        (false, Step::Pass(109)),
        (true, Step::Read),
        (true, Step::Read),
        (true, Step::Send(2, 1706)),
        (false, Step::Pass(366)),
        (true, Step::All),
        (true, Step::Add(2, 2)),
        (true, Step::Reset(2, vec![])),
        (true, Step::Send(5, 3026)),
        (false, Step::Send(4, 118)),
        (true, Step::Read),
        (false, Step::Add(1, 1)),
        (false, Step::Pass(346)),
        (false, Step::Send(2, 2954)),
        (true, Step::Send(2, 2579)),
        (false, Step::Send(5, 3973)),
        (true, Step::Send(4, 3460)),
        (false, Step::Send(2, 263)),
        (true, Step::Read),
    ];
    resets_of_all_kinds(&steps, 10440355610645743905, 141, 199);
}
