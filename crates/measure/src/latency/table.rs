//! The probes of one kind, and the times of their answers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A probe: when it was sent, and its round-trip time once it is answered.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time of sending.
    pub at: Instant,
    /// Round-trip time.
    pub rtt: Option<Duration>,
}

/// The probes of one kind in the order of sending; the number of a probe is its index.
#[derive(Debug, Default)]
pub struct Table(Mutex<Vec<Sent>>);

impl Table {
    /// Adds a probe that is sent now, and returns its number.
    pub fn begin(&self) -> u64 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Sent { at: Instant::now(), rtt: None });
        all.len() as u64 - 1
    }

    /// Records the answer to a probe. Ignores a second answer, and an answer whose number no probe has.
    pub fn end(&self, sequence: u64) {
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = usize::try_from(sequence).unwrap_or(usize::MAX);
        if let Some(probe) = all.get_mut(place) {
            probe.rtt.get_or_insert(now.saturating_duration_since(probe.at));
        }
    }

    /// All probes.
    pub fn sent(&self) -> Vec<Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_answer_to_a_probe_counts() {
        let table = Table::default();
        assert_eq!((table.begin(), table.begin()), (0, 1));
        for number in [1, 7, u64::MAX] {
            table.end(number);
        }
        let first = table.sent()[1].rtt.expect("an answer");
        std::thread::sleep(Duration::from_millis(2));
        table.end(1);
        assert_eq!(table.sent().iter().map(|probe| probe.rtt).collect::<Vec<_>>(), [None, Some(first)]);
    }
}
