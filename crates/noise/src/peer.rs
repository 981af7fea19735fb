//! The sessions with one peer, and how they begin.

use crate::common::{Common, back};
use crate::handshake::{Initiator, Responder};
use crate::keys::{PublicKey, Secret};
use crate::mac::MacKey;
use crate::session::{Agreed, LIFE, Session};
use crate::silence::Unanswered;
use crate::stats::NoiseStats;
use crate::suite::Suite;
use crate::trace;
use crate::wire::{self, Initiation, Mac};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use transport::{Datagram, Octets, Transmit};
use units::{Instant, Span};

/// Time for which a replaced session still receives, from its replacement or its latest packet on. The peer
/// may still use it: if two sessions begin at once, the ends may replace them in different orders.
pub(crate) const KEPT: Span = Span::from_secs(10);
/// Time for which a packet waits for a session that replaces another one; after
/// that its content is out of date.
const PATIENCE: Span = Span::from_millis(500);
/// Largest number of packets that wait for a session.
pub(crate) const WAITING: usize = 8;
/// Largest number of replaced sessions. When both ends begin a handshake at once, two sessions replace one.
const REPLACED: usize = 2;
/// Largest number of routes on which a handshake is tried.
const ROUTES: usize = 8;
/// Time until the first repetition of a handshake. It grows by a half each time up to [`LONGEST`], so that a
/// handshake over long round trips can complete.
const FIRST: Span = Span::from_millis(250);
/// Longest time between two repetitions.
const LONGEST: Span = Span::from_secs(5);
/// Time without a packet that needs a session, after which this end stops repeating the handshake.
const WANTED: Span = Span::from_secs(30);
/// Largest number of cookies for which one initiation is repeated: one for each route.
const COOKIES: u8 = 8;
/// Time after which a peer that is not listed may be forgotten if it has not used its first session.
const UNUSED: Span = Span::from_secs(10);
/// Shortest interval at which the rate limit of handshakes learns the source of a peer's packets.
const NOTE_EVERY: Span = Span::from_secs(1);
/// Largest number of responses to one initiation that this end reads, since each costs curve computations.
const RESPONSES: u8 = 64;
/// Curve computations of one end for a handshake: to write a message and to read the answer, or the reverse.
pub(crate) const CURVES: u64 = 6;

/// The other end of sessions, known by its public key.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) key: PublicKey,
    psk: Secret,
    /// Key of the MACs in handshake messages to the peer.
    macs: MacKey,
    /// Key of the MACs in cookie replies of the peer.
    cookies: MacKey,
    /// The suite of the next initiation.
    suite: Suite,
    /// True if the peer has asked for this suite. This end follows such a request only once.
    switched: bool,
    /// The session that packets use.
    pub(crate) current: Option<Session>,
    /// Earlier sessions, the latest first, with the time of their replacement or of a later packet.
    previous: Vec<(Session, Instant)>,
    /// A session that the peer began and has not used yet.
    next: Option<Session>,
    pub(crate) attempt: Option<Attempt>,
    /// Number of sessions so far.
    pub(crate) sessions: u64,
    /// Routes of sent packets, the latest first.
    routes: Vec<Transmit>,
    pub(crate) waiting: VecDeque<(Instant, Transmit, Vec<u8>)>,
    unanswered: Option<Unanswered>,
    /// Time of the last authentic packet.
    pub(crate) heard: Instant,
    /// Time at which the rate limit of handshakes last learned the source of an authentic packet.
    noted: Option<Instant>,
    /// True if the peer is in the list of this end, so that only its revocation removes it.
    pub(crate) is_listed: bool,
}

/// A handshake that this end began.
#[derive(Debug)]
pub(crate) struct Attempt {
    state: Initiator,
    /// Session index that the peer will put into its packets.
    index: u32,
    /// The initiation without its cookie.
    initiation: Vec<u8>,
    mac: Mac,
    cookies: u8,
    /// Number of responses that were read.
    responses: u8,
    /// Time of the next repetition.
    deadline: Instant,
    pace: Pace,
}

/// When and for how long a handshake is repeated.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Time of the first initiation.
    since: Instant,
    /// Time of the last packet that needed a session.
    wanted: Instant,
    /// Time until the next repetition.
    wait: Span,
}

