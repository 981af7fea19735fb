use super::Association;
use super::phase::Phase;
use crate::ext::Ext;
use crate::message::{Abandoned, AbandonedByPolicy};
use crate::path::{PathId, PathState, PathStats};
use crate::rx::ReceiveStats;
use crate::saved::Pair;
use cc::SavedPath;
use std::collections::BTreeMap;
use std::net::IpAddr;
use transport::{LimitTimes, Stopwatch};
use units::{ByteCount, Instant, Span};
use wire::StreamId;

/// The states of an association (`rfc9260#section-4`). In the state CLOSED no association exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the states of RFC 9260")]
pub enum State {
    /// An INIT was sent.
    CookieWait,
    /// A COOKIE ECHO was sent.
    CookieEchoed,
    /// Both sides can send data.
    Established,
    /// The user shut the association down, and some data is not acknowledged yet.
    ShutdownPending,
    /// A SHUTDOWN was sent.
    ShutdownSent,
    /// A SHUTDOWN was received, and some of our data is not acknowledged yet.
    ShutdownReceived,
    /// A SHUTDOWN ACK was sent.
    ShutdownAckSent,
}

impl State {
    /// The name of the state in RFC 9260.
    pub const fn name(self) -> &'static str {
        match self {
            State::CookieWait => "COOKIE-WAIT",
            State::CookieEchoed => "COOKIE-ECHOED",
            State::Established => "ESTABLISHED",
            State::ShutdownPending => "SHUTDOWN-PENDING",
            State::ShutdownSent => "SHUTDOWN-SENT",
            State::ShutdownReceived => "SHUTDOWN-RECEIVED",
            State::ShutdownAckSent => "SHUTDOWN-ACK-SENT",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The current state of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathInfo {
    /// Number of the path, which does not change while the association exists.
    pub id: PathId,
    /// The peer's address.
    pub remote: IpAddr,
    /// Our address.
    pub local: IpAddr,
    /// The peer's UDP port at this address; 0 if packets are not encapsulated.
    pub udp_port: u16,
    /// Active, potentially failed, inactive or unconfirmed.
    pub state: PathState,
    /// True if the path did not answer in time: new data avoids it while another path is usable.
    pub silent: bool,
    /// True if the path is the primary path.
    pub is_primary: bool,
    /// Congestion window.
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` while nothing bounds slow start.
    pub ssthresh: Option<ByteCount>,
    /// `partial_bytes_acked` of congestion avoidance (`rfc9260#section-7.2.2`).
    pub partial_bytes_acked: ByteCount,
    /// Bytes in flight.
    pub flight: ByteCount,
    /// Bytes last sent on this path that are not acknowledged, or that the peer may still renege on.
    pub queued: ByteCount,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// Consecutive errors.
    pub errors: u32,
    /// Path MTU, IP header included.
    pub mtu: ByteCount,
    /// Cost of the path: the larger of the two values that the ends set by
    /// [`PathOptions::cost`](crate::PathOptions::cost).
    pub cost: u16,
    /// Counters of the path.
    pub stats: PathStats,
    /// For each reason that held the sender back on this path: the time in which it did, from the
    /// sender's first message on.
    pub limits: LimitTimes,
    /// Time during which a chunk last sent on this path blocked the whole sender (head-of-line blocking).
    pub blocks: Stopwatch,
}

/// Counters and state of an association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssocStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Counters of the received data.
    pub received: ReceiveStats,
    /// Bytes in the send buffer: not sent, not acknowledged, or acknowledged while the peer may still renege.
    pub buffered: ByteCount,
    /// Messages waiting for their first transmission.
    pub unsent_messages: usize,
    /// Chunks sent and not acknowledged cumulatively.
    pub outstanding_chunks: usize,
    /// The peer's receive window as this end computes it, in bytes.
    pub peer_rwnd: ByteCount,
    /// Consecutive errors.
    pub errors: u32,
    /// Chunks without a valid AUTH chunk, and invalid AUTH chunks, discarded (`rfc4895#section-6.3`).
    pub unauthenticated: u64,
    /// Messages abandoned (`rfc7496#section-4.4`).
    pub abandoned: Abandoned,
    /// True if both ends announced [`auth`](crate::Config::auth).
    pub auth: bool,
    /// True if both ends announced [`interleaving`](crate::Config::interleaving) and send I-DATA chunks.
    pub interleaving: bool,
    /// RE-CONFIG requests sent, retransmissions included.
    pub reset_requests: u64,
    /// Resets performed, of streams of either direction or of the association.
    pub resets: u64,
    /// For each reason that kept the sender from sending more: the time in which it did, from its
    /// first message on.
    pub limits: LimitTimes,
}

impl PathInfo {
    /// The same state, with its times counted up to `now` instead of up to the last event.
    #[must_use]
    pub fn until(mut self, now: Instant) -> Self {
        (self.limits, self.blocks) = (self.limits.until(now), self.blocks.until(now));
        self
    }
}

impl AssocStats {
    /// The same counters, with their times counted up to `now` instead of up to the last event.
    #[must_use]
    pub fn until(mut self, now: Instant) -> Self {
        self.limits = self.limits.until(now);
        self
    }
}

impl Association {
    pub(crate) fn state(&self) -> Option<State> {
        Some(match self.phase {
            Phase::CookieWait { .. } => State::CookieWait,
            Phase::CookieEchoed { .. } => State::CookieEchoed,
            Phase::Established => State::Established,
            Phase::ShutdownPending => State::ShutdownPending,
            Phase::ShutdownSent { .. } => State::ShutdownSent,
            Phase::ShutdownReceived { .. } => State::ShutdownReceived,
            Phase::ShutdownAckSent { .. } => State::ShutdownAckSent,
            Phase::Closed { .. } => return None,
        })
    }

