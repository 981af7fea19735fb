//! Changes of a link in the middle of a run.

use super::Network;
use crate::change::ChannelChange;
use crate::ids::LinkDir;
use units::{BitRate, Instant, Span};

impl Network {
    /// Changes one direction of a link from now on. Adds the change
    /// to the digest, the hash of all deliveries and changes.
    pub fn change(&mut self, now: Instant, direction: LinkDir, change: &ChannelChange) {
        let words = [
            now.as_nanos(),
            u64::from(direction.0),
            change.rate.map_or(0, BitRate::as_bps),
            change.delay.map_or(0, Span::as_nanos),
            change.loss.map_or(0, |loss| loss.get().to_bits()),
            change.reordering.map_or(0, |part| part.get().to_bits()),
            change.reordering_delay.map_or(0, Span::as_nanos),
        ];
        words.into_iter().for_each(|word| self.digest.word(word));
        self.channels[direction.index()].change(change);
    }
}