/// The state of a peer that `Noise` also keeps in its tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Indices that this end chose for its sessions and for the handshake that it began. The
    /// peer puts them in its messages.
    pub(crate) indices: [Option<u32>; 5],
    /// Index that the peer chose for the current session.
    pub(crate) remote: Option<u32>,
    /// Time of the next call of [`Peer::on_timer`].
    pub(crate) deadline: Option<Instant>,
    /// True if packets wait and there is a session that can carry them.
    pub(crate) is_ready: bool,
}

impl Peer {
    pub(crate) fn new(now: Instant, key: PublicKey, psk: Secret, common: &Common) -> Peer {
        Peer {
            key,
            psk,
            macs: MacKey::toward(&key, &common.door),
            cookies: MacKey::of_cookies(&key, &common.door),
            suite: common.suites.first(),
            switched: false,
            current: None,
            previous: Vec::new(),
            next: None,
            attempt: None,
            sessions: 0,
            routes: Vec::new(),
            waiting: VecDeque::new(),
            unanswered: None,
            heard: now,
            noted: None,
            is_listed: false,
        }
    }

    pub(crate) fn marks(&self) -> Marks {
        let local = |session: &Session| session.local;
        let [first, second] = [0, 1].map(|n| self.previous.get(n));
        let indices = [
            self.current.as_ref().map(local),
            first.map(|(session, _)| session.local),
            second.map(|(session, _)| session.local),
            self.next.as_ref().map(local),
            self.attempt.as_ref().map(|attempt| attempt.index),
        ];
        let deadlines = [
            self.current.as_ref().map(Session::end),
            self.previous.iter().map(|(_, at)| *at + KEPT).min(),
            self.next.as_ref().map(Session::end),
            self.attempt.as_ref().map(|attempt| attempt.deadline),
        ];
        let deadline = deadlines.into_iter().flatten().min();
        let remote = self.current.as_ref().map(|session| session.remote);
        Marks { indices, remote, deadline, is_ready: self.current.is_some() && !self.waiting.is_empty() }
    }

    /// Encrypts a packet and appends the datagram. False if the packet must wait for a session, or cannot be
    /// sent.
    pub(crate) fn seal(
        &mut self,
        now: Instant,
        common: &mut Common,
        route: &Transmit,
        packet: Octets<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        self.note_route(route);
        self.renew(now, common, route);
        let Some(session) = &mut self.current else {
            if self.waiting.len() == WAITING {
                self.waiting.pop_front();
                NoiseStats::count(&common.stats.unsent);
            }
            self.waiting.push_back((now, *route, packet.to_vec()));
            return false;
        };
        self.unanswered.get_or_insert_with(|| Unanswered::new(now)).note(now);
        session.seal(route, packet, out)
    }

    /// Encrypts the next packet that waited for a session; `None` if there is none.
    pub(crate) fn seal_waiting(
        &mut self,
        now: Instant,
        common: &Common,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let session = self.current.as_mut()?;
        while let Some((since, route, packet)) = self.waiting.pop_front() {
            // Packets that waited for the first session belong to the SCTP handshake, and may be late.
            if self.sessions == 1 || now.since(since) < PATIENCE {
                return session.seal(&route, packet[..].into(), out).then_some(route);
            }
            NoiseStats::count(&common.stats.unsent);
        }
        None
    }

