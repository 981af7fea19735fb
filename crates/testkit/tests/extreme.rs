//! Extreme networks: half of the packets are lost, the jitter is up to a second, MTUs and buffers are small,
//! and paths fail separately and all together. Each message is delivered once and in order, each run ends,
//! two runs with the same seed are equal, and few packets are sent while all paths are down.

use anabranch_testkit::machine::{Tape, any_config};
use anabranch_testkit::{Dialogue, Ending, Ours, Script, Speaker, Station, World};
use des::{Random, Streams};
use net::{ChannelSpec, Impairments, Limit, QueueSpec};
use sctp::{Config, EndpointConfig, PathSelection, Reinjection, RtxPolicy, Seed};
use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use transport::{Checksum, Octets, PacketBuf};
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// Number of runs; `ANABRANCH_RUNS=10000` sets another number.
const RUNS: u64 = 300;

/// Start and duration of the outage of all paths.
const OUTAGE: (Span, Span) = (Span::from_secs(4), Span::from_secs(10));

/// A speaker that counts the packets it sends during the outage.
struct Counted {
    ours: Ours,
    outage: (Instant, Instant),
    sent_in_vain: u64,
    /// True once all messages are delivered and one side has shut down.
    closing: Rc<Cell<bool>>,
}

impl Station for Counted {
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>) {
        self.ours.handle(now, src, dst, packet);
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)> {
        let sent = self.ours.poll_transmit(now, packet);
        let in_vain = sent.is_some() && self.outage.0 <= now && now < self.outage.1;
        self.sent_in_vain += u64::from(in_vain);
        sent
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.ours.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.ours.handle_timeout(now);
    }
}

impl Speaker for Counted {
    fn connect(&mut self, now: Instant) {
        self.ours.connect(now);
    }

    fn is_connected(&self) -> bool {
        self.ours.is_connected()
    }

    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool {
        self.ours.send(now, stream, unordered, message)
    }

    fn receive(&mut self, now: Instant) -> Option<(u16, Vec<u8>)> {
        self.ours.receive(now)
    }

    fn shutdown(&mut self, now: Instant) {
        self.closing.set(true);
        self.ours.shutdown(now);
    }

    /// If all SHUTDOWN chunks are lost for five times RTO.Max, T5 ends the association by an ABORT
    /// (`rfc9260#section-9.2`). These tests count this end as graceful.
    fn ending(&self) -> Option<Ending> {
        let ending = self.ours.ending();
        if self.closing.get() { ending.map(|_| Ending::Graceful) } else { ending }
    }
}

fn chance(random: &mut Random, most: f64) -> Probability {
    Probability::new(random.uniform() * most).expect("a probability")
}

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u64) as usize]
}

fn channel(random: &mut Random) -> ChannelSpec {
    let loss = one_of(random, &[0.01, 0.1, 0.5]);
    ChannelSpec {
        transmitter: BitRate::from_bps(one_of(random, &[64_000, 1_000_000, 20_000_000, 1_000_000_000]))
            .into(),
        delay: Span::from_millis(one_of(random, &[0, 1, 20, 300])).into(),
        queue: QueueSpec::DropTail(Limit::Packets(1 + random.below(60))),
        impairments: Impairments {
            loss: chance(random, loss),
            duplication: chance(random, 0.2),
            reordering: chance(random, 0.3),
            reordering_delay: Span::from_millis(random.below(200)),
            jitter: Span::from_millis(one_of(random, &[0, 0, 30, 1000])),
            ..Impairments::default()
        },
        ..ChannelSpec::default()
    }
}

