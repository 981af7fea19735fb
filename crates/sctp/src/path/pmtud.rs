//! Path MTU discovery by probes (DPLPMTUD, `rfc8899`), without ICMP: a pure state machine.
//!
//! The module chooses the size and the time of each probe, and the maximum length of packets. Loss alone does
//! not prove that a size fails: a [`Comparison`] with the least size decides whether a size passes.
//!
//! All sizes are lengths of SCTP packets in bytes, without IP and UDP headers. They are multiples of four.

use units::{Instant, Span};

/// Size that is expected to pass everywhere (BASE_PLPMTU, `rfc8899#section-5.1.2`).
const BASE: usize = 1200;
/// Least MTU of all IPv4 or IPv6 paths (MIN_PLPMTU), less the bytes that a guard (encryption between SCTP and
/// UDP) adds to a packet.
const LEAST_IPV4: usize = 576 - GUARD;
const LEAST_IPV6: usize = 1280 - GUARD;
/// Maximum number of bytes that a guard (encryption between SCTP and UDP) adds to a packet.
const GUARD: usize = 32;
/// Sizes to try first, for the MTUs of tunnels, of DSL, of Ethernet and of jumbo frames.
const USUAL: [usize; 10] = [1232, 1280, 1372, 1392, 1412, 1432, 1452, 1464, 1472, 8972];
/// A search ends when the largest size that passes and the least one that fails differ by at most this.
const CLOSE_ENOUGH: usize = 8;
/// Number of lost probes of a size that prove that the size fails (MAX_PROBES). Each counts only if the next
/// probe of the least size is answered.
///
/// If each round trip fails with the probability q, whatever the size, n such losses have the probability
/// (q / (1 + q))^n. For n = 10 it is 2e-7 with 15 % loss in each direction, 2e-5 with 30 %, at most 1e-3.
const MOST_LOST: u8 = 10;
/// As [`MOST_LOST`], but for the present packet size on a path with little loss. The number is lower because
/// data waits for the result.
const LEAST_LOST: u8 = 3;
/// Accepted probability of a wrong result. It sets the number of losses between `LEAST_LOST` and `MOST_LOST`.
const ACCEPTED_RISK: f64 = 1e-6;
/// Least time to wait for the answer to a probe (PROBE_TIMER).
const LEAST_PATIENCE: Span = Span::from_secs(1);
/// Time after which a larger size is tried again (PMTU_RAISE_TIMER).
const RAISE_AFTER: Span = Span::from_secs(600);

/// The states of `rfc8899#section-5.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The size is BASE or comes from an ICMP message, and a probe must confirm it.
    Base,
    /// Larger sizes are tried.
    Search,
    /// No larger size is expected to work.
    Complete,
    /// BASE does not pass: packets have the least size, and BASE is tried repeatedly.
    Error,
}

#[derive(Debug)]
pub(crate) struct Pmtud {
    state: State,
    /// Bytes of IP and UDP header.
    overhead: usize,
    least: usize,
    base: usize,
    most: usize,
    /// The maximum length of a packet at present (PLPMTU).
    size: usize,
    /// The smallest size known to fail.
    too_long: Option<usize>,
    /// The size of the next probe, or of the probe in flight.
    candidate: usize,
    flight: Option<MtuProbe>,
    /// Time of the next probe, if no probe is in flight; `None` if no probe is needed.
    due: Option<Instant>,
    /// The comparison that tests a size. The search waits for its result.
    comparison: Option<Comparison>,
    /// Send time of the newest packet longer than BASE.
    long_sent: Option<Instant>,
    /// Send time and size of the newest acknowledged packet longer than BASE.
    proof: Option<(Instant, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct MtuProbe {
    nonce: u64,
    /// The probe counts as lost at this time.
    overdue: Instant,
}

/// Tests whether packets of a doubtful size pass, by comparison with the least size (`rfc8899#section-4.3`).
///
/// Probes of the two sizes are sent alternately, at least one round trip apart. An answer to a probe of the
/// larger size proves that this size passes. A black hole drops only larger packets. So a larger probe counts
/// as lost only if the smaller probe sent after it is answered.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    size: usize,
    /// If a packet of this size is acknowledged that was sent after the time `since`, the size passes.
    since: Instant,
    /// Nonces of the newest probe of this size and of the newest probe of the least size, while an answer may
    /// still arrive.
    larger: Option<u64>,
    smaller: Option<u64>,
    /// Time of the next probe.
    due: Instant,
    /// Number of probes of this size that must still be lost to prove that the size fails.
    left: u8,
    /// Number of successive probes of the least size that were lost.
    silence: u32,
}

impl Comparison {
    /// Time from one probe to the next. It doubles, up to an RTO, with each unanswered probe of the
    /// least size.
    fn wait(&self, round_trip: Span, rto: Span) -> Span {
        (round_trip * (1 << self.silence.min(16))).min(rto.max(round_trip))
    }
}

/// Number of lost probes that prove a black hole, if each direction loses packets of any size at this rate.
fn losses_that_prove(loss_rate: f64) -> u8 {
    let failing = 1.0 - (1.0 - loss_rate).powi(2);
    let needed = ACCEPTED_RISK.ln() / (failing / (1.0 + failing)).ln();
    (needed.ceil() as u8).clamp(LEAST_LOST, MOST_LOST)
}

impl Pmtud {
    /// Starts with BASE, or with the MTU of the interface (IP header included) if the latter is smaller. A
    /// probe is due at once.
    pub(crate) fn new(ipv4: bool, overhead: usize, interface_mtu: usize) -> Self {
        let most = (interface_mtu - overhead) & !3;
        let base = BASE.min(most);
        let path_mtu = if ipv4 { LEAST_IPV4 } else { LEAST_IPV6 };
        Pmtud {
            state: State::Base,
            overhead,
            least: ((path_mtu - overhead) & !3).min(base),
            base,
            most,
            size: base,
            too_long: None,
            candidate: base,
            flight: None,
            due: Some(Instant::ZERO),
            comparison: None,
            long_sent: None,
            proof: None,
        }
    }

