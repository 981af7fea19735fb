use super::Backlog;
use crate::counters::DropCause;
use crate::parcel::Parcel;
use std::fmt::Debug;
use units::{ByteCount, Instant};

/// A discipline of a first-in-first-out queue that decides on each packet at its arrival.
pub trait Admission: Debug + Send {
    /// Decides on a packet that arrives at `now` and finds `backlog` waiting.
    fn admit(&mut self, now: Instant, backlog: Backlog, packet: Offered) -> Verdict;

    /// Reports that the queue will be empty from `at` on, unless another packet arrives. Called after each
    /// admitted packet with the start of its transmission, and when a failure of the link empties the queue.
    fn empties_at(&mut self, _at: Instant) {}

    /// The average queue length in the unit of the discipline; `None` if the discipline has no average.
    fn average(&self) -> Option<f64> {
        None
    }
}

/// The data of a packet on which an [`Admission`] decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Bytes of the IP packet, without framing.
    pub size: ByteCount,
    /// The transport uses ECN: the packet can be marked instead of dropped.
    pub ecn_capable: bool,
}

/// Decision of an [`Admission`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Pass,
    /// The packet joins the queue with the mark "congestion experienced"
    /// ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168#section-5)). A packet that is not ECN-capable joins
    /// the queue without a mark; a discipline that wants to drop such a packet must return [`Verdict::Drop`].
    Mark,
    /// The packet is dropped.
    Drop(DropCause),
}

impl Parcel {
    /// The data of the packet on which an [`Admission`] decides.
    #[inline]
    pub(crate) fn offered(self) -> Offered {
        Offered { size: ByteCount::new(u64::from(self.size())), ecn_capable: self.is_ecn_capable() }
    }
}
