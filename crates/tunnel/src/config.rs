//! Configuration file of one end of a tunnel.

use crate::hosts::Host;
use crate::peers::{TunnelPeer, shared_prefix};
use crate::redundant::{Flows, Redundant};
use crate::uplinks::{Source, Uplink};
use io::PathOptions;
use io::sctp::Resume;
use noise::{PrivateKey, PublicKey, Secret};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use transport::utf8;
use units::Span;

/// Default UDP port of tunnels.
pub const PORT: u16 = 9901;
/// Default MTU of the TUN device: a packet of this size fits one packet of an uplink with an MTU of 1500
/// bytes, or over IPv4 one of an uplink with 1492 (PPPoE).
const MTU: u16 = 1400;

/// Configuration of one end of a tunnel.
#[derive(Clone, Debug)]
pub struct TunnelConfig {
    /// Name of the TUN device.
    pub interface: String,
    /// Addresses of the TUN device, with their prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
    /// MTU of the TUN device in bytes.
    pub mtu: u16,
    /// Uplinks of this end. Only an end that waits for the other one may have none: it then uses all
    /// addresses that the host has at the start.
    pub uplinks: Vec<Uplink>,
    /// UDP port of this end; 0 for any free port.
    pub port: u16,
    /// Hosts of the other end, to which this end connects; if empty, this end waits for the other one.
    pub connect: Vec<Host>,
    /// UDP port of the other end.
    pub connect_port: u16,
    /// True if this end is behind NATs.
    pub nat: bool,
    /// The packets that this end sends on several uplinks.
    pub redundant: Redundant,
    /// Which new paths begin near the rate that an earlier path between the same addresses had.
    pub resume: Resume,
    /// The private key of this end; `None` for no encryption.
    pub key: Option<PrivateKey>,
    /// The other ends: one, or several at an end that waits.
    pub peers: Vec<TunnelPeer>,
    /// Path of the socket that serves the status.
    pub status: PathBuf,
    /// Address of the HTTP server for metrics; `None`: no metrics.
    pub metrics: Option<SocketAddr>,
    /// Command for `/bin/sh`, run when there is an association.
    pub up: Option<String>,
    /// Command for `/bin/sh`, run when the association is lost.
    pub down: Option<String>,
}

/// Error: a configuration file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

fn wrong(text: impl Into<String>) -> ConfigError {
    ConfigError(text.into())
}

/// Default interval of heartbeats on an idle uplink with a cost.
pub(crate) const KEEP_ALIVE: Span = Span::from_secs(60);

const UPLINK_KEYS: [&str; 4] = ["device", "address", "cost", "keep_alive"];

const PEER_KEYS: [&str; 4] = ["key", "name", "addresses", "psk"];

const REDUNDANT_KEYS: [&str; 2] = ["dscp", "ports"];

const KEYS: [&str; 19] = [
    "interface",
    "addresses",
    "mtu",
    "uplinks",
    "port",
    "connect",
    "connect_port",
    "nat",
    "redundant",
    "resume",
    "key",
    "peer",
    "peers",
    "psk",
    "encryption",
    "status",
    "metrics",
    "up",
    "down",
];

