use units::{Instant, Span};

/// Heartbeats of a path (`rfc9260#section-8.3`): the timer, and the heartbeat that waits for its answer.
#[derive(Debug, Default)]
#[repr(C)] // the timer first: each packet reads it
pub(crate) struct Heartbeat {
    timer: Timer,
    /// The last heartbeat sent, until it is answered. An answer after the RTO counts, too.
    probe: Option<PendingHeartbeat>,
    /// Time without data or heartbeat after which the path is idle, with a new random part in each period.
    period: Span,
    /// The user requested a heartbeat, and the peer has answered no heartbeat since.
    asked: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Timer {
    #[default]
    Off,
    /// If the path carries no data before this time, it is idle and a heartbeat is due.
    Due(Instant),
    /// The answer to the last heartbeat is late at this time.
    Overdue(Instant),
}

#[derive(Clone, Copy, Debug)]
struct PendingHeartbeat {
    nonce: u64,
    /// Time of the first transmission.
    sent: Instant,
    repeats: u16,
    /// Times of the last transmissions: repetition n has index n modulo [`REMEMBERED`].
    times: [Instant; REMEMBERED],
}

/// Number of latest transmissions of a heartbeat whose times are kept. An answer to an earlier transmission
/// gives no RTT sample.
const REMEMBERED: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Time since the first transmission of the heartbeat.
    pub(crate) after: Span,
    /// Time since the transmission that is answered; `None` if its send time is no longer kept.
    pub(crate) rtt: Option<Span>,
}

/// Result of an expiry of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeartbeatTimer {
    /// A heartbeat must be sent.
    Send,
    /// The last heartbeat was not answered within the RTO: an error of the path.
    Unanswered,
}

impl Heartbeat {
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.timer {
            Timer::Off => None,
            Timer::Due(at) | Timer::Overdue(at) => Some(at),
        }
    }

    /// Starts an idle period of the given length at `from`; `None` stops heartbeats.
    pub(crate) fn rest(&mut self, from: Instant, period: Option<Span>) {
        self.timer = match period {
            Some(period) => {
                self.period = period;
                Timer::Due(from + period)
            }
            None => Timer::Off,
        };
    }

    pub(crate) fn defer(&mut self, at: Instant) {
        self.timer = Timer::Due(at);
    }

    /// Handles an expiry of the timer, if it has expired at `now`. A path that carried data at `used` becomes
    /// idle one period after that time.
    pub(crate) fn expire(&mut self, now: Instant, used: Option<Instant>) -> Option<HeartbeatTimer> {
        match self.timer {
            Timer::Overdue(at) if at <= now => Some(HeartbeatTimer::Unanswered),
            Timer::Due(at) if at <= now => match used.map(|used| used + self.period) {
                Some(idle) if idle > now => {
                    self.timer = Timer::Due(idle);
                    None
                }
                _ => Some(HeartbeatTimer::Send),
            },
            _ => None,
        }
    }

    /// Records a heartbeat sent at `now`, whose answer is due within `rto`.
    pub(crate) fn sent(&mut self, now: Instant, nonce: u64, rto: Span) {
        self.probe = Some(PendingHeartbeat { nonce, sent: now, repeats: 0, times: [now; REMEMBERED] });
        self.timer = Timer::Overdue(now + rto);
    }

    /// Records a repetition of the unanswered heartbeat. Returns false if no answer is awaited: none
    /// was sent, or the answer is late already.
    pub(crate) fn sent_again(&mut self, now: Instant) -> bool {
        let awaited = self.is_awaited();
        if let Some(probe) = self.probe.as_mut().filter(|_| awaited) {
            probe.repeats = probe.repeats.wrapping_add(1);
            probe.times[usize::from(probe.repeats) % REMEMBERED] = now;
        }
        awaited
    }

    /// Requests an event for the next answer to a heartbeat.
    pub(crate) fn ask(&mut self) {
        self.asked = true;
    }

    /// Returns true if the user requested an answer, and forgets the request.
    pub(crate) fn take_asked(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }

    /// Returns true while the answer to a heartbeat is neither received nor late.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.timer, Timer::Overdue(_))
    }

    /// Nonce of the last heartbeat if it is not answered, and its number of repetitions.
    pub(crate) fn nonce(&self) -> Option<(u64, u16)> {
        self.probe.map(|probe| (probe.nonce, probe.repeats))
    }

    /// Time of the first transmission of the last heartbeat, if it is not answered.
    pub(crate) fn unanswered_since(&self) -> Option<Instant> {
        self.probe.map(|probe| probe.sent)
    }

    /// Processes the answer to repetition number `repeats` of the heartbeat; `None` if the nonce is wrong
    /// (`rfc9260#section-5.4`).
    pub(crate) fn answered(&mut self, now: Instant, nonce: u64, repeats: u16) -> Option<Answer> {
        let probe = self.probe.take_if(|probe| probe.nonce == nonce)?;
        let is_remembered = usize::from(probe.repeats.wrapping_sub(repeats)) < REMEMBERED;
        let rtt = is_remembered.then(|| now.since(probe.times[usize::from(repeats) % REMEMBERED]));
        Some(Answer { after: now.since(probe.sent), rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_secs(1);

    fn at(s: u64) -> Instant {
        Instant::ZERO + SECOND * s
    }

    // rfc9260#section-8.3
    #[test]
    fn data_on_the_path_puts_the_heartbeat_off() {
        let mut heartbeat = Heartbeat::default();
        heartbeat.rest(at(0), Some(SECOND * 30));
        assert_eq!(heartbeat.expire(at(29), None), None);
        assert_eq!(heartbeat.expire(at(30), Some(at(12))), None);
        assert_eq!(heartbeat.deadline(), Some(at(42)));
        assert_eq!(heartbeat.expire(at(42), Some(at(12))), Some(HeartbeatTimer::Send));
    }

    // rfc9260#section-5.4
    #[test]
    fn only_the_right_nonce_is_an_answer_and_only_once() {
        let mut heartbeat = Heartbeat::default();
        heartbeat.sent(at(1), 7, SECOND);
        assert_eq!(heartbeat.answered(at(2), 8, 0), None);
        assert_eq!(heartbeat.expire(at(2), None), Some(HeartbeatTimer::Unanswered));
        heartbeat.defer(at(9));
        assert!(!heartbeat.sent_again(at(3)), "the answer is late");
        assert_eq!(
            heartbeat.answered(at(4), 7, 0),
            Some(Answer { after: SECOND * 3, rtt: Some(SECOND * 3) })
        );
        assert_eq!(heartbeat.answered(at(4), 7, 0), None);
    }

    #[test]
    fn an_answer_tells_the_round_trip_time_of_the_transmission_that_it_answers() {
        for (repeats, rtt) in [(0, None), (1, None), (2, Some(5)), (3, Some(4)), (5, Some(2)), (6, None)] {
            let mut heartbeat = Heartbeat::default();
            assert!(!heartbeat.sent_again(at(0)));
            heartbeat.sent(at(1), 7, SECOND);
            (2..=6).for_each(|time| assert!(heartbeat.sent_again(at(time))));
            assert_eq!(heartbeat.nonce(), Some((7, 5)));
            let answer = Answer { after: SECOND * 7, rtt: rtt.map(|seconds| SECOND * seconds) };
            assert_eq!(heartbeat.answered(at(8), 7, repeats), Some(answer), "{repeats}");
        }
    }
}
