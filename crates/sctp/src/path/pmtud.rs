//! Path MTU discovery by probes (DPLPMTUD, `rfc8899`), as a pure state machine: it says which probe to send when, and how long
//! packets may be. No ICMP message is needed.
//!
//! All sizes are bytes of an SCTP packet, common header included and multiples of four: what IP carries, or UDP.

use units::{Instant, Span};

/// Size that is expected to pass everywhere (BASE_PLPMTU, `rfc8899#section-5.1.2`).
const BASE: usize = 1200;
/// Path MTU that every IPv4 path and every IPv6 path has (MIN_PLPMTU), less what a guard below UDP may add, such as the tunnel's encryption.
const LEAST_IPV4: usize = 576 - GUARD;
const LEAST_IPV6: usize = 1280 - GUARD;
/// Most bytes that a guard adds to a packet.
const GUARD: usize = 32;
/// Sizes to try first: MTUs of tunnels, of DSL, of Ethernet and of jumbo frames.
const USUAL: [usize; 10] = [1232, 1280, 1372, 1392, 1412, 1432, 1452, 1464, 1472, 8972];
/// A search ends when the size that works and the one that fails are so close.
const CLOSE_ENOUGH: usize = 8;
/// Probes of one size that have to be lost (MAX_PROBES).
const MOST_LOST: u8 = 3;
/// Suspicions in a row that make a black hole.
const MOST_SUSPICIONS: u8 = 3;
/// Least time that a probe is waited for (PROBE_TIMER).
const LEAST_PATIENCE: Span = Span::from_secs(1);
/// Time after which a larger size is tried again (PMTU_RAISE_TIMER).
const RAISE_AFTER: Span = Span::from_secs(600);

/// The states of `rfc8899#section-5.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The size is assumed and a probe of it has to confirm it: BASE, or what an ICMP message told.
    Base,
    /// Larger sizes are tried.
    Search,
    /// No larger size is expected to work.
    Complete,
    /// BASE does not work: the size is the least one, and BASE is tried again and again.
    Error,
}

/// Path MTU discovery of one path.
#[derive(Debug)]
pub(crate) struct Pmtud {
    state: State,
    /// Bytes of IP and UDP header.
    overhead: usize,
    least: usize,
    base: usize,
    most: usize,
    /// The most that a packet may have now (PLPMTU).
    size: usize,
    /// The least size that does not work, as far as known.
    too_long: Option<usize>,
    /// The size of the next probe, or of the one in flight.
    candidate: usize,
    /// Probes of this size that were lost.
    lost: u8,
    flight: Option<Probe>,
    /// When the next probe is due, if none is in flight; none: never.
    due: Option<Instant>,
    /// Losses that its length may explain, since a packet above BASE was acknowledged.
    suspicions: u8,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    nonce: u64,
    /// It counts as lost then.
    overdue: Instant,
}

