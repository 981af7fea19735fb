//! The next segment to send, and how it is written.

use super::Connection;
use super::phase::Phase;
use crate::Ecn;
use crate::segment::{Flags, Header, Options, SackBlock, seal};
use crate::sequence::ORIGIN;
use crate::sequence::Seq;
use crate::tx::Plan;
use transport::{PacketBuf, Transmit};
use units::{ByteCount, Instant};

impl Connection {
    /// Writes the next segment into `buf`; `None` if there is nothing to send now.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        match self.phase {
            Phase::SynSent { .. } | Phase::SynReceived { .. } => {
                std::mem::take(&mut self.syn_due).then(|| self.write_syn(now, buf))
            }
            Phase::Closed { ref mut reset } => std::mem::take(reset).then(|| self.write_reset(buf)),
            Phase::TimeWait { .. } => self.write_ack_if_due(now, buf),
            _ => match self.next_data(now) {
                Some(plan) => Some(self.write_data(now, &plan, buf)),
                None => self.write_ack_if_due(now, buf),
            },
        }
    }

    #[inline]
    fn next_data(&mut self, now: Instant) -> Option<Plan> {
        let blocks = self.receiver.as_ref().map_or(0, |receiver| receiver.sack_len());
        let sack = if blocks > 0 { 4 + 8 * blocks as u32 } else { 0 };
        let limit = self.sender.smss().saturating_sub(sack).max(1);
        self.sender.next(now, limit)
    }

    fn write_data(&mut self, now: Instant, plan: &Plan, buf: &mut PacketBuf) -> Transmit {
        let flags = Flags::ACK
            | Flags::PSH.when(plan.push && plan.len > 0)
            | Flags::FIN.when(plan.fin)
            | Flags::CWR.when(plan.reduced);
        // A retransmitted segment may leave no room for all SACK blocks.
        let room = self.sender.smss().saturating_sub(plan.len + 4) as usize / 8;
        self.begin(now, plan.start, flags, room, buf);
        self.sender.data().copy(plan.start, plan.len as usize, buf);
        self.finish(if plan.markable { Ecn::Capable0 } else { Ecn::NotCapable }, buf)
    }

    #[inline]
    fn write_ack_if_due(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        self.receiver.as_ref().filter(|receiver| receiver.acks.is_due())?;
        self.sender.stats.acks_sent += 1;
        self.begin(now, self.sender.nxt(), Flags::ACK, usize::MAX, buf);
        Some(self.finish(Ecn::NotCapable, buf))
    }

    /// Begins a segment of an established connection, with the current acknowledgement.
    #[inline]
    fn begin(&mut self, now: Instant, from: u64, flags: Flags, sack_room: usize, buf: &mut PacketBuf) {
        let mut options = Options {
            timestamps: self.agreed.timestamps.then(|| self.stamps.option(now)),
            ..Options::default()
        };
        let (mut ack, mut window) = (Seq(0), 0);
        if let Some(receiver) = &mut self.receiver {
            let blocks = receiver.sack(sack_room.min(options.sack_room()));
            let seq = |position| self.theirs.seq(position);
            let blocks =
                blocks.into_iter().map(|(left, right)| SackBlock { left: seq(left), right: seq(right) });
            options.sack.extend(blocks);
            receiver.acks.sent();
            window = receiver.advertise(now, self.sender.rto.srtt());
            ack = seq(receiver.next());
            self.stamps.last_ack = receiver.next();
        }
        let flags = flags | Flags::ECE.when(self.echo_congestion);
        self.header(from, ack, flags, window).write(buf, &options);
    }

    fn header(&self, from: u64, ack: Seq, flags: Flags, window: u16) -> Header {
        Header {
            source_port: self.local.port,
            destination_port: self.ends.remote_port,
            seq: self.ours.seq(from),
            ack,
            flags,
            window,
            urgent: 0,
        }
    }

    #[inline]
    fn finish(&mut self, ecn: Ecn, buf: &mut PacketBuf) -> Transmit {
        let (src, dst) = (self.ends.local, self.ends.remote);
        seal(buf, src, dst, self.local.checksum);
        self.sender.stats.segments_sent += 1;
        self.sender.stats.transport_bytes_sent += ByteCount::from(buf.len());
        Transmit { ecn, ..Transmit::new(src, dst) }
    }

    fn write_syn(&mut self, now: Instant, buf: &mut PacketBuf) -> Transmit {
        let (flags, options) = self.syn(now);
        let ack = self.receiver.as_ref().map_or(Seq(0), |receiver| self.theirs.seq(receiver.next()));
        let window = self.config().receive_buffer.first().get().min(u64::from(u16::MAX)) as u16;
        self.header(ORIGIN, ack, flags, window).write(buf, &options);
        self.finish(Ecn::NotCapable, buf)
    }

    /// A reset that ends the connection (`rfc9293#section-3.10.5`).
    fn write_reset(&mut self, buf: &mut PacketBuf) -> Transmit {
        let ack = self.receiver.as_ref().map_or(Seq(0), |receiver| self.theirs.seq(receiver.next()));
        let flags = Flags::RST | Flags::ACK.when(self.receiver.is_some());
        self.header(self.sender.nxt(), ack, flags, 0).write(buf, &Options::default());
        self.finish(Ecn::NotCapable, buf)
    }
}
