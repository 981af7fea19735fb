//! Saved cwnd and RTT of paths, for later paths between the same addresses (`rfc9959`).

use cc::SavedPath;
use std::collections::BTreeMap;
use std::iter;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use units::{ByteCount, Instant, Span};

/// Largest number of saved sets. A set is the cwnd and RTT of a path, and the time at which they expire.
const MOST: usize = 1024;

/// First line of the text that [`Saved::encode`] returns, with the version of the format.
const TITLE: &str = "anabranch saved paths 1: local, remote, bytes in a round trip, RTT [us], until [Unix s]";

const SECOND: Span = Span::from_secs(1);

/// Saved sets (cwnd, RTT and expiry of a path) by local and remote address. All clones share the same sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved(Arc<Mutex<BTreeMap<Pair, SavedPath>>>);

/// Local and remote address.
pub(crate) type Pair = (IpAddr, IpAddr);

/// Reason why saved paths could not be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("saved paths, line {line}: expected {expected}")]
pub struct RestoreError {
    line: usize,
    expected: &'static str,
}

impl Saved {
    fn sets<T>(&self, f: impl FnOnce(&mut BTreeMap<Pair, SavedPath>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Saves cwnd, RTT and expiry of a path. If more than [`MOST`] paths are saved, removes the one that
    /// expires first.
    pub(crate) fn put(&self, pair: Pair, set: SavedPath) {
        self.sets(|sets| {
            sets.insert(pair, set);
            if sets.len() > MOST
                && let Some((&oldest, _)) = sets.iter().min_by_key(|(_, set)| set.until)
            {
                sets.remove(&oldest);
            }
        });
    }

    /// Removes and returns the saved cwnd and RTT of a path, so that only one path of one association uses
    /// them; `None` if they have expired.
    pub(crate) fn take(&self, now: Instant, pair: Pair) -> Option<SavedPath> {
        self.sets(|sets| sets.remove(&pair)).filter(|set| now <= set.until)
    }

    /// Returns as text the saved values (cwnd and RTT) of earlier paths and those of the paths `in_use`.
    /// `wall` is the present Unix time.
    pub(crate) fn encode(
        &self,
        now: Instant,
        wall: Span,
        in_use: impl Iterator<Item = (Pair, SavedPath)>,
    ) -> String {
        let all = Saved(Arc::new(Mutex::new(self.sets(|sets| sets.clone()))));
        in_use.for_each(|(pair, set)| all.put(pair, set));
        let line = |(&(local, remote), set): (&Pair, &SavedPath)| {
            let (cwnd, rtt) = (set.cwnd.get(), set.rtt.as_nanos() / 1000);
            // The nearest whole second.
            let until = (wall + set.until.since(now) + SECOND / 2).as_nanos() / SECOND.as_nanos();
            format!("{local} {remote} {cwnd} {rtt} {until}\n")
        };
        all.sets(|sets| {
            let young = sets.iter().filter(|(_, set)| now < set.until);
            iter::once(format!("{TITLE}\n")).chain(young.map(line)).collect()
        })
    }

    /// Adds the sets that a text lists, except sets that have expired, or that expire later than a set saved
    /// now would. If the text has an error, adds none.
    pub(crate) fn decode(&self, now: Instant, wall: Span, text: &str) -> Result<(), RestoreError> {
        let wrong = |line, expected| RestoreError { line, expected };
        let mut lines = (1..).zip(text.lines());
        if lines.next().is_none_or(|(_, first)| first != TITLE) {
            return Err(wrong(1, "the title of saved paths, version 1"));
        }
        let expected = "local and remote address, bytes, microseconds above 0 and Unix seconds";
        let mut sets = Vec::new();
        for (line, text) in lines {
            if line > MOST + 1 {
                return Err(wrong(line, "the end, since there are at most 1024 paths"));
            }
            sets.push(set_of(text).ok_or(wrong(line, expected))?);
        }
        for (pair, cwnd, rtt, until) in sets {
            let left = until.saturating_sub(wall);
            // The text has whole seconds, so that half a second may have been added.
            if !left.is_zero() && left <= SavedPath::LIFETIME + SECOND / 2 {
                self.put(pair, SavedPath { cwnd, rtt, until: now + left });
            }
        }
        Ok(())
    }
}

/// Reads a line of the text: the addresses of a path, its cwnd, its RTT, and the Unix time until
/// which both are valid.
fn set_of(line: &str) -> Option<(Pair, ByteCount, Span, Span)> {
    let mut words = line.split(' ');
    let mut address = || words.next()?.parse::<IpAddr>().ok();
    let pair = (address()?, address()?);
    let mut number = || words.next()?.parse::<u64>().ok();
    let (cwnd, rtt, until) = (number()?, number()?, number()?);
    let whole = words.next().is_none() && rtt > 0;
    whole.then(|| (pair, ByteCount::new(cwnd), Span::from_micros(1) * rtt, SECOND * until))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unix time, in seconds, at time 0 of `at`.
    const BEGAN: u64 = 1_780_000_000;

    fn set(cwnd: u64, until: u64) -> SavedPath {
        SavedPath { cwnd: ByteCount::new(cwnd), rtt: Span::from_millis(50), until: at(until) }
    }

    fn pair(n: u32) -> Pair {
        ([10, 0, 0, 1].into(), IpAddr::from(n.to_be_bytes()))
    }

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Span::from_secs(secs)
    }

    fn wall(secs: u64) -> Span {
        Span::from_secs(BEGAN + secs)
    }

    #[test]
    fn sets_age_by_the_wall_clock_until_they_are_restored() {
        let first = Saved::default();
        let six = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        first.put(pair(1), set(500_000, 4100));
        first.put(six, set(600_000, 7000));
        let text = first.encode(at(4000), wall(4000), iter::empty());
        let line = "2001:db8::1 2001:db8::2 600000 50000 1780007000\n";
        assert_eq!(text, format!("{TITLE}\n10.0.0.1 0.0.0.1 500000 50000 1780004100\n{line}"));
        let second = Saved::default();
        second.decode(at(7), wall(4200), &text).unwrap();
        assert_eq!(second.take(at(7), pair(1)), None, "too old");
        assert_eq!(second.take(at(7), six), Some(set(600_000, 2807)));
        assert_eq!(second.take(at(7), six), None, "one path uses it");
        second.decode(at(7), wall(3000), &text).unwrap();
        assert_eq!(second.take(at(7), six), None, "the clock was set back: nobody knows how old it is");
    }

    #[test]
    fn a_set_restored_right_after_it_was_saved_gives_the_same_text() {
        for millis in [0, 300, 499, 500, 700, 999] {
            let (now, wall) = (at(9), wall(4000) + Span::from_millis(millis));
            let fresh = SavedPath { until: now + SavedPath::LIFETIME, ..set(500_000, 0) };
            let text = Saved::default().encode(now, wall, [(pair(1), fresh)].into_iter());
            let second = Saved::default();
            second.decode(at(0), wall, &text).unwrap();
            // The two clocks are not read at the same instant.
            for early in [0, 1, 2] {
                let read = wall - Span::from_micros(early);
                assert_eq!(second.encode(at(0), read, iter::empty()), text);
            }
            assert!(second.take(at(0), pair(1)).is_some(), "{text}");
        }
    }

    #[test]
    fn sets_of_paths_in_use_are_saved_too_and_stay_with_their_paths() {
        let saved = Saved::default();
        saved.put(pair(1), set(500_000, 3600));
        let in_use = [(pair(1), set(700_000, 3601)), (pair(2), set(800_000, 3601))];
        let text = saved.encode(at(1), wall(1), in_use.into_iter());
        assert!(text.contains("0.0.0.1 700000 ") && text.contains("0.0.0.2 800000 "), "{text}");
        assert_eq!(saved.take(at(1), pair(2)), None);
        assert_eq!(saved.take(at(1), pair(1)), Some(set(500_000, 3600)));
    }

    #[test]
    fn a_damaged_text_changes_nothing_and_the_error_names_the_line() {
        let saved = Saved::default();
        let good = "10.0.0.1 10.0.0.2 500000 50000 1780003000";
        let error = |text: &str| saved.decode(at(1), wall(1), text).unwrap_err().to_string();
        assert!(error("").starts_with("saved paths, line 1: expected the title"));
        assert!(error(&format!("{}\n{good}", TITLE.replace('1', "2"))).contains("line 1"));
        for damaged in [
            "",
            "10.0.0.1",
            "10.0.0.1 10.0.0.2 500000 50000",
            "10.0.0.1 10.0.0.2 500000 0 1780003000",
            "10.0.0.1 10.0.0.2 500000 50000 1780003000 7",
            "10.0.0.1 10.0.0.2 500000 50000 99999999999999999999",
            "10.0.0.1 10.0.0.256 500000 50000 1780003000",
            "10.0.0.1 10.0.0.2 -5 50000 1780003000",
        ] {
            let error = error(&format!("{TITLE}\n{good}\n{damaged}\n"));
            assert!(
                error.starts_with("saved paths, line 3: expected local and remote"),
                "{damaged}: {error}"
            );
        }
        let many = format!("{TITLE}\n{}", format!("{good}\n").repeat(MOST + 1));
        assert!(error(&many).contains("line 1026: expected the end"));
        assert_eq!(saved.encode(at(1), wall(1), iter::empty()), format!("{TITLE}\n"));
        let largest = format!("{TITLE}\n10.0.0.1 10.0.0.2 {0} {0} {0}", u64::MAX);
        assert_eq!(saved.decode(at(1), wall(1), &largest), Ok(()), "never panics");
    }

    #[test]
    fn the_oldest_of_too_many_sets_is_forgotten() {
        let saved = Saved::default();
        for n in 0..=MOST as u32 {
            saved.put(pair(n), set(500_000, 9 + u64::from(n == 3)));
        }
        assert_eq!(saved.sets(|sets| sets.len()), MOST);
        assert!(saved.take(at(2), pair(3)).is_some());
        assert!(saved.take(at(2), pair(0)).is_none());
    }
}
