/// A list of outstanding chunks, sorted by TSN. The chunks hold the links, so a removal takes constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

/// Marks the end of a list.
pub(crate) const NIL: u64 = u64::MAX;

impl Default for List {
    fn default() -> Self {
        List { head: NIL, tail: NIL }
    }
}

impl List {
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        (self.head != NIL).then_some(self.head)
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<u64> {
        (self.tail != NIL).then_some(self.tail)
    }
}
