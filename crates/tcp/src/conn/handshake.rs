//! The handshake (`rfc9293#section-3.5`) and negotiation of its options.

use super::phase::{Phase, Retry};
use super::{Birth, Connection, Ends, Local};
use crate::event::Event;
use crate::rx::Receiver;
use crate::segment::{Flags, Header, Options, Segment};
use crate::sequence::{ORIGIN, Space};
use crate::tx::Negotiated;
use std::net::IpAddr;
use std::sync::Arc;
use units::Instant;

/// Options agreed by both SYNs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    /// Shift of our window field, and of the peer's.
    pub(super) our_shift: u8,
    pub(super) their_shift: u8,
    /// Largest segment that the peer accepts (`rfc9293#section-3.7.1`).
    pub(super) their_mss: u16,
}

/// Default MSS for IPv4 and IPv6 (`rfc9293#section-3.7.1`, MUST-15).
const DEFAULT_MSS: (u16, u16) = (536, 1220);

/// Largest shift of a window (`rfc7323#section-2.3`).
const MAX_SHIFT: u8 = 14;

impl Connection {
    /// A connection that the SYN of a peer opens.
    pub(crate) fn accept(
        now: Instant,
        local: &Arc<Local>,
        ends: Ends,
        birth: Birth,
        syn: &Segment<'_>,
    ) -> Self {
        let mut connection = Self::new(now, local, ends, birth, true);
        let ecn = syn.header.flags.has(Flags::ECE | Flags::CWR);
        connection.take_syn(now, syn, ecn);
        connection
    }

    /// Records that the SYN ACK was a SYN cookie, which is not retransmitted and whose send time is unknown.
    pub(crate) fn already_answered(&mut self) {
        self.syn_due = false;
        self.syn_at = None;
    }

    /// MSS of a peer that sent no MSS option.
    pub(crate) fn default_mss(remote: IpAddr) -> u16 {
        if remote.is_ipv4() { DEFAULT_MSS.0 } else { DEFAULT_MSS.1 }
    }

    /// Processes the peer's SYN. `ecn`: the SYN requests or grants explicit congestion notification
    /// (`rfc3168#section-6.1.1`).
    pub(super) fn take_syn(&mut self, now: Instant, syn: &Segment<'_>, ecn: bool) {
        let config = &self.local.config;
        let options = &syn.options;
        let scale = options.window_scale.filter(|_| config.window_scale);
        self.agreed = Agreed {
            timestamps: config.timestamps && options.timestamps.is_some(),
            sack: config.speaks_sack() && options.sack_permitted,
            ecn: config.ecn && ecn,
            our_shift: scale.map_or(0, |_| self.shift()),
            their_shift: scale.map_or(0, |shift| shift.min(MAX_SHIFT)),
            their_mss: options.mss.unwrap_or(Self::default_mss(self.ends.remote)),
        };
        self.theirs = Space::new(syn.header.seq);
        if let Some(stamps) = options.timestamps {
            self.stamps.begin(now, stamps);
        }
        let Local { config, budget, .. } = &*self.local;
        let Agreed { our_shift, sack, .. } = self.agreed;
        self.receiver = Some(Receiver::new(ORIGIN + 1, config, our_shift, sack, budget));
        self.stamps.last_ack = ORIGIN + 1;
        self.sender.take_first_window(ORIGIN, u64::from(syn.header.window));
    }

    /// The smallest shift with which the whole receive buffer can be advertised, also when it has grown.
    fn shift(&self) -> u8 {
        let buffer = self.config().receive_buffer.most().get();
        (0..MAX_SHIFT).find(|shift| buffer >> shift <= u64::from(u16::MAX)).unwrap_or(MAX_SHIFT)
    }

    /// Processes a segment before our SYN is answered (`rfc9293#section-3.10.7.3`). Returns false if the
    /// caller must answer with a reset.
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, segment: &Segment<'_>, retry: Retry) -> bool {
        let flags = segment.header.flags;
        let acked = flags.has(Flags::ACK);
        if acked && segment.header.ack != self.ours.seq(ORIGIN + 1) {
            return flags.has(Flags::RST);
        }
        if flags.has(Flags::RST) {
            if acked {
                self.end(crate::CloseReason::Refused, false);
            }
            return true;
        }
        if !flags.has(Flags::SYN) {
            return true;
        }
        // A SYN that acknowledges ours grants ECN with ECE alone (rfc3168#section-6.1.1).
        let ecn = if acked {
            flags.has(Flags::ECE) && !flags.has(Flags::CWR)
        } else {
            flags.has(Flags::ECE | Flags::CWR)
        };
        self.take_syn(now, segment, ecn);
        if acked {
            self.acknowledge_soon();
            self.establish(now, retry, segment);
        } else {
            // Simultaneous open (rfc9293#section-3.5, figure 7).
            self.phase = Phase::SynReceived { retry, passive: false };
            self.syn_due = true;
        }
        true
    }

    /// Enters ESTABLISHED: our SYN is acknowledged, and the peer's SYN has arrived.
    pub(super) fn establish(&mut self, now: Instant, retry: Retry, segment: &Segment<'_>) {
        let echoed = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let echoed = echoed.and_then(|stamps| self.stamps.age(now, stamps));
        // The timestamp of a SYN cookie encodes options and gives no RTT.
        if let Some(syn_at) = self.syn_at.filter(|_| retry.count == 0) {
            self.sender.rto.sample(now.since(syn_at));
        } else if let Some(age) = echoed.filter(|_| self.syn_at.is_some()) {
            self.sender.rto.sample(age);
        }
        let stamps = if self.agreed.timestamps { Options::TIMESTAMPS_LEN } else { 0 };
        let mss = u32::from(self.config().mss.min(self.agreed.their_mss));
        // rfc6691: the MSS includes options, the data does not.
        let smss = mss.saturating_sub(stamps as u32).max(1);
        let ip = if self.ends.remote.is_ipv4() { 20 } else { 40 };
        self.sender.establish(
            now,
            Negotiated {
                smss,
                headers: ip + (Header::LEN + stamps) as u32,
                sack: self.agreed.sack,
                ecn: self.agreed.ecn,
                syn_lost: retry.count > 0,
            },
        );
        self.phase = Phase::Established;
        self.syn_due = false;
        self.events.push(Event::Connected);
        if self.closing {
            self.begin_close();
        }
    }

    /// The flags and options of our SYN or, once the peer's SYN has arrived, of our SYN ACK.
    pub(super) fn syn(&self, now: Instant) -> (Flags, Options) {
        let config = self.config();
        let answer = self.receiver.is_some();
        let said = |ours: bool, agreed: bool| if answer { agreed } else { ours };
        let scaled = said(config.window_scale, self.agreed.our_shift > 0 || self.agreed.their_shift > 0);
        let options = Options {
            mss: Some(config.mss),
            window_scale: scaled.then(|| self.shift()),
            sack_permitted: said(config.speaks_sack(), self.agreed.sack),
            timestamps: said(config.timestamps, self.agreed.timestamps).then(|| self.stamps.option(now)),
            ..Options::default()
        };
        let ecn = if answer {
            Flags::ECE.when(self.agreed.ecn)
        } else {
            (Flags::ECE | Flags::CWR).when(config.ecn)
        };
        (Flags::SYN | Flags::ACK.when(answer) | ecn, options)
    }
}
