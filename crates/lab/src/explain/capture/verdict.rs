//! Decides from a capture what held back the sender of one direction of an association.

use super::sending::{DirectionReport, PathReport};
use units::Span;

/// What held a sender back, as far as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Too few packets, or too short a time.
    TooShort,
    /// No SACKs were captured.
    NoSacks,
    /// The receive window had no room.
    ReceiveWindow,
    /// No data was outstanding, and the receive window had room: the application gave no data.
    Application,
    /// The sender waited for its retransmission timer.
    Timeouts,
    /// Data was outstanding, and chunks were lost: losses keep the congestion window small.
    Losses,
    /// Data was outstanding and few chunks were lost: the cwnd or the rate of the path is the limit.
    WindowOrPath,
}

/// Least number of packets for a verdict.
const LEAST_PACKETS: u64 = 10;
/// Least time from the first to the last packet for which a rate is computed.
const LEAST_TIME: Span = Span::from_millis(10);

/// Least fraction of retransmitted chunks for the verdict [`Verdict::Losses`].
const LOSSES: f64 = 0.005;

impl Verdict {
    /// Name of the verdict in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::TooShort | Verdict::NoSacks => "not-shown",
            Verdict::ReceiveWindow => "receive-window",
            Verdict::Application => "application",
            Verdict::Timeouts => "timeouts",
            Verdict::Losses => "losses",
            Verdict::WindowOrPath => "cwnd-or-path",
        }
    }
}

impl DirectionReport {
    /// The sum of a value over all paths.
    pub fn sum(&self, of: fn(&PathReport) -> u64) -> u64 {
        self.paths.iter().map(of).sum()
    }

    /// True if the time is long enough for a meaningful rate.
    pub fn has_rate(&self) -> bool {
        self.time >= LEAST_TIME && self.sum(|path| path.packets) > 1
    }

    /// Returns what held the sender back for the largest part of the time.
    pub fn verdict(&self) -> Verdict {
        if !self.has_rate() || self.sum(|path| path.packets) < LEAST_PACKETS {
            return Verdict::TooShort;
        }
        if self.sum(|path| path.sacks) == 0 {
            return Verdict::NoSacks;
        }
        let waited = self.closed + self.idle + self.timeout_time;
        let rest = self.time.saturating_sub(waited);
        let again = self.sum(|path| path.retransmissions).saturating_sub(self.sum(|path| path.needless));
        let lossy = again as f64 > LOSSES * self.sum(|path| path.chunks) as f64;
        let rest_is = if lossy { Verdict::Losses } else { Verdict::WindowOrPath };
        let shares = [
            (rest, rest_is),
            (self.timeout_time, Verdict::Timeouts),
            (self.idle, Verdict::Application),
            (self.closed, Verdict::ReceiveWindow),
        ];
        shares.into_iter().max_by_key(|(time, _)| *time).map_or(rest_is, |(_, verdict)| verdict)
    }
}
