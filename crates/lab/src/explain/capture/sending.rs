//! One direction of an association: the data, and its acknowledgements.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use transport::Stopwatch;
use units::{Instant, Span};
use wire::{Chunk, Data, GapBlock, NrSack, Sack, Tsn};

/// One direction of an association in which data was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionReport {
    /// Number of the association in the capture, from 0.
    pub association: usize,
    /// Ports of SCTP: the sender's and the receiver's.
    pub ports: (u16, u16),
    /// From the first packet with data to the last one.
    pub time: Span,
    /// User bytes, each counted once.
    pub user_bytes: u64,
    /// Time in which the receive window minus the outstanding data had no room for the largest chunk. Chunk
    /// headers count, as in most senders.
    pub closed: Span,
    /// Time without outstanding data while the receive window had room: the application gave no data.
    pub idle: Span,
    /// Timeouts: retransmissions after a silence of more than twice the greatest RTT.
    pub timeouts: u64,
    /// Total duration of the silences that ended with a timeout.
    pub timeout_time: Span,
    /// Most user bytes that were outstanding at once.
    pub most_outstanding: u64,
    /// Paths of the direction, in the order of their first packets.
    pub paths: Vec<PathReport>,
}

/// The counts of one path (a pair of addresses) of the direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PathReport {
    /// Address of the sender.
    pub src: IpAddr,
    /// Address of the receiver.
    pub dst: IpAddr,
    /// Packets with data.
    pub packets: u64,
    /// Bytes of these packets, including IP headers.
    pub bytes: u64,
    /// User bytes, including retransmissions.
    pub user_bytes: u64,
    /// Chunks with data.
    pub chunks: u64,
    /// Chunks retransmitted.
    pub retransmissions: u64,
    /// Chunks retransmitted although the receiver had them: they were acknowledged before, or reported as
    /// duplicates later.
    pub needless: u64,
    /// RTT from the point of capture to the receiver and back; `None` without a sample.
    pub rtt: Option<Rtt>,
    /// SACKs that returned on the path.
    pub sacks: u64,
    /// Bytes of these SACKs. A packet without data counts whole, with its IP header; otherwise only the chunk
    /// counts.
    pub sack_bytes: u64,
}

impl PathReport {
    fn is_used(&self) -> bool {
        self.packets > 0 || self.sacks > 0
    }
}

/// Round-trip times of chunks that were sent once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtt {
    /// The least round-trip time.
    pub least: Span,
    /// The mean round-trip time.
    pub mean: Span,
    /// The greatest round-trip time.
    pub greatest: Span,
}

/// Time, addresses and length of a captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: Instant,
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    /// Length with the IP header.
    pub(super) length: usize,
}

/// A SACK or NR-SACK.
pub(super) struct Acknowledgement<'a> {
    cumulative: Tsn,
    a_rwnd: u32,
    kind: Kind<'a>,
    /// Length of the chunk.
    pub(super) length: usize,
}

enum Kind<'a> {
    Sack(Sack<'a>),
    NrSack(NrSack<'a>),
}

impl<'a> Acknowledgement<'a> {
    pub(super) fn of(chunk: &Chunk<'a>) -> Option<Self> {
        const ENTRY: usize = 4;
        match *chunk {
            Chunk::Sack(sack) => Some(Acknowledgement {
                cumulative: sack.cumulative_tsn_ack,
                a_rwnd: sack.a_rwnd,
                length: Sack::FIXED_LEN + ENTRY * (sack.gap_blocks().len() + sack.duplicates().len()),
                kind: Kind::Sack(sack),
            }),
            Chunk::NrSack(sack) => Some(Acknowledgement {
                cumulative: sack.cumulative_tsn_ack,
                a_rwnd: sack.a_rwnd,
                length: NrSack::FIXED_LEN
                    + ENTRY
                        * (sack.gap_blocks().len() + sack.nr_gap_blocks().len() + sack.duplicates().len()),
                kind: Kind::NrSack(sack),
            }),
            _ => None,
        }
    }

    fn each_block(&self, mut take: impl FnMut(GapBlock)) {
        match &self.kind {
            Kind::Sack(sack) => sack.gap_blocks().for_each(take),
            Kind::NrSack(sack) => sack.gap_blocks().chain(sack.nr_gap_blocks()).for_each(&mut take),
        }
    }

    fn each_duplicate(&self, mut take: impl FnMut(Tsn)) {
        match &self.kind {
            Kind::Sack(sack) => sack.duplicates().for_each(take),
            Kind::NrSack(sack) => sack.duplicates().for_each(&mut take),
        }
    }
}

/// Largest number of paths of a direction; further paths count as the last one.
const MOST_PATHS: usize = 64;

/// Largest numbers of chunks above the cumulative TSN, and of retransmitted chunks below it, that are kept.
const MOST_CHUNKS: usize = 1 << 16;
const MOST_REPAIRED: usize = 1 << 12;

/// A retransmission counts as a timeout only after a silence longer than this.
const LEAST_TIMEOUT: Span = Span::from_millis(50);

/// Bytes of a DATA chunk before its user data.
const HEADER: u64 = Data::HEADER_LEN as u64;

/// A chunk that the cumulative TSN has not passed.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    path: usize,
    bytes: u64,
    repeats: Repeats,
}

