//! The sending half of a connection: queues user data, sends it, and keeps it until it is acknowledged.

mod account;
mod ack;
mod control;
mod flight;
mod prr;
mod rack;
mod rate;
mod recovery;
mod send;
#[cfg(test)]
mod tests;
mod timers;
mod trains;
mod undo;

pub(crate) use ack::Ack;
pub(crate) use send::Plan;

use crate::info::Stats;
use crate::pieces::Pieces;
use crate::rto::RtoEstimate;
use crate::sequence::ORIGIN;
use crate::{Config, Variant};
use cc::{CongestionControl, CongestionWindow};
use flight::Flight;
use rack::{Rack, TailLossProbe};
use rate::RateControl;
use recovery::Recovery;
use std::sync::Arc;
use timers::Timers;
use transport::{BufferBudget, Payload, SendBuffer};
use undo::Undo;
use units::{ByteCount, Instant};

#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    control: Option<Box<dyn CongestionControl>>,
    /// `config.variant`; NewReno instead of SACK if the peer does not offer SACK.
    variant: Variant,
    window: CongestionWindow,
    /// Largest number of user bytes in a segment (SMSS).
    smss: u32,
    /// Bytes of the IP and TCP headers of a full segment, with the options that every segment has.
    headers: u32,
    buffer: SendBuffer,
    /// User data from the oldest unacknowledged byte on (SND.UNA).
    data: Pieces,
    /// Position after the last byte that the user queued.
    end: u64,
    /// The user queues no more data: a FIN follows the last byte.
    closing: bool,
    flight: Flight,
    pub(crate) rto: RtoEstimate,
    timers: Timers,
    /// Consecutive expiries of the retransmission timer.
    expiries: u32,
    /// SND.UNA when the retransmission timer last expired; `None`
    /// once everything sent before this expiry is acknowledged.
    timed_out: Option<u64>,
    recovery: Option<Recovery>,
    undo: Option<Undo>,
    dup_acks: u32,
    /// Position up to which the sender has reacted to a loss (`rfc6582#section-3.2`,
    /// recover): duplicate acknowledgements below it begin no recovery.
    recover: u64,
    rack: Option<Rack>,
    /// Present only if the congestion control paces the connection.
    rate: Option<Box<RateControl>>,
    probe: Option<TailLossProbe>,
    ecn: Ecn,
    peer: PeerWindow,
    /// The next segment is sent regardless of the windows.
    forced: Option<Forced>,
    last_sent: Instant,
    /// Number of segments in the current train, to which only segments sent at the same time are added.
    train: u64,
    /// The user's data did not fit completely, and [`Event::Writable`](crate::Event::Writable) was not
    /// reported since.
    blocked: bool,
    pub(crate) stats: Stats,
}

/// The window that the peer advertises.
#[derive(Debug, Default)]
struct PeerWindow {
    /// Position up to which the peer accepts data (SND.UNA + SND.WND).
    edge: u64,
    /// Bytes in the latest advertisement (SND.WND).
    size: u64,
    /// Largest window that the peer has advertised.
    largest: u64,
    /// SEG.SEQ and SEG.ACK of the latest advertisement, as positions (SND.WL1, SND.WL2).
    from: (u64, u64),
}

/// Explicit congestion notification (`rfc3168#section-6.1`).
#[derive(Debug, Default)]
struct Ecn {
    enabled: bool,
    /// The next segment of new data must carry CWR.
    tell: bool,
    /// The window was already reduced for ECE on data below this position.
    answered: u64,
}

/// Why a segment is sent regardless of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    /// The retransmission of the first lost segment.
    Lost,
    /// A tail loss probe (`rfc8985#section-7.3`).
    TailProbe,
    /// A zero window probe, or data that silly window avoidance delayed for too long.
    WindowProbe,
}

/// Parameters agreed with the peer in the handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiated {
    /// Largest number of user bytes in a segment.
    pub(crate) smss: u32,
    /// Bytes of the IP and TCP headers of a full segment.
    pub(crate) headers: u32,
    pub(crate) sack: bool,
    pub(crate) ecn: bool,
    /// A SYN was retransmitted.
    pub(crate) syn_lost: bool,
}

