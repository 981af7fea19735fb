//! The receiving half of a connection: data arrives in any order and is read in order.

mod acks;
mod blocks;
#[cfg(test)]
mod tests;
mod tuning;
mod window;

use crate::Config;
use crate::pieces::Pieces;
use crate::ranges::{Range, Ranges};
use acks::Acks;
use blocks::Blocks;
use std::sync::Arc;
use transport::{BufferBudget, Octets, Payload};
use tuning::Tuning;
use units::{Instant, Span};
use window::ReceiveWindow;

#[derive(Debug)]
pub(crate) struct Receiver {
    data: Pieces,
    /// Position of the next byte to be read by the user.
    read: u64,
    /// Position of the next byte that is expected (RCV.NXT).
    next: u64,
    /// Positions above `next` that have arrived.
    above: Ranges,
    blocks: Blocks,
    /// Position of the FIN, once a FIN has arrived.
    fin: Option<u64>,
    pub(crate) acks: Acks,
    window: ReceiveWindow,
    /// Present if the receive buffer has the size `auto`.
    tuning: Option<Box<Tuning>>,
}

impl Receiver {
    /// A receiver that expects position `next` first, the one after the SYN. A
    /// buffer of the size `auto` takes the bytes by which it grows from `budget`.
    pub(crate) fn new(next: u64, config: &Config, shift: u8, sack: bool, budget: &Arc<BufferBudget>) -> Self {
        let buffer = config.receive_buffer.first().get();
        Receiver {
            data: Pieces::default(),
            read: next,
            next,
            above: Ranges::default(),
            blocks: Blocks::new(sack, config),
            fin: None,
            acks: Acks::new(config.delayed_ack),
            window: ReceiveWindow::new(next, buffer, u64::from(config.mss), shift),
            tuning: Tuning::new(config, budget),
        }
    }

    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Right edge of the advertised window.
    #[inline]
    pub(crate) fn edge(&self) -> u64 {
        self.window.edge()
    }

    /// True once everything up to the FIN has arrived.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// True if the buffer has the size `auto`.
    #[inline]
    pub(crate) fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// Counts the data of a segment after [`Self::on_data`].
    /// `rtt`: age of the timestamp that the segment echoes.
    pub(crate) fn count(&mut self, now: Instant, rtt: Option<Span>) {
        let highest = self.above.last().map_or(self.next, |range| range.end);
        if let Some(tuning) = &mut self.tuning {
            tuning.arrived(now, rtt, highest - self.read);
        }
    }

    /// Processes the data of a segment that begins at `start`, and its FIN.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, start: u64, data: Octets<'_>, fin: bool) {
        let end = start + data.len() as u64;
        if start == self.next
            && !fin
            && end <= self.window.edge()
            && self.above.is_empty()
            && self.fin.is_none()
        {
            self.data.insert_octets(start, data);
            self.next = end;
            self.acks.on_data(now);
        } else {
            self.on_odd_data(now, start, data, fin);
        }
    }

    /// Slow path: out-of-order data, duplicates, FIN.
    fn on_odd_data(&mut self, now: Instant, start: u64, data: Octets<'_>, fin: bool) {
        let end = start + data.len() as u64;
        let known = self.next;
        // rfc5681#section-4.2: out-of-order data and data that fills a gap are acknowledged at once.
        let at_once = fin || start != known || !self.above.is_empty() || end > self.window.edge();
        if at_once {
            self.acks.at_once();
        } else {
            self.acks.on_data(now);
        }
        if fin && self.fin.is_none() {
            // Data that has arrived must end before the FIN.
            let highest = self.above.last().map_or(known, |range| range.end);
            self.fin = (highest..=self.window.edge()).contains(&end).then_some(end);
        }
        let last = self.fin.unwrap_or(self.window.edge());
        let (from, to) = (start.max(known), end.min(last));
        if start < known {
            self.blocks.duplicate(start, end.min(known));
        }
        if from < to {
            let (_, rest) = data.split_at((from - start) as usize);
            let (part, _) = rest.split_at((to - from) as usize);
            self.keep(from, part);
        }
        self.advance();
    }

    /// Stores data from position `from` on, which may be out of order.
    fn keep(&mut self, from: u64, data: Octets<'_>) {
        let range = Range { first: from, end: from + data.len() as u64 };
        // With at most one piece for 64 bytes of the buffer, the memory is in proportion to the buffer.
        let limit = (self.window.buffer() / 64) as usize + 64;
        let crowded = self.data.len() >= limit || self.above.len() >= limit;
        if crowded && from != self.next && !self.above.touches(range) {
            return; // dropped, as if lost in the network
        }
        let (mut missing, pieces) = (0, &mut self.data);
        self.above.insert(range, |part| {
            missing += part.len();
            let (_, rest) = data.split_at((part.first - from) as usize);
            let (part_data, _) = rest.split_at(part.len() as usize);
            pieces.insert_octets(part.first, part_data);
        });
        if missing == 0 {
            self.blocks.duplicate(range.first, range.end);
        }
        if from > self.next {
            self.blocks.arrived(from, &self.above);
        }
    }

    fn advance(&mut self) {
        if let Some(first) = self.above.first().filter(|range| range.first <= self.next) {
            self.next = first.end;
            self.above.cut_below(self.next);
        }
        if self.fin == Some(self.next) {
            self.next += 1;
            self.tuning = None; // gives its part of the budget back
        }
    }

    /// Returns the next bytes for the user, at most `max`, and frees their buffer space.
    pub(crate) fn take(&mut self, max: usize) -> Option<Payload> {
        let there = self.readable();
        if there == 0 || max == 0 {
            return None;
        }
        let payload = self.data.take(max.min(there as usize))?;
        self.read += payload.len() as u64;
        if let Some(tuning) = &mut self.tuning {
            tuning.read(payload.len() as u64);
        }
        if self.fin.is_none() && self.window.has_opened(self.read) {
            self.acks.at_once();
        }
        Some(payload)
    }

    /// Number of bytes that can be read.
    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.next - self.read - u64::from(self.is_finished())
    }

    /// Discards all data, because the user reads no more.
    pub(crate) fn discard(&mut self) {
        self.data.clear();
        self.read = self.next - u64::from(self.is_finished());
    }

    /// The window field of the segment that is being sent. `srtt`: the smoothed RTT of our own data.
    #[inline]
    pub(crate) fn advertise(&mut self, now: Instant, srtt: Option<Span>) -> u16 {
        if let Some(size) = self.tuning.as_mut().and_then(|tuning| tuning.grown(now, srtt)) {
            self.window.resize(size);
        }
        self.window.advertise(self.next, self.read)
    }

    /// SACK and D-SACK blocks, in positions, for the segment that is being sent; at most `room`.
    #[inline]
    pub(crate) fn sack(&mut self, room: usize) -> blocks::List {
        self.blocks.report(room, self.next, &self.above)
    }

    /// Number of blocks that a segment would report now.
    #[inline]
    pub(crate) fn sack_len(&self) -> usize {
        self.blocks.len(&self.above)
    }
}
