use super::{Admission, Backlog, Drops, Kind, Line, Queued, Server, Verdict};
use std::collections::VecDeque;
use units::Instant;

/// A first-in-first-out queue that keeps its packets until the transmitter is free. A link that can
/// change needs such a queue, because the departure of a packet is not known when the packet arrives.
#[derive(Debug)]
struct Waiting {
    admission: Box<dyn Admission>,
    packets: VecDeque<Queued>,
    backlog: Backlog,
}

impl Kind {
    /// Makes the packets of this queue wait until the transmitter is free, under the same
    /// discipline. If a [`Server`](crate::Server) holds the queue, they do so already.
    pub(crate) fn waiting(self) -> Kind {
        let admission: Box<dyn Admission> = match self {
            Kind::DropTail(limit) => Box::new(limit),
            Kind::Red(red) => red,
            Kind::Admission(other) => other,
            Kind::Server(line) => return Kind::Server(line),
        };
        let waiting = Waiting { admission, packets: VecDeque::new(), backlog: Backlog::default() };
        Kind::Server(Box::new(Line::new(Box::new(waiting))))
    }
}

impl Server for Waiting {
    fn enqueue(&mut self, now: Instant, mut packet: Queued, drops: &mut Drops) {
        match self.admission.admit(now, self.backlog, packet.parcel.offered()) {
            Verdict::Drop(cause) => return drops.push(packet, cause),
            Verdict::Mark => packet.mark(),
            Verdict::Pass => {}
        }
        self.backlog.packets += 1;
        self.backlog.bytes += packet.size();
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, now: Instant, _drops: &mut Drops) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= packet.size();
        if self.packets.is_empty() {
            self.admission.empties_at(now);
        }
        Some(packet)
    }

    fn drain(&mut self) -> Vec<Queued> {
        self.backlog = Backlog::default();
        self.packets.drain(..).collect()
    }
}
