//! The memory of all pieces of messages that wait, in lists: one for each stream.

use crate::chunks::{RecordId, Tag};
use crate::message::{Message, Payload};
use std::ops::{Index, IndexMut};

/// A whole message, or a part of one that the user pushed; or a run of equal whole messages. A saturated source makes runs,
/// so that a long queue of them takes no memory.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) message: Message,
    /// Number of the message among the ordered or the unordered messages of its stream; of a run, that of the first message.
    pub(super) number: u32,
    /// Of a run none.
    pub(super) tag: Tag,
    /// Of a run none.
    pub(super) record: RecordId,
    pub(super) beginning: bool,
    pub(super) copies: u32,
}

impl Piece {
    /// True if `next` can join the run.
    #[inline(always)]
    pub(super) fn is_followed_by(&self, next: &Message) -> bool {
        let whole = self.beginning && self.record == RecordId::default();
        whole && is_repeated(&self.message, next)
    }
}

/// True if `next` says the same as `last`, and both are whole, untracked and filler.
#[inline(always)]
fn is_repeated(last: &Message, next: &Message) -> bool {
    let &Message { stream, ppid, unordered, immediate_sack, end_of_record, urgent, .. } = next;
    let Message { path, tracked, reliability, context, ref payload, .. } = *next;
    let (Payload::Filler(length), Payload::Filler(before)) = (payload, &last.payload) else { return false };
    let same_kind = (stream == last.stream)
        & (ppid == last.ppid)
        & (unordered == last.unordered)
        & (urgent == last.urgent);
    let same_rest = (immediate_sack == last.immediate_sack) & (context == last.context) & (length == before);
    let whole = end_of_record & last.end_of_record & !tracked & !last.tracked;
    same_kind & same_rest & whole && path == last.path && reliability == last.reliability
}

/// A piece by its place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceId(u32);

impl PieceId {
    /// No piece.
    pub(super) const NONE: PieceId = PieceId(u32::MAX);
}

/// Pieces in lists. A list is named by its first and last piece, which its owner keeps.
#[derive(Debug)]
pub(super) struct Pieces {
    nodes: Vec<Node>,
    /// The first empty node; the others follow.
    free: PieceId,
    used: u32,
}

#[derive(Debug)]
struct Node {
    piece: Piece,
    next: PieceId,
}

/// Nodes kept when no piece is left.
const KEPT: usize = 64;

impl Pieces {
    pub(super) fn new() -> Self {
        Pieces { nodes: Vec::new(), free: PieceId::NONE, used: 0 }
    }

    /// Pieces there are, a run counted once.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.used as usize
    }

    /// Stores a piece that `next` follows.
    pub(super) fn add(&mut self, piece: Piece, next: PieceId) -> PieceId {
        self.used += 1;
        let node = Node { piece, next };
        if self.free == PieceId::NONE {
            self.nodes.push(node);
            return PieceId(self.nodes.len() as u32 - 1);
        }
        let id = self.free;
        let empty = &mut self.nodes[id.0 as usize];
        self.free = empty.next;
        *empty = node;
        id
    }

    /// The piece; none if `id` is [`PieceId::NONE`].
    #[inline]
    pub(super) fn get_mut(&mut self, id: PieceId) -> Option<&mut Piece> {
        self.nodes.get_mut(id.0 as usize).map(|node| &mut node.piece)
    }

    /// The piece after `id` on its list.
    #[inline]
    pub(super) fn next(&self, id: PieceId) -> PieceId {
        self.nodes[id.0 as usize].next
    }

    /// Makes `next` the piece after `id`.
    #[inline]
    pub(super) fn link(&mut self, id: PieceId, next: PieceId) {
        self.nodes[id.0 as usize].next = next;
    }

    /// Frees a piece whose bytes are gone. Its owner has taken it from its list.
    pub(super) fn remove(&mut self, id: PieceId) {
        self.used -= 1;
        if self.used == 0 && self.nodes.len() > KEPT {
            *self = Pieces::new();
            return;
        }
        self.nodes[id.0 as usize].next = self.free;
        self.free = id;
    }

    /// Bytes allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

impl Index<PieceId> for Pieces {
    type Output = Piece;
    #[inline]
    fn index(&self, id: PieceId) -> &Piece {
        &self.nodes[id.0 as usize].piece
    }
}

impl IndexMut<PieceId> for Pieces {
    #[inline]
    fn index_mut(&mut self, id: PieceId) -> &mut Piece {
        &mut self.nodes[id.0 as usize].piece
    }
}
