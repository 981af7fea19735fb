//! New parameters of a link in the middle of a run.

use units::{BitRate, Probability, Span};

/// New parameters of one direction of a link; `None`: as before.
///
/// Only links that were passed to [`NetworkBuilder::let_change`](crate::NetworkBuilder::let_change) can
/// change. A packet whose transmission has begun keeps the old rate, delay and losses. A shorter delay does
/// not let packets overtake others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelChange {
    /// Rate of the transmitter.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Option<Span>,
    /// Probability that a packet is lost, besides the losses in bursts.
    pub loss: Option<Probability>,
    /// Probability that a packet is held back.
    pub reordering: Option<Probability>,
    /// Time by which a packet is held back.
    pub reordering_delay: Option<Span>,
}