    /// The path MTU, IP header included.
    pub(crate) fn mtu(&self) -> usize {
        self.size + self.overhead
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let comparison = self.comparison.map(|comparison| comparison.due);
        comparison.or(self.flight.map(|probe| probe.overdue)).or(self.due)
    }

    /// Handles a probe that is overdue at `now`, or starts the search for a larger size that is due.
    pub(crate) fn on_timer(&mut self, now: Instant) {
        if self.comparison.is_some() {
            return;
        }
        if let Some(probe) = self.flight.take_if(|probe| probe.overdue <= now) {
            self.due = Some(now);
            if self.state != State::Error {
                self.compare(now, self.candidate, Some(probe.nonce), MOST_LOST);
            }
        } else if self.state == State::Complete && self.due.is_some_and(|due| due <= now) {
            self.too_long = None;
            self.search(now);
        }
    }

    /// Size of the probe that must be sent now.
    pub(crate) fn probe(&self, now: Instant) -> Option<usize> {
        if let Some(comparison) = self.comparison {
            let larger = comparison.larger.is_none() || comparison.smaller.is_some();
            return (comparison.due <= now).then_some(if larger { comparison.size } else { self.least });
        }
        let due = self.flight.is_none() && self.due.is_some_and(|due| due <= now);
        due.then_some(self.candidate)
    }

    /// Records the probe with this nonce. A round trip is expected to take at most `round_trip`.
    pub(crate) fn sent(&mut self, now: Instant, nonce: u64, round_trip: Span, rto: Span) {
        if let Some(comparison) = &mut self.comparison {
            match (comparison.larger, comparison.smaller) {
                (Some(_), None) => comparison.smaller = Some(nonce),
                (_, lost) => {
                    comparison.silence += u32::from(lost.is_some());
                    (comparison.larger, comparison.smaller) = (Some(nonce), None);
                }
            }
            comparison.due = now + comparison.wait(round_trip, rto);
        } else {
            self.flight = Some(MtuProbe { nonce, overdue: now + rto.max(LEAST_PATIENCE) });
            self.due = None;
        }
    }

    /// Processes the answer to the probe with this nonce. Returns true if the maximum packet length changed.
    pub(crate) fn acked(&mut self, now: Instant, nonce: u64) -> bool {
        let before = self.size;
        if self.flight.take_if(|probe| probe.nonce == nonce).is_some() {
            self.confirm(now, self.candidate);
        } else if let Some(comparison) = &mut self.comparison {
            let size = comparison.size;
            if comparison.larger == Some(nonce) {
                self.confirm(now, size);
            } else if comparison.smaller == Some(nonce) {
                (comparison.larger, comparison.smaller, comparison.due) = (None, None, now);
                (comparison.left, comparison.silence) = (comparison.left - 1, 0);
                if comparison.left == 0 {
                    self.give_up(now, size);
                }
            }
        }
        self.size != before
    }

