//! Two endpoints with random options over random networks: with all options and impairments, each message is
//! delivered once and in order, memory stays within its bounds, and the shutdown is graceful.

use anabranch_testkit::machine::{Tape, any_config};
use anabranch_testkit::{Dialogue, Ending, Ours, Script, Speaker, Station, World, parse};
use net::{ChannelSpec, Impairments, Limit as QueueLimit, QueueSpec};
use proptest::prelude::*;
use proptest::sample::select;
use sctp::{Config, EndpointConfig, Limit, Message, Payload, Seed, SendError};
use std::collections::VecDeque;
use std::net::IpAddr;
use transport::{Checksum, Octets, PacketBuf};
use units::{BitRate, ByteCount, Instant, Probability, Span};
use wire::{Chunk, StreamId};

const STREAMS: u16 = 4;

fn config() -> impl Strategy<Value = Config> {
    prop::collection::vec(any::<u8>(), 80).prop_map(|bytes| any_config(&mut Tape::new(&bytes)))
}

fn channel() -> impl Strategy<Value = ChannelSpec> {
    let chances = (0.0..0.15, 0.0..0.1, 0.0..0.2, 0.0..2e-6);
    (1u64..50, 0u64..60, chances, 0u64..40, 4u64..100).prop_map(
        |(mbps, delay, (loss, duplication, reordering, bit_errors), held_back, packets)| ChannelSpec {
            transmitter: BitRate::from_mbps(mbps).into(),
            delay: Span::from_millis(delay).into(),
            queue: QueueSpec::DropTail(QueueLimit::Packets(packets)),
            impairments: Impairments {
                loss: Probability::new(loss).expect("a probability"),
                duplication: Probability::new(duplication).expect("a probability"),
                reordering: Probability::new(reordering).expect("a probability"),
                reordering_delay: Span::from_millis(held_back),
                bit_errors: Probability::new(bit_errors).expect("a probability"),
                ..Impairments::default()
            },
            ..ChannelSpec::default()
        },
    )
}

/// How the application uses its endpoint.
#[derive(Clone, Debug)]
struct Usage {
    /// Largest part of a message in one call of `send`, bytes.
    piece: usize,
    /// Largest part of a message in one call of `receive`, bytes.
    bite: usize,
    /// Time between reading one message and the next.
    pause: Span,
    /// Number of packets after which the application changes the primary path, a local address or a path MTU,
    /// or requests a heartbeat. Zero means never.
    restless: usize,
}

fn usage() -> impl Strategy<Value = Usage> {
    let pause = prop_oneof![2 => Just(0u64), 1 => 1u64..300];
    (100usize..4_000, prop_oneof![Just(usize::MAX), 50usize..5_000], pause, 0usize..20).prop_map(
        |(piece, bite, pause, restless)| Usage { piece, bite, pause: Span::from_millis(pause), restless },
    )
}

/// A speaker that checks the bounds of its endpoint.
struct Watched {
    ours: Ours,
    config: Config,
    usage: Usage,
    remotes: Vec<IpAddr>,
    locals: Vec<IpAddr>,
    packets: usize,
    /// The parts of the current message that have not been sent.
    rest: VecDeque<Message>,
    /// Time from which the application may read the next message.
    reads_at: Instant,
    /// Time from which the endpoint measures what holds its sender back.
    counted_from: Option<Instant>,
    /// Highest number of a listed path, counted from 1.
    most_paths: usize,
}

impl Watched {
    fn push_rest(&mut self, now: Instant) -> bool {
        let Some(id) = self.ours.association() else { return false };
        while let Some(piece) = self.rest.front() {
            match self.ours.endpoint().send(now, id, piece.clone()) {
                Ok(_) => drop(self.rest.pop_front()),
                Err(SendError::WouldBlock | SendError::Closed) => return false,
                Err(error) => panic!("{error}"),
            }
        }
        true
    }

    fn fidget(&mut self, now: Instant) {
        self.packets += 1;
        let Some(turn) = self.packets.checked_div(self.usage.restless) else { return };
        let (Some(id), 0) = (self.ours.association(), self.packets % self.usage.restless) else { return };
        let which = turn / 5 % self.remotes.len();
        let (remote, local) = (self.remotes[which], self.locals[which]);
        // At most the configured MTU, because the length of packets is checked against it.
        let mtu = ByteCount::new(576 + 97 * (turn as u64 % 10)).min(self.config.mtu);
        let endpoint = self.ours.endpoint();
        match turn % 5 {
            0 => endpoint.set_primary(id, remote).is_ok(),
            1 => endpoint.heartbeat(now, id, remote).is_ok(),
            2 => endpoint.remove_local_address(now, id, local).is_ok(),
            3 => endpoint.set_path_mtu(now, id, remote, mtu).is_ok(),
            _ => endpoint.restore_local_address(now, id, local).is_ok(),
        };
    }

