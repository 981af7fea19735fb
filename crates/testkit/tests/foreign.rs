//! Interoperability: an Anabranch endpoint exchanges messages with other SCTP stacks, each as client and as
//! server, over links that lose, reorder and duplicate packets.

use crate::peers::{DcSctp, PORT, SctpProto};
use anabranch_testkit::{Dialogue, Ours, Script, Speaker, Traffic, World};
use dcsctp::api::Options;
use net::{ChannelSpec, Impairments};
use sctp::{Cmt, Config, EndpointConfig, Seed, StreamScheduler};
use transport::Checksum;
use units::{BitRate, Probability, Span};

const SEEDS: std::ops::Range<u64> = 0..100;
const STREAMS: u16 = 5;

fn world(seed: u64) -> World {
    let probability = |p| Probability::new(p).expect("a probability");
    let channel = ChannelSpec {
        transmitter: BitRate::from_mbps(20).into(),
        delay: Span::from_millis(15).into(),
        impairments: Impairments {
            loss: probability(0.05),
            duplication: probability(0.03),
            reordering: probability(0.1),
            reordering_delay: Span::from_millis(12),
            ..Impairments::default()
        },
        ..ChannelSpec::default()
    };
    World::new(seed, &[channel])
}

fn ours(seed: u64, world: &World, host: usize, interleaving: bool) -> Ours {
    let config = EndpointConfig {
        port: PORT,
        addresses: world.addresses(host),
        seed: Seed::for_simulation(seed ^ 0x5eed),
        checksum: Checksum::Computed,
        max_associations: 1,
        encapsulation: None,
        // Half of the runs enable CMT, which must also work with a single-homed peer that does not support
        // it.
        config: Config {
            cmt: Cmt { enabled: seed % 4 >= 2, ..Cmt::default() },
            interleaving,
            stream_scheduler: StreamScheduler::ALL[seed as usize % StreamScheduler::ALL.len()],
            ..Config::default()
        }
        .into(),
    };
    Ours::new(config, world.addresses(1 - host))
}

/// Runs one dialogue for each seed. From one seed to the next, client and server shut down alternately.
fn with_each_seed(
    foreign: impl Fn(u64, &World, usize) -> Box<dyn Speaker>,
    host_of_foreign: usize,
    interleaving: bool,
) {
    let mut all = Traffic::default();
    for seed in SEEDS {
        let mut world = world(seed);
        let mut ours = ours(seed, &world, 1 - host_of_foreign, interleaving);
        let mut theirs = foreign(seed, &world, host_of_foreign);
        let scripts = [2 * seed, 2 * seed + 1].map(|voice| Script::random(voice, 60, STREAMS, 1 << 16));
        let dialogue = Dialogue {
            scripts: [&scripts[0], &scripts[1]],
            closer: (seed % 2) as usize,
            hasty: false,
            limit: Span::from_secs(600),
        };
        let speakers: [&mut dyn Speaker; 2] =
            if host_of_foreign == 0 { [&mut *theirs, &mut ours] } else { [&mut ours, &mut *theirs] };
        let mut speakers = speakers;
        if let Err(what) = dialogue.run(&mut world, &mut speakers) {
            panic!("seed {seed}, at {} s: {what}", world.now().as_secs_f64());
        }
        let Traffic { sent, lost, doubled } = world.traffic();
        all = Traffic { sent: all.sent + sent, lost: all.lost + lost, doubled: all.doubled + doubled };
    }
    let share = |part: u64| part as f64 / all.sent as f64;
    assert!((0.04..0.06).contains(&share(all.lost)) && share(all.doubled) > 0.02, "{all:?}");
}

fn dcsctp(seed: u64, world: &World, host: usize) -> Box<dyn Speaker> {
    let options = Options::default();
    Box::new(DcSctp::new(seed, world.addresses(host)[0], world.addresses(1 - host)[0], options))
}

/// A dcSCTP stack that announces I-DATA.
fn dcsctp_interleaving(seed: u64, world: &World, host: usize) -> Box<dyn Speaker> {
    let options = Options { enable_message_interleaving: true, ..Options::default() };
    Box::new(DcSctp::new(seed, world.addresses(host)[0], world.addresses(1 - host)[0], options))
}

fn sctp_proto(_seed: u64, world: &World, host: usize) -> Box<dyn Speaker> {
    Box::new(SctpProto::new(world.addresses(host)[0], world.addresses(1 - host)[0]))
}

#[test]
fn messages_are_exchanged_with_dcsctp_as_client() {
    with_each_seed(dcsctp, 0, false);
}

#[test]
fn messages_are_exchanged_with_dcsctp_as_server() {
    with_each_seed(dcsctp, 1, false);
}

// rfc8260#section-2.2
#[test]
fn interleaved_messages_are_exchanged_with_dcsctp_as_client() {
    with_each_seed(dcsctp_interleaving, 0, true);
}

// rfc8260#section-2.2
#[test]
fn interleaved_messages_are_exchanged_with_dcsctp_as_server() {
    with_each_seed(dcsctp_interleaving, 1, true);
}

// rfc8260#section-2.2.1: dcSCTP does not announce I-DATA, and our endpoint does
#[test]
fn messages_are_exchanged_with_dcsctp_that_does_not_interleave() {
    with_each_seed(dcsctp, 1, true);
}

#[test]
fn messages_are_exchanged_with_sctp_proto_as_client() {
    with_each_seed(sctp_proto, 0, true);
}

#[test]
fn messages_are_exchanged_with_sctp_proto_as_server() {
    with_each_seed(sctp_proto, 1, true);
}
