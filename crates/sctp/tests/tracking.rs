//! Delivery reports of tracked messages (for which the user wants a report), unread counts, and the event of
//! a new primary path.

use anabranch_sctp::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use testkit::*;
use units::{ByteCount, Span};
use wire::StreamId;

/// A tracked message of `length` bytes. Its mark, a number, is in the first four bytes.
fn tracked(stream: u16, mark: u32, length: usize) -> Message {
    let mut bytes = vec![0; length.max(4)];
    bytes[..4].copy_from_slice(&mark.to_be_bytes());
    let payload = Payload::Bytes(bytes.into());
    Message { stream: StreamId(stream), tracked: true, ..Message::new(payload) }
}

fn send(pair: &mut Pair, id: AssocId, message: Message) -> Result<Option<MessageId>, SendError> {
    let now = pair.now;
    let sent = pair.endpoint(Side::Client).send(now, id, message);
    pair.drain();
    sent
}

/// Results of the client's tracked messages: delivered, or failed.
#[derive(Debug, Default)]
struct Outcomes {
    delivered: BTreeSet<u64>,
    failed: BTreeMap<u64, (bool, usize)>,
    closed: Option<CloseReason>,
}

impl Outcomes {
    fn take(&mut self, pair: &mut Pair) {
        for event in pair.events(Side::Client) {
            match event {
                Event::Delivered { first, last } => {
                    assert!(first <= last && self.closed.is_none());
                    for id in first.0..=last.0 {
                        assert!(self.delivered.insert(id), "{id} was delivered twice");
                        assert!(!self.failed.contains_key(&id), "{id} failed before");
                    }
                }
                Event::SendFailed { id: Some(MessageId(id)), tsn, length, .. } => {
                    assert!(!self.delivered.contains(&id), "{id} was delivered before");
                    let twice = self.failed.insert(id, (tsn.is_some(), length)).is_some();
                    assert!(!twice, "{id} failed twice");
                }
                Event::Closed { reason } => self.closed = Some(reason),
                _ => {}
            }
        }
    }
}

// rfc9260#section-11.1.3
#[test]
fn a_message_is_delivered_when_the_cumulative_tsn_passes_its_last_chunk() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let first_data = pair.sent.len();
    pair.on_wire(move |sent| {
        let lost = sent.number == first_data + 1 && sent.from == Side::Client;
        if lost { Fate::Lost } else { Fate::Arrives }
    });
    assert_eq!(send(&mut pair, client, tracked(0, 0, 2500)), Ok(Some(MessageId(0))));
    assert_eq!(send(&mut pair, client, Message { tracked: false, ..tracked(0, 1, 100) }), Ok(None));
    assert_eq!(send(&mut pair, client, tracked(1, 2, 100)), Ok(Some(MessageId(1))));
    pair.run_for(ms(500));
    assert_eq!(pair.events(Side::Client), [], "gap ack blocks are not for good");
    pair.run_for(ms(2000));
    let delivered = Event::Delivered { first: MessageId(0), last: MessageId(1) };
    assert_eq!(pair.events(Side::Client), [delivered], "one event tells of both");
}

// draft-natarajan-tsvwg-sctp-nrsack
#[test]
fn a_message_that_the_peer_will_not_renege_on_is_delivered_before_the_cumulative_tsn_passes_it() {
    let mut pair = Pair::new(1, &Config { nr_sack: true, ..Config::default() });
    let (client, _) = pair.establish();
    let lost = pair.sent.len();
    pair.on_wire(move |sent| if sent.number == lost { Fate::Lost } else { Fate::Arrives });
    for (stream, mark) in [(0, 0), (1, 1), (0, 2)] {
        assert!(send(&mut pair, client, tracked(stream, mark, 1400)).is_ok());
    }
    pair.run_for(ms(500));
    // The peer can read message 1; message 2 waits for message 0 of its stream.
    let delivered = |first, last| Event::Delivered { first: MessageId(first), last: MessageId(last) };
    assert_eq!(pair.events(Side::Client), [delivered(1, 1)]);
    pair.run_for(ms(2000));
    assert_eq!(pair.events(Side::Client), [delivered(0, 0), delivered(2, 2)]);
}

#[test]
fn at_an_abort_each_tracked_message_fails_once_and_tells_whether_all_of_it_was_sent() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    pair.on_wire(|sent| if sent.from == Side::Client { Fate::Lost } else { Fate::Arrives });
    for (mark, length) in [(0, 2000), (1, 6000), (2, 1000)] {
        assert!(send(&mut pair, client, tracked(0, mark, length)).is_ok());
    }
    pair.endpoint(Side::Client).abort(client, b"enough");
    pair.drain();
    let mut outcomes = Outcomes::default();
    outcomes.take(&mut pair);
    let expected = [(0, (true, 2000)), (1, (false, 6000)), (2, (false, 1000))];
    assert_eq!(outcomes.failed, BTreeMap::from(expected), "the window was full in the second message");
}

