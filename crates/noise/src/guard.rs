//! The guard, a layer of encryption below SCTP: finds the peer of each packet, and decides whom to answer.

use crate::common::{Common, back};
use crate::control::{Change, Control};
use crate::cookie::Jar;
use crate::handshake::Responder;
use crate::keys::{KeyError, PrivateKey, PublicKey, Secret};
use crate::limit::Limits;
use crate::mac::MacKey;
use crate::peer::{CURVES, Marks, Peer};
use crate::peers::{Peers, Rule};
use crate::session::OVERHEAD;
use crate::stats::{NoiseStats, Stats};
use crate::suite::{Suite, Suites};
use crate::trace::Refusals;
use crate::wire::{self, ANY_SUITE, Initiation, Parsed, Quoted};
use io::{ChannelEnd, Guard, GuardError, Identity};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::task::Waker;
use transport::{Channel, Datagram, Octets, Transmit};
use units::Instant;

/// Largest number of peers that are not listed.
const MOST_OTHERS: usize = 4096;
/// An ICMP message quotes a packet by the index of its session. If several peers have the
/// index, at most so many of them are checked.
const NAMESAKES: usize = 8;

/// Encrypts and authenticates all datagrams between this end and its peers.
pub struct Noise {
    common: Common,
    /// Key of the MACs of handshake messages to this end.
    macs: MacKey,
    /// Key of the MACs in cookie replies of this end.
    cookies: MacKey,
    /// Peers by the number by which the endpoint knows them (`Channel`). Numbers are not used again.
    peers: BTreeMap<u32, Peer>,
    by_key: BTreeMap<PublicKey, u32>,
    next_number: u32,
    /// Accepts or refuses peers that are not listed; `None` refuses all of them.
    others: Option<Rule>,
    /// Peers that are refused even if `others` accepts them.
    revoked: BTreeSet<PublicKey>,
    control: Control,
    psks: BTreeMap<PublicKey, Secret>,
    psk_for_all: Secret,
    /// Times at which a peer repeats a handshake or wipes keys, with the number of the peer.
    deadlines: BTreeSet<(Instant, u32)>,
    /// The index by which this end names the current session to each peer, with the number of the peer. The
    /// peers choose these indices, so several may have chosen the same one.
    remotes: BTreeSet<(u32, u32)>,
    /// Peers that were revoked or lost their session, until the driver (thread of the sockets) takes them.
    ended: BTreeMap<u32, ChannelEnd>,
    /// Peers with packets that waited for a session which now exists.
    ready: BTreeSet<u32>,
    jar: Jar,
    limits: Limits,
    refusals: Refusals,
}

impl Noise {
    /// The encryption between the owner of `private` and its peers.
    ///
    /// # Errors
    /// [`KeyError::Weak`] for the key of a peer; or an error of the system if it has no randomness.
    pub fn new(private: PrivateKey, peers: Peers) -> Result<Noise, NoiseError> {
        let own = private.public();
        let (macs, cookies) = (MacKey::toward(&own, &peers.door), MacKey::of_cookies(&own, &peers.door));
        let control = Control::new(private.clone());
        let common = Common {
            private,
            public: own,
            door: peers.door,
            suites: Suites::of_processor(),
            indices: BTreeMap::new(),
            outgoing: VecDeque::new(),
            stats: Stats::default(),
        };
        let mut noise = Noise {
            common,
            macs,
            cookies,
            peers: BTreeMap::new(),
            by_key: BTreeMap::new(),
            next_number: 1,
            others: peers.others,
            revoked: BTreeSet::new(),
            control,
            psks: peers.psks,
            psk_for_all: peers.psk_for_all,
            deadlines: BTreeSet::new(),
            remotes: BTreeSet::new(),
            ended: BTreeMap::new(),
            ready: BTreeSet::new(),
            jar: Jar::new(Instant::ZERO)?,
            limits: Limits::new(),
            refusals: Refusals::default(),
        };
        for key in peers.known {
            noise.add(Instant::ZERO, key)?.is_listed = true;
        }
        Ok(noise)
    }

    /// Uses one suite alone. By default the processor decides. Both ends must accept the suite.
    #[must_use]
    pub fn suite(mut self, suite: Suite) -> Noise {
        self.common.suites = Suites::Only(suite);
        for peer in self.peers.values_mut() {
            peer.use_suite(suite);
        }
        self
    }

    /// The peer of an end that has only one.
    #[cfg(test)]
    pub(crate) fn only_peer(&mut self) -> &mut Peer {
        self.peers.values_mut().next().expect("one peer")
    }

