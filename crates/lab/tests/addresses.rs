//! Addresses of hosts that change during an association.

use crate::common;

use common::{disjoint_paths, path_scalar, run, scalar};
use lab::output::RunOutput;
use lab::scenario::Renumbering;
use sctp::{Config, PathSet};
use units::{BitRate, Instant, Span};

use anabranch_lab as lab;

/// An upload over two paths of 10 Mbit/s, measured from 5 s to 25 s. At the times `at` the client gets
/// another address on the first path.
fn upload(options: Config, at: &[u64]) -> RunOutput {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    let renumbering = |&s: &u64| Renumbering { second: false, at: Instant::ZERO + Span::from_secs(s) };
    scenario.links[0].renumber = at.iter().map(renumbering).collect();
    let flow = &mut scenario.flows[0];
    (flow.client_options, flow.server_options) = (options.clone(), options);
    (flow.reset_time, flow.stop_time) = (Span::from_secs(5), Span::from_secs(25));
    run(&scenario)
}

// rfc5061#section-5.3
#[test]
fn a_transfer_goes_on_from_new_addresses_if_the_peer_learns_of_them() {
    let throughput = |output: &RunOutput| scalar(output, "flow", "throughput_bps");
    let options = Config::recommended();
    let [never, twice] = [&[][..], &[8, 16]].map(|at| upload(options.clone(), at));
    assert!(throughput(&twice) > 0.97 * throughput(&never), "{} {}", throughput(&twice), throughput(&never));
    let sent = |output: &RunOutput| path_scalar(output, "flow", Some(0), "sent_throughput_bps");
    assert!(sent(&twice) > 0.45 * throughput(&never), "both paths carry data: {}", sent(&twice));
    assert_eq!(scalar(&twice, "flow", "timeouts"), 0.0, "what was in flight is retransmitted at once");
}

#[test]
fn without_asconf_the_path_of_the_old_address_carries_nothing_any_more() {
    let throughput = |output: &RunOutput| scalar(output, "flow", "throughput_bps");
    // With `PathSet::Addresses`, the packets of the first path would leave from the other address of the
    // client after the change.
    let options = Config { asconf: false, paths: PathSet::SameSubnet, ..Config::recommended() };
    let [never, once] = [&[][..], &[15]].map(|at| upload(options.clone(), at));
    let share = throughput(&once) / throughput(&never);
    assert!((0.70..0.78).contains(&share), "two paths for half of the time, then one: {share}");
    let sent = |path| path_scalar(&once, "flow", Some(path), "sent_throughput_bps");
    assert!((0.4..0.6).contains(&(sent(0) / sent(1))), "each keeps what it counted: {} {}", sent(0), sent(1));
}
