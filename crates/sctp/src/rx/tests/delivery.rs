use super::*;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use std::collections::BTreeMap;

/// A message that the peer sends.
#[derive(Clone, Debug)]
struct Sent {
    stream: u16,
    unordered: bool,
    bytes: Vec<u8>,
    first_tsn: Tsn,
}

/// A chunk on the wire.
#[derive(Clone, Debug)]
struct Fragment {
    message: usize,
    tsn: Tsn,
    ssn: Ssn,
    from: usize,
    to: usize,
}

/// Divides a peer's messages into chunks of at most `longest` bytes.
fn cut(messages: &mut [Sent], initial: Tsn, longest: usize) -> Vec<Fragment> {
    let mut fragments = Vec::new();
    let mut next_ssn = [Ssn(0); STREAMS as usize];
    for (n, message) in messages.iter_mut().enumerate() {
        let tsn = |fragments: &[Fragment]| initial.add(fragments.len() as u32);
        message.first_tsn = tsn(&fragments);
        let ssn = next_ssn[usize::from(message.stream)];
        for from in (0..message.bytes.len()).step_by(longest) {
            let to = message.bytes.len().min(from + longest);
            fragments.push(Fragment { message: n, tsn: tsn(&fragments), ssn, from, to });
        }
        if !message.unordered {
            next_ssn[usize::from(message.stream)] = ssn.next();
        }
    }
    fragments
}

/// Compares the messages that are read with the messages that were sent.
struct Reader {
    sent: Vec<Sent>,
    /// Bytes read so far of incomplete messages, by the TSN of their first fragment.
    open: BTreeMap<u32, Vec<u8>>,
    complete: Vec<bool>,
}

impl Reader {
    fn take(&mut self, part: &Received) {
        let n =
            self.sent.iter().position(|m| m.first_tsn == part.tsn).expect("a message begins with this TSN");
        let message = &self.sent[n];
        assert_eq!((part.stream.0, part.unordered), (message.stream, message.unordered));
        assert!(!self.complete[n], "delivered twice");
        if !message.unordered {
            let earlier =
                (0..n).filter(|&e| self.sent[e].stream == message.stream && !self.sent[e].unordered);
            assert!(earlier.into_iter().all(|e| self.complete[e]), "out of order");
        }
        let bytes = self.open.entry(part.tsn.0).or_default();
        bytes.extend_from_slice(&part.payload.to_bytes());
        if part.end_of_record {
            assert_eq!(self.open.remove(&part.tsn.0).as_ref(), Some(&self.sent[n].bytes));
            self.complete[n] = true;
        }
    }
}

fn messages() -> impl Strategy<Value = Vec<Sent>> {
    let bytes = prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 1..200),
        2 => (1_usize..300).prop_map(|length| vec![0; length]),
        1 => prop::collection::vec(any::<u8>(), 1500..2500),
    ];
    let message = (0..STREAMS, any::<bool>(), bytes).prop_map(|(stream, unordered, bytes)| Sent {
        stream,
        unordered,
        bytes,
        first_tsn: Tsn(0),
    });
    prop::collection::vec(message, 1..40)
}

