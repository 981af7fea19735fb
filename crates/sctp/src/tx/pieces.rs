//! Memory for the pieces (messages or parts of messages) that wait to be sent. The pieces of each stream form
//! one list.

use crate::chunks::{RecordId, Tag};
use crate::message::{Message, Payload};
use std::ops::{Index, IndexMut};

/// A whole message, a part of a message, or a run of equal whole messages. An application that gives many
/// equal messages makes runs, so that a long queue of them takes no more memory than one message.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) message: Message,
    /// Number of the message, or of the first message of a run, within its stream. Ordered and unordered
    /// messages are counted separately.
    pub(super) number: u32,
    /// Identifies a message with a delivery report; default for a run (several equal messages).
    pub(super) tag: Tag,
    /// Identifies the message's record of partial reliability; default for a run.
    pub(super) record: RecordId,
    pub(super) beginning: bool,
    pub(super) copies: u32,
}

impl Piece {
    /// True if message `next` can be added to this piece, which is or becomes a run of equal messages.
    #[inline(always)]
    pub(super) fn is_followed_by(&self, next: &Message) -> bool {
        let whole = self.beginning && self.record == RecordId::default();
        whole && is_repeated(&self.message, next)
    }
}

/// True if `next` equals `last`, and both are whole, untracked messages of filler.
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

/// Index of a piece in [`Pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceId(u32);

impl PieceId {
    pub(super) const NONE: PieceId = PieceId(u32::MAX);
}

/// Pieces (messages or parts of messages), linked in lists. The owner of a list keeps its first and last
/// piece.
#[derive(Debug)]
pub(super) struct Pieces {
    nodes: Vec<Node>,
    /// The first unused node. It links to the other unused nodes.
    free: PieceId,
    used: u32,
}

#[derive(Debug)]
struct Node {
    piece: Piece,
    next: PieceId,
}

/// Number of nodes for which memory is kept when no message waits.
const KEPT: usize = 64;

impl Pieces {
    pub(super) fn new() -> Self {
        Pieces { nodes: Vec::new(), free: PieceId::NONE, used: 0 }
    }

    /// Number of pieces; a run counts once.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.used as usize
    }

    /// Stores a piece, and links it to `next`, the following piece of its list. Returns its position.
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

    /// The piece with this position; `None` if `id` is [`PieceId::NONE`].
    #[inline]
    pub(super) fn get_mut(&mut self, id: PieceId) -> Option<&mut Piece> {
        self.nodes.get_mut(id.0 as usize).map(|node| &mut node.piece)
    }

    #[inline]
    pub(super) fn next(&self, id: PieceId) -> PieceId {
        self.nodes[id.0 as usize].next
    }

    /// Makes `next` the piece that follows `id`.
    #[inline]
    pub(super) fn link(&mut self, id: PieceId, next: PieceId) {
        self.nodes[id.0 as usize].next = next;
    }

    /// Frees a piece whose bytes were taken. The owner of the list must have unlinked the piece.
    pub(super) fn remove(&mut self, id: PieceId) {
        self.used -= 1;
        if self.used == 0 && self.nodes.len() > KEPT {
            *self = Pieces::new();
            return;
        }
        self.nodes[id.0 as usize].next = self.free;
        self.free = id;
    }

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