#[test]
fn no_part_of_a_message_that_waited_whole_in_parts_was_sent() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    pair.on_wire(|sent| if sent.from == Side::Client { Fate::Lost } else { Fate::Arrives });
    assert!(send(&mut pair, client, tracked(0, 0, 20_000)).is_ok());
    let piece = Message { end_of_record: false, ..tracked(0, 1, 500) };
    assert!(send(&mut pair, client, piece).is_ok());
    assert!(send(&mut pair, client, tracked(0, 1, 500)).is_ok());
    pair.endpoint(Side::Client).abort(client, b"enough");
    pair.drain();
    let sent = pair.events(Side::Client).into_iter().filter_map(|event| match event {
        Event::SendFailed { length, sent, .. } => Some((length, sent)),
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [(20_000, true), (1000, false)]);
}

#[test]
fn a_message_without_its_end_fails_although_all_that_was_given_of_it_was_acknowledged() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let piece = Message { end_of_record: false, ..tracked(0, 0, 500) };
    assert_eq!(send(&mut pair, client, piece.clone()), Ok(Some(MessageId(0))));
    // The first piece decides whether the message is tracked.
    assert_eq!(send(&mut pair, client, Message { tracked: false, ..piece }), Ok(Some(MessageId(0))));
    pair.run_for(ms(500));
    assert_eq!(pair.events(Side::Client), []);
    pair.shutdown(Side::Client);
    pair.run_for(ms(500));
    let failed = Event::SendFailed {
        id: Some(MessageId(0)),
        stream: StreamId(0),
        tsn: None,
        length: 0,
        sent: true,
        abandoned: false,
        message: Box::new(Message { tracked: true, ..Message::new(Payload::Filler(0)) }),
    };
    let closed = Event::Closed { reason: CloseReason::Graceful };
    assert_eq!(pair.events(Side::Client), [failed, closed]);
}

#[test]
fn unread_counts_what_can_be_read_of_each_stream() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, server) = pair.establish();
    for (stream, length) in [(0, 100), (2, 3000), (0, 50)] {
        assert!(send(&mut pair, client, tracked(stream, 0, length)).is_ok());
    }
    pair.run_for(ms(500));
    let of = |pair: &mut Pair| {
        let unread = pair.endpoint(Side::Server).unread(server);
        unread.into_iter().map(|(stream, it)| (stream.0, it.messages, it.bytes.get())).collect::<Vec<_>>()
    };
    assert_eq!(of(&mut pair), [(0, 2, 150), (2, 1, 3000)]);
    pair.endpoint(Side::Server).receive(server, 60);
    assert_eq!(of(&mut pair), [(0, 2, 90), (2, 1, 3000)]);
    pair.read_all(Side::Server);
    assert_eq!(of(&mut pair), []);
}

// rfc6458#section-6.1.2
#[test]
fn a_new_primary_path_is_told_once() {
    let mut pair = Pair::new(2, &Config::default());
    let (client, _) = pair.establish();
    pair.run_for(Span::from_secs(5));
    pair.events(Side::Client);
    let second = Side::Server.address(2);
    for _ in 0..2 {
        assert!(pair.endpoint(Side::Client).set_primary(client, second).is_ok());
        pair.drain();
    }
    let changed = Event::PrimaryChanged { path: PathId(1), address: second };
    assert_eq!(pair.events(Side::Client), [changed]);
}

/// How the association ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Shutdown(Side),
    Abort(Side),
    /// The server's host restarts and connects, so the client's association restarts. A shutdown follows.
    Restart,
    /// The network fails.
    Silence,
}

#[derive(Clone, Debug)]
struct Step {
    stream: u16,
    length: usize,
    tracked: bool,
    ends: bool,
    pause: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u16..3, 4usize..5000, 0u8..4, 0u8..6, 0u64..200).prop_map(
        |(stream, length, tracked, ends, pause)| Step {
            stream,
            length,
            tracked: tracked > 0,
            ends: ends > 0,
            pause: pause.saturating_sub(120),
        },
    );
    prop::collection::vec(step, 1..40)
}

fn ends() -> impl Strategy<Value = End> {
    use Side::*;
    let all = [End::Shutdown(Client), End::Shutdown(Server), End::Abort(Client), End::Abort(Server)];
    prop::sample::select([&all[..], &[End::Restart, End::Silence]].concat())
}

/// A client that follows a random script, and the messages that the server read.
struct Run {
    pair: Pair,
    client: AssocId,
    /// Mark (number in the first bytes) of each tracked message, by its identifier.
    given: BTreeMap<u64, u32>,
    /// Marks of the messages of which the client has sent the last part.
    complete: BTreeSet<u32>,
    mark: u32,
    /// Stream of the incomplete message.
    unfinished: Option<u16>,
    outcomes: Outcomes,
    servers: BTreeSet<AssocId>,
    /// Marks of the messages that the server began to read, by TSN.
    begun: BTreeMap<u32, u32>,
    /// Marks of the messages that the server has read completely.
    read: BTreeSet<u32>,
}

