//! Path MTU discovery (`rfc8899`) for the paths of an association: sends probes and applies their results.
//!
//! A probe is a HEARTBEAT and a PAD chunk, alone in a packet (`rfc8899#section-6.2`). The loss of a
//! probe is neither a sign of congestion nor an error of the path, and the limit on heartbeats does
//! not apply to probes.

use super::Association;
use super::heartbeat_info::{HeartbeatInfo, Kind};
use crate::config::MTU;
use crate::error::PathError;
use crate::event::Event;
use crate::path::{Path, PathId, PathState, Pmtud};
use std::net::IpAddr;
use transport::{PacketBuf, Transmit};
use units::{ByteCount, Instant};
use wire::{Heartbeat, PacketWriter, Pad};

impl Association {
    /// The next deadline of path MTU discovery.
    #[inline]
    pub(super) fn mtu_deadline(&self) -> Option<Instant> {
        if self.config().pmtud { self.next_mtu_deadline() } else { None }
    }

    #[inline(never)]
    fn next_mtu_deadline(&self) -> Option<Instant> {
        if !self.phase.sends_heartbeats() {
            return None;
        }
        let deadline = |path: &Path| Self::probed(path)?.deadline();
        self.paths.iter().filter_map(deadline).min()
    }

    /// The path MTU discovery of a path, if the path may send probes: it is active or potentially failed.
    fn probed(path: &Path) -> Option<&Pmtud> {
        let works = matches!(path.state, PathState::Active | PathState::PotentiallyFailed);
        path.pmtud.as_deref().filter(|_| works)
    }

    /// Runs the timers of path MTU discovery on all paths that may send probes.
    pub(super) fn mtu_timers(&mut self, now: Instant) {
        if !self.config().pmtud || !self.phase.sends_heartbeats() {
            return;
        }
        for path in self.paths.iter_mut() {
            if Self::probed(path).is_some() {
                path.pmtud.iter_mut().for_each(|pmtud| pmtud.on_timer(now));
            }
        }
    }

    /// Writes the next probe that is due, if there is one.
    #[inline]
    pub(super) fn write_probe(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        if self.config().pmtud && self.phase.sends_heartbeats() {
            self.write_due_probe(now, buf)
        } else {
            None
        }
    }

    #[inline(never)]
    fn write_due_probe(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        let probe = |path: &Path| Self::probed(path)?.probe(now);
        let (p, size) = self.paths.ids().find_map(|p| Some((p, probe(&self.paths[p])?)))?;
        let nonce = self.random.number();
        let info = HeartbeatInfo { path: p, kind: Kind::Mtu, repeats: 0, nonce }.to_bytes();
        let mut w = PacketWriter::new(buf, self.header(self.peer_tag), size);
        let mut place = None;
        self.push_authenticated(Heartbeat::TYPE, &mut w, &mut place, |_, w| {
            w.push(&Heartbeat { info: &info })
        });
        self.push_authenticated(Pad::TYPE, &mut w, &mut place, |_, w| w.push(&Pad::of_len(w.room())));
        self.finish(w, &place);
        self.count_packet(p, buf);
        let path = &mut self.paths[p];
        let (round_trip, rto) = (path.overdue(), path.rto.current());
        if let Some(pmtud) = &mut path.pmtud {
            pmtud.sent(now, nonce, round_trip, rto);
        }
        Some(Transmit { may_fragment: false, ..path.transmit(size) })
    }

    /// Processes the answer to a probe. T3-rtx expires at once if it waits for packets that were too long.
    pub(super) fn on_probe_ack(&mut self, now: Instant, p: PathId, nonce: u64) {
        let before = self.paths[p].mtu;
        self.update_mtu(p, |pmtud| pmtud.acked(now, nonce));
        let path = &mut self.paths[p];
        if path.mtu < before && path.timed_out {
            path.t3 = path.t3.map(|_| now);
        }
    }

    /// Notes that packets of path `p` may be lost because of their length: T3-rtx expired, or the
    /// path is silent. Silence counts, too, because T3-rtx may never expire if other paths carry
    /// copies of the lost chunks (reinjection).
    pub(super) fn suspect_mtu(&mut self, now: Instant, p: PathId) {
        let path = &mut self.paths[p];
        if let Some(pmtud) = &mut path.pmtud {
            pmtud.data_unanswered(now, path.loss_rate);
        }
    }

    /// Sets the path MTU towards an address of the peer, IP header included, and sends no more probes to it.
    /// Fails if the address has no path, or the value is invalid.
    pub(crate) fn set_path_mtu(
        &mut self,
        now: Instant,
        address: IpAddr,
        mtu: ByteCount,
    ) -> Result<(), PathError> {
        if self.paths.find(address).is_none() {
            return Err(PathError::NoSuchPath { address });
        }
        if !MTU.contains(&mtu.get()) {
            return Err(PathError::InvalidMtu { mtu: mtu.get() });
        }
        for path in self.paths.iter_mut().filter(|path| path.remote == address) {
            (path.mtu, path.pmtud) = (mtu, None);
        }
        self.sender.fit_fragments(&self.paths);
        self.settle(now);
        Ok(())
    }

    /// Applies `change` to the path MTU discovery of path `p`, if it is on, and adopts the resulting MTU.
    pub(super) fn update_mtu(&mut self, p: PathId, change: impl FnOnce(&mut Pmtud) -> bool) {
        let path = &mut self.paths[p];
        let Some(pmtud) = &mut path.pmtud else { return };
        if change(pmtud) {
            path.mtu = ByteCount::from(pmtud.mtu());
            let (address, mtu) = (path.remote, path.mtu);
            self.sender.fit_fragments(&self.paths);
            self.events.mtu_changed(Event::MtuChanged { path: p, address, mtu });
        }
    }
}
