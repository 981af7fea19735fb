//! INIT and COOKIE ECHO: how others begin associations (`rfc9260#section-5`).

use super::cookie::Envelope;
use super::{Cookie, Datagram, Endpoint, LEAST_WINDOW, Stray};
use crate::assoc::{
    Association, Extensions, Offer, OfferError, Peer, TieTags, UnexpectedInit, push_addresses,
};
use std::net::IpAddr;
use units::{Instant, Span};
use wire::{
    Abort, Cause, CauseList, Causes, Chunk, CommonHeader, Encode, Init, InitAck, OperationError, Packet,
    PacketWriter, Parameter, ParameterList, SupportedAddressTypes, Tsn,
};

/// INIT ACK cannot be divided: if need be the network fragments it.
const UNDIVIDED: usize = u16::MAX as usize;

/// An INIT ACK has at most so many times the bytes of the INIT, whose source may be forged. The limit is that of QUIC
/// (`rfc9000#section-8.1`).
const MAX_AMPLIFICATION: usize = 3;

/// Bytes of type and length of a parameter.
const PARAMETER_HEADER: usize = 4;

/// The tag and the TSN an INIT ACK announces.
#[derive(Clone, Copy, Debug)]
struct Name {
    tag: u32,
    tsn: Tsn,
    ties: TieTags,
}

impl Endpoint {
    /// Answers an INIT without keeping anything of it (`rfc9260#section-5.1`).
    pub(super) fn on_init(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        header: CommonHeader,
        init: &Init<'_>,
    ) {
        if header.verification_tag != 0 || init.initiate_tag == 0 {
            return;
        }
        let reply = Reply::to(datagram, header.source_port, init.initiate_tag);
        if init.outbound_streams == 0 || init.inbound_streams == 0 || init.a_rwnd < LEAST_WINDOW {
            return self.refuse(&reply, &Cause::InvalidMandatoryParameter);
        }
        let offer = match Offer::read(init.parameters) {
            Ok(offer) => offer,
            Err(OfferError::HostName(name)) => {
                return self.refuse(&reply, &Cause::UnresolvableAddress(name.as_parameters().as_bytes()));
            }
            Err(OfferError::Malformed) => {
                return self.refuse(&reply, &Cause::ProtocolViolation(b"malformed parameter"));
            }
        };
        let addresses = std::iter::once(datagram.src).chain(offer.addresses.iter().copied());
        let (name, reply) = match self.find(addresses, header.source_port) {
            Some(slot) => match self.name_for_existing(slot, &reply, &offer) {
                Some(answer) => answer,
                None => return,
            },
            None if !self.listening => return self.send_abort(&reply, Causes::default()),
            None if self.slab.is_full() => return self.refuse(&reply, &Cause::OutOfResource),
            None => (self.fresh_name(TieTags::NONE), reply),
        };
        let limit = UNDIVIDED.min(MAX_AMPLIFICATION * datagram.bytes.len());
        self.send_init_ack(now, &reply, init, &offer, name, limit);
    }

    /// The INIT belongs to an association: what the answer announces, and where it goes, if there is to be an INIT ACK
    /// (`rfc9260#section-5.2.1`, `rfc9260#section-5.2.2`).
    fn name_for_existing(&mut self, slot: u32, reply: &Reply, offer: &Offer<'_>) -> Option<(Name, Reply)> {
        let association = self.slab.get_mut(slot)?;
        let (tag, tsn) = (association.local_tag(), association.initial_tsn());
        match association.on_unexpected_init(reply.tag, reply.dst, &offer.addresses) {
            UnexpectedInit::Same { ties, to } => {
                let here = to == reply.dst;
                let src = if here { reply.src } else { self.local.address_towards(to)? };
                Some((Name { tag, tsn, ties }, Reply { src, dst: to, ..*reply }))
            }
            UnexpectedInit::Fresh(ties) => Some((self.fresh_name(ties), *reply)),
            UnexpectedInit::NewAddresses(new) => {
                let mut list = ParameterList::new();
                push_addresses(&mut list, new);
                self.refuse(reply, &Cause::RestartWithNewAddresses(list.as_parameters()));
                None
            }
            UnexpectedInit::Ignore => {
                self.touched(slot);
                None
            }
        }
    }

    fn fresh_name(&mut self, ties: TieTags) -> Name {
        Name { tag: self.fresh_tag(), tsn: self.secrets.random.tsn(), ties }
    }

