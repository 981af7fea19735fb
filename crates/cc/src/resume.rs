//! Careful resume: a path that returns begins near the rate that it had before (`rfc9959`).
//!
//! While a path carries data, the control notes how many bytes it delivers in a round trip (the saved cwnd,
//! a [`SavedPath`]). When the path returns after an outage, or has the addresses of an earlier path, it
//! begins with the initial window, and then jumps once to half of the saved cwnd, paced over a round trip.
//!
//! ```text
//! Reconnaissance ──▶ Unvalidated ──▶ Validating ──▶ Normal
//!   initial window     the jump        was it delivered?
//!       │                 │ loss or mark   │
//!       ▼                 └──▶ Retreat ◀───┘
//!     Normal                      │ all of the jump acknowledged
//!                                 ▼
//!                               Normal: ssthresh = PipeSize/2
//! ```
//!
//! PipeSize is the number of bytes that the path is known to hold: the bytes in flight before the jump, plus
//! the bytes acknowledged since. A retreat sets cwnd to half of it.
//!
//! The jump changes only cwnd. The control to which careful resume is added keeps its state, and computes the
//! growth in all phases in which cwnd may grow.

use units::{BitRate, ByteCount, Instant, Span};

use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, SavedPath, Setup, WindowRule};

/// Rounds in congestion avoidance of which the saved cwnd is the median: a single round may hold a burst.
const ROUNDS: usize = 8;

/// Least saved cwnd for a jump, in initial windows: slow start reaches a smaller cwnd in two round trips.
const LEAST_WINDOWS: u64 = 4;

/// Largest jump in bytes: about half of the bandwidth-delay product of 1 Gbit/s at 250 ms.
const MOST: ByteCount = ByteCount::new(16 << 20);

/// Time after which a least RTT is no longer used, since the route may have changed.
const MEMORY: Span = Span::from_secs(300);

/// Adds careful resume to a control. A control that models rates is returned unchanged.
pub fn resumed(control: Box<dyn CongestionControl>, setup: &Setup) -> Box<dyn CongestionControl> {
    if control.wants_rate_samples() {
        return control;
    }
    Box::new(Resume { control, setup: *setup, paths: Vec::with_capacity(setup.paths) })
}

/// A control with careful resume.
#[derive(Debug)]
struct Resume {
    control: Box<dyn CongestionControl>,
    setup: Setup,
    paths: Vec<Progress>,
}

/// State of one path.
#[derive(Clone, Debug, Default)]
struct Progress {
    phase: Phase,
    measured: Measured,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Normal,
    /// The initial window is being delivered. `left`: bytes of it that are not acknowledged. `least`: the
    /// least RTT of this phase.
    Reconnaissance { saved: SavedPath, left: ByteCount, least: Option<Span> },
    /// The jump is being sent, until `until` at the latest. `ahead`: bytes in flight that were sent
    /// before the jump.
    Unvalidated { pipe: ByteCount, ahead: ByteCount, until: Instant, rate: BitRate },
    /// The jump is sent, and `left` bytes of it are not acknowledged.
    Validating { pipe: ByteCount, left: ByteCount },
    /// A part of the jump was lost.
    Retreat { pipe: ByteCount, left: ByteCount },
}

