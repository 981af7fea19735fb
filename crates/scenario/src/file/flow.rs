use super::link::overriding;
use super::reliability::Policy;
use crate::decode::{
    At, Decode, Definitions, Fields, Record, Show, mismatch, number, property, refer, table, whole, words,
};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use crate::{Change, Distribution, Hertz, IpVersion, Protocol, StreamResetType};
use serde_json::{Map, Value as Json, json};
use std::net::IpAddr;
use units::{ByteCount, Probability, Span};

table! {
    /// A NetPerfMeter flow (paper 001, table 2). The names of that table, such as `frameRate`, are accepted,
    /// too.
    struct FlowTable in "[[flow]]" {
        /// Unique name.
        name: At<String>;
        /// Number of such flows, each with its own association: `name-1`, `name-2` and so on.
        count: At<u32> = At { value: 1, span: 0..0 };
        /// The host that connects (the active host).
        client: At<String>;
        /// The host that listens.
        server: At<String>;
        /// Transport protocol.
        protocol: At<Protocol> = At { value: Protocol::Sctp, span: 0..0 };
        /// Encapsulates SCTP packets in UDP with port 9899 at both ends (RFC 6951), as a NAT requires.
        udp_encapsulation: At<bool> = At { value: false, span: 0..0 };
        /// Name of the SCTP option set; by default all options have their defaults.
        sctp: Option<At<String>>;
        /// Name of the server's SCTP option set; by default the client's.
        server_sctp: Option<At<String>>;
        /// Name of the TCP option set; by default the options of profile "modern".
        tcp: Option<At<String>>;
        /// Name of the server's TCP option set; by default the client's.
        server_tcp: Option<At<String>>;
        /// The client sends NetPerfMeter's message of 26 bytes that identifies a data connection, as soon as
        /// it is connected.
        identify: bool = false;
        /// The server returns each datagram at once, and the results have the round-trip times; UDP only.
        echo: At<bool> = At { value: false, span: 0..0 };
        /// Time at which the client connects.
        connect_time: Distribution<Span> = Distribution::Constant(Span::ZERO);
        /// Time from `connect_time` to the start of transmission.
        start_time: Distribution<Span> = Distribution::Constant(Span::from_secs(1));
        /// Time from the start of transmission to the start of measurement.
        reset_time: At<Span> = At { value: Span::from_secs(5), span: 0..0 };
        /// Time from the start of transmission to the end of transmission and measurement.
        stop_time: At<Span> = At { value: Span::from_secs(30), span: 0..0 };
        /// Address the client binds, or "*" for all.
        local_address: At<Address> = At { value: Address(None), span: 0..0 };
        /// The client's port; by default the first free port from 9000.
        local_port: Option<At<u16>>;
        /// Address of the server that the client connects to, or "*" for all.
        remote_address: At<Address> = At { value: Address(None), span: 0..0 };
        /// The server's port.
        remote_port: At<u16> = At { value: 9000, span: 0..0 };
        /// The client's primary path: an address of the server, the `net_id` of a network, or "*" for the
        /// first path.
        primary_path: At<PrimaryPathWord> = At { value: PrimaryPathWord::Any, span: 0..0 };
        /// The networks whose interfaces both ends use; by default all.
        networks: Option<At<Vec<At<u16>>>>;
        /// IP version of the addresses of both ends: 4 or 6.
        ip_version: IpVersion = IpVersion::V4;
        /// Times at which the client resets streams, from the start of transmission; SCTP with `stream_reset`
        /// only.
        stream_request_time: Vec<At<Span>>;
        /// The streams that the client resets: its outgoing streams, its incoming streams, the same numbers
        /// in both directions, or all streams of both directions and the TSNs.
        stream_reset_type: StreamResetType = StreamResetType::Outgoing;
        /// Numbers of the streams that the client resets; an empty list: all streams.
        stream_to_reset: Vec<At<u16>>;
        /// Whether the server sends the same traffic as the client; by default only with a table `back`.
        bidirectional: Option<At<bool>>;
        + traffic: BothTraffics;
    }
}

