//! The algorithms that scenarios can name. A line below and the file it names are all that one takes.

use crate::names::named;
use crate::{CongestionControl, Setup};

/// One line for each algorithm: its value, its word, and its file below `algorithm/`, which holds a function
/// `build(&Setup) -> Box<dyn CongestionControl>`.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $file:ident;)+) => {
        $(mod $file;)+

        named! {
            /// A congestion control that scenarios can name.
            "congestion control" Algorithm { $($(#[$doc])* $variant = $name,)+ }
        }

        impl Algorithm {
            /// A controller for one association, which has no path yet.
            pub fn build(self, setup: &Setup) -> Box<dyn CongestionControl> {
                match self { $(Algorithm::$variant => $file::build(setup)),+ }
            }
        }
    };
}

algorithms! {
    #[doc = "Standard SCTP on each path for itself; over several paths at once this is uncoupled CMT."]
    Standard = "standard" in standard;
    #[doc = "CMT/RP, version 1: the paths share one pool of resources."]
    CmtRpV1 = "rpv1" in rpv1;
}

#[cfg(test)]
mod tests {
    use units::ByteCount;

    use super::*;
    use crate::{GrowthRule, UnsetShare};

    #[test]
    fn every_word_builds_the_algorithm_of_that_name() {
        let setup = Setup {
            growth: GrowthRule::Rfc9260,
            peer_rwnd: ByteCount::new(65_536),
            ip_header: ByteCount::new(20),
            paths: 1,
            rp_min: 4,
            unset_share: UnsetShare::Raw,
        };
        for word in Algorithm::NAMES {
            let algorithm: Algorithm = word.parse().unwrap();
            assert_eq!(algorithm.build(&setup).name(), *word);
        }
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_right_ones() {
        let error = "reno".parse::<Algorithm>().unwrap_err();
        let expected = Algorithm::NAMES.join(", ");
        assert_eq!(error.to_string(), format!(r#"unknown congestion control "reno": expected {expected}"#));
    }
}