impl TunnelConfig {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`ConfigError`] with the fault and the expected value.
    pub fn read(file: &Path) -> Result<TunnelConfig, ConfigError> {
        let bytes = fs::read(file).map_err(|error| wrong(format!("{}: {error}", file.display())))?;
        let text = utf8(bytes).map_err(|error| wrong(format!("{}:{error}", file.display())))?;
        let at = |error: ConfigError| wrong(format!("{}: {error}", file.display()));
        let key = |file: &str| PrivateKey::read(Path::new(file)).map_err(|error| wrong(error.to_string()));
        let psk = |file: &str| Secret::read(Path::new(file)).map_err(|error| wrong(error.to_string()));
        TunnelConfig::parse(&text, key, psk).map_err(at)
    }

    /// Reads only the path of the status socket from a file, so that the caller needs no access to the key.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_status(file: &Path) -> Result<PathBuf, ConfigError> {
        let at = |what: String| wrong(format!("{}: {what}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| at(error.to_string()))?;
        let document = DeTable::parse(&text).map_err(|error| at(error.to_string()))?;
        let table = Table(document.get_ref());
        table.check_names(&KEYS).and_then(|()| table.status()).map_err(|error| at(error.to_string()))
    }

    /// Parses the text of a file; `key` reads the file of the private key, and `psk` that of a shared secret.
    fn parse(
        text: &str,
        key: impl FnOnce(&str) -> Result<PrivateKey, ConfigError>,
        psk: impl Fn(&str) -> Result<Secret, ConfigError>,
    ) -> Result<TunnelConfig, ConfigError> {
        let document = DeTable::parse(text).map_err(|error| wrong(error.to_string()))?;
        let table = Table(document.get_ref());
        table.check_names(&KEYS)?;
        let interface = table.interface()?.to_owned();
        let connect: Vec<Host> =
            table.list("connect", "an IP address or a name of a host, without a port,")?;
        let port = table.number("port", 0, if connect.is_empty() { PORT } else { 0 })?;
        if port == 0 && connect.is_empty() {
            return Err(wrong("port: the end that waits needs a port other than 0"));
        }
        let uplinks = table.uplinks()?;
        if uplinks.is_empty() && !connect.is_empty() {
            // All addresses of the host would include those of the tunnel itself.
            return Err(wrong(
                "uplinks: the end that connects needs at least one name of an interface or IP address",
            ));
        }
        let addresses: Vec<Prefix> = table.list("addresses", "an address like 10.9.0.1/24")?;
        if addresses.iter().filter(|Prefix((address, _))| address.is_ipv4()).count() > 1 {
            return Err(wrong("addresses: at most one of IPv4"));
        }
        let (key, peers) = table.keys(key, psk)?;
        if !connect.is_empty() && peers.iter().any(|peer| !peer.name.is_empty()) {
            return Err(wrong("peers: the end that connects has one `peer`"));
        }
        Ok(TunnelConfig {
            addresses: addresses.into_iter().map(|Prefix(address)| address).collect(),
            mtu: table.number("mtu", 576, MTU)?,
            uplinks,
            port,
            connect_port: table.number("connect_port", 1, PORT)?,
            nat: table.flag("nat")?.unwrap_or(false),
            redundant: table.redundant()?,
            resume: table.resume()?,
            key,
            peers,
            status: table.status()?,
            metrics: table.metrics()?,
            up: table.text("up")?.map(str::to_owned),
            down: table.text("down")?.map(str::to_owned),
            interface,
            connect,
        })
    }
}

#[cfg(test)]
impl TunnelConfig {
    /// Parses a valid text without keys.
    pub(crate) fn parse_without_keys(text: &str) -> TunnelConfig {
        let refuse = |_: &str| wrong("there is a key");
        TunnelConfig::parse(text, |file| Err(refuse(file)), |file| Err(refuse(file))).expect("it is right")
    }
}

struct Prefix((IpAddr, u8));

impl std::str::FromStr for Prefix {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, length) = text.split_once('/').ok_or(())?;
        let address: IpAddr = address.parse().map_err(|_| ())?;
        let length: u8 = length.parse().map_err(|_| ())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if length > most { Err(()) } else { Ok(Prefix((address, length))) }
    }
}

struct Table<'a>(&'a DeTable<'a>);

