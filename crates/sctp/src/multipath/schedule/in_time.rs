//! A path carries new data if that arrives before the window of the transfer closes; ours, after BLEST (see there).
//!
//! BLEST takes smoothed round-trip times, and that of a path which is left out stays what its own queue made of it: it may
//! never be used again, while the other fills a queue of its own. Here the round-trip time is one at a load. A path whose
//! window c is full has the smoothed one, r, an empty one the least that was seen, b, and between them it is
//!
//! ```text
//! r(x) = b + (r - b) min(1, x/c),     x bytes in flight
//! ```
//!
//! What a path carries is y. It is the most of x/r lately, s, which halves in two or three seconds, or c/r if that is not
//! much more: a path that the others block does not seem slow at once, and one that never fills its window does not seem
//! fast. A path that was not used for long is used again if it would be the best one. Of x/r no more counts than 5/4 of what the path
//! delivered in one of the last four round trips, in slow start no more than twice that: where a burst meets a long queue, r is late.
//!
//! ```text
//! y = max(min(s, 5/4 c/r), min(c/r, 1.5 s))
//! ```
//!
//! In the first slow start it is not limited to 5/4 c/r. After it, losses can make c/r small within a second, and what the path carried before no
//! longer counts.
//!
//! In slow start y is not known yet. The path that would be the best alone, of the largest min(y, W/b) in a window of W
//! bytes for the transfer, is always used. In slow start its y counts as ssthresh/l for this, where l is the longest r lately: a queue belongs to the window
//! that made it. In the first one, where there is no ssthresh, it is unlimited; but neither a deep queue nor a small W ends that one, so while packets
//! wait longer than b in queues, the larger of y and c/r counts. A path that had three quarters of W in flight carries no more than W/r with the r of
//! then, unless s is more. All this is forgotten within half a minute. A path in its first slow start takes the place of a best one that has left its
//! own only if its W/b is 1.05 times the most that this one delivered lately, or 1.5 times its y if that is less. The others are
//! added in the order of their delays as long as the sum of y grows. While a packet of m bytes on another path p is on its way,
//! the paths in use send on, and if the window has no room for that, p blocks them. A path stays in use when it has all in flight that there is room
//! for, x_p. With v the variation of its RTT:
//!
//! ```text
//! p carries it if   (f h + e R) Σ y_i + x_p + m <= 31/32 W,   h = max(r_p(x_p + m) + v/2, (x_p + m)/(5/4 d_p))
//! and if            min(Σ y_i + g_p, W/max(h, h')) > 1.02 min(Σ y_i, W/h')
//! ```
//!
//! h' is the longest h of the paths in use, and of the best one b + v/2: if it fills the window alone, it fills its own queue, and that empties as soon as
//! another path carries a part.
//!
//! d is the highest rate at which the path delivered in one of the last four round trips. After a burst into a long queue r does not include that queue yet,
//! but the path still needs x/d to deliver x bytes. In slow start the second term is left out, since a smaller window limited d. In the first slow start it
//! counts once packets wait longer than b in queues.
//!
//! g is what the window of p promises: c/r, in slow start ssthresh/b or 2c/r, and y if that is more. While a path is left out,
//! its y fades to zero and its window shrinks, and with y or c/r alone it would never be used again. The second condition does not
//! bind a path that has not left its first slow start.
//!
//! A packet lost on p arrives later by R, the time that its retransmission takes on the path of the least r(x). If the window has no room for that, all
//! paths wait. With l loss events per packet p brings m/l bytes between two of them, and each costs R Σ y_i at most:
//!
//! ```text
//! e = min(1, R Σ y_i / 2(m/l))
//! ```
//!
//! f is 1 until p costs the others more than it sends itself. While new data waits for room at the peer, and the earliest outstanding chunk is on p,
//! each second costs so many bytes, with K bytes of the window that are not in flight:
//!
//! ```text
//! Σ min(y_i, min(cwnd_i - x_i, K)/r_i)
//! ```
//!
//! If a round trip costs more than p sends in it, and the last second or so did, too, f grows by a quarter, up to 4. Otherwise it falls back towards 1,
//! to 1/e of the difference in ten seconds. BLEST has a λ like this, but one for all paths (see `blocking.rs`).
//!
//! While the best path is in slow start, its y counts with what it grows to in h.
//!
//! An unordered message waits for no other, and blocks nothing: if the peer sends NR-SACKs, the window has to hold what is in
//! flight, and no more. Then a path has enough in flight with 5/4 of y b, and with P the others in use, the condition is
//!
//! ```text
//! p carries it if   Σ_P y_i b_i + x_p + m <= W
//! ```
//!
//! Of the paths that may carry it, the one with the least r(x) does, of unordered messages the one with the least r(x) of those
//! that have not enough in flight. So of equal paths none fills its queue before the other is used, and a slow one is used as far
//! as it is in time.

