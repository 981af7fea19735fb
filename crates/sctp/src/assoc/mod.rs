//! An association: its state machine, its paths, and its sender and receiver of data.
//!
//! A method that may change the time of a timer has the argument `now`, and calls
//! [`Association::settle`] at its end. After each change the caller polls for packets and events.

mod addresses;
mod asconf;
mod attempt;
mod auth;
mod changes;
mod collision;
mod control;
mod cookie;
mod damaged;
mod dispatch;
mod ecn;
mod events;
mod fault;
mod handshake;
mod heartbeat_info;
mod icmp;
mod info;
mod locals;
mod mtu;
mod observer;
mod offer;
mod options;
mod output;
mod packet_drop;
mod path_options;
mod path_set;
mod phase;
mod re_config;
mod restart;
mod sack_path;
mod shutdown;
mod timers;

pub(crate) use auth::precedes_cookie;
pub(crate) use collision::TieTags;
pub(crate) use cookie::{Cookie, CookieKey, Envelope};
pub(crate) use dispatch::Handled;
pub use info::{AssocStats, PathInfo, State};
pub use observer::{Observed, ObservedPath, Observer, Observers};
pub(crate) use offer::{Offer, OfferError, push_addresses};
pub use options::AssocOptions;
pub(crate) use path_set::Given;
pub(crate) use restart::UnexpectedInit;

use crate::config::Config;
use crate::error::{PathError, StreamError};
use crate::event::{AssocId, Event};
use crate::ext::asconf::AsconfState;
use crate::ext::auth::Terms;
use crate::ext::{Ext, Extensions};
use crate::message::{Message, MessageId, Received, SendError, Unread};
use crate::path::{Path, PathId, PathOptions, Paths};
use crate::random::Random;
use crate::rx::Receiver;
use crate::saved::Saved;
use crate::tx::Sender;
use auth::AuthState;
use control::Control;
use events::Events;
use fault::Probes;
use packet_drop::ReportLimit;
use phase::{Begun, Phase, Retry};
use re_config::ReConfiguration;
use sack_path::Detour;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{BufferBudget, Channel, Checksum, Datagram};
use units::Instant;
use wire::{StreamId, Tsn};

/// The parameters that all associations of an endpoint share.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) port: u16,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) checksum: Checksum,
    /// UDP port of a peer before its first packet; 0 if packets are not encapsulated.
    pub(crate) remote_udp_port: u16,
    /// Options of associations without options of their own.
    pub(crate) config: Arc<Config>,
    /// Secret of the endpoint, from which the random numbers for AUTH are derived.
    pub(crate) key: CookieKey,
    /// Bytes by which the buffers of all associations may grow together.
    pub(crate) budget: Arc<BufferBudget>,
    /// cwnd and RTT of earlier paths, for the option `resume`.
    pub(crate) saved: Saved,
}

/// The parameters of an INIT or INIT ACK, with the negotiated numbers of streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) port: u16,
    pub(crate) tag: u32,
    pub(crate) a_rwnd: u32,
    /// Number of streams on which we may send.
    pub(crate) outbound_streams: u16,
    /// Number of streams on which the peer may send.
    pub(crate) inbound_streams: u16,
    pub(crate) initial_tsn: Tsn,
    /// The source of the INIT or INIT ACK; in a cookie, the destination of our INIT ACK.
    pub(crate) source: IpAddr,
    /// The addresses that the peer listed.
    pub(crate) addresses: Vec<IpAddr>,
    /// The extensions that both ends support.
    pub(crate) extensions: Extensions,
    /// The announcements of the peer for AUTH; none unless both sides support it.
    pub(crate) auth: Option<Terms>,
    /// The Adaptation Layer Indication of the peer.
    pub(crate) adaptation: Option<u32>,
}

/// Channel (number of an authenticated peer), source address and ports of a peer's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Remote {
    /// Keeps apart two authenticated peers that have the same address and ports, or claim to.
    pub(crate) channel: Channel,
    pub(crate) address: IpAddr,
    /// The SCTP port.
    pub(crate) port: u16,
    /// The UDP port; 0 if not encapsulated. The field is last, so that entries of one SCTP port are adjacent.
    pub(crate) udp_port: u16,
}

impl Remote {
    /// The source of a packet with this SCTP source port.
    pub(crate) fn of(datagram: &Datagram<'_>, port: u16) -> Self {
        let &Datagram { src, udp_port, channel, .. } = datagram;
        Remote { channel, address: src, port, udp_port }
    }
}

