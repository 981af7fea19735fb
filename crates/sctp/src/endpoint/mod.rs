//! The endpoint: a port, its addresses, and all its associations.

mod accept;
mod addresses;
mod config;
mod cookie;
mod random;
mod slab;
mod stray;
mod tags;

use crate::config::LEAST_WINDOW;
pub use config::EndpointConfig;
pub(crate) use cookie::Cookie;
pub(crate) use random::Random;
pub use random::Seed;
#[cfg(feature = "system-seed")]
pub use random::SeedError;
pub use transport::ConfigError;

use crate::assoc::{AssocOptions, AssocStats, Association, Handled, Local, PathInfo, State};
use crate::event::{AssocId, Event};
use crate::message::{Message, Received, SendError};
use accept::Reply;
use addresses::Addresses;
use cookie::CookieKey;
use slab::Slab;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use stray::Answer;
use tags::Tags;
use transport::{Agenda, Checksum, Datagram, PacketBuf, Transmit, Turn, is_unicast};
use units::Instant;
use wire::{Abort, Causes, Chunk, CookieEcho, Packet, Sack, ShutdownComplete};

/// Why no association was begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// None of the addresses can be reached from ours.
    #[error("no remote address is a unicast address of a kind that we have, too")]
    NoUsableAddress,
    /// Port 0 is nobody's.
    #[error("the remote port is 0: expected 1 to 65535")]
    PortZero,
    /// There is an association with this address and port already.
    #[error("there is an association with {address} at this port already")]
    Exists {
        /// The address it has.
        address: IpAddr,
    },
    /// All places are taken.
    #[error("the endpoint has {limit} associations, and may have no more")]
    TooManyAssociations {
        /// `max_associations`.
        limit: usize,
    },
}

/// Answers that no association sends and that may wait to be sent.
const STRAYS: usize = 64;

#[derive(Debug)]
struct Stray {
    src: IpAddr,
    dst: IpAddr,
    packet: PacketBuf,
}

/// An SCTP endpoint: packets in, packets out, and the time is an argument.
///
/// **Change once ([`handle`], [`handle_timeout`], [`connect`], [`send`], [`receive`], [`heartbeat`], [`shutdown`],
/// [`abort`]), then call [`poll_transmit`] and [`poll_event`] until nothing is left, then sleep until
/// [`poll_timeout`].** Time must not run backwards.
///
/// [`handle`]: Self::handle
/// [`handle_timeout`]: Self::handle_timeout
/// [`connect`]: Self::connect
/// [`send`]: Self::send
/// [`receive`]: Self::receive
/// [`heartbeat`]: Self::heartbeat
/// [`shutdown`]: Self::shutdown
/// [`abort`]: Self::abort
/// [`poll_transmit`]: Self::poll_transmit
/// [`poll_event`]: Self::poll_event
/// [`poll_timeout`]: Self::poll_timeout
#[derive(Debug)]
#[repr(C)] // what a packet looks at first
pub struct Endpoint {
    port: u16,
    checksum: Checksum,
    listening: bool,
    tags: Tags,
    /// Whose turn it is, by place.
    agenda: Agenda,
    strays: VecDeque<Stray>,
    slab: Slab,
    local: Arc<Local>,
    /// Places by address and port of the peer: for packets without a tag of ours.
    addresses: Addresses,
    secrets: Box<Secrets>,
    max_associations: usize,
}

/// What nobody can guess. Large, and needed only where associations begin.
#[derive(Debug)]
struct Secrets {
    random: Random,
    key: CookieKey,
}

impl Endpoint {
    /// An endpoint without associations that does not listen.
    ///
    /// # Errors
    /// [`ConfigError`] names an option whose value cannot work.
    pub fn new(config: EndpointConfig) -> Result<Endpoint, ConfigError> {
        config.check()?;
        let mut random = Random::new(config.seed);
        Ok(Endpoint {
            port: config.port,
            checksum: config.checksum,
            secrets: Box::new(Secrets { key: CookieKey::new(random.bytes()), random }),
            listening: false,
            max_associations: config.max_associations,
            slab: Slab::new(config.max_associations),
            tags: Tags::new(),
            addresses: Addresses::default(),
            agenda: Agenda::default(),
            strays: VecDeque::new(),
            local: Arc::new(Local {
                port: config.port,
                addresses: config.addresses,
                checksum: config.checksum,
                config: config.config,
            }),
        })
    }

    /// Whether others may begin associations.
    pub fn listen(&mut self, accept: bool) {
        self.listening = accept;
    }

