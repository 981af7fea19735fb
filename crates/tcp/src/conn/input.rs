//! Processing of a segment (`rfc9293#section-3.10.7`), with the checks of `rfc5961`.

use super::Connection;
use super::phase::{Phase, Retry};
use crate::Ecn;
use crate::event::CloseReason;
use crate::segment::{Flags, Segment};
use crate::sequence::ORIGIN;
use crate::tx::Ack;
use units::Instant;

/// Result of processing a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The connection processed or dropped the segment.
    Here,
    /// The segment must be answered with a reset, as if there were no connection.
    Refused,
    /// The segment is the SYN of a new connection, which replaces this connection.
    Anew,
}

impl Connection {
    pub(crate) fn handle(&mut self, now: Instant, segment: &Segment<'_>, ecn: Ecn) -> Handled {
        self.sender.stats.segments_received += 1;
        let handled = match self.phase {
            Phase::Closed { .. } => Handled::Refused,
            Phase::SynSent { retry } => match self.handle_in_syn_sent(now, segment, retry) {
                true => Handled::Here,
                false => Handled::Refused,
            },
            _ => self.handle_synchronised(now, segment, ecn),
        };
        self.settle(now);
        handled
    }

    fn handle_synchronised(&mut self, now: Instant, segment: &Segment<'_>, ecn: Ecn) -> Handled {
        let Some(receiver) = &self.receiver else { return Handled::Here };
        let (next, edge) = (receiver.next(), receiver.edge());
        let header = &segment.header;
        let flags = header.flags;
        let from = self.theirs.position(next, header.seq);
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        if let Some(stamps) = stamps
            && !flags.any(Flags::RST | Flags::SYN)
            && self.stamps.is_old(now, stamps)
        {
            self.acknowledge_soon();
            return Handled::Here;
        }
        if flags.has(Flags::RST) {
            return self.on_reset(now, from, next, edge);
        }
        if flags.has(Flags::SYN) {
            return self.on_syn(now, segment, from);
        }
        if !flags.has(Flags::ACK) {
            return Handled::Here;
        }
        let to = from + u64::from(segment.sequence_len());
        let beyond = from > edge || from == edge && to > from && from > next;
        if to < next || beyond {
            // The segment is outside the window: an ACK tells the peer (rfc9293#section-3.10.7.4, first).
            self.acknowledge_soon();
            if beyond {
                return Handled::Here;
            }
        }
        if let Some(stamps) = stamps {
            self.stamps.take(now, stamps, from);
        }
        self.note_congestion(flags, ecn);
        match self.on_acknowledgment(now, segment, from) {
            Ok(()) => {
                self.on_text(now, segment, from);
                Handled::Here
            }
            Err(handled) => handled,
        }
    }

    /// `rfc5961#section-3.2`: only a reset at exactly RCV.NXT is accepted.
    fn on_reset(&mut self, now: Instant, from: u64, next: u64, edge: u64) -> Handled {
        if from == next {
            let reason = match self.phase {
                Phase::SynReceived { .. } => CloseReason::Refused,
                _ => CloseReason::Reset,
            };
            self.end(reason, false);
        } else if from > next && from < edge.max(next + 1) {
            self.challenge(now);
        }
        Handled::Here
    }

    /// `rfc5961#section-4.2`: a SYN with any sequence number causes a challenge
    /// ACK and has no other effect, except in SYN-RECEIVED and TIME-WAIT.
    fn on_syn(&mut self, now: Instant, segment: &Segment<'_>, from: u64) -> Handled {
        match self.phase {
            // Our SYN was lost, or the peer repeats its SYN; a SYN ACK is accepted (simultaneous open).
            Phase::SynReceived { retry, .. } if from == ORIGIN => {
                if segment.header.flags.has(Flags::ACK) && segment.header.ack == self.ours.seq(ORIGIN + 1) {
                    self.acknowledge_soon();
                    self.establish(now, retry, segment);
                } else {
                    self.syn_due = true;
                }
            }
            // A SYN with a later timestamp or sequence number may replace the connection
            // in TIME-WAIT (rfc9293#section-3.10.7.4, MAY-2, and rfc6191#section-2).
            Phase::TimeWait { .. } if self.is_successor(segment, from) => return Handled::Anew,
            _ => self.challenge(now),
        }
        Handled::Here
    }

