//! Whose connections an endpoint has.

use super::Owner;
use super::transport::ConnId;

/// The owners of an endpoint's connections, in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Owners(Vec<(ConnId, Owner)>);

impl Owners {
    /// Whose connection this is.
    #[inline]
    pub(super) fn get(&self, conn: ConnId) -> Option<Owner> {
        // Ids count up from zero: as long as no connection has been removed, each is where its id says.
        match self.0.get(conn.0 as usize) {
            Some(&(id, owner)) if id == conn => Some(owner),
            _ => self.place(conn).ok().map(|place| self.0[place].1),
        }
    }

    /// Notes whose connection this is; one that was known gets this owner.
    pub(super) fn insert(&mut self, conn: ConnId, owner: Owner) {
        match self.place(conn) {
            Ok(place) => self.0[place].1 = owner,
            Err(place) => self.0.insert(place, (conn, owner)),
        }
    }

    /// Forgets a connection that has ended.
    pub(super) fn remove(&mut self, conn: ConnId) {
        if let Ok(place) = self.place(conn) {
            self.0.remove(place);
        }
    }

    fn place(&self, conn: ConnId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&conn, |(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Side;

    fn owner(flow: u32) -> Owner {
        Owner { flow, side: Side::Client }
    }

    /// Short transfers end in any order: behind each gap every place is one too many, and none may be mistaken for its
    /// neighbour.
    #[test]
    fn gaps_among_the_ids_mislead_nobody() {
        let mut owners = Owners::default();
        for id in [3, 0, 1, 4, 2, 7] {
            owners.insert(ConnId(id), owner(10 + id));
        }
        owners.remove(ConnId(1));
        owners.remove(ConnId(5));
        owners.remove(ConnId(0));
        let found: Vec<_> =
            (0..9).filter_map(|id| owners.get(ConnId(id)).map(|owner| (id, owner.flow))).collect();
        assert_eq!(found, [(2, 12), (3, 13), (4, 14), (7, 17)]);
    }
}