    #[inline]
    pub(crate) fn data_sent(&mut self, now: Instant, size: usize) {
        if self.is_long(size) {
            self.long_sent = Some(now);
        }
    }

    #[inline]
    pub(crate) fn data_acked(&mut self, now: Instant, size: usize, sent_at: Instant) {
        // A packet longer than `self.size` was sent before that size shrank, and the network may have
        // fragmented the packet.
        if self.is_long(size) && size <= self.size {
            if self.proof.is_none_or(|(newest, _)| newest <= sent_at) {
                self.proof = Some((sent_at, size));
            }
            if self.comparison.is_some_and(|doubt| size == doubt.size && doubt.since <= sent_at) {
                self.confirm(now, size);
            }
        }
    }

    /// Records the loss of a packet while other packets arrived. Its length may be the reason, unless a
    /// packet of at least this size, sent at the same time or later, is acknowledged.
    pub(crate) fn data_lost(&mut self, size: usize, sent_at: Instant, loss_rate: f64) {
        let passes = self.proof.is_some_and(|(newest, passed)| newest >= sent_at && passed >= size);
        // A packet longer than `self.size` was sent before that size shrank: its loss proves nothing
        // about the present size.
        if self.is_long(size) && size <= self.size && !passes {
            self.suspect(sent_at, loss_rate);
        }
    }

    /// Returns true if a packet of this size may be lost because of its length.
    fn is_long(&self, size: usize) -> bool {
        self.base < size
    }

    /// Records an expiry of T3-rtx, or that the path is silent. The length of the packets may be the reason
    /// unless the newest packet longer than BASE has been acknowledged.
    pub(crate) fn data_unanswered(&mut self, now: Instant, loss_rate: f64) {
        if self.long_sent > self.proof.map(|(newest, _)| newest) {
            self.suspect(now, loss_rate);
        }
    }

    /// Starts a comparison if packets of the present size may be lost because of their length
    /// (`rfc8899#section-4.3`). `loss_rate` is the share of packets lost in the recent past.
    fn suspect(&mut self, since: Instant, loss_rate: f64) {
        if self.is_long(self.size) && self.comparison.is_none_or(|doubt| doubt.size != self.size) {
            self.compare(since, self.size, None, losses_that_prove(loss_rate));
        }
    }

    /// Starts a comparison. `larger` is the nonce of an unanswered probe of this size, if one is in flight.
    fn compare(&mut self, since: Instant, size: usize, larger: Option<u64>, left: u8) {
        if self.least < size {
            self.comparison =
                Some(Comparison { size, since, larger, smaller: None, due: since, left, silence: 0 });
        }
    }

    fn confirm(&mut self, now: Instant, size: usize) {
        self.comparison = None;
        // If the present size was in doubt, the search continues where it stopped.
        if size != self.size || matches!(self.state, State::Base | State::Error) {
            self.size = size;
            self.search(now);
        }
    }

    /// Records that packets of this size do not pass.
    fn give_up(&mut self, now: Instant, size: usize) {
        self.comparison = None;
        if size > self.size {
            self.too_long = Some(size);
            self.search(now);
        } else if self.size > self.base {
            let told = self.state == State::Base;
            self.assume(self.base, told.then_some(size));
        } else {
            (self.state, self.size, self.due) = (State::Error, self.least, Some(now));
        }
    }

    /// Processes the MTU of an ICMP message, IP header included. The MTU is a hint, used only between BASE
    /// and the present size (`rfc8899#section-4.6.2`). Returns true if the maximum packet length changed.
    pub(crate) fn on_packet_too_big(&mut self, mtu: usize) -> bool {
        let size = mtu.saturating_sub(self.overhead) & !3;
        let taken = self.base <= size && size < self.size;
        if taken {
            self.assume(size, Some(size + 4));
        }
        taken
    }

    /// Uses a size that a probe must still confirm.
    fn assume(&mut self, size: usize, too_long: Option<usize>) {
        (self.state, self.size, self.too_long) = (State::Base, size, too_long);
        (self.flight, self.due, self.comparison) = (None, Some(Instant::ZERO), None);
        self.candidate = size;
    }

    /// Chooses the next size to try, or ends the search.
    fn search(&mut self, now: Instant) {
        self.flight = None;
        match self.next_candidate() {
            Some(candidate) => {
                (self.state, self.candidate, self.due) = (State::Search, candidate, Some(now));
            }
            None => {
                self.state = State::Complete;
                self.due = (self.size < self.most).then(|| now + RAISE_AFTER);
            }
        }
    }

