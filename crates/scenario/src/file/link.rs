use super::bucket::BucketTable;
use super::queue::{DEFAULT_QUEUE, QueueTable};
use super::rate::{Course, RateTable};
use super::wire::{Jitter, Loss};
use crate::decode::{At, Definitions, Fields, Record, property, table};
use crate::diagnostic::Faults;
use serde_json::{Map, Value as Json, json};
use units::{ByteCount, Instant, Probability, Span};

table! {
    /// A full-duplex link.
    struct LinkTable in "[[link]]" {
        /// The two nodes that the link joins.
        between: At<[At<String>; 2]>;
        /// Unique name; by default the names of both nodes joined by `-`.
        name: Option<At<String>>;
        /// The independent network of the link; network 0 belongs to all networks.
        net_id: At<u16> = At { value: 0, span: 0..0 };
        /// Largest IP packet that the link carries; larger packets are dropped.
        mtu: ByteCount = ByteCount::new(1500);
        /// Bytes added to each packet on the wire, such as 7 for PPP or 38 for Ethernet.
        framing: u16 = 0;
        /// Outages, each from one time to another, such as [["10 s", "15 s"]].
        down: Vec<At<[Instant; 2]>>;
        /// Time after which the hosts at both ends notice that the link failed or was repaired. Their SCTP
        /// associations then remove or restore their address on the link. By default hosts do not notice.
        carrier_delay: Option<Span>;
        /// Times at which a host at one end gets another address on the link. Its SCTP associations replace
        /// the old address by the new one; with `asconf` their peers learn the new address.
        renumber: Vec<RenumberTable>;
        + directions: BothDirections;
    }
}

table! {
    /// A host gets another address.
    struct RenumberTable in "`renumber`" {
        /// The host, one of the two ends of the link.
        node: At<String>;
        /// Time at which the host gets the address.
        at: Instant;
    }
}

table! {
    /// One direction of a link.
    struct DirectionTable in "a direction of [[link]]" {
        /// Rate of the transmitter: constant, or a table of how it changes with time.
        rate: RateTable;
        /// Propagation delay: constant, or a table of how it changes with time. Packets keep their order.
        delay: Course<Span> = Course::Constant(Span::ZERO);
        /// Additional random delay of each packet, uniform from zero to this time. Packets keep their order,
        /// unless a table { up_to = "1 ms", reorder = true } lets them overtake each other.
        jitter: Jitter = Jitter::NONE;
        /// Token bucket in front of the queue. Drops packets that exceed its rate and burst.
        policer: BucketTable = BucketTable(None);
        /// The queue in front of the transmitter.
        queue: QueueTable = DEFAULT_QUEUE;
        /// Token bucket behind the queue. Delays packets that exceed its rate and burst.
        shaper: BucketTable = BucketTable(None);
        /// Probability that a packet is lost, or a table of losses in bursts.
        loss: Loss = Loss::Single(Probability::ZERO);
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

/// Both directions of a link: from the first node to the second, and back. The `back` table has the values of
/// the second direction that differ from those of the first.
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
