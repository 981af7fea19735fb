//! Groups of paths: a coupled congestion control couples only the paths of the same group.

use crate::common;

use cc::Algorithm;
use common::*;
use units::{BitRate, Span};

/// Digest of the packets of one saturated flow over two disjoint paths.
fn digest(algorithm: Algorithm, groups: &[u8]) -> String {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    flow.stop_time = Span::from_secs(6);
    flow.client_options.congestion_control = algorithm.into();
    flow.client_options.cmt.groups = groups.to_vec();
    run(&scenario).digest.to_string()
}

/// The congestion controls that couple paths.
const COUPLED: [Algorithm; 11] = [
    Algorithm::CmtRpV1,
    Algorithm::CmtRpV2,
    Algorithm::Lia,
    Algorithm::Olia,
    Algorithm::Balia,
    Algorithm::Braid,
    Algorithm::CoupledCubic,
    Algorithm::WVegas,
    Algorithm::FastWeighted,
    Algorithm::MpPlus,
    Algorithm::BbrCoupled,
];

#[test]
fn paths_in_separate_groups_send_like_single_paths() {
    for &algorithm in Algorithm::ALL {
        assert_eq!(digest(algorithm, &[0, 1]), digest(algorithm.alone(), &[0, 1]), "{algorithm}");
    }
}

#[test]
fn groups_change_the_packets_of_coupled_controls() {
    for &algorithm in Algorithm::ALL {
        let (together, apart) = (digest(algorithm, &[]), digest(algorithm, &[0, 1]));
        assert_eq!(together != apart, COUPLED.contains(&algorithm), "{algorithm}");
        assert_eq!(
            together,
            digest(algorithm, &[3, 3]),
            "{algorithm}: the number of the group must not matter"
        );
    }
}
