/// Derives decisions from bytes supplied by a fuzzer or a property test. After the last byte all decisions
/// are zero.
#[derive(Debug)]
pub struct Tape<'a> {
    bytes: &'a [u8],
}

impl<'a> Tape<'a> {
    /// Creates a tape whose first decision uses the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Tape { bytes }
    }

    /// True if all bytes are used up.
    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Number of bytes not yet used.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// A number below `bound`. Uses one byte if `bound` is at most 256, and more bytes for a larger `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        let (mut number, mut most) = (u64::from(self.byte()), 0xff);
        while most < bound.saturating_sub(1) {
            number = number << 8 | u64::from(self.byte());
            most = most << 8 | 0xff;
        }
        number % bound.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True with probability 1/`n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// True or false.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Picks one of `values`.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Skips `bytes` bytes, which chose options that no longer exist, so that stored fuzz inputs keep their
    /// meaning.
    pub(super) fn past(&mut self, bytes: usize) -> &mut Self {
        self.take(bytes);
        self
    }

    /// A random number of 32 bits.
    pub fn word(&mut self) -> u32 {
        u32::from_be_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// The next bytes, at most `most`.
    pub fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(most.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_consumes_as_many_bytes_as_it_needs() {
        let mut tape = Tape::new(&[1, 2, 3, 4, 5]);
        assert_eq!(tape.below(256), 1);
        assert_eq!(tape.below(65_536), 0x0203);
        assert_eq!(tape.below(257), 0x0405 % 257);
        assert!(tape.is_over());
        assert_eq!((tape.below(9), tape.word(), tape.take(3)), (0, 0, &[][..]));
    }
}
