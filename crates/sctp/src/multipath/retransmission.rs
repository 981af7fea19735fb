//! Retransmission policies: they choose the path on which a lost chunk is retransmitted.

use crate::config::RtxPolicy;
use crate::draws::Draws;
use crate::path::{LossCause, Path, PathId, Paths};
use units::ByteCount;

/// Chooses the path for chunks lost on path `on`. Only `Asap` considers whether paths have room, and returns
/// `None` if none has. Among equally good paths the choice is random.
pub(crate) fn target(
    policy: RtxPolicy,
    on: PathId,
    cause: LossCause,
    lost: ByteCount,
    paths: &Paths,
    random: &mut Draws,
) -> Option<PathId> {
    if !paths.iter().any(Path::is_active) {
        // rfc9260#section-8.2: with no active path left, keep trying.
        return paths.best_failing().or(Some(on));
    }
    let stay = if paths[on].is_active() { Some(on) } else { paths.next_active(on) };
    let time =
        |path: &Path| path.time_for(lost, path.window_rate()).unwrap_or(path.rto.current().as_secs_f64());
    let best = |key: fn(&Path) -> f64, random: &mut Draws| {
        let active = || paths.ids().filter(|&p| paths[p].is_active());
        let top = active().map(|p| key(&paths[p])).fold(f64::NEG_INFINITY, f64::max);
        pick(active().filter(|&p| key(&paths[p]) == top), random)
    };
    let target = match policy {
        RtxPolicy::Fastest => {
            // If no path answers: after a timeout, a path other than `on` (rfc9260#section-6.4), preferably
            // one that is not silent. If `on` has answered since the timeout, `answering` contains it.
            let otherwise = match cause {
                LossCause::FastRetransmit => stay,
                LossCause::Timeout => paths.next_usable(on).or_else(|| paths.next_active(on)),
            };
            let answering = paths.ids().filter(|&p| paths[p].answers() && !paths.is_spared(p));
            // rfc9260#section-6.4: of two equally fast paths, the sender prefers the one that is not `on`.
            let sooner = |&a: &PathId, &b: &PathId| {
                time(&paths[a]).total_cmp(&time(&paths[b])).then((a == on).cmp(&(b == on)))
            };
            answering.min_by(sooner).or(otherwise)
        }
        RtxPolicy::Same => stay,
        RtxPolicy::Alternate if cause == LossCause::FastRetransmit => stay,
        RtxPolicy::Alternate => paths.next_active(on),
        RtxPolicy::Asap => {
            pick(paths.ids().filter(|&p| paths[p].is_active() && !paths[p].space().is_zero()), random)
                .or_else(|| paths[on].may_resend.then_some(stay).flatten())
        }
        RtxPolicy::Cwnd => best(|p| p.window.cwnd.as_f64(), random),
        RtxPolicy::Ssthresh => best(|p| p.window.ssthresh.map_or(f64::INFINITY, |s| s.as_f64()), random),
        RtxPolicy::LossRate => best(|p| -p.loss_rate, random),
    };
    target.map(|p| paths.or_cheaper(p))
}

/// Returns one of the candidates, each with the same probability. A single candidate takes no random number.
fn pick(candidates: impl Iterator<Item = PathId> + Clone, random: &mut Draws) -> Option<PathId> {
    let n = candidates.clone().count() as u64;
    match n {
        0 => None,
        1 => candidates.into_iter().next(),
        n => candidates.into_iter().nth((random.number() % n) as usize),
    }
}