impl Table<'_> {
    fn check_names(&self, known: &[&str]) -> Result<(), ConfigError> {
        for name in self.0.keys().map(|name| name.get_ref()) {
            if !known.contains(&name.as_ref()) {
                return Err(wrong(format!("{name}: unknown; known are {}", known.join(", "))));
            }
        }
        Ok(())
    }

    fn uplinks(&self) -> Result<Vec<Uplink>, ConfigError> {
        let entries = match self.get("uplinks") {
            None => return Ok(Vec::new()),
            Some(DeValue::Array(entries)) => entries,
            Some(_) => return Err(wrong(r#"uplinks: a list such as ["eth0", "wwan0"] was expected"#)),
        };
        let numbered = entries.iter().zip(1..);
        let one = |(entry, n): (&toml::Spanned<DeValue<'_>>, u32)| {
            uplink(entry.get_ref()).map_err(|error| wrong(format!("uplinks, entry {n}: {error}")))
        };
        numbered.map(one).collect()
    }

    fn interface(&self) -> Result<&str, ConfigError> {
        let interface = self.text("interface")?.unwrap_or("ana0");
        // The kernel allows IFNAMSIZ = 16 bytes with the terminating zero. A slash would separate folders in
        // /sys and in our paths.
        if interface.is_empty() || interface.len() > 15 || interface.contains(['/', ' ', '%']) {
            return Err(wrong("interface: a name of 1 to 15 letters"));
        }
        Ok(interface)
    }

    fn status(&self) -> Result<PathBuf, ConfigError> {
        let interface = self.interface()?;
        let status = self.text("status")?.map(PathBuf::from);
        Ok(status.unwrap_or_else(|| format!("/run/anabranch/{interface}.sock").into()))
    }

    fn metrics(&self) -> Result<Option<SocketAddr>, ConfigError> {
        let text = match self.get("metrics") {
            None => return Ok(None),
            Some(DeValue::Integer(_)) => self.number("metrics", 1, 0)?.to_string(),
            Some(DeValue::String(address)) => address.to_string(),
            Some(_) => String::new(),
        };
        let address = io::metrics::address(&text);
        address
            .map(Some)
            .ok_or_else(|| wrong(r#"metrics: a port, or an address such as "127.0.0.1:9464", was expected"#))
    }

    fn redundant(&self) -> Result<Redundant, ConfigError> {
        match self.get("redundant") {
            None | Some(DeValue::Boolean(false)) => Ok(Redundant::Nothing),
            Some(DeValue::Boolean(true)) => Ok(Redundant::Everything),
            Some(DeValue::Table(table)) => {
                let table = Table(table);
                let at = |error: ConfigError| wrong(format!("redundant: {error}"));
                table.check_names(&REDUNDANT_KEYS).map_err(at)?;
                let dscp =
                    table.numbers("dscp", 63).map_err(at)?.into_iter().map(|dscp| dscp as u8).collect();
                Ok(Redundant::Flows(Flows { dscp, ports: table.numbers("ports", u16::MAX).map_err(at)? }))
            }
            Some(_) => Err(wrong(
                "redundant: true, false, or a table such as { dscp = [46], ports = [5060] } was expected",
            )),
        }
    }

    fn resume(&self) -> Result<Resume, ConfigError> {
        let read = self.text("resume")?.map_or(Ok(Resume::Return), str::parse);
        read.map_err(|error| wrong(format!("resume: {error}")))
    }

    fn numbers(&self, name: &str, most: u16) -> Result<Vec<u16>, ConfigError> {
        let refused = || wrong(format!("{name}: a list of numbers from 0 to {most} was expected"));
        let entries = match self.get(name) {
            None => return Ok(Vec::new()),
            Some(DeValue::Array(entries)) => entries,
            Some(_) => return Err(refused()),
        };
        let one = |value: &DeValue<'_>| whole_number(value).filter(|&number| number <= most);
        entries.iter().map(|entry| one(entry.get_ref()).ok_or_else(refused)).collect()
    }

    fn get(&self, name: &str) -> Option<&DeValue<'_>> {
        self.0.get(name).map(|value| value.get_ref())
    }

    fn text(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(format!("{name}: a text in quotes was expected"))),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(DeValue::Boolean(flag)) => Ok(Some(*flag)),
            Some(_) => Err(wrong(format!("{name}: true or false was expected"))),
        }
    }

    fn number(&self, name: &str, least: u16, default: u16) -> Result<u16, ConfigError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let number = whole_number(value).filter(|&number| number >= least);
        number.ok_or_else(|| wrong(format!("{name}: a number from {least} to 65535 was expected")))
    }

    fn list<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Vec<T>, ConfigError> {
        let refused = || wrong(format!("{name}: a list was expected, each entry {expected} in quotes"));
        let entries = match self.get(name) {
            None => return Ok(Vec::new()),
            Some(DeValue::Array(entries)) => entries,
            Some(_) => return Err(refused()),
        };
        let one = |value: &DeValue<'_>| value.as_str().and_then(|text| text.parse().ok());
        entries.iter().map(|entry| one(entry.get_ref()).ok_or_else(refused)).collect()
    }

    /// Reads the private key and the peers, with the keys of the peers.
    fn keys(
        &self,
        read: impl FnOnce(&str) -> Result<PrivateKey, ConfigError>,
        psk: impl Fn(&str) -> Result<Secret, ConfigError>,
    ) -> Result<(Option<PrivateKey>, Vec<TunnelPeer>), ConfigError> {
        let (key, has_peer) = (self.text("key")?, self.get("peer").or(self.get("peers")).is_some());
        match (key, has_peer, self.flag("encryption")?) {
            (Some(key), true, None | Some(true)) => {
                let peers = match self.get("peers") {
                    None => vec![self.peer("peer", &psk)?],
                    Some(_) if self.get("peer").is_some() => {
                        return Err(wrong("peer and peers: one of them, `peers` for several other ends"));
                    }
                    Some(list) => peer_list(list, &psk)?,
                };
                let private = read(key)?;
                match peers.iter().find(|peer| peer.key == Some(private.public())) {
                    Some(_) => Err(wrong(format!(
                        "peer: {} is the public key of this end: expected that of the other end, which `anabranch key` prints there",
                        private.public()
                    ))),
                    None => Ok((Some(private), peers)),
                }
            }
            (None, false, Some(false)) => Ok((None, vec![TunnelPeer::default()])),
            (_, _, Some(false)) => {
                Err(wrong("encryption = false, but there are keys: remove one or the other"))
            }
            _ => Err(wrong(
                "key and peer: the file of our private key and the peer's public key, both of `anabranch key`; \
                 without encryption anyone can read, change and enter the tunnel: only `encryption = false` allows that",
            )),
        }
    }

    /// A peer: its public key is the value of `key`, and its secret that of `psk` if there is one.
    fn peer(
        &self,
        key: &str,
        psk: impl Fn(&str) -> Result<Secret, ConfigError>,
    ) -> Result<TunnelPeer, ConfigError> {
        let text = self.text(key)?.ok_or_else(|| wrong(format!("{key}: a public key was expected")))?;
        let public: PublicKey = text.parse().map_err(|error| wrong(format!("{key}: {error}")))?;
        let psk = self.text("psk")?.map(psk).transpose()?;
        Ok(TunnelPeer { key: Some(public), psk, ..TunnelPeer::default() })
    }
}

