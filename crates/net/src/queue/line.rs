use super::{Backlog, Drops, Queued, Server};
use crate::counters::DropCause;
use crate::transmitter::Transmitter;
use units::{ByteCount, Instant};

/// The queue of a link whose discipline is a [`Server`], and what the link must know to ask it in time.
#[derive(Debug)]
pub(crate) struct Line {
    server: Box<dyn Server>,
    /// The packets that the server owns.
    pub waiting: Backlog,
    /// When the transmitter is free for the next of them. Only meaningful while packets wait.
    pub next_start: Instant,
    /// The time of the event that asks the server; `None` if none is in the kernel. An event of another time
    /// is stale.
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

    /// The server, if no packet waits yet.
    pub fn into_server(self) -> Box<dyn Server> {
        self.server
    }

    /// Gives a packet that arrives at `now` to the server. Drops are left for [`Line::dropped`].
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
    /// waits. Drops are left for [`Line::dropped`].
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
        // Else the link would ask again and again without the time moving on.
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

    /// The next packet that the server has dropped in its last call. The caller takes all of them.
    pub fn dropped(&mut self) -> Option<(Queued, DropCause)> {
        self.drops.0.pop_front()
    }

    /// The event that asks the server fires: whether it is the one that is scheduled.
    pub fn fire(&mut self, now: Instant) -> bool {
        self.scheduled.take_if(|at| *at == now).is_some()
    }

    /// When the network must schedule the event that asks the server, if it has not yet.
    pub fn schedule(&mut self) -> Option<Instant> {
        let due = (self.waiting.packets > 0).then_some(self.next_start);
        if due == self.scheduled {
            return None;
        }
        self.scheduled = due;
        due
    }

    /// Takes all packets out of the server, since the link has failed.
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
