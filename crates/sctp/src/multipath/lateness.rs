//! When something is late: a chunk, a copy, and an answer of a path.

use crate::chunks::{Mark, Outstanding, TxChunk};
use crate::path::{LEAST_PROBE_TIMEOUT, NIL, Path};
use units::{Instant, Span};

/// A silent path gets its next heartbeat after the time since the first one, divided by this. So a path that works again is found when its outage was a
/// quarter longer at most.
const PROBES: u64 = 4;

/// A path may have failed if so many packets are not acknowledged in the time that they take.
///
/// Without this limit, paths of 1 to 3 Mbit/s seem to fail while the receiver waits for four packets before it sends a SACK.
const SILENT_PACKETS: f64 = 16.0;

/// When a path on which data is in flight has not answered: after the probe timeout (`rfc8985#section-7.2`), or once the chunk that left first is
/// overdue, if nothing was acknowledged for the [`least_silence`] by then.
///
/// An overdue chunk does not count if one that left later has arrived: then loss detection finds it.
pub(crate) fn answer_due(now: Instant, path: &Path, out: &Outstanding, sack_delay: Span) -> Instant {
    let first = first_sent(path, out);
    let delay = delay_of_lone(path, first, sack_delay);
    let latest = now + probe_timeout(path, delay);
    let (Some(srtt), Some(first)) = (path.rto.srtt(), first) else { return latest };
    if first.is(Mark::Copied) || first.sent_at < path.liveness.proof() {
        return latest;
    }
    let due = first.sent_at + path.overdue() + delay;
    due.max(now + least_silence(path, srtt)).min(latest)
}

/// The chunk in flight on a path that left first.
///
/// It need not have the lowest TSN: what was lost on another path is retransmitted here behind chunks of higher TSNs.
fn first_sent<'a>(path: &Path, out: &'a Outstanding) -> Option<&'a TxChunk> {
    let heads = [path.fresh.head, path.resent.head].into_iter().filter(|&head| head != NIL);
    heads.map(|head| &out[head]).min_by_key(|chunk| chunk.sent_at)
}

/// How long the acknowledgement of a lone packet may be delayed, unless the packet asks for it at once (`rfc7053`).
fn delay_of_lone(path: &Path, first: Option<&TxChunk>, sack_delay: Span) -> Span {
    let asks = first.is_some_and(TxChunk::asks_for_sack);
    if path.flight <= path.mtu && !asks { sack_delay } else { Span::ZERO }
}

/// Time without an acknowledgement after which a path may have failed.
///
/// It is the least RTT, or longer where the path takes longer to get [`SILENT_PACKETS`] packets acknowledged, and at most SRTT. A queue makes
/// SRTT long, but acknowledgements still come all the time.
fn least_silence(path: &Path, srtt: Span) -> Span {
    let share = path.mtu.as_f64() * SILENT_PACKETS / path.flight.as_f64();
    let spacing = srtt.mul_f64(share.min(1.0));
    path.rto.base().unwrap_or(srtt).max(spacing).min(srtt).max(LEAST_PROBE_TIMEOUT)
}

/// When the heartbeat to a silent path is repeated that left for the first time at `first`: after a probe timeout or a quarter of the time since then,
/// whichever is longer.
pub(crate) fn repeat_due(now: Instant, path: &Path, first: Instant) -> Instant {
    now + probe_timeout(path, Span::ZERO).max(now.since(first) / PROBES)
}

/// 2 SRTT + 4 RTTVAR, and a `delay`; at least [`LEAST_PROBE_TIMEOUT`], at most the RTO.
fn probe_timeout(path: &Path, delay: Span) -> Span {
    let Some(srtt) = path.rto.srtt() else { return path.rto.current() };
    let expected = srtt * 2 + path.rto.variation() * 4 + delay;
    expected.max(LEAST_PROBE_TIMEOUT).min(path.rto.current())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Least RTT 40 ms, SRTT 240 ms: with 20 chunks in flight 192 ms are the time for 16 of them, with 200 that is less than the least RTT.
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
