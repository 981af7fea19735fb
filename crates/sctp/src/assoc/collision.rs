//! COOKIE ECHO for an existing association: INIT collision or restart of the peer (`rfc9260#section-5.2.4`).

/// Tie-tags: random numbers that represent the tags of an association in the cookies sent while it exists.
/// They prove a restart without revealing the tags. Zero tie-tags: no association existed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TieTags {
    pub(crate) local: u32,
    pub(crate) peer: u32,
}

impl TieTags {
    pub(crate) const NONE: TieTags = TieTags { local: 0, peer: 0 };
}

/// The tags of an association, or the tags in a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) local: u32,
    /// The peer's tag; zero while it is unknown.
    pub(crate) peer: u32,
    pub(crate) ties: TieTags,
}

/// The actions of table 12 of `rfc9260#section-5.2.4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A: the peer restarted.
    Restart,
    /// B: both sides started a handshake at the same time, and the peer's tag is new.
    Collision,
    /// D: the cookie belongs to this association.
    Establish,
}

/// The action for a valid cookie; `None` if it is discarded: action C, and cases that are not in table 12.
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
    fn tags_and_tie_tags_select_the_actions_of_table_12() {
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
        // In COOKIE-WAIT the peer's tag is not known, so no cookie matches it.
        let waiting = Tags { local: 1, peer: 0, ties: TieTags::NONE };
        assert_eq!(action(waiting, Tags { local: 1, peer: 4, ties: TieTags::NONE }), Some(Action::Collision));
        assert_eq!(action(waiting, Tags { local: 3, peer: 4, ties: TieTags::NONE }), None);
    }
}