    /// Checks that a timer runs if data waits or is outstanding and no packet can be sent now.
    fn check_timer(&mut self) {
        let Some(stats) = self.ours.association().and_then(|id| self.ours.endpoint().stats(id)) else {
            return;
        };
        let waits = stats.unsent_messages > 0 || stats.outstanding_chunks > 0;
        let timer = self.ours.endpoint().poll_timeout();
        assert!(!waits || self.ours.ending().is_some() || timer.is_some(), "no timer: {stats:?}");
    }

    /// Checks the times for which each reason ([`Limit`]) held the sender back. The association's times add
    /// up to the time since the count began, a path's times to at most this time. The times for which
    /// the paths caused head-of-line blocking add up to the association's time of that reason.
    fn check_limits(&mut self, now: Instant) {
        let Some(id) = self.ours.association() else { return };
        let endpoint = self.ours.endpoint();
        let Some(flow) = endpoint.stats(id).map(|stats| stats.until(now).limits) else { return };
        if flow.present().is_none() {
            return;
        }
        let began = Instant::ZERO + now.since(Instant::ZERO + flow.total());
        assert_eq!(*self.counted_from.get_or_insert(began), began, "{flow:?}");
        let paths: Vec<_> = endpoint.paths(id).into_iter().flatten().map(|path| path.until(now)).collect();
        assert!(paths.iter().all(|path| path.limits.total() <= flow.total()), "{flow:?}: {paths:?}");
        let blocked = paths.iter().fold(Span::ZERO, |sum, path| sum + path.blocks.time());
        let all = flow.of(Limit::HeadOfLine);
        // A path that was removed is not listed.
        let numbered = paths.iter().map(|path| path.id.index() + 1).max().unwrap_or(0);
        self.most_paths = self.most_paths.max(numbered);
        let removed = paths.len() < self.most_paths;
        assert!(blocked == all || (removed && blocked < all), "{flow:?}: {paths:?}");
        if let [path] = paths.as_slice()
            && self.remotes.len() == 1
        {
            assert_eq!(path.limits, flow, "the only path is limited as the flow is");
        }
    }

    fn check_bounds(&mut self) {
        let Some(stats) = self.ours.association().and_then(|id| self.ours.endpoint().stats(id)) else {
            return;
        };
        assert!(stats.buffered <= self.config.send_buffer.most(), "{stats:?}");
        assert!(stats.outstanding_chunks <= 1 << 15, "{stats:?}");
        if let Some(most) = self.config.send_queue {
            assert!(stats.unsent_messages <= most as usize, "{stats:?}");
        }
        // An empty buffer accepts one chunk that is larger than the buffer.
        let held = stats.received.user_bytes.get() - self.ours.bytes_read();
        assert!(held <= self.config.receive_buffer.most().get() + 1500, "{held} bytes held: {stats:?}");
    }
}

/// Checks the form of a packet: control chunks, then a SACK, then a timestamp chunk, then DATA in TSN order.
/// INIT, INIT ACK, SHUTDOWN COMPLETE and ABORT are not bundled (`rfc9260#section-6.10`).
fn check_form(packet: &PacketBuf) {
    let packet = parse(packet);
    let all = packet.chunks().map(|chunk| chunk.expect("a chunk"));
    // An AUTH chunk precedes the first chunk that needs it, so its position is not checked.
    let chunks: Vec<Chunk<'_>> = all.filter(|chunk| !matches!(chunk, Chunk::Auth(_))).collect();
    let rank = |chunk: &Chunk<'_>| match chunk {
        Chunk::Data(_) | Chunk::IData(_) => 3,
        Chunk::Timestamp(_) => 2,
        Chunk::Sack(_) | Chunk::NrSack(_) => 1,
        _ => 0,
    };
    assert!(chunks.is_sorted_by_key(rank), "{chunks:?}");
    assert!(chunks.iter().filter(|chunk| rank(chunk) == 1).count() <= 1, "{chunks:?}");
    let tsns = chunks.iter().filter_map(|chunk| match chunk {
        Chunk::Data(data) => Some(data.tsn),
        Chunk::IData(data) => Some(data.tsn),
        _ => None,
    });
    assert!(tsns.clone().zip(tsns.skip(1)).all(|(one, next)| one.precedes(next)), "{chunks:?}");
    let first = &chunks[0];
    assert_eq!(packet.header.verification_tag == 0, matches!(first, Chunk::Init(_)), "{chunks:?}");
    let alone = |chunk: &Chunk<'_>| {
        matches!(chunk, Chunk::Init(_) | Chunk::InitAck(_) | Chunk::ShutdownComplete(_) | Chunk::Abort(_))
    };
    assert!(chunks.len() == 1 || !chunks.iter().any(alone), "{chunks:?}");
    let leads = |chunk: &&Chunk<'_>| matches!(chunk, Chunk::CookieEcho(_) | Chunk::CookieAck(_));
    assert!(!chunks[1..].iter().any(|chunk| leads(&chunk)), "{chunks:?}");
}

