use super::{Backlog, Drops, Queued, Server};
use crate::counters::DropCause;
use crate::transmitter::Transmitter;
use units::{ByteCount, Instant};

/// The queue of a link whose discipline is a [`Server`], with the times at which the link asks the server.
#[derive(Debug)]
pub(crate) struct Line {
    server: Box<dyn Server>,
    /// The packets that the server owns.
    pub waiting: Backlog,
    /// The time from which the transmitter can send the next packet. Valid only while packets wait.
    pub next_start: Instant,
    /// Time of the scheduled event at which the link asks the server for the next packet; `None` if
    /// no such event is scheduled. An event at another time has been replaced and has no effect.
    scheduled: Option<Instant>,
    drops: Drops,
}

impl Line {
    pub fn new(server: Box<dyn Server>) -> Self {
        Line {
            server,
            waiting: Backlog::default(),
            next_start: Instant::ZERO,
            scheduled: None,
            drops: Drops::default(),
        }
    }

    /// Takes the server out of a line that holds no packets.
    pub fn into_server(self) -> Box<dyn Server> {
        self.server
    }

    /// Passes a packet that arrives at `now` to the server. [`Line::dropped`] returns the drops.
    pub fn enqueue(&mut self, now: Instant, queued: Queued, transmitter: &mut Transmitter) {
        if self.waiting.packets == 0 {
            self.next_start = transmitter.start(now);
        }
        self.waiting.packets += 1;
        self.waiting.bytes += queued.size();
        debug_assert!(self.drops.0.is_empty());
        self.server.enqueue(now, queued, &mut self.drops);
        self.forget_drops();
    }

    /// The packet whose transmission starts at `now`; `None` while the transmitter is busy or no packet
    /// waits. [`Line::dropped`] returns the drops.
    pub fn dequeue(&mut self, now: Instant) -> Option<Queued> {
        if self.waiting.packets == 0 || self.next_start > now {
            return None;
        }
        debug_assert!(self.drops.0.is_empty());
        let next = self.server.dequeue(now, &mut self.drops);
        self.forget_drops();
        if let Some(queued) = &next {
            self.waiting.forget(queued.size());
        }
        // If the server kept its packets, the link would ask it again and again at the same time.
        assert!(
            next.is_some() || self.waiting.packets == 0,
            "a server must return a packet while it holds one: {:?}",
            self.server
        );
        next
    }

    fn forget_drops(&mut self) {
        for (queued, _) in &self.drops.0 {
            self.waiting.forget(queued.size());
        }
    }

    /// The next packet that the server dropped in its last call. The caller must take all of them.
    pub fn dropped(&mut self) -> Option<(Queued, DropCause)> {
        self.drops.0.pop_front()
    }

    /// Processes the event at which the link asks the server for the next
    /// packet. Returns false if another event has replaced this one.
    pub fn fire(&mut self, now: Instant) -> bool {
        self.scheduled.take_if(|at| *at == now).is_some()
    }

    /// Time for which the network must schedule the event at which the link
    /// asks the server for a packet; `None` if no event must be scheduled.
    pub fn schedule(&mut self) -> Option<Instant> {
        let due = (self.waiting.packets > 0).then_some(self.next_start);
        if due == self.scheduled {
            return None;
        }
        self.scheduled = due;
        due
    }

    /// Takes all packets out of the server, because the link has failed.
    pub fn drain(&mut self) -> Vec<Queued> {
        let packets = self.server.drain();
        assert_eq!(packets.len() as u64, self.waiting.packets, "a server must return all packets");
        self.waiting = Backlog::default();
        self.scheduled = None;
        packets
    }
}

impl Backlog {
    fn forget(&mut self, size: ByteCount) {
        self.packets -= 1;
        self.bytes -= size;
    }
}
