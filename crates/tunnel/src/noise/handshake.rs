//! Both sides of a handshake.

use super::session::Session;
use super::wire::{self, MESSAGE_1, MESSAGE_2, Mac, VERSION};
use super::{Noise, NoiseStats, ROUTES};
use crate::keys::fill_random;
use snow::{Builder, HandshakeState};
use std::sync::atomic::Ordering;
use transport::{Datagram, Transmit};
use units::{Instant, Span};

/// Prologue: data that both ends must agree on in addition to the keys.
const PROLOGUE: &[u8] = b"anabranch tunnel 1";
const PATTERN: &str = "Noise_IK_25519_ChaChaPoly_BLAKE2s";
/// Time until the first repetition. It grows by a half each time up to [`LONGEST`], so that a handshake over
/// long round trips can complete.
const FIRST: Span = Span::from_millis(250);
/// Longest time between two repetitions.
const LONGEST: Span = Span::from_secs(5);
/// Time after which a requested session is no longer needed.
const WANTED: Span = Span::from_secs(30);
/// Number of cookies for which one initiation is repeated: one for each route.
const COOKIES: u8 = 8;
/// Curve computations for writing a message and reading the answer, or the reverse.
const CURVES: u64 = 6;

/// A handshake that this end began.
#[derive(Debug)]
pub(super) struct Attempt {
    state: HandshakeState,
    /// Index by which the peer will name the session.
    pub(super) index: u32,
    /// The initiation without its cookie.
    initiation: Vec<u8>,
    mac: Mac,
    cookies: u8,
    wait: Span,
    /// Time of the next repetition.
    pub(super) deadline: Instant,
    /// Time of the last request for a session.
    wanted: Instant,
}

/// The route back to the sender of a datagram.
fn back(datagram: &Datagram<'_>) -> Transmit {
    Transmit { udp_port: datagram.udp_port, ..Transmit::new(datagram.dst, datagram.src) }
}

impl Noise {
    /// Begins a handshake on the `routes` latest routes unless one is in progress.
    pub(super) fn want_session(&mut self, now: Instant, routes: usize) {
        match &mut self.attempt {
            Some(attempt) => attempt.wanted = now,
            None => self.begin(now, now, FIRST, routes),
        }
    }

    /// Sends an initiation with new ephemeral keys on the `routes` latest routes.
    fn begin(&mut self, now: Instant, wanted: Instant, wait: Span, routes: usize) {
        self.attempt = None;
        let Some(index) = self.new_index() else { return };
        let to_peer = self.builder().and_then(|builder| builder.remote_public_key(self.peer.bytes()).ok());
        let Some(mut state) = to_peer.and_then(|builder| builder.build_initiator().ok()) else { return };
        let mut message = [0; MESSAGE_1];
        self.stats.curves.fetch_add(CURVES, Ordering::Relaxed);
        if state.write_message(&[VERSION], &mut message).is_err() {
            return;
        }
        let mut initiation = wire::initiation(index, &message);
        let mac = self.macs[0].mac(&[&initiation]);
        initiation.extend(mac);
        for route in self.routes.iter().copied().take(routes).collect::<Vec<_>>() {
            self.send(route, [&initiation[..], &[0; 16]].concat());
        }
        let deadline = now + wait;
        self.attempt = Some(Attempt { state, index, initiation, mac, cookies: 0, wait, deadline, wanted });
    }

    /// Repeats a handshake on all routes, unless no session is needed any more.
    pub(super) fn on_timer(&mut self, now: Instant) {
        let Some(attempt) = self.attempt.take_if(|attempt| attempt.deadline <= now) else { return };
        if now.since(attempt.wanted) < WANTED {
            self.begin(now, attempt.wanted, (attempt.wait * 3 / 2).min(LONGEST), ROUTES);
        } else {
            self.waiting.clear();
        }
    }