    /// Decrypts a data packet with the session that it names, and appends the packet.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        common: &mut Common,
        from: IpAddr,
        (receiver, counter): (u32, u64),
        cipher: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        let is_next = self.next.as_ref().is_some_and(|session| session.local == receiver);
        let next = self.next.as_mut().filter(|_| is_next);
        let latest = next.into_iter().chain(&mut self.current).map(|session| (session, None));
        let previous = self.previous.iter_mut().filter(|(_, at)| now.since(*at) < KEPT);
        let mut sessions = latest.chain(previous.map(|(session, at)| (session, Some(at))));
        let Some((session, at)) = sessions.find(|(session, _)| session.local == receiver) else {
            return false;
        };
        let opened = session.is_alive(now) && session.open(counter, cipher, out);
        if opened {
            at.into_iter().for_each(|at| *at = now);
            // The packet shows that the peer has the keys.
            if is_next && let Some(session) = self.next.take() {
                self.confirm(now, common, from, session);
            }
            self.unanswered = None;
            self.heard = now;
        }
        opened
    }

    /// Time from which the peer may be forgotten: its sessions have ended, or it began
    /// one session and did not use it.
    pub(crate) fn forget_at(&self) -> Instant {
        self.heard + if self.sessions == 0 { UNUSED } else { LIFE }
    }

    /// True at most once per [`NOTE_EVERY`]: the rate limit of handshakes should
    /// learn the source of this packet.
    pub(crate) fn is_note_due(&mut self, now: Instant) -> bool {
        let due = self.noted.is_none_or(|at| now.since(at) >= NOTE_EVERY);
        if due {
            self.noted = Some(now);
        }
        due
    }

    /// Begins all handshakes with this suite.
    pub(crate) fn use_suite(&mut self, suite: Suite) {
        self.suite = suite;
    }

    /// Begins and answers all handshakes from now on with this secret.
    pub(crate) fn use_psk(&mut self, psk: Secret) {
        self.psk = psk;
    }

    /// Stores a route as the latest one.
    fn note_route(&mut self, route: &Transmit) {
        let same = |other: &Transmit| {
            (other.src, other.dst, other.udp_port) == (route.src, route.dst, route.udp_port)
        };
        match self.routes.iter().position(same) {
            Some(0) => {}
            Some(n) => self.routes[..=n].rotate_right(1),
            None => {
                self.routes.truncate(ROUTES - 1);
                let new = Transmit { udp_port: route.udp_port, ..Transmit::new(route.src, route.dst) };
                self.routes.insert(0, new);
            }
        }
    }

    /// Begins a handshake if one is due before the next packet, which leaves by `route`.
    fn renew(&mut self, now: Instant, common: &mut Common, route: &Transmit) {
        self.current.take_if(|session| !session.is_alive(now));
        let silent = self.unanswered.as_ref().is_some_and(|unanswered| unanswered.is_silence(now));
        let due = self.current.as_ref().is_none_or(|session| silent || session.is_worn(now, route));
        match &mut self.attempt {
            _ if !due => {}
            Some(attempt) => attempt.pace.wanted = now,
            None => {
                // While the keys are valid, the first initiation leaves on the route of the packet alone:
                // another route may be metered.
                let routes = if silent || self.current.is_none() { ROUTES } else { 1 };
                self.begin(now, common, Pace { since: now, wanted: now, wait: FIRST }, routes);
            }
        }
    }

    /// Sends an initiation with new ephemeral keys on the `routes` latest routes.
    fn begin(&mut self, now: Instant, common: &mut Common, pace: Pace, routes: usize) {
        self.attempt = None;
        let Some(index) = common.new_index() else { return };
        common.stats.curves.fetch_add(CURVES, Ordering::Relaxed);
        let Some((state, message)) = Initiator::new(self.suite, &common.private, &self.key, &self.psk) else {
            return;
        };
        let mut initiation = wire::initiation(self.suite as u8, index, &message);
        let mac = self.macs.mac(&[&initiation]);
        initiation.extend(mac);
        for route in self.routes.iter().take(routes) {
            common.send(*route, [&initiation[..], &[0; 16]].concat());
        }
        let deadline = now + pace.wait;
        self.attempt =
            Some(Attempt { state, index, initiation, mac, cookies: 0, responses: 0, deadline, pace });
    }

    /// Wipes the keys whose lifetime has ended, and repeats a handshake that is due, on all routes. True if
    /// there is no session, and the peer has not completed the handshake within [`WANTED`]. The keys are
    /// wiped so that nobody who reads the memory later can decrypt recorded packets.
    pub(crate) fn on_timer(&mut self, now: Instant, common: &mut Common) -> bool {
        self.current.take_if(|session| session.end() <= now);
        self.previous.retain(|(_, at)| *at + KEPT > now);
        self.next.take_if(|session| session.end() <= now);
        let due = self.attempt.take_if(|attempt| attempt.deadline <= now);
        let Some(Attempt { pace, .. }) = due else { return false };
        if now.since(pace.wanted) < WANTED {
            let wait = (pace.wait * 3 / 2).min(LONGEST);
            self.begin(now, common, Pace { wait, ..pace }, ROUTES);
        } else {
            common.stats.unsent.fetch_add(self.waiting.len() as u64, Ordering::Relaxed);
            self.waiting.clear();
        }
        self.current.is_none() && now.since(pace.since) >= WANTED
    }

    /// True if this end sent a datagram with this index and counter lately.
    pub(crate) fn has_sent(&self, remote: u32, counter: u64) -> bool {
        self.current.as_ref().is_some_and(|session| session.remote == remote && session.is_recent(counter))
    }

    /// True if the handshake that this end began has this index.
    pub(crate) fn attempts(&self, index: u32) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.index == index)
    }

    /// Handles the peer's request for a cookie, and perhaps for another suite.
    pub(crate) fn on_cookie(
        &mut self,
        now: Instant,
        common: &mut Common,
        datagram: &Datagram<'_>,
        (suite, receiver, cookie): (u8, u32, Mac),
        (signed, mac): (&[u8], Mac),
    ) -> bool {
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.index == receiver) else {
            return false;
        };
        // The peer must have made the cookie reply for this initiation: the reply's MAC covers the
        // initiation's MAC.
        if attempt.cookies == COOKIES || !self.cookies.verify(&[signed, &attempt.mac], &mac) {
            return false;
        }
        attempt.cookies += 1;
        let other = Suite::from_number(suite).filter(|&suite| suite != self.suite);
        if let Some(other) = other.filter(|&suite| !self.switched && common.suites.accepts(suite)) {
            (self.suite, self.switched) = (other, true);
            let pace = attempt.pace;
            self.begin(now, common, pace, 0);
        }
        if let Some(attempt) = &self.attempt {
            common.send(back(datagram), [&attempt.initiation[..], &cookie].concat());
        }
        true
    }

    /// Handles the peer's response to our initiation, which establishes a session.
    pub(crate) fn on_response(
        &mut self,
        now: Instant,
        common: &mut Common,
        datagram: &Datagram<'_>,
        (receiver, sender): (u32, u32),
        message: &[u8],
    ) -> bool {
        let awaited = |attempt: &&mut Attempt| attempt.index == receiver && attempt.responses < RESPONSES;
        let Some(attempt) = self.attempt.as_mut().filter(awaited) else { return false };
        attempt.responses += 1;
        // Whoever knows our public key can forge the MAC of a response: the attempt waits for the real one.
        let Some(keys) = attempt.state.read(message) else { return false };
        self.attempt = None;
        let agreed = Agreed { suite: self.suite, is_ours: true, local: receiver, remote: sender, keys };
        let mut session = Session::new(now, agreed);
        // This empty packet tells the peer that we have the new keys. Until then it sends nothing with them.
        let (route, mut confirmation) = (back(datagram), Vec::new());
        session.seal(&route, [][..].into(), &mut confirmation);
        self.replace(now, common, datagram.src, session);
        common.send(route, confirmation);
        true
    }

    /// Responds to an initiation of the peer.
    pub(crate) fn respond(
        &mut self,
        now: Instant,
        common: &mut Common,
        datagram: &Datagram<'_>,
        (suite, initiation): (Suite, &Initiation<'_>),
        state: Responder,
    ) -> bool {
        let Some(index) = common.new_index() else { return false };
        let Some((message, keys)) = state.write(&self.psk) else { return false };
        let remote = initiation.sender;
        let mut response = wire::response(suite as u8, index, remote, &message);
        response.extend(self.macs.mac(&[&response]));
        self.next = Some(Session::new(now, Agreed { suite, is_ours: false, local: index, remote, keys }));
        common.send(back(datagram), response);
        true
    }

    /// Makes the session of the peer's handshake the current one: the peer has used it for the first time. If
    /// this end's own handshake has ended meanwhile, there are two new sessions, and the ends may see them in
    /// different orders. Then both ends use the session that the end with the smaller public key began.
    fn confirm(&mut self, now: Instant, common: &Common, from: IpAddr, session: Session) {
        let crosses = |ours: &Session| ours.is_ours && session.is_older_than(ours);
        let is_ours_kept = common.public < self.key && self.current.as_ref().is_some_and(crosses);
        self.replace(now, common, from, session);
        if is_ours_kept
            && let (Some(theirs), Some((ours, _))) = (&mut self.current, self.previous.first_mut())
        {
            std::mem::swap(ours, theirs);
        }
    }

    /// Makes a session the current one. `from` is the source of the packet that ended its handshake.
    fn replace(&mut self, now: Instant, common: &Common, from: IpAddr, session: Session) {
        trace::handshake(from, session.is_ours);
        if let Some(before) = self.current.replace(session) {
            self.previous.truncate(REPLACED - 1);
            self.previous.insert(0, (before, now));
        }
        self.unanswered = None;
        self.sessions += 1;
        NoiseStats::count(&common.stats.sessions);
    }
}
