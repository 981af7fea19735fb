use crate::config::Config;
use crate::path::{PathId, Paths};
use units::{Instant, Span};

/// The states of an association (`rfc9260#section-4`), each with its data, mainly timers.
#[derive(Debug)]
#[repr(u8)] // the discriminant comes first, in the first cache line of the association
pub(crate) enum Phase {
    CookieWait {
        t1: Retry,
        begun: Begun,
        /// The requested extension of the cookie's lifetime (`rfc9260#section-5.2.6`).
        preservative: Option<Span>,
    },
    CookieEchoed {
        t1: Retry,
        begun: Begun,
        cookie: Vec<u8>,
    },
    Established,
    ShutdownPending,
    ShutdownSent {
        t2: Retry,
        /// Time at which T5-shutdown-guard expires and the association is aborted (`rfc9260#section-9.2`).
        t5: Instant,
    },
    ShutdownReceived {
        /// The path of the last SHUTDOWN, on which SHUTDOWN ACK is sent.
        from: PathId,
    },
    ShutdownAckSent {
        t2: Retry,
    },
    Closed {
        /// The last packet, until it is sent.
        farewell: Option<Farewell>,
    },
}

/// A handshake that we started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    /// Time of the first transmission of the chunk that waits for an answer.
    pub(crate) at: Instant,
    /// Number of Stale Cookie errors received.
    pub(crate) stale: u32,
    /// The user has requested a shutdown.
    pub(crate) shutdown: bool,
}

#[derive(Debug)]
pub(crate) enum Farewell {
    /// ABORT with these causes.
    Abort(PathId, Vec<u8>),
    ShutdownComplete(PathId),
}

/// A retransmission timer of a control chunk: T1-init, T1-cookie, T2-shutdown, T4-rto or T-reconf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    /// The path on which the chunk was last sent.
    pub(crate) path: PathId,
    pub(crate) deadline: Instant,
    /// Retransmissions so far.
    pub(crate) count: u32,
}

impl Retry {
    pub(crate) fn start(now: Instant, path: PathId, paths: &Paths) -> Self {
        Retry { path, deadline: now + paths[path].rto.current(), count: 0 }
    }

    /// Backs off the RTO of the path of the chunk, and selects another path if possible
    /// (`rfc9260#section-6.3.3`).
    pub(crate) fn expired(&mut self, now: Instant, paths: &mut Paths, config: &Config) {
        paths[self.path].rto.back_off(config);
        self.path = paths.next_in_turn(self.path);
        self.deadline = now + paths[self.path].rto.current();
        self.count += 1;
    }

    /// Begins the timeout of an INIT that is sent early on another path.
    pub(crate) fn redirect_init(&mut self, now: Instant, path: PathId, paths: &Paths, config: &Config) {
        let timeout = paths[path].rto.current().min(config.init_rto_max.unwrap_or(Span::MAX));
        *self = Retry { path, deadline: now + timeout, count: self.count + 1 };
    }

    /// Like [`Self::expired`], for INIT and COOKIE ECHO, whose timeout has its own upper bound.
    pub(crate) fn handshake_expired(&mut self, now: Instant, paths: &mut Paths, config: &Config) {
        self.expired(now, paths, config);
        self.deadline = self.deadline.min(now + config.init_rto_max.unwrap_or(Span::MAX));
    }
}

impl Phase {
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Phase::CookieWait { t1, .. } | Phase::CookieEchoed { t1, .. } => Some(t1.deadline),
            Phase::ShutdownSent { t2, t5 } => Some(t2.deadline.min(*t5)),
            Phase::ShutdownAckSent { t2 } => Some(t2.deadline),
            _ => None,
        }
    }

    /// True after the handshake until the association ends, while the timers of the paths run.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self, Phase::CookieWait { .. } | Phase::CookieEchoed { .. } | Phase::Closed { .. })
    }

    /// True if the peer may send data (`rfc9260#section-6`).
    #[inline]
    pub(crate) fn receives_data(&self) -> bool {
        matches!(self, Phase::Established | Phase::ShutdownPending | Phase::ShutdownSent { .. })
    }

    /// True if we may send or retransmit data.
    #[inline]
    pub(crate) fn sends_data(&self) -> bool {
        matches!(self, Phase::Established | Phase::ShutdownPending | Phase::ShutdownReceived { .. })
    }

    /// True if heartbeats are answered: from the time at which the peer's tag is known until this end sends
    /// SHUTDOWN or SHUTDOWN ACK (`rfc9260#section-8.3`).
    pub(crate) fn answers_heartbeats(&self) -> bool {
        matches!(self, Phase::CookieEchoed { .. }) || self.sends_heartbeats()
    }

    /// True if heartbeats are sent: from the end of the handshake until this end sends SHUTDOWN or SHUTDOWN
    /// ACK (`rfc9260#section-8.3`).
    #[inline]
    pub(crate) fn sends_heartbeats(&self) -> bool {
        self.sends_data()
    }

    /// Moves the timer and the chunks of this phase from path `from`, which is removed, to path `to`.
    pub(crate) fn redirect(&mut self, from: PathId, to: PathId) {
        let path = match self {
            Phase::CookieWait { t1: retry, .. }
            | Phase::CookieEchoed { t1: retry, .. }
            | Phase::ShutdownSent { t2: retry, .. }
            | Phase::ShutdownAckSent { t2: retry } => &mut retry.path,
            Phase::ShutdownReceived { from: path } => path,
            Phase::Closed { farewell: Some(Farewell::Abort(path, _) | Farewell::ShutdownComplete(path)) } => {
                path
            }
            Phase::Established | Phase::ShutdownPending | Phase::Closed { farewell: None } => return,
        };
        if *path == from {
            *path = to;
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Phase::Closed { .. })
    }
}
