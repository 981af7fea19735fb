//! Values by stream, and sets of streams.

use std::collections::BTreeMap;
use wire::StreamId;

/// A value for each used stream; unused streams take no memory. Streams that are used in the order of their
/// numbers, from 0, are indexed by number; other streams are searched for.
#[derive(Debug)]
pub(crate) struct PerStream<T> {
    dense: Vec<T>,
    sparse: Option<Sparse<T>>,
}

/// Boxed, since most associations need no map.
type Sparse<T> = Box<BTreeMap<u16, T>>;

/// Streams below this number are always indexed by number, in whatever order they are used.
const FIRST: usize = 16;

impl<T> Default for PerStream<T> {
    fn default() -> Self {
        PerStream { dense: Vec::new(), sparse: None }
    }
}

impl<T> PerStream<T> {
    /// The value of a stream; none if the stream was never used.
    pub(crate) fn get_mut(&mut self, stream: StreamId) -> Option<&mut T> {
        let at = usize::from(stream.0);
        if at < self.dense.len() { self.dense.get_mut(at) } else { self.sparse.as_mut()?.get_mut(&stream.0) }
    }

    /// The used streams of a set, each once.
    pub(crate) fn used(&self, set: &StreamSet) -> Vec<StreamId> {
        let sparse = |number: &u16| self.sparse.as_ref().is_some_and(|sparse| sparse.contains_key(number));
        let is_used = |stream: &StreamId| usize::from(stream.0) < self.dense.len() || sparse(&stream.0);
        if !set.is_all() {
            return set.streams().iter().copied().filter(is_used).collect();
        }
        let dense = (0..self.dense.len()).map(|at| StreamId(at as u16));
        dense.chain(self.sparse.iter().flat_map(|sparse| sparse.keys().map(|&at| StreamId(at)))).collect()
    }
}

impl<T: Default> PerStream<T> {
    /// The value of a stream, which counts as used from now on.
    #[inline]
    pub(crate) fn of(&mut self, stream: StreamId) -> &mut T {
        let at = usize::from(stream.0);
        if at < self.dense.len() { &mut self.dense[at] } else { self.of_another(stream) }
    }

    /// The value of a stream; none if the stream was never used.
    pub(crate) fn get(&self, stream: StreamId) -> Option<&T> {
        let dense = self.dense.get(usize::from(stream.0));
        dense.or_else(|| self.sparse.as_ref()?.get(&stream.0))
    }

    #[cold]
    fn of_another(&mut self, stream: StreamId) -> &mut T {
        let at = usize::from(stream.0);
        if at < FIRST {
            self.dense.resize_with(at + 1, T::default);
            return &mut self.dense[at];
        }
        let sparse = self.sparse.get_or_insert_default();
        crate::steps::count_search(sparse.len());
        if at == self.dense.len() {
            self.dense.push(sparse.remove(&stream.0).unwrap_or_default());
            return &mut self.dense[at];
        }
        sparse.entry(stream.0).or_default()
    }

    /// Estimate of the bytes allocated, as if all leaves of the B-tree were full (11 entries each).
    #[cfg(test)]
    pub(crate) fn heap_bytes(&self) -> usize {
        let sparse = self.sparse.as_ref().map_or(0, |sparse| sparse.len().next_multiple_of(11));
        self.dense.capacity() * size_of::<T>() + sparse * (size_of::<T>() + 2) + size_of::<BTreeMap<u16, T>>()
    }
}

/// A set of streams that a request names: listed streams, or all streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamSet {
    /// The listed streams, sorted and each once; empty for all streams.
    listed: Box<[StreamId]>,
}

impl StreamSet {
    /// Makes a set from a list in any order; an empty list means all streams.
    pub(crate) fn of(streams: impl Iterator<Item = StreamId>) -> Self {
        let mut listed: Vec<StreamId> = streams.collect();
        listed.sort_unstable();
        listed.dedup();
        StreamSet { listed: listed.into() }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.listed.is_empty()
    }

    /// The listed streams; empty for all streams.
    pub(crate) fn streams(&self) -> &[StreamId] {
        &self.listed
    }

    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.is_all() || self.listed.binary_search(&stream).is_ok()
    }

    /// The highest listed stream.
    pub(crate) fn highest(&self) -> Option<StreamId> {
        self.listed.last().copied()
    }

    /// True if the sets have a stream in common.
    pub(crate) fn meets(&self, other: &StreamSet) -> bool {
        self.is_all() || other.is_all() || self.listed.iter().any(|&stream| other.contains(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_stream_keeps_its_value(streams in prop::collection::vec((0u16..60, any::<u32>()), 1..300)) {
            let mut values = PerStream::<u32>::default();
            let mut model = [0; 60];
            for (stream, value) in streams {
                prop_assert_eq!(*values.of(StreamId(stream)), model[usize::from(stream)]);
                *values.of(StreamId(stream)) = value;
                model[usize::from(stream)] = value;
            }
            let set = StreamSet::of([StreamId(50), StreamId(3), StreamId(50)].into_iter());
            let is_used = |&stream: &StreamId| values.get_mut(stream).is_some();
            let used: Vec<_> = (0..60).map(StreamId).filter(is_used).collect();
            let some: Vec<_> = used.iter().copied().filter(|&stream| set.contains(stream)).collect();
            prop_assert_eq!(values.used(&StreamSet::default()), used);
            prop_assert_eq!(values.used(&set), some);
            for (stream, value) in (0..).zip(model) {
                prop_assert_eq!(*values.of(StreamId(stream)), value);
            }
        }
    }

    #[test]
    fn sets_of_streams_meet_if_they_share_one() {
        let set = |streams: &[u16]| StreamSet::of(streams.iter().map(|&stream| StreamId(stream)));
        assert!(set(&[]).meets(&set(&[5])) && set(&[5]).meets(&set(&[])));
        assert!(set(&[9, 1]).meets(&set(&[2, 9])) && !set(&[9, 1]).meets(&set(&[2])));
        assert_eq!(set(&[9, 1, 9]).streams(), [StreamId(1), StreamId(9)]);
        assert!(set(&[]).contains(StreamId(7)) && !set(&[6, 8]).contains(StreamId(7)));
    }

    #[test]
    fn a_stream_used_alone_takes_no_memory_for_those_below() {
        let mut values = PerStream::<u64>::default();
        *values.of(StreamId(u16::MAX - 1)) = 1;
        assert_eq!((values.dense.capacity(), values.sparse.map(|sparse| sparse.len())), (0, Some(1)));
    }

    #[test]
    fn streams_used_in_order_are_found_by_their_number() {
        let mut values = PerStream::<u64>::default();
        (0..1000).for_each(|stream| *values.of(StreamId(stream)) = 1);
        assert_eq!(values.dense.len(), 1000);
    }
}
