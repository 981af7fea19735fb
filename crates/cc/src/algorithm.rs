//! Registry of the algorithms that scenarios can name: one line below and one file for each.

use crate::{CongestionControl, Setup};
use transport::{named, options};

pub use bbr::BbrKnobs;
pub use braid::BraidKnobs;
pub use cubic::CubicKnobs;
pub use fast::FastKnobs;
pub use ledbat::LedbatKnobs;
pub use ledbat_mp::LedbatMpKnobs;
pub use ledbat_pp::LedbatPpKnobs;
pub use lia::LiaKnobs;
pub use mpplus::MpPlusKnobs;
pub use multcp::MulTcpKnobs;
pub use olia::{OliaBest, OliaKnobs};
pub use rpv2::RpV2Knobs;
pub use wvegas::WVegasKnobs;

/// Declares the algorithms: enum value, name, file below `algorithm/` with a function `build(&Setup) ->
/// Box<dyn CongestionControl>`, the groups of [`Knobs`] that it takes as further arguments, and the
/// algorithm that it equals on an uncoupled path.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $file:ident $(with $($group:ident)+)?, alone $parent:ident;)+) => {
        $(mod $file;)+

        named! {
            /// A congestion control that scenarios can name.
            #[non_exhaustive]
            "congestion control" Algorithm { $($(#[$doc])* $variant = $name,)+ }
        }

        impl Algorithm {
            /// Builds a controller for one association, without paths. An algorithm reads its own groups of
            /// `knobs`.
            pub fn build(self, setup: &Setup, knobs: &Knobs) -> Box<dyn CongestionControl> {
                match self { $(Algorithm::$variant => $file::build(setup $($(, knobs.$group)+)?)),+ }
            }

            /// The algorithm that this one equals on an uncoupled path; itself if it couples no paths.
            pub fn alone(self) -> Algorithm {
                match self { $(Algorithm::$variant => Algorithm::$parent),+ }
            }
        }
    };
}

algorithms! {
    #[doc = "Standard SCTP on each path for itself; over several paths at once this is uncoupled CMT. In TCP, Reno."]
    Standard = "standard" in standard, alone Standard;
    #[doc = "CUBIC on each path for itself."]
    Cubic = "cubic" in cubic with cubic, alone Cubic;
    #[doc = "CUBIC, coupled: ours, the paths together are one flow of CUBIC, whichever of them share a bottleneck."]
    CoupledCubic = "coupled-cubic" in coupled_cubic with cubic, alone Cubic;
    #[doc = "mulTCP: each path is as aggressive as several standard flows."]
    MulTcp = "multcp" in multcp with multcp, alone MulTcp;
    #[doc = "CMT/RP, version 1: the paths share one pool of resources."]
    CmtRpV1 = "rpv1" in rpv1, alone Standard;
    #[doc = "CMT/RP, version 2: the paths share one pool of resources by their rates."]
    CmtRpV2 = "rpv2" in rpv2 with rpv2, alone Standard;
    #[doc = "LIA: linked increases, the first coupled control of MPTCP."]
    Lia = "lia" in lia with lia, alone Standard;
    #[doc = "OLIA: linked increases that shift traffic to the best paths."]
    Olia = "olia" in olia with olia, alone Standard;
    #[doc = "BALIA: linked increases and decreases in balance."]
    Balia = "balia" in balia, alone Standard;
    #[doc = "Braid: ours, one flow's aggressiveness divided among the paths by what each would give a flow alone."]
    Braid = "braid" in braid with braid, alone Standard;
    #[doc = "wVegas: keeps a total number of packets of all paths in queues."]
    WVegas = "wvegas" in wvegas with wvegas, alone WVegas;
    #[doc = "FAST on each path for itself: keeps α packets in queues."]
    Fast = "fast" in fast with fast, alone Fast;
    #[doc = "Multipath FAST, weighted: keeps α packets of all paths together in queues."]
    FastWeighted = "fast-weighted" in fast_weighted with fast, alone Fast;
    #[doc = "BBR, version 3, on each path for itself: a model of bandwidth and propagation delay sets rate and window."]
    Bbr = "bbr" in bbr with bbr, alone Bbr;
    #[doc = "BBR, coupled: ours, the paths together take what one flow of BBR would take."]
    BbrCoupled = "bbr-coupled" in bbr_coupled with bbr, alone Bbr;
    #[doc = "LEDBAT on each path for itself: a background flow that keeps the queue at a target delay."]
    Ledbat = "ledbat" in ledbat with ledbat, alone Ledbat;
    #[doc = "LEDBAT-MP: LEDBAT on each path for itself, with the shorter memory of its paper."]
    LedbatMp = "ledbat-mp" in ledbat_mp with ledbat ledbat_mp, alone LedbatMp;
    #[doc = "LEDBAT++ on each path for itself."]
    LedbatPp = "ledbat-pp" in ledbat_pp with ledbat_pp, alone LedbatPp;
    #[doc = "LEDBAT-MP+: ours, a background control whose paths share a bottleneck."]
    MpPlus = "mpplus" in mpplus with mpplus, alone MpPlus;
}

options! {
    /// Options of congestion controls, a group for each control or family of controls.
    #[derive(Copy)]
    pub struct Knobs {
        /// Options of CUBIC and coupled CUBIC.
        cubic: cubic::CubicKnobs = Default::default();
        /// Options of mulTCP.
        multcp: multcp::MulTcpKnobs = Default::default();
        /// Options of CMT/RP, version 2.
        rpv2: rpv2::RpV2Knobs = Default::default();
        /// Options of LIA.
        lia: lia::LiaKnobs = Default::default();
        /// Options of OLIA.
        olia: olia::OliaKnobs = Default::default();
        /// Options of Braid.
        braid: braid::BraidKnobs = Default::default();
        /// Options of wVegas.
        wvegas: wvegas::WVegasKnobs = Default::default();
        /// Options of FAST and multipath FAST.
        fast: fast::FastKnobs = Default::default();
        /// Options of BBR.
        bbr: bbr::BbrKnobs = Default::default();
        /// Options of LEDBAT. LEDBAT-MP uses them, too, except `base_history`.
        ledbat: ledbat::LedbatKnobs = Default::default();
        /// Options of LEDBAT-MP.
        ledbat_mp: ledbat_mp::LedbatMpKnobs = Default::default();
        /// Options of LEDBAT++.
        ledbat_pp: ledbat_pp::LedbatPpKnobs = Default::default();
        /// Options of LEDBAT-MP+.
        mpplus: mpplus::MpPlusKnobs = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use units::ByteCount;

    use super::*;
    use crate::GrowthRule;

    #[test]
    fn every_name_builds_its_algorithm() {
        let setup = Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), ByteCount::new(65_536), 1);
        for word in Algorithm::NAMES {
            let algorithm: Algorithm = word.parse().unwrap();
            assert_eq!(algorithm.build(&setup, &Knobs::default()).name(), *word);
        }
    }

    #[test]
    fn unknown_name_error_lists_the_names() {
        let error = "reno".parse::<Algorithm>().unwrap_err();
        let expected = Algorithm::NAMES.join(", ");
        assert_eq!(error.to_string(), format!(r#"unknown congestion control "reno": expected {expected}"#));
    }
}