impl Sender {
    /// A sender before the handshake. A buffer of the size
    /// `auto` takes the bytes by which it grows from `budget`.
    pub(crate) fn new(config: &Arc<Config>, budget: &Arc<BufferBudget>) -> Self {
        let mut buffer = SendBuffer::new(config.send_buffer);
        buffer.join(budget);
        Sender {
            buffer,
            control: None,
            variant: config.variant,
            window: CongestionWindow::default(),
            smss: u32::from(config.mss),
            headers: 0,
            data: Pieces::default(),
            end: ORIGIN + 1,
            closing: false,
            flight: Flight::new(ORIGIN + 1, false),
            rto: RtoEstimate::new(config.rto),
            timers: Timers::default(),
            expiries: 0,
            timed_out: None,
            recovery: None,
            undo: None,
            dup_acks: 0,
            recover: ORIGIN,
            rack: None,
            rate: None,
            probe: None,
            ecn: Ecn::default(),
            peer: PeerWindow::default(),
            forced: None,
            last_sent: Instant::ZERO,
            train: 0,
            blocked: false,
            stats: Stats::default(),
            config: config.clone(),
        }
    }

    /// Begins to send after the handshake.
    pub(crate) fn establish(&mut self, now: Instant, found: Negotiated) {
        self.smss = found.smss;
        self.headers = found.headers;
        self.variant = match self.config.variant {
            Variant::Sack if !found.sack => Variant::NewReno,
            variant => variant,
        };
        let rack = self.variant == Variant::Sack && self.config.rack_tlp;
        self.rack = rack.then(Rack::default);
        self.flight = Flight::new(ORIGIN + 1, rack);
        self.ecn.enabled = found.ecn;
        self.last_sent = now;
        self.begin_control(now);
        if found.syn_lost {
            // rfc5681#section-3.1: after a lost SYN the window is at most one segment.
            self.restart_window(now);
            self.rto.after_lost_syn();
        }
    }

    /// Queues user data up to the free space, and returns the number of bytes queued.
    pub(crate) fn push(&mut self, mut payload: Payload) -> u64 {
        let wanted = payload.len() as u64;
        let taken = wanted.min(self.send_buffer().saturating_sub(self.buffered()));
        self.blocked |= taken < wanted;
        self.data.insert(self.end, payload.split_to(taken as usize));
        self.end += taken;
        taken
    }

    fn send_buffer(&self) -> u64 {
        self.buffer.size(self.outstanding()).get()
    }

    /// Bytes sent and not acknowledged.
    fn outstanding(&self) -> ByteCount {
        ByteCount::new(self.flight.nxt() - self.flight.una())
    }

    /// True once when there is space again after user data did not fit.
    pub(crate) fn take_writable(&mut self) -> bool {
        self.buffer.tune(self.outstanding());
        let writable = self.blocked && self.buffered() < self.send_buffer();
        self.blocked &= !writable;
        writable
    }

    /// Queues a FIN after the last byte.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    #[inline]
    fn fin_sent(&self) -> bool {
        self.closing && self.flight.nxt() > self.end
    }

    /// True if everything was acknowledged, including the FIN.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.closing && self.flight.una() > self.end
    }

    /// Unacknowledged bytes, sent or not.
    fn buffered(&self) -> u64 {
        self.end.saturating_sub(self.flight.una())
    }

    /// Bytes that have not been sent.
    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.end.saturating_sub(self.flight.nxt())
    }

    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.flight.una()
    }

    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.flight.nxt()
    }

    pub(crate) fn data(&self) -> &Pieces {
        &self.data
    }

    pub(crate) fn flight(&self) -> ByteCount {
        ByteCount::new(self.flight.in_flight())
    }

    pub(crate) fn smss(&self) -> u32 {
        self.smss
    }

    pub(crate) fn ssthresh(&self) -> Option<ByteCount> {
        self.window.ssthresh
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    pub(crate) fn peer_rwnd(&self) -> u64 {
        self.peer.size
    }

    pub(crate) fn largest_peer_window(&self) -> u64 {
        self.peer.largest
    }

    /// Limit of the bytes in flight: cwnd, or in recovery the inflated or reduced send limit. A control that
    /// models the rate also sets the limit in recoveries with SACK.
    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        match &self.recovery {
            Some(recovery) if self.variant != Variant::Sack || !self.models_rate() => recovery.cwnd,
            _ => self.window.cwnd.get(),
        }
    }

    /// Drops all data and timers at the end of the connection.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.timers = Timers::default();
    }
}
