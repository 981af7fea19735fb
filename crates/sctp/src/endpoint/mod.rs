//! The endpoint: a port, its addresses, and all its associations.

mod accept;
mod addresses;
mod arrivals;
mod associations;
mod calls;
#[cfg(test)]
mod channel_tests;
mod config;
mod discarded;
#[cfg(test)]
mod extension_tests;
mod icmp;
mod names;
mod open;
mod out_of_the_blue;
mod tags;

pub use arrivals::{Arrival, ArrivalId, Listen};
pub use config::{Encapsulation, EndpointConfig};
pub use discarded::Discarded;
pub use open::{AcceptError, ConnectError, PairFault};
pub use transport::ConfigError;

use crate::assoc::{Association, CookieKey, Handled, Local, Observers, Remote, precedes_cookie};
use crate::config::Config;
use crate::event::{AssocId, Event};
use crate::random::Random;
use crate::saved::{RestoreError, Saved};
use accept::Reply;
use addresses::Addresses;
use arrivals::Arrivals;
use associations::Associations;
use config::check_addresses;
use names::enter;
use out_of_the_blue::Answer;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use tags::Tags;
use transport::{Agenda, BufferBudget, Checksum, Datagram, PacketBuf, Transmit, Turn, is_unicast};
use units::{Instant, Span};
use wire::{Abort, Auth, Causes, Chunk, CookieEcho, Packet, PacketError, ShutdownComplete};

/// Largest number of waiting answers to packets that belong to no association.
const ANSWERS: usize = 64;

/// An SCTP endpoint: packets in, packets out, and the time is an argument.
///
/// **Change once ([`handle`], [`handle_timeout`], [`connect`], [`accept`], [`send`], [`receive`],
/// [`shutdown`] and so on), then call [`poll_transmit`] and [`poll_event`] until nothing is left, then sleep
/// until [`poll_timeout`].** Time must not run backwards.
///
/// [`handle`]: Self::handle
/// [`handle_timeout`]: Self::handle_timeout
/// [`connect`]: Self::connect
/// [`send`]: Self::send
/// [`receive`]: Self::receive
/// [`accept`]: Self::accept
/// [`shutdown`]: Self::shutdown
/// [`poll_transmit`]: Self::poll_transmit
/// [`poll_event`]: Self::poll_event
/// [`poll_timeout`]: Self::poll_timeout
#[derive(Debug)]
#[repr(C)] // the fields that each packet uses come first
pub struct Endpoint {
    port: u16,
    checksum: Checksum,
    /// True if the endpoint uses UDP encapsulation.
    encapsulated: bool,
    tags: Tags,
    /// The slots of associations that may have packets to send or events to report, in the order in
    /// which they are polled, and the time at which each association wants to be called.
    agenda: Agenda,
    /// Answers that belong to no association and wait to be sent: addresses, and bytes.
    answers: VecDeque<(Transmit, PacketBuf)>,
    associations: Associations,
    local: Arc<Local>,
    /// Slots by address and ports of the peer, for packets without one of our tags.
    addresses: Addresses,
    secrets: Box<Secrets>,
    listen: Listen,
    arrivals: Arrivals,
    discarded: Discarded,
    max_associations: usize,
    observers: Option<Box<dyn Observers>>,
}

/// Secrets of the endpoint. They are large and only needed when associations start, so they are stored apart.
#[derive(Debug)]
struct Secrets {
    random: Random,
    key: CookieKey,
}

fn budget_of(config: &Config) -> Arc<BufferBudget> {
    Arc::new(BufferBudget::new(config.buffer_budget))
}

