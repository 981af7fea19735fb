//! Sends ASCONF chunks, of which one at a time is outstanding, with timer T4 (`rfc5061#section-5.1`).

use super::path_set::distinct;
use super::phase::Retry;
use super::{Association, Peer};
use crate::event::{CloseReason, Event};
use crate::ext::Ext;
use crate::ext::asconf::{AsconfState, Outstanding, Wanted, unspecified};
use crate::path::{Path, PathId, Paths};
use std::net::IpAddr;
use transport::{PacketBuf, Transmit};
use units::Instant;
use wire::asconf::{AddressChange, Requests};
use wire::{Asconf, AsconfAck, Cause, CauseList, Encode, PacketWriter};

/// Timer T4 of the outstanding ASCONF.
#[derive(Debug)]
pub(super) struct T4 {
    pub(super) retry: Retry,
    /// True if the ASCONF waits to be written into a packet.
    due: bool,
}

impl T4 {
    /// Sends the ASCONF again at once, since it was damaged in the network.
    pub(super) fn repeat(&mut self) {
        self.due = true;
    }
}

/// Most doublings of the timeout of an ASCONF from a source address that may not work.
const MOST_DOUBLINGS: u32 = 6;

impl Association {
    /// Resets the state of ASCONF, which exists only if both ends support it. The peer knows only the
    /// addresses in our INIT or INIT ACK, so the requests for later changes are queued again.
    pub(super) fn begin_asconf(&mut self, peer: &Peer) {
        (self.asconf, self.t4) = (None, None);
        let gained = std::mem::take(&mut self.gained_locals);
        if !peer.extensions.has(Ext::Asconf) {
            return;
        }
        let mut state = AsconfState::new(self.initial_tsn, peer.initial_tsn);
        let hidden = self.config().nat_friendly;
        let lost = |address: &IpAddr| self.lost_locals.contains(address);
        for &address in gained.iter().filter(|address| !lost(address)) {
            state.queue.push(Wanted { change: AddressChange::Add, address, hidden });
        }
        if !hidden {
            for &address in self.local.addresses.iter().filter(|address| lost(address)) {
                state.queue.push(Wanted { change: AddressChange::Delete, address, hidden });
            }
        }
        self.asconf = Some(Box::new(state));
    }

    /// Continues the work of AUTH and ASCONF after each change.
    #[cold]
    pub(super) fn advance_extensions(&mut self, now: Instant) {
        self.tell_unused_keys();
        if self.phase.is_closed() {
            return;
        }
        let sends = self.phase.sends_data() && self.paths.any_confirmed();
        let Some(asconf) = &mut self.asconf else { return };
        if let Some(address) = asconf.preferred
            && let Some(p) = self.paths.find(address)
            && !self.paths[p].is_unconfirmed()
        {
            asconf.preferred = None;
            self.make_primary(p);
        }
        let Some(asconf) = &mut self.asconf else { return };
        if sends && asconf.queue.launch() {
            let path = self.first_asconf_path();
            self.t4 = Some(T4 { retry: Retry::start(now, path, &self.paths), due: true });
        }
    }

    /// Time at which T4 expires.
    pub(super) fn t4_deadline(&self) -> Option<Instant> {
        self.t4.as_ref().filter(|_| self.phase.sends_data()).map(|t4| t4.retry.deadline)
    }

    /// Writes the ASCONF that is due, alone in its packet.
    #[cold]
    pub(super) fn write_asconf(&mut self, buf: &mut PacketBuf) -> Option<Transmit> {
        let t4 = self.t4.as_mut()?;
        if !std::mem::take(&mut t4.due) {
            return None;
        }
        let (path, retries) = (t4.retry.path, t4.retry.count);
        let hidden = self.config().nat_friendly;
        let outstanding = self.asconf.as_mut()?.queue.outstanding.as_mut()?;
        let (serial, requests, source) = (outstanding.serial, outstanding.bytes(), outstanding.source());
        let local = source.unwrap_or(self.paths[path].local);
        let lookup = *outstanding.lookup.get_or_insert(if hidden { unspecified(local) } else { local });
        let header = self.header(self.peer_tag);
        let mut w = PacketWriter::new(buf, header, self.paths[path].packet_limit());
        let (mut place, requests) = (None, Requests::from_bytes(&requests));
        self.push_authenticated(Asconf::TYPE, &mut w, &mut place, |_, w| {
            w.push(&Asconf { serial, lookup, requests })
        });
        self.finish(w, &place);
        self.count_packet(path, buf);
        let way = self.paths[path].transmit(buf.len());
        let strangers = source.map(|source| self.unreached(source)).unwrap_or_default();
        let way = match strangers.get(retries as usize % strangers.len().max(1)) {
            Some(&dst) => Transmit { udp_port: self.local.remote_udp_port, dst, ..way },
            None => way,
        };
        Some(Transmit { src: local, ..way })
    }

