//! Output: writes one packet at a time, with control chunks before SACK before DATA (`rfc9260#section-6.10`).

use super::auth::AuthPlace;
use super::control::Pending;
use super::phase::{Farewell, Phase};
use super::{Association, push_addresses};
use crate::config::Timestamps;
use crate::ext::auth::Terms;
use crate::ext::{Ext, Extensions, micros};
use crate::path::PathId;
use crate::tx::Plan;
use std::net::IpAddr;
use transport::{Ecn, PacketBuf, Transmit};
use units::{ByteCount, Instant};
use wire::asconf::Responses;
use wire::{
    Abort, AsconfAck, Causes, CommonHeader, CookieAck, CookieEcho, Heartbeat, HeartbeatAck, Init, NrSack,
    OperationError, PacketWriter, Parameter, ParameterList, ReConfig, Sack, Shutdown, ShutdownAck,
    ShutdownComplete, SupportedAddressTypes, Timestamp,
};

/// Largest packet with an INIT: SCTP cannot divide an INIT, so IP fragments a packet that is longer
/// than the MTU.
const UNDIVIDED: usize = u16::MAX as usize;

impl Association {
    /// Writes the next packet. `None` means that nothing is left to send until a change of the association.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        loop {
            if let Phase::Closed { farewell } = &mut self.phase {
                let farewell = farewell.take()?;
                return Some(self.write_farewell(&farewell, buf));
            }
            if !self.extensions.is_empty()
                && self.t4.is_some()
                && let Some(transmit) = self.write_asconf(buf)
            {
                return Some(transmit);
            }
            let control = self.control.front().map(|&(p, _)| p);
            let departing = control.or_else(|| self.sack_due_on()).or_else(|| self.forward_due_on());
            let plan = if self.may_plan_data() {
                let joined = departing.filter(|_| self.config().bundling);
                self.sender.next_packet(&mut self.paths, joined)
            } else {
                None
            };
            let Some(path) = departing.or(plan.map(|plan| plan.path)) else {
                return self.write_probe(now, buf);
            };
            if let Some(ecn) = self.write(now, path, plan.filter(|plan| plan.path == path), buf) {
                self.count_packet(path, buf);
                if let Some(pmtud) = &mut self.paths[path].pmtud {
                    pmtud.data_sent(now, buf.len());
                }
                return Some(Transmit { ecn, ..self.paths[path].transmit(buf.len()) });
            }
        }
    }

    /// True if DATA may be sent. In the state COOKIE-ECHOED, only the packet with the first COOKIE ECHO may
    /// contain DATA (`rfc9260#section-5.1`).
    #[inline]
    fn may_plan_data(&self) -> bool {
        match &self.phase {
            Phase::CookieEchoed { t1, .. } => {
                let echo = matches!(self.control.front(), Some((_, Pending::CookieEcho)));
                echo && self.paths.any_confirmed()
                    && t1.count == 0
                    && self.config().bundling
                    && self.sender.outstanding_chunks() == 0
            }
            phase => phase.sends_data() && self.paths.any_confirmed(),
        }
    }

    #[inline]
    fn sack_due_on(&self) -> Option<PathId> {
        let receiver = self.receiver.as_ref().filter(|_| self.phase.is_open())?;
        receiver.sack_due().then(|| self.sack_path(receiver))
    }

    #[inline]
    fn forward_due_on(&self) -> Option<PathId> {
        if self.extensions.is_empty() {
            return None;
        }
        self.sender.forward_due(&self.paths).filter(|_| self.phase.sends_data())
    }

    /// True if a packet for `path` should carry a FORWARD TSN: one is due, or one fits in addition to the
    /// data.
    #[inline]
    fn forward_rides(
        &self,
        path: PathId,
        plan: Option<&Plan>,
        w: &PacketWriter<'_>,
        place: &AuthPlace,
    ) -> bool {
        let needed = || {
            let (kind, length) = self.sender.forward_kind();
            length + self.stamp_len() + self.auth_len(&[kind, self.data_type()], place)
        };
        let welcome = || plan.is_some_and(|plan| plan.first_chunk() + needed() <= w.room());
        self.sender.forward_rides(path, &self.paths)
            && self.phase.sends_data()
            && (self.sender.forward_due(&self.paths).is_some() || welcome())
    }

    /// Writes a packet for `path` and returns its ECN field; none if the packet would be empty.
    fn write(&mut self, now: Instant, path: PathId, plan: Option<Plan>, buf: &mut PacketBuf) -> Option<Ecn> {
        let first = self.control.front().filter(|&&(p, _)| p == path).map(|(_, chunk)| chunk);
        if first == Some(&Pending::Init) {
            return self.write_init(path, buf).then_some(Ecn::NotCapable);
        }
        let echo = first == Some(&Pending::CookieEcho);
        let limit = self.paths[path].packet_limit();
        let bundling = self.config().bundling;
        let header = self.header(self.peer_tag);
        let mut w =
            PacketWriter::new(buf, header, if echo { limit.max(self.cookie_echo_len()) } else { limit });
        let mut place = None;
        if self.control.front().is_some() {
            self.write_control(path, &mut w, &mut place);
        }
        let mut acknowledges = false;
        if (w.is_empty() || bundling) && self.sack_rides(path, plan.as_ref(), &w, &place) {
            let kind = if self.extensions.has(Ext::NrSack) { NrSack::TYPE } else { Sack::TYPE };
            let before = limit.saturating_sub(w.room());
            if self.detour.is_some() {
                self.push_probe(now, path, &mut w, &mut place);
            }
            let room = w.room();
            self.push_authenticated(kind, &mut w, &mut place, |this, w| this.write_sack(now, path, w));
            if self.paths[path].returns.is_some() {
                let bytes = self.paths[path].ip_header() + before + room - w.room();
                self.note_sack_sent(now, path, bytes);
            }
            acknowledges = true;
        }
        let plain = self.extensions.is_empty();
        if !plain && (w.is_empty() || bundling) && self.forward_rides(path, plan.as_ref(), &w, &place) {
            let (kind, _) = self.sender.forward_kind();
            self.push_authenticated(kind, &mut w, &mut place, |this, w| {
                this.sender.write_forward(path, &mut this.paths, w)
            });
            self.advance_shutdown_after_skip(now);
        }
        let needed = plan.as_ref().map_or(0, |plan| plan.first_chunk() + self.in_front_of_data(&place));
        if plan.is_some() && needed > w.room() && w.is_empty() {
            // The chunk does not fit even an empty packet: it got its length and TSN while the path
            // MTU was larger.
            w.extend(CommonHeader::LEN + needed);
        }
        let mut ecn = Ecn::NotCapable;
        let data = self.paths[path].stats.data_packets;
        if let Some(plan) = plan
            && (w.is_empty() || bundling)
            && needed <= w.room()
        {
            if self.extensions.has(Ext::Ecn) && plan.is_new() && !echo {
                ecn = Ecn::Capable0;
            }
            if plain || self.prepare_for_data(now, &plan, &mut w, &mut place) {
                self.sender.write(now, &plan, &mut self.paths, &mut w);
            }
        }
        let written = !w.is_empty();
        self.finish(w, &place);
        if acknowledges && self.paths[path].stats.data_packets == data {
            let bytes = self.paths[path].ip_header() + buf.len();
            self.paths[path].stats.ack_bytes += ByteCount::from(bytes);
        }
        written.then_some(ecn)
    }

    /// Writes the chunks in front of data: RE-CONFIG answer, AUTH, TIMESTAMP. False if the data does not fit.
    #[inline(never)]
    fn prepare_for_data(
        &mut self,
        now: Instant,
        plan: &Plan,
        w: &mut PacketWriter<'_>,
        place: &mut AuthPlace,
    ) -> bool {
        if self.answer_len() > 0 {
            self.push_authenticated(ReConfig::TYPE, w, place, |this, w| {
                let answer = this.re_config.as_ref().and_then(|config| config.answer_before_data());
                answer.is_some_and(|answer| w.push(&answer))
            });
        }
        self.push_authenticated(self.data_type(), w, place, |this, w| {
            if this.stamp_len() > 0 && plan.first_chunk() + Timestamp::LEN <= w.room() {
                w.push(&Timestamp { micros: micros(now) });
            }
            true
        })
    }

    /// True if a packet for `path` should carry a SACK: the SACK is due on this path, or data is to be
    /// acknowledged on this path and the packet still has room for its own data (`rfc9260#section-6.1`).
    #[inline]
    fn sack_rides(&self, path: PathId, plan: Option<&Plan>, w: &PacketWriter<'_>, place: &AuthPlace) -> bool {
        let Some(receiver) = self.receiver.as_ref().filter(|_| self.phase.is_open()) else { return false };
        let auth = || self.auth_len(&[Sack::TYPE, NrSack::TYPE, self.data_type()], place);
        let others = || match self.extensions.is_empty() {
            true => 0,
            false => self.stamp_len() + self.answer_len() + auth(),
        };
        let needed = || receiver.least_sack_len() + others();
        let welcome = || plan.is_some_and(|plan| plan.first_chunk() + needed() <= w.room());
        self.sack_path(receiver) == path && (receiver.sack_due() || (receiver.sack_pending() && welcome()))
    }

    #[inline]
    fn write_sack(&mut self, now: Instant, path: PathId, w: &mut PacketWriter<'_>) -> bool {
        let Some(receiver) = &mut self.receiver else { return false };
        receiver.tune(now, |p| self.paths.iter().nth(p.index())?.rto.srtt());
        let written = receiver.write_sack(now, path, w);
        if written {
            self.paths[path].last_sack = receiver.stats().sacks;
        }
        written
    }

    /// Bytes of the TIMESTAMP chunk of a packet with data.
    #[inline]
    pub(super) fn stamp_len(&self) -> usize {
        let stamped = self.extensions.has(Ext::Delays) && self.config().timestamps == Timestamps::Chunk;
        if stamped { Timestamp::LEN } else { 0 }
    }

    /// The types of the chunk that carries user data, and of the RE-CONFIG answer in front of it.
    #[inline]
    fn data_kinds(&self) -> [u8; 2] {
        let data = self.data_type();
        [data, if self.answer_len() > 0 { ReConfig::TYPE } else { data }]
    }

    /// Bytes of the RE-CONFIG answer in front of data in a packet.
    #[inline]
    fn answer_len(&self) -> usize {
        self.re_config.as_ref().map_or(0, |config| config.answer_len())
    }

    /// Bytes of the chunks in front of data in a packet.
    #[inline]
    pub(super) fn ahead_of_data(&self) -> usize {
        self.stamp_len() + self.in_front_of_data(&None)
    }

    /// As [`Self::ahead_of_data`] for a packet with an AUTH chunk at `place`, without the optional timestamp.
    #[inline]
    fn in_front_of_data(&self, place: &AuthPlace) -> usize {
        if self.extensions.is_empty() {
            return 0;
        }
        self.answer_len() + self.auth_len(&self.data_kinds(), place)
    }

    /// Bytes of a packet with the COOKIE ECHO and the AUTH chunk that it, or a HEARTBEAT after it, needs.
    pub(super) fn cookie_echo_len(&self) -> usize {
        match &self.phase {
            Phase::CookieEchoed { cookie, .. } => {
                let auth = self.auth_len(&[CookieEcho::TYPE, Heartbeat::TYPE], &None);
                CommonHeader::LEN + auth + (4 + cookie.len()).next_multiple_of(4)
            }
            _ => 0,
        }
    }

    pub(super) fn header(&self, verification_tag: u32) -> CommonHeader {
        CommonHeader { source_port: self.port, destination_port: self.peer_port, verification_tag }
    }

    /// Writes the control chunks that fit. A chunk that does not fit an empty packet is dropped.
    fn write_control(&mut self, path: PathId, w: &mut PacketWriter<'_>, place: &mut AuthPlace) {
        while let Some(chunk) = self.control.take(path) {
            let written = self.push_authenticated(chunk.chunk_type(), w, place, |this, w| {
                this.write_pending(path, &chunk, w)
            });
            if !written && !w.is_empty() {
                return self.control.give_back(path, chunk);
            }
            if matches!(chunk, Pending::Heartbeat | Pending::HeartbeatAck(_))
                && let Some(status) = self.path_status(path)
            {
                w.push(&status);
            }
            if written && !self.config().bundling {
                return;
            }
        }
    }

    fn write_pending(&self, path: PathId, chunk: &Pending, w: &mut PacketWriter<'_>) -> bool {
        match (chunk, &self.phase, &self.receiver) {
            (Pending::CookieEcho, Phase::CookieEchoed { cookie, .. }, _) => w.push(&CookieEcho { cookie }),
            (Pending::CookieAck, ..) => w.push(&CookieAck),
            (Pending::Shutdown, _, Some(receiver)) => {
                w.push(&Shutdown { cumulative_tsn_ack: receiver.cumulative_tsn() })
            }
            (Pending::ShutdownAck, ..) => w.push(&ShutdownAck),
            (Pending::Heartbeat, ..) => {
                self.heartbeat_info(path).is_some_and(|info| w.push(&Heartbeat { info: &info.to_bytes() }))
            }
            (Pending::HeartbeatAck(info), ..) => w.push(&HeartbeatAck { info }),
            (Pending::ReConfig(bytes), ..) => w.push(&ReConfig { bytes }),
            (Pending::Error(causes), ..) => w.push(&OperationError { causes: Causes::from_bytes(causes) }),
            (Pending::AsconfAck { serial, responses }, ..) => {
                w.push(&AsconfAck { serial: *serial, responses: Responses::from_bytes(responses) })
            }
            (Pending::Cwr(cwr), ..) => w.push(cwr),
            (Pending::PacketDrop(damaged), _, Some(receiver)) => w.push(&damaged.report(receiver)),
            (Pending::PacketDrop(_), ..) | (Pending::Init | Pending::CookieEcho | Pending::Shutdown, ..) => {
                false
            }
        }
    }

    fn write_init(&mut self, path: PathId, buf: &mut PacketBuf) -> bool {
        self.control.take(path);
        let Phase::CookieWait { preservative, .. } = self.phase else { return false };
        let config = self.config();
        let mut parameters = ParameterList::new();
        if self.local.addresses.len() > 1 {
            push_addresses(&mut parameters, self.local.addresses.iter().copied());
        }
        if let Some(increment) = preservative {
            parameters.push(&Parameter::CookiePreservative(increment));
        }
        parameters.push(&Parameter::SupportedAddressTypes(self.local.address_types()));
        Extensions::of(config).push(&mut parameters);
        if let Some(code) = config.adaptation {
            parameters.push(&Parameter::Adaptation(code));
        }
        if config.auth {
            let random = self.local.key.random_of(self.local_tag, self.initial_tsn);
            Terms::ours(config, random).push(&mut parameters);
        }
        let init = Init {
            initiate_tag: self.local_tag,
            a_rwnd: config.receive_buffer.first().get() as u32,
            outbound_streams: config.outbound_streams,
            inbound_streams: config.max_inbound_streams,
            initial_tsn: self.initial_tsn,
            parameters: parameters.as_parameters(),
        };
        let mut w = PacketWriter::new(buf, self.header(0), UNDIVIDED);
        let written = w.push(&init);
        w.finish(self.checksum);
        written
    }

    fn write_farewell(&mut self, farewell: &Farewell, buf: &mut PacketBuf) -> Transmit {
        let (Farewell::Abort(path, _) | Farewell::ShutdownComplete(path)) = *farewell;
        let mut w = PacketWriter::new(buf, self.header(self.peer_tag), self.paths[path].packet_limit());
        let mut place = None;
        match farewell {
            Farewell::Abort(_, causes) => {
                self.push_authenticated(Abort::TYPE, &mut w, &mut place, |_, w| {
                    // A reason that is too long for the packet is left out.
                    w.push(&Abort { reflected_tag: false, causes: Causes::from_bytes(causes) })
                        || w.push(&Abort { reflected_tag: false, causes: Causes::default() })
                });
            }
            Farewell::ShutdownComplete(_) => {
                w.push(&ShutdownComplete { reflected_tag: false });
            }
        }
        self.finish(w, &place);
        self.count_packet(path, buf);
        self.paths[path].transmit(buf.len())
    }

    #[inline]
    pub(super) fn count_packet(&mut self, path: PathId, buf: &PacketBuf) {
        self.packets_sent += 1;
        self.paths[path].stats.packet_bytes += ByteCount::new(buf.len() as u64);
    }
}

impl super::Local {
    /// The families of our addresses.
    fn address_types(&self) -> SupportedAddressTypes {
        SupportedAddressTypes {
            ipv4: self.addresses.iter().any(IpAddr::is_ipv4),
            ipv6: self.addresses.iter().any(IpAddr::is_ipv6),
            host_name: false,
        }
    }
}
