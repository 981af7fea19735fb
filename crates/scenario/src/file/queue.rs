//! Queue disciplines of links.

use super::checked::checked;
use crate::Hertz;
use crate::decode::{At, Decode, Definitions, Show, mismatch, number, refer, table, words};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::{
    CodelSpec, DelayLimit, FqCodelSpec, Limit, PieSpec, QueueSpec, RedQuirk, RedSpec, RedUnit, SpecFault,
};
use serde_json::{Value as Json, json};
use transport::named;
use units::{ByteCount, Probability, Span};

/// A queue; `kind` names its discipline.
#[derive(Clone)]
pub(crate) struct QueueTable(pub QueueSpec);

named! {
    /// The discipline of a queue.
    "queue" QueueWord {
        /// First in, first out.
        DropTail = "drop-tail",
        /// Random early detection.
        Red = "red",
        /// Controlled delay.
        Codel = "codel",
        /// One CoDel queue for each flow, served in turn.
        FqCodel = "fq-codel",
        /// Proportional integral controller, enhanced.
        Pie = "pie",
    }
}
words!(QueueWord, RedQuirk);

table! {
    /// First in, first out.
    struct DropTailTable in "`queue` of kind drop-tail" {
        /// Name of the discipline.
        kind: QueueWord;
        /// Number of packets that the queue can hold; by default 100.
        packets: Option<u32>;
        /// Number of bytes that the queue can hold, instead of `packets`.
        bytes: Option<At<ByteCount>>;
        /// Time in which the link sends the contents of a full queue, instead of `packets`.
        delay: Option<At<Span>>;
    }
}

table! {
    /// Random early detection. The thresholds are either all numbers of packets, or all sizes such as "30
    /// kB".
    struct RedTable in "`queue` of kind red" {
        /// Name of the discipline.
        kind: QueueWord;
        /// Average queue length below which nothing is dropped.
        min: At<Threshold>;
        /// Average queue length from which every packet is dropped; with `gentle`, from twice this length on.
        max: At<Threshold>;
        /// Drop probability when the average queue length reaches `max`.
        max_p: Probability = Probability::new(0.02).unwrap_or_default();
        /// Weight of a new sample in the average queue length.
        weight: At<f64> = At { value: 0.002, span: 0..0 };
        /// Largest queue; by default `max`.
        capacity: Option<At<Threshold>>;
        /// Whether the drop probability grows from `max_p` to 1 between `max` and twice `max`.
        gentle: bool = false;
        /// Whether ECN-capable packets are marked where others are dropped early.
        ecn: bool = false;
        /// Size of a typical packet.
        mean_packet: At<ByteCount> = At { value: ByteCount::new(1500), span: 0..0 };
        /// Rate in packets per second at which the average decays while the queue is empty; by default the
        /// rate of the link divided by `mean_packet`.
        packet_rate: Option<Hertz>;
        /// A deviation of a widely used simulator from published RED. `negative-probability`: no packet is
        /// dropped early once the number of packets since the last drop times the base probability exceeds 1.
        quirk: RedQuirk = RedQuirk::None;
    }
}

table! {
    /// CoDel (RFC 8289).
    struct CodelTable in "`queue` of kind codel" {
        /// Name of the discipline.
        kind: QueueWord;
        /// Delay that packets may have permanently.
        target: Span = CodelSpec::default().target;
        /// Time for which packets may have a longer delay: about a round-trip time.
        interval: Span = CodelSpec::default().interval;
        /// Number of packets that the queue can hold.
        packets: u32 = CodelSpec::default().limit;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false;
    }
}

table! {
    /// FQ-CoDel (RFC 8290).
    struct FqCodelTable in "`queue` of kind fq-codel" {
        /// Name of the discipline.
        kind: QueueWord;
        /// Delay that packets of a flow may have permanently.
        target: Span = CodelSpec::default().target;
        /// Time for which packets may have a longer delay: about a round-trip time.
        interval: Span = CodelSpec::default().interval;
        /// Number of packets that all queues together can hold.
        packets: u32 = FqCodelSpec::default().codel.limit;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true;
        /// Number of queues; a hash assigns each flow to one of them.
        flows: u32 = FqCodelSpec::default().flows;
        /// Bytes that a flow may send in its turn.
        quantum: ByteCount = FqCodelSpec::default().quantum;
    }
}

table! {
    /// PIE (RFC 8033).
    struct PieTable in "`queue` of kind pie" {
        /// Name of the discipline.
        kind: QueueWord;
        /// Delay to keep (QDELAY_REF).
        target: Span = PieSpec::default().target;
        /// Interval between changes of the drop probability (T_UPDATE).
        update: Span = PieSpec::default().update;
        /// Time for which a burst passes without drops after the queue was short (MAX_BURST).
        max_burst: Span = PieSpec::default().max_burst;
        /// Number of packets that the queue can hold.
        packets: u32 = PieSpec::default().limit;
        /// Whether ECN-capable packets are marked instead of dropped while the probability is at most 10 %.
        ecn: bool = false;
    }
}

/// A number of packets or a size.
#[derive(Clone, Copy)]
pub(crate) enum Threshold {
    Packets(f64),
    Bytes(ByteCount),
}

impl Decode for Threshold {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Text(_) => ByteCount::decode(item, faults).map(Threshold::Bytes),
            Value::Integer(_) | Value::Real(_) => match number(item, faults)? {
                n if n > 0.0 && n < 1e9 => Some(Threshold::Packets(n)),
                _ => mismatch(item, "a number of packets above 0", faults),
            },
            _ => mismatch(item, "a number of packets or a size such as \"30 kB\"", faults),
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, ByteCount::schema(definitions)] })
    }
}

