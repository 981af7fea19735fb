//! The send loop: chooses the path and the chunks of the next packet.

use super::Sender;
use crate::chunks::{ChunkState, MOST_OUTSTANDING, RecordId};
use crate::multipath::splitting::{self, Buffers};
use crate::multipath::{Opportunity, rescheduling, retransmission};
use crate::path::{LossCause, Path, PathId, Paths};
use cc::CongestionWindow;
use units::{ByteCount, Instant};
use wire::PacketWriter;

/// A packet with data that may be sent now. The type is small enough for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) path: PathId,
    pub(super) source: Source,
    /// Bytes of the first chunk with data, header and padding included.
    first_chunk: u32,
}

impl Plan {
    #[inline]
    pub(super) fn new(path: PathId, source: Source, first_chunk: usize) -> Self {
        Plan { path, source, first_chunk: first_chunk as u32 }
    }

    #[inline]
    pub(crate) fn first_chunk(&self) -> usize {
        self.first_chunk as usize
    }

    /// True if the packet carries chunks that are sent for the first time.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        self.source == Source::New
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    New,
    Lost {
        on: PathId,
        cause: LossCause,
    },
    /// The earliest outstanding chunk, which is sent again on another path or on the same path.
    Moved,
    Copy,
}

impl Sender {
    /// Starts to send after an event: sorts the paths again, and resets the burst limits if time has passed
    /// since the last call.
    #[inline(always)] // into the functions that each packet and each message calls
    pub(crate) fn wake(&mut self, now: Instant, paths: &mut Paths) {
        if self.user.is_new() {
            return;
        }
        self.sack_taken = false;
        self.ecn.echoed = 0;
        if self.cmt.enabled {
            self.choice.restart();
        }
        let before = self.now;
        self.now = before.max(now);
        if self.has_expired(paths) {
            self.expire(paths);
        }
        if now > before {
            for p in paths.ids() {
                paths[p].burst_left = self.config.max_burst;
                if paths[p].flight.is_zero() && !paths[p].has_lost() {
                    self.decay(now, p, paths);
                }
            }
        }
        if !self.copies.is_empty() && !self.choice.traits.copies {
            self.let_copies_go(paths);
        }
    }

    /// Plans the next packet that cwnd and other limits allow, lost chunks before new chunks
    /// (`rfc9260#section-6.1`, rule C). Small chunks that Nagle's rule delays may join a packet on path
    /// `departing`, which is sent in any case.
    #[inline]
    pub(crate) fn next_packet(&mut self, paths: &mut Paths, departing: Option<PathId>) -> Option<Plan> {
        if self.user.is_new() {
            return None;
        }
        let plan = self.plan(paths, departing);
        if plan.is_none() {
            self.account(paths);
            if self.choice.traits.choosy || self.out.keeps_records() {
                self.note_limited_paths(paths);
            }
        }
        plan
    }

    #[inline]
    fn plan(&mut self, paths: &mut Paths, departing: Option<PathId>) -> Option<Plan> {
        self.control.as_ref()?;
        if self.has_expired(paths) {
            return None; // until `wake` has abandoned the message
        }
        if self.peer.has_lost()
            && let Some(plan) = self.next_lost(paths)
        {
            return Some(plan);
        }
        if rescheduling::is_on(&self.cmt)
            && let Some(plan) = self.plan_move(paths)
        {
            return Some(plan);
        }
        if paths.len() > 1
            && (self.choice.traits.copies || self.reinjects(paths))
            && let Some(plan) = self.plan_copy(paths)
        {
            return Some(plan);
        }
        let len = self.fragment_of(self.queue.head_len()?);
        if !self.peer_can_take(len, paths) {
            self.peer.refusals += 1;
            return None;
        }
        let held = self.nagle_holds(paths);
        if !self.has_numbers() || (held && departing.is_none()) {
            return None;
        }
        let path = self.path_for_new_data(paths)?;
        if held && departing != Some(path) {
            return None;
        }
        Some(Plan::new(path, Source::New, self.chunk_len(len)))
    }

