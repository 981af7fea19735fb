//! Chains of fragments. Adding a fragment, joining and cutting take a few steps for chains of any length.
//!
//! Fragments that arrive in order share memory, so that the bytes of a message are copied out of its packets
//! only once. This memory may have room for later fragments. The sum of such room is limited to a part of the
//! receive buffer, so that memory stays in proportion to the received data.

use crate::message::Payload;
use crate::steps;
use bytes::Bytes;
use transport::Octets;
use units::ByteCount;

/// A chain of fragments, identified by the index of its first node.
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
    /// Head of the list of empty nodes.
    free: u32,
    /// Head of the list of dropped nodes. One packet can drop many nodes, but only a few of them are freed
    /// per packet.
    garbage: u32,
    /// Number of nodes that are not free.
    used: usize,
    room: Room,
    /// Length of the last message that was read, as an estimate for the next message.
    usual: usize,
}

/// Bytes allocated for fragments that have not arrived yet.
#[derive(Debug)]
struct Room {
    bytes: usize,
    most: usize,
}

/// Successive fragments of a message. All have the same length except the first and the last, since most
/// fragments fill a packet.
#[derive(Debug)]
struct Node {
    stored: Stored,
    /// Length of the first fragment.
    first: u32,
    /// Length of each fragment between the first and the last one.
    each: u32,
    /// Length of the last fragment.
    last: u32,
    /// Index of the previous node; in the first node of a chain, index of the last node of the chain.
    prev: u32,
    next: u32,
}

#[derive(Debug)]
enum Stored {
    /// Number of zeros, which are not stored.
    Filler(u32),
    Bytes(Vec<u8>),
}

/// Number of nodes whose memory is kept when no fragment is left.
const KEPT: usize = 64;

/// Nodes of the tree that were removed are freed later, at most so many per packet: this bounds its work.
const SWEPT: usize = 32;

/// Divisor of the receive buffer: memory for fragments that have not arrived yet is limited to the quotient.
const ROOM: u64 = 8;

impl Stored {
    const NOTHING: Stored = Stored::Filler(0);

    fn len(&self) -> usize {
        match self {
            Stored::Filler(zeros) => *zeros as usize,
            Stored::Bytes(bytes) => bytes.len(),
        }
    }

    /// Number of allocated bytes that are not used.
    fn room(&self) -> usize {
        match self {
            Stored::Filler(_) => 0,
            Stored::Bytes(bytes) => bytes.capacity() - bytes.len(),
        }
    }

    fn as_octets(&self) -> Octets<'_> {
        match self {
            Stored::Filler(zeros) => Octets::new(&[], *zeros as usize),
            Stored::Bytes(bytes) => Octets::new(bytes, 0),
        }
    }

    /// Appends bytes if this needs no new memory. Returns false otherwise.
    fn extend(&mut self, octets: Octets<'_>) -> bool {
        match self {
            // The zeros of filler (a test payload of zeros) arrive as bytes if another chunk follows them in
            // the packet.
            Stored::Filler(zeros) if octets.head.iter().all(|&byte| byte == 0) => {
                *zeros += octets.len() as u32
            }
            Stored::Bytes(bytes)
                if !octets.head.is_empty() && octets.len() <= bytes.capacity() - bytes.len() =>
            {
                octets.append_to(bytes);
            }
            _ => return false,
        }
        true
    }

    fn truncate(&mut self, length: usize) {
        match self {
            Stored::Filler(zeros) => *zeros = length as u32,
            Stored::Bytes(bytes) => bytes.truncate(length),
        }
    }
}

impl Node {
    fn new(stored: Stored, number: u32) -> Self {
        let length = stored.len() as u32;
        Node { stored, first: length, each: length, last: length, prev: number, next: NIL }
    }

    /// Appends a fragment. Returns false if the node cannot represent the fragment's length, or would need
    /// new memory.
    fn extend(&mut self, fragment: Octets<'_>) -> bool {
        let single = self.stored.len() == self.last as usize;
        if !(single || self.last == self.each) || !self.stored.extend(fragment) {
            return false;
        }
        self.last = fragment.len() as u32;
        if single {
            self.each = self.last;
        }
        true
    }
}

impl Room {
    /// Copies bytes of a packet into new memory with room for `more` bytes, or for fewer if that would be
    /// more unused memory than [`Room::most`].
    fn store(&mut self, octets: Octets<'_>, more: usize) -> Stored {
        if octets.head.is_empty() {
            return Stored::Filler(octets.zeros as u32);
        }
        let more = more.min(self.most.saturating_sub(self.bytes));
        let mut bytes = Vec::with_capacity(octets.len() + more);
        octets.append_to(&mut bytes);
        let stored = Stored::Bytes(bytes);
        self.bytes += stored.room();
        stored
    }