    /// Number of sessions and handshakes, each of which datagrams name by its index.
    #[cfg(test)]
    pub(crate) fn indices(&self) -> usize {
        self.common.indices.len()
    }

    /// Counters of the encryption.
    pub fn stats(&self) -> Stats {
        self.common.stats.clone()
    }

    /// A handle that allows and revokes peers while the endpoint runs.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Makes the changes that were asked for since the last call.
    fn apply_changes(&mut self, now: Instant) {
        for change in self.control.take() {
            match change {
                Change::Allow(key, psk) => self.allow(now, key, psk),
                Change::Revoke(key) => {
                    self.revoked.insert(key);
                    if let Some(&number) = self.by_key.get(&key) {
                        self.forget(number);
                        self.ended.insert(number, ChannelEnd::Revoked);
                    }
                }
            }
        }
    }

    fn allow(&mut self, now: Instant, key: PublicKey, psk: Option<Secret>) {
        self.revoked.remove(&key);
        match psk {
            Some(psk) => self.psks.insert(key, psk),
            None => self.psks.remove(&key),
        };
        let psk = self.psk_of(&key);
        let known = self.by_key.get(&key).and_then(|number| self.peers.get_mut(number));
        if let Some(peer) = known {
            peer.use_psk(psk);
            peer.is_listed = true;
        } else if let Ok(peer) = self.add(now, key) {
            peer.is_listed = true;
        }
    }

    /// True if a peer that is not listed may have a session. If the rule panics, the peer is refused, and the
    /// sessions of the others go on.
    fn accepts(&mut self, key: &PublicKey) -> bool {
        let Some(accept) = self.others.as_mut().filter(|_| !self.revoked.contains(key)) else { return false };
        catch_unwind(AssertUnwindSafe(|| accept(key))).unwrap_or(false)
    }

    fn psk_of(&self, key: &PublicKey) -> Secret {
        self.psks.get(key).unwrap_or(&self.psk_for_all).clone()
    }

    /// Adds a peer with a new number.
    fn add(&mut self, now: Instant, key: PublicKey) -> Result<&mut Peer, KeyError> {
        self.common.private.agree(&key)?;
        let psk = self.psk_of(&key);
        let number = self.next_number;
        self.next_number += 1;
        self.by_key.insert(key, number);
        Ok(self.peers.entry(number).or_insert(Peer::new(now, key, psk, &self.common)))
    }

    /// The number of the peer with this key, which has begun a handshake. Adds a new
    /// peer; `None` if it is refused.
    pub(crate) fn admit(&mut self, now: Instant, key: PublicKey) -> Option<u32> {
        if let Some(&number) = self.by_key.get(&key) {
            return Some(number);
        }
        if !self.accepts(&key) {
            return None;
        }
        self.make_room(now)?;
        self.add(now, key).ok()?;
        self.by_key.get(&key).copied()
    }

    /// Makes room for a peer that is not listed: if there are too many, forgets the one whose sessions ended
    /// first. `None` if each of them may still have a session.
    fn make_room(&mut self, now: Instant) -> Option<()> {
        let others = || self.peers.iter().filter(|(_, peer)| !peer.is_listed);
        if others().count() < MOST_OTHERS {
            return Some(());
        }
        let (&number, peer) = others().min_by_key(|(_, peer)| peer.forget_at())?;
        if now < peer.forget_at() {
            return None;
        }
        self.forget(number);
        Some(())
    }

    /// Removes a peer with its sessions.
    fn forget(&mut self, number: u32) {
        if let Some(peer) = self.peers.remove(&number) {
            self.by_key.remove(&peer.key);
            self.follow(number, peer.marks(), Marks::default());
        }
    }

    /// Calls a function on a peer, and then updates the guard's tables with the peer's indices and timer.
    fn with<R>(&mut self, number: u32, act: impl FnOnce(&mut Peer, &mut Common) -> R) -> Option<R> {
        let peer = self.peers.get_mut(&number)?;
        let before = peer.marks();
        let result = act(peer, &mut self.common);
        let after = peer.marks();
        if before != after {
            self.follow(number, before, after);
        }
        Some(result)
    }

    fn follow(&mut self, number: u32, before: Marks, after: Marks) {
        for index in before.indices.into_iter().flatten() {
            self.common.indices.remove(&index);
        }
        for index in after.indices.into_iter().flatten() {
            self.common.indices.insert(index, number);
        }
        if let Some(remote) = before.remote {
            self.remotes.remove(&(remote, number));
        }
        if let Some(remote) = after.remote {
            self.remotes.insert((remote, number));
        }
        if let Some(at) = before.deadline {
            self.deadlines.remove(&(at, number));
        }
        if let Some(at) = after.deadline {
            self.deadlines.insert((at, number));
        }
        match after.is_ready {
            true => self.ready.insert(number),
            false => self.ready.remove(&number),
        };
    }