impl Progress {
    /// Advances the phase after an acknowledgement, and changes cwnd if the phase requires it. `held`: a path
    /// that may share the bottleneck is in recovery, so no jump may begin.
    fn acknowledged(
        &mut self,
        now: Instant,
        ack: &PathAck,
        before: &PathView,
        held: impl Fn() -> bool,
        initial: ByteCount,
        w: &mut CongestionWindow,
    ) {
        match &mut self.phase {
            Phase::Normal => {}
            Phase::Reconnaissance { saved, left, least } => {
                *left -= ack.acked;
                *least = ack.rtt.map(|rtt| least.map_or(rtt, |least| least.min(rtt))).or(*least);
                let Some(rtt) = least.filter(|_| left.is_zero() && !held()) else { return };
                let (saved, usual) = (*saved, saved.rtt / 2 < rtt && rtt <= saved.rtt * 4);
                let jump = ByteCount::new(saved.cwnd.get() / 2).min(MOST);
                if !usual || now > saved.until || jump <= w.cwnd {
                    self.measured.given = None;
                    self.phase = Phase::Normal;
                    return;
                }
                let rate = BitRate::from_bps((jump.as_f64() * 8.0 / rtt.as_secs_f64()) as u64);
                let flight = ack.flight_after;
                self.phase = Phase::Unvalidated { pipe: flight, ahead: flight, until: now + rtt, rate };
                w.cwnd = jump;
            }
            Phase::Unvalidated { pipe, ahead, until, .. } => {
                *pipe += ack.acked;
                let first = ack.acked > *ahead;
                *ahead -= ack.acked;
                w.cwnd = before.window.cwnd;
                if !first && ack.flight_after < w.cwnd && now < *until {
                    return;
                }
                let (pipe, flight) = (*pipe, ack.flight_after);
                if flight < initial || flight <= pipe {
                    // The application sent too little to use the jump.
                    w.cwnd = pipe.max(initial);
                    self.phase = Phase::Normal;
                } else {
                    w.cwnd = flight;
                    self.phase = Phase::Validating { pipe, left: flight };
                }
            }
            Phase::Validating { pipe, left } => {
                *pipe += ack.acked;
                *left -= ack.acked;
                if left.is_zero() {
                    self.phase = Phase::Normal;
                }
            }
            Phase::Retreat { pipe, left } => {
                *pipe += ack.acked;
                *left -= ack.acked;
                w.cwnd = w.cwnd.min(before.window.cwnd);
                if left.is_zero() || ack.flight_after.is_zero() {
                    w.ssthresh = Some(ByteCount::new(pipe.get() / 2));
                    self.phase = Phase::Normal;
                }
            }
        }
    }

    /// Processes a loss or a mark: the path cannot carry the saved cwnd.
    fn lost(
        &mut self,
        now: Instant,
        kind: LossKind,
        path: &PathView,
        least: ByteCount,
        w: &mut CongestionWindow,
    ) {
        let timeout = kind == LossKind::Timeout;
        let measured = &mut self.measured;
        measured.given = None;
        // A timeout is a sign of congestion only if the last acknowledgement is at most one srtt old. In an
        // outage it is older.
        if !timeout || path.srtt.is_some_and(|srtt| now.since(measured.last) <= srtt) {
            measured.loss = Some(now);
        }
        match self.phase {
            Phase::Unvalidated { pipe, .. } | Phase::Validating { pipe, .. } => {
                let half = ByteCount::new(pipe.get() / 2).max(least);
                self.measured = Measured::default();
                if timeout {
                    w.ssthresh = Some(half);
                    self.phase = Phase::Normal;
                } else {
                    w.cwnd = half;
                    self.phase = Phase::Retreat { pipe, left: path.flight };
                }
            }
            Phase::Retreat { .. } if !timeout => {}
            _ => self.phase = Phase::Normal,
        }
    }
}

