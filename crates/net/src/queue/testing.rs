//! A server between a sender that never waits and a link, for tests without a network.

use super::{Drops, Queued, Server};
use crate::counters::DropCause;
use crate::packet::PacketId;
use crate::parcel::Parcel;
use transport::Ecn;
use units::{Instant, Span};

/// A packet of a flow that arrives now.
pub(super) fn packet(number: usize, size: u32, flow: u64, now: Instant, ecn: Ecn) -> Queued {
    let parcel = Parcel::new(0, size, 0, ecn);
    Queued { packet: PacketId::new(number), parcel, arrived: now, flow, marked: false }
}

/// Record of the work of a server.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Number, time and mark of each packet sent.
    pub sent: Vec<(usize, Instant, bool)>,
    /// Number and time of each packet that was dropped because packets waited too long.
    pub late: Vec<(usize, Instant)>,
    /// Number of each packet that was dropped because the queue was full.
    pub full: Vec<usize>,
    /// The longest delay of the packets sent in each second.
    pub delay: Vec<Span>,
}

impl Record {
    fn note(&mut self, now: Instant, drops: &mut Drops) {
        for (queued, cause) in drops.0.drain(..) {
            match cause {
                DropCause::QueueFull => self.full.push(queued.packet.index()),
                _ => self.late.push((queued.packet.index(), now)),
            }
        }
    }

    fn send(&mut self, now: Instant, queued: &Queued) {
        self.sent.push((queued.packet.index(), now, queued.marked));
        let second = (now.as_nanos() / 1_000_000_000) as usize;
        self.delay.resize(self.delay.len().max(second + 1), Span::ZERO);
        self.delay[second] = self.delay[second].max(now.since(queued.arrived));
    }
}

/// Lets packets arrive at the given times, in order, and sends one packet every `each`.
pub(super) fn run(
    server: &mut dyn Server,
    arrivals: impl IntoIterator<Item = (Instant, u32, u64)>,
    each: Span,
    ecn: Ecn,
) -> Record {
    let (mut record, mut drops, mut free, mut waiting) =
        (Record::default(), Drops::default(), Instant::ZERO, 0);
    let mut serve =
        |record: &mut Record, server: &mut dyn Server, until: Option<Instant>, waiting: &mut usize| {
            while *waiting > 0 && until.is_none_or(|until| free <= until) {
                let next = server.dequeue(free, &mut drops);
                *waiting -= drops.0.len() + usize::from(next.is_some());
                record.note(free, &mut drops);
                if let Some(queued) = next {
                    record.send(free, &queued);
                    free += each;
                }
            }
            if let Some(until) = until.filter(|_| *waiting == 0) {
                free = free.max(until);
            }
        };
    let mut refused = Drops::default();
    for (number, (now, size, flow)) in arrivals.into_iter().enumerate() {
        serve(&mut record, server, Some(now), &mut waiting);
        server.enqueue(now, packet(number, size, flow, now, ecn), &mut refused);
        waiting += 1;
        waiting -= refused.0.len();
        record.note(now, &mut refused);
    }
    serve(&mut record, server, None, &mut waiting);
    assert_eq!(server.drain().len(), 0);
    record
}
