use super::echo;
use super::link::Links;
use super::quantity::{self as q, Quantity};
use super::rows::RowWriter;
use super::statistics::ratio;
use crate::app::{Fate, Flow, Measured, Meter, Tally, Window};
use crate::host::{Ending, PathCounts, Side};
use net::{LinkDir, Network};
use std::collections::BTreeMap;
use transport::LimitTimes;
use units::{ByteCount, Instant, Span};

/// The parts of a run from which the results of one window are computed.
pub(super) struct RunContext<'a> {
    pub(super) network: &'a Network,
    pub(super) links: &'a Links,
    /// True for the measurement of a flow from its `reset_time` to its
    /// `stop_time`. Such a measurement also reports quantities of the whole run.
    pub(super) whole_run: bool,
    /// Start and end of the time without load, if there is one.
    pub(super) idle: Option<(Instant, Instant)>,
}

impl RunContext<'_> {
    /// The sum of the rates of the tightest links on these paths, each link counted once, in bit/s.
    pub(super) fn tightest(&self, ways: &[Vec<LinkDir>]) -> f64 {
        let rate = |&direction: &LinkDir| self.links.rate(direction);
        let tight =
            ways.iter().filter_map(|way| way.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b))));
        let distinct: BTreeMap<LinkDir, f64> = tight.map(|link| (link, rate(&link))).collect();
        distinct.values().sum()
    }
}

/// Rates of a flow in a window in bit/s, for the sums over all flows. λ, α and γ are those of paper 003,
/// section 4.3.5.
#[derive(Debug, Default)]
pub(super) struct Achieved {
    /// Sent throughput λ of this flow, or of each of its subflows, which count as flows.
    pub(super) sent: Vec<f64>,
    /// Goodput α of both directions.
    pub(super) goodput: f64,
    /// Transport load γ.
    pub(super) load: f64,
    /// Sent throughput λ of each path, and the links of the path.
    pub(super) carried: Vec<(f64, Vec<LinkDir>)>,
}

/// Reports a flow as measured between the start and the end of a window, or as not measured.
pub(super) fn report(
    flow: &Flow,
    edges: Option<(&Window, &Window)>,
    run: &RunContext<'_>,
    rows: &mut RowWriter<'_>,
) -> Achieved {
    let mut achieved = Achieved::default();
    let sending: Vec<Side> =
        [Side::Client, Side::Server].into_iter().filter(|&side| flow.end(side).sends()).collect();
    for &from in &sending {
        Direction::new(flow, from, edges).report(run, rows, &mut achieved);
    }
    if let (Some(&from), Some((begin, end))) = (sending.first(), edges) {
        let direction = Direction::new(flow, from, edges);
        let bytes = direction.sender.growth(Tally::transport_bytes)
            + direction.receiver.growth(Tally::transport_bytes);
        achieved.load = ratio(8.0 * bytes, end.from.since(begin.from).as_secs_f64());
        rows.write(q::LOAD, achieved.load);
        rows.write(q::LOAD_SHARE, ratio(achieved.load, run.tightest(&direction.ways(run))));
    }
    if let (true, Some((begin, end))) = (flow.echoes, edges) {
        echo::report(flow, (begin, end), run.idle, rows);
    }
    achieved
}

/// One direction of a flow: the counters of its two ends over the window.
struct Direction<'a> {
    flow: &'a Flow,
    from: Side,
    length: Span,
    sender: Counted,
    receiver: Counted,
}

/// The counters of an end at the start and at the end of the window; zeros if there was no window.
#[derive(Default)]
struct Counted {
    begin: Tally,
    end: Tally,
}

impl Counted {
    fn between(begin: &Tally, end: &Tally) -> Self {
        Counted { begin: begin.clone(), end: end.clone() }
    }

    /// Growth of a counter over the window.
    fn growth(&self, counter: impl Fn(&Tally) -> u64) -> f64 {
        (counter(&self.end) - counter(&self.begin)) as f64
    }

    /// Growth of a counter of a path over the window.
    fn path_growth(&self, path: usize, counter: PathCounter) -> f64 {
        self.growth(|tally| tally.counted.paths.get(path).map_or(0, counter))
    }
}