impl CongestionControl for Resume {
    fn name(&self) -> &'static str {
        self.control.name()
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        self.paths.push(Progress::default());
        self.control.on_path_added(all, p)
    }

    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        self.control.on_sack(now, before, acked, w);
        for ack in acked {
            let (p, path) = (ack.path, &before[ack.path]);
            let initial = self.setup.initial_window(path.mtu);
            // A jump would overflow the bottleneck that the path shares with a path in recovery.
            let shares =
                |(q, other): (usize, &PathView)| q != p && path.may_share(q, other) && other.in_recovery;
            let held = || before.iter().enumerate().any(shares);
            let progress = &mut self.paths[p];
            if progress.phase == Phase::Normal {
                progress.measured.acknowledged(now, ack, path);
            }
            progress.acknowledged(now, ack, path, held, initial, &mut w[p]);
        }
    }

    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    ) {
        self.control.on_loss(now, all, p, kind, w);
        let least = self.setup.segment(all[p].mtu) * 2;
        self.paths[p].lost(now, kind, &all[p], least, &mut w[p]);
    }

    fn on_spurious_loss(
        &mut self,
        all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        self.control.on_spurious_loss(all, p, window, w);
    }

    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.control.on_idle(now, all, p, w);
    }

    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        self.control.on_rule(all, p, rule, w);
        if matches!(rule, WindowRule::Replace(_)) {
            self.paths[p] = Progress::default();
        }
    }

    fn on_return(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.resume(now, all, p, self.saved(p), w);
    }

    fn saved(&self, p: usize) -> Option<SavedPath> {
        self.paths.get(p)?.measured.saved()
    }

    fn resume(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        saved: Option<SavedPath>,
        w: &mut [CongestionWindow],
    ) {
        self.paths[p] = Progress::default();
        let Some(saved) = saved else { return };
        let initial = self.setup.initial_window(all[p].mtu);
        if saved.cwnd >= initial * LEAST_WINDOWS && now <= saved.until {
            w[p].cwnd = w[p].cwnd.max(initial);
            self.paths[p].phase = Phase::Reconnaissance { saved, left: initial, least: None };
            self.paths[p].measured.given = Some(saved);
        }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        match self.paths.get(p)?.phase {
            Phase::Unvalidated { rate, .. } => Some(rate),
            _ => self.control.pacing_rate(p),
        }
    }

    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        self.control.slow_start_threshold(p, window)
    }

    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        self.control.partial_bytes_acked(p)
    }
}

/// Measures the bytes that a path delivers in a round trip.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Bytes delivered in each of the last [`ROUNDS`] round trips in
    /// congestion avoidance; the latest is at `(count - 1) % ROUNDS`.
    rounds: [ByteCount; ROUNDS],
    count: usize,
    /// Beginning of the current round, bytes delivered in it, and whether the window was full in it.
    begun: Option<Instant>,
    bytes: ByteCount,
    full: bool,
    /// Half of cwnd in the last full round of slow start, used while no round of avoidance is measured.
    half: Option<ByteCount>,
    /// The saved values that the path resumed from, until they prove wrong.
    given: Option<SavedPath>,
    least: Option<(Instant, Span)>,
    /// Times of the last loss or mark, and of the last acknowledgement.
    loss: Option<Instant>,
    last: Instant,
}

impl Measured {
    fn acknowledged(&mut self, now: Instant, ack: &PathAck, path: &PathView) {
        self.last = now;
        let Some(srtt) = path.srtt else { return };
        if let Some(rtt) = ack.rtt {
            let old = self.least.filter(|&(since, _)| now.since(since) <= MEMORY);
            self.least = Some(old.filter(|&(_, least)| least <= rtt).unwrap_or((now, rtt)));
        }
        let cwnd = path.window.cwnd;
        // Pacing keeps a part of the window back: a window half of which is in flight counts as full.
        self.full |= ack.flight_before * 2 >= cwnd;
        self.bytes += ack.acked;
        let begun = *self.begun.get_or_insert(now);
        if now.since(begun) < srtt {
            return;
        }
        let avoidance = path.window.ssthresh.is_some_and(|ssthresh| cwnd > ssthresh);
        if self.full && !path.in_recovery {
            if avoidance {
                self.rounds[self.count % ROUNDS] = self.bytes;
                self.count += 1;
            } else {
                self.half = Some(ByteCount::new(cwnd.get() / 2));
            }
        }
        (self.begun, self.bytes, self.full) = (Some(now), ByteCount::ZERO, false);
    }

    /// Returns the values measured; if the path carried too little to measure, those that it resumed from.
    /// `None` if congestion preceded the last acknowledgement by at most a round trip: then the path may have
    /// failed because it is congested.
    fn saved(&self) -> Option<SavedPath> {
        self.carried().or(self.given)
    }

    fn carried(&self) -> Option<SavedPath> {
        let (_, rtt) = self.least?;
        if self.loss.is_some_and(|loss| self.last.since(loss) <= rtt) {
            return None;
        }
        let mut rounds = self.rounds;
        let rounds = &mut rounds[..self.count.min(ROUNDS)];
        rounds.sort_unstable();
        let cwnd = rounds.get(rounds.len() / 2).copied().or(self.half)?;
        Some(SavedPath { cwnd, rtt, until: self.last + SavedPath::LIFETIME })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, GrowthRule, Knobs};

