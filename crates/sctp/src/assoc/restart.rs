//! Effects of a cookie on an existing association (`rfc9260#section-5.2.4`).

use super::collision::{Action, Tags, action};
use super::control::Pending;
use super::phase::Phase;
use super::{Association, Cookie, TieTags};
use crate::path::PathState;
use crate::tx::Sender;
use std::net::IpAddr;
use transport::Datagram;
use units::Instant;
use wire::Cause;

impl Association {
    /// Sets up the association from a cookie, as a new one, and answers the cookie.
    pub(super) fn begin_anew(&mut self, now: Instant, cookie: &Cookie, datagram: &Datagram<'_>) {
        self.local_tag = cookie.local_tag;
        self.initial_tsn = cookie.local_tsn;
        self.ties = TieTags { local: self.random.tag(), peer: self.random.tag() };
        let sender = Sender::new(self.sender.shared_config(), self.random.number(), cookie.local_tsn);
        let old = std::mem::replace(&mut self.sender, sender);
        self.sender.track_after(old);
        self.sender.log_losses(self.is_observed());
        self.receiver = None;
        self.errors = 0;
        self.control.clear();
        self.adopt(now, &cookie.peer, datagram, true);
        self.control.push_first(self.paths.primary, Pending::CookieAck);
        self.phase = Phase::Established;
        self.start_heartbeats(now);
    }

    /// Processes a valid cookie that came in `datagram`; false if the rest of its packet is discarded, too.
    pub(crate) fn on_cookie(&mut self, now: Instant, cookie: &Cookie, datagram: &Datagram<'_>) -> bool {
        let ours = Tags { local: self.local_tag, peer: self.peer_tag, ties: self.ties };
        let theirs = Tags { local: cookie.local_tag, peer: cookie.peer.tag, ties: cookie.ties };
        match action(ours, theirs) {
            Some(Action::Restart) => self.restart(now, cookie, datagram),
            // After the handshake no cookie changes the peer's tag: the cookie may be old or of another host.
            Some(Action::Collision) if !self.is_opening() => false,
            Some(Action::Collision) => {
                self.promised = cookie.peer.tag;
                self.adopt(now, &cookie.peer, datagram, true);
                self.adopted = true;
                self.accept_cookie(now, datagram)
            }
            Some(Action::Establish) => self.accept_cookie(now, datagram),
            None => false,
        }
    }

    fn accept_cookie(&mut self, now: Instant, datagram: &Datagram<'_>) -> bool {
        let Some(path) = self.arrived_on(datagram) else { return false };
        self.establish(now);
        self.control.push_first(self.answer_path(path), Pending::CookieAck);
        true
    }

    /// Action A: the peer restarted. The association goes on as a new one with the same identifier.
    fn restart(&mut self, now: Instant, cookie: &Cookie, datagram: &Datagram<'_>) -> bool {
        if let Phase::ShutdownAckSent { t2 } = &self.phase {
            let path = self.paths.of(datagram).map_or(t2.path, |path| self.answer_path(path));
            self.control.push(path, Pending::ShutdownAck);
            self.report(path, &Cause::CookieInShutdown);
            return false;
        }
        self.fail_messages();
        self.sender.save_all(&self.paths);
        self.begin_anew(now, cookie, datagram);
        self.events.all_read();
        self.events.restarted();
        true
    }

    /// True if a cookie has the tags and the channel of this association, so that it is valid at any age
    /// (`rfc9260#section-5.2.4`).
    pub(crate) fn is_named_by(&self, cookie: &Cookie) -> bool {
        (self.local_tag, self.peer_tag, self.channel) == (cookie.local_tag, cookie.peer.tag, cookie.channel)
    }

    /// True once the peer has named its addresses.
    pub(crate) fn has_peer(&self) -> bool {
        self.receiver.is_some()
    }