impl<'a> Direction<'a> {
    fn new(flow: &'a Flow, from: Side, edges: Option<(&Window, &Window)>) -> Self {
        let (sender, receiver) = (Counted::default(), Counted::default());
        let mut direction = Direction { flow, from, length: Span::ZERO, sender, receiver };
        if let Some((begin, end)) = edges {
            let client = Counted::between(&begin.client, &end.client);
            let server = Counted::between(&begin.server, &end.server);
            direction.length = end.from.since(begin.from);
            (direction.sender, direction.receiver) = match from {
                Side::Client => (client, server),
                Side::Server => (server, client),
            };
        }
        direction
    }

    /// The links on each path of the sender.
    fn ways(&self, run: &RunContext<'_>) -> Vec<Vec<LinkDir>> {
        let [client, server] = self.flow.dial.nodes;
        let node = if self.from == Side::Client { client } else { server };
        let paths = self.sender.end.counted.paths.iter();
        paths.map(|path| run.network.way(node, path.local, path.remote)).collect()
    }

    fn report(&self, run: &RunContext<'_>, rows: &mut RowWriter<'_>, achieved: &mut Achieved) {
        let mut row = |quantity: Quantity, path: Option<usize>, value: f64| {
            let quantity = match self.from {
                Side::Client => quantity.forward,
                Side::Server => quantity.back,
            };
            rows.write_path(quantity, path, value);
        };
        let ways = self.ways(run);
        let received = self.receiver.growth(|tally| tally.received.bytes);
        let goodput = self.rate(received);
        achieved.goodput += goodput;
        row(q::THROUGHPUT, None, goodput);
        row(q::GOODPUT_SHARE, None, ratio(goodput, run.tightest(&ways)));
        row(q::RECEIVED_BYTES, None, received);
        row(q::RECEIVED_MESSAGES, None, self.receiver.growth(|tally| tally.received.messages));
        row(q::UNORDERED_MESSAGES, None, self.receiver.growth(|tally| tally.received.unordered));
        row(q::OFFERED_BYTES, None, self.sender.growth(|tally| tally.offered.bytes));
        row(q::OFFERED_MESSAGES, None, self.sender.growth(|tally| tally.offered.messages));
        row(q::DROPPED_MESSAGES, None, self.sender.growth(|tally| tally.offered.dropped));
        if run.whole_run {
            row(q::UNDELIVERED_MESSAGES, None, self.undelivered());
        }
        let data_packets = self.receiver.growth(|tally| tally.counted.data_packets);
        let acks = self.receiver.growth(|tally| tally.counted.acks);
        row(q::DATA_PACKETS_RECEIVED, None, data_packets);
        row(q::DUPLICATE_CHUNKS, None, self.receiver.growth(|tally| tally.counted.duplicates));
        row(q::REFUSED_CHUNKS, None, self.receiver.growth(|tally| tally.counted.refused));
        row(q::SACKS, None, acks);
        row(q::SACKS_PER_DATA_PACKET, None, ratio(acks, data_packets));

        self.acknowledgements(received, &mut row);
        let paths = 0..self.sender.end.counted.paths.len();
        for (quantity, counter) in PATH_COUNTERS {
            let growth = |path| self.sender.path_growth(path, counter);
            row(quantity, None, paths.clone().map(growth).sum());
            paths.clone().for_each(|path| row(quantity, Some(path), growth(path)));
        }
        let sent = |path| self.rate(self.sender.path_growth(path, |path| path.user_bytes.get()));
        let total: f64 = paths.clone().map(sent).sum();
        row(q::SENT_THROUGHPUT, None, total);
        row(q::SENT_SHARE, None, ratio(total, run.tightest(&ways)));
        for (path, way) in ways.iter().enumerate() {
            row(q::SENT_THROUGHPUT, Some(path), sent(path));
            row(q::SENT_SHARE, Some(path), ratio(sent(path), run.tightest(std::slice::from_ref(way))));
        }
        for (path, counts) in self.sender.end.counted.paths.iter().enumerate() {
            if let Some(srtt) = counts.srtt {
                row(q::SRTT, Some(path), srtt.as_secs_f64());
            }
        }
        self.limits(&mut row);
        if self.flow.concurrent {
            achieved.sent.extend(paths.map(sent));
        } else {
            achieved.sent.push(total);
        }
        achieved.carried.extend(ways.into_iter().enumerate().map(|(path, way)| (sent(path), way)));
    }