impl Station for Watched {
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>) {
        self.ours.handle(now, src, dst, packet);
        self.check_bounds();
        self.fidget(now);
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)> {
        let sent = self.ours.poll_transmit(now, packet);
        if sent.is_some() {
            assert!(packet.len() as u64 + 20 <= self.config.mtu.get(), "{} bytes", packet.len());
            check_form(packet);
        } else {
            self.check_timer();
            self.check_limits(now);
        }
        sent
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let reads = (!self.usage.pause.is_zero() && self.ending().is_none()).then_some(self.reads_at);
        self.ours.poll_timeout().into_iter().chain(reads).min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.ours.handle_timeout(now);
        self.check_bounds();
    }
}

impl Speaker for Watched {
    fn connect(&mut self, now: Instant) {
        self.ours.connect(now);
    }

    fn is_connected(&self) -> bool {
        self.ours.is_connected()
    }

    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool {
        if !self.push_rest(now) {
            return false;
        }
        let pieces = message.chunks(self.usage.piece);
        let count = pieces.len();
        self.rest = pieces
            .enumerate()
            .map(|(n, piece)| Message {
                stream: StreamId(stream),
                ppid: Ours::PPID,
                unordered,
                end_of_record: n + 1 == count,
                ..Message::new(Payload::Bytes(piece.to_vec().into()))
            })
            .collect();
        let begun = self.push_rest(now) || self.rest.len() < count;
        if !begun {
            self.rest.clear();
        }
        begun
    }

    fn receive(&mut self, now: Instant) -> Option<(u16, Vec<u8>)> {
        self.push_rest(now);
        if now < self.reads_at && self.ending().is_none() {
            return None;
        }
        self.reads_at = now + self.usage.pause;
        self.ours.receive(now)
    }

    fn shutdown(&mut self, now: Instant) {
        self.ours.shutdown(now);
    }

    fn ending(&self) -> Option<Ending> {
        self.ours.ending()
    }
}

#[derive(Clone, Debug)]
struct Side {
    config: Config,
    /// Number of messages, and maximum length of a message in bytes.
    messages: (usize, usize),
    usage: Usage,
}

fn side() -> impl Strategy<Value = Side> {
    (config(), 0usize..80, select(vec![400usize, 3_000, 30_000]), usage())
        .prop_map(|(config, count, longest, usage)| Side { config, messages: (count, longest), usage })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    // rfc9260#section-6, rfc9260#section-6.10, rfc9260#section-9.2
    #[test]
    fn messages_are_delivered_once_and_in_order_and_the_shutdown_is_graceful(
        seed in any::<u32>(),
        channels in prop::collection::vec(channel(), 1..4),
        sides in [side(), side()],
        failures in prop::collection::vec((0usize..3, 0u64..20_000, 0u64..10_000), 0..4),
        closer in 0usize..2,
        hasty in any::<bool>(),
    ) {
        let mut world = World::new(seed.into(), &channels);
        for (path, from, length) in failures.into_iter().filter(|(path, ..)| *path < channels.len()) {
            let from = world.now() + Span::from_millis(from);
            world.cut(path, from, from + Span::from_millis(length));
        }
        let [mut a, mut b] = [0, 1].map(|host| {
            let Side { config, mut usage, .. } = sides[host].clone();
            let endpoint = EndpointConfig {
                port: 9,
                addresses: world.addresses(host),
                seed: Seed::for_simulation(u64::from(seed) * 2 + host as u64),
                checksum: Checksum::Computed,
                max_associations: 1,
                encapsulation: None,
                config: config.clone().into(),
            };
            let remotes = world.addresses(1 - host);
            let mut ours = Ours::new(endpoint, remotes.clone());
            ours.set_bite(usage.bite);
            if hasty {
                // The last part of a message may be refused if the other side shuts down, so messages are
                // sent whole.
                usage.piece = 1 << 20;
            }
            let (rest, reads_at) = (VecDeque::new(), world.now());
            let locals = world.addresses(host);
            let counted_from = None;
            Watched { ours, config, usage, remotes, locals, packets: 0, rest, reads_at, counted_from, most_paths: 0 }
        });
        let [first, second] = [0, 1].map(|host| {
            let (count, longest) = sides[host].messages;
            let whole = sides[host].config.send_buffer.most().get() as usize;
            let longest = if hasty { longest.min(whole) } else { longest };
            Script::random(2 * u64::from(seed) + host as u64, count, STREAMS, longest)
        });
        let dialogue = Dialogue { scripts: [&first, &second], closer, hasty, limit: Span::from_secs(20_000) };
        let ended = dialogue.run(&mut world, &mut [&mut a, &mut b]);
        prop_assert!(ended.is_ok(), "at {} s: {}", world.now().as_secs_f64(), ended.unwrap_err());
        for (listener, script) in [(&a, &second), (&b, &first)] {
            let said: usize = script.lines().iter().map(|line| line.len).sum();
            prop_assert!(hasty || listener.ours.bytes_read() == said as u64);
        }
    }
}
