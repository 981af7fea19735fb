//! Processing of INIT and COOKIE ECHO, with which peers start associations (`rfc9260#section-5`).

use super::{ANSWERS, ArrivalId, Datagram, Endpoint, Listen};
use crate::assoc::{
    Association, Cookie, Envelope, Offer, OfferError, Peer, Remote, TieTags, UnexpectedInit, push_addresses,
};
use crate::config::{Config, LEAST_WINDOW};
use crate::ext::auth::{Authentication, SharedKeys, Terms};
use crate::ext::{Ext, Extensions};
use std::net::IpAddr;
use std::sync::Arc;
use transport::{Octets, PacketBuf, Transmit};
use units::{Instant, Span};
use wire::{
    Abort, Cause, CauseList, Causes, Chunk, CommonHeader, CookieEcho, Encode, Init, InitAck, OperationError,
    Packet, PacketWriter, Parameter, ParameterList, SupportedAddressTypes, Tsn,
};

/// Largest packet with an INIT ACK or another answer: SCTP cannot divide such a chunk, so IP
/// fragments a packet that is longer than the MTU.
const UNDIVIDED: usize = u16::MAX as usize;

/// Largest size of an INIT ACK as a multiple of the size of its INIT, because the source of the INIT may be
/// forged. QUIC has the same limit (`rfc9000#section-8.1`).
const MAX_AMPLIFICATION: usize = 3;

/// Bytes of type and length of a parameter.
const PARAMETER_HEADER: usize = 4;

/// The tag and the initial TSN of an INIT ACK, and the tie-tags of its cookie.
#[derive(Clone, Copy, Debug)]
struct Name {
    tag: u32,
    tsn: Tsn,
    ties: TieTags,
}

impl Endpoint {
    /// Answers an INIT without storing any state (`rfc9260#section-5.1`).
    pub(super) fn on_init(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        header: CommonHeader,
        init: &Init<'_>,
    ) {
        if header.verification_tag != 0 || init.initiate_tag == 0 {
            return self.discarded.refused += 1;
        }
        let reply = Reply::to(datagram, header.source_port, init.initiate_tag);
        if self.local.address_towards(datagram.src).is_none() {
            // The host has an address of this family, but not this endpoint.
            self.discarded.refused += 1;
            return self.send_abort(&reply, Causes::default());
        }
        if init.outbound_streams == 0 || init.inbound_streams == 0 || init.a_rwnd < LEAST_WINDOW {
            return self.refuse_with(&reply, &Cause::InvalidMandatoryParameter);
        }
        let offer = match Offer::read(init.parameters) {
            Ok(offer) => offer,
            Err(OfferError::HostName(name)) => {
                return self
                    .refuse_with(&reply, &Cause::UnresolvableAddress(name.as_parameters().as_bytes()));
            }
            Err(OfferError::Malformed) => {
                return self.refuse_with(&reply, &Cause::ProtocolViolation(b"malformed parameter"));
            }
        };
        match self.on_other_udp_port(datagram, header.source_port, init.initiate_tag, &offer) {
            Some(Some(cause)) => return self.refuse_with(&reply, &cause),
            Some(None) => return self.discarded.refused += 1,
            None => {}
        }
        let remotes = [datagram.src].into_iter().chain(offer.addresses.iter().copied());
        let at = Remote::of(datagram, header.source_port);
        let (name, reply, config) = match self.find(remotes.map(|address| Remote { address, ..at })) {
            Some(slot) => match self.name_for_existing(slot, &reply, &offer) {
                Some(answer) => answer,
                None => return,
            },
            None if self.listen == Listen::Off => {
                self.discarded.refused += 1;
                return self.send_abort(&reply, Causes::default());
            }
            None if self.associations.is_full() => return self.refuse_with(&reply, &Cause::OutOfResource),
            None => (self.fresh_name(TieTags::NONE), reply, self.local.config.clone()),
        };
        let agreed = match Extensions::agree(&config, offer.extensions, &offer.auth) {
            Ok(agreed) => agreed,
            Err(what) => return self.refuse_with(&reply, &Cause::ProtocolViolation(what.as_bytes())),
        };
        let limit = UNDIVIDED.min(MAX_AMPLIFICATION * datagram.bytes.len());
        self.send_init_ack(now, &reply, init, &offer, agreed, &config, name, limit);
    }

