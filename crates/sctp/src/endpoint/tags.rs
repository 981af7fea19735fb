/// Finds the association of a packet by its verification tag.
///
/// The table is open-addressed. Tags are our own random numbers, so their low bits serve as the hash, and an
/// attacker cannot make them collide. The cost of a lookup does not depend on the number of associations.
#[derive(Debug)]
#[repr(C)] // the fields for a single association come first
pub(crate) struct Tags {
    /// The only entry (tag, slot of the association), if there is just one; the table is not read then.
    only: (u32, u32),
    used: usize,
    /// The table: entries of a tag and the slot of its association. The length is a power of two, and
    /// at most half of the entries are used. Tag 0, which no association has, marks a free entry.
    places: Vec<(u32, u32)>,
}

impl Tags {
    pub(crate) fn new() -> Self {
        Tags { places: vec![(0, 0); 16], used: 0, only: (0, 0) }
    }

    #[inline]
    pub(crate) fn get(&self, tag: u32) -> Option<u32> {
        let (found, slot) = if self.used == 1 { self.only } else { self.places[self.place_of(tag)] };
        (found == tag && tag != 0).then_some(slot)
    }

    pub(crate) fn insert(&mut self, tag: u32, slot: u32) {
        debug_assert!(tag != 0 && self.get(tag).is_none());
        if (self.used + 1) * 2 > self.places.len() {
            let larger = vec![(0, 0); self.places.len() * 2];
            for (tag, slot) in std::mem::replace(&mut self.places, larger) {
                if tag != 0 {
                    let place = self.place_of(tag);
                    self.places[place] = (tag, slot);
                }
            }
        }
        let place = self.place_of(tag);
        self.places[place] = (tag, slot);
        self.used += 1;
        self.only = (tag, slot);
    }

    pub(crate) fn remove(&mut self, tag: u32) {
        let mut hole = self.place_of(tag);
        if tag == 0 || self.places[hole].0 != tag {
            return;
        }
        self.used -= 1;
        let mask = self.places.len() - 1;
        let mut next = hole;
        // Move back every entry that the free entry before it would make unreachable.
        loop {
            next = (next + 1) & mask;
            let (tag, _) = self.places[next];
            if tag == 0 {
                break;
            }
            let home = tag as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                self.places[hole] = self.places[next];
                hole = next;
            }
        }
        self.places[hole] = (0, 0);
        if self.used == 1 {
            self.only = self.places.iter().copied().find(|&(tag, _)| tag != 0).unwrap_or_default();
        }
    }

    /// Index in the table of the entry of `tag`, or of the free entry where it belongs.
    #[inline]
    fn place_of(&self, tag: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut place = tag as usize & mask;
        while self.places[place].0 != tag && self.places[place].0 != 0 {
            place = (place + 1) & mask;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Tags with few different low bits, which collide often.
        #[test]
        fn it_agrees_with_a_map(steps in prop::collection::vec((0u32..6, 0u32..24, any::<bool>()), 1..300)) {
            let (mut tags, mut model) = (Tags::new(), BTreeMap::new());
            for (n, (high, low, add)) in steps.into_iter().enumerate() {
                let tag = (high << 24) | low;
                if tag == 0 {
                    prop_assert_eq!(tags.get(0), None);
                } else if add && !model.contains_key(&tag) {
                    tags.insert(tag, n as u32);
                    model.insert(tag, n as u32);
                } else {
                    tags.remove(tag);
                    model.remove(&tag);
                }
                for (&tag, &slot) in &model {
                    prop_assert_eq!(tags.get(tag), Some(slot));
                }
                prop_assert_eq!(tags.used, model.len());
            }
        }
    }
}
