//! Two endpoints with random options over random networks, whose messages may be abandoned. Each delivered
//! message was sent, and arrives once and in order. Each other message was reported as abandoned. In the end
//! the buffers of both sides are empty.

use anabranch_testkit::machine::{Tape, any_config};
use anabranch_testkit::{Ending, Ledger, Ours, Script, Speaker, World};
use net::{ChannelSpec, Impairments, Limit, QueueSpec};
use proptest::prelude::*;
use sctp::{Config, EndpointConfig, Event, Message, MessageId, Payload, Reliability, Seed, SendError};
use std::collections::BTreeMap;
use transport::Checksum;
use units::{BitRate, ByteCount, Instant, Probability, Span};
use wire::StreamId;

const STREAMS: u16 = 4;

fn config() -> impl Strategy<Value = Config> {
    prop::collection::vec(any::<u8>(), 80)
        .prop_map(|bytes| Config { pr_sctp: true, ..any_config(&mut Tape::new(&bytes)) })
}

fn channel() -> impl Strategy<Value = ChannelSpec> {
    (1u64..50, 0u64..60, 0.0..0.3, 0.0..0.1, 4u64..100).prop_map(
        |(mbps, delay, loss, duplication, packets)| ChannelSpec {
            transmitter: BitRate::from_mbps(mbps).into(),
            delay: Span::from_millis(delay).into(),
            queue: QueueSpec::DropTail(Limit::Packets(packets)),
            impairments: Impairments {
                loss: Probability::new(loss).expect("a probability"),
                duplication: Probability::new(duplication).expect("a probability"),
                reordering: Probability::new(loss / 2.0).expect("a probability"),
                reordering_delay: Span::from_millis(20),
                ..Impairments::default()
            },
            ..ChannelSpec::default()
        },
    )
}

fn policy() -> impl Strategy<Value = Reliability> {
    prop_oneof![
        Just(Reliability::Reliable),
        (0u64..2000).prop_map(|ms| Reliability::Until(Span::from_millis(ms))),
        (0u32..4).prop_map(Reliability::Retransmissions),
        (0u32..4).prop_map(Reliability::Priority),
    ]
}

/// One side: its endpoint, its script, and the fate of each message.
struct Side<'a> {
    ours: Ours,
    script: &'a Script,
    policies: Vec<Reliability>,
    said: usize,
    /// Tracked messages, by id; the value is the index in the script.
    tracked: BTreeMap<MessageId, usize>,
    /// Whether each message was delivered, by its index in the script; `abandoned`: whether it was abandoned.
    delivered: Vec<bool>,
    abandoned: Vec<bool>,
}

