//! INIT and COOKIE ECHO: how others begin associations (`rfc9260#section-5`).

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
        let reply = Reply { to: datagram, header, tag: init.initiate_tag };
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
        let addresses = || std::iter::once(datagram.src).chain(offer.addresses.iter().copied());
        let name = match self.find(addresses(), header.source_port) {
            Some(slot) => match self.name_for_existing(slot, &reply, addresses()) {
                Some(name) => name,
                None => return,
            },
            None if !self.listening => return self.send_abort(&reply, Causes::default()),
            None if self.slab.is_full() => return self.refuse(&reply, &Cause::OutOfResource),
            None => self.fresh_name(TieTags::NONE),
        };
        self.send_init_ack(now, &reply, init, &offer, name);
    }

    /// The INIT belongs to an association: what the answer announces, if there is to be an INIT ACK
    /// (`rfc9260#section-5.2.1`, `rfc9260#section-5.2.2`).
    fn name_for_existing(
        &mut self,
        slot: u32,
        reply: &Reply<'_>,
        addresses: impl Iterator<Item = IpAddr>,
    ) -> Option<Name> {
        let association = self.slab.get_mut(slot)?;
        let meaning = association.on_unexpected_init();
        if meaning != UnexpectedInit::Ignore {
            let new: Vec<IpAddr> = addresses.filter(|&address| !association.knows(address)).collect();
            if !new.is_empty() && association.has_peer() {
                let mut list = ParameterList::new();
                push_addresses(&mut list, new);
                self.refuse(reply, &Cause::RestartWithNewAddresses(list.as_parameters()));
                return None;
            }
        }
        match meaning {
            UnexpectedInit::Same(ties) => {
                Some(Name { tag: association.local_tag(), tsn: association.initial_tsn(), ties })
            }
            UnexpectedInit::Fresh(ties) => Some(self.fresh_name(ties)),
            UnexpectedInit::Ignore => {
                self.touched(slot);
                None
            }
        }
    }

    fn fresh_name(&mut self, ties: TieTags) -> Name {
        Name { tag: self.fresh_tag(), tsn: self.secrets.random.tsn(), ties }
    }

    fn send_init_ack(
        &mut self,
        now: Instant,
        reply: &Reply<'_>,
        init: &Init<'_>,
        offer: &Offer<'_>,
        name: Name,
    ) {
        let config = &self.local.config;
        let peer = Peer {
            port: reply.header.source_port,
            tag: init.initiate_tag,
            a_rwnd: init.a_rwnd,
            outbound_streams: config.outbound_streams.min(init.inbound_streams),
            inbound_streams: config.max_inbound_streams.min(init.outbound_streams),
            initial_tsn: init.initial_tsn,
            source: reply.to.src,
            addresses: offer.addresses.clone(),
            extensions: offer.extensions.both(Extensions::of(config)),
        };
        let outbound_streams = peer.outbound_streams;
        // A peer that asks for more time gets at most as much again.
        let extra = offer.preservative.unwrap_or(Span::ZERO).min(config.valid_cookie_life);
        let cookie = Cookie {
            created: now,
            lifetime: config.valid_cookie_life + extra,
            local_port: self.port,
            local_tag: name.tag,
            local_tsn: name.tsn,
            ties: name.ties,
            peer,
        };
        let cookie = cookie.seal(&self.secrets.key);
        let mut parameters = ParameterList::new();
        if self.local.addresses.len() > 1 {
            push_addresses(
                &mut parameters,
                self.local.addresses.iter().copied().filter(usable(offer.address_types)),
            );
        }
        parameters.push(&Parameter::StateCookie(&cookie));
        Extensions::of(config).push(&mut parameters);
        for unknown in offer.unknown.as_parameters().iter() {
            if let Ok(Parameter::Unknown(unknown)) = unknown {
                parameters.push(&Parameter::UnrecognizedParameter(unknown.bytes()));
            }
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

    /// Takes a COOKIE ECHO and the chunks behind it (`rfc9260#section-5.1.5`, `rfc9260#section-5.2.4`).
    pub(super) fn on_cookie_echo(&mut self, now: Instant, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        let mut chunks = packet.chunks();
        let Some(Ok(Chunk::CookieEcho(echo))) = chunks.next() else { return };
        let Some(cookie) = Cookie::open(&self.secrets.key, echo.cookie) else { return };
        let (header, peer) = (packet.header, &cookie.peer);
        let addressed = (cookie.local_tag, peer.port) == (header.verification_tag, header.source_port);
        let from_peer = peer.source == datagram.src || peer.addresses.contains(&datagram.src);
        if !addressed || cookie.local_port != self.port || !from_peer {
            return;
        }
        let addresses = std::iter::once(peer.source).chain(peer.addresses.iter().copied());
        let existing = self.find(addresses, peer.port);
        let named = existing.and_then(|slot| self.slab.get(slot)).is_some_and(|a| a.is_named_by(&cookie));
        let reply = Reply { to: datagram, header, tag: peer.tag };
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

    fn refuse(&mut self, reply: &Reply<'_>, cause: &Cause<'_>) {
        let mut causes = CauseList::new();
        causes.push(cause);
        self.send_abort(reply, causes.as_causes());
    }

    fn send_abort(&mut self, reply: &Reply<'_>, causes: Causes<'_>) {
        self.reply(reply, &Abort { reflected_tag: false, causes });
    }

    /// Queues a packet with one chunk back to where the packet at hand came from.
    fn reply(&mut self, reply: &Reply<'_>, chunk: &impl Encode) {
        self.answer_with(reply.to, reply.header.source_port, reply.tag, chunk);
    }

    /// Queues a packet with one chunk back to the source of `datagram`.
    pub(super) fn answer_with(&mut self, datagram: &Datagram<'_>, port: u16, tag: u32, chunk: &impl Encode) {
        if self.strays.len() >= super::STRAYS {
            return;
        }
        let mut stray = Stray { src: datagram.dst, dst: datagram.src, packet: Default::default() };
        let header = CommonHeader { source_port: self.port, destination_port: port, verification_tag: tag };
        let mut w = PacketWriter::new(&mut stray.packet, header, UNDIVIDED);
        if w.push(chunk) {
            w.finish(self.checksum);
            self.strays.push_back(stray);
        }
    }
}

/// Where an answer goes that no association sends.
struct Reply<'a> {
    to: &'a Datagram<'a>,
    header: CommonHeader,
    tag: u32,
}

fn usable(types: SupportedAddressTypes) -> impl Fn(&IpAddr) -> bool {
    move |address| if address.is_ipv4() { types.ipv4 } else { types.ipv6 }
}
