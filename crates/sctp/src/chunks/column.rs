//! Values that only some associations keep for their outstanding chunks.

use std::collections::VecDeque;

/// A value for each outstanding chunk. A column without values takes one pointer and no work.
///
/// A feature that needs a value for each chunk adds a column to [`Outstanding`](super::Outstanding),
/// so that [`TxChunk`](super::TxChunk) does not grow. The place of a chunk is its number, counted
/// from the lowest outstanding TSN (place 0). A chunk without a value has the default value.
#[derive(Debug)]
pub(super) struct Column<T> {
    /// Values of the lowest chunks; the chunks above them have the default value.
    values: Option<Values<T>>,
}

type Values<T> = Box<VecDeque<T>>;

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { values: None }
    }
}

impl<T: Default> Column<T> {
    /// Allocates the column before the first value is set.
    pub(super) fn open(&mut self) {
        self.values.get_or_insert_default();
    }

    /// Returns true if the column is allocated.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.values.is_some()
    }

    /// Sets the value of the chunk at `place`, counted from the lowest outstanding TSN.
    #[inline]
    pub(super) fn set(&mut self, place: usize, value: T) {
        self.set_held(place, value);
    }

    #[inline(never)] // chunks without values skip this code
    fn set_held(&mut self, place: usize, value: T) {
        let values = &mut **self.values.get_or_insert_default();
        if values.len() <= place {
            values.resize_with(place, T::default);
            values.push_back(value);
        } else {
            values[place] = value;
        }
    }

    /// The value of the chunk at `place` (0: the lowest outstanding TSN); `None` if neither this
    /// chunk nor a later one has a value.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.values.as_ref()?.get(place)
    }

    /// Takes the value of the chunk at `place` (0: the lowest outstanding TSN) and leaves the default value.
    #[inline]
    pub(super) fn take(&mut self, place: usize) -> T {
        if self.is_open() { self.take_held(place) } else { T::default() }
    }

    #[inline(never)] // chunks without values skip this code
    fn take_held(&mut self, place: usize) -> T {
        let value = self.values.as_mut().and_then(|values| values.get_mut(place));
        value.map(std::mem::take).unwrap_or_default()
    }

    /// Removes the value of the lowest chunk, and keeps memory for `capacity` values.
    #[inline]
    pub(super) fn pop_front(&mut self, capacity: usize) {
        if self.is_open() {
            self.pop_held(capacity);
        }
    }

    #[inline(never)] // chunks without values skip this code
    fn pop_held(&mut self, capacity: usize) {
        if let Some(values) = &mut self.values {
            values.pop_front();
            values.shrink_to(capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_chunk_keeps_its_value_while_the_ring_moves_on(
            steps in prop::collection::vec((0u8..4, any::<u16>(), 1u32..9), 1..300),
        ) {
            let mut column = Column::<u32>::default();
            let mut ring: VecDeque<u32> = VecDeque::new();
            for (kind, at, value) in steps {
                let place = usize::from(at) % ring.len().max(1);
                match kind {
                    0 => ring.push_back(0),
                    1 if !ring.is_empty() => {
                        column.set(place, value);
                        ring[place] = value;
                    }
                    2 if !ring.is_empty() => {
                        prop_assert_eq!(column.take(place), std::mem::take(&mut ring[place]));
                    }
                    _ => {
                        ring.pop_front();
                        column.pop_front(ring.capacity());
                    }
                }
                let values: Vec<u32> =
                    (0..ring.len()).map(|place| column.get(place).copied().unwrap_or_default()).collect();
                prop_assert_eq!(values, Vec::from(ring.clone()));
            }
        }
    }

    #[test]
    fn a_column_without_values_allocates_nothing() {
        let mut column = Column::<u64>::default();
        assert_eq!((column.take(5), column.get(0)), (0, None));
        column.pop_front(10);
        assert!(column.values.is_none());
        assert_eq!(size_of::<Column<u64>>(), size_of::<usize>());
    }
}