use super::blocking::Blocking;
use super::delivered::Delivered;
use super::losses::Losses;
use super::{Opportunity, Scheduler, SchedulerTraits, faded};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use units::{ByteCount, Instant, Span};

#[derive(Debug)]
pub(super) struct InTime {
    paths: Vec<Estimate>,
    /// The path that would be the best alone, when it was last looked for.
    best: Option<PathId>,
    /// The paths beside the best one, by h.
    others: Vec<(f64, PathId)>,
    /// Rates were last estimated then.
    last: Instant,
    /// Present while the window of the peer is full.
    waiting: Option<Waiting>,
}

/// New data has waited since `since` for a chunk on `path`. Each second the other paths send `unsent` bytes less than they could.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Instant,
    path: PathId,
    unsent: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// s in bytes a second.
    seen: f64,
    /// y in bytes a second.
    rate: f64,
    in_time: bool,
    delivered: Delivered,
    losses: Losses,
    blocking: Blocking,
    /// The most that it delivered in a round trip lately, in bytes a second.
    proven: f64,
    /// l in seconds.
    longest: f64,
    /// The longest wait in queues lately, in seconds.
    waited: f64,
    /// The round-trip time with most of the window in flight here, in seconds.
    filled: f64,
}

/// A maximum fades to 1/e in so many seconds.
const FADING: f64 = 3.0;

/// What a queue did to a round-trip time is remembered so many times longer than a rate.
const SLOWER: f64 = 10.0;

/// A path that has this share of the window in flight counts as filling it.
const FILLED: f64 = 0.75;

/// How much more than was seen lately a window may promise.
const PROMISE: f64 = 1.5;

/// How much more than it delivered a path may seem to carry.
const BEYOND: f64 = 1.25;

/// Packets that wait so many times the least round-trip time in a queue fill the path.
const LONG_WAIT: f64 = 1.0;

/// A path in its first slow start becomes the best one only if its W/b is so many times the most that the present best one delivered in a round trip.
const UNKNOWN: f64 = 1.05;

/// So many times what the best one carries now is enough, too. It is more than 1 because after a loss the best one carries up to 30 % less for some round
/// trips, because no path carries quite as much as W/b, and because the best one may have to wait while the other one is tried.
const UNKNOWN_NOW: f64 = 1.5;

/// Share of the window that is left to what varies: delayed acknowledgements, bursts, jitter.
const SPARE: f64 = 1.0 / 32.0;

/// Weight of the RTT variation.
const VARIATION: f64 = 0.5;

/// Weight of what a loss costs against what a path brings: in random topologies a quarter and one half were better than 1.
const RISK: f64 = 0.5;

/// In slow start the window doubles in a round trip, and a path counts with the doubled one.
const NEXT_ROUND: f64 = 2.0;

/// The best path in slow start doubles its rate so many times at most while a packet of another path is on its way.
const MOST_ROUNDS: f64 = 3.0;

/// A path is used if it adds this share.
const GAIN: f64 = 0.02;

/// What a path has in flight without a queue, and a quarter more, so that its rate can be seen to grow.
const ENOUGH: f64 = 1.25;

/// What the paths in use carry.
struct InUse {
    /// Σ y.
    rate: f64,
    /// h'.
    longest: f64,
    /// Σ y b.
    in_flight: f64,
    /// R.
    repair: f64,
}

