use crate::Hertz;
use crate::decode::{
    At, Decode, Definitions, Fields, Record, Show, mismatch, number, property, refer, table, words,
};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::{Limit, QueueFault, QueueSpec, RedQuirk, RedSpec, RedUnit};
use serde_json::{Map, Value as Json, json};
use transport::named;
use units::{BitRate, ByteCount, Instant, Probability, Span};

table! {
    /// A full-duplex link.
    struct LinkTable in "[[link]]" {
        /// The two nodes that it joins.
        between: At<[At<String>; 2]>;
        /// Unique name; by default the names of both nodes joined by `-`.
        name: Option<At<String>>;
        /// The independent network it belongs to; 0 belongs to all.
        net_id: At<u16> = At { value: 0, span: 0..0 };
        /// Largest IP packet that it carries; larger ones are dropped.
        mtu: ByteCount = ByteCount::new(1500);
        /// Bytes added to each packet on the wire, such as 7 for PPP or 38 for Ethernet.
        framing: u16 = 0;
        /// Outages, each from one time to another, such as [["10 s", "15 s"]].
        down: Vec<At<[Instant; 2]>>;
        + directions: BothDirections;
    }
}

table! {
    /// One direction of a link.
    struct DirectionTable in "a direction of [[link]]" {
        /// Rate of the transmitter.
        rate: BitRate;
        /// Propagation delay.
        delay: Span = Span::ZERO;
        /// Additional random delay of each packet, uniform from zero to this.
        jitter: Span = Span::ZERO;
        /// The queue in front of the transmitter.
        queue: QueueTable = DEFAULT_QUEUE;
        /// Probability that a packet is lost.
        loss: Probability = Probability::ZERO;
        /// Probability that a packet arrives twice.
        duplicate: Probability = Probability::ZERO;
        /// Probability that a packet is delayed by `reorder_delay`, so that later packets overtake it.
        reorder: Probability = Probability::ZERO;
        /// Additional delay of a reordered packet.
        reorder_delay: Span = Span::from_millis(1);
        /// Probability that a bit is inverted; the receiver detects damaged packets by their checksum.
        bit_errors: Probability = Probability::ZERO;
    }
}

/// The direction from the first node to the second, and the other one, for which the `back` table has the values that
/// differ.
pub(crate) struct BothDirections {
    pub forward: DirectionTable,
    pub back: DirectionTable,
}

impl Record for BothDirections {
    fn keys() -> Vec<&'static str> {
        let mut keys = DirectionTable::keys();
        keys.push("back");
        keys
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let forward = DirectionTable::read(fields, faults);
        let back = match fields.find("back") {
            Some(item) => {
                let place = format!("`back` of {}", fields.place());
                let back = Fields::open(item, &place, &DirectionTable::keys(), faults)?;
                DirectionTable::read(&back.over(fields), faults)
            }
            None => DirectionTable::read(fields, faults),
        };
        Some(BothDirections { forward: forward?, back: back? })
    }

    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    ) {
        DirectionTable::properties(definitions, into, required);
        let back = overriding::<DirectionTable>(definitions);
        let doc = "The values that differ in the direction from the second node to the first.";
        into.insert("back".to_owned(), property(back, doc, None));
    }
}

/// Schema of a table that overrides keys of another: no key is required, and none has a default.
pub(super) fn overriding<R: Record>(definitions: &mut Definitions) -> Json {
    let mut properties = Map::new();
    R::properties(definitions, &mut properties, &mut Vec::new());
    for value in properties.values_mut().filter_map(Json::as_object_mut) {
        value.remove("default");
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

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
    }
}
words!(QueueWord, RedQuirk);

table! {
    /// First in, first out.
    struct DropTailTable in "`queue` of kind drop-tail" {
        /// Which queue.
        kind: QueueWord;
        /// Packets it holds; by default 100.
        packets: Option<u32>;
        /// Bytes it holds, instead of `packets`.
        bytes: Option<At<ByteCount>>;
    }
}

table! {
    /// Random early detection. The thresholds are either all numbers of packets, or all sizes such as "30 kB".
    struct RedTable in "`queue` of kind red" {
        /// Which queue.
        kind: QueueWord;
        /// Average queue length below which nothing is dropped.
        min: At<Threshold>;
        /// Average queue length from which every packet is dropped; with `gentle`, from twice this.
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
        /// Rate in packets per second at which the average decays while the queue is empty; by default the rate of the
        /// link over `mean_packet`.
        packet_rate: Option<Hertz>;
        /// A deviation of a widely used simulator from published RED. `negative-probability`: no packet is dropped
        /// early once the number of packets since the last drop times the base probability exceeds 1.
        quirk: RedQuirk = RedQuirk::None;
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
            json!({ "oneOf": [drop_tail, red] })
        })
    }
}

fn drop_tail(table: DropTailTable, item: &Item, faults: &mut Faults) -> Option<QueueSpec> {
    match (table.packets, table.bytes) {
        (Some(_), Some(bytes)) => {
            faults.note(
                bytes.span,
                "a queue is limited by `packets` or by `bytes`; expected only one of them".into(),
            );
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
    if let Err(QueueFault { field, expected }) = red.check() {
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

/// The queue of a link without a `queue` key.
const DEFAULT_QUEUE: QueueTable = QueueTable(QueueSpec::DropTail(Limit::Packets(DEFAULT_PACKETS as u64)));
const DEFAULT_PACKETS: u32 = 100;

impl Show for QueueTable {
    /// Only the default is ever written.
    fn show(&self) -> Json {
        json!({ "kind": "drop-tail", "packets": DEFAULT_PACKETS })
    }
}
