use crate::ConnId;
use crate::conn::{Connection, Ends};
use std::collections::{BTreeSet, VecDeque};

/// The connections of an endpoint: each has a place, which is used again, and an id, which is not.
#[derive(Debug, Default)]
pub(super) struct Slab {
    places: Vec<Place>,
    free: Vec<u32>,
    /// The place of each id from `oldest` on, or [`GONE`].
    ids: VecDeque<u32>,
    oldest: u32,
    /// Places by the ends of their connection, sorted.
    ends: Vec<(Ends, u32)>,
    /// Ids of half-open connections: the least is the oldest.
    half_open: BTreeSet<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) connection: Option<Box<Connection>>,
    id: u32,
    /// Its id is among the half-open ones.
    half_open: bool,
}

impl Place {
    pub(super) fn is_half_open(&self) -> bool {
        self.half_open
    }
}

const GONE: u32 = u32::MAX;

impl Slab {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// True as long as there are ids left.
    pub(super) fn has_ids(&self) -> bool {
        self.oldest.checked_add(self.ids.len() as u32).is_some()
    }

    pub(super) fn insert(&mut self, connection: Connection) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let (ends, half_open) = (connection.ends(), connection.is_half_open());
        let id = self.oldest + self.ids.len() as u32;
        self.ids.push_back(slot);
        if half_open {
            self.half_open.insert(id);
        }
        self.places[slot as usize] = Place { connection: Some(Box::new(connection)), id, half_open };
        let at = self.ends.partition_point(|(known, _)| *known < ends);
        self.ends.insert(at, (ends, slot));
        slot
    }

    /// Whether a connection is half-open, after a change of it.
    #[inline]
    pub(super) fn note_half_open(&mut self, slot: u32) {
        let place = &mut self.places[slot as usize];
        if place.half_open && !place.connection.as_ref().is_some_and(|connection| connection.is_half_open()) {
            place.half_open = false;
            self.half_open.remove(&place.id);
        }
    }

    /// The half-open connection that is there longest.
    pub(super) fn oldest_half_open(&self) -> Option<u32> {
        self.slot(ConnId(*self.half_open.first()?))
    }

    /// Packets no longer find the connection.
    pub(super) fn hide(&mut self, slot: u32) {
        let Some(connection) = &self.places[slot as usize].connection else { return };
        let ends = connection.ends();
        if let Ok(at) = self.ends.binary_search_by_key(&ends, |(ends, _)| *ends)
            && self.ends[at].1 == slot
        {
            self.ends.remove(at);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.hide(slot);
        let place = &mut self.places[slot as usize];
        place.connection = None;
        self.ids[(place.id - self.oldest) as usize] = GONE;
        self.note_half_open(slot);
        self.free.push(slot);
        while self.ids.front() == Some(&GONE) {
            self.ids.pop_front();
            self.oldest += 1;
        }
    }

    #[inline]
    pub(super) fn find(&self, ends: &Ends) -> Option<u32> {
        let at = self.ends.binary_search_by(|(known, _)| known.cmp(ends)).ok()?;
        Some(self.ends[at].1)
    }

    #[inline]
    pub(super) fn place(&mut self, slot: u32) -> &mut Place {
        &mut self.places[slot as usize]
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Connection> {
        self.places[slot as usize].connection.as_deref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection> {
        self.places[slot as usize].connection.as_deref_mut()
    }

    #[inline]
    pub(super) fn id(&self, slot: u32) -> ConnId {
        ConnId(self.places[slot as usize].id)
    }

    /// The place of a connection, if it is still there.
    #[inline]
    pub(super) fn slot(&self, id: ConnId) -> Option<u32> {
        let at = id.0.checked_sub(self.oldest)?;
        self.ids.get(at as usize).copied().filter(|&slot| slot != GONE)
    }

    /// All connections in the order of their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Connection)> {
        let slots = self.ids.iter().filter(|&&slot| slot != GONE);
        slots.filter_map(|&slot| Some((self.id(slot), self.get(slot)?)))
    }
}