    fn is_successor(&self, segment: &Segment<'_>, from: u64) -> bool {
        if segment.header.flags.has(Flags::ACK) {
            return false;
        }
        match segment.options.timestamps.filter(|_| self.agreed.timestamps) {
            Some(stamps) => self.stamps.is_newer(stamps),
            None => self.receiver.as_ref().is_some_and(|receiver| from > receiver.next()),
        }
    }

    fn challenge(&mut self, now: Instant) {
        if self.challenges.allow(now) {
            self.acknowledge_soon();
        }
    }

    #[inline]
    pub(super) fn acknowledge_soon(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            receiver.acks.at_once();
        }
    }

    /// Processes CE marks and CWR (`rfc3168#section-6.1.3`).
    #[inline]
    fn note_congestion(&mut self, flags: Flags, ecn: Ecn) {
        if self.agreed.ecn {
            self.echo_congestion &= !flags.has(Flags::CWR);
            self.echo_congestion |= ecn == Ecn::CongestionExperienced;
        }
    }

    /// Processes the ACK field. An error ends the processing of the segment.
    #[inline]
    fn on_acknowledgment(&mut self, now: Instant, segment: &Segment<'_>, from: u64) -> Result<(), Handled> {
        if let Phase::SynReceived { retry, .. } = self.phase {
            if segment.header.ack != self.ours.seq(ORIGIN + 1) {
                return Err(Handled::Refused);
            }
            self.establish(now, retry, segment);
            let window = u64::from(segment.header.window) << self.agreed.their_shift;
            self.sender.take_first_window(from, window);
            return Ok(());
        }
        let una = self.sender.una();
        let to = self.ours.position(una, segment.header.ack);
        if to > self.sender.nxt() || to + self.sender.largest_peer_window() < una {
            // rfc5961#section-5.2
            self.challenge(now);
            return Err(Handled::Here);
        }
        if to >= una && self.phase.is_open() {
            let ack = self.read_ack(now, segment, from, to);
            self.sender.on_ack(now, &ack);
        }
        Ok(())
    }

    #[inline]
    fn read_ack(&self, now: Instant, segment: &Segment<'_>, from: u64, to: u64) -> Ack {
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let position = |seq| self.ours.position(to, seq);
        let blocks = segment.options.sack.iter().filter(|_| self.agreed.sack);
        Ack {
            to,
            from,
            window: u64::from(segment.header.window) << self.agreed.their_shift,
            blocks: blocks.map(|block| (position(block.left), position(block.right))).collect(),
            echo: stamps.and_then(|stamps| self.stamps.echoed(now, stamps)),
            bare: segment.sequence_len() == 0,
            congestion: segment.header.flags.has(Flags::ECE),
        }
    }

    /// Processes the data and the FIN (`rfc9293#section-3.10.7.4`, seventh and eighth).
    #[inline]
    fn on_text(&mut self, now: Instant, segment: &Segment<'_>, from: u64) {
        let fin = segment.header.flags.has(Flags::FIN);
        if segment.data.is_empty() && !fin {
            return;
        }
        self.sender.stats.data_segments_received += u64::from(!segment.data.is_empty());
        let Some(receiver) = &mut self.receiver else { return };
        if self.phase.receives_data() {
            receiver.on_data(now, from, segment.data, fin);
            if receiver.is_tuned() {
                let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
                receiver.count(now, stamps.and_then(|stamps| self.stamps.age(now, stamps)));
            }
            if self.local.config.push_trains && segment.header.flags.has(Flags::PSH) {
                receiver.acks.at_once();
            }
            if receiver.is_finished() {
                self.on_their_end(now);
            }
        } else {
            receiver.acks.at_once();
            if let Phase::TimeWait { until } = &mut self.phase {
                // rfc9293#section-3.10.7.4, eighth: our ACK of the peer's FIN was lost.
                *until = now + self.local.config.time_wait;
            }
        }
    }
}

impl Retry {
    /// Schedules a retransmission of the SYN.
    pub(super) fn again(&mut self, deadline: Instant) {
        self.count += 1;
        self.deadline = deadline;
    }
}
