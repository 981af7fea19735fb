//! Sleeps of less than a millisecond, which pacing needs.

use mio::{Events, Poll};
use std::io;
use std::time::Duration;

/// The shortest sleep. At high rates several packets leave after one sleep, which costs less CPU time.
const SHORTEST: Duration = Duration::from_micros(200);

/// Sleeps shorter than this are exact. Longer sleeps may last one millisecond more.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SHORT: Duration = Duration::from_millis(20);

/// Waits until a source is ready or the time is over.
///
/// [`Poll`] counts whole milliseconds on Linux and rounds up. A paced sender whose timers are so late sends
/// bursts: at the end of slow start it lost four times as many packets as a sender with exact timers. So
/// short sleeps are exact.
///
/// # Errors
/// The system's error.
pub(super) fn poll(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(|left| if left.is_zero() { left } else { left.max(SHORTEST) });
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(left) = timeout.filter(|left| !left.is_zero() && *left < SHORT) {
        nap(poll, left)?;
        return poll.poll(events, Some(Duration::ZERO));
    }
    poll.poll(events, timeout)
}

/// Sleeps until a source is ready, a signal arrives, or the time is over.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn nap(poll: &Poll, left: Duration) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, ppoll};
    use std::os::fd::AsFd;

    let mut ready = [PollFd::new(poll.registry().as_fd(), PollFlags::POLLIN)];
    match ppoll(&mut ready, Some(left.into()), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Clock;
    use super::*;
    use mio::{Token, Waker};
    use units::Span;

    /// The time of the shortest of many sleeps, since a busy machine may prolong any of them.
    fn shortest(left: Duration, wake: bool) -> Span {
        let (mut sleeper, mut events) = (Poll::new().unwrap(), Events::with_capacity(1));
        let waker = Waker::new(sleeper.registry(), Token(0)).unwrap();
        let clock = Clock::start();
        let naps = (0..200).map(|_| {
            if wake {
                waker.wake().unwrap();
            }
            let begin = clock.now();
            poll(&mut sleeper, &mut events, Some(left)).unwrap();
            assert_eq!(events.is_empty(), !wake);
            clock.now().since(begin)
        });
        naps.min().unwrap()
    }

    #[test]
    fn a_sleep_of_less_than_a_millisecond_is_not_rounded_up_to_one() {
        let nap = shortest(Duration::from_micros(300), false);
        assert!(nap >= Span::from_micros(300) && nap < Span::from_millis(1), "{nap:?}");
    }

    #[test]
    fn no_sleep_is_shorter_than_the_shortest_unless_something_is_ready() {
        assert!(shortest(Duration::from_nanos(1), false) >= Span::from_micros(200));
        assert!(shortest(Duration::from_millis(5), true) < Span::from_millis(1));
    }
}