impl Run {
    fn new(nr_sack: bool) -> Run {
        let config = Config {
            nr_sack,
            send_buffer: ByteCount::new(30_000).into(),
            receive_buffer: ByteCount::new(12_000).into(),
            association_max_retrans: 3,
            rto_max: Span::from_secs(3),
            ..Config::recommended()
        };
        let mut pair = Pair::new(2, &config);
        let (client, _) = pair.establish();
        Run {
            pair,
            client,
            given: BTreeMap::new(),
            complete: BTreeSet::new(),
            mark: 0,
            unfinished: None,
            outcomes: Outcomes::default(),
            servers: BTreeSet::new(),
            begun: BTreeMap::new(),
            read: BTreeSet::new(),
        }
    }

    fn play(&mut self, step: &Step) {
        let stream = self.unfinished.unwrap_or(step.stream);
        let mark = self.mark;
        let mut message = tracked(stream, mark, step.length);
        (message.tracked, message.end_of_record) = (step.tracked, step.ends);
        if let Ok(id) = send(&mut self.pair, self.client, message) {
            if let Some(MessageId(id)) = id {
                assert_eq!(*self.given.entry(id).or_insert(mark), mark);
            }
            self.unfinished = (!step.ends).then_some(stream);
            if step.ends {
                self.complete.insert(mark);
                self.mark += 1;
            }
        }
        self.pass(ms(step.pause));
    }

    fn pass(&mut self, span: Span) {
        self.servers.extend(self.pair.endpoint(Side::Server).associations());
        self.pair.run_for(span);
        let servers = self.servers.clone();
        let endpoint = self.pair.endpoint(Side::Server);
        let mut parts = Vec::new();
        for id in servers {
            parts.extend(std::iter::from_fn(|| endpoint.receive(id, usize::MAX)));
        }
        self.pair.drain();
        for part in parts {
            // A message longer than the receive buffer arrives in parts: its mark is in the first part.
            let bytes = part.payload.to_bytes();
            let mark = *self
                .begun
                .entry(part.tsn.0)
                .or_insert_with(|| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            if part.end_of_record {
                self.read.insert(mark);
            }
        }
        self.outcomes.take(&mut self.pair);
    }

    fn end(&mut self, end: End) {
        let now = self.pair.now;
        match end {
            End::Shutdown(side) | End::Abort(side) => {
                let id = if side == Side::Client { self.client } else { self.pair.only(side) };
                let endpoint = self.pair.endpoint(side);
                match end {
                    End::Abort(_) => endpoint.abort(id, b"enough"),
                    _ => endpoint.shutdown(now, id),
                }
                self.pair.drain();
            }
            End::Restart => {
                let mut config = endpoint_config(Side::Server, 2, &Config::recommended());
                config.seed = Seed::for_simulation(4711);
                self.pair.replace(Side::Server, config);
                self.pair.connect(Side::Server, 2);
                self.unfinished = None;
                self.idle();
                let all = self.outcomes.delivered.len() + self.outcomes.failed.len();
                assert_eq!(all, self.given.len(), "the restart decided all of them");
                self.mark += 1;
                self.play(&Step { stream: 0, length: 3000, tracked: true, ends: true, pause: 1000 });
                let now = self.pair.now;
                self.pair.endpoint(Side::Client).shutdown(now, self.client);
                self.pair.drain();
            }
            End::Silence => self.pair.on_wire(|_| Fate::Lost),
        }
        self.idle();
    }

    /// Runs for three minutes. The server reads once a second.
    fn idle(&mut self) {
        (0..180).for_each(|_| self.pass(Span::from_secs(1)));
    }
}

proptest! {
    #[test]
    fn each_tracked_message_has_exactly_one_outcome(
        steps in steps(), end in ends(), nr_sack in any::<bool>(), loss in 0u64..30, seed in any::<u64>(),
    ) {
        let mut run = Run::new(nr_sack);
        let mut random = seed | 1;
        run.pair.on_wire(move |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (random >> 33) % 100 < loss { Fate::Lost } else { Fate::Arrives }
        });
        for step in &steps {
            run.play(step);
        }
        run.end(end);
        prop_assert!(run.outcomes.closed.is_some(), "the association ended");
        let Outcomes { delivered, failed, .. } = &run.outcomes;
        let all: BTreeSet<u64> = delivered.iter().chain(failed.keys()).copied().collect();
        prop_assert_eq!(&all, &run.given.keys().copied().collect());
        let unsent = failed.iter().filter(|(_, (wholly_sent, _))| !wholly_sent);
        for (id, _) in unsent {
            prop_assert!(!run.read.contains(&run.given[id]), "{id} was read, but not sent");
        }
        if run.outcomes.closed == Some(CloseReason::Graceful) && !matches!(end, End::Restart) {
            let incomplete = |id: &u64| !run.complete.contains(&run.given[id]);
            prop_assert!(failed.keys().all(incomplete), "{failed:?}");
            prop_assert!(delivered.iter().all(|id| run.read.contains(&run.given[id])));
        }
    }
}
