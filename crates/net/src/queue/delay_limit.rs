use super::{Discipline, Kind, Limit, Queue, Site};
use crate::fault::SpecFault;
use units::{ByteCount, Span};

/// A drop-tail queue with room for the bytes that the link sends in the given time. On a link with a steady
/// rate and no framing, packets of equal sizes wait at most this time. On a link without a rate the queue is
/// never full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayLimit(pub Span);

/// Every queue has room for a packet of this size.
const LEAST: ByteCount = ByteCount::new(1500);

impl DelayLimit {
    fn in_bytes(self, site: &Site<'_>) -> Limit {
        let Some(rate) = site.rate else { return Limit::NONE };
        let bytes = u128::from(rate.as_bps()) * u128::from(self.0.as_nanos()) / 8_000_000_000;
        Limit::Bytes(ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX)).max(LEAST))
    }
}

impl Discipline for DelayLimit {
    fn check(&self) -> Result<(), SpecFault> {
        SpecFault::first([(!self.0.is_zero(), "delay", "more than 0 s")])
    }

    fn build(&self, site: &Site<'_>) -> Queue {
        Queue(Kind::DropTail(self.in_bytes(site)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::Streams;
    use units::BitRate;

    #[test]
    fn a_time_is_what_the_link_sends_in_it_and_at_least_a_packet() {
        let streams = Streams::new(1, 0);
        let limit = |rate, delay| {
            let site = Site { rate, streams: &streams, name: "a-b" };
            DelayLimit(delay).in_bytes(&site)
        };
        let bytes = |n| Limit::Bytes(ByteCount::new(n));
        assert_eq!(limit(Some(BitRate::from_mbps(80)), Span::from_millis(50)), bytes(500_000));
        assert_eq!(limit(Some(BitRate::from_mbps(1)), Span::from_millis(1)), bytes(1500));
        assert_eq!(limit(None, Span::from_millis(1)), Limit::NONE);
        assert!(DelayLimit(Span::ZERO).check().is_err());
    }
}
