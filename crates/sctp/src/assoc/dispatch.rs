//! Input: dispatches the chunks of an arriving packet (`rfc9260#section-6.10`).

use super::Association;
use super::asconf::{bytes_of, reports_asconf};
use super::control::Pending;
use super::phase::Phase;
use crate::event::CloseReason;
use crate::ext::{Ext, Transit};
use crate::path::{PathId, Paths};
use crate::rx::{DataVerdict, Receiver};
use crate::tx::{SackOutcome, Sender};
use bytes::Bytes;
use std::net::IpAddr;
use std::ops::ControlFlow;
use transport::{Datagram, Ecn, Octets, PacketBuf};
use units::{ByteCount, Instant};
use wire::{
    Abort, Asconf, Cause, CauseList, Causes, Chunk, Chunks, CommonHeader, Data, Encode, ForwardTsn,
    Heartbeat, HeartbeatAck, IData, IForwardTsn, StreamId, Tsn, UnknownAction, UnknownChunk,
};

/// Whether a packet was for this association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The packet was for this association.
    Here,
    /// The packet was for this association, but a malformed chunk and all chunks after it were discarded.
    CutShort,
    /// The packet was out of the blue (`rfc9260#section-8.4`).
    OutOfTheBlue,
}

/// The outcome of a SACK, or the protocol violation in it.
type Acknowledged = Result<SackOutcome, &'static str>;

/// What is known so far of the packet that is being processed.
struct PacketProgress {
    /// The path on which answers are sent.
    answer: PathId,
    /// True until the first chunk was processed.
    first: bool,
    had_data: bool,
    transit: Transit,
}

/// Whether to continue with the next chunk or to discard the rest of the packet.
type Flow = ControlFlow<()>;

const GO_ON: Flow = ControlFlow::Continue(());
const LEAVE: Flow = ControlFlow::Break(());

impl Association {
    /// Processes the chunks of a packet with a valid verification tag.
    #[inline(always)]
    pub(crate) fn handle(&mut self, now: Instant, datagram: &Datagram<'_>, chunks: Chunks<'_>) -> Handled {
        if self.is_out_of_the_blue(&chunks) {
            return Handled::OutOfTheBlue;
        }
        let Some(from) = self.arrived_on(datagram) else {
            return self.handle_stranger(now, datagram, chunks);
        };
        self.count_received(now, datagram);
        let whole = self.take_chunks(now, from, datagram, chunks, false);
        self.settle_inline(now);
        if whole { Handled::Here } else { Handled::CutShort }
    }

    /// Returns the path on which a packet with our tag arrived, and records its UDP port and length.
    /// Returns the default path if the source is or was an address of the peer without a path, and `None` if
    /// it never was one.
    #[inline(always)] // into `handle`, which calls it for each packet
    pub(super) fn arrived_on(&mut self, datagram: &Datagram<'_>) -> Option<PathId> {
        let Some(path) = self.paths.of(datagram) else {
            // Packets from an address that the peer deleted may still be on their way.
            let known = self.is_of_peer(datagram.src) || self.has_departed(datagram.src);
            return known.then(|| self.paths.default_path());
        };
        self.learn_port(path, datagram.udp_port);
        self.paths[path].stats.received_bytes += ByteCount::new(datagram.bytes.len() as u64);
        Some(path)
    }

    #[inline]
    fn count_received(&mut self, now: Instant, datagram: &Datagram<'_>) {
        self.packets_received += 1;
        if self.is_observed() {
            self.tell_received(now, datagram);
        }
    }

    /// True if the peer has named this address, with or without a path to it.
    pub(super) fn is_of_peer(&self, address: IpAddr) -> bool {
        let named = self.unused.contains(&address)
            || self.paths.iter().any(|path| path.remote == address)
            || self.given.remotes().contains(&address);
        named && !self.has_departed(address)
    }