    /// Plans a packet of the earliest lost chunks that may be sent (`rfc9260#section-6.3.3`, rule E3). They
    /// must be the earliest: if Gap Ack Blocks fill the peer's SACKs, a later chunk may not be acknowledged
    /// before them.
    #[inline(never)]
    fn next_lost(&mut self, paths: &mut Paths) -> Option<Plan> {
        let mut tried = None;
        while let Some((i, on, cause)) = earliest_lost(paths, tried) {
            tried = Some(i);
            let Some(target) = retransmission::target(
                self.cmt.rtx,
                on,
                cause,
                self.peer.lost_bytes(),
                paths,
                &mut self.random,
            ) else {
                continue;
            };
            let allowed = paths[on].may_resend || !paths[target].space().is_zero();
            if allowed && !self.rests(target, paths) {
                let first_chunk = self.chunk_len(self.out[i].len());
                return Some(Plan::new(target, Source::Lost { on, cause }, first_chunk));
            }
        }
        None
    }

    /// True if the peer's receive window has room for `len` bytes, or if no data is in flight. Without data
    /// in flight, one chunk may be sent to probe a closed window (`rfc9260#section-6.1`, rule A).
    pub(super) fn peer_can_take(&self, len: usize, paths: &Paths) -> bool {
        ByteCount::from(len) <= self.peer.room() || (!self.peer.has_lost() && paths.flight().is_zero())
    }

    /// True if the stream sequence numbers remain unambiguous with one more chunk in flight.
    #[inline]
    pub(super) fn has_numbers(&self) -> bool {
        self.out.len() < MOST_OUTSTANDING
    }

    #[inline]
    pub(super) fn nagle_holds(&self, paths: &Paths) -> bool {
        self.config.nagle
            && self.queue.bytes() < ByteCount::new(u64::from(self.fragment))
            && self.waits_for_more(paths)
    }

    #[cold]
    fn waits_for_more(&self, paths: &Paths) -> bool {
        !paths.flight().is_zero() && !self.queue.head_is_urgent()
    }

    /// The path for the next new chunk: the path chosen for its message, if that path is active. If nothing
    /// is in flight, there is always a path, or a time at which a path may send again. Otherwise the transfer
    /// would stop.
    #[inline(always)] // into `plan`
    pub(super) fn path_for_new_data(&mut self, paths: &mut Paths) -> Option<PathId> {
        let chosen = self.queue.head_path().filter(|&p| paths[p].is_active());
        let alone = || !self.cmt.enabled || paths.len() == 1 || !paths.iter().any(Path::is_active);
        if let Some(p) = chosen.or_else(|| alone().then(|| paths.default_path())) {
            let may =
                self.may_send_new(p, paths) || self.must_send_new(paths) || self.may_send_urgent(p, paths);
            return may.then_some(p);
        }
        if self.choice.is_open() {
            let at = self.look(paths);
            self.choice.sort(&at, paths, &mut self.random);
        }
        while let Some(p) = self.choice.present() {
            if self.may_send_new(p, paths) && self.copies_leave_room(p, paths) {
                if !self.choice.traits.choosy || self.must_send_new(paths) {
                    return Some(p);
                }
                let at = self.look(paths);
                return self.choice.admits(&at, p).then_some(p);
            }
            self.choice.pass();
        }
        let order = self.choice.order();
        let first = order.first().copied().filter(|_| self.must_send_new(paths));
        first.or_else(|| order.iter().copied().find(|&p| self.may_send_urgent(p, paths)))
    }

    /// True if the next message is urgent and may be sent although cwnd of the path is full or its pacer
    /// delays packets.
    #[inline]
    fn may_send_urgent(&self, p: PathId, paths: &Paths) -> bool {
        self.queue.head_is_urgent() && self.has_urgent_room(p, paths)
    }