/// Numbers of all retransmissions and of needless retransmissions of a chunk, and the last path.
#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    path: usize,
    all: u32,
    needless: u32,
}

/// One direction of an association.
#[derive(Default)]
pub(super) struct Sending {
    pub(super) ports: (u16, u16),
    paths: Vec<PathTally>,
    /// Chunks by unwrapped TSN.
    chunks: BTreeMap<u64, Sent>,
    /// Chunks that no SACK has acknowledged.
    unacked: BTreeSet<u64>,
    /// Retransmitted chunks at or below the cumulative TSN.
    repaired: BTreeMap<u64, Repeats>,
    cumulative: Option<u64>,
    /// The latest TSN seen, to unwrap the following ones.
    latest: Option<u64>,
    outstanding: u64,
    user_bytes: u64,
    largest: u64,
    a_rwnd: Option<u32>,
    closed: Stopwatch,
    idle: Stopwatch,
    /// The latest time at which data was sent or a SACK arrived.
    active: Instant,
    timeouts: u64,
    timeout_time: Span,
    most_outstanding: u64,
    times: Option<(Instant, Instant)>,
}

struct PathTally {
    report: PathReport,
    samples: u64,
    total: Span,
    /// The least RTT sample of the current SACK.
    sample: Option<Span>,
}

impl Sending {
    /// Returns the number of the path between two addresses, and adds the path if it is new.
    pub(super) fn path(&mut self, src: IpAddr, dst: IpAddr) -> usize {
        let known = self.paths.iter().position(|path| (path.report.src, path.report.dst) == (src, dst));
        known.unwrap_or_else(|| {
            if self.paths.len() < MOST_PATHS {
                self.paths.push(PathTally::new(src, dst));
            }
            self.paths.len() - 1
        })
    }

    /// Records a packet with data.
    pub(super) fn on_packet(&mut self, seen: &Seen, path: usize) {
        let (first, last) = self.times.get_or_insert((seen.at, seen.at));
        (*first, *last) = ((*first).min(seen.at), (*last).max(seen.at));
        let report = &mut self.paths[path].report;
        report.packets += 1;
        report.bytes += seen.length as u64;
    }

    pub(super) fn on_data(&mut self, at: Instant, path: usize, tsn: Tsn, length: usize) {
        let (t, bytes) = (self.unwrap(tsn), length as u64);
        let report = &mut self.paths[path].report;
        report.chunks += 1;
        report.user_bytes += bytes;
        self.largest = self.largest.max(bytes);
        let is_new = self.cumulative.is_none_or(|cumulative| t > cumulative) && !self.chunks.contains_key(&t);
        if !is_new {
            self.look_at_silence(at);
        }
        self.active = at;
        if self.cumulative.is_some_and(|cumulative| t <= cumulative) {
            let mut repeats = self.repaired.remove(&t).unwrap_or_default();
            repeats.again(path, true, &mut self.paths);
            self.remember(t, repeats);
        } else if let Some(sent) = self.chunks.get_mut(&t) {
            sent.repeats.again(path, !self.unacked.contains(&t), &mut self.paths);
        } else {
            self.chunks.insert(t, Sent { at, path, bytes, repeats: Repeats::default() });
            self.unacked.insert(t);
            self.outstanding += bytes;
            self.most_outstanding = self.most_outstanding.max(self.outstanding);
            self.user_bytes += bytes;
            if self.chunks.len() > MOST_CHUNKS
                && let Some((oldest, sent)) = self.chunks.pop_first()
                && self.unacked.remove(&oldest)
            {
                self.outstanding -= sent.bytes;
            }
        }
        self.look_at_window(at);
    }

    /// Records a SACK for this direction that returned on `path` and took `bytes` bytes.
    pub(super) fn on_sack(&mut self, at: Instant, path: usize, ack: &Acknowledgement<'_>, bytes: usize) {
        self.active = at;
        let report = &mut self.paths[path].report;
        report.sacks += 1;
        report.sack_bytes += bytes as u64;
        ack.each_duplicate(|tsn| self.on_duplicate(tsn));
        let cumulative = self.unwrap(ack.cumulative);
        if self.cumulative.is_some_and(|before| cumulative < before) {
            return; // a later SACK overtook this SACK
        }
        self.cumulative = Some(cumulative);
        while let Some(entry) = self.chunks.first_entry().filter(|entry| *entry.key() <= cumulative) {
            let (t, sent) = entry.remove_entry();
            if self.unacked.remove(&t) {
                self.on_acked(at, sent);
            }
            if sent.repeats.all > 0 {
                self.remember(t, sent.repeats);
            }
        }
        ack.each_block(|block| {
            let (from, to) = (cumulative + u64::from(block.start), cumulative + u64::from(block.end));
            while from <= to
                && let Some(&t) = self.unacked.range(from..=to).next()
            {
                self.unacked.remove(&t);
                let sent = self.chunks[&t];
                self.on_acked(at, sent);
            }
        });
        self.paths.iter_mut().for_each(PathTally::take_sample);
        self.a_rwnd = Some(ack.a_rwnd);
        self.look_at_window(at);
    }