impl Estimate {
    /// Makes a new estimate. What was seen before is multiplied by `fading`.
    fn renew(&mut self, now: Instant, path: &Path, srtt: Span, fading: f64, window: f64) {
        self.delivered.update(now, path, srtt);
        let beyond = if is_growing(path) { NEXT_ROUND } else { BEYOND };
        let most = self.delivered.most().map_or(f64::INFINITY, |rate| rate * beyond);
        let seconds = srtt.as_secs_f64().max(LEAST_TIME);
        self.seen = (path.flight.as_f64() / seconds).min(most).max(self.seen * fading);
        let allowed = if is_unknown(path) { f64::INFINITY } else { BEYOND * promise(path) };
        self.rate = promise(path).min(PROMISE * self.seen).max(self.seen.min(allowed));
        let slowly = 1.0 - (1.0 - fading) / SLOWER;
        self.proven = self.delivered.most().unwrap_or(0.0).max(self.proven * slowly);
        self.longest = seconds.max(self.longest * slowly);
        self.waited = path.wait().as_secs_f64().max(self.waited * slowly);
        let fills = path.flight.as_f64() > window * FILLED;
        self.filled = if fills { seconds } else { self.filled * slowly };
        self.losses.update(&path.stats, slowly);
        self.blocking.update(now, path.stats.user_bytes, srtt);
        self.in_time = false;
    }

    /// Forgets the estimate of a path that does not answer, but not what it delivered, lost and cost.
    fn pause(&mut self) {
        let Estimate { losses, blocking, .. } = *self;
        *self = Estimate { delivered: self.delivered.paused(), losses, blocking, ..Estimate::default() };
    }

    /// h: the time in seconds until the next packet on this path is acknowledged.
    fn hold(&self, path: &Path) -> f64 {
        let flight = path.flight + path.mtu;
        let time = round_trip(path, flight) + varies(path);
        // A path in slow start can deliver more than it did, unless packets already wait in its queue.
        let is_full = if is_unknown(path) { self.has_queue(path) } else { !is_growing(path) };
        match self.delivered.most() {
            Some(most) if is_full => time.max(flight.as_f64() / (most * BEYOND)),
            _ => time,
        }
    }

    /// True if packets waited so long in queues lately that a larger window only makes these longer.
    fn has_queue(&self, path: &Path) -> bool {
        self.waited > base_of(path) * LONG_WAIT
    }
}

impl InTime {
    pub(super) fn new() -> Self {
        InTime { paths: Vec::new(), best: None, others: Vec::new(), last: Instant::ZERO, waiting: None }
    }

    /// Estimates what each path carries and decides which of the `candidates` may carry the next packet.
    fn look(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) {
        self.estimate(at);
        let Some(best) = self.find_best(at, candidates) else {
            // If no path answers, there is none to wait for.
            self.paths.iter_mut().for_each(|estimate| estimate.in_time = true);
            return;
        };
        self.paths[best.index()].in_time = true;
        self.others.clear();
        let others = candidates.iter().filter(|&&p| p != best);
        let estimates = &self.paths;
        self.others.extend(others.map(|&p| (estimates[p.index()].hold(&at.paths[p]), p)));
        self.others.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut in_use = InUse {
            rate: self.paths[best.index()].rate,
            longest: base_of(&at.paths[best]) + varies(&at.paths[best]),
            in_flight: self.in_flight(at, best),
            repair: repair_time(at),
        };
        for n in 0..self.others.len() {
            let (hold, p) = self.others[n];
            let spare = match at.unblocked {
                true => spare_window(at, &in_use),
                false => self.spare(at, best, p, hold, &in_use),
            };
            self.paths[p.index()].in_time = (at.paths[p].flight + at.paths[p].mtu).as_f64() <= spare;
            // A path that may send no more because it has enough in flight is in use, too.
            if at.paths[p].mtu.as_f64() <= spare {
                in_use.rate += self.paths[p.index()].rate;
                in_use.longest = in_use.longest.max(hold);
                in_use.in_flight += self.in_flight(at, p);
            }
        }
    }

    /// y b in bytes: what a path has in flight without a queue.
    fn in_flight(&self, at: &Opportunity<'_>, p: PathId) -> f64 {
        self.paths[p.index()].rate * at.paths[p].rto.base().map_or(0.0, |base| base.as_secs_f64())
    }

