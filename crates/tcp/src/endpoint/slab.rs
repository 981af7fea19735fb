use crate::ConnId;
use crate::conn::{Connection, Ends};
use std::collections::BTreeSet;
use transport::Slab;

/// The connections of an endpoint, with indices to find them.
#[derive(Debug)]
pub(super) struct Connections {
    slab: Slab<Place>,
    /// Largest number of connections at a time.
    limit: usize,
    /// The addresses and ports of all connections, each with the slot of the connection; sorted.
    ends: Vec<(Ends, u32)>,
    /// Serial numbers and slots of half-open connections; the smallest number is the oldest connection.
    half_open: BTreeSet<(u64, u32)>,
    /// Number of connections begun so far.
    begun: u64,
}

#[derive(Debug)]
struct Place {
    connection: Box<Connection>,
    /// Serial number of the connection if it is half open.
    half_open: Option<u64>,
}

/// Slots beyond the limit, for replaced connections that are removed only when they are polled next.
const SPARE: usize = 16;

impl Connections {
    pub(super) fn new(limit: usize) -> Self {
        let (ends, half_open) = (Vec::new(), BTreeSet::new());
        Connections { slab: Slab::new(limit + SPARE), limit, ends, half_open, begun: 0 }
    }

    pub(super) fn has_room(&self) -> bool {
        self.slab.len() < self.limit && !self.slab.is_full()
    }

    /// Stores a connection in a free slot and returns the slot. Drops the connection and returns `None` if
    /// no slot is free.
    pub(super) fn insert(&mut self, connection: Connection) -> Option<u32> {
        let (ends, half_open) = (connection.ends(), connection.is_half_open());
        self.begun += 1;
        let half_open = half_open.then_some(self.begun);
        let slot = self.slab.insert(Place { connection: Box::new(connection), half_open })?;
        self.half_open.extend(half_open.map(|serial| (serial, slot)));
        let at = self.ends.partition_point(|(known, _)| *known < ends);
        self.ends.insert(at, (ends, slot));
        Some(slot)
    }

    /// True if the connection in a slot is recorded as half-open.
    pub(super) fn is_half_open(&self, slot: u32) -> bool {
        self.slab.get(slot).is_some_and(|place| place.half_open.is_some())
    }

    /// Updates whether a connection is recorded as half-open.
    #[inline]
    pub(super) fn note_half_open(&mut self, slot: u32) {
        let Some(place) = self.slab.get_mut(slot) else { return };
        if place.half_open.is_some() && !place.connection.is_half_open() {
            let serial = place.half_open.take();
            serial.map(|serial| self.half_open.remove(&(serial, slot)));
        }
    }

    /// The slot of the oldest half-open connection.
    pub(super) fn oldest_half_open(&self) -> Option<u32> {
        self.half_open.first().map(|&(_, slot)| slot)
    }

    /// Removes a connection from the index, so that packets no longer find it.
    pub(super) fn hide(&mut self, slot: u32) {
        let Some(connection) = self.get(slot) else { return };
        let ends = connection.ends();
        if let Ok(at) = self.ends.binary_search_by_key(&ends, |(ends, _)| *ends)
            && self.ends[at].1 == slot
        {
            self.ends.remove(at);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.hide(slot);
        let place = self.slab.remove(slot);
        place.and_then(|place| place.half_open).map(|serial| self.half_open.remove(&(serial, slot)));
    }

    #[inline]
    pub(super) fn find(&self, ends: &Ends) -> Option<u32> {
        let at = self.ends.binary_search_by(|(known, _)| known.cmp(ends)).ok()?;
        Some(self.ends[at].1)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Connection> {
        self.slab.get(slot).map(|place| &*place.connection)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection> {
        self.slab.get_mut(slot).map(|place| &mut *place.connection)
    }

    #[inline]
    pub(super) fn id(&self, slot: u32) -> ConnId {
        ConnId(self.slab.id(slot))
    }

    /// The slot of a connection, if the connection exists.
    #[inline]
    pub(super) fn slot(&self, id: ConnId) -> Option<u32> {
        self.slab.slot(id.0)
    }

    /// All connections with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Connection)> {
        self.slab.iter().map(|(slot, place)| (self.id(slot), &*place.connection))
    }
}
