//! Path selection: the order in which paths are offered new data (`cmtSendAllVariant`, paper 001 §4.1).

use crate::config::PathSelection;
use crate::path::{Path, PathId, Paths};
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use units::ByteCount;

/// Writes the active paths into `order`, first to be served first; equals stay in the order of their addresses.
pub(crate) fn order(
    selection: PathSelection,
    paths: &Paths,
    random: &mut ChaCha8Rng,
    order: &mut Vec<PathId>,
) {
    order.clear();
    order.extend(paths.ids().filter(|&p| paths[p].is_active()));
    let ssthresh = |p: &Path| p.window.ssthresh.unwrap_or(ByteCount::MAX);
    use std::cmp::Reverse;
    match selection {
        PathSelection::SmallestLastTransmission | PathSelection::RoundRobin => {
            order.sort_by_key(|&p| paths[p].last_order);
        }
        PathSelection::LargestSpace => order.sort_by_key(|&p| Reverse(paths[p].space())),
        PathSelection::LargestSsthresh => order.sort_by_key(|&p| Reverse(ssthresh(&paths[p]))),
        PathSelection::LargestSsthreshAndSpace => {
            order.sort_by_key(|&p| (Reverse(ssthresh(&paths[p])), Reverse(paths[p].space())));
        }
        PathSelection::Random => {
            for i in (1..order.len()).rev() {
                order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
            }
        }
    }
}
