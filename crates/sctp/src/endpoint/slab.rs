use crate::assoc::Association;
use crate::event::AssocId;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The associations of an endpoint, each in a numbered place.
#[derive(Debug)]
#[repr(C)] // what a packet looks at first
pub(super) struct Slab {
    places: Vec<Place>,
    /// Bits of an [`AssocId`] that name the place; the others count its associations.
    bits: u32,
    /// Places to use again, the one that is free longest first.
    free: VecDeque<u32>,
    used: usize,
    limit: usize,
}

#[derive(Debug)]
pub(super) struct Place {
    pub(super) association: Option<Association>,
    /// Associations that were here before.
    generation: u32,
    /// The tag under which it can be found, or zero.
    pub(super) tag: u32,
    /// The addresses under which it can be found.
    pub(super) addresses: Vec<IpAddr>,
}

impl Slab {
    pub(super) fn new(limit: usize) -> Self {
        let bits = limit.next_power_of_two().trailing_zeros();
        Slab { places: Vec::new(), free: VecDeque::new(), used: 0, limit, bits }
    }

    pub(super) fn is_full(&self) -> bool {
        self.used >= self.limit || (self.free.is_empty() && self.places.len() >= self.limit)
    }

    /// Finds a place, of which there must be one, and a name.
    pub(super) fn insert(&mut self, mut association: Association) -> (u32, AssocId) {
        self.used += 1;
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.places.push(Place { association: None, generation: 0, tag: 0, addresses: Vec::new() });
            self.places.len() as u32 - 1
        });
        let place = &mut self.places[slot as usize];
        let id = AssocId(place.generation << self.bits | slot);
        association.id = id;
        place.association = Some(association);
        (slot, id)
    }

    /// Frees a place, for good if it has no more numbers for new associations.
    pub(super) fn remove(&mut self, slot: u32) {
        let place = &mut self.places[slot as usize];
        place.association = None;
        self.used -= 1;
        if place.generation < u32::MAX.checked_shr(self.bits).unwrap_or(0) {
            place.generation += 1;
            self.free.push_back(slot);
        }
    }

    #[inline]
    pub(super) fn place(&mut self, slot: u32) -> &mut Place {
        &mut self.places[slot as usize]
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Association> {
        self.places[slot as usize].association.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Association> {
        self.places[slot as usize].association.as_mut()
    }

    /// The place of an association, if it is still there.
    #[inline]
    pub(super) fn slot(&self, id: AssocId) -> Option<u32> {
        let slot = id.0 & ((1 << self.bits) - 1);
        let association = self.places.get(slot as usize)?.association.as_ref()?;
        (association.id == id).then_some(slot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Association> {
        self.places.iter().filter_map(|place| place.association.as_ref())
    }
}
