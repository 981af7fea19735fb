use super::{Admission, Backlog, Drops, Kind, Line, Offered, Queued, Server, Verdict};
use crate::bucket::{Bucket, TokenBucket};
use crate::counters::DropCause;
use units::Instant;

/// A queue behind a policer. The policer drops a packet if the token bucket has too few tokens.
#[derive(Debug)]
struct Policed<Q> {
    bucket: Bucket,
    framing: u64,
    queue: Q,
}

impl<Q> Policed<Q> {
    fn conforms(&mut self, now: Instant, size: units::ByteCount) -> bool {
        self.bucket.take(now, self.framing + size.get())
    }
}

impl Kind {
    /// Puts a policer in front of the queue. The policer counts bytes on the wire, with framing.
    pub(crate) fn behind_policer(self, policer: TokenBucket, framing: u32) -> Kind {
        let (bucket, framing) = (Bucket::new(policer), u64::from(framing));
        let queue: Box<dyn Admission> = match self {
            Kind::DropTail(limit) => Box::new(limit),
            Kind::Red(red) => red,
            Kind::Admission(other) => other,
            Kind::Server(line) => {
                let policed = Policed { bucket, framing, queue: line.into_server() };
                return Kind::Server(Box::new(Line::new(Box::new(policed))));
            }
        };
        Kind::Admission(Box::new(Policed { bucket, framing, queue }))
    }
}

impl Admission for Policed<Box<dyn Admission>> {
    fn admit(&mut self, now: Instant, backlog: Backlog, packet: Offered) -> Verdict {
        if self.conforms(now, packet.size) {
            self.queue.admit(now, backlog, packet)
        } else {
            Verdict::Drop(DropCause::Policed)
        }
    }

    fn empties_at(&mut self, at: Instant) {
        self.queue.empties_at(at);
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }
}

impl Server for Policed<Box<dyn Server>> {
    fn enqueue(&mut self, now: Instant, packet: Queued, drops: &mut Drops) {
        if self.conforms(now, packet.size()) {
            self.queue.enqueue(now, packet, drops);
        } else {
            drops.push(packet, DropCause::Policed);
        }
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops) -> Option<Queued> {
        self.queue.dequeue(now, drops)
    }

    fn drain(&mut self) -> Vec<Queued> {
        self.queue.drain()
    }
}
