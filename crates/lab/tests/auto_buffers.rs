//! Tests of buffers of automatic size: they carry as much as the best fixed size.

use crate::common;

use anabranch_lab::scenario::Flow;
use common::*;
use transport::BufferSize;
use units::{BitRate, Span};

/// Throughput in Mbit/s over disjoint paths of these rates in Mbit/s and delays in ms, from 5 s to 15 s.
fn measured(of: &[(u64, u64)], change: impl Fn(&mut Flow)) -> f64 {
    let mut scenario = disjoint_paths(BitRate::from_mbps(2000), of.len() as u8);
    for (n, &(rate, delay)) in of.iter().enumerate() {
        impair(&mut scenario.links[3 * n + 1], |channel| {
            channel.transmitter = BitRate::from_mbps(rate).into();
            channel.delay = Span::from_millis(delay).into();
        });
    }
    let flow = &mut scenario.flows[0];
    (flow.reset_time, flow.stop_time) = (Span::from_secs(5), Span::from_secs(15));
    change(flow);
    scalar(&run(&scenario), "flow", "throughput_bps") * 1e-6
}

/// The throughput of SCTP with the recommended options and this size of both buffers.
fn throughput(of: &[(u64, u64)], buffer: BufferSize) -> f64 {
    let options = sctp::Config { receive_buffer: buffer, send_buffer: buffer, ..sctp::Config::recommended() };
    measured(of, |flow| (flow.client_options, flow.server_options) = (options.clone(), options.clone()))
}

/// A path of 903 Mbit/s with a round-trip time of 173 ms needs a window of 19.5 MB.
#[test]
fn a_long_fat_path_carries_as_much_as_with_the_largest_buffer() {
    let path = [(903, 86)];
    let [small, best] = [4, 64].map(|mib| throughput(&path, BufferSize::fixed(mib << 20)));
    let auto = throughput(&path, BufferSize::Auto);
    assert!(auto > 3.0 * small && auto > 0.95 * best, "{small}, {best} and {auto} Mbit/s");
}

#[test]
fn two_unequal_paths_carry_as_much_as_with_a_buffer_of_their_choice() {
    let paths = [(50, 10), (10, 50)];
    let best = throughput(&paths, BufferSize::fixed(4 << 20));
    let auto = throughput(&paths, BufferSize::Auto);
    assert!(auto > 0.95 * best, "{auto} of {best} Mbit/s");
}

/// On the path of 903 Mbit/s and 173 ms, the default buffers (6 MiB to receive, 1 MiB to send) carry only a
/// fraction of the rate. The short queue of the path limits the flow with the largest fixed buffers, too.
#[test]
fn tcp_carries_as_much_over_a_long_fat_path_as_with_the_largest_buffer() {
    let modern = tcp::Config { control: cc::Algorithm::Cubic, pacing: true, ..tcp::Config::modern() };
    let both = |buffer| tcp::Config { receive_buffer: buffer, send_buffer: buffer, ..modern.clone() };
    let [small, best, auto] = [modern.clone(), both(BufferSize::fixed(64 << 20)), both(BufferSize::Auto)]
        .map(|options| measured(&[(903, 86)], |flow| over_tcp(flow, &options)));
    assert!(auto > 3.0 * small && auto > 0.95 * best, "{small}, {best} and {auto} Mbit/s");
}
