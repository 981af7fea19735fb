use super::{ProbeView, sequence::Sequence};
use crate::host::{ConnId, PathView, Side, Transport};
use crate::output::Series;
use crate::scenario::{Every, Probe, ProbeQuantity, ProbeTarget};
use net::{LinkDir, LinkId};
use transport::Limit;
use units::Instant;

/// The source of a probe's values.
#[derive(Debug)]
pub(super) enum ProbeSource {
    /// A quantity of each path of a flow's client.
    Paths { flow: usize, name: &'static str, of: fn(&PathView) -> Option<f64> },
    /// An inner quantity of the congestion control on each path of a flow's client.
    Inner { flow: usize, quantity: ProbeQuantity, name: &'static str },
    /// The last chunk sent on each path of a flow's client. `before`: packets sent on each path up to the
    /// last record.
    Tsn { flow: usize, before: Vec<u64> },
    /// The chunks of a flow's client one by one.
    Sequence(Box<Sequence>),
    /// The reasons that hold back the client of a flow and each of its paths.
    Limit { flow: usize },
    /// The peer's receive window at a flow's client.
    PeerRwnd { flow: usize },
    /// The payload that a flow's server received.
    Received { flow: usize, before: Meter },
    /// The payload that a flow's client sent, in total and on each path.
    Sent { flow: usize, before: Vec<Meter> },
    /// The bytes that a link delivered.
    Carried { direction: LinkDir, before: Meter },
    /// The packets in the queue of a link.
    Queue { direction: LinkDir },
    /// The packets that a link dropped.
    Drops { direction: LinkDir },
    /// The average queue length of RED.
    QueueAverage { direction: LinkDir },
    /// No values: bursts are counted packet by packet.
    Nothing,
}

/// A byte counter and the time of its last reading.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    read: Option<(Instant, u64)>,
}

impl Meter {
    /// The mean rate in bit/s since the last reading; `None` for the first reading.
    fn rate(&mut self, now: Instant, bytes: u64) -> Option<f64> {
        let (then, before) = self.read.replace((now, bytes))?;
        Some(8.0 * (bytes - before) as f64 / now.since(then).as_secs_f64())
    }
}

impl ProbeSource {
    /// The source of a probe's values, or the reason why there is none.
    pub(super) fn new(probe: &Probe, links: &[LinkId], name: &str) -> Result<ProbeSource, &'static str> {
        use ProbeQuantity::{
            Bursts, Cwnd, Drops, Flight, Limit, PeerRwnd, Queue, QueueAverage, Rto, SentThroughput, Sequence,
            Srtt, Ssthresh, Throughput, Tsn,
        };
        if matches!(probe.quantity, Throughput | SentThroughput) && probe.every == Every::Change {
            return Err("throughput needs an interval");
        }
        if probe.quantity == Sequence && probe.every != Every::Change {
            return Err("each chunk is recorded, at no interval");
        }
        match probe.target {
            ProbeTarget::Flow(flow) => {
                let paths = |name, of| Ok(ProbeSource::Paths { flow, name, of });
                match probe.quantity {
                    Cwnd => paths("cwnd", |path| Some(path.cwnd.as_f64())),
                    Ssthresh => paths("ssthresh", |path| path.ssthresh.map(|bytes| bytes.as_f64())),
                    Flight => paths("flight", |path| Some(path.flight.as_f64())),
                    Srtt => paths("srtt", |path| path.srtt.map(|time| time.as_secs_f64())),
                    Rto => paths("rto", |path| Some(path.rto.as_secs_f64())),
                    Tsn => Ok(ProbeSource::Tsn { flow, before: Vec::new() }),
                    Sequence => Ok(ProbeSource::Sequence(Box::new(super::sequence::Sequence::new(
                        flow,
                        name.to_owned(),
                    )))),
                    Limit => Ok(ProbeSource::Limit { flow }),
                    PeerRwnd => Ok(ProbeSource::PeerRwnd { flow }),
                    Throughput => Ok(ProbeSource::Received { flow, before: Meter::default() }),
                    SentThroughput => Ok(ProbeSource::Sent { flow, before: Vec::new() }),
                    Queue | QueueAverage | Drops | Bursts => Err("a flow has no queue: name a link"),
                    quantity => match quantity.inner() {
                        Some(name) => Ok(ProbeSource::Inner { flow, quantity, name }),
                        None => Err("this quantity belongs to no flow"),
                    },
                }
            }
            ProbeTarget::Link { link, back } => {
                let direction = if back { links[link].backward() } else { links[link].forward() };
                match probe.quantity {
                    Bursts => Ok(ProbeSource::Nothing),
                    Queue => Ok(ProbeSource::Queue { direction }),
                    Drops => Ok(ProbeSource::Drops { direction }),
                    QueueAverage => Ok(ProbeSource::QueueAverage { direction }),
                    Throughput => Ok(ProbeSource::Carried { direction, before: Meter::default() }),
                    _ => Err("a link has no paths: name a flow"),
                }
            }
        }
    }