table! {
    /// The traffic that an application sends in one direction.
    struct TrafficTable in "a direction of [[flow]]" {
        /// Frames per second; "0 Hz": a saturated sender, which sends as soon as the transport accepts data.
        frame_rate: At<Distribution<Hertz>> = At { value: Distribution::Constant(Hertz(10.0)), span: 0..0 };
        /// Payload of a frame; "0 B": no traffic in this direction.
        frame_size: At<Distribution<ByteCount>> = At { value: Distribution::Constant(ByteCount::new(1452)), span: 0..0 };
        /// Largest message; larger frames are sent as several messages.
        max_msg_size: At<ByteCount> = At { value: ByteCount::new(1452), span: 0..0 };
        /// Messages that a saturated sender keeps waiting for their first transmission; a paced sender drops
        /// messages beyond this number.
        queue_size: At<u32> = At { value: 1000, span: 0..0 };
        /// Length of the active times of a paced sender, between which it pauses; requires `off`.
        on: Option<At<Distribution<Span>>>;
        /// Length of the pauses of a paced sender; requires `on`.
        off: Option<At<Distribution<Span>>>;
        /// Times at which the sender is turned on, off, on and so on, from the start of transmission. With an
        /// empty list the sender is always on.
        on_off: Vec<At<ChangeWord>>;
        /// Whether the times of `on_off` begin anew after the last one.
        on_off_repeat: At<bool> = At { value: false, span: 0..0 };
        /// Probability with which a message is sent unordered; SCTP only.
        unordered: At<Probability> = At { value: Probability::ZERO, span: 0..0 };
        /// Number of streams that the messages use in turn; SCTP only. The sender's `outbound_streams` and
        /// the receiver's `max_inbound_streams` must not be smaller.
        streams: At<u16> = At { value: 1, span: 0..0 };
        /// Fraction of messages that may be abandoned according to `reliability`; SCTP only, with `pr_sctp`
        /// on both sides. By default 0, and 1 if there is a `reliability`.
        unreliable: Option<At<Probability>>;
        /// When a message of the fraction `unreliable` is abandoned: at the end of its lifetime, instead of a
        /// further retransmission, or when a message with a smaller priority number needs room in the send
        /// buffer. By default: instead of its first retransmission.
        reliability: Option<At<Policy>>;
    }
}

/// Traffic from client to server, and from server to client.
pub(crate) struct BothTraffics {
    pub forward: TrafficTable,
    /// Traffic from server to client; without a `back` table, the same as `forward`. Used only if the flow is
    /// bidirectional.
    pub back: TrafficTable,
    /// Whether the file has a `back` table.
    pub has_back: bool,
}

impl Record for BothTraffics {
    fn keys() -> Vec<&'static str> {
        let mut keys = TrafficTable::keys();
        keys.push("back");
        keys
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let forward = TrafficTable::read(fields, faults);
        let back = match fields.find("back") {
            Some(item) => {
                let place = format!("`back` of {}", fields.place());
                let back = Fields::open(item, &place, &TrafficTable::keys(), faults)?;
                TrafficTable::read(&back.over(fields), faults)
            }
            None => TrafficTable::read(fields, faults),
        };
        Some(BothTraffics { forward: forward?, back: back?, has_back: fields.find("back").is_some() })
    }

    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    ) {
        TrafficTable::properties(definitions, into, required);
        let back = overriding::<TrafficTable>(definitions);
        let doc = "Traffic from server to client: the values that differ from those of the other direction.";
        into.insert("back".to_owned(), property(back, doc, None));
    }
}

/// A time at which a sender is turned on or off: `{ at = "5 s" }` or `{ after = "5 s" }`.
pub(crate) struct ChangeWord(pub Change);

const CHANGE: &str = "{ at = \"5 s\" }, from the start, or { after = \"5 s\" }, from the change before";

impl Decode for ChangeWord {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let Value::Table(table) = &item.value else { return mismatch(item, CHANGE, faults) };
        Fields::open(item, "a change of `on_off`", &["at", "after"], faults)?;
        match (table.get("at"), table.get("after")) {
            (Some(at), None) => Distribution::decode(at, faults).map(|law| ChangeWord(Change::At(law))),
            (None, Some(after)) => {
                Distribution::decode(after, faults).map(|law| ChangeWord(Change::After(law)))
            }
            _ => mismatch(item, CHANGE, faults),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let time = Distribution::<Span>::schema(definitions);
        json!({ "type": "object", "description": CHANGE, "minProperties": 1, "maxProperties": 1,
            "properties": {
                "at": property(time.clone(), "From the start of transmission.", None),
                "after": property(time, "From the change before.", None),
            },
            "additionalProperties": false })
    }
}

/// An address, or `None` for "*".
pub(crate) struct Address(pub Option<IpAddr>);

const ADDRESS: &str = "\"*\" or an IP address such as \"10.1.0.1\"";