    /// Checks whether an INIT names an address of an association that uses another UDP port, or no UDP.
    ///
    /// Returns `None` if it does not, `Some(Some(cause))` if the INIT is refused with this cause, and
    /// `Some(None)` if it gets no answer. The INIT does not change the association
    /// (draft-tuexen-tsvwg-sctp-udp-encaps-cons-10). If both the INIT and the association use UDP,
    /// the source of the INIT may be another host behind the same NAT: then only the other addresses
    /// that the INIT lists are checked.
    fn on_other_udp_port(
        &self,
        datagram: &Datagram<'_>,
        port: u16,
        initiate_tag: u32,
        offer: &Offer<'_>,
    ) -> Option<Option<Cause<'static>>> {
        let at = Remote::of(datagram, port);
        if !self.encapsulated || self.addresses.owner(&at).is_some() {
            return None;
        }
        let other_kind = |udp_port| (udp_port == 0) != (at.udp_port == 0);
        let listed = || offer.addresses.iter().filter(|&&address| address != at.address);
        let (current, slot) = self.addresses.elsewhere(&at, other_kind).or_else(|| {
            listed().find_map(|&address| self.addresses.elsewhere(&Remote { address, ..at }, |_| true))
        })?;
        // The ABORT would have the INIT's Initiate Tag. If this is the tag of the association's peer,
        // the ABORT would end that association.
        let same = self.associations.get(slot).is_some_and(|other| other.peer_tag() == initiate_tag);
        Some((!same).then_some(Cause::RestartWithNewPort { current, new: at.udp_port }))
    }

    /// The tag and TSN, the destination and the options of the INIT ACK for an existing association; `None`
    /// if no INIT ACK is sent (`rfc9260#section-5.2.1`, `rfc9260#section-5.2.2`).
    fn name_for_existing(
        &mut self,
        slot: u32,
        reply: &Reply,
        offer: &Offer<'_>,
    ) -> Option<(Name, Reply, Arc<Config>)> {
        let association = self.associations.get_mut(slot)?;
        let (tag, tsn) = (association.local_tag(), association.initial_tsn());
        let config = association.shared_config();
        match association.on_unexpected_init(reply.tag, reply.way.dst, &offer.addresses) {
            UnexpectedInit::Same { ties, to, udp_port } => {
                let mut reply = *reply;
                if to != reply.way.dst {
                    let src = self.local.address_towards(to)?;
                    reply.way = Transmit { src, dst: to, udp_port, ..reply.way };
                }
                Some((Name { tag, tsn, ties }, reply, config))
            }
            UnexpectedInit::Fresh(ties) => Some((self.fresh_name(ties), *reply, config)),
            UnexpectedInit::NewAddresses(new) => {
                let mut list = ParameterList::new();
                push_addresses(&mut list, new);
                self.refuse_with(reply, &Cause::RestartWithNewAddresses(list.as_parameters()));
                None
            }
            UnexpectedInit::Ignore => {
                self.discarded.refused += 1;
                self.schedule(slot);
                None
            }
        }
    }

    fn fresh_name(&mut self, ties: TieTags) -> Name {
        Name { tag: self.fresh_tag(), tsn: self.secrets.random.tsn(), ties }
    }

    /// Sends an INIT ACK in a packet of at most `limit` bytes.
    #[expect(clippy::too_many_arguments, reason = "each comes from somewhere else")]
    fn send_init_ack(
        &mut self,
        now: Instant,
        reply: &Reply,
        init: &Init<'_>,
        offer: &Offer<'_>,
        (extensions, auth): (Extensions, Option<Terms>),
        config: &Config,
        name: Name,
        limit: usize,
    ) {
        let peer = Peer {
            port: reply.port,
            tag: init.initiate_tag,
            a_rwnd: init.a_rwnd,
            outbound_streams: config.outbound_streams.min(init.inbound_streams),
            inbound_streams: config.max_inbound_streams.min(init.outbound_streams),
            initial_tsn: init.initial_tsn,
            source: reply.way.dst,
            addresses: offer.addresses.iter().copied().filter(|&listed| listed != reply.way.dst).collect(),
            extensions,
            auth,
            adaptation: offer.adaptation,
        };
        let outbound_streams = peer.outbound_streams;
        // The peer may ask for a longer lifetime (Cookie Preservative), up to twice ours.
        let extra = offer.preservative.unwrap_or(Span::ZERO).min(config.valid_cookie_life);
        let cookie = Cookie {
            expires: Cookie::expiry(now, config.valid_cookie_life + extra),
            local_port: self.port,
            local_tag: name.tag,
            local_tsn: name.tsn,
            ties: name.ties,
            channel: reply.way.channel,
            peer,
        };
        let cookie = cookie.seal(&self.secrets.key);
        let announce = |list: &mut ParameterList| {
            extensions.push(list);
            if let Some(code) = config.adaptation {
                list.push(&Parameter::Adaptation(code));
            }
            if extensions.has(Ext::Auth) {
                Terms::ours(config, self.secrets.key.random_of(name.tag, name.tsn)).push(list);
            }
        };
        let mut least = ParameterList::new();
        least.push(&Parameter::StateCookie(&cookie));
        announce(&mut least);
        let room = limit.saturating_sub(CommonHeader::LEN + Init::FIXED_LEN + least.padded_len());
        let mut parameters = ParameterList::new();
        push_addresses(
            &mut parameters,
            self.addresses_to_list(reply.way.src, offer.families(reply.way.dst), room),
        );
        parameters.push(&Parameter::StateCookie(&cookie));
        announce(&mut parameters);
        for unknown in offer.unknown.as_parameters().iter() {
            let Ok(Parameter::Unknown(unknown)) = unknown else { continue };
            let length = parameters.padded_len() + PARAMETER_HEADER + unknown.bytes().len();
            if CommonHeader::LEN + Init::FIXED_LEN + length.next_multiple_of(4) > limit {
                break;
            }
            parameters.push(&Parameter::UnrecognizedParameter(unknown.bytes()));
        }
        let ack = InitAck(Init {
            initiate_tag: name.tag,
            a_rwnd: config.receive_buffer.first().get() as u32,
            outbound_streams,
            inbound_streams: config.max_inbound_streams,
            initial_tsn: name.tsn,
            parameters: parameters.as_parameters(),
        });
        self.reply(reply, &ack);
    }

    /// The local addresses that fit a list of `room` bytes. If not all fit, the source of the packet is left
    /// out, since the receiver knows it (`rfc9260#section-5.1.2`).
    fn addresses_to_list(&self, source: IpAddr, types: SupportedAddressTypes, room: usize) -> Vec<IpAddr> {
        let size = |address: &IpAddr| if address.is_ipv4() { 8 } else { 20 };
        let mut list = self.local.addresses.clone();
        if list.len() == 1 {
            return Vec::new();
        }
        list.retain(usable(types));
        if list.iter().map(size).sum::<usize>() > room {
            let mut left = room;
            list.retain(|address| {
                let fits = *address != source && size(address) <= left;
                left -= if fits { size(address) } else { 0 };
                fits
            });
        }
        list
    }

    /// Processes a COOKIE ECHO and the chunks after it (`rfc9260#section-5.1.5`, `rfc9260#section-5.2.4`).
    pub(super) fn on_cookie_echo(&mut self, now: Instant, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        let mut chunks = packet.chunks();
        let mut first = chunks.next();
        let mut auth = None;
        if let Some(Ok(Chunk::Auth(chunk))) = first {
            auth = Some((chunk, chunks.rest()));
            first = chunks.next();
        }
        let Some(Ok(Chunk::CookieEcho(echo))) = first else { return };
        let header = packet.header;
        let envelope = Envelope {
            source: datagram.src,
            peer_port: header.source_port,
            local_port: self.port,
            local_tag: header.verification_tag,
            channel: datagram.channel,
        };
        let signed = Cookie::open(&self.secrets.key, echo.cookie, &envelope);
        let named = |peer: &Peer| peer.source == datagram.src || peer.addresses.contains(&datagram.src);
        let Some(cookie) = signed.filter(|cookie| named(&cookie.peer)) else {
            return self.discarded.bad_cookie += 1;
        };
        let existing = self.association_of(&cookie, datagram.udp_port);
        if !self.is_authentic(existing, &cookie, auth) {
            return self.discarded.bad_cookie += 1;
        }
        let named =
            existing.and_then(|slot| self.associations.get(slot)).is_some_and(|a| a.is_named_by(&cookie));
        let reply = Reply::to(datagram, cookie.peer.port, cookie.peer.tag);
        if let Some(staleness) = cookie.staleness(now)
            && !named
        {
            self.discarded.stale_cookie += 1;
            let mut causes = CauseList::new();
            causes.push(&Cause::StaleCookie { staleness });
            return self.reply(&reply, &OperationError { causes: causes.as_causes() });
        }
        let slot = match existing {
            Some(slot) => {
                let association = self.associations.get_mut(slot);
                if !association.is_some_and(|association| association.on_cookie(now, &cookie, datagram)) {
                    return self.schedule(slot);
                }
                slot
            }
            None => match self.begin_from_cookie(now, datagram, &reply, cookie) {
                Some(slot) => slot,
                None => return,
            },
        };
        if let Some(association) = self.associations.get_mut(slot)
            && !association.handle_behind_cookie(now, datagram, chunks, auth.is_some())
        {
            self.discarded.malformed += 1;
        }
        self.schedule(slot);
    }

    /// Checks the AUTH chunk before a COOKIE ECHO with the key from the cookie (`rfc4895#section-6.3`).
    /// The shared keys are those that the user has set for the existing association, if there is one.
    fn is_authentic(
        &self,
        existing: Option<u32>,
        cookie: &Cookie,
        auth: Option<(wire::Auth<'_>, Octets<'_>)>,
    ) -> bool {
        let existing = existing.and_then(|slot| self.associations.get(slot));
        let Some(theirs) = &cookie.peer.auth else { return auth.is_none() };
        let config = existing.map_or_else(|| self.local.config.clone(), Association::shared_config);
        let random = self.secrets.key.random_of(cookie.local_tag, cookie.local_tsn);
        let agreed = Authentication::new(&Terms::ours(&config, random), theirs);
        match auth {
            None => !agreed.requires(CookieEcho::TYPE),
            Some((auth, rest)) => {
                let none = SharedKeys::default();
                let keys = existing.and_then(Association::shared_keys).unwrap_or(&none);
                agreed.verify(keys, &auth, rest).is_ok()
            }
        }
    }

    /// Finds the association of a cookie: first by the tags in the cookie, from any source, since a NAT may
    /// have assigned a new UDP port to the peer; then by the addresses of the peer.
    fn association_of(&self, cookie: &Cookie, udp_port: u16) -> Option<u32> {
        let named = |slot: &u32| self.associations.get(*slot).is_some_and(|a| a.is_named_by(cookie));
        let by_tag = self.tags.get(cookie.local_tag).filter(named);
        by_tag.or_else(|| self.find(cookie.remotes(udp_port)))
    }

    /// Starts the association of a valid cookie, and returns its slot; `None` if it does not start now.
    fn begin_from_cookie(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        reply: &Reply,
        cookie: Cookie,
    ) -> Option<u32> {
        if self.arrivals.contains(cookie.local_tag) {
            return None; // no answer: the peer retransmits while the user decides
        }
        // Another association has the same tag now; the peer must start a new handshake.
        if self.tags.get(cookie.local_tag).is_some() {
            self.discarded.refused += 1;
            return None;
        }
        if self.associations.is_full() && self.listen != Listen::Off {
            self.refuse_with(reply, &Cause::OutOfResource);
            return None;
        }
        match self.listen {
            Listen::Off => {
                self.discarded.refused += 1;
                self.send_abort(reply, Causes::default());
                None
            }
            Listen::Accept => {
                let random = self.secrets.random.fork();
                let (local, config) = (self.local.clone(), self.local.config.clone());
                self.place(now, Association::accept(now, local, config, &cookie, datagram, random))
            }
            Listen::Ask { waiting } => {
                self.discarded.refused += u64::from(!self.arrivals.push(now, cookie, datagram, waiting));
                None
            }
        }
    }

    /// Processes a packet with the tag of an arrival (an association that waits for the user's
    /// decision): discards the packet or, if it is an ABORT, removes the arrival.
    pub(super) fn on_packet_of_arrival(
        &mut self,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
        first: &Chunk<'_>,
    ) {
        let id = ArrivalId(packet.header.verification_tag);
        if self.arrivals.channel(id) != Some(datagram.channel) {
            self.discarded.wrong_channel += 1;
        } else if matches!(first, Chunk::Abort(abort) if !abort.reflected_tag) {
            self.arrivals.take(id);
        } else {
            self.discarded.wrong_tag += 1;
        }
    }

    /// Refuses an association with an ABORT.
    pub(super) fn refuse_with(&mut self, reply: &Reply, cause: &Cause<'_>) {
        self.discarded.refused += 1;
        let mut causes = CauseList::new();
        causes.push(cause);
        self.send_abort(reply, causes.as_causes());
    }

    fn send_abort(&mut self, reply: &Reply, causes: Causes<'_>) {
        self.reply(reply, &Abort { reflected_tag: false, causes });
    }

    /// Queues an answer with one chunk, which belongs to no association. If too many answers wait,
    /// counts it only.
    pub(super) fn reply(&mut self, reply: &Reply, chunk: &impl Encode) {
        if self.answers.len() >= ANSWERS {
            return self.discarded.unanswered += 1;
        }
        let &Reply { way, port, tag } = reply;
        let mut packet = PacketBuf::default();
        let header = CommonHeader { source_port: self.port, destination_port: port, verification_tag: tag };
        let mut w = PacketWriter::new(&mut packet, header, UNDIVIDED);
        if w.push(chunk) {
            w.finish(self.checksum);
            self.answers.push_back((way, packet));
        }
    }
}

/// Addresses, SCTP port and tag of an answer that does not belong to an association.
#[derive(Clone, Copy)]
pub(super) struct Reply {
    way: Transmit,
    port: u16,
    tag: u32,
}

impl Reply {
    /// An answer to the source of the current packet.
    pub(super) fn to(datagram: &Datagram<'_>, port: u16, tag: u32) -> Self {
        let &Datagram { src, dst, udp_port, channel, .. } = datagram;
        let way = Transmit { udp_port, channel, ..Transmit::new(dst, src) };
        Reply { way, port, tag }
    }
}

fn usable(types: SupportedAddressTypes) -> impl Fn(&IpAddr) -> bool {
    move |address| if address.is_ipv4() { types.ipv4 } else { types.ipv6 }
}