    fn on_acked(&mut self, at: Instant, sent: Sent) {
        self.outstanding -= sent.bytes;
        if sent.repeats.all == 0 {
            let sample = &mut self.paths[sent.path].sample;
            let rtt = at.since(sent.at);
            *sample = Some(sample.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Records a duplicate: the receiver reported that the chunk arrived once more than needed.
    fn on_duplicate(&mut self, tsn: Tsn) {
        let t = self.unwrap(tsn);
        let repeats = match self.chunks.get_mut(&t) {
            Some(sent) => Some(&mut sent.repeats),
            None => self.repaired.get_mut(&t),
        };
        // If the chunk was sent only once, the network duplicated it.
        if let Some(repeats) = repeats.filter(|repeats| repeats.needless < repeats.all) {
            repeats.needless += 1;
            self.paths[repeats.path].report.needless += 1;
        }
    }

    fn remember(&mut self, t: u64, repeats: Repeats) {
        self.repaired.insert(t, repeats);
        if self.repaired.len() > MOST_REPAIRED {
            self.repaired.pop_first();
        }
    }

    fn look_at_window(&mut self, at: Instant) {
        let needed = self.outstanding + self.largest + HEADER * (self.unacked.len() as u64 + 1);
        let closed = self.a_rwnd.is_some_and(|room| u64::from(room) < needed);
        self.closed.set(at, closed);
        self.idle.set(at, !closed && self.times.is_some() && self.outstanding == 0);
    }

    /// Counts a timeout if a retransmission follows a long silence in which the receive window was not
    /// closed.
    fn look_at_silence(&mut self, at: Instant) {
        let silence = at.since(self.active);
        let rtt = self.paths.iter().filter_map(|path| path.report.rtt).map(|rtt| rtt.greatest).max();
        let is_long = silence > rtt.map_or(LEAST_TIMEOUT, |rtt| LEAST_TIMEOUT.max(rtt * 2));
        if is_long && self.outstanding > 0 && self.closed.since().is_none() {
            self.timeouts += 1;
            self.timeout_time += silence;
        }
    }

    /// Unwraps a TSN to the number nearest to the latest one.
    fn unwrap(&mut self, tsn: Tsn) -> u64 {
        const LAP: u64 = 1 << 32;
        let latest = self.latest.unwrap_or(LAP + u64::from(tsn.0));
        let distance = tsn.0.wrapping_sub(latest as u32) as i32;
        let unwrapped = latest.saturating_add_signed(i64::from(distance));
        self.latest = Some(unwrapped);
        unwrapped
    }

    /// The report; `None` if no data was sent.
    pub(super) fn into_report(self, association: usize) -> Option<DirectionReport> {
        let (first, last) = self.times?;
        Some(DirectionReport {
            association,
            ports: self.ports,
            time: last.since(first),
            user_bytes: self.user_bytes,
            closed: self.closed.until(last).time(),
            idle: self.idle.until(last).time(),
            timeouts: self.timeouts,
            timeout_time: self.timeout_time,
            most_outstanding: self.most_outstanding,
            paths: self.paths.into_iter().map(PathTally::into_report).filter(PathReport::is_used).collect(),
        })
    }
}

impl Repeats {
    /// Records a retransmission of the chunk on a path.
    fn again(&mut self, path: usize, needless: bool, paths: &mut [PathTally]) {
        self.path = path;
        self.all = self.all.saturating_add(1);
        self.needless += u32::from(needless && self.needless < self.all);
        paths[path].report.retransmissions += 1;
        paths[path].report.needless += u64::from(needless);
    }
}

impl PathTally {
    fn new(src: IpAddr, dst: IpAddr) -> Self {
        let report = PathReport {
            src,
            dst,
            packets: 0,
            bytes: 0,
            user_bytes: 0,
            chunks: 0,
            retransmissions: 0,
            needless: 0,
            rtt: None,
            sacks: 0,
            sack_bytes: 0,
        };
        PathTally { report, samples: 0, total: Span::ZERO, sample: None }
    }

    /// Counts the least RTT sample of a SACK. The other samples also include the delay of the
    /// acknowledgement.
    fn take_sample(&mut self) {
        let Some(sample) = self.sample.take() else { return };
        let rtt = self.report.rtt.get_or_insert(Rtt { least: sample, mean: sample, greatest: sample });
        (rtt.least, rtt.greatest) = (rtt.least.min(sample), rtt.greatest.max(sample));
        self.samples += 1;
        self.total += sample;
    }

    fn into_report(mut self) -> PathReport {
        if let Some(rtt) = &mut self.report.rtt {
            rtt.mean = self.total / self.samples;
        }
        self.report
    }
}