impl Decode for Address {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Text(text) if text == "*" => Some(Address(None)),
            Value::Text(text) => match text.parse() {
                Ok(address) => Some(Address(Some(address))),
                Err(_) => mismatch(item, ADDRESS, faults),
            },
            _ => mismatch(item, ADDRESS, faults),
        }
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "description": ADDRESS })
    }
}

impl Show for Address {
    /// Only the default is ever shown, in the schema.
    fn show(&self) -> Json {
        json!("*")
    }
}

/// The primary path as written in the file.
pub(crate) enum PrimaryPathWord {
    Any,
    Ip(IpAddr),
    Network(At<u16>),
}

impl Decode for PrimaryPathWord {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Integer(_) => At::<u16>::decode(item, faults).map(PrimaryPathWord::Network),
            _ => Some(match Address::decode(item, faults)?.0 {
                Some(address) => PrimaryPathWord::Ip(address),
                None => PrimaryPathWord::Any,
            }),
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "anyOf": [Address::schema(definitions), u16::schema(definitions)] })
    }
}

impl Show for PrimaryPathWord {
    /// Only the default is ever shown, in the schema.
    fn show(&self) -> Json {
        json!("*")
    }
}

words!(Protocol);
words!(StreamResetType);

impl Decode for IpVersion {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match whole(item, 4, 6, faults)? {
            4 => Some(IpVersion::V4),
            6 => Some(IpVersion::V6),
            _ => mismatch(item, "4 or 6", faults),
        }
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "enum": [4, 6] })
    }
}

impl Show for IpVersion {
    fn show(&self) -> Json {
        match self {
            IpVersion::V4 => json!(4),
            IpVersion::V6 => json!(6),
        }
    }
}

impl<T: Decode + PartialOrd> Decode for Distribution<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let Value::Table(table) = &item.value else {
            return T::decode(item, faults).map(Distribution::Constant);
        };
        let keys = ["uniform", "exponential", "pareto", "shape"];
        Fields::open(item, "a distribution", &keys, faults)?;
        let law = keys.map(|key| table.get(key));
        match (law, table.entries().len()) {
            ([Some(bounds), ..], 1) => {
                let [low, high] = <[T; 2]>::decode(bounds, faults)?;
                if low > high {
                    return mismatch(bounds, "the lower bound first", faults);
                }
                Some(Distribution::Uniform(low, high))
            }
            ([_, Some(mean), ..], 1) => T::decode(mean, faults).map(Distribution::Exponential),
            ([_, _, Some(mean), Some(shape)], 2) => {
                let mean = T::decode(mean, faults);
                match number(shape, faults)? {
                    value if value > 1.0 => Some(Distribution::Pareto(mean?, value)),
                    _ => mismatch(shape, "a shape above 1, because otherwise the mean is infinite", faults),
                }
            }
            _ => mismatch(
                item,
                "one value, { uniform = [from, to] }, { exponential = mean } or { pareto = mean, shape = 1.5 }",
                faults,
            ),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let value = T::schema(definitions);
        let name = format!(
            "{}_distribution",
            value["$ref"].as_str().map_or("", |path| path.trim_start_matches("#/$defs/"))
        );
        refer(definitions, &name, |_| {
            let table = |properties: Json| {
                let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).collect();
                json!({
                    "type": "object", "required": required, "properties": properties, "additionalProperties": false,
                })
            };
            let described = |doc: &str| {
                let mut schema = value.clone();
                schema["description"] = json!(doc);
                schema
            };
            let bounds = json!({
                "type": "array", "items": value, "minItems": 2, "maxItems": 2,
                "description": "Uniform from the first, inclusive, to the second.",
            });
            let shape = json!({
                "type": "number", "exclusiveMinimum": 1,
                "description": "Shape of the Pareto distribution. Up to a shape of 2 the variance is infinite.",
            });
            let mean = described("Mean of the exponential distribution.");
            let pareto = described("Mean of the Pareto distribution.");
            json!({ "anyOf": [
                value,
                table(json!({ "uniform": bounds })),
                table(json!({ "exponential": mean })),
                table(json!({ "pareto": pareto, "shape": shape })),
            ] })
        })
    }
}

impl<T: Show> Show for Distribution<T> {
    /// Only defaults are ever shown, in the schema, and a default is a constant.
    fn show(&self) -> Json {
        match self {
            Distribution::Constant(value)
            | Distribution::Uniform(value, _)
            | Distribution::Exponential(value)
            | Distribution::Pareto(value, _) => value.show(),
        }
    }
}
