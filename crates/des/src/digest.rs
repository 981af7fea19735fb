/// A hash of a sequence of words, to compare two runs.
///
/// Each step is a bijection of the state, so two runs that differ in exactly one word always have different
/// values. Runs that differ in more words have equal values with probability 2^-64. It is not a cryptographic
/// hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    state: u64,
}

/// 2^64 divided by the golden ratio, made odd.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

impl Digest {
    /// The digest of the empty sequence.
    pub const fn new() -> Self {
        Digest { state: 0x243f_6a88_85a3_08d3 }
    }

    /// Adds one word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        let mixed = (self.state ^ word).wrapping_mul(MULTIPLIER);
        self.state = mixed ^ (mixed >> 32);
    }

    /// Adds bytes and their number, so that the boundary between two strings matters.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.word(u64::from_le_bytes(word.try_into().expect("chunks of eight")));
        }
        let mut tail = [0; 8];
        tail[..words.remainder().len()].copy_from_slice(words.remainder());
        self.word(u64::from_le_bytes(tail));
        self.word(bytes.len() as u64);
    }

    /// The hash of all words so far.
    pub fn value(&self) -> u64 {
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64]) -> u64 {
        let mut digest = Digest::new();
        words.iter().for_each(|&word| digest.word(word));
        digest.value()
    }

    #[test]
    fn the_value_depends_on_order_number_and_boundaries() {
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[]), of(&[0]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        let strings = |parts: &[&str]| {
            let mut digest = Digest::new();
            parts.iter().for_each(|part| digest.bytes(part.as_bytes()));
            digest.value()
        };
        assert_ne!(strings(&["ab", "c"]), strings(&["a", "bc"]));
        assert_ne!(strings(&["a"]), strings(&["a\0"]));
    }

    #[test]
    fn one_flipped_bit_flips_about_half_of_the_value() {
        for position in 0..8 {
            for bit in 0..64 {
                let mut words = [7; 8];
                let before = of(&words);
                words[position] ^= 1 << bit;
                let flipped = (before ^ of(&words)).count_ones();
                assert!((10..=54).contains(&flipped), "word {position} bit {bit}: {flipped} bits");
            }
        }
    }

    #[test]
    fn the_value_is_the_same_on_every_machine() {
        assert_eq!(of(&[1, 2, 3]), 8_765_253_889_280_274_237);
    }
}
