//! With CMT off the endpoint is standard SCTP, packet by packet. The tests compare digests of all packets
//! that arrived and of their arrival times.

use anabranch_testkit::{Dialogue, Ours, Script, World};
use net::{ChannelSpec, Impairments};
use sctp::{Cmt, Config, Cuc, EndpointConfig, PathSelection, RtxPolicy, Seed};
use transport::Checksum;
use units::{BitRate, Probability, Span};

/// Digest of a run in which two endpoints exchange messages over links with losses and reordering. The first
/// link has an outage.
fn fingerprint(paths: usize, config: &Config) -> u64 {
    let channel = |n: u64| ChannelSpec {
        transmitter: BitRate::from_mbps(5 + 5 * n).into(),
        delay: Span::from_millis(20 / (n + 1)).into(),
        impairments: Impairments {
            loss: Probability::new(0.03).expect("a probability"),
            reordering: Probability::new(0.05).expect("a probability"),
            reordering_delay: Span::from_millis(8),
            ..Impairments::default()
        },
        ..ChannelSpec::default()
    };
    let channels: Vec<_> = (0..paths as u64).map(channel).collect();
    let mut world = World::new(1, &channels);
    let speaker = |host: usize| {
        let config = EndpointConfig {
            port: 9,
            addresses: world.addresses(host),
            seed: Seed::for_simulation(host as u64),
            checksum: Checksum::Computed,
            max_associations: 1,
            encapsulation: None,
            config: Config { rto_min: Span::from_millis(200), ..config.clone() }.into(),
        };
        Ours::new(config, world.addresses(1 - host))
    };
    let (mut a, mut b) = (speaker(0), speaker(1));
    let start = world.now();
    world.cut(0, start + Span::from_millis(700), start + Span::from_millis(3000));
    let scripts = [1, 2].map(|voice| Script::random(voice, 150, 5, 20_000));
    let dialogue = Dialogue {
        scripts: [&scripts[0], &scripts[1]],
        closer: 0,
        hasty: false,
        limit: Span::from_secs(1000),
    };
    dialogue.run(&mut world, &mut [&mut a, &mut b]).expect("a graceful shutdown");
    world.digest()
}

fn with(cmt: Cmt) -> Config {
    Config { cmt, ..Config::default() }
}

/// Configurations of CMT that each set one option to a value other than its default, and some that equal the
/// default.
fn other_options() -> Vec<(&'static str, Cmt)> {
    let cmt = Cmt::default;
    let mut all = vec![
        ("sfr", Cmt { sfr: false, ..cmt() }),
        ("dac", Cmt { dac: false, ..cmt() }),
        ("smart_t3", Cmt { smart_t3: false, ..cmt() }),
        ("smart_fast_rtx", Cmt { smart_fast_rtx: false, ..cmt() }),
        ("rtt_heuristic", Cmt { rtt_heuristic: false, ..cmt() }),
        ("recovery_by_cuc", Cmt { recovery_by_cuc: false, ..cmt() }),
    ];
    all.extend(Cuc::ALL.iter().map(|&cuc| ("cuc", Cmt { cuc, ..cmt() })));
    all.extend(RtxPolicy::ALL.iter().map(|&rtx| ("rtx", Cmt { rtx, ..cmt() })));
    all.extend(
        PathSelection::ALL.iter().map(|&path_selection| ("path_selection", Cmt { path_selection, ..cmt() })),
    );
    all
}

// rfc9260#section-7
#[test]
fn without_cmt_its_options_change_no_packet() {
    for paths in [1, 2] {
        let standard = fingerprint(paths, &Config::default());
        for (option, cmt) in other_options() {
            assert!(!cmt.enabled);
            assert_eq!(fingerprint(paths, &with(cmt)), standard, "{option} with {paths} paths");
        }
    }
}

/// Checks that the digest detects differences: with CMT on, each of these options changes the digest.
#[test]
fn with_cmt_its_options_change_packets() {
    let base = fingerprint(2, &with(Cmt { enabled: true, ..Cmt::default() }));
    assert_ne!(base, fingerprint(2, &Config::default()));
    for (option, cmt) in other_options().into_iter().filter(|(_, cmt)| *cmt != Cmt::default()) {
        let run = fingerprint(2, &with(Cmt { enabled: true, ..cmt.clone() }));
        if ["sfr", "dac", "rtx"].contains(&option) {
            assert_ne!(run, base, "{cmt:?}");
        }
    }
}

/// With one path, CMT behaves as standard SCTP if all options that change standard rules are off.
#[test]
fn with_one_path_cmt_without_its_options_is_standard_sctp() {
    let plain = Cmt {
        enabled: true,
        sfr: false,
        dac: false,
        cuc: Cuc::Normal,
        smart_fast_rtx: false,
        rtt_heuristic: false,
        recovery_by_cuc: false,
        ..Cmt::default()
    };
    for rtx in [RtxPolicy::Same, RtxPolicy::Alternate] {
        for &path_selection in PathSelection::ALL {
            let config = |cmt| Config { cmt, growth: cc::GrowthRule::Rfc4960, ..Config::default() };
            let cmt = fingerprint(1, &config(Cmt { rtx, path_selection, ..plain.clone() }));
            let standard = fingerprint(1, &config(Cmt::default()));
            assert_eq!(cmt, standard, "{rtx} {path_selection}");
        }
    }
}