/// Sends each fragment until the receiver accepts it, in random order with duplicates, while a user reads.
fn run(mut sent: Vec<Sent>, initial: u32, config: &Config, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut below = move |n: usize| random.next_u32() as usize % n;
    let fragments = cut(&mut sent, Tsn(initial), 100);
    let limit = config.receive_buffer.first().get();
    let count = sent.len();
    let mut f = Fixture::new(config, initial);
    let mut reader = Reader { sent, open: BTreeMap::new(), complete: vec![false; count] };
    let reach = 1 + below(30);
    let mut steps = 0;
    while !reader.complete.iter().all(|&complete| complete) {
        steps += 1;
        assert!(steps < 200_000, "nothing moves any more");
        let missing: Vec<usize> = (0..fragments.len())
            .filter(|&i| !f.rx.tsns.contains(f.rx.tsns.index_of(fragments[i].tsn)))
            .take(reach)
            .collect();
        let i = match missing.len() {
            n if n > 0 && below(10) > 0 => missing[below(n)],
            _ => below(fragments.len()),
        };
        let Fragment { message, tsn, ssn, from, to } = fragments[i];
        let known = f.rx.tsns.contains(f.rx.tsns.index_of(tsn));
        let Sent { stream, unordered, bytes, .. } = &reader.sent[message];
        let filler = bytes.iter().all(|&byte| byte == 0);
        let flags = DataFlags {
            unordered: *unordered,
            beginning: from == 0,
            ending: to == bytes.len(),
            immediate: false,
        };
        let payload = if filler { Octets::new(&[], to - from) } else { Octets::from(&bytes[from..to]) };
        let ppid = Ppid(message as u32);
        let verdict = f.take(Data { flags, tsn, stream: StreamId(*stream), ssn, ppid, payload });
        match verdict {
            DataVerdict::Duplicate => assert!(known),
            DataVerdict::Accepted | DataVerdict::NoRoom => assert!(!known),
            other => panic!("{other:?}"),
        }
        assert!(f.rx.window.held() <= limit && u64::from(f.rx.a_rwnd()) <= limit - f.rx.window.held());
        if f.rx.sack_due() {
            let cumulative = f.rx.cumulative_tsn();
            assert_eq!(f.report().cumulative, cumulative.0);
        }
        while below(3) > 0 {
            match f.rx.read(1 + below(400)) {
                Some(part) => reader.take(&part),
                None => break,
            }
        }
    }
    assert_eq!((f.rx.window.held(), f.rx.readable()), (0, false));
    assert!(f.rx.reassembly.is_idle() && f.rx.streams.highest().is_none());
    let bytes: usize = reader.sent.iter().map(|message| message.bytes.len()).sum();
    assert_eq!(f.rx.stats().user_bytes, ByteCount::from(bytes));
}

proptest! {
    // rfc9260#section-6.5, rfc9260#section-6.6, rfc9260#section-6.9
    #[test]
    fn every_message_is_delivered_once_whole_and_in_its_order(
        sent in messages(),
        initial in prop_oneof![2 => (u32::MAX - 60)..=u32::MAX, 1 => any::<u32>()],
        seed in any::<u64>(),
    ) {
        run(sent, initial, &Config::default(), seed);
    }

    // rfc9260#section-6.2, rfc9260#section-6.9: with reneging and partial delivery
    #[test]
    fn a_buffer_shorter_than_the_messages_delivers_them_all_the_same(
        sent in messages(),
        initial in prop_oneof![2 => (u32::MAX - 60)..=u32::MAX, 1 => any::<u32>()],
        seed in any::<u64>(),
        buffer in 200_u64..3000,
        sws_limit in prop_oneof![Just(0_u64), Just(150)],
    ) {
        let config = Config {
            receive_buffer: ByteCount::new(buffer).into(),
            sws_limit: ByteCount::new(sws_limit),
            mtu: ByteCount::new(150),
            ..Config::default()
        };
        run(sent, initial, &config, seed);
    }
}

// rfc9260#section-6.5: 65535 is followed by 0
#[test]
fn stream_sequence_numbers_wrap_under_reordering() {
    let mut f = Fixture::new(&Config::default(), u32::MAX - 65_540);
    let at = |n: u32| chunk("BE", (u32::MAX - 65_540).wrapping_add(n), 1, n as u16, 10);
    let mut order: Vec<u32> = (0..65_556).collect();
    order[65_525..65_550].reverse();
    let mut numbers = Vec::new();
    for n in order {
        assert_eq!(f.take(at(n)), DataVerdict::Accepted);
        numbers.extend(std::iter::from_fn(|| f.rx.read(100)).map(|received| received.ssn.0));
    }
    assert_eq!(numbers, (0..65_556).map(|n: u32| n as u16).collect::<Vec<_>>());
    assert_eq!(f.rx.cumulative_tsn(), Tsn(14));
}