    /// Addresses of the peer in the family of `local`, if no path of that family exists.
    pub(super) fn unreached(&self, local: IpAddr) -> Vec<IpAddr> {
        let of_family = |address: &IpAddr| address.is_ipv4() == local.is_ipv4();
        if self.paths.iter().any(|path| !path.removed && of_family(&path.remote)) {
            return Vec::new();
        }
        let addresses = self.given.remotes().into_iter().chain(self.unused.iter().copied());
        distinct(addresses.filter(|address| of_family(address) && !self.has_departed(*address)))
    }

    /// On expiry of T4, repeats the ASCONF, on another path if possible (`rfc5061#section-5.1`, rule B).
    pub(super) fn on_t4(&mut self, now: Instant) {
        let limit = self.config().path_max_retrans;
        let Some(T4 { retry, due }) = &mut self.t4 else { return };
        let outstanding = self.asconf.as_mut().and_then(|asconf| asconf.queue.outstanding.as_mut());
        let Some(outstanding) = outstanding else { return self.t4 = None };
        *due = true;
        let failed = retry.path;
        if outstanding.source().is_none() {
            retry.expired(now, &mut self.paths, self.sender.config());
            return self.path_error(now, failed, true);
        }
        // The source address may not work at all, so the loss is not an error of the path or the peer.
        retry.count += 1;
        retry.path = next_towards(&self.paths, failed);
        let rto = self.paths[retry.path].rto.current();
        retry.deadline = now + rto * (1 << retry.count.min(MOST_DOUBLINGS));
        if retry.count > limit {
            self.withdraw(now);
        }
    }

    /// Gives up the requests of the outstanding ASCONF. An ASCONF without requests is sent with the same
    /// serial number, because the peer may have received that number already.
    fn withdraw(&mut self, now: Instant) {
        let outstanding = self.asconf.as_mut().and_then(|asconf| asconf.queue.outstanding.as_mut());
        let (Some(outstanding), true) = (outstanding, self.t4.is_some()) else { return };
        let wanted = std::mem::take(&mut outstanding.wanted);
        let retry = Retry::start(now, self.paths.default_path(), &self.paths);
        self.t4 = Some(T4 { retry, due: true });
        self.tell_changes(wanted.into_iter().map(|wanted| (wanted, false)));
    }

    /// Gives up the outstanding request to add `address` behind a NAT: no packet can leave from `address`.
    pub(super) fn withdraw_addition(&mut self, now: Instant, address: IpAddr) {
        let outstanding = self.asconf.as_ref().and_then(|asconf| asconf.queue.outstanding.as_ref());
        if outstanding.and_then(Outstanding::source) == Some(address) {
            self.withdraw(now);
        }
    }

    /// The path on which an ASCONF is first sent. If its source is the address to be added, the
    /// destination must be of the same address family.
    fn first_asconf_path(&self) -> PathId {
        let outstanding = self.asconf.as_ref().and_then(|asconf| asconf.queue.outstanding.as_ref());
        let source = outstanding.and_then(Outstanding::source);
        let path = self.paths.default_path();
        let fits = |p: PathId| source.is_none_or(|source| source.is_ipv4() == self.paths[p].remote.is_ipv4());
        let other = || self.paths.ids().find(|&p| fits(p) && !self.paths[p].removed);
        if fits(path) { path } else { other().unwrap_or(path) }
    }

    /// Moves T4 away from path `from`, which is removed.
    pub(super) fn redirect_t4(&mut self, from: PathId, to: PathId) {
        if let Some(T4 { retry, .. }) = self.t4.as_mut().filter(|t4| t4.retry.path == from) {
            retry.path = to;
        }
    }

