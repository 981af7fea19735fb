use units::Instant;

/// Number of children of a node. Four children lie in one or two cache lines, and a tree with four children
/// is half as deep as a binary tree.
const ARITY: usize = 4;

/// A pending event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<E> {
    pub(crate) time: Instant,
    /// Number of the scheduling call, which orders events of the same instant.
    pub(crate) number: u64,
    pub(crate) event: E,
}

impl<E> Entry<E> {
    /// Time and number in one value, so that a comparison needs no branch.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        order(self.time, self.number)
    }
}

/// The sort key of events: their time, and the order of scheduling within an instant.
#[inline]
pub(crate) fn order(time: Instant, number: u64) -> u128 {
    u128::from(time.as_nanos()) << 64 | u128::from(number)
}

/// A heap of events whose root is the first event.
#[derive(Debug)]
pub(crate) struct Heap<E> {
    entries: Vec<Entry<E>>,
}

impl<E> Default for Heap<E> {
    fn default() -> Self {
        Heap { entries: Vec::new() }
    }
}

impl<E: Copy> Heap<E> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry<E>> {
        self.entries.first()
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: Entry<E>) {
        self.entries.push(entry);
        let place = self.open_upwards(entry.key());
        self.entries[place] = entry;
    }

    /// Removes the root.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.entries.pop()
            && !self.entries.is_empty()
        {
            let place = self.open_downwards(last.key());
            self.entries[place] = last;
        }
    }

    /// Moves the free place from the end of the heap up to where `key`
    /// belongs: the parents on the way move down. Returns the free place.
    #[inline]
    fn open_upwards(&mut self, key: u128) -> usize {
        let entries = self.entries.as_mut_slice();
        let mut free = entries.len() - 1;
        while free > 0 {
            let parent = (free - 1) / ARITY;
            if entries[parent].key() < key {
                break;
            }
            entries[free] = entries[parent];
            free = parent;
        }
        free
    }

    /// Moves the free place from the root down to where `key` belongs:
    /// the least children on the way move up. Returns the free place.
    #[inline]
    fn open_downwards(&mut self, key: u128) -> usize {
        let entries = self.entries.as_mut_slice();
        let mut free = 0;
        loop {
            let first = free * ARITY + 1;
            let Some(children) = entries.get(first..entries.len().min(first + ARITY)) else { return free };
            let Some((offset, least)) = children.iter().enumerate().min_by_key(|(_, child)| child.key())
            else {
                return free;
            };
            if key < least.key() {
                return free;
            }
            entries[free] = *least;
            free = first + offset;
        }
    }
}
