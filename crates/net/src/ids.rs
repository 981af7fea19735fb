//! Numbers of nodes and links.

/// A node of the network, numbered in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// A full-duplex link, numbered in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkDir(pub(crate) u32);

impl NodeId {
    /// Index in the order of creation, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// Index in the order of creation, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The direction from end `a` to end `b` of the link.
    pub fn forward(self) -> LinkDir {
        LinkDir(self.0 * 2)
    }

    /// The direction from end `b` to end `a`.
    pub fn backward(self) -> LinkDir {
        LinkDir(self.0 * 2 + 1)
    }
}

impl LinkDir {
    /// The link of this direction.
    pub fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The other direction of the same link.
    pub fn reverse(self) -> LinkDir {
        LinkDir(self.0 ^ 1)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