    /// Handles an initiation. False if it is refused.
    fn on_initiation(&mut self, now: Instant, datagram: &Datagram<'_>, initiation: &Initiation<'_>) -> bool {
        let Err(refused) = self.try_initiation(now, datagram, initiation) else { return true };
        match refused {
            Refused::OtherKeys => self.common.stats.note_stranger(datagram.src),
            Refused::TooMany => NoiseStats::count(&self.common.stats.limited),
            Refused::Repeated | Refused::OtherVersion => {}
        }
        self.refusals.note(now, datagram.src, refused.reason());
        false
    }

    fn try_initiation(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        initiation: &Initiation<'_>,
    ) -> Result<(), Refused> {
        let (from, port) = (datagram.src, datagram.udp_port);
        if !self.macs.verify(&[initiation.signed], &initiation.mac) {
            return Err(Refused::OtherKeys);
        }
        let suites = self.common.suites;
        let suite = Suite::from_number(initiation.suite).filter(|&suite| suites.accepts(suite));
        let Some(suite) = suite else {
            NoiseStats::count(&self.common.stats.wrong_suite);
            self.send_cookie(now, datagram, initiation, suites.first() as u8);
            return Ok(());
        };
        if !self.jar.is_valid(now, from, port, &initiation.cookie) {
            self.send_cookie(now, datagram, initiation, ANY_SUITE);
            return Ok(());
        }
        if self.jar.was_seen(&initiation.mac) {
            return Err(Refused::Repeated);
        }
        if !self.limits.allow(now, from, port) || !self.jar.note_seen(now, &initiation.mac) {
            return Err(Refused::TooMany);
        }
        self.common.stats.curves.fetch_add(CURVES, Ordering::Relaxed);
        let (state, key) =
            Responder::new(suite, &self.common.private, initiation.message).ok_or(Refused::OtherVersion)?;
        let number = self.admit(now, key).ok_or(Refused::OtherKeys)?;
        self.with(number, |peer, common| peer.respond(now, common, datagram, (suite, initiation), state));
        Ok(())
    }

    /// Asks the initiator to repeat its initiation with a cookie, and with this suite.
    fn send_cookie(&mut self, now: Instant, datagram: &Datagram<'_>, initiation: &Initiation<'_>, suite: u8) {
        let cookie = self.jar.cookie(now, datagram.src, datagram.udp_port);
        let mut reply = wire::cookie(suite, initiation.sender, &cookie);
        reply.extend(self.cookies.mac(&[&reply, &initiation.mac]));
        self.common.send(back(datagram), reply);
        NoiseStats::count(&self.common.stats.cookies);
    }

    /// Handles a datagram. Returns the number of the peer if it was authentic, with the packet in `out`.
    fn handle(&mut self, now: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> Option<u32> {
        let from = datagram.src;
        // `head` is the whole datagram: only packets of simulations have zeros that are not stored in it.
        match wire::parse(datagram.bytes.head)? {
            Parsed::Data { receiver, counter, ciphertext } => {
                let number = *self.common.indices.get(&receiver)?;
                let open = |peer: &mut Peer, common: &mut Common| {
                    let opened = peer.open(now, common, from, (receiver, counter), ciphertext, out);
                    opened.then(|| peer.is_note_due(now))
                };
                let is_note_due = self.with(number, open)??;
                if is_note_due {
                    self.limits.note_known(now, from, datagram.udp_port);
                }
                Some(number)
            }
            Parsed::Initiation(initiation) => self.on_initiation(now, datagram, &initiation).then_some(0),
            Parsed::Response { sender, receiver, message, signed, mac } => {
                let number = *self.common.indices.get(&receiver)?;
                if !self.macs.verify(&[signed], &mac) {
                    return None;
                }
                let respond = |peer: &mut Peer, common: &mut Common| {
                    peer.on_response(now, common, datagram, (receiver, sender), message)
                };
                self.with(number, respond)?.then_some(number)
            }
            Parsed::Cookie { suite, receiver, cookie, signed, mac } => {
                let number = *self.common.indices.get(&receiver)?;
                let repeat = |peer: &mut Peer, common: &mut Common| {
                    peer.on_cookie(now, common, datagram, (suite, receiver, cookie), (signed, mac))
                };
                self.with(number, repeat)?.then_some(number)
            }
        }
    }
}

/// Why an initiation is refused.
#[derive(Clone, Copy, Debug)]
enum Refused {
    OtherKeys,
    Repeated,
    TooMany,
    OtherVersion,
}

impl Refused {
    fn reason(self) -> &'static str {
        match self {
            Refused::OtherKeys => "other keys",
            Refused::Repeated => "repeated",
            Refused::TooMany => "too many",
            Refused::OtherVersion => "of another version",
        }
    }
}