    /// A path with segments of 1460 bytes and an initial window of ten segments.
    struct Rig {
        control: Box<dyn CongestionControl>,
        view: PathView,
        now: Instant,
    }

    impl Rig {
        fn new() -> Self {
            let unlimited = ByteCount::new(u64::from(u32::MAX));
            let setup = Setup {
                initial_window: Some(10),
                ..Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), unlimited, 1)
            };
            let mut view = PathView {
                window: CongestionWindow::default(),
                flight: ByteCount::ZERO,
                mtu: ByteCount::new(1492),
                srtt: Some(Span::from_millis(52)),
                rto: Span::from_secs(1),
                active: true,
                group: 0,
                apart: 0,
                in_recovery: false,
            };
            let mut control = resumed(Algorithm::Standard.build(&setup, &Knobs::default()), &setup);
            view.window = control.on_path_added(&[view], 0);
            Rig { control, view, now: Instant::ZERO }
        }

        /// A rig that resumes from a saved cwnd and RTT. Its initial window is acknowledged with the RTT
        /// `rtt_ms`, and 29,200 bytes are then in flight.
        fn after_reconnaissance(cwnd: u64, saved_ms: u64, rtt_ms: u64) -> Self {
            let mut rig = Rig::new();
            let (cwnd, rtt) = (ByteCount::new(cwnd), Span::from_millis(saved_ms));
            let mut w = [rig.view.window];
            rig.control.resume(
                rig.now,
                &[rig.view],
                0,
                Some(SavedPath { cwnd, rtt, until: rig.now + SavedPath::LIFETIME }),
                &mut w,
            );
            rig.view.window = w[0];
            rig.ack(14_600, 29_200, rtt_ms);
            rig
        }

        fn cwnd(&self) -> u64 {
            self.view.window.cwnd.get()
        }

        fn ack(&mut self, acked: u64, flight_after: u64, rtt_ms: u64) {
            self.now += Span::from_millis(1);
            let ack = PathAck {
                path: 0,
                acked: ByteCount::new(acked),
                advanced: true,
                flight_before: ByteCount::new(acked + flight_after),
                flight_after: ByteCount::new(flight_after),
                rtt: Some(Span::from_millis(rtt_ms)),
                owd: None,
                lost: ByteCount::ZERO,
                rate: None,
            };
            let mut w = [self.view.window];
            self.control.on_sack(self.now, &[self.view], &[ack], &mut w);
            (self.view.window, self.view.flight) = (w[0], ByteCount::new(flight_after));
        }

        fn lose(&mut self, kind: LossKind) {
            let mut w = [self.view.window];
            self.control.on_loss(self.now, &[self.view], 0, kind, &mut w);
            self.view.window = w[0];
        }
    }

    // By hand: half of 500,000 in 52 ms are 4.81 MB/s; 29,200 + 60,000 = 89,200, of which half is 44,600;
    // 89,200 + 100,800 = 190,000, of which half is 95,000.
    #[test]
    fn a_loss_in_the_jump_retreats_to_half_of_what_was_delivered() {
        let mut rig = Rig::after_reconnaissance(500_000, 50, 52);
        assert_eq!(rig.cwnd(), 250_000);
        let rate = rig.control.pacing_rate(0).unwrap().as_bps() / 8;
        assert!((4_807_000..4_808_000).contains(&rate), "{rate}");
        rig.ack(60_000, 100_800, 52);
        assert_eq!(rig.cwnd(), 100_800, "the first packet of the jump arrived");
        rig.lose(LossKind::FastRetransmit);
        assert_eq!(rig.cwnd(), 44_600);
        rig.ack(50_000, 50_800, 52);
        assert_eq!(rig.cwnd(), 44_600, "no growth");
        rig.ack(50_800, 44_600, 52);
        assert_eq!(rig.view.window.ssthresh, Some(ByteCount::new(95_000)));
        assert_eq!(rig.control.saved(0), None, "the set is deleted");
    }

    #[test]
    fn a_round_trip_time_that_is_unusual_prevents_the_jump() {
        for (rtt, jumps) in [(25, false), (26, true), (200, true), (201, false)] {
            let rig = Rig::after_reconnaissance(500_000, 50, rtt);
            assert_eq!(rig.cwnd() == 250_000, jumps, "{rtt} ms");
        }
    }

    #[test]
    fn a_loss_in_reconnaissance_prevents_the_jump() {
        let mut rig = Rig::new();
        let saved = SavedPath {
            cwnd: ByteCount::new(500_000),
            rtt: Span::from_millis(50),
            until: rig.now + SavedPath::LIFETIME,
        };
        rig.control.resume(rig.now, &[rig.view], 0, Some(saved), &mut [rig.view.window]);
        rig.lose(LossKind::Mark);
        rig.ack(14_600, 29_200, 52);
        assert!(rig.cwnd() < 30_000, "{}", rig.cwnd());
    }

    #[test]
    fn a_jump_that_the_application_does_not_use_leaves_what_was_delivered() {
        let mut rig = Rig::after_reconnaissance(500_000, 50, 52);
        rig.ack(29_200, 20_000, 52);
        rig.ack(20_000, 10_000, 52);
        assert_eq!(rig.cwnd(), 29_200 + 29_200 + 20_000);
    }

    #[test]
    fn a_delivered_jump_leaves_the_control_alone() {
        let mut rig = Rig::after_reconnaissance(500_000, 50, 52);
        rig.ack(60_000, 190_000, 52);
        rig.ack(190_000, 190_000, 52);
        rig.lose(LossKind::FastRetransmit);
        assert_eq!(rig.view.window.ssthresh, Some(rig.view.window.cwnd), "an ordinary reduction");
        assert!(rig.cwnd() > 95_000, "{}", rig.cwnd());
    }

    // By hand: nine rounds of 60 ms with 100,000 to 108,000 bytes; the last eight have the median 105,000.
    #[test]
    fn the_saved_set_is_the_median_of_the_last_rounds_in_avoidance() {
        let mut rig = Rig::new();
        assert_eq!(rig.control.saved(0), None);
        rig.view.window =
            CongestionWindow { cwnd: ByteCount::new(110_000), ssthresh: Some(ByteCount::new(50_000)) };
        rig.ack(0, 110_000, 52);
        for round in 0..9 {
            rig.now += Span::from_millis(59);
            rig.view.window.cwnd = ByteCount::new(110_000);
            rig.ack(100_000 + 1000 * round, 110_000, 55);
        }
        let saved = rig.control.saved(0).unwrap();
        assert_eq!((saved.cwnd.get(), saved.rtt), (105_000, Span::from_millis(52)));
        rig.lose(LossKind::FastRetransmit);
        assert_eq!(rig.control.saved(0), None, "an outage after congestion may be congestion");
    }

    // In an outage a path answers nothing for a whole RTO. If a path answered within the last round trip, a
    // timeout means that it lost packets.
    #[test]
    fn a_timeout_while_acknowledgements_arrive_is_congestion() {
        let saves = |silence: u64| {
            let mut rig = Rig::new();
            rig.view.window.cwnd = ByteCount::new(110_000);
            rig.ack(0, 110_000, 52);
            rig.now += Span::from_millis(60);
            rig.ack(110_000, 110_000, 52);
            rig.now += Span::from_millis(silence);
            rig.lose(LossKind::Timeout);
            rig.control.saved(0).is_some()
        };
        assert!(saves(53) && !saves(52));
    }

    #[test]
    fn a_saved_cwnd_below_four_initial_windows_or_older_than_an_hour_is_not_used() {
        let jumps = |cwnd, age: u64| {
            let mut rig = Rig::new();
            let saved = SavedPath {
                cwnd: ByteCount::new(cwnd),
                rtt: Span::from_millis(50),
                until: rig.now + SavedPath::LIFETIME,
            };
            rig.now += Span::from_secs(age);
            let mut w = [rig.view.window];
            rig.control.resume(rig.now, &[rig.view], 0, Some(saved), &mut w);
            rig.ack(14_600, 14_600, 52);
            rig.cwnd() == cwnd / 2
        };
        assert!(jumps(58_400, 3599) && !jumps(58_399, 0) && !jumps(58_400, 3600));
    }
}
