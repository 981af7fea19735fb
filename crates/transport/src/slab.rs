use std::collections::VecDeque;

/// Values in numbered slots, at most `limit` at a time. The id of a value never names another value.
///
/// An id is the number of the slot and a generation that counts the values of the slot. Free slots are reused
/// in the order in which they became free, until their generations are used up. So the memory depends on the
/// largest number of values that existed at the same time, not on the age of the slab.
#[derive(Debug)]
#[repr(C)] // a lookup reads `slots` and `bits` first
pub struct Slab<T> {
    slots: Vec<Slot<T>>,
    /// Number of low bits of an id that hold the slot; the other bits are the generation.
    bits: u32,
    used: usize,
    limit: usize,
    free: VecDeque<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    /// Number of earlier values of the slot.
    generation: u32,
}

impl<T> Slab<T> {
    /// An empty slab for at most `limit` values at a time, 1 to 2^31.
    ///
    /// # Panics
    /// If `limit` is out of range.
    pub fn new(limit: usize) -> Self {
        assert!((1..=1 << 31).contains(&limit), "a slab has 1 to 2^31 slots, not {limit}");
        let bits = limit.next_power_of_two().trailing_zeros();
        Slab { slots: Vec::new(), bits, used: 0, limit, free: VecDeque::new() }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.used
    }

    /// True if there is no value.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// True if [`Self::insert`] would fail: there are `limit` values, or all ids were used.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.limit
    }

    /// Puts a value into a free slot and returns the slot. Without a free slot, drops the value and returns
    /// `None`.
    pub fn insert(&mut self, value: T) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push(Slot { value: None, generation: 0 });
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize].value = Some(value);
        self.used += 1;
        Some(slot)
    }

    /// Removes and returns the value in a slot.
    pub fn remove(&mut self, slot: u32) -> Option<T> {
        let last = u32::MAX.checked_shr(self.bits).unwrap_or(0);
        let place = self.slots.get_mut(slot as usize)?;
        let value = place.value.take()?;
        self.used -= 1;
        if place.generation < last {
            place.generation += 1;
            self.free.push_back(slot);
        }
        Some(value)
    }

    /// The value in a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.value.as_ref()
    }

    /// The value in a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.slots.get_mut(slot as usize)?.value.as_mut()
    }

    /// The id of the value in a slot; in a free slot, the id of its next value.
    #[inline]
    pub fn id(&self, slot: u32) -> u32 {
        let generation = self.slots.get(slot as usize).map_or(0, |place| place.generation);
        generation.checked_shl(self.bits).unwrap_or(0) | slot
    }

    /// The slot of the value with this id, if the value exists.
    #[inline]
    pub fn slot(&self, id: u32) -> Option<u32> {
        let slot = id & ((1 << self.bits) - 1);
        let place = self.slots.get(slot as usize)?;
        (place.value.is_some() && self.id(slot) == id).then_some(slot)
    }

    /// The value with this id and its slot, if the value exists.
    #[inline]
    pub fn find_mut(&mut self, id: u32) -> Option<(u32, &mut T)> {
        let slot = id & ((1 << self.bits) - 1);
        let place = self.slots.get_mut(slot as usize)?;
        let found = place.generation.checked_shl(self.bits).unwrap_or(0) | slot;
        place.value.as_mut().filter(|_| found == id).map(|value| (slot, value))
    }

    /// The values and their slots.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.slots).filter_map(|(slot, place)| Some((slot, place.value.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn an_id_finds_its_value_until_that_is_removed_and_nothing_after(
            limit in 1usize..6,
            steps in prop::collection::vec((any::<bool>(), 0usize..8), 1..200),
        ) {
            let (mut slab, mut model) = (Slab::new(limit), BTreeMap::new());
            let mut gone = Vec::new();
            for (n, (add, which)) in steps.into_iter().enumerate() {
                if add {
                    let slot = slab.insert(n);
                    prop_assert_eq!(slot.is_some(), model.len() < limit);
                    if let Some(slot) = slot {
                        prop_assert_eq!(model.insert(slab.id(slot), n), None, "the id was given before");
                    }
                } else if let Some(&id) = model.keys().nth(which) {
                    let slot = slab.slot(id).unwrap();
                    prop_assert_eq!(slab.remove(slot), model.remove(&id));
                    gone.push(id);
                }
                for (&id, value) in &model {
                    prop_assert_eq!(slab.slot(id).and_then(|slot| slab.get(slot)), Some(value));
                    prop_assert_eq!(slab.find_mut(id).map(|(_, found)| *found), Some(*value));
                }
                prop_assert!(gone.iter().all(|&id| slab.slot(id).is_none() && slab.find_mut(id).is_none()));
                prop_assert_eq!((slab.len(), slab.is_full()), (model.len(), model.len() == limit));
                prop_assert_eq!(slab.iter().count(), model.len());
            }
        }
    }

    #[test]
    fn the_slot_that_is_free_longest_is_used_first() {
        let mut slab = Slab::new(4);
        let slots: Vec<u32> = (0..3).filter_map(|n| slab.insert(n)).collect();
        assert_eq!(slots, [0, 1, 2]);
        slab.remove(2);
        slab.remove(0);
        assert_eq!([slab.insert(3), slab.insert(4), slab.insert(5)], [Some(2), Some(0), Some(3)]);
        assert_eq!(slab.insert(6), None);
    }

    #[test]
    fn memory_does_not_grow_beside_one_old_value() {
        let mut slab = Slab::new(1 << 10);
        slab.insert(0);
        for n in 1..100_000 {
            let slot = slab.insert(n).unwrap();
            slab.remove(slot);
        }
        assert_eq!((slab.slots.len(), slab.len()), (2, 1));
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_not_used_again() {
        let mut slab = Slab::new(1 << 31);
        let ids: Vec<u32> = (0..2)
            .map(|_| {
                let slot = slab.insert(()).unwrap();
                slab.remove(slot);
                slot
            })
            .collect();
        assert_eq!(ids, [0, 0]);
        assert_eq!(slab.insert(()), Some(1), "one bit counts two generations");
    }
}