impl Endpoint {
    /// Makes an endpoint without associations that does not listen.
    ///
    /// # Errors
    /// [`ConfigError`] names an option with an invalid value.
    pub fn new(config: EndpointConfig) -> Result<Endpoint, ConfigError> {
        config.check()?;
        let mut random = Random::new(config.seed);
        let key = CookieKey::new(random.bytes());
        Ok(Endpoint {
            port: config.port,
            checksum: config.checksum,
            secrets: Box::new(Secrets { key: key.clone(), random }),
            listen: Listen::Off,
            arrivals: Arrivals::default(),
            discarded: Discarded::default(),
            encapsulated: config.encapsulation.is_some(),
            max_associations: config.max_associations,
            associations: Associations::new(config.max_associations),
            tags: Tags::new(),
            addresses: Addresses::default(),
            agenda: Agenda::default(),
            answers: VecDeque::new(),
            observers: None,
            local: Arc::new(Local {
                port: config.port,
                addresses: config.addresses,
                checksum: config.checksum,
                remote_udp_port: config.encapsulation.map_or(0, |encapsulation| encapsulation.remote_port),
                budget: budget_of(&config.config),
                config: config.config,
                key,
                saved: Saved::default(),
            }),
        })
    }

    /// Sets the addresses of later associations. Existing associations keep their addresses:
    /// [`add_local_address`](Self::add_local_address) and
    /// [`remove_local_address`](Self::remove_local_address) change them.
    ///
    /// # Errors
    /// [`ConfigError`] names an unusable address; nothing changes then.
    pub fn set_addresses(&mut self, addresses: Vec<IpAddr>) -> Result<(), ConfigError> {
        check_addresses(&addresses)?;
        Arc::make_mut(&mut self.local).addresses = addresses;
        Ok(())
    }

    /// Sets the options of later associations. If `buffer_budget` changes, they have a budget of their own.
    ///
    /// If a peer already has an INIT ACK of this endpoint, its association has the extensions and streams
    /// that the INIT ACK announced, and otherwise the new options. If `auth_chunks`, `auth_hmacs` or
    /// `asconf` changed with AUTH on, the handshake of such a peer fails, and the peer must begin again.
    ///
    /// # Errors
    /// [`ConfigError`] names an option with an invalid value; nothing changes then.
    pub fn set_config(&mut self, config: Arc<Config>) -> Result<(), ConfigError> {
        config.check()?;
        let local = Arc::make_mut(&mut self.local);
        if config.buffer_budget != local.config.buffer_budget {
            local.budget = budget_of(&config);
        }
        local.config = config;
        Ok(())
    }

    /// Sets which peers may begin associations; `true` means [`Listen::Accept`] and `false`
    /// [`Listen::Off`].
    pub fn listen(&mut self, who: impl Into<Listen>) {
        self.listen = who.into();
    }

    /// Returns cwnd and RTT of paths as text for [`Self::restore_paths`] of a later endpoint: at most
    /// 1024 lines, for paths of ended associations and for paths in use. `wall` is the present Unix
    /// time. Only associations with the option `resume` save paths. The values are valid for an hour.
    pub fn saved_paths(&self, now: Instant, wall: Span) -> String {
        let in_use = self.associations.iter().flat_map(Association::carried);
        self.local.saved.encode(now, wall, in_use)
    }

    /// Adds the paths that [`Self::saved_paths`] of an earlier endpoint returned, except those that
    /// are too old at the Unix time `wall`. Never pass a text that a peer sent.
    ///
    /// # Errors
    /// [`RestoreError`]; nothing changes then.
    pub fn restore_paths(&mut self, now: Instant, wall: Span, text: &str) -> Result<(), RestoreError> {
        self.local.saved.decode(now, wall, text)
    }

    /// Observes later associations, for example to log them.
    pub fn observe(&mut self, observers: impl Observers + 'static) {
        self.observers = Some(Box::new(observers));
    }

    /// The packets discarded so far, by cause.
    pub fn discarded(&self) -> Discarded {
        self.discarded
    }