/// An association. The fields are in the order in which the processing of a packet needs them, because most
/// associations are not in the CPU cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Association {
    /// Consecutive errors (`rfc9260#section-8.1`).
    errors: u32,
    /// The peer's tag; zero while it is unknown.
    peer_tag: u32,
    peer_port: u16,
    /// Copies of fields of [`Local`], in the cache line of the association.
    port: u16,
    checksum: Checksum,
    /// True if the tags, addresses or UDP ports by which packets find the association changed.
    renamed: bool,
    /// True if the peer of an association that we began has named its addresses, and they are not yet
    /// compared with those of other associations.
    adopted: bool,
    extensions: Extensions,
    /// The channel of all packets of this association, in both directions: the number of an
    /// authenticated peer.
    channel: Channel,
    packets_received: u64,
    paths: Paths,
    /// The discriminant of the phase is in the first cache line, its data in the next.
    phase: Phase,
    events: Events,
    control: Control,
    packets_sent: u64,
    /// Set when the association gets its slot.
    pub(crate) id: AssocId,
    /// True if our user began the association.
    began: bool,
    observer: Option<Box<dyn Observer>>,

    sender: Sender,
    /// None until the peer's initial TSN is known.
    receiver: Option<Receiver>,
    /// The path of the next SACK, if it differs from the path on which the acknowledged data arrived.
    detour: Option<Detour>,

    local: Arc<Local>,
    probes: Probes,
    /// Limits the rate of reports of damaged packets.
    reports: ReportLimit,
    /// Number of transitions of paths out of Active.
    failures: u64,
    local_tag: u32,
    ties: TieTags,
    initial_tsn: Tsn,
    streams: (u16, u16),
    given: Given,
    /// Addresses of the peer without a path: the family is unused, the limit is reached, or the user named no
    /// pair with them.
    unused: Vec<IpAddr>,
    /// Addresses of the endpoint that this association no longer uses.
    lost_locals: Vec<IpAddr>,
    /// Local addresses of this association that the endpoint does not have.
    gained_locals: Vec<IpAddr>,
    /// Options that our user set for the paths from a local address.
    path_options: Vec<(IpAddr, PathOptions)>,
    /// State of AUTH; none until a key is set or AUTH is agreed on.
    auth: Option<Box<AuthState>>,
    /// The Adaptation Layer Indication of the peer.
    adaptation: Option<u32>,
    /// State of ASCONF; none unless both ends support it.
    asconf: Option<Box<AsconfState>>,
    /// T4 of the outstanding ASCONF.
    t4: Option<asconf::T4>,
    /// Chunks that were discarded because no valid AUTH chunk came before them.
    unauthenticated: u64,
    /// The Initiate Tag of the last INIT of the peer that crossed our INIT and that we answered with
    /// our tag; zero if there was none.
    promised: u32,
    random: Random,
    /// State of RE-CONFIG; none unless both ends support it.
    re_config: Option<Box<ReConfiguration>>,
}

impl Association {
    /// Begins an association for the user: INIT is ready to be sent on the first path.
    pub(crate) fn connect(
        now: Instant,
        local: Arc<Local>,
        config: Arc<Config>,
        tag: u32,
        (peer_port, channel): (u16, Channel),
        given: Given,
        random: Random,
    ) -> Self {
        let mut association = Self::new(now, local, config, tag, (peer_port, channel), random);
        association.began = true;
        let remotes = given.remotes();
        association.given = given;
        let udp_port = association.local.remote_udp_port;
        association.paths = association.paths_to(&remotes, &remotes, |_| udp_port);
        association.control.push(PathId(0), control::Pending::Init);
        let Phase::CookieWait { t1, .. } = &mut association.phase else { unreachable!("it was made so") };
        *t1 = Retry::start(now, PathId(0), &association.paths);
        association.shorten_t1_init(now);
        association.settle(now);
        association
    }

    /// Begins an association from a valid cookie, which came in `datagram`.
    pub(crate) fn accept(
        now: Instant,
        local: Arc<Local>,
        config: Arc<Config>,
        cookie: &Cookie,
        datagram: &Datagram<'_>,
        random: Random,
    ) -> Self {
        let at = (cookie.peer.port, cookie.channel);
        let mut association = Self::new(now, local, config, cookie.local_tag, at, random);
        association.begin_anew(now, cookie, datagram);
        association.tell_connected();
        association
    }

