//! The size of a receive buffer with the option `auto`: it grows with the transfer.

use crate::Config;
use std::sync::Arc;
use transport::{BufferBudget, LeastRtt, ReceiveTuning};
use units::{Instant, Span};

/// The size of the receive buffer, and the round-trip time in which the bytes read are counted.
#[derive(Debug)]
pub(super) struct Tuning {
    size: ReceiveTuning,
    /// Round-trip time from the timestamps that segments with data echo. The least one counts, since the
    /// others include pauses of the sender.
    rtt: LeastRtt,
}

impl Tuning {
    /// The tuning of a receive buffer; `None` if its size is fixed.
    pub(super) fn new(config: &Config, budget: &Arc<BufferBudget>) -> Option<Box<Self>> {
        let size = ReceiveTuning::new(config.receive_buffer, budget)?;
        Some(Box::new(Tuning { size, rtt: LeastRtt::default() }))
    }

    /// Counts data that arrived. `rtt`: age of the timestamp that the segment of
    /// the data echoes. `span`: distance from the next byte to be read to the
    /// last one that arrived. The distance includes gaps, as the window does.
    pub(super) fn arrived(&mut self, now: Instant, rtt: Option<Span>, span: u64) {
        if let Some(rtt) = rtt {
            self.rtt.sample(now, rtt);
        }
        self.size.arrived(0, span);
    }

    /// Counts bytes that the user read.
    pub(super) fn read(&mut self, bytes: u64) {
        self.size.read(bytes);
    }

    /// Returns the new size if the buffer grows. Without timestamps `srtt` is the round-trip time.
    pub(super) fn grown(&mut self, now: Instant, srtt: Option<Span>) -> Option<u64> {
        let rtt = self.rtt.get().or(srtt);
        self.size.grown(now, |_| rtt)
    }
}
