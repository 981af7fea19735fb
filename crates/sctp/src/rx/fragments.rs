//! Fragments in chains: added at either end, joined and cut in a few steps however long they are.

use crate::message::Payload;
use crate::steps;
use bytes::Bytes;

/// A chain of fragments, by the number of its first node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain(u32);

impl Chain {
    /// No chain.
    pub(super) const NONE: Chain = Chain(NIL);
}

const NIL: u32 = u32::MAX;

/// The payloads of fragments, in chains.
#[derive(Debug)]
pub(super) struct Fragments {
    nodes: Vec<Node>,
    /// Empty nodes.
    free: u32,
    /// Nodes of chains that were given up: emptied a few at a time, since one packet can make many of them.
    garbage: u32,
    /// Nodes that are not free.
    used: usize,
}

#[derive(Debug)]
struct Node {
    payload: Payload,
    /// Of the first node of a chain: its last.
    prev: u32,
    next: u32,
}

/// Nodes kept when no fragment is left.
const KEPT: usize = 64;

/// Given up nodes that are emptied for each packet.
const SWEPT: usize = 32;

impl Fragments {
    pub(super) fn new() -> Self {
        Fragments { nodes: Vec::new(), free: NIL, garbage: NIL, used: 0 }
    }

    fn at(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// A chain of one fragment.
    pub(super) fn begin(&mut self, payload: Payload) -> Chain {
        steps::count(1);
        let (garbage, free) = (self.garbage, self.free);
        let number = if garbage != NIL {
            self.garbage = self.at(garbage).next;
            garbage
        } else if free != NIL {
            self.free = self.at(free).next;
            self.used += 1;
            free
        } else {
            self.used += 1;
            let number = self.nodes.len() as u32;
            self.nodes.push(Node { payload: Payload::Filler(0), prev: NIL, next: NIL });
            number
        };
        *self.at(number) = Node { payload, prev: number, next: NIL };
        Chain(number)
    }

    /// Appends chain `b` to chain `a`, which begins the result.
    pub(super) fn join(&mut self, a: Chain, b: Chain) -> Chain {
        steps::count(1);
        let (last_of_a, last_of_b) = (self.at(a.0).prev, self.at(b.0).prev);
        self.at(last_of_a).next = b.0;
        self.at(b.0).prev = last_of_a;
        self.at(a.0).prev = last_of_b;
        a
    }

    /// Takes the last fragment of a chain away, which is the chain itself if it has no other; returns its length.
    pub(super) fn drop_last(&mut self, chain: Chain) -> usize {
        steps::count(1);
        let last = self.at(chain.0).prev;
        let before = self.at(last).prev;
        if last != chain.0 {
            self.at(before).next = NIL;
            self.at(chain.0).prev = before;
        }
        self.empty(last).len()
    }

    /// Frees a node and returns its payload.
    fn empty(&mut self, node: u32) -> Payload {
        let free = std::mem::replace(&mut self.free, node);
        self.used -= 1;
        let node = self.at(node);
        node.next = free;
        std::mem::replace(&mut node.payload, Payload::Filler(0))
    }

    /// Gives a chain up.
    pub(super) fn give_up(&mut self, chain: Chain) {
        if chain != Chain::NONE {
            let last = self.at(chain.0).prev;
            self.at(last).next = std::mem::replace(&mut self.garbage, chain.0);
        }
    }

    /// Empties some of what was given up.
    pub(super) fn sweep(&mut self) {
        for _ in 0..SWEPT {
            let node = self.garbage;
            if node == NIL {
                return;
            }
            steps::count(1);
            self.garbage = self.at(node).next;
            self.empty(node);
        }
    }

    /// The bytes of a chain, `length` of them, which leaves. Filler stays filler unless other bytes are beside it.
    pub(super) fn gather(&mut self, chain: Chain, length: usize) -> Payload {
        let mut node = chain.0;
        let mut bytes = Vec::new();
        let mut filler = 0;
        while node != NIL {
            let next = self.at(node).next;
            match self.empty(node) {
                Payload::Filler(zeros) if bytes.is_empty() => filler += zeros as usize,
                Payload::Bytes(only) if only.len() == length => {
                    self.shrink();
                    return Payload::Bytes(only);
                }
                payload => {
                    if bytes.capacity() == 0 {
                        bytes.reserve_exact(length);
                        bytes.resize(filler, 0);
                    }
                    payload.as_octets().append_to(&mut bytes);
                }
            }
            node = next;
        }
        self.shrink();
        if bytes.is_empty() { Payload::Filler(filler as u32) } else { Payload::Bytes(Bytes::from(bytes)) }
    }

    /// Frees the memory of many fragments once none is left.
    fn shrink(&mut self) {
        if self.used == 0 && self.nodes.capacity() > KEPT {
            *self = Fragments::new();
        }
    }
}
