use crate::State;
use units::Instant;

/// The states of a connection (`rfc9293#section-3.3.2`), each with the data that exists only in it.
#[derive(Debug)]
pub(super) enum Phase {
    SynSent {
        retry: Retry,
    },
    SynReceived {
        retry: Retry,
        /// The peer opened the connection.
        passive: bool,
    },
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait {
        until: Instant,
    },
    Closed {
        /// A reset is still to be sent.
        reset: bool,
    },
}

/// Time of the next retransmission of a SYN, and the number of earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    pub(super) deadline: Instant,
    pub(super) count: u32,
}

impl Phase {
    /// True if the user may send data.
    pub(super) fn may_send(&self) -> bool {
        use Phase::{CloseWait, Established, SynReceived, SynSent};
        matches!(self, SynSent { .. } | SynReceived { .. } | Established | CloseWait)
    }

    /// True if both SYNs are acknowledged, and the connection has not ended.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        use Phase::{Closed, SynReceived, SynSent, TimeWait};
        !matches!(self, SynSent { .. } | SynReceived { .. } | TimeWait { .. } | Closed { .. })
    }

    /// True if the handshake is complete and the peer has not closed its sending side.
    #[inline]
    pub(super) fn receives_data(&self) -> bool {
        matches!(self, Phase::Established | Phase::FinWait1 | Phase::FinWait2)
    }

    pub(super) fn state(&self) -> State {
        match self {
            Phase::SynSent { .. } => State::SynSent,
            Phase::SynReceived { .. } => State::SynReceived,
            Phase::Established => State::Established,
            Phase::FinWait1 => State::FinWait1,
            Phase::FinWait2 => State::FinWait2,
            Phase::CloseWait => State::CloseWait,
            Phase::Closing => State::Closing,
            Phase::LastAck => State::LastAck,
            Phase::TimeWait { .. } => State::TimeWait,
            Phase::Closed { .. } => State::Closed,
        }
    }
}