    /// Begins an association with the peer at the given addresses, the first of which is tried first.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing changes then.
    pub fn connect(
        &mut self,
        now: Instant,
        remote_port: u16,
        remotes: &[IpAddr],
    ) -> Result<AssocId, ConnectError> {
        if remote_port == 0 {
            return Err(ConnectError::PortZero);
        }
        let mut usable: Vec<IpAddr> = Vec::new();
        for &address in remotes {
            let reachable = self.local.addresses.iter().any(|ours| ours.is_ipv4() == address.is_ipv4());
            if is_unicast(address) && reachable && !usable.contains(&address) {
                usable.push(address);
            }
        }
        if usable.is_empty() {
            return Err(ConnectError::NoUsableAddress);
        }
        let known = |address: &&IpAddr| self.addresses.owner(**address, remote_port).is_some();
        if let Some(&address) = usable.iter().find(known) {
            return Err(ConnectError::Exists { address });
        }
        if self.slab.is_full() {
            return Err(ConnectError::TooManyAssociations { limit: self.max_associations });
        }
        let tag = self.fresh_tag();
        let random = self.secrets.random.fork();
        let association = Association::connect(now, self.local.clone(), tag, remote_port, usable, random);
        let (slot, id) = self.slab.insert(association);
        self.touched(slot);
        Ok(id)
    }