    /// Sends an INIT ACK in a packet of at most `limit` bytes.
    fn send_init_ack(
        &mut self,
        now: Instant,
        reply: &Reply,
        init: &Init<'_>,
        offer: &Offer<'_>,
        name: Name,
        limit: usize,
    ) {
        let config = &self.local.config;
        let peer = Peer {
            port: reply.port,
            tag: init.initiate_tag,
            a_rwnd: init.a_rwnd,
            outbound_streams: config.outbound_streams.min(init.inbound_streams),
            inbound_streams: config.max_inbound_streams.min(init.outbound_streams),
            initial_tsn: init.initial_tsn,
            source: reply.dst,
            addresses: offer.addresses.iter().copied().filter(|&listed| listed != reply.dst).collect(),
            extensions: offer.extensions.both(Extensions::of(config)),
        };
        let (outbound_streams, extensions) = (peer.outbound_streams, peer.extensions);
        // A peer that asks for more time gets at most as much again.
        let extra = offer.preservative.unwrap_or(Span::ZERO).min(config.valid_cookie_life);
        let cookie = Cookie {
            expires: Cookie::expiry(now, config.valid_cookie_life + extra),
            local_port: self.port,
            local_tag: name.tag,
            local_tsn: name.tsn,
            ties: name.ties,
            peer,
        };
        let cookie = cookie.seal(&self.secrets.key);
        let mut least = ParameterList::new();
        least.push(&Parameter::StateCookie(&cookie));
        extensions.push(&mut least);
        let room = limit.saturating_sub(CommonHeader::LEN + Init::FIXED_LEN + least.padded_len());
        let mut parameters = ParameterList::new();
        push_addresses(&mut parameters, self.addresses_to_list(reply.src, offer.address_types, room));
        parameters.push(&Parameter::StateCookie(&cookie));
        extensions.push(&mut parameters);
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
            a_rwnd: config.receive_buffer.get() as u32,
            outbound_streams,
            inbound_streams: config.max_inbound_streams,
            initial_tsn: name.tsn,
            parameters: parameters.as_parameters(),
        });
        self.reply(reply, &ack);
    }

    /// Our addresses, as far as a list of `room` bytes can name them. The one that the packet leaves from is known to
    /// its receiver (`rfc9260#section-5.1.2`), so it is the first to be left out.
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

    /// Takes a COOKIE ECHO and the chunks behind it (`rfc9260#section-5.1.5`, `rfc9260#section-5.2.4`).
    pub(super) fn on_cookie_echo(&mut self, now: Instant, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        let mut chunks = packet.chunks();
        let Some(Ok(Chunk::CookieEcho(echo))) = chunks.next() else { return };
        let header = packet.header;
        let envelope = Envelope {
            source: datagram.src,
            peer_port: header.source_port,
            local_port: self.port,
            local_tag: header.verification_tag,
        };
        let Some(cookie) = Cookie::open(&self.secrets.key, echo.cookie, &envelope) else { return };
        let peer = &cookie.peer;
        if peer.source != datagram.src && !peer.addresses.contains(&datagram.src) {
            return;
        }
        let addresses = std::iter::once(peer.source).chain(peer.addresses.iter().copied());
        let existing = self.find(addresses, peer.port);
        let named = existing.and_then(|slot| self.slab.get(slot)).is_some_and(|a| a.is_named_by(&cookie));
        let reply = Reply::to(datagram, peer.port, peer.tag);
        if let Some(staleness) = cookie.staleness(now)
            && !named
        {
            let mut causes = CauseList::new();
            causes.push(&Cause::StaleCookie { staleness });
            return self.reply(&reply, &OperationError { causes: causes.as_causes() });
        }
        let slot = match existing {
            Some(slot) => {
                let association = self.slab.get_mut(slot);
                if !association.is_some_and(|association| association.on_cookie(now, &cookie, datagram.src)) {
                    return self.touched(slot);
                }
                slot
            }
            // By chance another association got the tag meanwhile: the peer must ask anew.
            None if self.tags.get(cookie.local_tag).is_some() => return,
            None if !self.listening => return self.send_abort(&reply, Causes::default()),
            None if self.slab.is_full() => return self.refuse(&reply, &Cause::OutOfResource),
            None => {
                let random = self.secrets.random.fork();
                self.slab.insert(Association::accept(now, self.local.clone(), &cookie, random)).0
            }
        };
        if let Some(association) = self.slab.get_mut(slot) {
            association.handle_behind_cookie(now, datagram.src, datagram.sent_at, chunks);
        }
        self.touched(slot);
    }

    fn refuse(&mut self, reply: &Reply, cause: &Cause<'_>) {
        let mut causes = CauseList::new();
        causes.push(cause);
        self.send_abort(reply, causes.as_causes());
    }

    fn send_abort(&mut self, reply: &Reply, causes: Causes<'_>) {
        self.reply(reply, &Abort { reflected_tag: false, causes });
    }

    /// Queues a packet with one chunk.
    pub(super) fn reply(&mut self, reply: &Reply, chunk: &impl Encode) {
        if self.strays.len() >= super::STRAYS {
            return;
        }
        let &Reply { src, dst, port, tag } = reply;
        let mut stray = Stray { src, dst, packet: Default::default() };
        let header = CommonHeader { source_port: self.port, destination_port: port, verification_tag: tag };
        let mut w = PacketWriter::new(&mut stray.packet, header, UNDIVIDED);
        if w.push(chunk) {
            w.finish(self.checksum);
            self.strays.push_back(stray);
        }
    }
}

/// The way of an answer that no association sends: from which of our addresses, whereto, and with which tag.
#[derive(Clone, Copy)]
pub(super) struct Reply {
    src: IpAddr,
    dst: IpAddr,
    port: u16,
    tag: u32,
}

impl Reply {
    /// Back to where the packet at hand came from.
    pub(super) fn to(datagram: &Datagram<'_>, port: u16, tag: u32) -> Self {
        Reply { src: datagram.dst, dst: datagram.src, port, tag }
    }
}

fn usable(types: SupportedAddressTypes) -> impl Fn(&IpAddr) -> bool {
    move |address| if address.is_ipv4() { types.ipv4 } else { types.ipv6 }
}
