//! Records the chunks of an association one by one: first transmissions, retransmissions by cause,
//! acknowledgements.

use super::ProbeView;
use crate::host::{ConnId, Counted, EndpointId, Note, Noted, Side, Transport};
use crate::output::Series;
use units::Instant;
use wire::Tsn;

/// Names of the series; the quantities in results have the prefix `sequence`.
const NAMES: [&str; 8] = [
    "sent",
    "resent-fast",
    "resent-timeout",
    "resent-early",
    "acked",
    "gap-acked",
    "non-renegable",
    "window-edge",
];
/// Indices into [`NAMES`].
const SENT: usize = 0;
const RESENT_FAST: usize = 1;
const RESENT_TIMEOUT: usize = 2;
const RESENT_EARLY: usize = 3;
const ACKED: usize = 4;
const GAP_ACKED: usize = 5;
const NON_RENEGABLE: usize = 6;
const WINDOW_EDGE: usize = 7;

/// The chunks that the client of a flow sends, numbered from 1, and the acknowledgements of its peer.
#[derive(Debug)]
pub(super) struct Sequence {
    flow: usize,
    name: String,
    started: bool,
    /// The TSN before the TSN of the first chunk, which has number 1.
    base: Option<Tsn>,
    /// The number of the newest chunk.
    newest: u64,
    /// The highest cumulative TSN acknowledged, as a chunk number.
    acked: u64,
    /// User data of the largest chunk in bytes.
    largest: u64,
    /// For each path, the number of recorded retransmissions after missing reports, and of those after
    /// timeouts.
    resent: Vec<[u64; 2]>,
    series: Vec<Series>,
}

impl Sequence {
    pub(super) fn new(flow: usize, name: String) -> Self {
        Sequence {
            flow,
            name,
            started: false,
            base: None,
            newest: 0,
            acked: 0,
            largest: 0,
            resent: Vec::new(),
            series: Vec::new(),
        }
    }

    /// Records the chunks sent and the acknowledgements received since the last call. The first call begins
    /// to watch the endpoint.
    pub(super) fn record(&mut self, view: &mut ProbeView<'_>) {
        let client = view.flows[self.flow].end(Side::Client);
        let endpoint = client.endpoint;
        let Some(log) = view.hosts.log(endpoint) else { return };
        let notes = log.take();
        let Some(conn) = client.conn else { return };
        if !self.started {
            self.started = true;
            self.catch_up(view, endpoint, conn);
        }
        if notes.is_empty() {
            return;
        }
        let counted = view.hosts.endpoint(endpoint).counted(conn);
        let port = view.flows[self.flow].dial.port;
        let mine = |note: &&Note| note.port == port && counted.path(note.local, note.remote).is_some();
        let notes: Vec<&Note> = notes.iter().filter(mine).collect();
        self.set_base(view, endpoint, conn, &counted, &notes);
        for note in notes {
            match note.what {
                Noted::Data { tsn, bytes } => {
                    self.on_data(view.now, counted.path(note.local, note.remote), tsn, bytes, &counted)
                }
                Noted::Ack { .. } => self.on_ack(view.now, note.what),
            }
        }
    }

    /// Ends the recording.
    pub(super) fn end(&self, view: &mut ProbeView<'_>) {
        let endpoint = view.flows[self.flow].end(Side::Client).endpoint;
        view.hosts.unwatch(endpoint);
    }

    pub(super) fn into_series(self) -> Vec<Series> {
        self.series
    }

    /// Skips chunks that were sent before the recording began.
    fn catch_up(&mut self, view: &mut ProbeView<'_>, endpoint: EndpointId, conn: ConnId) {
        let endpoint = view.hosts.endpoint(endpoint);
        endpoint.paths(conn, &mut |path| self.newest = self.newest.max(path.last_chunk.unwrap_or(0)));
        let counted = endpoint.counted(conn);
        self.resent =
            counted.paths.iter().map(|p| [p.fast_retransmissions, p.timer_retransmissions]).collect();
    }