    /// Takes a packet. Whatever its bytes, it does no harm.
    pub fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        let Ok(packet) = Packet::parse(datagram.bytes, self.checksum) else { return };
        let header = packet.header;
        let echo = datagram.bytes.head.get(wire::CommonHeader::LEN) == Some(&CookieEcho::TYPE);
        if !echo
            && header.destination_port == self.port
            && let Some(slot) = self.tags.get(header.verification_tag)
            && let Some(association) = self.slab.get_mut(slot)
            && association.peer_port() == header.source_port
        {
            if datagram.bytes.head.get(wire::CommonHeader::LEN) == Some(&Sack::TYPE) {
                association.fetch();
            }
            match association.handle(now, datagram.src, datagram.sent_at, packet.chunks()) {
                Handled::Here => self.touched(slot),
                Handled::OutOfTheBlue => self.on_stray(&datagram, &packet),
            }
        } else {
            self.handle_unnamed(now, &datagram, &packet);
        }
    }

    /// A packet that does not bear the tag of an association (`rfc9260#section-8.5`).
    fn handle_unnamed(&mut self, now: Instant, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        let header = packet.header;
        let addressed = header.destination_port == self.port && header.source_port != 0;
        let reachable = self.local.address_towards(datagram.src).is_some();
        if !addressed || !reachable || !is_unicast(datagram.src) || !is_unicast(datagram.dst) {
            return;
        }
        let mut chunks = packet.chunks();
        match (chunks.next(), chunks.next()) {
            (Some(Ok(Chunk::Init(init))), None) => self.on_init(now, datagram, header, &init),
            (Some(Ok(Chunk::CookieEcho(_))), _) => self.on_cookie_echo(now, datagram, packet),
            (Some(Ok(first)), _) => match self.addresses.user(datagram.src, header.source_port) {
                Some(slot) => {
                    let Some(association) = self.slab.get_mut(slot) else { return };
                    let confirmed = self.addresses.owner(datagram.src, header.source_port).is_some();
                    if matches!(first, Chunk::ShutdownAck(_)) && association.is_opening() {
                        self.on_stray(datagram, packet);
                    } else if association.peer_tag() == header.verification_tag && association.peer_tag() != 0
                    {
                        association.handle_reflected(now, &first);
                        self.touched(slot);
                    } else if !confirmed && !matches!(first, Chunk::InitAck(_)) {
                        // Whoever lists the address of another does not silence us towards it.
                        self.on_stray(datagram, packet);
                    }
                }
                None => self.on_stray(datagram, packet),
            },
            _ => {}
        }
    }

    /// Answers a packet out of the blue (`rfc9260#section-8.4`).
    fn on_stray(&mut self, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        if !is_unicast(datagram.src) || !is_unicast(datagram.dst) {
            return;
        }
        let reply = Reply::to(datagram, packet.header.source_port, packet.header.verification_tag);
        match stray::answer(packet) {
            Answer::Silence => {}
            Answer::ShutdownComplete => self.reply(&reply, &ShutdownComplete { reflected_tag: true }),
            Answer::Abort => {
                self.reply(&reply, &Abort { reflected_tag: true, causes: Causes::default() });
            }
        }
    }

    /// Writes the next packet into `buf` and says where it goes; none if there is nothing to send now. The answer may
    /// change after every call that takes the time.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        if let Some(mut stray) = self.strays.pop_front() {
            std::mem::swap(buf, &mut stray.packet);
            return Some(Transmit::new(stray.src, stray.dst));
        }
        while let Some(slot) = self.agenda.first(Turn::Send) {
            if let Some(association) = self.slab.get_mut(slot) {
                if let Some((src, dst)) = association.poll_transmit(now, buf) {
                    return Some(Transmit::new(src, dst));
                }
                if let Some(at) = association.poll_timeout() {
                    self.agenda.arm(slot, at);
                }
            }
            self.agenda.leave(Turn::Send);
            self.reap(slot);
        }
        None
    }

    /// The next event; none if nothing happened. The answer may change after every call that takes the time but
    /// [`Self::poll_transmit`].
    pub fn poll_event(&mut self) -> Option<(AssocId, Event)> {
        while let Some(slot) = self.agenda.first(Turn::Tell) {
            if let Some(association) = self.slab.get_mut(slot)
                && let Some(event) = association.next_event()
            {
                return Some((association.id, event));
            }
            self.agenda.leave(Turn::Tell);
            self.reap(slot);
        }
        None
    }

    /// When to call [`Self::handle_timeout`] if nothing happens before; none if never. It may be earlier than
    /// needed. Valid once [`Self::poll_transmit`] has nothing left.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// Does what has become due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(slot) = self.agenda.pop(now) {
            let Some(association) = self.slab.get_mut(slot) else { continue };
            match association.poll_timeout() {
                Some(at) if at <= now => {
                    association.handle_timeout(now);
                    self.touched(slot);
                }
                Some(at) => self.agenda.arm(slot, at),
                None => {}
            }
        }
    }

    /// Takes a message to send. It may be given before the association stands, and waits then.
    ///
    /// # Errors
    /// [`SendError`]; the message is not taken then.
    pub fn send(&mut self, now: Instant, id: AssocId, message: Message) -> Result<(), SendError> {
        let slot = self.slab.slot(id).ok_or(SendError::Closed)?;
        let association = self.slab.get_mut(slot).ok_or(SendError::Closed)?;
        association.send(now, message)?;
        self.touched(slot);
        Ok(())
    }

    /// The next message, or at most `max` bytes of it; none if there is nothing to read. What arrived before the
    /// association ended can still be read after [`Event::Closed`].
    pub fn receive(&mut self, _now: Instant, id: AssocId, max: usize) -> Option<Received> {
        let slot = self.slab.slot(id)?;
        let received = self.slab.get_mut(slot)?.receive(max)?;
        self.touched(slot);
        Some(received)
    }

    /// Ends an association once everything is delivered (`rfc9260#section-9.2`).
    pub fn shutdown(&mut self, now: Instant, id: AssocId) {
        self.change(id, |association| association.shutdown(now));
    }

    /// Ends an association at once and tells the peer the reason (`rfc9260#section-9.1`). What arrived and was not
    /// read is lost.
    pub fn abort(&mut self, _now: Instant, id: AssocId, reason: &[u8]) {
        self.change(id, |association| association.abort(reason));
    }

    /// Sends a heartbeat to an address of the peer now (`rfc9260#section-11.1`); false if the association has no such
    /// path or does not stand.
    pub fn heartbeat(&mut self, now: Instant, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.heartbeat(now, address)).unwrap_or(false)
    }

    /// Makes an address of the peer the primary one: new data goes there as long as it works. False if there is no
    /// such path, or it is not confirmed.
    pub fn set_primary(&mut self, id: AssocId, address: IpAddr) -> bool {
        self.change(id, |association| association.set_primary(address)).unwrap_or(false)
    }

    /// Bytes of the next message that [`Self::receive`] would give, or of what has arrived of a large one; none if there is
    /// nothing to read.
    pub fn next_message_len(&self, id: AssocId) -> Option<usize> {
        self.get(id)?.next_message_len()
    }

    /// The options of an association that can change while it lives; none if it has ended.
    pub fn options(&self, id: AssocId) -> Option<AssocOptions> {
        self.get(id).map(Association::options)
    }

    /// Changes options of one association; timers that run keep their deadlines unless the new ones are earlier. False if
    /// the association has ended.
    ///
    /// # Errors
    /// [`ConfigError`] names an option whose value cannot work; nothing changes then.
    pub fn set_options(
        &mut self,
        now: Instant,
        id: AssocId,
        options: &AssocOptions,
    ) -> Result<bool, ConfigError> {
        self.change(id, |association| association.set_options(now, options))
            .transpose()
            .map(|set| set.is_some())
    }

    /// The state of an association; none if it has ended.
    pub fn state(&self, id: AssocId) -> Option<State> {
        self.get(id)?.state()
    }

    /// The paths of an association in order of their [`PathId`](crate::PathId); none if it has ended.
    pub fn paths(&self, id: AssocId) -> Option<impl Iterator<Item = PathInfo>> {
        self.get(id).map(Association::path_infos)
    }

    /// What an association did so far; none if it has ended and everything was read.
    pub fn stats(&self, id: AssocId) -> Option<AssocStats> {
        self.get(id).map(Association::stats)
    }

    /// The port of an association's peer; none if it has ended.
    pub fn peer_port(&self, id: AssocId) -> Option<u16> {
        self.get(id).map(Association::peer_port)
    }

    /// The associations that have not ended.
    pub fn associations(&self) -> impl Iterator<Item = AssocId> {
        self.slab.iter().filter(|association| !association.is_closed()).map(|association| association.id)
    }

    fn get(&self, id: AssocId) -> Option<&Association> {
        self.slab.get(self.slab.slot(id)?)
    }

    fn change<T>(&mut self, id: AssocId, f: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let slot = self.slab.slot(id)?;
        let result = f(self.slab.get_mut(slot)?);
        self.touched(slot);
        Some(result)
    }

    /// The association with a peer that has one of the addresses for sure.
    fn find(&self, mut addresses: impl Iterator<Item = IpAddr>, port: u16) -> Option<u32> {
        addresses.find_map(|address| self.addresses.owner(address, port))
    }

    fn fresh_tag(&mut self) -> u32 {
        loop {
            let tag = self.secrets.random.tag();
            if self.tags.get(tag).is_none() {
                return tag;
            }
        }
    }

    /// An association may have changed: asks it what follows from that.
    #[inline]
    fn touched(&mut self, slot: u32) {
        let place = self.slab.place(slot);
        let Some(association) = &mut place.association else { return };
        self.agenda.enter(Turn::Send, slot);
        if association.has_events() {
            self.agenda.enter(Turn::Tell, slot);
        }
        if association.is_closed() || association.take_renamed() {
            self.rename(slot);
        }
    }

    /// The tag or the addresses of an association changed, or it ended and has none any more.
    #[cold]
    fn rename(&mut self, slot: u32) {
        self.forget_names(slot);
        if self.slab.get_mut(slot).is_some_and(Association::take_adopted) {
            self.end_duplicate(slot);
        }
        if self.slab.get(slot).is_some_and(Association::is_closed) {
            return self.agenda.disarm(slot);
        }
        let place = self.slab.place(slot);
        let Some(association) = &mut place.association else { return };
        while association.is_opening() && self.tags.get(association.local_tag()).is_some() {
            association.draw_tag(); // another association has it by chance
        }
        place.tag = association.local_tag();
        self.tags.insert(place.tag, slot);
        for (address, confirmed) in association.remotes() {
            if self.addresses.claim(address, association.peer_port(), slot, confirmed) {
                place.addresses.push(address);
            }
        }
    }

    /// The peer of an association has named its addresses: if another one is with the same peer, this one ends, or waits.
    fn end_duplicate(&mut self, slot: u32) {
        let others = self.others_with_peer_of(slot);
        let Some(this) = self.slab.get(slot) else { return };
        let first =
            others.iter().filter_map(|&other| self.slab.get(other)).find(|other| this.yields_to(other));
        let of = first.map(|first| first.id);
        let Some(this) = self.slab.get_mut(slot) else { return };
        match of {
            Some(of) => {
                this.end_as_duplicate(of);
                self.agenda.enter(Turn::Tell, slot);
                // What this one was found under belongs to the others.
                others.into_iter().for_each(|other| self.rename(other));
            }
            None if !others.is_empty() => this.hold_cookie(),
            None => {}
        }
    }

    /// The other associations whose peer has named its addresses and has one of those of the peer of this one.
    fn others_with_peer_of(&self, slot: u32) -> Vec<u32> {
        let Some(this) = self.slab.get(slot) else { return Vec::new() };
        let owners =
            this.remotes().filter_map(|(address, _)| self.addresses.owner(address, this.peer_port()));
        let named = |owner: &u32| *owner != slot && self.slab.get(*owner).is_some_and(Association::has_peer);
        let mut others: Vec<u32> = owners.filter(named).collect();
        others.dedup();
        others
    }

    fn forget_names(&mut self, slot: u32) {
        let place = self.slab.place(slot);
        let Some(association) = &place.association else { return };
        self.tags.remove(std::mem::take(&mut place.tag));
        for address in place.addresses.drain(..) {
            self.addresses.release(address, association.peer_port(), slot);
        }
    }

    /// Frees the place of an association that has ended, once nothing of it is left to send, to tell or to read.
    fn reap(&mut self, slot: u32) {
        let over = |association: &Association| association.is_closed() && !association.is_readable();
        if self.agenda.is_idle(slot) && self.slab.get(slot).is_some_and(over) {
            self.slab.remove(slot);
        }
    }
}

impl transport::Endpoint for Endpoint {
    type Id = AssocId;
    type Event = Event;

    #[inline]
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.handle(now, datagram);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        self.poll_transmit(now, buf)
    }

    #[inline]
    fn poll_event(&mut self) -> Option<(AssocId, Event)> {
        self.poll_event()
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    #[inline]
    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }
}
