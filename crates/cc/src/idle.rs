//! Decay of the window of a path that carries no data.

use units::ByteCount;

use crate::{CongestionWindow, GrowthRule, IdleThreshold, Rules, Setup};

/// Whether a path is idle: true from the first RTO without data until data is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdleState {
    idle: bool,
}

impl IdleState {
    /// Ends the idle time, since data was acknowledged.
    pub(crate) fn end(&mut self) {
        self.idle = false;
    }

    /// Returns the window after one more RTO without data.
    ///
    /// SCTP: cwnd becomes max(cwnd/2, 4 segments), under RFC 2960 max(cwnd/2, 2 segments). Under
    /// `rfc9260#section-7.2.1` the first RTO without data also sets ssthresh, as [`Setup::idle_threshold`]
    /// says. TCP: cwnd becomes at most the initial window (`rfc5681#section-4.1`).
    pub(crate) fn decay(
        &mut self,
        setup: &Setup,
        mtu: ByteCount,
        window: CongestionWindow,
    ) -> CongestionWindow {
        let first = !std::mem::replace(&mut self.idle, true);
        match setup.rules {
            Rules::Sctp { growth, .. } => {
                let ssthresh = match setup.idle_threshold {
                    _ if !first || growth != GrowthRule::Rfc9260 => window.ssthresh,
                    IdleThreshold::Window => Some(window.cwnd),
                    IdleThreshold::Kept => window.ssthresh.map(|s| s.max(window.cwnd)),
                };
                let half = ByteCount::new(window.cwnd.get() / 2);
                CongestionWindow { cwnd: half.max(setup.least_ssthresh(mtu)), ssthresh }
            }
            Rules::Tcp(_) => CongestionWindow { cwnd: window.cwnd.min(setup.initial_window(mtu)), ..window },
        }
    }
}
