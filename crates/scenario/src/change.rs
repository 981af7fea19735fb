use crate::Pace;
use cc::ModelState;
use net::ChannelChange;
use units::{Instant, Span};

/// A change of a link or of a flow during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunChange {
    /// Time of the change.
    pub trigger: Trigger,
    /// Time after which the value that held before any change holds again; `None`: never.
    pub lasts: Option<Span>,
    /// The new values, and the values before any change.
    pub effect: Effect,
}

/// The time of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// At a time.
    At(Instant),
    /// When a congestion control enters a state. If the time after the entry is zero, the change happens
    /// at the same instant, after the event that changed the state.
    Entry {
        /// Index in [`Scenario::flows`](super::Scenario::flows); the congestion control is the client's.
        flow: usize,
        /// Number of the path.
        path: u8,
        /// The state.
        state: ModelState,
        /// Number of the entry into the state at which the change happens, from 1.
        entry: u32,
        /// Time from the entry into the state to the change.
        after: Span,
    },
}

/// What a change changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// One direction of a link.
    Link {
        /// Index in [`Scenario::links`](super::Scenario::links).
        link: usize,
        /// True for the direction from the second node to the first.
        back: bool,
        /// The new values.
        new: ChannelChange,
        /// The values of the link before any change.
        first: ChannelChange,
    },
    /// The frames of a flow's client.
    Pace {
        /// Index in [`Scenario::flows`](super::Scenario::flows).
        flow: usize,
        /// The new pace.
        new: Pace,
        /// The pace before any change.
        first: Pace,
    },
}
