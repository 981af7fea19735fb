//! A cookie comes back although the association exists: handshakes crossed, or the peer began anew
//! (`rfc9260#section-5.2.4`).

/// Numbers that stand for the tags of an association in the cookies given out while it exists, so that a restart can
/// be told from a forgery without showing the tags themselves. Zeros: there was no association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TieTags {
    pub(crate) local: u32,
    pub(crate) peer: u32,
}

impl TieTags {
    pub(crate) const NONE: TieTags = TieTags { local: 0, peer: 0 };
}

/// The tags of an association, or those in a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) local: u32,
    /// Zero as long as it is not known.
    pub(crate) peer: u32,
    pub(crate) ties: TieTags,
}

/// The actions of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A: the peer restarted.
    Restart,
    /// B: both began at the same time, and the peer's tag is a new one.
    Collision,
    /// D: the cookie of this very association.
    Establish,
}

/// What a valid cookie asks for; none for action C and everything the table does not list, which are discarded.
pub(crate) fn action(association: Tags, cookie: Tags) -> Option<Action> {
    let local = association.local == cookie.local;
    let peer = association.peer == cookie.peer;
    let ties = cookie.ties != TieTags::NONE && association.ties == cookie.ties;
    match (local, peer) {
        (true, true) => Some(Action::Establish),
        (true, false) => Some(Action::Collision),
        (false, false) if ties => Some(Action::Restart),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rfc9260#section-5.2.4, table 12
    #[test]
    fn the_table() {
        let ties = TieTags { local: 7, peer: 8 };
        let association = Tags { local: 1, peer: 2, ties };
        let other = TieTags { local: 7, peer: 9 };
        for (local, peer, ties, expected) in [
            (3, 4, ties, Some(Action::Restart)),
            (1, 4, ties, Some(Action::Collision)),
            (1, 4, TieTags::NONE, Some(Action::Collision)),
            (3, 2, TieTags::NONE, None),
            (1, 2, other, Some(Action::Establish)),
            (1, 2, TieTags::NONE, Some(Action::Establish)),
            (3, 4, other, None),
            (3, 4, TieTags::NONE, None),
            (3, 2, ties, None),
        ] {
            assert_eq!(action(association, Tags { local, peer, ties }), expected, "{local} {peer} {ties:?}");
        }
        // In COOKIE-WAIT the peer's tag is not known: no cookie matches it.
        let waiting = Tags { local: 1, peer: 0, ties: TieTags::NONE };
        assert_eq!(action(waiting, Tags { local: 1, peer: 4, ties: TieTags::NONE }), Some(Action::Collision));
        assert_eq!(action(waiting, Tags { local: 3, peer: 4, ties: TieTags::NONE }), None);
    }
}
