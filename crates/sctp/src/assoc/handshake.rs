//! The handshake on the side that started it (`rfc9260#section-5.1`).

use super::control::Pending;
use super::heartbeat_info::HEARTBEAT_LEN;
use super::phase::{Begun, Farewell, Phase, Retry};
use super::{Association, Offer, OfferError, Peer};
use crate::config::LEAST_WINDOW;
use crate::event::CloseReason;
use crate::ext::{Ext, Extensions};
use crate::path::{PathId, PathState};
use crate::rx::Receiver;
use std::net::IpAddr;
use transport::{Channel, Datagram};
use units::{Instant, Span};
use wire::cause::MissingParameters;
use wire::{
    Cause, CauseList, CommonHeader, InitAck, OperationError, Parameter, ParameterList, Parameters, param,
};

/// Bytes of headers before the contents of an error cause: common header, chunk header and cause header.
const REPORT_OVERHEAD: usize = CommonHeader::LEN + 4 + 4;

impl Association {
    /// Processes an INIT ACK from any source: it lists the peer's addresses (`rfc9260#section-5.1.2`).
    pub(super) fn on_init_ack(&mut self, now: Instant, datagram: &Datagram<'_>, ack: &InitAck<'_>) {
        let Phase::CookieWait { t1, begun, .. } = self.phase else { return };
        let source = datagram.src;
        if self.local.address_towards(source).is_none() {
            return;
        }
        self.peer_tag = ack.0.initiate_tag;
        let offer = match self.read_init_ack(ack) {
            Ok(offer) => offer,
            Err((what, causes)) => return self.refuse_init_ack(source, what, causes),
        };
        let Some(cookie) = offer.cookie else {
            let mut causes = CauseList::new();
            let missing = [param::STATE_COOKIE.to_be_bytes()];
            causes.push(&Cause::MissingMandatoryParameter(MissingParameters::new(&missing)));
            return self.refuse_init_ack(source, "INIT ACK without a cookie", causes);
        };
        let config = self.config();
        let (extensions, auth) = match Extensions::agree(config, offer.extensions, &offer.auth) {
            Ok(agreed) => agreed,
            Err(what) => {
                let mut causes = CauseList::new();
                causes.push(&Cause::ProtocolViolation(what.as_bytes()));
                return self.refuse_init_ack(source, what, causes);
            }
        };
        let peer = Peer {
            port: self.peer_port,
            tag: ack.0.initiate_tag,
            a_rwnd: ack.0.a_rwnd,
            outbound_streams: config.outbound_streams.min(ack.0.inbound_streams),
            inbound_streams: config.max_inbound_streams.min(ack.0.outbound_streams),
            initial_tsn: ack.0.initial_tsn,
            source,
            addresses: offer.addresses,
            extensions,
            auth,
            adaptation: offer.adaptation,
        };
        let unanswered = self.unanswered_addresses(source);
        self.adopt(now, &peer, datagram, false);
        self.distrust(&unanswered);
        self.adopted = true;
        let path = self.paths.primary;
        // An encryption layer may keep the INIT until it has keys. Then only the COOKIE ECHO is measured.
        if t1.count == 0 && self.channel == Channel::NONE {
            self.paths[path].rto.sample(now, now.since(begun.at), self.sender.config());
        }
        let t1 = Retry::start(now, path, &self.paths);
        self.phase = Phase::CookieEchoed { t1, begun: Begun { at: now, ..begun }, cookie: cookie.to_vec() };
        self.control.clear();
        self.echo_cookie(now, path);
        self.report_parameters(path, offer.unknown.as_parameters());
    }

    /// Reports the unrecognized parameters of an INIT ACK that fit a packet.
    fn report_parameters(&mut self, path: PathId, unknown: Parameters<'_>) {
        let limit = self.report_limit(path);
        let mut list = ParameterList::new();
        for parameter in unknown.iter() {
            let Ok(Parameter::Unknown(unknown)) = parameter else { continue };
            if list.padded_len() + unknown.bytes().len() > limit {
                break;
            }
            list.push(&Parameter::Unknown(unknown));
        }
        if list.padded_len() > 0 {
            self.report(path, &Cause::UnrecognizedParameters(list.as_parameters()));
        }
    }

    /// Largest contents of an error cause that is alone in a packet, in bytes.
    pub(super) fn report_limit(&self, path: PathId) -> usize {
        (self.paths[path].packet_limit() & !3)
            - REPORT_OVERHEAD
            - self.auth_len(&[OperationError::TYPE], &None)
    }