impl Pmtud {
    /// Packets have BASE bytes at first, and no more than an interface with this MTU takes, IP header included. A probe is
    /// due at once.
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
            lost: 0,
            flight: None,
            due: Some(Instant::ZERO),
            suspicions: 0,
        }
    }

    /// The path MTU, IP header included.
    pub(crate) fn mtu(&self) -> usize {
        self.size + self.overhead
    }

    /// When something is to be done.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.flight.map(|probe| probe.overdue).or(self.due)
    }

    /// Does what is due. True if packets have another size now.
    pub(crate) fn on_timer(&mut self, now: Instant) -> bool {
        if self.flight.take_if(|probe| probe.overdue <= now).is_some() {
            self.due = Some(now);
            self.lost += 1;
            return self.lost == MOST_LOST && self.give_up_candidate(now);
        }
        if self.state == State::Complete && self.due.is_some_and(|due| due <= now) {
            self.too_long = None;
            self.search(now);
        }
        false
    }

    /// The size of the probe that is to be sent now.
    pub(crate) fn probe(&self, now: Instant) -> Option<usize> {
        let due = self.flight.is_none() && self.due.is_some_and(|due| due <= now);
        due.then_some(self.candidate)
    }

    /// That probe leaves.
    pub(crate) fn sent(&mut self, now: Instant, nonce: u64, rto: Span) {
        self.flight = Some(Probe { nonce, overdue: now + rto.max(LEAST_PATIENCE) });
        self.due = None;
    }

    /// An answer to the probe with this nonce. True if packets have another size now.
    pub(crate) fn acked(&mut self, now: Instant, nonce: u64) -> bool {
        if self.flight.take_if(|probe| probe.nonce == nonce).is_none() {
            return false;
        }
        let changed = self.candidate != self.size;
        self.size = self.candidate;
        self.suspicions = 0;
        self.search(now);
        changed
    }

    /// The path carries nothing for now: what is in flight is forgotten, and sent again when the path is back.
    pub(crate) fn pause(&mut self) {
        if self.flight.take().is_some() {
            self.due = Some(Instant::ZERO);
            self.lost = 0;
        }
    }

    /// A packet of this size was acknowledged.
    #[inline]
    pub(crate) fn data_acked(&mut self, size: usize) {
        // A longer one left before the size shrank, and may have been fragmented.
        if self.is_long(size) && size <= self.size {
            self.suspicions = 0;
        }
    }

    /// A packet of this size was lost and others were not.
    pub(crate) fn data_lost(&mut self, size: usize) {
        // The loss of a longer one says nothing of the size now: it left before the size shrank.
        if self.is_long(size) && size <= self.size {
            self.suspect();
        }
    }

    /// True if a packet of this size may vanish for its length.
    fn is_long(&self, size: usize) -> bool {
        self.base < size
    }

    /// Packets seem to vanish: T3 expired, nothing was heard for longer than expected, or a long packet was lost and others were
    /// not.
    pub(crate) fn suspect(&mut self) {
        self.suspicions = self.suspicions.saturating_add(1);
    }

    /// True if packets are presumed to vanish for their length (`rfc8899#section-4.3`), or if that is the last chance of a path
    /// that is going to be given up: they have BASE bytes now, and the search begins anew.
    pub(crate) fn escape_black_hole(&mut self, last_chance: bool) -> bool {
        let vanish = self.size > self.base && (last_chance || self.suspicions >= MOST_SUSPICIONS);
        if vanish {
            self.assume(self.base, None);
        }
        vanish
    }

    /// Somebody on the way says that the next link takes no more than this MTU, IP header included: a hint that is taken if it
    /// lies between BASE and the size now (`rfc8899#section-4.6.2`). True if packets have another size now.
    pub(crate) fn on_packet_too_big(&mut self, mtu: usize) -> bool {
        let size = mtu.saturating_sub(self.overhead) & !3;
        let taken = self.base <= size && size < self.size;
        if taken {
            self.assume(size, Some(size + 4));
        }
        taken
    }

    /// Uses a size that a probe has yet to confirm.
    fn assume(&mut self, size: usize, too_long: Option<usize>) {
        (self.state, self.size, self.too_long) = (State::Base, size, too_long);
        (self.flight, self.due, self.lost, self.suspicions) = (None, Some(Instant::ZERO), 0, 0);
        self.candidate = size;
    }

    /// Enough probes of the candidate were lost. True if packets have another size now.
    fn give_up_candidate(&mut self, now: Instant) -> bool {
        self.lost = 0;
        let before = self.size;
        match self.state {
            State::Search | State::Complete => {
                self.too_long = Some(self.candidate);
                self.search(now);
            }
            State::Base if self.size > self.base => self.assume(self.base, Some(self.candidate)),
            State::Base | State::Error => {
                self.state = State::Error;
                self.size = self.least;
            }
        }
        self.size != before
    }

    /// Chooses the next size to try, or ends the search.
    fn search(&mut self, now: Instant) {
        self.lost = 0;
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

    /// The next usual size, or the largest one; once one has failed, the middle between it and what works.
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

    /// A path in UDP over IPv4 that carries packets of so many bytes, and the sizes probed so far.
    struct Probed {
        pmtud: Pmtud,
        now: Instant,
        carries: usize,
        probes: Vec<usize>,
    }

    impl Probed {
        fn new(carries: usize, interface_mtu: usize) -> Self {
            let pmtud = Pmtud::new(true, 28, interface_mtu);
            Probed { pmtud, now: Instant::ZERO + Span::from_secs(1), carries, probes: Vec::new() }
        }

        /// Runs until `end`; returns how often the size changed.
        fn run(&mut self, span: Span) -> usize {
            let (end, mut changes) = (self.now + span, 0);
            while let Some(at) = self.pmtud.deadline().filter(|&at| at <= end) {
                self.now = self.now.max(at);
                changes += usize::from(self.pmtud.on_timer(self.now));
                if let Some(size) = self.pmtud.probe(self.now) {
                    self.probes.push(size);
                    self.pmtud.sent(self.now, 7, RTO);
                    if size <= self.carries {
                        self.now += Span::from_millis(20);
                        changes += usize::from(self.pmtud.acked(self.now, 7));
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
    }

    fn suspect(pmtud: &mut Pmtud, last_chance: bool) -> bool {
        pmtud.suspect();
        pmtud.escape_black_hole(last_chance)
    }

    const MINUTE: Span = Span::from_secs(60);

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
    fn after_three_lost_probes_the_search_halves_what_is_between_to_eight_bytes() {
        let mut path = Probed::new(1372, 1500);
        assert_eq!(path.probed(MINUTE), [1200, 1232, 1280, 1372, 1392, 1392, 1392, 1380, 1380, 1380]);
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Complete, 1400));
    }

    // rfc8899#section-5.1.1
    #[test]
    fn a_lost_probe_is_waited_for_a_second_at_least_and_an_rto() {
        for (rto, expected) in [(RTO, Span::from_secs(1)), (Span::from_secs(3), Span::from_secs(3))] {
            let mut pmtud = Pmtud::new(true, 28, 1500);
            let now = Instant::ZERO + MINUTE;
            assert!(pmtud.probe(now).is_some());
            pmtud.sent(now, 7, rto);
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
        path.run(Span::from_secs(10));
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Error, 544));
        assert!(path.probes.iter().all(|&size| size == 1200) && path.probes.len() < 12, "{:?}", path.probes);
        path.carries = 1232;
        path.run(MINUTE);
        assert_eq!((path.pmtud.state, path.pmtud.mtu()), (State::Complete, 1260));
    }

    // rfc8899#section-4.3
    #[test]
    fn three_suspicions_without_a_long_packet_acknowledged_are_a_black_hole() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        let pmtud = &mut path.pmtud;
        assert!(!suspect(pmtud, false) && !suspect(pmtud, false));
        pmtud.data_acked(1472);
        assert!(!suspect(pmtud, false) && !suspect(pmtud, false));
        pmtud.data_acked(1200);
        pmtud.data_acked(2000);
        assert!(suspect(pmtud, false));
        assert_eq!(pmtud.mtu(), 1228);
        assert!(!suspect(pmtud, true), "packets are not longer than BASE");
        path.carries = 1272;
        path.run(MINUTE);
        assert_eq!(path.pmtud.mtu(), 1300);
        assert!(suspect(&mut path.pmtud, true), "before the path is given up");
    }

    // rfc8899#section-4.3
    #[test]
    fn losses_of_packets_longer_than_the_size_now_prove_nothing_of_it() {
        let mut path = Probed::new(1472, 1500);
        path.run(MINUTE);
        (0..3).for_each(|_| path.pmtud.data_lost(1472));
        assert!(path.pmtud.escape_black_hole(false));
        path.carries = 1272;
        (0..3).for_each(|_| path.pmtud.suspect());
        path.run(MINUTE);
        assert_eq!(path.pmtud.mtu(), 1300);
        assert!(!path.pmtud.escape_black_hole(false), "probes proved the size since");
        (0..3).for_each(|_| path.pmtud.data_lost(1472));
        assert!(!path.pmtud.escape_black_hole(false), "they left before the size shrank");
        (0..3).for_each(|_| path.pmtud.data_lost(1272));
        assert!(path.pmtud.escape_black_hole(false));
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
        // A lie: nothing of that size passes.
        path.carries = 1300;
        assert!(path.pmtud.on_packet_too_big(1390));
        assert_eq!((path.run(MINUTE), path.pmtud.mtu()), (3, 1328), "1200, 1280, 1300");
    }

    #[test]
    fn a_probe_lost_while_the_path_was_down_does_not_count() {
        let mut pmtud = Pmtud::new(true, 28, 1500);
        let now = Instant::ZERO + MINUTE;
        for _ in 0..10 {
            pmtud.sent(now, 7, RTO);
            pmtud.pause();
            assert!(!pmtud.on_timer(now + MINUTE));
        }
        assert_eq!((pmtud.state, pmtud.probe(now)), (State::Base, Some(1200)));
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
            prop_assert!(path.probes.len() < 320);
        }

        #[test]
        fn any_course_of_events_keeps_the_size_within_its_bounds(
            steps in prop::collection::vec((0u8..8, 0usize..1600), 1..200),
        ) {
            let mut pmtud = Pmtud::new(true, 28, 1500);
            let mut now = Instant::ZERO;
            for (kind, n) in steps {
                let before = pmtud.mtu();
                let told = match kind {
                    0 | 1 => {
                        now += Span::from_millis(n as u64);
                        let told = pmtud.on_timer(now);
                        if pmtud.probe(now).is_some() {
                            pmtud.sent(now, 7, RTO);
                        }
                        told
                    }
                    2 | 3 => pmtud.acked(now, 7),
                    4 => suspect(&mut pmtud, n % 5 == 0),
                    5 => pmtud.on_packet_too_big(n),
                    6 => {
                        pmtud.data_acked(n);
                        false
                    }
                    _ => {
                        pmtud.pause();
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
