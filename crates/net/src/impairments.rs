use crate::fault::SpecFault;
use des::Random;
use units::{Probability, Span};

/// Impairments of a wire, which follows the queue and the transmitter. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Each packet has an additional random delay, uniform from zero to this value. A packet that would
    /// overtake another packet arrives together with it.
    pub jitter: Span,
    /// Packets may overtake each other by their jitter.
    pub jitter_reorders: bool,
    /// Probability that a packet is lost.
    pub loss: Probability,
    /// Losses in bursts, in addition to `loss`.
    pub loss_bursts: Option<LossBursts>,
    /// Probability that a packet arrives twice.
    pub duplication: Probability,
    /// Probability that a packet is held back by `reordering_delay`, so that later packets overtake it.
    pub reordering: Probability,
    /// Time by which a packet is held back.
    pub reordering_delay: Span,
    /// Probability that a bit is inverted. A packet with an error in framing or IP header is lost; a packet
    /// with an error in the payload arrives as corrupted.
    pub bit_errors: Probability,
}

impl Impairments {
    pub(crate) fn is_perfect(&self) -> bool {
        let Impairments { jitter_reorders, reordering_delay, .. } = *self;
        *self == Impairments { jitter_reorders, reordering_delay, ..Impairments::default() }
    }
}

/// Losses in bursts (E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39,
/// 1960; E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", ibid. 42, 1963): the
/// wire is in a good or in a bad state, and after each packet it may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossBursts {
    /// Probability of a change from the good to the bad state after a packet (p).
    pub to_bad: Probability,
    /// Probability of a change from the bad to the good state after a packet (r). A bad state lasts 1/r
    /// packets on average.
    pub to_good: Probability,
    /// Probability that a packet is lost in the good state.
    pub good: Probability,
    /// Probability that a packet is lost in the bad state.
    pub bad: Probability,
}

impl LossBursts {
    /// Checks that the wire leaves each of the two states.
    ///
    /// # Errors
    /// [`SpecFault`] with the probability that is 0.
    pub fn check(&self) -> Result<(), SpecFault> {
        SpecFault::first([
            (!self.to_bad.is_zero(), "p", "a probability above 0"),
            (!self.to_good.is_zero(), "r", "a probability above 0"),
        ])
    }

    /// Fraction of packets in the bad state, p / (p + r). This is also the probability that the wire begins
    /// in the bad state.
    pub(crate) fn share_of_bad(&self) -> f64 {
        self.to_bad.get() / (self.to_bad.get() + self.to_good.get())
    }

    /// Fraction of packets that are lost, (r good + p bad) / (p + r).
    pub fn mean(&self) -> f64 {
        let bad = self.share_of_bad();
        (1.0 - bad) * self.good.get() + bad * self.bad.get()
    }

    pub(crate) fn loses(&self, is_bad: &mut bool, random: &mut Random) -> bool {
        let (loss, change) = if *is_bad { (self.bad, self.to_good) } else { (self.good, self.to_bad) };
        let lost = random.bernoulli(loss);
        *is_bad ^= random.bernoulli(change);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn both_states_must_end() {
        let good = LossBursts { to_bad: p(0.1), to_good: p(1.0), good: p(0.0), bad: p(1.0) };
        assert_eq!(good.check(), Ok(()));
        let field = |bursts: LossBursts| bursts.check().map_err(|fault| fault.field);
        assert_eq!(field(LossBursts { to_bad: p(0.0), ..good }), Err("p"));
        assert_eq!(field(LossBursts { to_good: p(0.0), ..good }), Err("r"));
    }
}