    fn estimate(&mut self, at: &Opportunity<'_>) {
        self.paths.resize(at.paths.len(), Estimate::default());
        let fading = faded(at.now.since(self.last).as_secs_f64(), FADING);
        self.last = at.now;
        self.end_waiting(at.now);
        for (path, estimate) in at.paths.iter().zip(&mut self.paths) {
            match path.rto.srtt() {
                Some(srtt) if answers(path) => estimate.renew(at.now, path, srtt, fading, at.window.as_f64()),
                _ => estimate.pause(),
            }
        }
    }

    /// Charges a wait to the path that was waited for.
    fn end_waiting(&mut self, now: Instant) {
        let Some(Waiting { since, path, unsent }) = self.waiting.take() else { return };
        if let Some(estimate) = self.paths.get_mut(path.index()) {
            estimate.blocking.add_cost(unsent * now.since(since).as_secs_f64());
        }
    }

    /// Bytes a second that the paths in use other than `blocking` could send, but do not, while `held` bytes of a full window are not in flight.
    fn unsent(&self, at: &Opportunity<'_>, blocking: PathId, held: ByteCount) -> f64 {
        let others = at.paths.ids().filter(|&p| p != blocking && answers(&at.paths[p]));
        let unsent = others.filter_map(|p| {
            let estimate = self.paths.get(p.index()).filter(|estimate| estimate.in_time)?;
            let (path, srtt) = (&at.paths[p], at.paths[p].rto.srtt()?);
            let missing = path.space().min(held).as_f64();
            Some(estimate.rate.min(missing / srtt.as_secs_f64().max(LEAST_TIME)))
        });
        unsent.sum()
    }

    /// The path that would be the best alone; none if no path answers.
    fn find_best(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) -> Option<PathId> {
        let demand = self.demand(at);
        let mut best = None;
        for &p in candidates.iter().filter(|&&p| answers(&at.paths[p])) {
            let path = &at.paths[p];
            let estimate = &self.paths[p.index()];
            let Estimate { rate, seen, longest, filled, .. } = *estimate;
            let carries = match path.window.ssthresh {
                None if estimate.has_queue(path) => rate.max(promise(path)),
                None => f64::INFINITY,
                Some(ssthresh) if path.window.cwnd < ssthresh => rate.max(ssthresh.as_f64() / longest),
                Some(_) => rate,
            };
            // What the window lets it carry: no less than was seen.
            let alone = carries.min((at.window.as_f64() / base_of(path).max(filled)).max(seen));
            let alone = if is_unknown(path) { alone / demand } else { alone };
            if best.is_none_or(|(_, most)| alone > most) {
                best = Some((p, alone));
            }
        }
        self.best = best.map(|(p, _)| p);
        self.best
    }

    /// A path in its first slow start must promise so many times what the best one carries.
    fn demand(&self, at: &Opportunity<'_>) -> f64 {
        let Some(best) = self.best.filter(|&p| !is_unknown(&at.paths[p])) else { return 1.0 };
        let Estimate { rate, proven, .. } = self.paths[best.index()];
        match proven > 0.0 && rate > 0.0 {
            true => (UNKNOWN * proven / rate).clamp(UNKNOWN, UNKNOWN_NOW),
            false => UNKNOWN_NOW,
        }
    }

    /// Bytes that path `p`, whose packets take `hold` seconds, may have in flight; negative if it adds nothing.
    fn spare(&self, at: &Opportunity<'_>, best: PathId, p: PathId, hold: f64, in_use: &InUse) -> f64 {
        let (path, window) = (&at.paths[p], at.window.as_f64());
        let promised = grown(path).max(self.paths[p.index()].rate);
        let lost = in_use.rate * in_use.repair * self.paths[p.index()].losses.per_packet();
        let risk = (RISK * lost / path.mtu.as_f64()).min(1.0);
        let growth = self.growth(&at.paths[best], hold) * self.paths[best.index()].rate;
        let without = in_use.rate.min(window / in_use.longest.max(LEAST_TIME));
        let with = (in_use.rate + promised).min(window / in_use.longest.max(hold).max(LEAST_TIME));
        let adds = path.window.ssthresh.is_none() || with >= without * (1.0 + GAIN);
        let time = hold * self.paths[p.index()].blocking.factor() + risk * in_use.repair;
        if adds { window * (1.0 - SPARE) - (in_use.rate + growth) * time } else { -1.0 }
    }