    fn new(
        now: Instant,
        local: Arc<Local>,
        config: Arc<Config>,
        tag: u32,
        (peer_port, channel): (u16, Channel),
        mut random: Random,
    ) -> Self {
        let initial_tsn = random.tsn();
        let t1 = Retry { path: PathId(0), deadline: now, count: 0 };
        let begun = Begun { at: now, stale: 0, shutdown: false };
        Association {
            phase: Phase::CookieWait { t1, begun, preservative: None },
            id: AssocId(0),
            began: false,
            observer: None,
            local_tag: tag,
            peer_tag: 0,
            peer_port,
            channel,
            port: local.port,
            checksum: local.checksum,
            ties: TieTags { local: random.tag(), peer: random.tag() },
            initial_tsn,
            given: Given::Remotes(Vec::new()),
            unused: Vec::new(),
            lost_locals: Vec::new(),
            gained_locals: Vec::new(),
            path_options: Vec::new(),
            auth: None,
            adaptation: None,
            asconf: None,
            t4: None,
            unauthenticated: 0,
            promised: 0,
            paths: Paths::default(),
            sender: Sender::new(config, random.number(), initial_tsn),
            receiver: None,
            detour: None,
            streams: (0, 0),
            extensions: Extensions::default(),
            errors: 0,
            probes: Probes::default(),
            reports: ReportLimit::default(),
            failures: 0,
            control: Control::default(),
            events: Events::default(),
            random,
            packets_sent: 0,
            packets_received: 0,
            renamed: true,
            adopted: false,
            re_config: None,
            local,
        }
    }

    /// Returns another reference to the shared options of the association.
    pub(crate) fn shared_config(&self) -> Arc<Config> {
        self.sender.shared_config()
    }

    fn config(&self) -> &Config {
        self.sender.config()
    }

    /// Reports that the handshake is complete.
    fn tell_connected(&mut self) {
        self.events.push(self.connected());
        if let Some(code) = self.adaptation {
            self.events.push(Event::Adaptation { code });
        }
    }