    /// Queues the COOKIE ECHO, which is sent to an unverified address only together with a HEARTBEAT, in a
    /// packet no larger than the path MTU (`rfc9260#section-5.4`).
    fn echo_cookie(&mut self, now: Instant, path: PathId) {
        if self.paths[path].is_unconfirmed() {
            let bundle = self.cookie_echo_len() + HEARTBEAT_LEN;
            if !self.config().bundling || bundle > self.paths[path].packet_limit() {
                return;
            }
            self.probe(now, path);
        }
        self.control.push_first(path, Pending::CookieEcho);
    }

    /// Returns the usable parameters of an INIT ACK, or the error in it.
    fn read_init_ack<'a>(&self, ack: &InitAck<'a>) -> Result<Offer<'a>, (&'static str, CauseList)> {
        let mut causes = CauseList::new();
        let init = &ack.0;
        if init.initiate_tag == 0 || init.outbound_streams == 0 || init.inbound_streams == 0 {
            causes.push(&Cause::InvalidMandatoryParameter);
            return Err(("INIT ACK with a tag or stream count of zero", causes));
        }
        if init.a_rwnd < LEAST_WINDOW {
            causes.push(&Cause::InvalidMandatoryParameter);
            return Err(("INIT ACK with too small a window", causes));
        }
        Offer::read(init.parameters).map_err(|error| match error {
            OfferError::HostName(name) => {
                causes.push(&Cause::UnresolvableAddress(name.as_parameters().as_bytes()));
                ("INIT ACK with a host name", causes)
            }
            OfferError::Malformed => {
                causes.push(&Cause::ProtocolViolation(b"malformed parameter"));
                ("INIT ACK with a malformed parameter", causes)
            }
        })
    }

    /// Ends the handshake, with an ABORT if the peer's tag is known.
    fn refuse_init_ack(&mut self, source: IpAddr, what: &'static str, causes: CauseList) {
        let path = self.paths.find(source).unwrap_or(self.paths.primary);
        let abort = Farewell::Abort(path, causes.as_causes().as_bytes().to_vec());
        self.close(CloseReason::ProtocolViolation { what }, (self.peer_tag != 0).then_some(abort));
    }

    /// Adopts the parameters of the peer. Paths of an earlier handshake are kept, since chunks may be in
    /// flight. Addresses that the user gave are confirmed; so is the source if it has `proven`, by a cookie,
    /// that it received our INIT ACK (`rfc9260#section-5.4`). With a cookie, the UDP port of `datagram` is
    /// the port of all addresses; otherwise it is the port of the source only.
    pub(super) fn adopt(&mut self, now: Instant, peer: &Peer, datagram: &Datagram<'_>, proven: bool) {
        let again = self.receiver.is_some();
        self.peer_tag = peer.tag;
        self.peer_port = peer.port;
        self.extensions = peer.extensions;
        self.adaptation = peer.adaptation;
        self.agree_on_auth(peer);
        self.begin_asconf(peer);
        let (config, streams) = (self.sender.config(), peer.inbound_streams);
        let (nr_sack, delays) = (peer.extensions.has(Ext::NrSack), peer.extensions.has(Ext::Delays));
        let interleaved = peer.extensions.has(Ext::Interleaving);
        let (budget, tsn) = (&self.local.budget, peer.initial_tsn);
        self.receiver = Some(Receiver::new(config, tsn, streams, nr_sack, delays, interleaved, budget));
        self.sender.join(budget);
        self.sender.resume_from(&self.local.saved);
        self.sender.set_ecn(peer.extensions.has(Ext::Ecn));
        self.start_re_config(peer.initial_tsn);
        self.renamed = true;
        if again {
            return;
        }
        let listed = |address: &IpAddr| *address == peer.source || peer.addresses.contains(address);
        let mut confirmed = self.given.remotes();
        let mut order: Vec<IpAddr> = confirmed.iter().copied().filter(listed).collect();
        order.push(peer.source);
        order.extend_from_slice(&peer.addresses);
        confirmed.extend(proven.then_some(peer.source));
        let udp_port = |remote| match self.paths.find(remote) {
            _ if proven || remote == datagram.src => datagram.udp_port,
            Some(p) => self.paths[p].udp_port,
            None => self.local.remote_udp_port,
        };
        self.paths = self.paths_to(&order, &confirmed, udp_port);
        // If the source is unconfirmed, the first path becomes the primary path: it leads to an address that
        // the user gave, if the peer listed such an address.
        let primary = self.paths.find(peer.source).filter(|&p| !self.paths[p].is_unconfirmed());
        if proven && let Some(p) = self.paths.of(datagram) {
            // The address pair of the packet with the cookie is confirmed: our INIT ACK reached its source.
            let shown = self.paths[p].remote == peer.source;
            self.paths[p].state = if shown { PathState::Active } else { self.paths[p].state };
        }
        self.paths.primary = primary.unwrap_or_default();
        order.retain(|&address| self.paths.find(address).is_none());
        self.unused = order;
        self.streams = (peer.outbound_streams, peer.inbound_streams);
        if interleaved {
            self.sender.interleave();
        }
        self.sender.agree_on_forward_tsn(self.extensions.may_skip());
        let extra = self.ahead_of_data();
        self.sender.establish(now, peer.a_rwnd, peer.outbound_streams, extra, &mut self.paths);
    }

    pub(super) fn on_cookie_ack(&mut self, now: Instant) {
        if let Phase::CookieEchoed { t1, begun, .. } = &self.phase {
            if t1.count == 0 {
                let rtt = now.since(begun.at);
                self.paths[t1.path].rto.sample(now, rtt, self.sender.config());
            }
            self.establish(now);
        }
    }

    /// Ends the handshake that we started: the association is established.
    pub(super) fn establish(&mut self, now: Instant) {
        let (Phase::CookieWait { begun, .. } | Phase::CookieEchoed { begun, .. }) = self.phase else {
            return;
        };
        self.control.clear();
        self.phase = if begun.shutdown { Phase::ShutdownPending } else { Phase::Established };
        if begun.shutdown {
            self.sender.shutdown_pending();
        }
        self.tell_connected();
        self.errors = 0;
        self.start_heartbeats(now);
    }

    /// Restarts the handshake after a Stale Cookie error and requests a longer lifetime
    /// (`rfc9260#section-5.2.6`). The new handshake has a new tag, so that a late COOKIE ECHO or COOKIE ACK
    /// of the old handshake cannot belong to it.
    pub(super) fn on_stale_cookie(&mut self, now: Instant, staleness: Span) {
        let Phase::CookieEchoed { t1, mut begun, .. } = self.phase else { return };
        begun.stale += 1;
        if begun.stale > self.config().max_init_retransmits {
            return self.give_up(b"cookies are always stale", CloseReason::ConnectTimeout);
        }
        begun.at = now;
        // Suggested extension of the cookie's lifetime: the staleness that the peer measured, plus one RTO.
        let preservative = Some(staleness + self.paths[t1.path].rto.current());
        self.control.clear();
        self.control.push(t1.path, Pending::Init);
        self.draw_tag();
        let t1 = Retry::start(now, t1.path, &self.paths);
        self.phase = Phase::CookieWait { t1, begun, preservative };
    }

    /// Handles the expiry of T1-init or T1-cookie (`rfc9260#section-5.1`).
    pub(super) fn on_t1(&mut self, now: Instant) {
        let limit = self.config().max_init_retransmits;
        let (t1, chunk) = match &mut self.phase {
            Phase::CookieWait { t1, .. } => (t1, Pending::Init),
            Phase::CookieEchoed { t1, .. } => (t1, Pending::CookieEcho),
            _ => return,
        };
        if t1.count >= limit {
            return self.give_up(b"the handshake takes too long", CloseReason::ConnectTimeout);
        }
        if self.try_next_address(now) {
            return;
        }
        let (Phase::CookieWait { t1, .. } | Phase::CookieEchoed { t1, .. }) = &mut self.phase else { return };
        t1.handshake_expired(now, &mut self.paths, self.sender.config());
        let path: PathId = t1.path;
        self.shorten_t1_init(now);
        match chunk {
            Pending::CookieEcho => {
                // Another association with this peer may be established by now.
                (self.renamed, self.adopted) = (true, true);
                self.echo_cookie(now, path);
            }
            _ => self.control.push_first(path, chunk),
        }
    }

    /// Queues an ERROR with one cause.
    pub(super) fn report(&mut self, path: PathId, cause: &Cause<'_>) {
        let mut causes = CauseList::new();
        if causes.push(cause) {
            self.control.push(path, Pending::Error(causes.as_causes().as_bytes().to_vec()));
        }
    }
}