    /// By how much the rate of the best path grows in so many seconds, as a factor.
    fn growth(&self, best: &Path, seconds: f64) -> f64 {
        let Some(srtt) = best.rto.srtt().filter(|_| is_growing(best)) else { return 0.0 };
        let rounds = (seconds / srtt.as_secs_f64().max(LEAST_TIME)).min(MOST_ROUNDS);
        f64::from(1 << rounds as u32) * (1.0 + rounds.fract()) - 1.0
    }
}

/// No path is faster, in seconds.
const LEAST_TIME: f64 = 1e-6;

/// The RTT of a path that was not measured, in seconds: it is not the best one if another was.
const UNKNOWN_TIME: f64 = 1.0;

fn answers(path: &Path) -> bool {
    path.is_usable() && !path.timed_out
}

/// b in seconds.
fn base_of(path: &Path) -> f64 {
    path.rto.base().map_or(UNKNOWN_TIME, |base| base.as_secs_f64().max(LEAST_TIME))
}

/// v/2 in seconds.
fn varies(path: &Path) -> f64 {
    VARIATION * path.rto.variation().as_secs_f64()
}

/// R in seconds; zero if no path was measured.
fn repair_time(at: &Opportunity<'_>) -> f64 {
    let answering = at.paths.iter().filter(|path| answers(path) && path.rto.srtt().is_some());
    answering.map(|path| round_trip(path, path.flight)).reduce(f64::min).unwrap_or(0.0)
}

/// c/r in bytes a second; zero for a path not measured yet.
fn promise(path: &Path) -> f64 {
    path.rto.srtt().map_or(0.0, |srtt| path.window.cwnd.as_f64() / srtt.as_secs_f64().max(LEAST_TIME))
}

/// c/r in bytes a second, and in slow start what that will be at its end, or in the next round trip if its end is not known.
fn grown(path: &Path) -> f64 {
    if !is_growing(path) {
        return promise(path);
    }
    let slow_start = path.window.ssthresh.zip(path.rto.base());
    let end =
        slow_start.map_or(0.0, |(ssthresh, base)| ssthresh.as_f64() / base.as_secs_f64().max(LEAST_TIME));
    end.max(NEXT_ROUND * promise(path))
}

/// True in the first slow start.
fn is_unknown(path: &Path) -> bool {
    path.window.ssthresh.is_none()
}

/// True if slow start has not shown yet what the path carries.
fn is_growing(path: &Path) -> bool {
    path.window.ssthresh.is_none_or(|ssthresh| path.window.cwnd < ssthresh)
}

/// Bytes that the window has beside what the others need: enough for messages that wait for no other.
fn spare_window(at: &Opportunity<'_>, in_use: &InUse) -> f64 {
    at.window.as_f64() - in_use.in_flight
}

/// r(x) in seconds; zero for a path not measured yet, so that it is.
fn round_trip(path: &Path, flight: ByteCount) -> f64 {
    let (Some(srtt), Some(base)) = (path.rto.srtt(), path.rto.base()) else { return 0.0 };
    let (srtt, base) = (srtt.as_secs_f64(), base.as_secs_f64());
    base + (srtt - base).max(0.0) * (flight.as_f64() / path.window.cwnd.as_f64()).min(1.0)
}

impl Scheduler for InTime {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        self.look(at, order);
        let time = |p: PathId| round_trip(&at.paths[p], at.paths[p].flight);
        let late = |p: PathId| !self.paths[p.index()].in_time;
        let enough = |p: PathId| at.unblocked && at.paths[p].flight.as_f64() > ENOUGH * self.in_flight(at, p);
        let rank = |p: PathId| (late(p), enough(p));
        order.sort_by(|&a, &b| rank(a).cmp(&rank(b)).then(time(a).total_cmp(&time(b))));
    }

    fn admits(&mut self, _: &Opportunity<'_>, p: PathId) -> bool {
        self.paths[p.index()].in_time
    }

    fn refused(&mut self, at: &Opportunity<'_>, blocking: PathId, held: ByteCount) {
        self.end_waiting(at.now);
        self.waiting =
            Some(Waiting { since: at.now, path: blocking, unsent: self.unsent(at, blocking, held) });
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { each_packet: true, choosy: true, ..SchedulerTraits::default() }
    }
}
