//! For each connection of an endpoint, its owner: the application that gets the connection's events.

use super::Owner;
use super::endpoint::ConnId;

/// The owners of an endpoint's connections.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Owners {
    /// The only entry, while there is exactly one. Then the list is not read.
    only: Option<(ConnId, Owner)>,
    /// Owners in the order of ids.
    list: Vec<(ConnId, Owner)>,
}

impl Owners {
    #[inline]
    pub(super) fn get(&self, conn: ConnId) -> Option<Owner> {
        if let Some((id, owner)) = self.only {
            return (id == conn).then_some(owner);
        }
        // Ids are assigned from zero, so the id is the index until a connection is removed.
        match self.list.get(conn.0 as usize) {
            Some(&(id, owner)) if id == conn => Some(owner),
            _ => self.place(conn).ok().map(|place| self.list[place].1),
        }
    }

    pub(super) fn insert(&mut self, conn: ConnId, owner: Owner) {
        match self.place(conn) {
            Ok(place) => self.list[place].1 = owner,
            Err(place) => self.list.insert(place, (conn, owner)),
        }
        self.note_only();
    }

    /// Removes a connection that has ended.
    pub(super) fn remove(&mut self, conn: ConnId) {
        if let Ok(place) = self.place(conn) {
            self.list.remove(place);
        }
        self.note_only();
    }

    fn note_only(&mut self) {
        self.only = match self.list[..] {
            [only] => Some(only),
            _ => None,
        };
    }

    #[cold]
    fn place(&self, conn: ConnId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&conn, |(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Side;

    fn owner(flow: u32) -> Owner {
        Owner { number: flow, side: Side::Client }
    }

    /// Short transfers end in any order. After a removal the index of each later connection is smaller than
    /// its id.
    #[test]
    fn owners_are_found_after_connections_were_removed() {
        let mut owners = Owners::default();
        for id in [3, 0, 1, 4, 2, 7] {
            owners.insert(ConnId(id), owner(10 + id));
        }
        owners.remove(ConnId(1));
        owners.remove(ConnId(5));
        owners.remove(ConnId(0));
        let found: Vec<_> =
            (0..9).filter_map(|id| owners.get(ConnId(id)).map(|owner| (id, owner.number))).collect();
        assert_eq!(found, [(2, 12), (3, 13), (4, 14), (7, 17)]);
    }

    #[test]
    fn the_owner_of_the_only_connection_is_found_by_its_id_only() {
        let mut owners = Owners::default();
        let found = |owners: &Owners| [0, 3].map(|id| owners.get(ConnId(id)).map(|owner| owner.number));
        owners.insert(ConnId(3), owner(1));
        assert_eq!(found(&owners), [None, Some(1)]);
        owners.insert(ConnId(0), owner(2));
        assert_eq!(found(&owners), [Some(2), Some(1)]);
        owners.remove(ConnId(3));
        owners.insert(ConnId(0), owner(4));
        assert_eq!(found(&owners), [Some(4), None]);
        owners.remove(ConnId(0));
        assert_eq!(found(&owners), [None, None]);
    }
}