/// Random options, or the recommended options with a few changes. Each buffer holds between one packet and a
/// few dozen packets.
fn config(random: &mut Random) -> Config {
    let bytes: Vec<u8> = (0..100).map(|_| random.below(256) as u8).collect();
    let any = any_config(&mut Tape::new(&bytes));
    let config = if random.below(2) == 0 {
        let mut config = Config::recommended();
        match random.below(4) {
            0 => config.cmt.path_selection = one_of(random, PathSelection::ALL),
            1 => config.cmt.rtx = one_of(random, RtxPolicy::ALL),
            2 => config.cmt.reinjection = one_of(random, Reinjection::ALL),
            _ => config.congestion_control = one_of(random, cc::Algorithm::ALL).into(),
        }
        config
    } else {
        any
    };
    let buffer = |random: &mut Random| ByteCount::new(one_of(random, &[1_500, 3_000, 10_000, 40_000]));
    Config {
        mtu: ByteCount::new(one_of(random, &[576, 576, 1280, 1500])),
        receive_buffer: buffer(random).into(),
        send_buffer: buffer(random).into(),
        sws_limit: ByteCount::ZERO,
        rto_max: Span::from_secs(1 + random.below(100)),
        rto_initial: Span::from_secs(1),
        rto_min: Span::from_millis(50 + random.below(950)),
        // Without heartbeats, a side that has no data to send does not detect that its peer has ended the
        // association.
        hb_interval: Some(Span::from_secs(30)),
        association_max_retrans: 1000,
        max_init_retransmits: 1_000_000,
        ..config
    }
}

/// The results that must be equal in two runs with the same seed.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    digest: u64,
    end: Instant,
    sent_in_vain: u64,
}

fn run(seed: u64) -> Outcome {
    let mut random = Streams::new(seed, 0).stream("extreme");
    let channels: Vec<ChannelSpec> = (0..1 + random.below(3)).map(|_| channel(&mut random)).collect();
    let mut world = World::new(seed, &channels);
    let start = world.now();
    let outage = (start + OUTAGE.0, start + OUTAGE.0 + OUTAGE.1);
    let turn = Span::from_secs(1 + random.below(10));
    for path in 0..channels.len() {
        world.cut(path, outage.0, outage.1);
        if random.below(2) == 0 {
            let from = outage.1 + turn * (path as u64 + 1);
            world.cut(path, from, from + turn);
        }
    }
    let configs = [config(&mut random), config(&mut random)];
    let closing = Rc::new(Cell::new(false));
    let mut speakers = [0, 1].map(|host| {
        let endpoint = EndpointConfig {
            port: 9,
            addresses: world.addresses(host),
            seed: Seed::for_simulation(seed * 2 + host as u64),
            checksum: Checksum::Computed,
            max_associations: 1,
            encapsulation: None,
            config: configs[host].clone().into(),
        };
        let ours = Ours::new(endpoint, world.addresses(1 - host));
        Counted { ours, outage, sent_in_vain: 0, closing: closing.clone() }
    });
    let longest =
        configs.iter().map(|config| config.send_buffer.most().get() as usize).min().unwrap_or(0).min(8_000);
    let scripts = [0, 1].map(|host| {
        let count = random.below(400) as usize;
        Script::random(2 * seed + host, count, 4, longest)
    });
    let [a, b] = &mut speakers;
    let dialogue = Dialogue {
        scripts: [&scripts[0], &scripts[1]],
        closer: (seed % 2) as usize,
        hasty: false,
        limit: LIMIT,
    };
    let end = match dialogue.run(&mut world, &mut [a, b]) {
        Ok(end) => end,
        Err(what) => panic!("seed {seed}, at {} s: {what}; {configs:#?}", world.now().as_secs_f64()),
    };
    let sent_in_vain = speakers.iter().map(|speaker| speaker.sent_in_vain).sum();
    Outcome { digest: world.digest(), end, sent_in_vain }
}

/// Upper bound of the duration of a run in which half of the packets are lost in each direction.
const LIMIT: Span = Span::from_secs(5_000_000);

/// Upper bound of the packets sent in the outage of ten seconds, in both directions. In each direction: a
/// send buffer of 40 kB in packets of 576 bytes (about 500 bytes of data), and 60 retransmissions, reinjected
/// copies and heartbeats for each of three paths.
const MOST_IN_VAIN: u64 = 2 * (40_000 / 500 + 3 * 60);

#[test]
fn messages_are_delivered_over_extreme_networks_and_few_packets_are_sent_in_outages() {
    let runs = std::env::var("ANABRANCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let mut most = 0;
    for seed in 0..runs {
        let outcome = run(seed);
        assert_eq!(outcome, run(seed), "seed {seed}: two runs differ");
        assert!(
            outcome.sent_in_vain <= MOST_IN_VAIN,
            "seed {seed}: {} packets in an outage",
            outcome.sent_in_vain
        );
        most = most.max(outcome.sent_in_vain);
    }
    println!("{runs} runs; at most {most} packets in an outage of ten seconds");
}
