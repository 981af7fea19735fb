//! What a cookie does to the association it finds (`rfc9260#section-5.2.4`).

use super::collision::{Action, Tags, action};
use super::control::Pending;
use super::phase::Phase;
use super::{Association, TieTags};
use crate::endpoint::Cookie;
use crate::event::Event;
use crate::tx::Sender;
use std::net::IpAddr;
use units::Instant;
use wire::Cause;

impl Association {
    /// Sets up everything from a cookie, as if nothing had been before, and answers it.
    pub(super) fn begin_anew(&mut self, now: Instant, cookie: &Cookie) {
        self.local_tag = cookie.local_tag;
        self.initial_tsn = cookie.local_tsn;
        self.ties = TieTags { local: self.random.tag(), peer: self.random.tag() };
        self.sender = Sender::new(self.local.config.clone(), self.random.number(), cookie.local_tsn);
        self.receiver = None;
        self.errors = 0;
        self.control.clear();
        self.adopt(&cookie.peer);
        self.control.push_first(self.paths.primary, Pending::CookieAck);
        self.phase = Phase::Established;
        self.start_heartbeats(now);
    }

    /// Takes a valid cookie that came from `source`; false if it is to be discarded with the rest of its packet.
    pub(crate) fn on_cookie(&mut self, now: Instant, cookie: &Cookie, source: IpAddr) -> bool {
        let ours = Tags { local: self.local_tag, peer: self.peer_tag, ties: self.ties };
        let theirs = Tags { local: cookie.local_tag, peer: cookie.peer.tag, ties: cookie.ties };
        match action(ours, theirs) {
            Some(Action::Restart) => self.restart(now, cookie, source),
            Some(Action::Collision) => {
                let opening = matches!(self.phase, Phase::CookieWait { .. } | Phase::CookieEchoed { .. });
                let untouched = self.receiver.as_ref().is_some_and(|r| r.stats().chunks == 0);
                if opening || untouched {
                    self.adopt(&cookie.peer);
                } else {
                    self.peer_tag = cookie.peer.tag;
                }
                self.accept_cookie(now, source)
            }
            Some(Action::Establish) => self.accept_cookie(now, source),
            None => false,
        }
    }

    fn accept_cookie(&mut self, now: Instant, source: IpAddr) -> bool {
        let Some(path) = self.paths.find(source) else { return false };
        self.establish(now);
        self.control.push_first(self.answer_path(path), Pending::CookieAck);
        true
    }

    /// Action A: the peer began anew; the association goes on as a new one under the old name.
    fn restart(&mut self, now: Instant, cookie: &Cookie, source: IpAddr) -> bool {
        if let Phase::ShutdownAckSent { t2 } = &self.phase {
            let path = self.paths.find(source).map_or(t2.path, |path| self.answer_path(path));
            self.control.push(path, Pending::ShutdownAck);
            self.report(path, &Cause::CookieInShutdown);
            return false;
        }
        self.sender.failed(|stream, tsn, length| self.events.push(Event::SendFailed { stream, tsn, length }));
        self.begin_anew(now, cookie);
        self.events.all_read();
        self.events.restarted();
        true
    }

    /// True if the tags of a cookie are those of this association: then it is valid however old
    /// (`rfc9260#section-5.2.4`).
    pub(crate) fn is_named_by(&self, cookie: &Cookie) -> bool {
        (self.local_tag, self.peer_tag) == (cookie.local_tag, cookie.peer.tag)
    }

    /// What an INIT from the peer means in this state.
    pub(crate) fn on_unexpected_init(&mut self) -> UnexpectedInit {
        match &self.phase {
            Phase::CookieWait { .. } => UnexpectedInit::Same(TieTags::NONE),
            Phase::CookieEchoed { .. } => UnexpectedInit::Same(self.ties),
            // rfc9260#section-9.2: our SHUTDOWN ACK or the SHUTDOWN COMPLETE was lost.
            Phase::ShutdownAckSent { t2 } => {
                self.control.push(t2.path, Pending::ShutdownAck);
                UnexpectedInit::Ignore
            }
            Phase::Closed { .. } => UnexpectedInit::Ignore,
            _ => UnexpectedInit::Fresh(self.ties),
        }
    }

    /// True once the peer has named its addresses.
    pub(crate) fn has_peer(&self) -> bool {
        self.receiver.is_some()
    }

    pub(crate) fn knows(&self, address: IpAddr) -> bool {
        // An address of a kind we have none of is no path, and cannot be used to take the association over either.
        self.paths.find(address).is_some() || self.local.address_towards(address).is_none()
    }
}

/// How to answer an INIT for an association that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnexpectedInit {
    /// With the tag and TSN of our own INIT (`rfc9260#section-5.2.1`).
    Same(TieTags),
    /// With a new tag and TSN (`rfc9260#section-5.2.2`).
    Fresh(TieTags),
    /// Not at all.
    Ignore,
}