impl Threshold {
    fn unit(self) -> RedUnit {
        match self {
            Threshold::Packets(_) => RedUnit::Packets,
            Threshold::Bytes(_) => RedUnit::Bytes,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Threshold::Packets(n) => n,
            Threshold::Bytes(n) => n.as_f64(),
        }
    }
}

impl Decode for QueueTable {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let expected = "a table such as { kind = \"drop-tail\", packets = 100 }";
        let Value::Table(table) = &item.value else { return mismatch(item, expected, faults) };
        let Some(kind) = table.get("kind") else {
            faults.note(item.span.clone(), format!("`kind` is missing in `queue`; expected {expected}"));
            return None;
        };
        match QueueWord::decode(kind, faults)? {
            QueueWord::DropTail => drop_tail(DropTailTable::decode(item, faults)?, item, faults),
            QueueWord::Red => red(RedTable::decode(item, faults)?, faults),
            QueueWord::Codel => {
                let CodelTable { target, interval, packets, ecn, .. } = CodelTable::decode(item, faults)?;
                spec(QueueSpec::Codel(CodelSpec { target, interval, limit: packets, ecn }), item, faults)
            }
            QueueWord::FqCodel => {
                let table = FqCodelTable::decode(item, faults)?;
                let FqCodelTable { target, interval, packets, ecn, flows, quantum, .. } = table;
                let codel = CodelSpec { target, interval, limit: packets, ecn };
                spec(QueueSpec::FqCodel(FqCodelSpec { codel, flows, quantum }), item, faults)
            }
            QueueWord::Pie => {
                let PieTable { target, update, max_burst, packets, ecn, .. } =
                    PieTable::decode(item, faults)?;
                let pie = PieSpec { target, update, max_burst, limit: packets, ecn };
                spec(QueueSpec::Pie(pie), item, faults)
            }
        }
        .map(QueueTable)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(definitions, "queue", |definitions| {
            let of_kind = |kind: &str, mut object: Json| {
                object["properties"]["kind"] =
                    json!({ "const": kind, "description": "The discipline of the queue." });
                object
            };
            let drop_tail = of_kind("drop-tail", DropTailTable::schema(definitions));
            let red = of_kind("red", RedTable::schema(definitions));
            let codel = of_kind("codel", CodelTable::schema(definitions));
            let fq_codel = of_kind("fq-codel", FqCodelTable::schema(definitions));
            let pie = of_kind("pie", PieTable::schema(definitions));
            json!({ "oneOf": [drop_tail, red, codel, fq_codel, pie] })
        })
    }
}

fn spec(queue: QueueSpec, item: &Item, faults: &mut Faults) -> Option<QueueSpec> {
    let check = queue.check();
    checked(queue, check, item, faults)
}

fn drop_tail(table: DropTailTable, item: &Item, faults: &mut Faults) -> Option<QueueSpec> {
    if let Some(delay) = &table.delay {
        if table.packets.is_some() || table.bytes.is_some() {
            faults.note(delay.span.clone(), TWO_LIMITS.into());
            return None;
        }
        return spec(QueueSpec::DropTailDelay(DelayLimit(delay.value)), item, faults);
    }
    match (table.packets, table.bytes) {
        (Some(_), Some(bytes)) => {
            faults.note(bytes.span, TWO_LIMITS.into());
            None
        }
        (_, Some(bytes)) if bytes.value.is_zero() => {
            faults.note(bytes.span, "a queue of 0 B forwards nothing; expected at least 1 B".into());
            None
        }
        (_, Some(bytes)) => Some(QueueSpec::DropTail(Limit::Bytes(bytes.value))),
        (Some(0), None) => {
            faults
                .note(item.span.clone(), "a queue of 0 packets forwards nothing; expected at least 1".into());
            None
        }
        (packets, None) => {
            Some(QueueSpec::DropTail(Limit::Packets(packets.unwrap_or(DEFAULT_PACKETS).into())))
        }
    }
}

fn red(table: RedTable, faults: &mut Faults) -> Option<QueueSpec> {
    let unit = table.min.value.unit();
    let capacity = table.capacity.unwrap_or_else(|| table.max.clone());
    if table.max.value.unit() != unit || capacity.value.unit() != unit {
        let message = "thresholds have different units; expected all in packets or all in bytes";
        faults.note(table.max.span, message.to_owned());
        return None;
    }
    let red = QueueSpec::Red(RedSpec {
        min: table.min.value.as_f64(),
        max: table.max.value.as_f64(),
        max_p: table.max_p,
        weight: table.weight.value,
        limit: capacity.value.as_f64().ceil(),
        gentle: table.gentle,
        ecn: table.ecn,
        unit,
        mean_packet: table.mean_packet.value,
        packet_rate: table.packet_rate.map(Hertz::as_f64),
        quirk: table.quirk,
    });
    if let Err(SpecFault { field, expected }) = red.check() {
        let span = match field {
            "min" => table.min.span,
            "weight" => table.weight.span,
            "capacity" => capacity.span,
            "mean_packet" => table.mean_packet.span,
            _ => table.max.span,
        };
        faults.note(span, format!("wrong `{field}`; expected {expected}"));
        return None;
    }
    Some(red)
}

const TWO_LIMITS: &str = "a queue has one limit; expected only one of `packets`, `bytes` and `delay`";

/// The queue of a link without a `queue` key.
pub(super) const DEFAULT_QUEUE: QueueTable =
    QueueTable(QueueSpec::DropTail(Limit::Packets(DEFAULT_PACKETS as u64)));
const DEFAULT_PACKETS: u32 = 100;

impl Show for QueueTable {
    /// Only the default is ever shown, in the schema.
    fn show(&self) -> Json {
        json!({ "kind": "drop-tail", "packets": DEFAULT_PACKETS })
    }
}