    /// Processes a packet from an unknown address: an INIT ACK, or an ASCONF that adds the address.
    fn handle_stranger(&mut self, now: Instant, datagram: &Datagram<'_>, mut chunks: Chunks<'_>) -> Handled {
        let (all, from_peer) = (chunks.clone(), self.may_be_peer(chunks.clone()));
        match (&self.phase, chunks.next(), chunks.next()) {
            (Phase::CookieWait { .. }, Some(Ok(Chunk::InitAck(ack))), None) => {
                self.count_received(now, datagram);
                self.on_init_ack(now, datagram, &ack);
                self.settle(now);
                Handled::Here
            }
            _ if from_peer => {
                self.count_received(now, datagram);
                let from = self.paths.default_path();
                let whole = self.take_chunks(now, from, datagram, all, false);
                self.settle(now);
                if whole { Handled::Here } else { Handled::CutShort }
            }
            _ => Handled::OutOfTheBlue,
        }
    }

    /// True for a SHUTDOWN ACK in a handshake: an older association sent it (`rfc9260#section-8.5.1`, rule
    /// E).
    #[inline]
    fn is_out_of_the_blue(&self, chunks: &Chunks<'_>) -> bool {
        self.is_opening() && Self::begins_with_shutdown_ack(chunks)
    }

    #[cold]
    fn begins_with_shutdown_ack(chunks: &Chunks<'_>) -> bool {
        matches!(chunks.clone().next(), Some(Ok(Chunk::ShutdownAck(_))))
    }