    /// Computes `base` (the TSN before the first chunk's) from the number of the last chunk of each path.
    fn set_base(
        &mut self,
        view: &mut ProbeView<'_>,
        endpoint: EndpointId,
        conn: ConnId,
        counted: &Counted,
        notes: &[&Note],
    ) {
        if self.base.is_some() {
            return;
        }
        let data = notes.iter().rev().find_map(|note| match note.what {
            Noted::Data { tsn, .. } => Some((counted.path(note.local, note.remote)?, tsn)),
            Noted::Ack { .. } => None,
        });
        let Some((path, tsn)) = data else { return };
        let mut place = 0;
        view.hosts.endpoint(endpoint).paths(conn, &mut |state| {
            if let Some(number) = state.last_chunk.filter(|_| place == path) {
                self.base = Some(Tsn(tsn.0.wrapping_sub(number as u32)));
            }
            place += 1;
        });
    }

    /// The number of the chunk with this TSN. Since TSNs wrap, it is the possible number nearest to `newest`.
    fn number(&self, tsn: Tsn) -> u64 {
        let base = self.base.unwrap_or(Tsn(tsn.0.wrapping_sub(1)));
        let behind = tsn.0.wrapping_sub(base.0).wrapping_sub(self.newest as u32) as i32;
        self.newest.saturating_add_signed(i64::from(behind))
    }

    fn on_data(&mut self, now: Instant, path: Option<usize>, tsn: Tsn, bytes: usize, counted: &Counted) {
        let Some(path) = path else { return };
        let number = self.number(tsn);
        self.largest = self.largest.max(bytes as u64);
        let kind = if number > self.newest {
            self.newest = number;
            SENT
        } else {
            self.cause(path, counted)
        };
        self.note(kind, Some(path as u8), now, number, true);
    }

    /// The cause of a retransmission on a path, from the counter of the path that has grown.
    fn cause(&mut self, path: usize, counted: &Counted) -> usize {
        if self.resent.len() < counted.paths.len() {
            self.resent.resize(counted.paths.len(), [0; 2]);
        }
        let now = [counted.paths[path].fast_retransmissions, counted.paths[path].timer_retransmissions];
        for (place, kind) in [RESENT_FAST, RESENT_TIMEOUT].into_iter().enumerate() {
            if self.resent[path][place] < now[place] {
                self.resent[path][place] += 1;
                return kind;
            }
        }
        RESENT_EARLY
    }

    fn on_ack(&mut self, now: Instant, ack: Noted) {
        let Noted::Ack { cumulative, gap, non_renegable, early, a_rwnd } = ack else { return };
        if self.base.is_none() {
            return;
        }
        let acked = self.number(cumulative);
        // The sender drops a SACK that a later one overtook (rfc9260#section-6.2.1).
        if acked < self.acked {
            return;
        }
        self.acked = acked;
        self.note(ACKED, None, now, acked, false);
        self.note(GAP_ACKED, None, now, self.number(gap), false);
        if let Some(highest) = non_renegable {
            self.note(NON_RENEGABLE, None, now, self.number(highest), false);
        }
        let room = u64::from(a_rwnd).checked_div(self.largest).unwrap_or(0);
        self.note(WINDOW_EDGE, None, now, acked + u64::from(early) + room, false);
    }

    /// Adds a point to a series. Without `repeats`, only if the value changed.
    fn note(&mut self, kind: usize, path: Option<u8>, now: Instant, number: u64, repeats: bool) {
        let quantity = NAMES[kind];
        let place = self.series.iter().position(|one| one.quantity == quantity && one.path == path);
        let place = place.unwrap_or_else(|| {
            self.series.push(Series { flow: self.name.clone(), path, quantity, points: Vec::new() });
            self.series.len() - 1
        });
        let points = &mut self.series[place].points;
        let value = number as f64;
        if repeats || points.last().is_none_or(|&(_, last)| last != value) {
            points.push((now, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_from_the_first_chunk_around_the_end_of_tsns() {
        let mut sequence = Sequence::new(0, "f".to_owned());
        sequence.base = Some(Tsn(u32::MAX - 2));
        assert_eq!([u32::MAX - 1, u32::MAX, 0, 1].map(|tsn| sequence.number(Tsn(tsn))), [1, 2, 3, 4]);
        sequence.newest = (1 << 32) + 5;
        assert_eq!(sequence.number(Tsn(2)), (1 << 32) + 5);
        assert_eq!(sequence.number(Tsn(u32::MAX)), (1 << 32) + 2);
    }
}
