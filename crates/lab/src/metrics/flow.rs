use super::quantity::{self as q, Quantity};
use crate::app::{Fate, Flow, Measured, Meter, Side, Tally, Window};
use crate::host::{Ending, PathCounts};
use crate::output::Scalar;
use units::Span;

/// All scalars of all flows.
pub(crate) fn of_flows(flows: &[Flow]) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    for flow in flows {
        if let Some(connected) = flow.connected {
            let value = connected.since(flow.plan.connect).as_secs_f64();
            scalars.push(Scalar { flow: flow.name.clone(), path: None, quantity: q::HANDSHAKE, value });
        }
        for from in [Side::Client, Side::Server] {
            if flow.end(from).sends() {
                Direction::new(flow, from).report(&mut scalars);
            }
        }
    }
    scalars
}

/// One direction of a flow: what its two ends counted in the window.
struct Direction<'a> {
    flow: &'a Flow,
    from: Side,
    length: Span,
    sender: Counted,
    receiver: Counted,
}

/// The tallies of an end when the window began and when it ended; both empty if there was no window.
#[derive(Default)]
struct Counted {
    begin: Tally,
    end: Tally,
}

impl Counted {
    fn between(begin: &Tally, end: &Tally) -> Self {
        Counted { begin: begin.clone(), end: end.clone() }
    }

    /// How much a counter grew.
    fn growth(&self, counter: impl Fn(&Tally) -> u64) -> f64 {
        (counter(&self.end) - counter(&self.begin)) as f64
    }
}

impl<'a> Direction<'a> {
    fn new(flow: &'a Flow, from: Side) -> Self {
        let mut direction = Direction {
            flow,
            from,
            length: Span::ZERO,
            sender: Counted::default(),
            receiver: Counted::default(),
        };
        if let Measured::Done(edges) = &flow.measured {
            let (begin, end): &(Window, Window) = edges;
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

    fn report(&self, out: &mut Vec<Scalar>) {
        let mut put = |quantity: Quantity, path: Option<usize>, value: f64| {
            let quantity = match self.from {
                Side::Client => quantity.forward,
                Side::Server => quantity.back,
            };
            out.push(Scalar {
                flow: self.flow.name.clone(),
                path: path.map(|path| path as u8),
                quantity,
                value,
            });
        };
        let received = self.receiver.growth(|tally| tally.received.bytes);
        put(q::THROUGHPUT, None, ratio(8.0 * received, self.length.as_secs_f64()));
        put(q::RECEIVED_BYTES, None, received);
        put(q::RECEIVED_MESSAGES, None, self.receiver.growth(|tally| tally.received.messages));
        put(q::UNORDERED_MESSAGES, None, self.receiver.growth(|tally| tally.received.unordered));
        put(q::OFFERED_BYTES, None, self.sender.growth(|tally| tally.offered.bytes));
        put(q::OFFERED_MESSAGES, None, self.sender.growth(|tally| tally.offered.messages));
        put(q::DROPPED_MESSAGES, None, self.sender.growth(|tally| tally.offered.dropped));
        put(q::UNDELIVERED_MESSAGES, None, self.undelivered());

        let data_packets = self.receiver.growth(|tally| tally.counted.data_packets);
        let sacks = self.receiver.growth(|tally| tally.counted.acks);
        put(q::DATA_PACKETS_RECEIVED, None, data_packets);
        put(q::DUPLICATE_CHUNKS, None, self.receiver.growth(|tally| tally.counted.duplicates));
        put(q::REFUSED_CHUNKS, None, self.receiver.growth(|tally| tally.counted.refused));
        put(q::SACKS, None, sacks);
        put(q::SACKS_PER_DATA_PACKET, None, ratio(sacks, data_packets));

        for (quantity, counter) in PATH_COUNTERS {
            let growth =
                |path: usize| self.sender.growth(|tally| tally.counted.paths.get(path).map_or(0, counter));
            let paths = self.sender.end.counted.paths.len();
            put(quantity, None, (0..paths).map(growth).sum());
            (0..paths).for_each(|path| put(quantity, Some(path), growth(path)));
        }
        for (path, counts) in self.sender.end.counted.paths.iter().enumerate() {
            if let Some(srtt) = counts.srtt {
                put(q::SRTT, Some(path), srtt.as_secs_f64());
            }
        }
    }

    /// Messages taken and not delivered, over the whole run.
    fn undelivered(&self) -> f64 {
        let receiver: &Meter = match self.from {
            Side::Client => self.flow.end(Side::Server),
            Side::Server => self.flow.end(Side::Client),
        };
        self.flow.end(self.from).offered().messages.saturating_sub(receiver.received().messages) as f64
    }
}

/// Zero if there is nothing to divide by.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}

type PathCounter = fn(&PathCounts) -> u64;

/// What is counted on each path, and summed up for the flow.
const PATH_COUNTERS: [(Quantity, PathCounter); 8] = [
    (q::DATA_PACKETS, |path| path.data_packets),
    (q::SENT_BYTES, |path| path.user_bytes.get()),
    (q::TRANSPORT_BYTES, |path| path.packet_bytes.get()),
    (q::FAST_RETRANSMISSIONS, |path| path.fast_retransmissions),
    (q::TIMER_RETRANSMISSIONS, |path| path.timer_retransmissions),
    (q::RETRANSMISSIONS, |path| path.fast_retransmissions + path.timer_retransmissions),
    (q::FAST_RECOVERIES, |path| path.fast_recoveries),
    (q::TIMEOUTS, |path| path.timeouts),
];

/// What a reader of the numbers should know.
pub(crate) fn warnings(flows: &[Flow], unroutable: u64) -> Vec<String> {
    let mut warnings: Vec<String> = flows.iter().filter_map(warning).collect();
    if unroutable > 0 {
        warnings.push(format!("{unroutable} packets had an address to which no link leads"));
    }
    warnings
}

fn warning(flow: &Flow) -> Option<String> {
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