    /// The name of the quantity in results.
    pub(super) fn name(&self) -> &'static str {
        match self {
            ProbeSource::Paths { name, .. } => name,
            ProbeSource::Inner { quantity, .. } => quantity.name(),
            ProbeSource::Tsn { .. } => "tsn",
            ProbeSource::Sequence(_) => "sequence",
            ProbeSource::Limit { .. } => "limit",
            ProbeSource::PeerRwnd { .. } => "peer-rwnd",
            ProbeSource::Received { .. } | ProbeSource::Carried { .. } => "throughput",
            ProbeSource::Sent { .. } => "sent-throughput",
            ProbeSource::Queue { .. } => "queue",
            ProbeSource::Drops { .. } => "drops",
            ProbeSource::QueueAverage { .. } => "queue-average",
            ProbeSource::Nothing => "bursts",
        }
    }

    /// Ends the recording.
    pub(super) fn end(&self, view: &mut ProbeView<'_>) {
        if let ProbeSource::Sequence(sequence) = self {
            sequence.end(view);
        }
    }

    /// The series that the source has recorded itself.
    pub(super) fn into_series(self) -> Vec<Series> {
        match self {
            ProbeSource::Sequence(sequence) => sequence.into_series(),
            _ => Vec::new(),
        }
    }

    /// True if a value is recorded even if it equals the last one.
    pub(super) fn repeats(&self) -> bool {
        matches!(self, ProbeSource::Tsn { .. })
    }

    /// Calls `show` with the current values and the path of each.
    pub(super) fn values(&mut self, view: &mut ProbeView<'_>, mut show: impl FnMut(Option<u8>, f64)) {
        let now = view.now;
        match self {
            ProbeSource::Paths { flow, of, .. } => {
                let client = view.flows[*flow].end(Side::Client);
                let Some(conn) = client.conn else { return };
                let mut number = 0;
                view.hosts.endpoint(client.endpoint).paths(conn, &mut |path| {
                    if let Some(value) = of(&path) {
                        show(Some(number), value);
                    }
                    number += 1;
                });
            }
            ProbeSource::Inner { flow, name, .. } => {
                let client = view.flows[*flow].end(Side::Client);
                let Some(conn) = client.conn else { return };
                let endpoint = view.hosts.endpoint(client.endpoint);
                let mut paths = 0;
                endpoint.paths(conn, &mut |_| paths += 1);
                for path in 0..paths {
                    endpoint.inspect(conn, path, &mut |shown, value| {
                        if shown == *name {
                            show(Some(path as u8), value);
                        }
                    });
                }
            }
            ProbeSource::Tsn { flow, before } => {
                let client = view.flows[*flow].end(Side::Client);
                let Some(conn) = client.conn else { return };
                let mut number = 0;
                view.hosts.endpoint(client.endpoint).paths(conn, &mut |path| {
                    if before.len() <= number {
                        before.resize(number + 1, 0);
                    }
                    let sent = std::mem::replace(&mut before[number], path.data_packets);
                    if let Some(last) = path.last_chunk.filter(|_| path.data_packets > sent) {
                        show(Some(number as u8), last as f64);
                    }
                    number += 1;
                });
            }
            ProbeSource::Sequence(sequence) => sequence.record(view),
            ProbeSource::Limit { flow } => {
                let client = view.flows[*flow].end(Side::Client);
                let Some(conn) = client.conn else { return };
                limits(view.hosts.endpoint(client.endpoint), conn, show);
            }
            ProbeSource::PeerRwnd { flow } => {
                let client = view.flows[*flow].end(Side::Client);
                let Some(conn) = client.conn else { return };
                let room = view.hosts.endpoint(client.endpoint).peer_window(conn);
                room.into_iter().for_each(|bytes| show(None, bytes.as_f64()));
            }
            ProbeSource::Received { flow, before } => {
                let bytes = view.flows[*flow].end(Side::Server).received().bytes;
                before.rate(now, bytes).into_iter().for_each(|rate| show(None, rate));
            }
            ProbeSource::Sent { flow, before } => {
                let client = view.flows[*flow].end(Side::Client);
                let sent = client.tally(now, view.hosts.endpoint(client.endpoint)).counted.paths;
                before.resize_with(before.len().max(sent.len() + 1), Meter::default);
                let total = sent.iter().map(|path| path.user_bytes.get()).sum();
                before[0].rate(now, total).into_iter().for_each(|rate| show(None, rate));
                for (number, path) in sent.iter().enumerate() {
                    if let Some(rate) = before[number + 1].rate(now, path.user_bytes.get()) {
                        show(Some(number as u8), rate);
                    }
                }
            }
            ProbeSource::Carried { direction, before } => {
                let bytes = view.network.counters(*direction).delivered_bytes.get();
                before.rate(now, bytes).into_iter().for_each(|rate| show(None, rate));
            }
            ProbeSource::Queue { direction } => {
                show(None, view.network.backlog(*direction, now).packets as f64)
            }
            ProbeSource::Drops { direction } => {
                show(None, view.network.counters(*direction).dropped_in_all() as f64);
            }
            ProbeSource::QueueAverage { direction } => {
                view.network.red_average(*direction).into_iter().for_each(|average| show(None, average));
            }
            ProbeSource::Nothing => {}
        }
    }
}

/// Calls `show` with the reason that holds the connection back at present, and that of each path, as numbers.
fn limits(endpoint: &impl Transport, conn: ConnId, mut show: impl FnMut(Option<u8>, f64)) {
    let number = |limit| f64::from(limit as u8);
    endpoint.limit(conn).into_iter().for_each(|limit: Limit| show(None, number(limit)));
    let mut path_number = 0;
    endpoint.paths(conn, &mut |path| {
        path.limit.into_iter().for_each(|limit| show(Some(path_number), number(limit)));
        path_number += 1;
    });
}