impl Guard for Noise {
    fn overhead(&self) -> usize {
        OVERHEAD
    }

    fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool {
        self.apply_changes(now);
        let Channel(number) = route.channel;
        let sealed = self.with(number, |peer, common| peer.seal(now, common, route, packet, out));
        if sealed.is_none() {
            NoiseStats::count(&self.common.stats.unbound);
        }
        sealed.unwrap_or(false)
    }

    fn open(&mut self, now: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> Option<Channel> {
        self.apply_changes(now);
        let number = self.handle(now, datagram, out);
        if number.is_none() {
            NoiseStats::count(&self.common.stats.refused);
        }
        // An empty packet only confirms the keys.
        number.filter(|_| !out.is_empty()).map(Channel)
    }

    fn channel(&mut self, peer: Option<&Identity>) -> Result<Channel, GuardError> {
        self.apply_changes(Instant::ZERO);
        let Some(peer) = peer else {
            let mut listed = self.peers.iter().filter(|(_, peer)| peer.is_listed);
            return match (listed.next(), listed.count()) {
                (Some((&number, _)), 0) => Ok(Channel(number)),
                (first, more) => Err(GuardError::WhichPeer { known: first.map_or(0, |_| 1 + more) }),
            };
        };
        let Identity::PublicKey(key) = *peer else { return Err(GuardError::UnknownPeer) };
        let key = PublicKey::from(key);
        if !self.by_key.contains_key(&key) && self.accepts(&key) {
            self.add(Instant::ZERO, key).map_err(|_| GuardError::UnknownPeer)?;
        }
        self.by_key.get(&key).map(|&number| Channel(number)).ok_or(GuardError::UnknownPeer)
    }

    fn identity(&self, Channel(number): Channel) -> Option<Identity> {
        self.peers.get(&number).map(|peer| Identity::PublicKey(*peer.key.bytes()))
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.apply_changes(now);
        if let Some((route, datagram)) = self.common.outgoing.pop_front() {
            out.extend_from_slice(&datagram);
            return Some(route);
        }
        while let Some(&number) = self.ready.first() {
            let sealed = self.with(number, |peer, common| peer.seal_waiting(now, common, out));
            if let Some(Some(route)) = sealed {
                return Some(route);
            }
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(at, _)| at)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.apply_changes(now);
        // If the queue of datagrams is full, the other timers wait until it has room.
        while self.common.has_room()
            && let Some(&(at, number)) = self.deadlines.first()
            && at <= now
        {
            if self.with(number, |peer, common| peer.on_timer(now, common)) == Some(true) {
                self.ended.insert(number, ChannelEnd::NoSession);
            }
        }
    }

    fn quoted(&self, bytes: &[u8]) -> Option<Channel> {
        let has_sent = |number: &u32, sent: &dyn Fn(&Peer) -> bool| self.peers.get(number).is_some_and(sent);
        match wire::quoted(bytes)? {
            Quoted::Initiation { sender } => {
                let number = self.common.indices.get(&sender)?;
                has_sent(number, &|peer| peer.attempts(sender)).then_some(Channel(*number))
            }
            Quoted::Data { receiver, counter } => {
                let named = self.remotes.range((receiver, 0)..=(receiver, u32::MAX)).take(NAMESAKES);
                let mut numbers = named.map(|(_, number)| number);
                let number =
                    numbers.find(|number| has_sent(number, &|peer| peer.has_sent(receiver, counter)))?;
                Some(Channel(*number))
            }
        }
    }

    fn poll_end(&mut self) -> Option<(Channel, ChannelEnd)> {
        self.apply_changes(Instant::ZERO);
        self.ended.pop_first().map(|(number, end)| (Channel(number), end))
    }

    fn set_waker(&mut self, waker: Waker) {
        self.control.set_waker(waker);
    }
}

impl fmt::Debug for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noise").field("peers", &self.peers.len()).finish_non_exhaustive()
    }
}

/// Error: encryption cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// The key of a peer cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system has no randomness.
    #[error(transparent)]
    System(#[from] std::io::Error),
}
