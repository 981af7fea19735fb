//! Window of received packet counters, which rejects replayed packets.

/// Length of the window in counters, up to the highest one seen. Lower counters are refused.
const WINDOW: u64 = 4096;
/// One word more than the window has, because the window does not begin at a word boundary.
const WORDS: usize = (WINDOW / 64) as usize + 1;

/// Counters of packets seen, within a window of 4096 below the highest one. It refuses replayed packets.
#[derive(Debug)]
pub struct Replay {
    /// The highest counter seen, plus one.
    next: u64,
    words: [u64; WORDS],
}

impl Default for Replay {
    fn default() -> Self {
        Replay { next: 0, words: [0; WORDS] }
    }
}

impl Replay {
    /// True if a counter is in the window or above it, and was not seen.
    pub fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return true;
        }
        self.next - counter <= WINDOW && self.words[word(counter)] & bit(counter) == 0
    }

    /// Marks a counter as seen and moves the window, for authentic packets only.
    /// Returns the number of words written.
    pub fn note(&mut self, counter: u64) -> usize {
        let mut cleared = 0;
        if counter >= self.next {
            let before = self.next.checked_sub(1).map_or(0, |highest| highest / 64);
            let new = (counter / 64 - before).min(WORDS as u64);
            for n in 0..new {
                self.words[word(counter - 64 * n)] = 0;
                cleared += 1;
            }
            self.next = counter + 1;
        }
        self.words[word(counter)] |= bit(counter);
        cleared + 1
    }
}

fn word(counter: u64) -> usize {
    (counter / 64 % WORDS as u64) as usize
}

fn bit(counter: u64) -> u64 {
    1 << (counter % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_counts_once_and_reordering_of_4096_is_accepted() {
        let mut replay = Replay::default();
        let top = 100_000;
        replay.note(top);
        for counter in (top + 1 - WINDOW..top).rev() {
            assert!(replay.is_new(counter), "{counter}");
            replay.note(counter);
            assert!(!replay.is_new(counter), "{counter}");
        }
        assert!(!replay.is_new(top));
        assert!(!replay.is_new(top - WINDOW), "it is too old");
    }

    #[test]
    fn a_jump_of_any_size_costs_at_most_66_words_and_forgets_nothing_in_the_window() {
        let mut replay = Replay::default();
        for counter in [0, 1, 63, 64, 65, 4095, 4096, 4200, 1 << 20, (1 << 60) - 1] {
            assert!(replay.is_new(counter), "{counter}");
            assert!(replay.note(counter) <= WORDS + 1);
            assert!(!replay.is_new(counter), "{counter}");
        }
        let highest = (1 << 60) - 1;
        for back in 1..WINDOW {
            assert!(replay.is_new(highest - back), "{back}");
        }
    }

    /// Compares the window with a set of all counters seen.
    #[test]
    fn it_agrees_with_a_set() {
        let mut replay = Replay::default();
        let mut seen = std::collections::BTreeSet::new();
        let mut state = 1_u64;
        let mut base = 0_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            base += state >> 61;
            let counter = base.saturating_sub((state >> 32) % 6000);
            let highest = seen.last().copied().unwrap_or(0);
            let expected = !seen.contains(&counter) && counter + WINDOW > highest;
            assert_eq!(replay.is_new(counter), expected, "{counter} of {highest}");
            if expected {
                replay.note(counter);
                seen.insert(counter);
            }
        }
    }
}
