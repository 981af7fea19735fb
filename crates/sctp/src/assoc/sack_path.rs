//! Selection of the path of a SACK (paper 001, section 4.1; `rfc9260#section-6.4`).

use super::Association;
use super::auth::AuthPlace;
use super::heartbeat_info::{HeartbeatInfo, Kind};
use crate::config::SackPath;
use crate::path::PathId;
use crate::rx::Receiver;
use units::{Instant, Span};
use wire::{Heartbeat, PacketWriter};

/// Maximum number of SACKs that a faster path carries for data of another path in the mean round-trip time of
/// the two paths. More SACKs hardly help.
const IN_A_ROUND_TRIP: u64 = 16;

/// A path for the next SACK that is faster than the path on which the data arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detour {
    path: PathId,
    /// Largest round-trip time of a probe (a HEARTBEAT bundled with a SACK) that shows no queue on the path.
    limit: Span,
}

impl Association {
    /// The path for the next SACK: the path selected by the option `sack_path` if it is active, or
    /// else the path on which the data arrived.
    #[inline]
    pub(super) fn sack_path(&self, receiver: &Receiver) -> PathId {
        let source = receiver.sack_path();
        // The path on which the data arrived may have been removed.
        let source = if self.paths[source].is_unconfirmed() { self.paths.default_path() } else { source };
        match self.config().sack_path {
            SackPath::Standard => source,
            choice => self.chosen_sack_path(choice).unwrap_or(source),
        }
    }

    fn chosen_sack_path(&self, choice: SackPath) -> Option<PathId> {
        let paths = &self.paths;
        let active = paths.ids().filter(|&p| paths[p].is_active() && !paths.is_spared(p));
        match choice {
            SackPath::Standard => None,
            SackPath::Primary => active.into_iter().find(|&p| p == paths.primary),
            SackPath::RoundRobin => active.min_by_key(|&p| paths[p].last_sack),
            SackPath::SmallestSrtt => active.min_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::MAX)),
            SackPath::Fastest => self.detour.map(|detour| detour.path).filter(|&p| paths[p].is_active()),
        }
    }

    /// Selects a faster path with room for the SACK that is due, if there is one.
    #[inline]
    pub(super) fn find_detour(&mut self, now: Instant) {
        if self.config().sack_path == SackPath::Fastest && self.paths.len() > 1 {
            self.detour = self.faster_path(now);
        }
    }

    /// The fastest path with room for SACKs, if it is faster than the path on which the data arrived.
    ///
    /// It carries SACKs only with the option `lean_sacks`, since long SACKs would fill a narrow link.
    /// Some SACKs in each round trip stay on the path on which the data arrived, so that the sender
    /// continues if the faster path fails.
    #[cold]
    fn faster_path(&mut self, now: Instant) -> Option<Detour> {
        let receiver = self.receiver.as_ref().filter(|receiver| receiver.is_lean() && receiver.sack_due())?;
        let source = receiver.sack_path();
        let Some(other) = self.return_time(source) else {
            if !self.paths[source].heartbeat.is_awaited() {
                self.ask(now, source);
            }
            return None;
        };
        let last = self.paths[source].returns.as_ref()?.last;
        if now.since(last) > other / 8 {
            return None;
        }
        let mut best: Option<(Span, PathId)> = None;
        for p in self.paths.ids() {
            let Some(rtt) = self.return_time(p) else { continue };
            if rtt < other
                && self.paths[p].is_active()
                && !self.paths.is_spared(p)
                && best.is_none_or(|(least, _)| rtt < least)
                && self.paths[p]
                    .returns
                    .as_mut()
                    .is_some_and(|way| way.takes(now, (rtt + other) / (2 * IN_A_ROUND_TRIP)))
            {
                best = Some((rtt, p));
            }
        }
        let (rtt, path) = best?;
        let limit = rtt + other.saturating_sub(rtt) / 2;
        Some(Detour { path, limit })
    }

    /// The least round-trip time that this end has measured on a path, or else SRTT.
    fn return_time(&self, p: PathId) -> Option<Span> {
        let path = &self.paths[p];
        path.returns.as_ref()?.least().or(path.rto.srtt())
    }

    /// Adds a probe (a HEARTBEAT) to a packet with a SACK that is sent on a faster path, if a probe is due.
    #[cold]
    pub(super) fn push_probe(
        &mut self,
        now: Instant,
        path: PathId,
        w: &mut PacketWriter<'_>,
        place: &mut AuthPlace,
    ) {
        let Some(Detour { limit, .. }) = self.detour.filter(|detour| detour.path == path) else { return };
        if !self.paths[path].returns.as_ref().is_some_and(|way| way.wants_probe(now)) {
            return;
        }
        let nonce = self.random.number();
        let info = HeartbeatInfo { path, kind: Kind::Return, repeats: 0, nonce }.to_bytes();
        let probe = Heartbeat { info: &info };
        if self.push_authenticated(Heartbeat::TYPE, w, place, |_, w| w.push(&probe))
            && let Some(way) = &mut self.paths[path].returns
        {
            way.probed(now, nonce, limit);
        }
    }

    /// Notes a SACK sent on `path`. `bytes` is the length of its packet so far, without a probe.
    #[cold]
    pub(super) fn note_sack_sent(&mut self, now: Instant, path: PathId, bytes: usize) {
        let detour = self.detour.take_if(|detour| detour.path == path);
        if let Some(way) = &mut self.paths[path].returns {
            way.last = now;
            if detour.is_some() {
                way.carried(now, bytes);
            }
        }
    }
}
