use crate::change::ChannelChange;
use crate::impairments::Impairments;
use des::Random;
use units::{Instant, Span};

/// A wire with impairments.
#[derive(Debug)]
pub(crate) struct Wire {
    impairments: Impairments,
    random: Random,
    /// Number of bits before the next bit error.
    good_bits: u64,
    /// The model of loss bursts is in the bad state, in which losses are frequent.
    is_bad: bool,
    /// Arrival time of the latest packet, apart from packets that may arrive out of order.
    pub last_arrival: Instant,
}

/// Place of a bit error in a packet.
pub(crate) enum BitError {
    /// In the framing or the IP header.
    Header,
    /// In the IP payload: number of the bit, from 0.
    Payload(u64),
}

impl Wire {
    pub fn new(impairments: Impairments, mut random: Random) -> Self {
        let good_bits = random.geometric(impairments.bit_errors);
        let is_bad = impairments.loss_bursts.is_some_and(|bursts| random.uniform() < bursts.share_of_bad());
        Wire { impairments, random, good_bits, is_bad, last_arrival: Instant::ZERO }
    }

    pub fn change(&mut self, change: &ChannelChange) {
        let own = &mut self.impairments;
        own.loss = change.loss.unwrap_or(own.loss);
        own.reordering = change.reordering.unwrap_or(own.reordering);
        own.reordering_delay = change.reordering_delay.unwrap_or(own.reordering_delay);
    }

    pub fn loses(&mut self) -> bool {
        let alone = self.random.bernoulli(self.impairments.loss);
        let in_burst = match self.impairments.loss_bursts {
            Some(bursts) => bursts.loses(&mut self.is_bad, &mut self.random),
            None => false,
        };
        alone | in_burst
    }

    pub fn duplicates(&mut self) -> bool {
        self.random.bernoulli(self.impairments.duplication)
    }

    /// Arrival of a packet that would arrive at `at` without jitter and reordering, and whether the packet
    /// may overtake others or be overtaken.
    pub fn delay(&mut self, at: Instant) -> (Instant, bool) {
        let Impairments { jitter, jitter_reorders, reordering, reordering_delay, .. } = self.impairments;
        let is_held_back = self.random.bernoulli(reordering);
        let mut arrival = at;
        if is_held_back {
            arrival += reordering_delay;
        }
        if !jitter.is_zero() {
            arrival += self.random.uniform_span(Span::ZERO, jitter);
        }
        if is_held_back || (jitter_reorders && !jitter.is_zero()) {
            return (arrival, true);
        }
        self.last_arrival = self.last_arrival.max(arrival);
        (self.last_arrival, false)
    }

    /// The bit errors of one packet with `header` bytes before `payload` bytes.
    pub fn bit_errors(&mut self, header: u64, payload: u64) -> Vec<BitError> {
        let mut errors = Vec::new();
        if self.impairments.bit_errors.is_zero() {
            return errors;
        }
        let (header, bits) = (header * 8, (header + payload) * 8);
        let mut position = 0;
        while self.good_bits < bits - position {
            position += self.good_bits;
            errors.push(match position.checked_sub(header) {
                Some(bit) => BitError::Payload(bit),
                None => BitError::Header,
            });
            position += 1;
            self.good_bits = self.random.geometric(self.impairments.bit_errors);
        }
        self.good_bits -= bits - position;
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::LossBursts;
    use des::Streams;
    use units::Probability;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    fn wire(impairments: Impairments) -> Wire {
        Wire::new(impairments, Streams::new(1, 0).stream("wire a-b"))
    }

    #[test]
    fn losses_in_bursts_have_their_mean_and_their_length() {
        let bursts = LossBursts { to_bad: p(0.01), to_good: p(0.25), good: p(0.002), bad: p(0.8) };
        // By hand: (r good + p bad) / (p + r) = (0.25 * 0.002 + 0.01 * 0.8) / 0.26.
        assert!((bursts.mean() - 0.0326923).abs() < 1e-6);
        let mut wire = wire(Impairments { loss_bursts: Some(bursts), ..Impairments::default() });
        let number = 1_000_000;
        let lost: Vec<bool> = (0..number).map(|_| wire.loses()).collect();
        let share = |lost: usize, of: usize| lost as f64 / of as f64;
        let mean = share(lost.iter().filter(|lost| **lost).count(), number);
        assert!((mean / bursts.mean() - 1.0).abs() < 0.03, "{mean}");
        // Nearly all losses occur in the bad state. The bad state continues with
        // probability 0.75, and then the next packet is lost with probability 0.8.
        let after_loss: Vec<bool> = lost.windows(2).filter(|two| two[0]).map(|two| two[1]).collect();
        let again = share(after_loss.iter().filter(|lost| **lost).count(), after_loss.len());
        assert!((again - 0.566).abs() < 0.02, "{again}");
    }

    #[test]
    fn single_losses_and_bursts_add_up() {
        let bursts = LossBursts { to_bad: p(0.5), to_good: p(0.5), good: p(0.0), bad: p(0.2) };
        let mut wire =
            wire(Impairments { loss: p(0.1), loss_bursts: Some(bursts), ..Impairments::default() });
        let lost = (0..100_000).filter(|_| wire.loses()).count();
        // The mean loss is 1 - 0.9 * 0.9 = 0.19.
        assert!((18_500..19_500).contains(&lost), "{lost}");
    }

    #[test]
    fn jitter_keeps_order_and_a_packet_that_is_held_back_does_not() {
        let impairments =
            Impairments { jitter: Span::from_millis(5), reordering: p(0.1), ..Impairments::default() };
        let mut wire = wire(impairments);
        let (mut last, mut alone) = (Instant::ZERO, 0);
        for at in (0..10_000).map(|n| Instant::from_nanos(n * 100_000)) {
            let (arrival, left) = wire.delay(at);
            assert!(arrival >= at && arrival <= at + Span::from_millis(5));
            if left {
                alone += 1;
            } else {
                assert!(arrival >= last);
                last = arrival;
            }
        }
        assert!((900..1100).contains(&alone), "{alone}");
    }
}