    /// True if we sent the initiation with this session index and wait for its response.
    pub(super) fn is_awaited(&self, index: u32) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.index == index)
    }

    /// Handles the peer's request for a cookie.
    pub(super) fn on_cookie(
        &mut self,
        datagram: &Datagram<'_>,
        cookie: Mac,
        signed: &[u8],
        mac: &Mac,
    ) -> bool {
        let Some(attempt) = &mut self.attempt else { return false };
        // The answer must belong to this initiation.
        if !self.macs[1].verify(&[signed, &attempt.mac], mac) || attempt.cookies == COOKIES {
            return false;
        }
        attempt.cookies += 1;
        let datagram_back = [&attempt.initiation[..], &cookie].concat();
        self.send(back(datagram), datagram_back);
        true
    }

    /// Handles the peer's response to our initiation, which establishes a session.
    pub(super) fn on_response(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        sender: u32,
        message: &[u8],
    ) -> bool {
        let Some(mut attempt) = self.attempt.take() else { return false };
        let mut payload = [0; 1];
        // Only the peer makes such a MAC. So after an error waiting is useless, and the next packet begins a
        // new handshake.
        if attempt.state.read_message(message, &mut payload) != Ok(1) || payload != [VERSION] {
            return false;
        }
        let Ok(keys) = attempt.state.into_stateless_transport_mode() else { return false };
        let mut session = Session::new(now, keys, attempt.index, sender);
        // The peer sends nothing with the new keys until it knows that we have them.
        let mut confirmation = Vec::new();
        session.seal(&[], &mut confirmation);
        self.replace(now, datagram.src, session, true);
        self.send(back(datagram), confirmation);
        true
    }

    /// Handles an initiation of the peer, whose MAC is valid.
    pub(super) fn on_initiation(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        sender: u32,
        message: &[u8],
        (mac, cookie): (Mac, Mac),
    ) -> bool {
        if !self.jar.is_valid(now, datagram.src, datagram.udp_port, &cookie) {
            let mut reply = wire::cookie(sender, &self.jar.cookie(now, datagram.src, datagram.udp_port));
            let mac = self.macs[0].mac(&[&reply, &mac]);
            reply.extend(mac);
            self.send(back(datagram), reply);
            NoiseStats::count(&self.stats.cookies);
            return true;
        }
        if !self.jar.take(now, &mac) {
            return false;
        }
        self.respond(now, datagram, sender, message).is_some()
    }

    fn respond(&mut self, now: Instant, datagram: &Datagram<'_>, sender: u32, message: &[u8]) -> Option<()> {
        let mut state = self.builder()?.build_responder().ok()?;
        let mut payload = [0; 1];
        self.stats.curves.fetch_add(CURVES, Ordering::Relaxed);
        let read = state.read_message(message, &mut payload).ok()?;
        if read != 1 || payload != [VERSION] || state.get_remote_static() != Some(&self.peer.bytes()[..]) {
            return None;
        }
        let index = self.new_index()?;
        let mut message = [0; MESSAGE_2];
        state.write_message(&[VERSION], &mut message).ok()?;
        let mut response = wire::response(index, sender, &message);
        let mac = self.macs[0].mac(&[&response]);
        response.extend(mac);
        self.next = Some(Session::new(now, state.into_stateless_transport_mode().ok()?, index, sender));
        self.send(back(datagram), response);
        Some(())
    }

    fn builder(&self) -> Option<Builder<'_>> {
        let builder = Builder::new(PATTERN.parse().ok()?).prologue(PROLOGUE).ok()?;
        builder.local_private_key(self.private.bytes()).ok()
    }

    /// An index that cannot be predicted.
    fn new_index(&self) -> Option<u32> {
        let mut bytes = [0; 4];
        loop {
            fill_random(&mut bytes).ok()?;
            let index = u32::from_le_bytes(bytes);
            if self.is_free(index) {
                return Some(index);
            }
        }
    }
}
