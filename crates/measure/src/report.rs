//! Results of a measurement.

use crate::counters::{Amount, Counters, Direction};
use crate::flow::Flow;
use crate::latency::Latency;
use crate::paths::{Association, Limits};
use crate::pcap::Captured;
use crate::peer::PeerPaths;
use crate::spec::Transport;
use serde_json::{Map, Value, json};

/// Name and version of the JSON schema.
pub const SCHEMA: &str = "anabranch.measure/1";

/// Counters that the other side reported.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerReport {
    /// Data that the other side sent.
    pub sent: Amount,
    /// Data that the other side received.
    pub received: Amount,
    /// Rate of the data that the other side received, in bit/s.
    pub received_bit_rate: f64,
    /// Data lost on the way to the other side; `None` if not reported.
    pub lost: Option<Amount>,
    /// Jitter at the other side, in milliseconds; `None` if not reported.
    pub jitter: Option<f64>,
    /// How long each reason (such as cwnd) held back the other side's sender; `None` if not reported.
    pub limits: Option<Limits>,
}

/// Results of a flow in a measurement or in one of its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// Number of the flow.
    pub flow: u32,
    /// SCTP stream of the flow.
    pub stream: u16,
    /// Transport of the flow.
    pub transport: Transport,
    /// Text for the user.
    pub description: String,
    /// Index of the association among those of the report; `None` for TCP and UDP.
    pub association: Option<usize>,
    /// Data passed to the transport at this side.
    pub sent: Direction,
    /// Data received at this side.
    pub received: Direction,
    /// Data that the peer sent and that did not arrive.
    pub lost: Amount,
    /// Jitter of the received messages, in milliseconds.
    pub jitter: f64,
    /// How long each reason held back the sender of this side; `None` for TCP and UDP.
    pub limits: Option<Limits>,
    /// Counters of the peer; `None` in an interval.
    pub peer: Option<PeerReport>,
    /// Reason why the flow ended early, if it did.
    pub failure: Option<String>,
}

impl FlowReport {
    /// Creates the results since `before`; `association` is the flow's
    /// association, and its change in that time.
    pub(crate) fn new(
        flow: &Flow,
        before: &Counters,
        now: &Counters,
        association: Option<(usize, &Association)>,
    ) -> Self {
        let since = |now: &Direction, before: &Direction| Direction {
            amount: now.amount - before.amount,
            first: now.first.max(before.last),
            last: now.last,
        };
        FlowReport {
            flow: flow.id.flow,
            stream: flow.id.stream,
            transport: flow.spec.transport,
            description: flow.spec.description.clone(),
            association: association.map(|(n, _)| n),
            sent: since(&now.sent, &before.sent),
            received: since(&now.received, &before.received),
            lost: now.lost() - before.lost(),
            jitter: now.jitter,
            limits: association.map(|(_, association)| association.limits),
            peer: None,
            failure: flow.failure(),
        }
    }

    /// Creates the results of a whole flow at the passive side.
    pub(crate) fn of_passive(flow: &Flow, association: Option<&Association>) -> Self {
        Self::new(
            flow,
            &Counters::default(),
            &flow.counters(),
            association.map(|association| (0, association)),
        )
    }

    fn to_json(&self) -> Value {
        let amount = |amount: &Amount| json!({ "bytes": amount.bytes, "messages": amount.packets, "frames": amount.frames });
        let direction = |direction: &Direction| {
            let mut value = amount(&direction.amount);
            value["seconds"] = json!(direction.duration());
            value["bits_per_second"] = json!(direction.per_second(direction.amount.bytes.saturating_mul(8)));
            value
        };
        let peer = self.peer.map(|peer| {
            json!({
                "sent": amount(&peer.sent),
                "received": amount(&peer.received),
                "received_bits_per_second": peer.received_bit_rate,
                "lost": peer.lost.as_ref().map(amount),
                "jitter_ms": peer.jitter,
                "limits": peer.limits.as_ref().map(limits_json),
            })
        });
        json!({
            "flow": self.flow,
            "stream": self.stream,
            "transport": self.transport.name(),
            "description": self.description,
            "association": self.association,
            "sent": direction(&self.sent),
            "received": direction(&self.received),
            "lost": amount(&self.lost),
            "jitter_ms": self.jitter,
            "limits": self.limits.as_ref().map(limits_json),
            "peer": peer,
            "failure": self.failure,
        })
    }
}

/// As JSON: for each reason that held the sender back, the share of the time in which it did.
fn limits_json(limits: &Limits) -> Value {
    let shares = limits.shares().into_iter().map(|(limit, share)| (limit.name().to_owned(), json!(share)));
    Value::Object(shares.collect::<Map<_, _>>())
}

fn associations_json(associations: &[Association]) -> Value {
    let one = |association: &Association| {
        let paths: Vec<_> =
            association.paths.iter().map(|path| path.to_json(limits_json(&path.limits))).collect();
        json!({ "limits": limits_json(&association.limits), "paths": paths })
    };
    associations.iter().map(one).collect()
}

/// Results of one interval of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Beginning of the interval, in seconds since START.
    pub from: f64,
    /// End of the interval, in seconds since START.
    pub to: f64,
    /// Results of each flow.
    pub flows: Vec<FlowReport>,
    /// What changed in each association during the interval.
    pub associations: Vec<Association>,
    /// Associations of the other side; `None` if it reported nothing in this time.
    pub peer: Option<PeerPaths>,
}

impl Interval {
    /// The interval as JSON.
    pub fn to_json(&self) -> Value {
        let flows: Vec<_> = self.flows.iter().map(FlowReport::to_json).collect();
        json!({
            "from_s": self.from,
            "to_s": self.to,
            "flows": flows,
            "associations": associations_json(&self.associations),
            "peer": self.peer.as_ref().map(|peer| json!({
                "from_s": peer.from,
                "to_s": peer.to,
                "associations": associations_json(&peer.associations),
            })),
        })
    }
}

/// Results of a whole measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of the measurement.
    pub measurement: u64,
    /// Start of the measurement, in microseconds since 1970.
    pub begun: u64,
    /// The whole measurement without the omitted time at its beginning.
    pub total: Interval,
    /// Intervals of the measurement.
    pub intervals: Vec<Interval>,
    /// The capture of the packets, if one was wanted.
    pub capture: Option<Captured>,
    /// Latency under load, if it was measured.
    pub latency: Option<Latency>,
}

impl Report {
    pub(crate) fn of_passive(measurement: u64, span: (u64, u64), flows: Vec<FlowReport>) -> Self {
        let to = span.1.saturating_sub(span.0) as f64 / 1e6;
        let total = Interval { from: 0.0, to, flows, associations: Vec::new(), peer: None };
        Report { measurement, begun: span.0, total, intervals: Vec::new(), capture: None, latency: None }
    }

    /// The first flow that ended early, and the reason.
    pub fn failure(&self) -> Option<(u32, &str)> {
        self.total.flows.iter().find_map(|flow| Some((flow.flow, flow.failure.as_deref()?)))
    }

    /// The report as JSON of the schema [`SCHEMA`].
    pub fn to_json(&self) -> Value {
        let intervals: Vec<_> = self.intervals.iter().map(Interval::to_json).collect();
        json!({
            "schema": SCHEMA,
            "measurement": format!("{:016x}", self.measurement),
            "begun_us": self.begun,
            "total": self.total.to_json(),
            "intervals": intervals,
            "capture": self.capture.as_ref().map(Captured::to_json),
            "latency": self.latency.as_ref().map(Latency::to_json),
        })
    }
}