impl Side<'_> {
    /// Sends messages until the send buffer is full.
    fn say(&mut self, now: Instant) {
        let Some(id) = self.ours.association().filter(|_| self.ours.is_connected()) else { return };
        while let Some(line) = self.script.lines().get(self.said) {
            let message = Message {
                stream: StreamId(line.stream),
                ppid: Ours::PPID,
                unordered: line.unordered,
                reliability: self.policies[self.said % self.policies.len()],
                context: self.said as u32,
                tracked: true,
                ..Message::new(Payload::Bytes(self.script.bytes(self.said).into()))
            };
            match self.ours.endpoint().send(now, id, message) {
                Ok(number) => drop(self.tracked.insert(number.expect("it is tracked"), self.said)),
                Err(SendError::WouldBlock) => return,
                Err(error) => panic!("{error}"),
            }
            self.said += 1;
        }
    }

    fn note_events(&mut self) {
        while let Some(event) = self.ours.poll_event() {
            match event {
                Event::Delivered { first, last } => {
                    for (_, &n) in self.tracked.range(first..=last) {
                        assert!(!std::mem::replace(&mut self.delivered[n], true));
                    }
                }
                Event::SendFailed { id: Some(id), abandoned: true, message, .. } => {
                    let n = self.tracked[&id];
                    assert!(!self.delivered[n] && !std::mem::replace(&mut self.abandoned[n], true));
                    assert_eq!(message.context as usize, n);
                    assert_ne!(message.reliability, Reliability::Reliable);
                }
                Event::SendFailed { .. } => panic!("{event:?}"),
                _ => {}
            }
        }
    }

    fn is_done(&self) -> bool {
        self.said == self.script.lines().len()
            && (0..self.said).all(|n| self.delivered[n] || self.abandoned[n])
    }

    fn buffers_are_empty(&mut self) -> bool {
        let stats = self.ours.association().and_then(|id| self.ours.endpoint().stats(id));
        stats.is_none_or(|stats| stats.buffered == ByteCount::ZERO && stats.outstanding_chunks == 0)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    // rfc3758#section-3.5, rfc3758#section-3.6, rfc7496#section-3
    #[test]
    fn what_is_delivered_was_sent_and_the_rest_was_told_to_be_abandoned(
        seed in any::<u32>(),
        channels in prop::collection::vec(channel(), 1..4),
        configs in [config(), config()],
        policies in [prop::collection::vec(policy(), 1..6), prop::collection::vec(policy(), 1..6)],
        counts in [0usize..80, 0usize..80],
        longest in prop::sample::select(vec![400usize, 3_000, 30_000]),
        failures in prop::collection::vec((0usize..3, 0u64..10_000, 0u64..10_000), 0..4),
    ) {
        let mut world = World::new(seed.into(), &channels);
        for (path, from, length) in failures.into_iter().filter(|(path, ..)| *path < channels.len()) {
            let from = world.now() + Span::from_millis(from);
            world.cut(path, from, from + Span::from_millis(length));
        }
        let scripts = [0, 1].map(|host| {
            let whole = configs[host].send_buffer.most().get() as usize;
            Script::random(2 * u64::from(seed) + host as u64, counts[host], STREAMS, longest.min(whole))
        });
        let mut sides = [0, 1].map(|host| {
            let endpoint = EndpointConfig {
                port: 9,
                addresses: world.addresses(host),
                seed: Seed::for_simulation(u64::from(seed) * 2 + host as u64),
                checksum: Checksum::Computed,
                max_associations: 1,
                encapsulation: None,
                config: configs[host].clone().into(),
            };
            let none = vec![false; counts[host]];
            Side {
                ours: Ours::new(endpoint, world.addresses(1 - host)),
                script: &scripts[host],
                policies: policies[host].clone(),
                said: 0,
                tracked: BTreeMap::new(),
                delivered: none.clone(),
                abandoned: none,
            }
        });
        let mut ledgers = [Ledger::with_gaps(&scripts[1]), Ledger::with_gaps(&scripts[0])];
        sides[0].ours.connect(world.now());
        world.flush(0, &mut sides[0].ours);
        // With an RTO of up to 400 s and a third of the packets lost, 50 long messages take hours.
        let limit = world.now() + Span::from_secs(200_000);
        let mut closing = false;
        loop {
            let [a, b] = &mut sides;
            let Some(host) = world.step(&mut [&mut a.ours, &mut b.ours], limit) else {
                prop_assert!(false, "not finished in time");
                unreachable!();
            };
            let now = world.now();
            let side = &mut sides[host];
            while let Some((stream, bytes)) = side.ours.receive(now) {
                let heard = ledgers[host].hear(stream, &bytes);
                prop_assert!(heard.is_ok(), "{heard:?}");
            }
            if !closing {
                side.say(now);
            }
            side.note_events();
            world.flush(host, &mut side.ours);
            let met = sides.iter().all(|side| side.ours.is_connected());
            if !closing && met && sides.iter_mut().all(|side| side.is_done() && side.buffers_are_empty()) {
                closing = true;
                sides[0].ours.shutdown(world.now());
                world.flush(0, &mut sides[0].ours);
            }
            let endings = [sides[0].ours.ending(), sides[1].ours.ending()];
            match endings {
                [None, _] | [_, None] => {}
                [Some(Ending::Broken(what)), _] | [_, Some(Ending::Broken(what))] => {
                    prop_assert!(false, "{what}");
                }
                _ => break,
            }
        }
        for (side, ledger) in sides.iter().zip(ledgers.iter().rev()) {
            for n in 0..side.said {
                prop_assert!(!side.delivered[n] || ledger.has_heard(n), "message {n} was told to be delivered");
                let reliable = side.policies[n % side.policies.len()] == Reliability::Reliable;
                prop_assert!(!reliable || ledger.has_heard(n), "message {n} is reliable");
            }
        }
    }
}