    #[inline]
    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::CookieWait { .. } | Phase::CookieEchoed { .. })
    }

    /// Processes the chunks; false if a chunk is malformed. `authenticated`: a valid AUTH chunk preceded
    /// them.
    fn take_chunks(
        &mut self,
        now: Instant,
        from: PathId,
        datagram: &Datagram<'_>,
        mut chunks: Chunks<'_>,
        authenticated: bool,
    ) -> bool {
        let answer = self.answer_path(from);
        let mut taken = PacketProgress { answer, first: true, had_data: false, transit: Transit::default() };
        let mut go_on = true;
        if !self.extensions.has(Ext::Auth) {
            while go_on {
                let flow = if let Some(data) = chunks.next_data() {
                    taken.had_data |= self.phase.receives_data();
                    taken.transit.first.get_or_insert(data.tsn);
                    self.on_data(answer, &data)
                } else if let Some(sack) = chunks.next_sack() {
                    self.on_sack(from, |sender, paths| sender.on_sack(now, &sack, paths))
                } else {
                    break;
                };
                taken.first = false;
                go_on = flow.is_continue() && !self.phase.is_closed();
            }
        }
        let mut whole = true;
        if go_on && !chunks.rest().is_empty() {
            whole = self.take_other_chunks(now, from, datagram, chunks, authenticated, &mut taken);
        }
        if taken.had_data && !self.phase.is_closed() {
            self.end_of_data(now, datagram, &taken);
        }
        whole
    }

    /// Processes the chunks after the DATA and SACK chunks that begin a packet; false if one is malformed.
    #[inline(never)]
    fn take_other_chunks(
        &mut self,
        now: Instant,
        from: PathId,
        datagram: &Datagram<'_>,
        mut chunks: Chunks<'_>,
        mut authenticated: bool,
        so_far: &mut PacketProgress,
    ) -> bool {
        let mut first = so_far.first;
        let mut had_heartbeat = false;
        let protected = self.extensions.has(Ext::Auth);
        loop {
            let before = chunks.rest();
            let Some(chunk) = chunks.next() else { return true };
            // After a malformed chunk the rest of the packet cannot be parsed.
            let Ok(chunk) = chunk else { return false };
            let mut taken = None;
            if protected {
                taken = self.take_protected(now, datagram, &chunk, chunks.rest(), &mut authenticated);
                if self.paths[so_far.answer].removed {
                    so_far.answer = self.paths.default_path();
                }
            }
            let answer = so_far.answer;
            let alone = || first && chunks.clone().next().is_none();
            let flow = match &chunk {
                _ if taken.is_some() => taken.unwrap_or(GO_ON),
                Chunk::Data(data) => {
                    so_far.had_data |= self.phase.receives_data();
                    so_far.transit.first.get_or_insert(data.tsn);
                    self.on_other_data(answer, data)
                }
                Chunk::IData(data) => {
                    so_far.had_data |= self.phase.receives_data();
                    so_far.transit.first.get_or_insert(data.tsn);
                    self.on_i_data(answer, data)
                }
                Chunk::Sack(sack) => self.on_sack(from, |sender, paths| sender.on_sack(now, sack, paths)),
                Chunk::NrSack(sack) if self.extensions.has(Ext::NrSack) => {
                    self.on_sack(from, |sender, paths| sender.on_nr_sack(now, sack, paths))
                }
                // rfc8260#section-2.3.1: with interleaving the peer has to send I-FORWARD-TSN.
                Chunk::ForwardTsn(_)
                    if self.extensions.has(Ext::PrSctp) && self.extensions.has(Ext::Interleaving) =>
                {
                    self.mixed("FORWARD TSN where I-DATA was agreed upon")
                }
                Chunk::ForwardTsn(forward) if self.extensions.has(Ext::PrSctp) => {
                    so_far.had_data |= self.skip(|receiver| receiver.on_forward_tsn(forward, answer));
                    GO_ON
                }
                Chunk::IForwardTsn(forward)
                    if self.extensions.has(Ext::Interleaving) && self.extensions.may_skip() =>
                {
                    so_far.had_data |= self.skip(|receiver| receiver.on_i_forward_tsn(forward, answer));
                    GO_ON
                }
                // Not negotiated, so unknown (rfc3758#section-3.3.1). The top bits of the type mean:
                // skip and report.
                Chunk::ForwardTsn(forward) => {
                    let (bytes, _) = before.split_at(forward.encoded_len());
                    self.on_unknown(answer, &UnknownChunk { chunk_type: ForwardTsn::TYPE, bytes })
                }
                Chunk::Timestamp(stamp) if self.extensions.has(Ext::Delays) => {
                    so_far.transit.departure = Some(stamp.micros);
                    GO_ON
                }
                Chunk::PathStatus(status) => {
                    self.on_path_status(now, from, status);
                    GO_ON
                }
                Chunk::Heartbeat(heartbeat) => {
                    // Several answers to an unverified address could exceed the received packet
                    // (amplification).
                    if !had_heartbeat || from == answer {
                        self.on_heartbeat(from, heartbeat);
                    }
                    had_heartbeat = true;
                    GO_ON
                }
                // Never bundled (rfc9260#section-6.10).
                Chunk::InitAck(ack) if alone() => {
                    self.on_init_ack(now, datagram, ack);
                    LEAVE
                }
                Chunk::ShutdownComplete(_) if alone() => {
                    self.on_shutdown_complete();
                    LEAVE
                }
                Chunk::Abort(abort) => self.on_abort(now, from, abort),
                other => self.on_control(now, answer, other),
            };
            first = false;
            if flow.is_break() || self.phase.is_closed() {
                return true;
            }
        }
    }

    /// Ends the processing of a packet with data.
    #[inline]
    fn end_of_data(&mut self, now: Instant, datagram: &Datagram<'_>, taken: &PacketProgress) {
        let PacketProgress { answer, ref transit, .. } = *taken;
        if let Some(receiver) = &mut self.receiver {
            receiver.packet_done(now);
            if datagram.ecn == Ecn::CongestionExperienced
                && self.extensions.has(Ext::Ecn)
                && let Some(first) = transit.first
            {
                receiver.note_mark(answer, first);
            }
            receiver.note_delay(|| transit.delay(now, datagram.sent_at));
        }
        let path = &self.paths[answer];
        if path.rto.srtt().is_none()
            && !path.heartbeat.is_awaited()
            && self.receiver.as_ref().is_some_and(Receiver::lacks_rtt)
        {
            self.verify(now, answer);
        }
        self.find_detour(now);
        self.on_data_in_shutdown_sent(now, answer);
    }

    /// Processes AUTH and ASCONF, and discards a chunk that lacks its authentication. Returns none for any
    /// other chunk. `rest`: the bytes of the packet after the chunk.
    #[cold]
    fn take_protected(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        chunk: &Chunk<'_>,
        rest: Octets<'_>,
        authenticated: &mut bool,
    ) -> Option<Flow> {
        let from = self.paths.of(datagram).unwrap_or_else(|| self.paths.default_path());
        let answer = self.answer_path(from);
        match chunk {
            Chunk::Auth(auth) => {
                *authenticated = self.on_auth(answer, auth, rest);
                Some(if *authenticated { GO_ON } else { LEAVE })
            }
            other if !*authenticated && self.requires_auth(other.chunk_type()) => {
                self.note_unauthenticated();
                Some(GO_ON)
            }
            Chunk::Asconf(asconf) if self.extensions.has(Ext::Asconf) => {
                self.on_asconf(now, datagram, answer, asconf);
                Some(GO_ON)
            }
            _ => None,
        }
    }

    /// The path for answers to a packet that arrived on path `from`. An unverified address may belong to a
    /// victim, so only HEARTBEAT and HEARTBEAT ACK are sent to it (`rfc9260#section-5.4`).
    #[inline]
    pub(super) fn answer_path(&self, from: PathId) -> PathId {
        if self.paths[from].is_unconfirmed() { self.paths.default_path() } else { from }
    }

    /// Calls [`Self::on_data`], not inlined, for DATA after a chunk of another type.
    #[inline(never)]
    fn on_other_data(&mut self, answer: PathId, data: &Data<'_>) -> Flow {
        self.on_data(answer, data)
    }

    #[inline(always)]
    fn on_data(&mut self, answer: PathId, data: &Data<'_>) -> Flow {
        if !self.phase.receives_data() {
            return GO_ON;
        }
        if self.extensions.has(Ext::Interleaving) {
            return self.mixed("DATA where I-DATA was agreed upon");
        }
        let Some(receiver) = &mut self.receiver else { return GO_ON };
        let verdict = receiver.on_data(data, answer);
        self.data_taken(answer, verdict, data.tsn, data.stream)
    }

    fn on_i_data(&mut self, answer: PathId, data: &IData<'_>) -> Flow {
        if !self.phase.receives_data() {
            return GO_ON;
        }
        if !self.extensions.has(Ext::Interleaving) {
            return self.mixed("I-DATA that was not agreed upon");
        }
        let Some(receiver) = &mut self.receiver else { return GO_ON };
        let verdict = receiver.on_i_data(data, answer);
        self.data_taken(answer, verdict, data.tsn, data.stream)
    }

    /// Aborts the association: DATA and I-DATA never occur in the same association (`rfc8260#section-2.2.1`).
    #[cold]
    #[inline(never)]
    fn mixed(&mut self, what: &'static str) -> Flow {
        self.violation(what);
        GO_ON
    }

    /// Skips the messages that the peer abandoned; true if a SACK is to be sent.
    fn skip(&mut self, skip: impl FnOnce(&mut Receiver) -> bool) -> bool {
        self.phase.receives_data() && self.receiver.as_mut().is_some_and(skip)
    }

    /// Reports the outcome of a data chunk to the peer, if necessary.
    #[inline(always)]
    fn data_taken(&mut self, answer: PathId, verdict: DataVerdict, tsn: Tsn, stream: StreamId) -> Flow {
        if !matches!(verdict, DataVerdict::Accepted | DataVerdict::Duplicate | DataVerdict::NoRoom) {
            self.data_refused(answer, verdict, tsn, stream);
        }
        GO_ON
    }

    #[cold]
    fn data_refused(&mut self, answer: PathId, verdict: DataVerdict, tsn: Tsn, stream: StreamId) {
        match verdict {
            DataVerdict::Accepted | DataVerdict::Duplicate | DataVerdict::NoRoom => {}
            DataVerdict::InvalidStream => self.report(answer, &Cause::InvalidStream { stream }),
            DataVerdict::NoUserData => {
                let mut causes = CauseList::new();
                causes.push(&Cause::NoUserData { tsn });
                self.abort_with(&causes, CloseReason::ProtocolViolation { what: "DATA without user data" });
            }
            DataVerdict::Violation(what) => self.violation(what),
        }
    }

    #[inline]
    fn on_sack(&mut self, from: PathId, take: impl FnOnce(&mut Sender, &mut Paths) -> Acknowledged) -> Flow {
        if self.re_config.as_ref().is_some_and(|config| config.awaits_new_tsns()) {
            return GO_ON;
        }
        if self.phase.sends_data() {
            self.sender.note_way_of_sack(from);
            match take(&mut self.sender, &mut self.paths) {
                Ok(outcome) => self.acknowledged(&outcome),
                Err(what) => self.violation(what),
            }
        }
        GO_ON
    }

    /// Answers a heartbeat on its own path, unless the answer would exceed the path MTU or the phase forbids
    /// it.
    fn on_heartbeat(&mut self, from: PathId, heartbeat: &Heartbeat<'_>) {
        let auth = self.auth_len(&[HeartbeatAck::TYPE], &None);
        let fits = CommonHeader::LEN + auth + heartbeat.encoded_len() <= self.paths[from].packet_limit();
        // RFC 9260 excludes SHUTDOWN-SENT. But with ASCONF the peer may have data to send that waits until a
        // HEARTBEAT ACK confirms the path.
        let last_resort =
            || self.extensions.has(Ext::Asconf) && matches!(self.phase, Phase::ShutdownSent { .. });
        if fits && (self.phase.answers_heartbeats() || last_resort()) {
            self.control.push(from, Pending::HeartbeatAck(heartbeat.info.to_vec()));
        }
    }

    /// Processes a chunk that the caller does not handle itself. The answers are sent on path `answer`.
    fn on_control(&mut self, now: Instant, answer: PathId, chunk: &Chunk<'_>) -> Flow {
        match chunk {
            Chunk::HeartbeatAck(ack) => self.on_heartbeat_ack(now, ack.info),
            Chunk::Error(error) => self.on_error(now, error.causes),
            Chunk::CookieAck(_) => self.on_cookie_ack(now),
            Chunk::Shutdown(shutdown) => self.on_shutdown(now, answer, shutdown.cumulative_tsn_ack),
            Chunk::ShutdownAck(_) => self.on_shutdown_ack(answer),
            Chunk::Ecne(ecne) if self.extensions.has(Ext::Ecn) => self.on_ecne(now, ecne),
            Chunk::Cwr(cwr) if self.extensions.has(Ext::Ecn) => self.on_cwr(answer, cwr),
            Chunk::PacketDrop(report) if self.extensions.has(Ext::PacketDrop) => {
                self.on_packet_drop(now, answer, report);
            }
            Chunk::LedbatControl(control) if self.extensions.has(Ext::Delays) => {
                self.sender.on_delays(control, &mut self.paths);
            }
            Chunk::ReConfig(chunk) if self.extensions.has(Ext::ReConfig) => {
                self.on_re_config(now, answer, chunk)
            }
            Chunk::AsconfAck(ack) if self.extensions.has(Ext::Asconf) => self.on_asconf_ack(now, ack),
            // Not negotiated. The top bits of the types mean: skip.
            Chunk::LedbatControl(_)
            | Chunk::Timestamp(_)
            | Chunk::AsconfAck(_)
            | Chunk::PacketDrop(_)
            | Chunk::ReConfig(_) => {}
            Chunk::Asconf(asconf) => {
                let bytes = bytes_of(asconf);
                let unknown = UnknownChunk { chunk_type: Asconf::TYPE, bytes: bytes.as_octets() };
                return self.on_unknown(answer, &unknown);
            }
            // rfc4820#section-3
            Chunk::Pad(_) => {}
            Chunk::Unknown(unknown) => return self.on_unknown(answer, unknown),
            // Not negotiated, so unknown.
            Chunk::IForwardTsn(forward) => return self.on_i_forward_tsn(answer, forward),
            // Not negotiated, so unknown; the top bits of the type mean: discard the rest of the packet
            // (rfc9260#section-3.2). INIT, INIT ACK and SHUTDOWN COMPLETE are never bundled.
            Chunk::NrSack(_)
            | Chunk::Auth(_)
            | Chunk::Ecne(_)
            | Chunk::Cwr(_)
            | Chunk::Init(_)
            | Chunk::InitAck(_)
            | Chunk::ShutdownComplete(_) => return LEAVE,
            // Processed before. COOKIE ECHO is valid only as the first chunk.
            Chunk::CookieEcho(_)
            | Chunk::Abort(_)
            | Chunk::Data(_)
            | Chunk::IData(_)
            | Chunk::Sack(_)
            | Chunk::ForwardTsn(_)
            | Chunk::Heartbeat(_)
            | Chunk::PathStatus(_) => {}
        }
        GO_ON
    }

    /// Processes an ABORT with our tag. If its T bit is set, the ABORT is ignored, unless both ends have the
    /// same tag (`rfc9260#section-8.5.1`, rule B). If the ABORT refuses an INIT, other addresses are tried.
    fn on_abort(&mut self, now: Instant, from: PathId, abort: &Abort<'_>) -> Flow {
        let authentic = !abort.reflected_tag || self.local_tag == self.peer_tag;
        if authentic && !self.refused_at(now, from) {
            self.aborted_by_peer(abort.causes);
        }
        LEAVE
    }

    fn aborted_by_peer(&mut self, causes: Causes<'_>) {
        let causes = Bytes::copy_from_slice(causes.as_bytes());
        self.close(CloseReason::PeerAbort { causes }, None);
    }

    /// Processes the first chunk of a packet with the peer's own tag. Only ABORT and SHUTDOWN COMPLETE with
    /// the T bit may have it (`rfc9260#section-8.5.1`).
    pub(crate) fn handle_reflected(&mut self, now: Instant, datagram: &Datagram<'_>, chunk: &Chunk<'_>) {
        let to = datagram.dst;
        match chunk {
            // The ABORT answers a packet from a local address that the peer deleted (`rfc9260#section-8.4`).
            Chunk::Abort(_) if self.has_left(to) => return,
            // The peer has no association any more. In SHUTDOWN-ACK-SENT this is a graceful end.
            Chunk::Abort(abort) if abort.reflected_tag => match self.phase {
                Phase::ShutdownAckSent { .. } => self.close(CloseReason::Graceful, None),
                _ => self.aborted_by_peer(abort.causes),
            },
            Chunk::ShutdownComplete(complete) if complete.reflected_tag => self.on_shutdown_complete(),
            _ => return,
        }
        self.count_received(now, datagram);
        self.settle(now);
    }

    fn on_error(&mut self, now: Instant, causes: Causes<'_>) {
        for cause in causes.iter() {
            if let (Ok(Cause::StaleCookie { staleness }), Phase::CookieEchoed { .. }) = (cause, &self.phase) {
                return self.on_stale_cookie(now, staleness);
            }
        }
        if self.extensions.has(Ext::Asconf) && causes.iter().flatten().any(|cause| reports_asconf(&cause)) {
            self.give_up_asconf();
        }
        if self.phase.is_open() {
            self.events.peer_error(causes.as_bytes());
        }
    }

    fn on_unknown(&mut self, answer: PathId, unknown: &UnknownChunk<'_>) -> Flow {
        let action = unknown.action();
        let report = matches!(action, UnknownAction::StopReport | UnknownAction::SkipReport);
        if report && self.peer_tag != 0 {
            // Truncated, so that the report fits a packet.
            let limit = unknown.bytes.len().min(self.report_limit(answer));
            let (bytes, _) = unknown.bytes.split_at(limit);
            self.report(answer, &Cause::UnrecognizedChunk(bytes));
        }
        if matches!(action, UnknownAction::SkipDiscard | UnknownAction::SkipReport) { GO_ON } else { LEAVE }
    }

    /// Reports an I-FORWARD-TSN that was not agreed upon as an unknown chunk.
    fn on_i_forward_tsn(&mut self, answer: PathId, forward: &IForwardTsn<'_>) -> Flow {
        let mut bytes = PacketBuf::default();
        forward.encode(&mut bytes);
        let unknown = UnknownChunk { chunk_type: IForwardTsn::TYPE, bytes: bytes.as_octets() };
        self.on_unknown(answer, &unknown)
    }

    /// Processes the chunks behind an accepted COOKIE ECHO; false if one is malformed.
    pub(crate) fn handle_behind_cookie(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        chunks: Chunks<'_>,
        authenticated: bool,
    ) -> bool {
        self.count_received(now, datagram);
        let from = self.paths.of(datagram);
        let whole = from.is_none_or(|from| self.take_chunks(now, from, datagram, chunks, authenticated));
        self.settle(now);
        whole
    }
}
