use crate::decode::{At, Decode, Definitions, OneOrMore, mismatch, table};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use serde_json::{Value as Json, json};
use std::net::{IpAddr, SocketAddr};

table! {
    /// A host of an emulated scenario that is not simulated.
    struct HostTable in "[[host]]" {
        /// Name of a [[node]] that is a host.
        name: At<String>;
        /// How the real host is attached in place of the simulated one; only for emulation.
        real: RealTable;
    }
}

table! {
    /// The attachment of a real host: UDP sockets, TUN devices, or queues of the Rust program that runs the
    /// emulation.
    struct RealTable in "`real` of [[host]]" {
        /// The UDP addresses of the host's program, one for each link of the host in the order of the file,
        /// such as "127.0.0.1:4001". Port 0 is replaced by the port of the first datagram.
        udp: Option<At<OneOrMore<At<Socket>>>>;
        /// The UDP addresses at which programs of the other hosts reach this host, one for each of `udp`. By
        /// default the same IP addresses, with ports that the system chooses and the emulator prints.
        appears_at: Option<At<OneOrMore<At<Socket>>>>;
        /// Name of the host's TUN device; with several links, `-1`, `-2` and so on are appended. By default
        /// "ana".
        tun: Option<At<String>>;
        /// Name of the network namespace of the TUN devices. A namespace that does not exist is created, and
        /// is removed at the end.
        namespace: Option<At<String>>;
        /// Addresses of the TUN devices with their prefix lengths, one for each link, such as "10.1.0.1/24";
        /// by default the addresses that a simulated host would have.
        addresses: Option<At<OneOrMore<At<Interface>>>>;
        /// Packets of the host pass through queues of the Rust program that runs the emulation; not for
        /// `anabranch emulate`.
        in_process: bool = false;
    }
}

/// An IP address and a port.
pub(crate) struct Socket(pub SocketAddr);

impl Decode for Socket {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let parsed = match &item.value {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        parsed
            .map(Socket)
            .or_else(|| mismatch(item, "an IP address and a port such as \"127.0.0.1:4001\"", faults))
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "description": "An IP address and a port such as \"127.0.0.1:4001\"." })
    }
}

/// An IP address and the length of its prefix.
pub(crate) struct Interface(pub (IpAddr, u8));

impl Decode for Interface {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let parsed = match &item.value {
            Value::Text(text) => text.split_once('/').and_then(|(address, length)| {
                let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
                let most = if address.is_ipv4() { 32 } else { 128 };
                (length <= most).then_some((address, length))
            }),
            _ => None,
        };
        parsed.map(Interface).or_else(|| {
            mismatch(item, "an IP address and the length of its prefix such as \"10.1.0.1/24\"", faults)
        })
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({
            "type": "string",
            "description": "An IP address and the length of its prefix such as \"10.1.0.1/24\".",
        })
    }
}
