//! Times after which a chunk, a copy, or the answer of a path is late.

use crate::chunks::{Mark, Outstanding, TxChunk};
use crate::path::{LEAST_PROBE_TIMEOUT, NIL, Path};
use units::{Instant, Span};

/// The wait for the next heartbeat to a silent path is the time since the first heartbeat, divided by this
/// number. So the sender detects the end of an outage at most a quarter of the length of the outage later.
const PROBES: u64 = 4;

/// A path may have failed if nothing is acknowledged in the time in which it delivers this number of packets.
const SILENT_PACKETS: f64 = 16.0;

/// Time by which a path with data in flight must answer: after a probe timeout (`rfc8985#section-7.2`), or
/// earlier, as soon as the chunk sent first is overdue and nothing was acknowledged for [`least_silence`].
pub(crate) fn answer_due(now: Instant, path: &Path, out: &Outstanding, sack_delay: Span) -> Instant {
    let first = first_sent(path, out);
    let delay = delay_of_lone(path, first, sack_delay);
    let latest = now + probe_timeout(path, delay);
    let (Some(srtt), Some(first)) = (path.rto.srtt(), first) else { return latest };
    if first.is(Mark::Copied) {
        return latest;
    }
    let due = first.sent_at + path.overdue() + delay;
    due.max(now + least_silence(path, srtt)).min(latest)
}

/// Returns the chunk in flight on a path that was sent first.
///
/// It need not have the lowest TSN: a chunk lost on another path is retransmitted here after higher TSNs.
fn first_sent<'a>(path: &Path, out: &'a Outstanding) -> Option<&'a TxChunk> {
    let heads = [path.fresh.head, path.resent.head].into_iter().filter(|&head| head != NIL);
    heads.map(|head| &out[head]).min_by_key(|chunk| chunk.sent_at)
}

/// Time by which the peer may delay the SACK of a single packet in flight. Zero if more packets are in
/// flight, or if the packet has the I bit (`rfc7053`).
fn delay_of_lone(path: &Path, first: Option<&TxChunk>, sack_delay: Span) -> Span {
    let asks = first.is_some_and(TxChunk::asks_for_sack);
    if path.flight <= path.mtu && !asks { sack_delay } else { Span::ZERO }
}

/// Time without an acknowledgement after which a path may have failed.
///
/// The least RTT, or the time in which the path delivers [`SILENT_PACKETS`] packets if that is longer, but
/// at most SRTT. SRTT alone would be too long: a queue adds to it, but not to the time between SACKs.
fn least_silence(path: &Path, srtt: Span) -> Span {
    let share = path.mtu.as_f64() * SILENT_PACKETS / path.flight.as_f64();
    let spacing = srtt.mul_f64(share.min(1.0));
    path.rto.base().unwrap_or(srtt).max(spacing).min(srtt).max(LEAST_PROBE_TIMEOUT)
}

/// Time of the next heartbeat to a silent path whose first heartbeat left at `first`: after a probe
/// timeout, or after a quarter of the time since `first`, if that is longer.
pub(crate) fn repeat_due(now: Instant, path: &Path, first: Instant) -> Instant {
    now + probe_timeout(path, Span::ZERO).max(now.since(first) / PROBES)
}

/// Returns 2 SRTT + 4 RTTVAR + `delay`; at least [`LEAST_PROBE_TIMEOUT`], at most the RTO.
fn probe_timeout(path: &Path, delay: Span) -> Span {
    let Some(srtt) = path.rto.srtt() else { return path.rto.current() };
    let expected = srtt * 2 + path.rto.variation() * 4 + delay;
    expected.max(LEAST_PROBE_TIMEOUT).min(path.rto.current())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Least RTT 40 ms, SRTT 240 ms: 16 packets take 192 ms if 20 are in flight, and 19 ms if 200 are.
    #[test]
    fn a_queue_does_not_delay_silence() {
        let address = [192, 0, 2, 1].into();
        for (chunks, expected) in [(20, 192), (200, 40), (2, 240)] {
            let mut path = Path::new(address, address, &Config::default());
            path.rto.sample(Instant::ZERO, Span::from_millis(40), &Config::default());
            path.flight = path.mtu * chunks;
            let silence = least_silence(&path, Span::from_millis(240));
            assert_eq!(silence, Span::from_millis(expected), "{chunks} chunks");
        }
    }
}