    /// The next of the [`USUAL`] sizes, or the largest size. After a failure: the middle between the largest
    /// size that passes and the smallest that fails.
    fn next_candidate(&self) -> Option<usize> {
        match self.too_long {
            Some(too_long) if too_long <= self.size + CLOSE_ENOUGH => None,
            Some(too_long) => Some(((self.size + too_long) / 2) & !3),
            None if self.size < self.most => {
                let usual = USUAL.into_iter().find(|&usual| usual > self.size);
                Some(usual.map_or(self.most, |usual| usual.min(self.most)))
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RTO: Span = Span::from_millis(400);
    const ROUND_TRIP: Span = Span::from_millis(20);
    const MINUTE: Span = Span::from_secs(60);

    /// A path in UDP over IPv4 that carries up to `carries` bytes. `probes`: the sizes probed so far.
    struct Probed {
        pmtud: Pmtud,
        now: Instant,
        carries: usize,
        /// Share of packets that are lost in each direction, whatever their size.
        loss: f64,
        random: u64,
        nonce: u64,
        probes: Vec<usize>,
    }

    impl Probed {
        fn new(carries: usize, interface_mtu: usize) -> Self {
            let pmtud = Pmtud::new(true, 28, interface_mtu);
            let now = Instant::ZERO + Span::from_secs(1);
            Probed { pmtud, now, carries, loss: 0.0, random: 1, nonce: 0, probes: Vec::new() }
        }

        fn is_lost(&mut self) -> bool {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((self.random >> 33) as f64) < self.loss * f64::from(1u32 << 31)
        }

        /// Runs for `span`; returns the number of changes of the size.
        fn run(&mut self, span: Span) -> usize {
            let (end, mut changes) = (self.now + span, 0);
            while let Some(at) = self.pmtud.deadline().filter(|&at| at <= end) {
                self.now = self.now.max(at);
                self.pmtud.on_timer(self.now);
                if let Some(size) = self.pmtud.probe(self.now) {
                    self.probes.push(size);
                    self.nonce += 1;
                    self.pmtud.sent(self.now, self.nonce, ROUND_TRIP, RTO);
                    let answered = size <= self.carries && !self.is_lost() && !self.is_lost();
                    if answered {
                        self.now += ROUND_TRIP;
                        changes += usize::from(self.pmtud.acked(self.now, self.nonce));
                    }
                }
            }
            self.now = end;
            changes
        }

        fn probed(&mut self, span: Span) -> Vec<usize> {
            self.run(span);
            std::mem::take(&mut self.probes)
        }

        /// T3-rtx expires while a long packet is in flight.
        fn expire_t3(&mut self) {
            self.pmtud.data_sent(self.now, 1472);
            self.pmtud.data_unanswered(self.now, self.loss);
        }
    }

    /// The sizes of the probes of a comparison: a size that fails and the least size, alternately.
    fn compared(size: usize, times: u8) -> Vec<usize> {
        [size, 516].repeat(times.into())
    }

    #[test]
    fn the_usual_sizes_are_tried_in_turn_up_to_that_of_the_interface() {
        let mut ethernet = Probed::new(1472, 1500);
        assert_eq!(ethernet.probed(MINUTE), [1200, 1232, 1280, 1372, 1392, 1412, 1432, 1452, 1464, 1472]);
        assert_eq!(
            (ethernet.pmtud.state, ethernet.pmtud.mtu(), ethernet.pmtud.deadline()),
            (State::Complete, 1500, None)
        );
        let mut jumbo = Probed::new(9000, 9000);
        assert_eq!(jumbo.probed(MINUTE).last(), Some(&8972));
        let mut odd = Probed::new(9000, 1450);
        assert_eq!(odd.probed(MINUTE), [1200, 1232, 1280, 1372, 1392, 1412, 1420]);
        let mut small = Probed::new(9000, 1000);
        assert_eq!((small.pmtud.mtu(), small.probed(MINUTE)), (1000, vec![972]));
    }

    // rfc8899#section-5.3.2
    #[test]
    fn after_ten_lost_probes_the_search_halves_what_is_between_to_eight_bytes() {
        let mut path = Probed::new(1372, 1500);
        let expected = [vec![1200, 1232, 1280, 1372], compared(1392, 10), compared(1380, 10)].concat();
        assert_eq!(path.probed(MINUTE), expected);
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Complete, 1400));
    }

    // rfc8899#section-5.1.1
    #[test]
    fn a_lost_probe_is_waited_for_a_second_at_least_and_an_rto() {
        for (rto, expected) in [(RTO, Span::from_secs(1)), (Span::from_secs(3), Span::from_secs(3))] {
            let mut pmtud = Pmtud::new(true, 28, 1500);
            let now = Instant::ZERO + MINUTE;
            assert!(pmtud.probe(now).is_some());
            pmtud.sent(now, 7, ROUND_TRIP, rto);
            assert_eq!((pmtud.deadline(), pmtud.probe(now)), (Some(now + expected), None));
        }
    }

    // rfc8899#section-5.3.3
    #[test]
    fn a_larger_size_is_tried_again_after_ten_minutes() {
        let mut path = Probed::new(1372, 1500);
        path.probed(MINUTE);
        path.carries = 1472;
        assert_eq!(path.probed(MINUTE * 8), [] as [usize; 0]);
        assert_eq!(path.probed(MINUTE * 2).first(), Some(&1392));
        assert_eq!(path.pmtud.mtu(), 1500);
    }

    // rfc8899#section-5.2
    #[test]
    fn when_base_does_not_pass_packets_have_the_least_size_until_it_does() {
        let mut path = Probed::new(1000, 1500);
        path.run(Span::from_secs(12));
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Error, 544));
        assert_eq!(path.probes[..20], compared(1200, 10));
        let again = &path.probes[20..];
        assert!(again.iter().all(|&size| size == 1200) && again.len() < 12, "{again:?}");
        path.carries = 1232;
        path.run(MINUTE);
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Complete, 1260));
    }

    // rfc8899#section-4.3
    #[test]
    fn random_loss_neither_ends_the_search_early_nor_reduces_the_size() {
        for loss in [0.05, 0.15, 0.3, 0.6] {
            let mut path = Probed::new(1472, 1500);
            path.loss = loss;
            path.run(MINUTE * 2);
            assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Complete, 1500), "{loss}");
            for second in 0..3600 {
                path.expire_t3();
                assert_eq!(path.run(Span::from_secs(1)), 0, "{loss}, {second} s");
            }
        }
    }

    // rfc8899#section-4.3
    #[test]
    fn a_black_hole_is_found_whatever_is_lost_besides() {
        for (loss, probes, most) in [(0.0, 3, 300), (0.05, 6, 1000), (0.15, 10, 2000), (0.3, 10, 8000)] {
            for carries in [1200, 1000] {
                let mut path = Probed::new(1472, 1500);
                path.run(MINUTE);
                (path.carries, path.loss) = (carries, loss);
                path.probes.clear();
                path.expire_t3();
                let changes = path.run(Span::from_millis(most));
                assert!(changes > 0 && path.pmtud.mtu() <= 1228, "{loss}");
                let lost = path.probes.iter().filter(|&&size| size == 1472).count();
                assert!(lost == probes || loss > 0.0 && lost > probes, "{lost} probes at {loss}");
            }
        }
        // A larger loss rate requires more lost probes, but at most ten.
        assert_eq!([0.0, 0.01, 0.05, 0.1, 0.3, 1.0].map(losses_that_prove), [3, 4, 6, 8, 10, 10]);
    }

    // rfc8899#section-5.1.1, rfc8899#section-8
    #[test]
    fn probes_are_a_round_trip_apart_and_rare_while_nothing_is_answered() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        path.carries = 0;
        path.expire_t3();
        path.probes.clear();
        assert_eq!(path.run(MINUTE), 0, "an outage is no black hole");
        assert!((100..200).contains(&path.probes.len()), "{} probes", path.probes.len());
        path.carries = 1472;
        path.probes.clear();
        path.run(MINUTE);
        assert!(path.probes.len() <= 2 && path.pmtud.comparison.is_none(), "{:?}", path.probes);
    }

    #[test]
    fn only_an_acknowledged_packet_of_the_size_now_that_left_later_ends_a_doubt() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        let (before, now) = (path.now, path.now + RTO);
        path.now = now;
        path.expire_t3();
        let doubts = |path: &Probed| path.pmtud.comparison.is_some();
        for (size, sent_at) in [(1472, before), (1468, now), (1200, now), (2000, now)] {
            path.pmtud.data_acked(now, size, sent_at);
            assert!(doubts(&path), "{size}");
        }
        path.pmtud.data_acked(now + ROUND_TRIP, 1472, now);
        assert!(!doubts(&path));
        // The loss of a packet that was sent before the acknowledged one starts no comparison.
        path.pmtud.data_lost(1472, before, 0.0);
        path.pmtud.data_unanswered(now + RTO, 0.0);
        assert!(!doubts(&path));
        path.pmtud.data_lost(1472, now + RTO, 0.0);
        assert!(doubts(&path));
    }

    // rfc8899#section-4.3
    #[test]
    fn what_is_no_longer_than_base_or_longer_than_the_size_now_raises_no_doubt() {
        let mut path = Probed::new(1272, 1500);
        path.run(MINUTE);
        assert_eq!(path.pmtud.mtu(), 1300);
        let later = path.now + RTO;
        for size in [64, 1200, 1276, 1472] {
            path.pmtud.data_lost(size, later, 0.0);
            assert!(path.pmtud.comparison.is_none(), "{size}");
        }
        path.pmtud.data_sent(later, 1200);
        path.pmtud.data_unanswered(later, 0.0);
        assert!(path.pmtud.comparison.is_none());
        path.pmtud.data_lost(1204, later, 0.0);
        assert!(path.pmtud.comparison.is_some());
    }

    // rfc8899#section-8
    #[test]
    fn an_answer_with_another_nonce_changes_nothing() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        path.expire_t3();
        let now = path.now;
        for nonce in 1000..1020 {
            path.pmtud.sent(now, nonce, ROUND_TRIP, RTO);
            assert!(!path.pmtud.acked(now, 5) && path.pmtud.comparison.is_some());
        }
        assert_eq!(path.pmtud.mtu(), 1500);
    }

    // rfc8899#section-4.6.2
    #[test]
    fn packet_too_big_is_a_hint_between_base_and_the_size_now() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        for wrong in [0, 68, 1227, 1500, 1501, 9000] {
            assert!(!path.pmtud.on_packet_too_big(wrong), "{wrong}");
        }
        assert_eq!(path.pmtud.mtu(), 1500);
        path.carries = 1372;
        path.probes.clear();
        assert!(path.pmtud.on_packet_too_big(1400));
        assert_eq!((path.pmtud.mtu(), path.probed(MINUTE)), (1400, vec![1372]));
        // A false hint: packets of that size do not pass.
        path.carries = 1300;
        assert!(path.pmtud.on_packet_too_big(1390));
        assert_eq!((path.run(MINUTE), path.pmtud.mtu()), (3, 1328), "1200, 1280, 1300");
    }

    proptest! {
        #[test]
        fn the_size_found_passes_and_is_close_to_what_the_path_carries(
            carries in 544usize..9000, interface in prop::sample::select(&[1280usize, 1500, 1492, 9000]),
        ) {
            let mut path = Probed::new(carries, interface);
            path.run(MINUTE * 5);
            let (size, most) = (path.pmtud.mtu() - 28, interface - 28);
            prop_assert!(size <= carries);
            let wanted = carries.min(most);
            prop_assert!(carries < 1200 || size + CLOSE_ENOUGH + 4 > wanted, "{size} of {wanted}");
            prop_assert!(path.probes.iter().all(|size| size % 4 == 0 && (32..=most).contains(size)));
            prop_assert!(path.probes.len() < 400);
        }

        #[test]
        fn any_course_of_events_keeps_the_size_within_its_bounds(
            steps in prop::collection::vec((0u8..8, 0usize..1600), 1..200),
        ) {
            let mut pmtud = Pmtud::new(true, 28, 1500);
            let (mut now, mut nonce) = (Instant::ZERO, 0);
            for (kind, n) in steps {
                let before = pmtud.mtu();
                let told = match kind {
                    0 | 1 => {
                        now += Span::from_millis(n as u64);
                        pmtud.on_timer(now);
                        if pmtud.probe(now).is_some() {
                            nonce += 1;
                            pmtud.sent(now, nonce, ROUND_TRIP, RTO);
                        }
                        false
                    }
                    2 | 3 => pmtud.acked(now, nonce),
                    4 => {
                        pmtud.data_sent(now, n);
                        pmtud.data_unanswered(now, n as f64 / 1600.0);
                        false
                    }
                    5 => pmtud.on_packet_too_big(n),
                    6 => {
                        pmtud.data_acked(now, n, now);
                        false
                    }
                    _ => {
                        pmtud.data_lost(n, now, 0.0);
                        false
                    }
                };
                prop_assert_eq!(told, pmtud.mtu() != before);
                prop_assert!((544..=1500).contains(&pmtud.mtu()));
                prop_assert!(pmtud.deadline().is_some() || pmtud.mtu() == 1500);
            }
        }
    }
}