    /// Addresses, cwnd and RTT of the paths in use, in the form in which the option `resume` saves them.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (Pair, SavedPath)> {
        let paths = self.paths.ids().filter(|&p| !self.is_closed() && !self.paths[p].removed);
        paths.filter_map(|p| self.sender.carried(p, &self.paths))
    }

    pub(crate) fn path_infos(&self) -> impl Iterator<Item = PathInfo> {
        self.all_path_infos().filter(|info| !self.paths[info.id].removed)
    }

    pub(crate) fn all_path_infos(&self) -> impl Iterator<Item = PathInfo> {
        let paths = self.paths.ids().zip(self.paths.iter());
        paths.map(|(id, path)| {
            let (limits, blocks) = self.sender.limits_of(id);
            PathInfo {
                limits,
                blocks,
                id,
                remote: path.remote,
                local: path.local,
                udp_port: path.udp_port,
                state: path.state,
                silent: path.liveness.is_silent(),
                is_primary: id == self.paths.primary,
                cwnd: path.window.cwnd,
                ssthresh: path.window.ssthresh,
                partial_bytes_acked: self.sender.partial_bytes_acked(id),
                flight: path.flight,
                queued: path.queued,
                srtt: path.rto.srtt(),
                rto: path.rto.current(),
                errors: path.errors,
                mtu: path.mtu,
                cost: path.cost,
                stats: path.stats,
            }
        })
    }

    pub(crate) fn inspect(&self, p: usize, show: &mut dyn FnMut(&'static str, f64)) {
        self.sender.inspect(p, &self.paths, show);
    }

    pub(crate) fn stats(&self) -> AssocStats {
        AssocStats {
            packets_sent: self.packets_sent,
            packets_received: self.packets_received,
            received: self.receiver.as_ref().map(|receiver| *receiver.stats()).unwrap_or_default(),
            buffered: self.sender.buffered(),
            unsent_messages: self.sender.unsent_messages(),
            outstanding_chunks: self.sender.outstanding_chunks(),
            peer_rwnd: self.sender.peer_rwnd(),
            errors: self.errors,
            unauthenticated: self.unauthenticated,
            abandoned: self.sender.abandoned_in_all().total(),
            auth: self.extensions.has(Ext::Auth),
            interleaving: self.extensions.has(Ext::Interleaving),
            reset_requests: self.re_config.as_ref().map_or(0, |config| config.requests),
            resets: self.re_config.as_ref().map_or(0, |config| config.resets),
            limits: self.sender.limits(),
        }
    }

    pub(crate) fn abandoned(&self) -> BTreeMap<StreamId, AbandonedByPolicy> {
        self.sender.abandoned()
    }
}