    #[cold]
    fn has_urgent_room(&self, p: PathId, paths: &Paths) -> bool {
        let path = &paths[p];
        let space = path.urgent_space(ByteCount::new(u64::from(self.fragment)));
        self.queue.head_len().is_some_and(|len| ByteCount::from(self.fragment_of(len)) <= space)
            && path.burst_left > 0
            && (!rescheduling::is_on(&self.cmt) || path.blocked_until <= self.now)
            && !splitting::share_is_full(&self.cmt, self.buffers(), p, paths)
            && !waits_for_answer(p, paths)
    }

    /// True if no data is in flight or lost, and no path pauses until a known time: then no acknowledgement
    /// and no timer would follow. So burst limit, scheduler, buffer split and copies do not delay new data.
    fn must_send_new(&self, paths: &Paths) -> bool {
        !self.peer.has_lost() && paths.flight().is_zero() && self.rest_ends(paths).is_none()
    }

    /// True if copies leave room for new data on a path.
    #[inline]
    fn copies_leave_room(&mut self, p: PathId, paths: &Paths) -> bool {
        if self.choice.traits.copies { self.leads(p, paths) } else { self.copies.leave_room(p, &paths[p]) }
    }

    /// The state on which the scheduler bases its decisions.
    #[inline]
    fn look<'a>(&self, paths: &'a Paths) -> Opportunity<'a> {
        Opportunity {
            now: self.now,
            paths,
            waiting: self.queue.bytes(),
            given: if self.user.has_more() { ByteCount::MAX } else { self.queue.bytes() + paths.flight() },
            window: self.peer.whole(paths).min(self.most_outstanding()),
            refusals: self.peer.refusals,
            unblocked: self.peer.nr_sacks && self.queue.head_is_unordered(),
        }
    }

    #[inline]
    pub(super) fn buffers(&self) -> Buffers {
        Buffers { sender: self.send_buffer(), peer_rwnd: self.peer.free() }
    }

    #[inline(always)] // into `path_for_new_data`
    fn may_send_new(&mut self, p: PathId, paths: &mut Paths) -> bool {
        let path = &paths[p];
        (path.burst_left > 0 || self.is_paced(path))
            && self.is_open(p, paths)
            && !splitting::share_is_full(&self.cmt, self.buffers(), p, paths)
            && !waits_for_answer(p, paths)
    }

    /// True if a pacer spreads the packets of a path. Then new data needs no burst limit
    /// (`rfc9002#section-7.7`): after a pause it would only keep the flight size low.
    #[inline]
    fn is_paced(&self, path: &Path) -> bool {
        self.config.pacing && path.rate.as_ref().is_some_and(|rate| rate.pacer.has_rate())
    }

    /// True if cwnd and pacer of a path allow another packet.
    #[inline]
    fn is_open(&self, p: PathId, paths: &Paths) -> bool {
        !paths[p].space().is_zero() && !self.rests(p, paths)
    }

    /// Earliest end of a pause of a path. A path pauses because it delayed a rescheduled chunk, or because of
    /// its pacer.
    pub(crate) fn rest_ends(&self, paths: &Paths) -> Option<Instant> {
        if self.user.is_new() || (!rescheduling::is_on(&self.cmt) && !self.paced) {
            return None;
        }
        self.first_rest_ends(paths)
    }

    #[inline(never)] // out of line, since the paths of most senders never rest
    fn first_rest_ends(&self, paths: &Paths) -> Option<Instant> {
        paths.ids().filter_map(|p| self.rests_until(p, paths)).min()
    }

    /// True if a path sends no data now because it delayed a rescheduled chunk, or because of its pacer.
    #[inline]
    pub(super) fn rests(&self, p: PathId, paths: &Paths) -> bool {
        (rescheduling::is_on(&self.cmt) || self.paced) && self.rests_until(p, paths).is_some()
    }

    #[cold]
    fn rests_until(&self, p: PathId, paths: &Paths) -> Option<Instant> {
        let rests = rescheduling::is_on(&self.cmt) && paths[p].blocked_until > self.now;
        let blocked = rests.then_some(paths[p].blocked_until);
        if self.paced { blocked.max(self.paced_until(p, paths)) } else { blocked }
    }

    /// Time at which the pacer of a path allows the next packet; `None` if now, or if no data waits.
    fn paced_until(&self, p: PathId, paths: &Paths) -> Option<Instant> {
        let rate = paths[p].rate.as_ref().filter(|_| !self.is_drained())?;
        rate.pacer.ready_at().filter(|&at| at > self.now)
    }

    /// True if cwnd, pacer and burst limit of a path allow a packet.
    #[inline]
    pub(super) fn has_room(&self, p: PathId, paths: &Paths) -> bool {
        paths[p].burst_left > 0 && self.is_open(p, paths)
    }

    /// Reduces the cwnd of an idle path, once for each RTO that has passed (`rfc9260#section-7.2.1`).
    #[inline(never)]
    fn decay(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let Some(mut since) = paths[p].last_data.max(paths[p].decayed) else { return };
        let rto = paths[p].rto.current();
        while now.since(since) >= rto && !rto.is_zero() {
            let before = paths[p].window;
            self.control(now, paths, |control, views, windows| {
                control.on_idle(now, views, p.index(), windows);
            });
            since += rto;
            if paths[p].window == before {
                since = now;
            }
        }
        paths[p].decayed = Some(since);
    }

    /// Writes the chunks of a packet to `w`, which must have room for at least the first chunk.
    #[inline]
    pub(crate) fn write(&mut self, now: Instant, plan: &Plan, paths: &mut Paths, w: &mut PacketWriter<'_>) {
        let p = plan.path;
        let sent = match plan.source {
            Source::New => self.write_new(now, p, paths, w),
            Source::Lost { on, cause } => self.write_lost(now, on, cause, p, paths, w),
            Source::Moved => self.write_moved(now, p, paths, w),
            Source::Copy => self.write_copies(now, p, paths, w),
        };
        debug_assert!(sent > 0, "a plan always has room for its first chunk");
        self.packets += 1;
        let path = &mut paths[p];
        path.burst_left = path.burst_left.saturating_sub(1);
        path.liveness.sent();
        path.last_data = Some(now);
        path.last_order = self.packets;
        path.stats.data_packets += 1;
        if plan.source != Source::Copy {
            let path = &mut paths[p];
            path.t3.get_or_insert(now + path.rto.current());
            self.be_patient(now, &mut paths[p]);
        }
        if self.choice.traits.each_packet || paths.have_costs() {
            self.choice.restart();
        }
        if self.paced {
            self.report_sent(now, p, paths);
        }
    }

    /// Counts the bytes of a packet that was written for path `p`, in the pacer and the congestion control.
    #[cold]
    fn report_sent(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let Some(rate) = &mut paths[p].rate else { return };
        let bytes = std::mem::take(&mut rate.written);
        rate.pacer.on_sent(now, bytes);
        if !self.out.keeps_records() {
            return;
        }
        let limited = rate.estimator.is_app_limited();
        self.control(now, paths, |control, views, _| control.on_sent(now, views, p.index(), bytes, limited));
    }

    /// Marks paths with room in cwnd as application-limited: missing data, the peer's window or the scheduler
    /// holds them back, so their rate does not show what the network can carry.
    fn note_limited_paths(&mut self, paths: &mut Paths) {
        for p in paths.ids() {
            if !self.has_room(p, paths) {
                continue;
            }
            let path = &mut paths[p];
            path.note_idle();
            if self.out.keeps_records()
                && let Some(rate) = &mut path.rate
            {
                rate.estimator.on_app_limited(path.flight);
            }
        }
    }

    pub(super) fn write_new(
        &mut self,
        now: Instant,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) -> usize {
        let (mut sent, chosen) = (0, self.queue.head_path());
        while let Some(waiting) = self.queue.head_len() {
            let room = w.room().saturating_sub(self.header_len());
            let mut len = self.fragment_of(waiting);
            if len > room {
                // The fragment is cut to fit only if all of these conditions hold, since each further
                // fragment costs a header.
                if !self.config.fill_packets || sent == 0 || waiting == len || room < LEAST_FILLING {
                    break;
                }
                len = room;
            }
            let alike = self.queue.head_path() == chosen && !self.head_expired();
            if sent > 0 && (!alike || !self.config.bundling || !self.joins_packet(len, p, paths)) {
                break;
            }
            let probing = self.peer.free() < ByteCount::from(len);
            let mut fragment = self.queue.take(len);
            let flight_size = self.flight_size_of(len, &paths[p]);
            self.retained += ByteCount::from(len);
            self.peer.sent(ByteCount::new(u64::from(flight_size)));
            fragment.flags.immediate |= probing || (self.user.is_closing() && self.queue.is_empty());
            if sent == 0 && self.config.lean_sacks {
                fragment.flags.immediate |= self.needs_sack(&paths[p], paths.len() > 1);
            }
            if self.queue.held.is_some() {
                fragment.flags.immediate |= self.queue.is_last_before_reset(fragment.stream);
            }
            paths[p].queued += ByteCount::new(u64::from(flight_size));
            if let Some(id) = fragment.tag.id()
                && !(fragment.flags.beginning && fragment.flags.ending)
            {
                self.note_tracked(id, fragment.stream, fragment.flags.ending);
            }
            let has_record = fragment.record != RecordId::default();
            let (number, ending) = (fragment.number, fragment.flags.ending);
            let i = self.out.push(fragment, flight_size, p);
            if has_record {
                self.note_sent(i, number, ending);
            }
            self.transmit(now, i, p, paths, w);
            sent += 1;
        }
        self.queue.packet_done();
        sent
    }

    /// Returns true if the next packet of a path must request a SACK, which the peer would delay otherwise.
    ///
    /// With several paths, the packet after which no data waits requests one. In slow start every second
    /// packet does, since cwnd grows with each SACK, unless cwnd exceeds the peer's buffer. With a small cwnd
    /// every second, third or fourth packet does.
    #[cold]
    fn needs_sack(&self, path: &Path, several: bool) -> bool {
        if several && self.queue.is_empty() && !self.user.has_more() {
            return self.peer.nr_sacks;
        }
        let CongestionWindow { cwnd, ssthresh } = path.window;
        let packets = cwnd.get() / path.mtu.get().max(1);
        let in_slow_start = ssthresh.is_none_or(|ssthresh| cwnd < ssthresh);
        let every = match packets {
            _ if in_slow_start && cwnd <= self.peer.buffer() => 2,
            0..8 => 2,
            8..24 => 3,
            24..SMALL_WINDOW => 4,
            _ => return false,
        };
        self.peer.nr_sacks && path.stats.data_packets % every == 1
    }

    fn joins_packet(&self, len: usize, p: PathId, paths: &Paths) -> bool {
        self.has_numbers()
            && self.queue.shares_packet()
            && !paths[p].space().is_zero()
            && ByteCount::from(len) <= self.peer.room()
            && !splitting::share_is_full(&self.cmt, self.buffers(), p, paths)
    }

    #[inline(never)]
    fn write_lost(
        &mut self,
        now: Instant,
        on: PathId,
        cause: LossCause,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) -> usize {
        let beyond_window = std::mem::take(&mut paths[on].may_resend);
        let mut sent = 0;
        while let Some(i) = paths[on].lost(cause).first() {
            let fits = self.chunk_len(self.out[i].len()) <= w.room();
            let allowed = sent == 0
                || (!self.is_spent(i)
                    && self.config.bundling
                    && (beyond_window || !paths[p].space().is_zero()));
            if !fits || !allowed {
                break;
            }
            self.out.unlink(paths[on].lost(cause), i);
            self.peer.unlose(ByteCount::new(u64::from(self.out[i].flight_size)));
            match cause {
                LossCause::FastRetransmit => paths[p].stats.fast_retransmissions += 1,
                LossCause::Timeout => paths[p].stats.timer_retransmissions += 1,
            }
            if self.detects_by_time() && cause == LossCause::FastRetransmit {
                self.remember_resent(i, on, paths);
            }
            self.resend(now, i, p, paths, w);
            sent += 1;
        }
        if !paths[on].has_lost() && paths[on].flight.is_zero() {
            paths[on].t3 = None;
        }
        sent
    }

    /// Retransmits chunk `i`, which is not in flight.
    #[inline(never)]
    pub(super) fn resend(
        &mut self,
        now: Instant,
        i: u64,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) {
        let from = self.out[i].path;
        let before = ByteCount::new(u64::from(self.out[i].flight_size));
        if from != p {
            paths[from].cuc.forget();
            paths[from].queued -= before;
            self.out[i].flight_size = self.flight_size_of(self.out[i].len(), &paths[p]);
            paths[p].queued += ByteCount::new(u64::from(self.out[i].flight_size));
        }
        // rfc9260#section-7.2.4, step 4: T3-rtx restarts for the earliest outstanding chunk.
        let path = &mut paths[p];
        let earliest = path.fresh.first().into_iter().chain(path.resent.first()).min();
        if earliest.is_none_or(|e| i < e) {
            path.t3 = None;
        }
        let chunk = &mut self.out[i];
        if self.config.lean_sacks {
            chunk.ask_for_sack();
        }
        chunk.state = ChunkState::InFlight;
        chunk.path = p;
        self.peer.resent(before, ByteCount::new(u64::from(chunk.flight_size)));
        self.transmit(now, i, p, paths, w);
    }

    /// Writes chunk `i` into the packet, and counts the chunk as in flight.
    #[inline(always)] // into `write_new`, which calls it for each new chunk
    fn transmit(&mut self, now: Instant, i: u64, p: PathId, paths: &mut Paths, w: &mut PacketWriter<'_>) {
        let number = self.out.number(i);
        let chunk = &mut self.out[i];
        chunk.sent_at = now;
        chunk.transmissions = chunk.transmissions.saturating_add(1);
        let path = &mut paths[p];
        let (size, before) = (ByteCount::new(u64::from(chunk.flight_size)), path.flight);
        path.flight += size;
        path.stats.user_bytes += chunk.byte_count();
        path.stats.last_chunk = number;
        let list = chunk.flight_list(path);
        self.out.link(list, i);
        if self.paced
            && let Some(rate) = &mut path.rate
        {
            rate.written += size;
            if self.out.keeps_records() {
                self.out.set_record(i, rate.estimator.on_sent(now, before));
            }
        }
        self.out.write(i, w);
    }
}

/// True if the last usable path may not send more before an answer or an expiry of T3-rtx.
#[inline]
fn waits_for_answer(p: PathId, paths: &Paths) -> bool {
    let path = &paths[p];
    path.liveness.is_unanswered()
        && !path.flight.is_zero()
        && !paths.ids().any(|q| q != p && paths[q].is_usable())
}

/// The lowest chunk above `after` that is the first of a list of lost chunks, and its list (path and cause).
pub(super) fn earliest_lost(paths: &Paths, after: Option<u64>) -> Option<(u64, PathId, LossCause)> {
    let lists = paths.ids().flat_map(|p| [(p, LossCause::Timeout), (p, LossCause::FastRetransmit)]);
    let heads = lists.filter_map(|(p, cause)| paths[p].lost_list(cause).first().map(|i| (i, p, cause)));
    heads.filter(|&(i, ..)| Some(i) > after).min_by_key(|&(i, ..)| i)
}

/// cwnd, in packets, below which some packets request a SACK at once, even outside slow start.
const SMALL_WINDOW: u64 = 48;

/// Least number of user bytes in a fragment that is made only to fill a packet.
const LEAST_FILLING: usize = 128;