fn whole_number(value: &DeValue<'_>) -> Option<u16> {
    let DeValue::Integer(number) = value else { return None };
    u16::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Parses the list of several other ends.
fn peer_list(
    list: &DeValue<'_>,
    psk: impl Fn(&str) -> Result<Secret, ConfigError>,
) -> Result<Vec<TunnelPeer>, ConfigError> {
    let expected = || {
        wrong(
            r#"peers: a list of tables such as { key = "85…", name = "office", addresses = ["10.9.0.2/32"] } was expected"#,
        )
    };
    let DeValue::Array(entries) = list else { return Err(expected()) };
    let mut peers: Vec<TunnelPeer> = Vec::new();
    for (entry, n) in entries.iter().zip(1..) {
        let at = |error: ConfigError| wrong(format!("peers, entry {n}: {error}"));
        let DeValue::Table(table) = entry.get_ref() else { return Err(expected()) };
        let table = Table(table);
        table.check_names(&PEER_KEYS).map_err(at)?;
        let mut peer = table.peer("key", &psk).map_err(at)?;
        let prefixes: Vec<Prefix> = table.list("addresses", "an address like 10.9.0.2/32").map_err(at)?;
        peer.addresses = prefixes.into_iter().map(|Prefix(prefix)| prefix).collect();
        if peer.addresses.is_empty() {
            return Err(at(wrong("addresses: the inner addresses of this end, such as [\"10.9.0.2/32\"]")));
        }
        let name = table.text("name").map_err(at)?.filter(|name| !name.is_empty());
        peer.name = name.map_or_else(|| format!("peer {n}"), str::to_owned);
        if peers.iter().any(|other| other.key == peer.key || other.name == peer.name) {
            return Err(at(wrong("key, name: another entry has the same one")));
        }
        peers.push(peer);
    }
    if peers.is_empty() {
        return Err(expected());
    }
    match shared_prefix(&peers) {
        Some((address, length, one, other)) => {
            Err(wrong(format!("peers: {one} and {other} both have the addresses {address}/{length}")))
        }
        None => Ok(peers),
    }
}

/// Parses an uplink: a text, or a table with its options.
fn uplink(value: &DeValue<'_>) -> Result<Uplink, ConfigError> {
    let expected = || {
        wrong(
            r#"a name of an interface or an IP address in quotes, or a table such as { device = "wwan0", cost = 1 }, was expected"#,
        )
    };
    if let DeValue::String(text) = value {
        let source = text.parse().map_err(|()| expected())?;
        return Ok(Uplink { source, options: PathOptions::default() });
    }
    let DeValue::Table(table) = value else { return Err(expected()) };
    let table = Table(table);
    table.check_names(&UPLINK_KEYS)?;
    let source = match (table.text("device")?, table.text("address")?) {
        (Some(device), None) => device.parse().ok().filter(|source| matches!(source, Source::Device(_))),
        (None, Some(address)) => address.parse().ok().map(Source::Address),
        _ => {
            return Err(wrong(
                "one of device (a name of an interface) and address (an IP address) was expected",
            ));
        }
    };
    let source = source
        .ok_or_else(|| wrong("device: a name of an interface, or address: an IP address, was expected"))?;
    let cost = table.number("cost", 0, 0)?;
    let keep_alive =
        match table.get("keep_alive") {
            None => (cost > 0).then_some(KEEP_ALIVE),
            Some(value) => Some(value.as_str().and_then(keep_alive).ok_or_else(|| {
                wrong(r#"keep_alive: a time from "1 s" to "10 min" in quotes was expected"#)
            })?),
        };
    Ok(Uplink { source, options: PathOptions { cost, heartbeat_interval: keep_alive } })
}

/// Parses a time in whole seconds or minutes, up to the longest that the other end supports.
fn keep_alive(text: &str) -> Option<Span> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let number: u64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "s" => number,
        "min" => number.checked_mul(60)?,
        _ => return None,
    };
    (1..=600).contains(&seconds).then(|| Span::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TunnelConfig, ConfigError> {
        let key = |_: &str| Ok("7".repeat(64).parse().expect("64 digits"));
        TunnelConfig::parse(text, key, |_| Ok("6".repeat(64).parse().expect("64 digits")))
    }

    fn error(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn a_file_is_read() {
        let config = parse(&format!(
            "addresses = [\"10.9.0.1/24\", \"fd00::1/64\"]\nuplinks = [\"wwan0\", \"192.0.2.1\"]\n\
             connect = [\"198.51.100.1\"]\nkey = \"/k\"\npeer = \"{}\"\n",
            "9".repeat(64)
        ))
        .expect("it is right");
        assert_eq!((config.port, config.connect_port, config.mtu), (0, PORT, 1400));
        assert_eq!(
            config.addresses,
            [([10, 9, 0, 1].into(), 24), ("fd00::1".parse().expect("an address"), 64)]
        );
        let sources: Vec<&Source> = config.uplinks.iter().map(|uplink| &uplink.source).collect();
        assert_eq!(sources, [&Source::Device("wwan0".into()), &Source::Address([192, 0, 2, 1].into())]);
        assert!(config.uplinks.iter().all(|uplink| uplink.options == PathOptions::default()));
        assert!(config.key.is_some() && config.peers.len() == 1 && config.peers[0].key.is_some());
    }

    #[test]
    fn metrics_have_a_port_of_loopback_unless_there_is_an_address() {
        let read = |value: &str| {
            parse(&format!("encryption = false\nmetrics = {value}")).expect("it is right").metrics
        };
        assert_eq!(read("9464"), Some(([127, 0, 0, 1], 9464).into()));
        assert_eq!(read("\"10.99.0.1:9464\""), Some(([10, 99, 0, 1], 9464).into()));
        assert_eq!(parse("encryption = false").expect("it is right").metrics, None);
    }

    #[test]
    fn the_public_key_of_this_end_is_no_peer() {
        let own = "7".repeat(64).parse::<PrivateKey>().expect("64 digits").public();
        let error = error(&format!("key = \"/k\"\npeer = \"{own}\""));
        assert!(error.contains("public key of this end"), "{error}");
    }

    #[test]
    fn encryption_is_refused_only_explicitly() {
        assert!(error("").contains("encryption = false"));
        assert!(error("encryption = true").contains("key and peer"));
        assert!(error("key = \"/k\"").contains("key and peer"));
        assert!(error("key = \"/k\"\npeer = \"12\"").contains("64 hexadecimal"));
        assert!(
            error(&format!("encryption = false\nkey = \"/k\"\npeer = \"{}\"", "9".repeat(64)))
                .contains("remove")
        );
        assert!(parse("encryption = false").expect("it is right").key.is_none());
    }

    #[test]
    fn an_end_that_waits_may_have_several_peers() {
        let [one, two] = ["8", "9"].map(|digit| digit.repeat(64));
        let office = format!("{{ key = '{one}', name = 'office', addresses = ['10.9.0.2/32'], psk = '/p' }}");
        let read = |peers: &str| parse(&format!("key = '/k'\npeers = [{peers}]"));
        let peers = read(&format!("{office}, {{ key = '{two}', addresses = ['10.9.0.3/32', 'fd00::/64'] }}"))
            .expect("it is right")
            .peers;
        assert_eq!(peers.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>(), ["office", "peer 2"]);
        assert!(peers[0].psk.is_some() && peers[1].psk.is_none() && peers[1].addresses.len() == 2);
        for (other, expected) in [
            ("7".to_owned(), "peers: a list of tables such as"),
            (format!("{{ key = '{two}' }}"), "entry 2: addresses: the inner addresses"),
            (format!("{{ key = '{two}', addresses = ['10.9.0.2/32'] }}"), "office and peer 2 both have"),
            (
                format!("{{ key = '{one}', addresses = ['10.9.0.3/32'] }}"),
                "entry 2: key, name: another entry",
            ),
            ("{ key = '9', addresses = ['10.9.0.3/32'] }".to_owned(), "entry 2: key: a key has 64"),
            (format!("{{ key = '{two}', adresses = [] }}"), "entry 2: adresses: unknown"),
        ] {
            let error = read(&format!("{office}, {other}")).expect_err("is wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
        let both = error(&format!("key = '/k'\npeer = '{two}'\npeers = [{office}]"));
        assert!(both.contains("peer and peers"), "{both}");
        let client = format!("key = '/k'\nconnect = ['192.0.2.1']\nuplinks = ['eth0']\npeers = [{office}]");
        assert!(error(&client).contains("has one `peer`"));
    }

    #[test]
    fn all_packets_are_redundant_or_some_flows_or_none() {
        for (text, expected) in [
            ("", Redundant::Nothing),
            ("redundant = false", Redundant::Nothing),
            ("redundant = true", Redundant::Everything),
            (
                "redundant = { dscp = [46, 0x22], ports = [5060] }",
                Redundant::Flows(Flows { dscp: vec![46, 34], ports: vec![5060] }),
            ),
        ] {
            let config = TunnelConfig::parse_without_keys(&format!("encryption = false\n{text}"));
            assert_eq!(config.redundant, expected);
        }
    }

    #[test]
    fn an_uplink_has_a_cost_and_a_keep_alive_time() {
        let config = TunnelConfig::parse_without_keys(
            "encryption = false\nconnect = [\"192.0.2.9\"]\nuplinks = [\"eth0\", { device = \"wwan0\", cost = 1 },\
             { address = \"192.0.2.1\", cost = 2, keep_alive = \"2 min\" }, { device = \"wlan0\", keep_alive = \"25s\" }]\n",
        );
        let read: Vec<_> = config
            .uplinks
            .iter()
            .map(|uplink| {
                let seconds = uplink.options.heartbeat_interval.map(|time| time.as_secs_f64());
                (uplink.to_string(), uplink.options.cost, seconds)
            })
            .collect();
        let expected = [
            ("eth0", 0, None),
            ("wwan0", 1, Some(60.0)),
            ("192.0.2.1", 2, Some(120.0)),
            ("wlan0", 0, Some(25.0)),
        ];
        assert_eq!(read, expected.map(|(name, cost, seconds)| (name.to_owned(), cost, seconds)));
    }

    #[test]
    fn errors_of_an_uplink_name_its_place_and_what_was_expected() {
        for (entry, expected) in [
            (
                "7",
                "entry 2: a name of an interface or an IP address in quotes, or a table such as { device =",
            ),
            ("'a/b'", "entry 2: a name of an interface"),
            (
                "{ device = 'wwan0', prize = 1 }",
                "entry 2: prize: unknown; known are device, address, cost, keep_alive",
            ),
            ("{ cost = 1 }", "entry 2: one of device"),
            ("{ device = 'wwan0', address = '192.0.2.1' }", "entry 2: one of device"),
            ("{ device = '192.0.2.1' }", "entry 2: device: a name of an interface"),
            ("{ address = 'wwan0' }", "address: an IP address"),
            ("{ device = 7 }", "entry 2: device: a text in quotes"),
            ("{ device = 'wwan0', cost = -1 }", "entry 2: cost: a number from 0 to 65535"),
            ("{ device = 'wwan0', cost = 1.5 }", "entry 2: cost: a number from 0 to 65535"),
            ("{ device = 'wwan0', cost = 'high' }", "entry 2: cost: a number from 0 to 65535"),
            (
                "{ device = 'wwan0', keep_alive = 60 }",
                "entry 2: keep_alive: a time from \"1 s\" to \"10 min\"",
            ),
            ("{ device = 'wwan0', keep_alive = '0 s' }", "entry 2: keep_alive: a time from"),
            ("{ device = 'wwan0', keep_alive = '11 min' }", "entry 2: keep_alive: a time from"),
            ("{ device = 'wwan0', keep_alive = '1 h' }", "entry 2: keep_alive: a time from"),
        ] {
            let error = error(&format!("uplinks = ['eth0', {entry}]\nencryption = false"));
            assert!(error.starts_with("uplinks, entry 2: ") && error.contains(expected), "{entry}: {error}");
        }
        assert!(error("uplinks = 'eth0'\nencryption = false").contains("uplinks: a list such as"));
    }

    #[test]
    fn errors_name_the_key_and_what_was_expected() {
        for (text, expected) in [
            ("mtu = 100", "mtu: a number from 576"),
            ("mtu = \"x\"", "mtu"),
            ("port = 0", "port"),
            ("connect = [\"10.0.0.1\"]", "uplinks: the end that connects"),
            ("port = 70000", "port"),
            ("adresses = []", "adresses: unknown"),
            ("addresses = [\"10.0.0.1\"]", "addresses: a list"),
            ("addresses = [\"10.0.0.1/33\"]", "addresses: a list"),
            ("addresses = [\"10.0.0.1/24\", \"10.0.1.1/24\"]", "at most one"),
            ("connect = \"10.0.0.1\"", "connect: a list"),
            ("connect = [\"10.0.0\"]", "connect: a list"),
            ("interface = \"../etc\"", "interface"),
            ("uplinks = [\"a/b\"]", "uplinks"),
            ("metrics = 0", "metrics: a number from 1"),
            ("metrics = true", "metrics: a port, or an address"),
            ("metrics = \"localhost:9464\"", "metrics: a port, or an address"),
            ("redundant = 1", "redundant: true, false, or a table"),
            ("redundant = { port = [1] }", "redundant: port: unknown; known are dscp, ports"),
            ("redundant = { dscp = [64] }", "redundant: dscp: a list of numbers from 0 to 63"),
            ("redundant = { ports = 5060 }", "redundant: ports: a list of numbers from 0 to 65535"),
            ("resume = 1", "resume: a text in quotes"),
            ("resume = 'always'", r#"resume: unknown resume "always": expected off, return, full"#),
            ("mtu = ", "expected"),
        ] {
            let error = error(&format!(
                "{text}\n{}",
                if text.contains("mtu = \n") { "" } else { "encryption = false" }
            ));
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