    /// True if this association must end because `other` has the same peer.
    ///
    /// This association has just received its peer's tag. The peer would refuse the cookie of this
    /// association, or the cookie would restart `other`. False if the peer began an association of its own
    /// while `other` waits for the answer to an older cookie: only the peer can tell which of the two it
    /// accepts (`rfc9260#section-5.2.4`).
    pub(crate) fn yields_to(&self, other: &Association) -> bool {
        if matches!(self.phase, Phase::CookieEchoed { t1, .. } if t1.count > 0) {
            // T1 has expired, so this association held back its COOKIE ECHO or got no answer. This
            // association ends only if `other` is established by now.
            return other.phase.is_open();
        }
        let older = ![self.peer_tag, self.promised].contains(&other.peer_tag);
        let open = self.promised != 0 && other.is_opening() && older;
        other.has_peer() && !open
    }

    /// Sends the COOKIE ECHO only when T1 expires. Another association with this peer waits for its
    /// COOKIE ACK, and this COOKIE ECHO could restart that association. A cookie with the tag of an
    /// INIT that the peer itself sent is not held back.
    pub(crate) fn hold_cookie(&mut self) {
        if let Phase::CookieEchoed { t1, .. } = &self.phase
            && t1.count == 0
            && self.promised != self.peer_tag
        {
            self.control.clear();
        }
    }

    /// Decides how to answer an INIT from `source` that listed these addresses and `tag`.
    pub(crate) fn on_unexpected_init(
        &mut self,
        tag: u32,
        source: IpAddr,
        listed: &[IpAddr],
    ) -> UnexpectedInit {
        let ties = match &self.phase {
            // rfc9260#section-9.2: our SHUTDOWN ACK or the SHUTDOWN COMPLETE was lost.
            Phase::ShutdownAckSent { t2 } => {
                self.control.push(t2.path, Pending::ShutdownAck);
                return UnexpectedInit::Ignore;
            }
            Phase::Closed { .. } => return UnexpectedInit::Ignore,
            Phase::CookieWait { .. } => TieTags::NONE,
            _ => self.ties,
        };
        // rfc9260#section-5.4: the address may belong to another host, which could take over the association
        // with the cookie of an INIT ACK. So nothing is sent there; the peer has other addresses.
        let unconfirmed = self.paths.state_of(source) == PathState::Unconfirmed;
        if self.phase.is_open() && self.paths.find(source).is_some() && unconfirmed {
            return UnexpectedInit::Ignore;
        }
        let new = self.new_addresses(source, listed);
        if !new.is_empty() {
            // A delayed INIT of this association: an ABORT with its tag would end the association.
            let old = tag == self.peer_tag;
            return if old { UnexpectedInit::Ignore } else { UnexpectedInit::NewAddresses(new) };
        }
        if self.phase.is_open() {
            return UnexpectedInit::Fresh(ties);
        }
        // rfc9260#section-5.2.1: our tag goes only to an address that the user gave and the INIT reports.
        let given = self.given.remotes();
        let reported = std::iter::once(source).chain(listed.iter().copied());
        match reported.into_iter().find(|address| given.contains(address)) {
            Some(to) => {
                self.promised = tag;
                let path = self.paths.find(to);
                UnexpectedInit::Same { ties, to, udp_port: path.map_or(0, |p| self.paths[p].udp_port) }
            }
            None => UnexpectedInit::Ignore,
        }
    }

    /// Addresses of an INIT that the peer has not named yet; empty before the peer's first list of addresses.
    fn new_addresses(&self, source: IpAddr, listed: &[IpAddr]) -> Vec<IpAddr> {
        if !self.has_peer() {
            return Vec::new();
        }
        let others = listed.iter().copied().filter(|&address| address != source);
        std::iter::once(source).chain(others).filter(|&address| !self.is_of_peer(address)).collect()
    }
}

/// How to answer an INIT for an association that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnexpectedInit {
    /// With the tag and TSN of our own INIT, to this address and UDP port (`rfc9260#section-5.2.1`).
    Same { ties: TieTags, to: IpAddr, udp_port: u16 },
    /// With a new tag and TSN (`rfc9260#section-5.2.2`).
    Fresh(TieTags),
    /// With an ABORT: the INIT names these addresses, which are new.
    NewAddresses(Vec<IpAddr>),
    /// The INIT is not answered.
    Ignore,
}