    /// Processes a packet of arbitrary bytes; an invalid packet is discarded and counted.
    pub fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        let packet = match Packet::parse(datagram.bytes, self.checksum) {
            Ok(_) if datagram.udp_port != 0 && !self.encapsulated => {
                return self.discarded.encapsulated += 1;
            }
            Ok(packet) => packet,
            Err(PacketError::TooShort(_)) => return self.discarded.too_short += 1,
            Err(PacketError::BadChecksum { .. }) => return self.on_damaged(now, &datagram),
        };
        let header = packet.header;
        let first = datagram.bytes.head.get(wire::CommonHeader::LEN);
        let authenticated = first == Some(&Auth::TYPE);
        let echo = first == Some(&CookieEcho::TYPE) || (authenticated && precedes_cookie(datagram.bytes));
        if !echo
            && header.destination_port == self.port
            && let Some(slot) = self.tags.get(header.verification_tag)
            && let Some(association) = self.associations.get_mut(slot)
            && association.peer_port() == header.source_port
        {
            if association.channel() != datagram.channel {
                return self.discarded.wrong_channel += 1;
            }
            if authenticated {
                let other = |remote: &Remote| self.addresses.owner(remote).is_some_and(|owner| owner != slot);
                association.note_taken(&datagram, packet.chunks(), other);
            }
            match association.handle(now, &datagram, packet.chunks()) {
                Handled::Here => {}
                Handled::CutShort => self.discarded.malformed += 1,
                Handled::OutOfTheBlue => return self.on_out_of_the_blue(&datagram, &packet),
            }
            if enter(&mut self.agenda, slot, association) {
                self.rename(slot);
            }
        } else {
            self.handle_unnamed(now, &datagram, &packet);
        }
    }

    /// Discards a packet with a wrong checksum. An association may report it if source, ports and tag are
    /// those of the association; the tag alone is not enough, since it may be damaged.
    #[cold]
    fn on_damaged(&mut self, now: Instant, datagram: &Datagram<'_>) {
        self.discarded.bad_checksum += 1;
        let Ok(packet) = Packet::parse(datagram.bytes, Checksum::Offloaded) else { return };
        let (header, encapsulated) = (packet.header, datagram.udp_port != 0);
        if header.destination_port != self.port || (encapsulated && !self.encapsulated) {
            return;
        }
        let remote = Remote::of(datagram, header.source_port);
        if let Some(slot) = self.addresses.owner(&remote)
            && let Some(association) = self.associations.get_mut(slot)
            && association.local_tag() == header.verification_tag
            && association.report_damaged(now, datagram, &packet)
        {
            self.schedule(slot);
        }
    }

    /// Processes a packet without the tag of an association (`rfc9260#section-8.5`).
    fn handle_unnamed(&mut self, now: Instant, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        let header = packet.header;
        if header.destination_port != self.port || header.source_port == 0 {
            return self.discarded.wrong_port += 1;
        }
        if !is_unicast(datagram.src) || !is_unicast(datagram.dst) {
            return self.discarded.wrong_address += 1;
        }
        let reachable = self.local.address_towards(datagram.src).is_some();
        let mut chunks = packet.chunks();
        match (chunks.next(), chunks.next()) {
            (Some(Ok(Chunk::Init(init))), None) => self.on_init(now, datagram, header, &init),
            _ if !reachable => self.discarded.wrong_address += 1,
            (Some(Ok(Chunk::CookieEcho(_))), _)
            | (Some(Ok(Chunk::Auth(_))), Some(Ok(Chunk::CookieEcho(_)))) => {
                self.on_cookie_echo(now, datagram, packet)
            }
            (Some(Ok(first)), _) if self.arrivals.contains(header.verification_tag) => {
                self.on_packet_of_arrival(datagram, packet, &first);
            }
            (Some(Ok(first)), _) => self.handle_without_tag(now, datagram, packet, &first),
            (Some(Err(_)), _) => self.discarded.malformed += 1,
            (None, _) => self.discarded.out_of_the_blue += 1,
        }
    }

    /// Processes a packet that neither starts an association nor has one of our tags. The packet may be the
    /// ABORT or SHUTDOWN COMPLETE of a peer that no longer has the association.
    fn handle_without_tag(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
        first: &Chunk<'_>,
    ) {
        let header = packet.header;
        let remote = Remote::of(datagram, header.source_port);
        let confirmed = self.addresses.owner(&remote).is_some();
        let user = self.addresses.user(&remote);
        let Some((slot, association)) = user.and_then(|slot| Some((slot, self.associations.get_mut(slot)?)))
        else {
            return self.on_out_of_the_blue(datagram, packet);
        };
        if matches!(first, Chunk::ShutdownAck(_)) && association.is_opening() {
            self.on_out_of_the_blue(datagram, packet);
        } else if association.peer_tag() == header.verification_tag && association.peer_tag() != 0 {
            association.handle_reflected(now, datagram, first);
            self.schedule(slot);
        } else if !confirmed && !matches!(first, Chunk::InitAck(_)) {
            // A peer that lists the address of another host must not suppress our answers to that host.
            self.on_out_of_the_blue(datagram, packet);
        } else {
            self.discarded.wrong_tag += 1;
        }
    }

    /// Answers an out of the blue packet (`rfc9260#section-8.4`) to its source.
    fn on_out_of_the_blue(&mut self, datagram: &Datagram<'_>, packet: &Packet<'_>) {
        self.discarded.out_of_the_blue += 1;
        if !is_unicast(datagram.src) || !is_unicast(datagram.dst) {
            return;
        }
        let reply = Reply::to(datagram, packet.header.source_port, packet.header.verification_tag);
        match out_of_the_blue::answer(packet) {
            Answer::Silence => {}
            Answer::ShutdownComplete => self.reply(&reply, &ShutdownComplete { reflected_tag: true }),
            Answer::Abort => {
                self.reply(&reply, &Abort { reflected_tag: true, causes: Causes::default() });
            }
        }
    }

    /// Writes the next packet into `buf` and returns its addresses; none if there is nothing to send now.
    /// Every call that changes the endpoint may make further packets ready.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        if !self.answers.is_empty() {
            return self.answer(buf);
        }
        while let Some(slot) = self.agenda.first(Turn::Send) {
            let mut ended = false;
            if let Some(association) = self.associations.get_mut(slot) {
                if let Some(transmit) = association.poll_transmit(now, buf) {
                    if association.is_observed() {
                        association.tell_sent(now, &transmit, buf.as_octets());
                    }
                    return Some(Transmit { channel: association.channel(), ..transmit });
                }
                if association.is_observed() {
                    association.tell_change(now);
                }
                if let Some(at) = association.poll_timeout() {
                    self.agenda.arm(slot, at);
                }
                ended = association.is_closed();
            }
            self.agenda.leave(Turn::Send);
            if ended {
                self.reap(slot);
            }
        }
        None
    }

    /// Returns the next answer that belongs to no association.
    #[cold]
    fn answer(&mut self, buf: &mut PacketBuf) -> Option<Transmit> {
        let (transmit, mut packet) = self.answers.pop_front()?;
        std::mem::swap(buf, &mut packet);
        Some(transmit)
    }

    /// Returns the next event; none if there is none. Every call that changes the endpoint, except
    /// [`Self::poll_transmit`], may cause further events.
    #[inline]
    pub fn poll_event(&mut self) -> Option<(AssocId, Event)> {
        while let Some(slot) = self.agenda.first(Turn::Tell) {
            let mut ended = false;
            if let Some(association) = self.associations.get_mut(slot) {
                if let Some(event) = association.next_event() {
                    return Some((association.id, event));
                }
                ended = association.is_closed();
            }
            self.agenda.leave(Turn::Tell);
            if ended {
                self.reap(slot);
            }
        }
        None
    }

    /// Time at which to call [`Self::handle_timeout`] if no other call comes first; none if no timer runs.
    /// The time may be earlier than necessary. It is valid once [`Self::poll_transmit`] returns `None`.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// Processes the expired timers.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(slot) = self.agenda.pop(now) {
            let Some(association) = self.associations.get_mut(slot) else { continue };
            match association.poll_timeout() {
                Some(at) if at <= now => {
                    association.handle_timeout(now);
                    self.schedule(slot);
                }
                Some(at) => self.agenda.arm(slot, at),
                None => {}
            }
        }
    }
}

transport::endpoint_by_own_methods!(Endpoint, AssocId, Event);
