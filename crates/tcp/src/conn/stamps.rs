use crate::segment::Timestamps;
use units::{Instant, Span};

/// The timestamps option (`rfc7323#section-3`), and PAWS.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Random offset of our clock, which hides the uptime of the host (`rfc7323#section-7.1`).
    offset: u32,
    /// Timestamp of the peer that our segments echo (TS.Recent), and when it arrived.
    recent: u32,
    taken: Instant,
    /// Acknowledgment number of the last segment sent (Last.ACK.sent).
    pub(super) last_ack: u64,
}

/// Age after which TS.Recent is invalid (`rfc7323#section-5.5`).
const OUTDATED: Span = Span::from_secs(24 * 24 * 3600);

impl Stamps {
    pub(super) fn new(offset: u32) -> Self {
        Stamps { offset, recent: 0, taken: Instant::ZERO, last_ack: 0 }
    }

    /// Our clock in milliseconds.
    #[inline]
    fn clock(&self, now: Instant) -> u32 {
        self.offset.wrapping_add(millis(now) as u32)
    }

    /// The option of a segment that is sent at `now`.
    #[inline]
    pub(super) fn option(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.clock(now), echo: self.recent }
    }

    /// The echoed time in milliseconds since [`Instant::ZERO`]; `None` if it is in the future
    /// or too long ago.
    #[inline]
    pub(super) fn echoed(&self, now: Instant, option: Timestamps) -> Option<u64> {
        let age = self.clock(now).wrapping_sub(option.echo);
        let age = (age < 1 << 31).then_some(u64::from(age))?;
        millis(now).checked_sub(age)
    }

    /// Time since the echoed timestamp was sent; `None` if the echoed time is in the future or too long ago.
    pub(super) fn age(&self, now: Instant, option: Timestamps) -> Option<Span> {
        let ms = self.echoed(now, option)?;
        Some(now.since(Instant::from_nanos(ms.saturating_mul(1_000_000))))
    }

    /// True if the segment is an old duplicate (`rfc7323#section-5.3`, R1).
    #[inline]
    pub(super) fn is_old(&self, now: Instant, option: Timestamps) -> bool {
        (option.value.wrapping_sub(self.recent) as i32) < 0 && now.since(self.taken) < OUTDATED
    }

    /// Updates TS.Recent from an acceptable segment that begins at `from` (`rfc7323#section-4.3`).
    #[inline]
    pub(super) fn take(&mut self, now: Instant, option: Timestamps, from: u64) {
        if from <= self.last_ack && !self.is_old(now, option) {
            self.begin(now, option);
        }
    }

    /// Sets TS.Recent from a SYN.
    pub(super) fn begin(&mut self, now: Instant, option: Timestamps) {
        self.recent = option.value;
        self.taken = now;
    }

    /// True if the SYN of a new connection has a later timestamp than the old one (`rfc6191#section-2`).
    pub(super) fn is_newer(&self, option: Timestamps) -> bool {
        (option.value.wrapping_sub(self.recent) as i32) > 0
    }
}

#[inline]
fn millis(now: Instant) -> u64 {
    now.as_nanos() / 1_000_000
}
