use std::fmt;

/// Bytes of a packet or payload: `head`, then `zeros` zero bytes that are not stored.
///
/// Filler payload is zeros and is never copied; peers and captures still see every byte.
/// Equality compares the bytes, whether stored or not.
#[derive(Clone, Copy, Default)]
pub struct Octets<'a> {
    /// The stored bytes.
    pub head: &'a [u8],
    /// Number of zero bytes that follow `head`.
    pub zeros: usize,
}

impl<'a> Octets<'a> {
    /// `head` followed by `zeros` zero bytes.
    #[inline]
    pub const fn new(head: &'a [u8], zeros: usize) -> Self {
        Octets { head, zeros }
    }

    /// Number of bytes, stored or not.
    #[inline]
    pub const fn len(&self) -> usize {
        self.head.len() + self.zeros
    }

    /// True if there are no bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `n` bytes and the rest.
    ///
    /// # Panics
    /// If there are fewer than `n` bytes.
    #[inline]
    pub fn split_at(self, n: usize) -> (Octets<'a>, Octets<'a>) {
        if n <= self.head.len() {
            let (first, rest) = self.head.split_at(n);
            (Octets::new(first, 0), Octets::new(rest, self.zeros))
        } else {
            let skipped = n - self.head.len();
            assert!(skipped <= self.zeros, "split at {n} of {} bytes", self.len());
            (Octets::new(self.head, skipped), Octets::new(&[], self.zeros - skipped))
        }
    }

    /// A copy of the first `N` bytes; `None` if there are fewer bytes.
    #[inline]
    pub fn first_chunk<const N: usize>(&self) -> Option<[u8; N]> {
        match self.head.first_chunk::<N>() {
            Some(stored) => Some(*stored),
            None => self.first_chunk_across::<N>(),
        }
    }

    #[cold]
    fn first_chunk_across<const N: usize>(&self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        bytes[..self.head.len()].copy_from_slice(self.head);
        (self.len() >= N).then_some(bytes)
    }

    /// Every byte in order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.head.iter().copied().chain(std::iter::repeat_n(0, self.zeros))
    }

    /// A copy with every byte stored.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.append_to(&mut bytes);
        bytes
    }

    /// Appends every byte to `out`.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head);
        out.resize(out.len() + self.zeros, 0);
    }
}

impl<'a> From<&'a [u8]> for Octets<'a> {
    fn from(head: &'a [u8]) -> Self {
        Octets { head, zeros: 0 }
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Octets<'a> {
    fn from(head: &'a [u8; N]) -> Self {
        Octets { head, zeros: 0 }
    }
}

impl PartialEq for Octets<'_> {
    fn eq(&self, other: &Octets<'_>) -> bool {
        let stored = self.head.len().min(other.head.len());
        self.len() == other.len()
            && self.head[..stored] == other.head[..stored]
            && self.head[stored..].iter().chain(&other.head[stored..]).all(|&byte| byte == 0)
    }
}

impl Eq for Octets<'_> {}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.head {
            write!(f, "{byte:02x}")?;
        }
        if self.zeros > 0 { write!(f, "+{} zeros", self.zeros) } else { Ok(()) }
    }
}

/// An owned packet that can be used again: `head`, then `zeros` zero bytes that are not stored, as in
/// [`Octets`].
#[derive(Clone, Debug, Default)]
pub struct PacketBuf {
    /// The stored bytes.
    pub head: Vec<u8>,
    /// Number of zero bytes that follow `head`.
    pub zeros: usize,
}

impl PacketBuf {
    /// The packet's bytes.
    #[inline]
    pub fn as_octets(&self) -> Octets<'_> {
        Octets { head: &self.head, zeros: self.zeros }
    }

    /// Number of bytes, stored or not.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.len() + self.zeros
    }

    /// True if there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the bytes and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.head.clear();
        self.zeros = 0;
    }

    /// Stores the zero bytes, so that `head` is the whole packet.
    #[inline]
    pub fn materialise(&mut self) {
        if self.zeros > 0 {
            self.store_zeros();
        }
    }

    #[cold]
    fn store_zeros(&mut self) {
        self.head.resize(self.len(), 0);
        self.zeros = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_may_fall_among_the_stored_bytes_or_the_zeros() {
        let octets = Octets::new(&[1, 2, 3], 4);
        for n in 0..=7 {
            let (first, rest) = octets.split_at(n);
            assert_eq!(first.to_vec(), octets.to_vec()[..n], "first {n}");
            assert_eq!(rest.to_vec(), octets.to_vec()[n..], "after {n}");
        }
    }

    #[test]
    fn equality_ignores_how_bytes_are_stored() {
        assert_eq!(Octets::new(&[1, 0, 0], 1), Octets::new(&[1], 3));
        assert_ne!(Octets::new(&[1, 0, 2], 1), Octets::new(&[1], 3));
        assert_ne!(Octets::new(&[1], 2), Octets::new(&[1], 3));
    }

    #[test]
    fn a_fixed_part_is_read_across_the_seam() {
        let octets = Octets::new(&[1, 2], 2);
        assert_eq!(octets.first_chunk(), Some([1, 2]));
        assert_eq!(octets.first_chunk(), Some([1, 2, 0, 0]));
        assert_eq!(octets.first_chunk::<5>(), None);
    }

    #[test]
    fn materialising_changes_no_byte() {
        let mut buf = PacketBuf { head: vec![9], zeros: 3 };
        buf.materialise();
        assert_eq!((buf.head.as_slice(), buf.zeros), ([9, 0, 0, 0].as_slice(), 0));
    }
}