    fn connected(&self) -> Event {
        let (outbound_streams, inbound_streams) = self.streams;
        let peer_addresses = path_set::distinct(self.paths.iter().map(|path| path.remote));
        let peer_port = self.peer_port;
        Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port }
    }

    /// Does the work that may follow from any change: continues a shutdown, wakes the sender, queues events.
    fn settle(&mut self, now: Instant) {
        self.settle_inline(now);
    }

    /// As [`Self::settle`], inlined for the calls of each packet and message.
    #[inline(always)]
    fn settle_inline(&mut self, now: Instant) {
        let extended = !self.extensions.is_empty();
        if extended && self.re_config.is_some() {
            self.advance_re_config(now);
        }
        self.advance_shutdown(now);
        if extended && self.extensions.has(Ext::Auth) {
            self.advance_extensions(now);
        }
        self.sender.wake(now, &mut self.paths);
        if self.is_readable() {
            self.events.readable();
        }
        if !self.phase.is_closed() && self.sender.take_writable() {
            self.events.writable();
        }
        if self.observer.is_some() {
            self.tell_change(now);
        }
    }

    pub(crate) fn send(&mut self, now: Instant, message: Message) -> Result<Option<MessageId>, SendError> {
        match &self.phase {
            Phase::CookieWait { begun, .. } | Phase::CookieEchoed { begun, .. } if !begun.shutdown => {}
            Phase::Established => {}
            _ => return Err(SendError::Closed),
        }
        if let Some(path) = message.path
            && (self.is_opening() || path.index() >= self.paths.len())
        {
            return Err(SendError::NoSuchPath { path });
        }
        let id = self.sender.push(now, message, &mut self.paths)?;
        self.settle_inline(now);
        Ok(id)
    }

    /// Sets the priority or weight of a stream.
    pub(crate) fn set_stream_value(&mut self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        self.sender.set_stream_value(stream, value)
    }

    pub(crate) fn stream_value(&self, stream: StreamId) -> Option<u16> {
        self.sender.stream_value(stream)
    }

    /// Reads a message or a part of it, which changes only the advertised window and the readable state.
    #[inline]
    pub(crate) fn receive(&mut self, max: usize) -> Option<Received> {
        let received = self.receiver.as_mut()?.read(max);
        if received.is_none() && !self.is_readable() {
            self.events.all_read();
        }
        received
    }

    /// Bytes of the next readable message, or of its part that has arrived.
    pub(crate) fn next_message_len(&self) -> Option<usize> {
        self.receiver.as_ref()?.next_message_len()
    }

    /// The readable data, by stream.
    pub(crate) fn unread(&self) -> BTreeMap<StreamId, Unread> {
        self.receiver.as_ref().map(Receiver::unread).unwrap_or_default()
    }

    /// Makes a confirmed path the primary one.
    pub(crate) fn set_primary(&mut self, address: IpAddr) -> Result<(), PathError> {
        let p = self.paths.find(address).ok_or(PathError::NoSuchPath { address })?;
        if self.paths[p].is_unconfirmed() {
            return Err(PathError::Unconfirmed { address });
        }
        self.make_primary(p);
        Ok(())
    }

    fn make_primary(&mut self, p: PathId) {
        if std::mem::replace(&mut self.paths.primary, p) != p {
            self.events.primary_changed(p, self.paths[p].remote);
        }
    }

    /// Sets the UDP port of packets to an address of the peer.
    pub(crate) fn set_remote_port(&mut self, address: IpAddr, udp_port: u16) -> Result<(), PathError> {
        let p = self.paths.find(address).ok_or(PathError::NoSuchPath { address })?;
        self.learn_port(p, udp_port);
        Ok(())
    }

    /// Notes the peer's UDP port on path `p` (`rfc6951#section-5.4`), from the user or a packet with our tag.
    #[inline(always)]
    fn learn_port(&mut self, p: PathId, udp_port: u16) {
        if self.paths[p].udp_port != udp_port {
            self.change_port(p, udp_port);
        }
    }

    #[cold]
    fn change_port(&mut self, p: PathId, udp_port: u16) {
        let other_kind = (self.paths[p].udp_port == 0) != (udp_port == 0);
        self.paths[p].udp_port = udp_port;
        self.renamed = true;
        if other_kind && self.paths[p].pmtud.is_some() {
            self.paths[p].discover_mtu(self.sender.config());
        }
        self.sender.fit_fragments(&self.paths);
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        if self.events.has_rare() || self.has_other_events() {
            self.next_rare_event()
        } else {
            self.events.pop_frequent()
        }
    }

    #[inline(never)]
    fn next_rare_event(&mut self) -> Option<Event> {
        // The user gets these events before those in the queue, among which may be the end of the
        // association.
        if let Some((first, last)) = self.sender.next_delivered() {
            return Some(Event::Delivered { first, last });
        }
        if let Some(failure) = self.sender.next_abandoned() {
            return Some(shutdown::failed(failure));
        }
        if let Some(reset) = self.next_reset() {
            return Some(reset);
        }
        self.events.pop()
    }

    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty() || self.has_other_events()
    }

    /// True if events wait outside of the queue.
    #[inline]
    fn has_other_events(&self) -> bool {
        self.sender.has_delivered()
            || self.sender.has_abandoned()
            || self.receiver.as_ref().is_some_and(Receiver::is_at_mark)
    }

    #[inline(always)]
    pub(crate) fn is_readable(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::readable)
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.phase.is_closed()
    }

    /// The extensions that both ends support.
    #[cfg(test)]
    pub(crate) fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Replaces our verification tag by a new random one, for a handshake that starts again.
    pub(crate) fn draw_tag(&mut self) {
        self.local_tag = self.random.tag();
        self.renamed = true;
    }

    #[inline]
    pub(crate) fn local_tag(&self) -> u32 {
        self.local_tag
    }

    pub(crate) fn peer_tag(&self) -> u32 {
        self.peer_tag
    }

    #[inline]
    pub(crate) fn peer_port(&self) -> u16 {
        self.peer_port
    }

    #[inline]
    pub(crate) fn channel(&self) -> Channel {
        self.channel
    }

    pub(crate) fn initial_tsn(&self) -> Tsn {
        self.initial_tsn
    }

    /// The sources of the peer's packets, and whether each is confirmed.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (Remote, bool)> {
        let (channel, port) = (self.channel, self.peer_port);
        let remote =
            move |path: &Path| Remote { channel, address: path.remote, port, udp_port: path.udp_port };
        let paths = self.paths.iter().filter(|path| !path.removed);
        paths.map(move |path| (remote(path), !path.is_unconfirmed()))
    }

    /// True if the tag, a UDP port or the confirmed addresses changed since the last call.
    #[inline]
    pub(crate) fn take_renamed(&mut self) -> bool {
        std::mem::take(&mut self.renamed)
    }

    /// True once after the peer of an association that we began named its addresses.
    pub(crate) fn take_adopted(&mut self) -> bool {
        std::mem::take(&mut self.adopted)
    }
}

impl Local {
    /// The source address of packets to `remote`; none if we have no address of its family.
    pub(crate) fn address_towards(&self, remote: IpAddr) -> Option<IpAddr> {
        transport::nearest(&self.addresses, remote)
    }
}
