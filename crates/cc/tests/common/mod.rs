//! An association as its congestion control sees it.

#![allow(dead_code, reason = "each test binary uses a part")]

use anabranch_cc::{
    Algorithm, CongestionControl, CongestionWindow, GrowthRule, Knobs, LossKind, PathAck, PathView, Setup,
    TcpRules,
};
use units::{ByteCount, Instant, Span};

/// The MTU in all tests whose results are computed by hand.
pub const M: u64 = 1500;
/// A receive window that no test fills.
pub const PEER_RWND: u64 = 5_000_000;

pub fn bytes(n: u64) -> ByteCount {
    ByteCount::new(n)
}

pub fn setup(growth: GrowthRule, paths: usize) -> Setup {
    Setup::sctp(growth, bytes(20), bytes(PEER_RWND), paths)
}

/// IPv4 and TCP headers without options.
pub const TCP_HEADERS: u64 = 40;
/// SMSS of an MTU of [`M`].
pub const SMSS: u64 = M - TCP_HEADERS;

/// TCP without byte counting, with an initial window of two segments.
pub fn tcp() -> TcpRules {
    TcpRules {
        headers: bytes(TCP_HEADERS),
        initial_window: bytes(2 * SMSS),
        abc_limit: None,
        grow_full_only: false,
    }
}

/// A controller and the paths whose windows it sets.
pub struct Bench {
    pub control: Box<dyn CongestionControl>,
    pub paths: Vec<PathView>,
    pub now: Instant,
}

impl Bench {
    pub fn new(algorithm: Algorithm, setup: &Setup) -> Bench {
        Bench::with_mtu(algorithm, setup, M)
    }

    pub fn with_mtu(algorithm: Algorithm, setup: &Setup, mtu: u64) -> Bench {
        Bench::in_groups(algorithm, setup, mtu, &vec![0; setup.paths])
    }

    /// Adds a path for each element of `groups`, which is the group of the path.
    pub fn in_groups(algorithm: Algorithm, setup: &Setup, mtu: u64, groups: &[u8]) -> Bench {
        Bench::of(algorithm.build(setup, &Knobs::default()), setup, mtu, groups)
    }

    pub fn with_knobs(algorithm: Algorithm, setup: &Setup, mtu: u64, knobs: &Knobs) -> Bench {
        Bench::of(algorithm.build(setup, knobs), setup, mtu, &vec![0; setup.paths])
    }

    fn of(control: Box<dyn CongestionControl>, setup: &Setup, mtu: u64, groups: &[u8]) -> Bench {
        let path = |&group: &u8| PathView {
            window: CongestionWindow::default(),
            flight: ByteCount::ZERO,
            mtu: bytes(mtu),
            srtt: None,
            rto: Span::from_secs(1),
            active: true,
            group,
            apart: 0,
            in_recovery: false,
        };
        let paths = groups.iter().map(path).collect();
        let mut bench = Bench { control: anabranch_cc::paced(control, setup), paths, now: Instant::ZERO };
        for p in 0..groups.len() {
            bench.paths[p].window = bench.control.on_path_added(&bench.paths, p);
        }
        bench
    }

    /// Sets cwnd and ssthresh of path `p`; an ssthresh of zero stands for unset.
    pub fn put(mut self, p: usize, cwnd: u64, ssthresh: u64) -> Bench {
        let ssthresh = (ssthresh > 0).then(|| bytes(ssthresh));
        self.paths[p].window = CongestionWindow { cwnd: bytes(cwnd), ssthresh };
        self
    }

    pub fn sack(&mut self, acks: &[PathAck]) {
        let now = self.now;
        self.changing(|control, before, w| control.on_sack(now, before, acks, w));
    }

    /// Processes one SACK of `acked` bytes of a full window on path `p`.
    pub fn full_ack(&mut self, p: usize, acked: u64) {
        self.sack(&[self.ack_of(p, acked, true)]);
    }

    /// Processes one SACK of `acked` bytes on path `p`, whose window was one byte short of full.
    pub fn slack_ack(&mut self, p: usize, acked: u64) {
        self.sack(&[self.ack_of(p, acked, false)]);
    }

    pub fn ack_of(&self, p: usize, acked: u64, full: bool) -> PathAck {
        let cwnd = self.paths[p].window.cwnd;
        let flight_before = if full { cwnd } else { cwnd - bytes(1) };
        PathAck {
            path: p,
            acked: bytes(acked),
            advanced: true,
            flight_before,
            flight_after: bytes(1),
            rtt: None,
            owd: None,
            lost: ByteCount::ZERO,
            rate: None,
        }
    }

    pub fn loss(&mut self, p: usize, kind: LossKind) {
        let now = self.now;
        self.changing(|control, before, w| control.on_loss(now, before, p, kind, w));
    }

    pub fn idle(&mut self, p: usize) {
        let now = self.now;
        self.changing(|control, before, w| control.on_idle(now, before, p, w));
    }

    pub fn cwnd(&self, p: usize) -> u64 {
        self.paths[p].window.cwnd.get()
    }

    pub fn ssthresh(&self, p: usize) -> Option<u64> {
        self.paths[p].window.ssthresh.map(ByteCount::get)
    }

    pub fn pba(&self, p: usize) -> u64 {
        self.control.partial_bytes_acked(p).get()
    }

    pub fn changing(
        &mut self,
        event: impl FnOnce(&mut dyn CongestionControl, &[PathView], &mut [CongestionWindow]),
    ) {
        let mut windows: Vec<CongestionWindow> = self.paths.iter().map(|path| path.window).collect();
        event(&mut *self.control, &self.paths, &mut windows);
        for (path, window) in self.paths.iter_mut().zip(windows) {
            path.window = window;
        }
    }
}