    /// Reports the bytes of packets with a SACK and no data: in total, and for each path by its number at the
    /// sender.
    ///
    /// The receiver may number its paths in another order if packets of the handshake were lost. So the paths
    /// are matched by their addresses.
    fn acknowledgements(&self, received: f64, row: &mut dyn FnMut(Quantity, Option<usize>, f64)) {
        let backs = &self.receiver.end.counted.paths;
        if !backs.iter().any(|path| path.ack_bytes.is_some()) {
            return;
        }
        let bytes = |back| self.receiver.path_growth(back, |path| path.ack_bytes.map_or(0, ByteCount::get));
        let all: f64 = (0..backs.len()).map(bytes).sum();
        row(q::ACK_BYTES, None, all);
        row(q::ACK_SHARE, None, ratio(all, received));
        for (path, forth) in self.sender.end.counted.paths.iter().enumerate() {
            let back = backs.iter().position(|back| (back.local, back.remote) == (forth.remote, forth.local));
            row(q::ACK_BYTES, Some(path), back.map_or(0.0, bytes));
        }
    }

    fn limits(&self, row: &mut dyn FnMut(Quantity, Option<usize>, f64)) {
        let (begin, end) = (&self.sender.begin.counted, &self.sender.end.counted);
        let mut rows = |path, before: &LimitTimes, after: &LimitTimes| {
            for (limit, share) in after.shares_since(before).into_iter().flatten() {
                row(q::LIMITED_BY[limit as usize], path, share);
            }
        };
        rows(None, &begin.limits, &end.limits);
        for (path, after) in end.paths.iter().enumerate() {
            let before = begin.paths.get(path).map(|path| path.limits).unwrap_or_default();
            rows(Some(path), &before, &after.limits);
        }
        let counted = end.limits.total().saturating_sub(begin.limits.total()).as_secs_f64();
        for (path, after) in end.paths.iter().enumerate().filter(|_| counted > 0.0) {
            let before = begin.paths.get(path).map(|path| path.blocks.time()).unwrap_or_default();
            let blocked = after.blocks.time().saturating_sub(before).as_secs_f64();
            row(q::BLOCKS, Some(path), blocked / counted);
        }
    }

    /// Converts bytes in the window to bit/s.
    fn rate(&self, bytes: f64) -> f64 {
        ratio(8.0 * bytes, self.length.as_secs_f64())
    }

    /// Messages that the transport accepted but did not deliver, over the whole run.
    fn undelivered(&self) -> f64 {
        let receiver: &Meter = match self.from {
            Side::Client => self.flow.end(Side::Server),
            Side::Server => self.flow.end(Side::Client),
        };
        self.flow.end(self.from).offered().messages.saturating_sub(receiver.received().messages) as f64
    }
}

type PathCounter = fn(&PathCounts) -> u64;

/// Quantities that are counted on each path and summed for the flow.
const PATH_COUNTERS: [(Quantity, PathCounter); 10] = [
    (q::DATA_PACKETS, |path| path.data_packets),
    (q::SENT_BYTES, |path| path.user_bytes.get()),
    (q::TRANSPORT_BYTES, |path| path.packet_bytes.get()),
    (q::FAST_RETRANSMISSIONS, |path| path.fast_retransmissions),
    (q::TIMER_RETRANSMISSIONS, |path| path.timer_retransmissions),
    (q::RETRANSMISSIONS, |path| path.fast_retransmissions + path.timer_retransmissions),
    (q::FAST_RECOVERIES, |path| path.fast_recoveries),
    (q::NEEDLESS_RETRANSMISSIONS, |path| path.needless_retransmissions),
    (q::UNDONE_RECOVERIES, |path| path.undone_recoveries),
    (q::TIMEOUTS, |path| path.timeouts),
];

pub(super) fn warning(flow: &Flow) -> Option<String> {
    let what = match &flow.fate {
        Fate::NeverConnected => "never connected".to_owned(),
        Fate::Closed(Ending::Graceful) if matches!(flow.measured, Measured::Done(_)) => return None,
        Fate::Closed(Ending::Graceful) => "ended before its time: Graceful".to_owned(),
        Fate::Closed(Ending::Failed(reason)) => format!("ended before its time: {reason}"),
        Fate::Open if flow.connected.is_none() => "had not connected when the run ended".to_owned(),
        Fate::Open => "had not ended when the run did: some of its data was still on the way".to_owned(),
    };
    Some(format!("flow `{}` {what}", flow.name))
}