    /// Processes an ASCONF-ACK (`rfc5061#section-5.1`, rule C).
    pub(super) fn on_asconf_ack(&mut self, now: Instant, ack: &AsconfAck<'_>) {
        let Some(asconf) = &mut self.asconf else { return };
        if asconf.queue.is_unsent(ack.serial) {
            let mut causes = CauseList::new();
            causes.push(&Cause::IllegalAsconfAck);
            return self.abort_with(&causes, CloseReason::ProtocolViolation { what: "illegal ASCONF-ACK" });
        }
        let Some(answered) = asconf.queue.answered(ack.serial) else { return };
        if let Some(T4 { retry, .. }) = self.t4.take()
            && answered.source().is_none()
        {
            self.errors = 0;
            self.paths[retry.path].errors = 0;
        }
        self.apply_outcomes(now, &answered, ack);
    }

    fn apply_outcomes(&mut self, now: Instant, answered: &Outstanding, ack: &AsconfAck<'_>) {
        let outcomes = answered.outcomes(ack.responses);
        for &(Wanted { change, address, .. }, done) in &outcomes {
            let deleted = |state: &AsconfState| state.queue.waits(AddressChange::Delete, address);
            match change {
                AddressChange::Add if done && !self.asconf.as_deref().is_some_and(deleted) => {
                    self.use_local(now, address);
                }
                AddressChange::Delete if done => self.forget_local(address),
                _ => {}
            }
        }
        let refused = self.asconf.as_mut().map(|asconf| asconf.queue.learn(answered, ack.responses));
        let refused = refused.unwrap_or_default().into_iter().map(|wanted| (wanted, false));
        self.tell_changes(outcomes.into_iter().chain(refused));
    }

    /// Stops the use of ASCONF, which the peer reported as unknown (`rfc5061#section-5.1`, rule A9).
    pub(super) fn give_up_asconf(&mut self) {
        self.extensions.set(Ext::Asconf, false);
        self.t4 = None;
        let Some(mut asconf) = self.asconf.take() else { return };
        self.tell_changes(asconf.queue.give_up().into_iter().map(|wanted| (wanted, false)));
    }

    fn tell_changes(&mut self, outcomes: impl Iterator<Item = (Wanted, bool)>) {
        for (Wanted { change, address, .. }, accepted) in outcomes {
            if !address.is_unspecified() {
                self.events.push(Event::AddressChange { change, address, accepted });
            }
        }
    }

    /// Adds a path or restarts a removed one, which a heartbeat has to confirm; none if there are too many.
    pub(super) fn add_path(&mut self, now: Instant, path: Path) -> Option<PathId> {
        let p = match self.paths.removed_place(&path) {
            // The removed path still has chunks in flight or to be retransmitted, so it is used again with
            // its state.
            Some(p) if !self.paths[p].queued.is_zero() => {
                let again = &mut self.paths[p];
                (again.removed, again.errors) = (false, 0);
                (again.local, again.udp_port) = (path.local, path.udp_port);
                (again.options, again.cost) = (path.options, path.cost);
                self.sender.resume(now, p, &mut self.paths);
                p
            }
            Some(p) => {
                let before = &self.paths[p];
                let initial_cwnd = before.initial_cwnd;
                let stats = if before.remote == path.remote { before.stats } else { path.stats };
                self.paths[p] = Path { initial_cwnd, stats, ..path };
                self.sender.path_replaced(now, p, &mut self.paths);
                p
            }
            None => {
                let p = self.paths.add(path)?;
                self.sender.path_added(now, p, &mut self.paths);
                p
            }
        };
        self.paths.note_costs();
        self.renamed = true;
        self.verify(now, p);
        Some(p)
    }
}

/// The next path after `failed`, in cyclic order, to another address of the peer in the same address family;
/// `failed` if there is none. The states of the paths are ignored, because the ASCONF has another source
/// address.
fn next_towards(paths: &Paths, failed: PathId) -> PathId {
    let before = paths[failed].remote;
    let other = |p: &PathId| {
        let path = &paths[*p];
        !path.removed && path.remote != before && path.remote.is_ipv4() == before.is_ipv4()
    };
    (1..paths.len()).map(|k| paths.cyclic(failed.index() + k)).find(other).unwrap_or(failed)
}

/// True if the peer reports ASCONF as an unknown chunk type.
pub(super) fn reports_asconf(cause: &Cause<'_>) -> bool {
    matches!(cause, Cause::UnrecognizedChunk(chunk) if chunk.head.first() == Some(&Asconf::TYPE))
}

/// Encodes an ASCONF that was not agreed on, to report it as an unknown chunk.
pub(super) fn bytes_of(chunk: &impl Encode) -> PacketBuf {
    let mut buf = PacketBuf::default();
    chunk.encode(&mut buf);
    buf
}
