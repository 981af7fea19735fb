use crate::bucket::TokenBucket;
use crate::delay::DelaySpec;
use crate::fault::SpecFault;
use crate::ids::NodeId;
use crate::impairments::Impairments;
use crate::queue::QueueSpec;
use crate::transmitter::TransmitterSpec;
use units::{BitRate, ByteCount, Span};

/// Role of a node in forwarding packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Sends and receives packets. It has an address on each of its links and never forwards.
    Host {
        /// Maximum processing time. Each arriving packet waits for a time drawn uniformly from zero to this
        /// maximum, but packets of one link stay in order. Without jitter, flows have the same phase pattern
        /// with every seed.
        jitter: Span,
    },
    /// Forwards packets without delay. It has no address.
    Router,
}

/// A link to build: two ends, the network to which it belongs, and a channel in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// The independent network this link belongs to; 0 belongs to all networks (paper 001, section 4.3).
    pub net_id: u8,
    /// Cost of the link in a route. With cost 1 everywhere, a route has the fewest links.
    pub cost: u32,
    /// The channel from `a` to `b`.
    pub forward: ChannelSpec,
    /// The channel from `b` to `a`.
    pub backward: ChannelSpec,
}

impl LinkSpec {
    /// A link of cost 1 with equal channels.
    pub fn symmetric(a: NodeId, b: NodeId, net_id: u8, channel: ChannelSpec) -> Self {
        LinkSpec { a, b, net_id, cost: 1, forward: channel.clone(), backward: channel }
    }
}

/// One direction of a link: a queue, a transmitter and a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSpec {
    /// The transmitter.
    pub transmitter: TransmitterSpec,
    /// Propagation delay.
    pub delay: DelaySpec,
    /// The policer before the queue, which drops packets that exceed its rate and burst.
    pub policer: Option<TokenBucket>,
    /// The queue before the transmitter.
    pub queue: QueueSpec,
    /// The shaper between the queue and the transmitter, which delays packets that exceed its rate and burst.
    pub shaper: Option<TokenBucket>,
    /// The largest IP packet that passes; larger ones are dropped.
    pub mtu: ByteCount,
    /// Bytes the link layer adds to each IP packet on the wire (PPP 7, Ethernet with preamble and gap 38).
    pub framing: ByteCount,
    /// Impairments of the wire.
    pub impairments: Impairments,
}

impl Default for ChannelSpec {
    /// No transmission time, no delay, a drop-tail queue of 100 packets, MTU 1500, no framing, a perfect
    /// wire.
    fn default() -> Self {
        ChannelSpec {
            transmitter: TransmitterSpec::Unlimited,
            delay: DelaySpec::ZERO,
            policer: None,
            queue: QueueSpec::default(),
            shaper: None,
            mtu: ByteCount::new(1500),
            framing: ByteCount::ZERO,
            impairments: Impairments::default(),
        }
    }
}

impl ChannelSpec {
    /// The long-term mean rate; `None` if transmissions take no time.
    pub fn mean_rate(&self) -> Option<BitRate> {
        let rates = [self.transmitter.mean_rate(), self.shaper.map(|shaper| shaper.rate)];
        rates.into_iter().flatten().min()
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// The scenario key of the part of the channel that is wrong, and the fault in that part.
    pub fn check(&self) -> Result<(), (&'static str, SpecFault)> {
        let of = |part| move |fault| (part, fault);
        let largest = self.mtu + self.framing;
        let bucket = |bucket: &Option<TokenBucket>| bucket.map_or(Ok(()), |bucket| bucket.check(largest));
        self.transmitter.check().map_err(of("rate"))?;
        self.delay.check().map_err(of("delay"))?;
        bucket(&self.policer).map_err(of("policer"))?;
        self.queue.check().map_err(of("queue"))?;
        bucket(&self.shaper).map_err(of("shaper"))?;
        self.impairments.loss_bursts.map_or(Ok(()), |bursts| bursts.check()).map_err(of("loss"))
    }
}