    /// Truncates stored bytes, and frees unused memory in excess of [`Room::most`].
    fn truncate(&mut self, stored: &mut Stored, length: usize) {
        self.bytes -= stored.room();
        stored.truncate(length);
        if let Stored::Bytes(bytes) = stored
            && self.bytes + bytes.capacity() - bytes.len() > self.most
        {
            bytes.shrink_to_fit();
        }
        self.bytes += stored.room();
    }
}

impl Fragments {
    /// Creates a store for a receive buffer of this size.
    pub(super) fn new(receive_buffer: ByteCount) -> Self {
        let room = Room { bytes: 0, most: (receive_buffer.get() / ROOM) as usize };
        Fragments { nodes: Vec::new(), free: NIL, garbage: NIL, used: 0, room, usual: 0 }
    }

    fn at(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// Creates a chain of one fragment. If the fragment begins a message, the chain gets room for a message
    /// of usual length.
    pub(super) fn begin(&mut self, fragment: Octets<'_>, beginning: bool) -> Chain {
        let more = if beginning { self.usual.saturating_sub(fragment.len()) } else { 0 };
        self.add(fragment, more)
    }

    /// Appends a fragment to a chain of `length` bytes.
    pub(super) fn append(&mut self, chain: Chain, fragment: Octets<'_>, length: usize) {
        let last = self.at(chain.0).prev;
        let node = &mut self.nodes[last as usize];
        let before = node.stored.room();
        if node.extend(fragment) {
            steps::count(1);
            self.room.bytes -= before - node.stored.room();
            return;
        }
        // The new node gets room for as many bytes as the chain has, so that a long message has few nodes.
        let next = self.add(fragment, length);
        self.join(chain, next);
    }

    /// Creates a chain of one fragment, with room for `more` bytes.
    fn add(&mut self, fragment: Octets<'_>, more: usize) -> Chain {
        steps::count(1);
        let (garbage, free) = (self.garbage, self.free);
        let number = if garbage != NIL {
            self.garbage = self.at(garbage).next;
            self.room.bytes -= self.at(garbage).stored.room();
            garbage
        } else if free != NIL {
            self.free = self.at(free).next;
            self.used += 1;
            free
        } else {
            self.used += 1;
            let number = self.nodes.len() as u32;
            self.nodes.push(Node::new(Stored::NOTHING, number));
            number
        };
        *self.at(number) = Node::new(self.room.store(fragment, more), number);
        Chain(number)
    }

    /// Appends chain `b` to chain `a`; returns `a`.
    pub(super) fn join(&mut self, a: Chain, b: Chain) -> Chain {
        steps::count(1);
        let (last_of_a, last_of_b) = (self.at(a.0).prev, self.at(b.0).prev);
        self.at(last_of_a).next = b.0;
        self.at(b.0).prev = last_of_a;
        self.at(a.0).prev = last_of_b;
        a
    }

    /// Removes the last fragment of a chain, or the whole chain if it has only one. Returns the length of the
    /// fragment.
    pub(super) fn drop_last(&mut self, chain: Chain) -> usize {
        steps::count(1);
        let last = self.at(chain.0).prev;
        let node = &mut self.nodes[last as usize];
        let length = node.last as usize;
        let left = node.stored.len() - length;
        if left > 0 {
            self.room.truncate(&mut node.stored, left);
            node.last = if left == node.first as usize { node.first } else { node.each };
            return length;
        }
        let before = node.prev;
        if last != chain.0 {
            self.at(before).next = NIL;
            self.at(chain.0).prev = before;
        }
        self.empty(last);
        length
    }

    /// Frees a node and returns its bytes.
    fn empty(&mut self, node: u32) -> Stored {
        let free = std::mem::replace(&mut self.free, node);
        self.used -= 1;
        let node = self.at(node);
        node.next = free;
        let stored = std::mem::replace(&mut node.stored, Stored::NOTHING);
        self.room.bytes -= stored.room();
        stored
    }

    /// Drops a chain. The memory of its nodes is freed later.
    pub(super) fn give_up(&mut self, chain: Chain) {
        if chain != Chain::NONE {
            let last = self.at(chain.0).prev;
            self.at(last).next = std::mem::replace(&mut self.garbage, chain.0);
        }
    }

    /// Frees the memory of at most [`SWEPT`] nodes of dropped chains.
    #[inline]
    pub(super) fn sweep(&mut self) {
        if self.garbage != NIL {
            self.sweep_some();
        }
    }

    #[cold]
    fn sweep_some(&mut self) {
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

    /// Removes a chain and returns its `length` bytes. A chain of filler alone remains filler.
    pub(super) fn gather(&mut self, chain: Chain, length: usize) -> Payload {
        let mut node = chain.0;
        let mut bytes = Vec::new();
        let mut filler = 0;
        while node != NIL {
            let next = self.at(node).next;
            match self.empty(node) {
                Stored::Filler(zeros) if bytes.is_empty() => filler += zeros as usize,
                Stored::Bytes(first) if bytes.is_empty() && filler == 0 => {
                    bytes = first;
                    bytes.reserve_exact(length - bytes.len());
                }
                stored => {
                    if bytes.is_empty() {
                        bytes.reserve_exact(length);
                        bytes.resize(filler, 0);
                    }
                    stored.as_octets().append_to(&mut bytes);
                }
            }
            node = next;
        }
        self.usual = length;
        self.shrink();
        if bytes.is_empty() {
            return Payload::Filler(filler as u32);
        }
        if bytes.capacity() > length + length / 4 {
            bytes.shrink_to_fit();
        }
        Payload::Bytes(Bytes::from(bytes))
    }

    /// Frees the memory of the nodes if there were many and none is used.
    fn shrink(&mut self) {
        if self.used == 0 && self.nodes.capacity() > KEPT {
            (self.nodes, self.free, self.garbage) = (Vec::new(), NIL, NIL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUFFER: u64 = 8_000;

    /// Chains, and a model of each chain: the list of its fragments.
    struct Fixture {
        fragments: Fragments,
        chains: Vec<(Chain, Vec<Vec<u8>>)>,
    }

    impl Fixture {
        fn check_room(&self) {
            let room: usize = self.fragments.nodes.iter().map(|node| node.stored.room()).sum();
            assert_eq!(self.fragments.room.bytes, room);
            assert!(room <= (BUFFER / ROOM) as usize, "{room} bytes of room");
        }

        fn step(&mut self, kind: u8, length: usize, filler: bool) {
            let bytes = vec![if filler { 0 } else { length as u8 }; length];
            let octets = if filler { Octets::new(&[], length) } else { Octets::from(bytes.as_slice()) };
            match (kind, self.chains.len()) {
                (0, _) | (_, 0) => {
                    self.chains.push((self.fragments.begin(octets, length.is_multiple_of(2)), vec![bytes]));
                }
                (1..=4, _) => {
                    let (chain, model) = self.chains.last_mut().expect("one");
                    self.fragments.append(*chain, octets, model.iter().map(Vec::len).sum());
                    model.push(bytes);
                }
                (5, _) => {
                    let (chain, model) = self.chains.last_mut().expect("one");
                    assert_eq!(Some(self.fragments.drop_last(*chain)), model.pop().map(|last| last.len()));
                    if model.is_empty() {
                        self.chains.pop();
                    }
                }
                (6, 2..) => {
                    let (b, mut after) = self.chains.pop().expect("two");
                    let (a, model) = self.chains.last_mut().expect("one");
                    *a = self.fragments.join(*a, b);
                    model.append(&mut after);
                }
                (7, _) => {
                    let (chain, _) = self.chains.remove(0);
                    self.fragments.give_up(chain);
                }
                (8, _) => self.fragments.sweep(),
                _ => {
                    let (chain, model) = self.chains.remove(0);
                    let whole = model.concat();
                    assert_eq!(self.fragments.gather(chain, whole.len()).to_bytes(), whole);
                }
            }
        }
    }

    proptest! {
        /// After any operations the chains have their original bytes, and the unused memory is limited.
        #[test]
        fn chains_have_the_bytes_that_were_put_in(
            steps in prop::collection::vec((0u8..10, prop_oneof![Just(100usize), 1..300usize], any::<bool>()), 1..200),
            filler in any::<bool>(),
        ) {
            let fragments = Fragments::new(ByteCount::new(BUFFER));
            let mut f = Fixture { fragments, chains: Vec::new() };
            for (kind, length, zeros) in steps {
                f.step(kind, length, filler && zeros);
                f.check_room();
            }
            for (chain, model) in std::mem::take(&mut f.chains) {
                let whole = model.concat();
                prop_assert_eq!(f.fragments.gather(chain, whole.len()).to_bytes(), whole);
            }
            for _ in 0..10 {
                f.fragments.sweep();
            }
            prop_assert_eq!((f.fragments.used, f.fragments.room.bytes), (0, 0));
        }
    }

    #[test]
    fn a_message_as_long_as_the_last_one_is_copied_once() {
        let mut fragments = Fragments::new(ByteCount::new(BUFFER));
        let mut message = || {
            let mut chain = Chain::NONE;
            for n in 0..9 {
                match n {
                    0 => chain = fragments.begin(Octets::from(&[1; 80]), true),
                    8 => fragments.append(chain, Octets::from(&[1; 90]), 780),
                    _ => fragments.append(chain, Octets::from(&[1; 100]), n * 100 - 20),
                }
            }
            let nodes = fragments.used;
            assert_eq!(fragments.gather(chain, 870).len(), 870);
            nodes
        };
        assert_eq!([message(), message()], [5, 1]);
    }
}
