//! Converts the command line to the options of the measuring tool.

use crate::Failure;
use crate::arguments::chosen_carrier;
use ::measure::npmp::{EventSize, Random};
use ::measure::{
    CaptureFile, ClientOptions, FlowSpec, Keys, LatencyPlan, Load, Planned, ServerOptions, Transport, sctp,
};
use clap::ArgMatches;
use io::Carrier;
use noise::{PrivateKey, parse_peers};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::{ByteCount, Probability};

fn text<'m>(chosen: &'m ArgMatches, name: &str) -> Option<&'m str> {
    chosen.get_one::<String>(name).map(String::as_str)
}

fn seconds(chosen: &ArgMatches, name: &str) -> Duration {
    Duration::from_secs_f64(chosen.get_one::<f64>(name).copied().unwrap_or_default())
}

fn port(chosen: &ArgMatches, name: &str) -> u16 {
    chosen.get_one::<u16>(name).copied().unwrap_or_default()
}

/// The options of a server.
pub fn server(chosen: &ArgMatches) -> Result<ServerOptions, Failure> {
    Ok(ServerOptions {
        locals: locals(chosen)?,
        port: port(chosen, "port"),
        udp_port: port(chosen, "udp-port"),
        // The server answers each client by the carrier that this client uses.
        carrier: if chosen_carrier(chosen) == Carrier::Ip { Carrier::Both } else { Carrier::Udp },
        config: config(chosen, 1)?,
        one: chosen.get_flag("one-off"),
        longest: seconds(chosen, "max-time"),
        metrics: text(chosen, "metrics").map(metrics).transpose()?,
        keys: server_keys(chosen)?,
        qlog: text(chosen, "qlog").map(PathBuf::from),
    })
}

/// The keys of a server, if it encrypts.
fn server_keys(chosen: &ArgMatches) -> Result<Option<Keys>, Failure> {
    let Some(file) = text(chosen, "key") else { return Ok(None) };
    let peers = text(chosen, "peers").ok_or_else(|| {
        Failure::usage(format!(
            "--key {file}: say who may measure: --peers any, or public keys and files that list them"
        ))
    })?;
    let words = || peers.split(',');
    let keys = keys(file, "--peers", words().filter(|word| *word != ANY))?;
    Ok(Some(Keys { accept_any: words().any(|word| word == ANY), ..keys }))
}

/// The word for everyone who knows the public key of the server.
const ANY: &str = "any";

/// The keys of a client, if it encrypts. `sctp` is the number of SCTP flows.
fn client_keys(chosen: &ArgMatches, sctp: usize) -> Result<Option<Keys>, Failure> {
    let Some(file) = text(chosen, "key") else { return Ok(None) };
    if sctp == 0 {
        return Err(Failure::usage(format!("--key {file} encrypts SCTP, but no flow is one of SCTP")));
    }
    let peer = text(chosen, "peer").ok_or_else(|| {
        Failure::usage(format!(
            "--key {file}: name the server's public key with --peer; the server prints it when it starts"
        ))
    })?;
    let keys = keys(file, "--peer", [peer])?;
    match keys.peers.len() {
        1 => Ok(Some(keys)),
        several => Err(Failure::usage(format!("--peer {peer}: expected one key, found {several}"))),
    }
}

/// Reads the private key from `file`, and the peers from `words`, the values of `option`.
fn keys<'w>(file: &str, option: &str, words: impl IntoIterator<Item = &'w str>) -> Result<Keys, Failure> {
    let peers = parse_peers(words).map_err(|error| Failure::usage(format!("{option} {error}")))?;
    let private = PrivateKey::read_or_create(Path::new(file));
    let private = private.map_err(|error| Failure::usage(format!("--key {error}")))?;
    Ok(Keys { private, peers, accept_any: false })
}

fn metrics(text: &str) -> Result<SocketAddr, Failure> {
    let wrong = || {
        Failure::usage(format!("--metrics {text}: expected a port such as 9464, or an address and a port"))
    };
    io::metrics::address(text).ok_or_else(wrong)
}

/// The options of a client.
pub fn client(chosen: &ArgMatches, host: &str) -> Result<ClientOptions, Failure> {
    let latency = latency(chosen)?;
    let flows = flows(chosen, latency)?;
    let most = flows.iter().filter(|flow| flow.spec.transport == Transport::Sctp).count();
    // The probes of latency have a stream of their own.
    let streams = most + usize::from(latency.is_some());
    let bytes = text(chosen, "bytes").map(|bytes| number("--bytes", bytes, 1024.0)).transpose()?;
    let file = |name: &str| match text(chosen, name) {
        Some(file) if file.ends_with(".bz2") => {
            Err(Failure::usage(format!("--{name} {file}: files are not compressed; leave out .bz2")))
        }
        file => Ok(file.map(PathBuf::from)),
    };
    let capture = capture(chosen, most)?;
    Ok(ClientOptions {
        peers: resolve(host)?,
        port: port(chosen, "port"),
        udp_port: port(chosen, "udp-port"),
        carrier: chosen_carrier(chosen),
        locals: locals(chosen)?,
        flows,
        config: config(chosen, streams)?,
        duration: match (latency, seconds(chosen, "time")) {
            (Some(plan), _) => plan.total(),
            (None, Duration::ZERO) => UNTIL_STOPPED,
            (None, time) => time,
        },
        at: at(chosen)?,
        omit: seconds(chosen, "omit"),
        interval: seconds(chosen, "interval"),
        bytes: bytes.map(|bytes| bytes as u64),
        scalars: file("scalar")?,
        vectors: file("vector")?,
        capture,
        qlog: text(chosen, "qlog").map(PathBuf::from),
        keys: client_keys(chosen, most)?,
        events: if text(chosen, "npmp-events") == Some("36") { EventSize::Packed } else { EventSize::Padded },
        latency,
    })
}

/// The phases of `--latency`; `None` without this option.
fn latency(chosen: &ArgMatches) -> Result<Option<LatencyPlan>, Failure> {
    if !chosen.get_flag("latency") {
        return Ok(None);
    }
    let loaded = seconds(chosen, "time");
    if !(SHORTEST..=LONGEST).contains(&loaded) {
        return Err(Failure::usage(format!(
            "--time {}: with --latency expected {} to {} seconds",
            loaded.as_secs_f64(),
            SHORTEST.as_secs(),
            LONGEST.as_secs()
        )));
    }
    let rate = chosen.get_one::<f64>("probe-rate").copied().unwrap_or_default();
    Ok(Some(LatencyPlan { loaded, rate }))
}

/// Least and greatest time of a phase of `--latency`.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(900);

/// Time to send with `-t 0`: the longest time that can be chosen. In iperf3, too, `-t 0` sends without end.
const UNTIL_STOPPED: Duration = Duration::from_secs(1_000_000);

/// The capture file, if a capture is requested. `sctp` is the number of SCTP flows.
fn capture(chosen: &ArgMatches, sctp: usize) -> Result<Option<CaptureFile>, Failure> {
    let Some(file) = text(chosen, "pcap") else { return Ok(None) };
    if sctp == 0 {
        return Err(Failure::usage(format!("--pcap {file} captures SCTP, but no flow is one of SCTP")));
    }
    let limit = number("--pcap-limit", text(chosen, "pcap-limit").unwrap_or_default(), 1024.0)?;
    Ok(Some(CaptureFile { file: file.into(), limit: ByteCount::round_f64(limit) }))
}

/// Longest wait in seconds for the time of `--at`: a server closes a control connection that is long silent.
const LONGEST_WAIT: f64 = 30.0;

/// The time to begin, in microseconds since 1970.
#[expect(clippy::disallowed_types, reason = "--at is a time of day")]
fn at(chosen: &ArgMatches) -> Result<Option<u64>, Failure> {
    let Some(&at) = chosen.get_one::<f64>("at") else { return Ok(None) };
    use std::time::SystemTime;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    if (0.0..=now + LONGEST_WAIT).contains(&at) {
        return Ok(Some((at * 1e6) as u64));
    }
    Err(Failure::usage(format!(
        "--at {at}: expected seconds since 1970, at most {LONGEST_WAIT} from now, which is {now:.0}"
    )))
}

/// The addresses of a list of names and addresses, separated by commas. A name gives its first address.
fn resolve(hosts: &str) -> Result<Vec<IpAddr>, Failure> {
    let one = |host: &str| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let addresses = (host, 0).to_socket_addrs();
        let first = addresses.map_err(|error| error.to_string()).map(|mut all| all.next());
        match first {
            Ok(Some(address)) => Ok(address.ip()),
            Ok(None) => Err(Failure::usage(format!("{host} has no address"))),
            Err(why) => Err(Failure::usage(format!("{host} is no host: {why}"))),
        }
    };
    hosts.split(',').map(one).collect()
}

fn locals(chosen: &ArgMatches) -> Result<Vec<IpAddr>, Failure> {
    let parse = |address: &str| {
        address.parse().map_err(|_| Failure::usage(format!("--local {address}: expected an IP address")))
    };
    text(chosen, "local").map_or(Ok(Vec::new()), |locals| locals.split(',').map(parse).collect())
}

/// The options of SCTP: the defaults of the sockets, with the changes of the command line.
fn config(chosen: &ArgMatches, streams: usize) -> Result<sctp::Config, Failure> {
    let mut lines = String::new();
    if let Some(name) = text(chosen, "cc") {
        lines += &format!("congestion_control = {name:?}\n");
    }
    if let Some(set) = text(chosen, "paths") {
        lines += &format!("paths = {set:?}\n");
    }
    if chosen.get_flag("no-cmt") {
        lines += "cmt.enabled = false\n";
    }
    for option in chosen.get_many::<String>("set").into_iter().flatten() {
        lines += &format!("{option}\n");
    }
    let base = ServerOptions::default().config;
    let mut config = lab::scenario::sctp_options_over(base, &lines, "options of SCTP")
        .map_err(|error| Failure::usage(error.to_string()))?;
    config.outbound_streams = config.outbound_streams.max(streams.min(usize::from(u16::MAX)) as u16);
    Ok(config)
}

fn flows(chosen: &ArgMatches, latency: Option<LatencyPlan>) -> Result<Vec<Planned>, Failure> {
    let transport = match text(chosen, "transport") {
        Some(name) => name.parse().unwrap_or(Transport::Sctp),
        None if chosen.get_flag("udp") => Transport::Udp,
        None if chosen.get_flag("tcp") => Transport::Tcp,
        None => Transport::Sctp,
    };
    if let Some(specs) = chosen.get_many::<String>("flow") {
        return specs
            .map(|spec| {
                let parsed = FlowSpec::parse(spec, transport);
                let parsed = parsed.map_err(|error| Failure::usage(format!("--flow {spec}: {error}")))?;
                Ok(Planned { spec: parsed, association: 0 })
            })
            .collect();
    }
    let spec = plain(chosen, transport)?;
    if let Some(plan) = latency {
        let [rate, size] = [spec.outbound.rate, spec.outbound.size].map(|random| random.values[0]);
        let flows = plan.flows(rate, size);
        return Ok(flows.map(|spec| Planned { spec, association: 0 }).into());
    }
    let count = |name: &str| u32::from(chosen.get_one::<u16>(name).copied().unwrap_or(1));
    let (parallel, streams) = (count("parallel"), count("streams"));
    if streams > 1 && transport != Transport::Sctp {
        return Err(Failure::usage(format!("--streams is for SCTP: {transport} has no streams")));
    }
    let places = (0..parallel).flat_map(|association| (0..streams).map(move |_| association));
    Ok(places.map(|association| Planned { spec: spec.clone(), association }).collect())
}

/// The flow that the iperf3 options describe.
fn plain(chosen: &ArgMatches, transport: Transport) -> Result<FlowSpec, Failure> {
    let length = match text(chosen, "length") {
        Some(length) => number("--length", length, 1024.0)?,
        None if transport == Transport::Tcp => 16_000.0,
        None => 1400.0,
    };
    if !(48.0..=65_507.0).contains(&length) {
        return Err(Failure::usage(format!("--length {length}: expected 48 to 65507 bytes")));
    }
    let rate = match text(chosen, "bitrate") {
        Some(rate) => {
            let amount = ["bit/s", "bps"].iter().find_map(|unit| rate.strip_suffix(unit)).unwrap_or(rate);
            number("--bitrate", amount, 1000.0)?
        }
        None if transport == Transport::Udp => 1e6,
        None => 0.0,
    };
    let constant = |value: f64| Random { generator: 0, values: [value, 0.0, 0.0, 0.0] };
    let load = Load { rate: constant(rate / 8.0 / length), size: constant(length) };
    let mut spec = FlowSpec::new(transport);
    spec.max_message = length as u16;
    if !chosen.get_flag("reverse") {
        spec.outbound = load;
    }
    if chosen.get_flag("reverse") || chosen.get_flag("bidir") {
        spec.inbound = load;
    }
    if let Some(share) = text(chosen, "unordered") {
        let expected = || Probability::expected(share.parse().ok());
        let refused = || Failure::usage(format!("--unordered {share}: expected {}", expected()));
        spec.ordered = 1.0 - Probability::parse(share).ok_or_else(refused)?.get();
    }
    Ok(spec)
}

/// Parses a number. A suffix K, M, G or T stands for a power of `base`.
fn number(name: &str, text: &str, base: f64) -> Result<f64, Failure> {
    let digits = text.trim_end().trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let power = match text[digits.len()..].trim().to_ascii_uppercase().as_str() {
        "" => Some(0),
        "K" => Some(1),
        "M" => Some(2),
        "G" => Some(3),
        "T" => Some(4),
        _ => None,
    };
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    match (value, power) {
        (Some(value), Some(power)) => Ok(value * base.powi(power)),
        _ if text.contains(',') => {
            let point = text.replacen(',', ".", 1);
            Err(Failure::usage(format!("{name} {text}: expected a decimal point, as in {point}")))
        }
        _ => Err(Failure::usage(format!("{name} {text}: expected a number such as 20M"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(arguments: &[&str]) -> ArgMatches {
        let all = [&["measure"], arguments].concat();
        crate::arguments::measure::command().try_get_matches_from(all).expect("right arguments")
    }

    fn client_of(arguments: &[&str]) -> ClientOptions {
        let all = chosen(arguments);
        client(&all, "127.0.0.1,127.0.0.2").map_err(|failure| failure.message).expect("options")
    }

    fn complaint(arguments: &[&str]) -> String {
        client(&chosen(arguments), "127.0.0.1").expect_err("they are wrong").message
    }

    #[test]
    fn letters_are_those_of_iperf3() {
        let options = client_of(&[
            "-u", "-b", "20M", "-l", "1K", "-t", "3", "-i", "0.5", "-P", "4", "-O", "1", "-n", "2K",
        ]);
        assert_eq!(options.peers.len(), 2);
        assert_eq!(options.flows.len(), 4);
        let spec = &options.flows[3].spec;
        assert_eq!(spec.transport, Transport::Udp);
        assert_eq!(spec.outbound.size.values[0], 1024.0);
        assert!((spec.outbound.rate.values[0] * 8.0 * 1024.0 - 20e6).abs() < 1e-3);
        assert_eq!((options.duration, options.omit), (Duration::from_secs(3), Duration::from_secs(1)));
        assert_eq!(options.interval, Duration::from_millis(500));
        assert_eq!(options.bytes, Some(2048));
    }

    #[test]
    fn rates_may_have_their_unit_and_shares_may_be_percentages() {
        let rate = |text: &str| {
            let options = client_of(&["-b", text]);
            (options.flows[0].spec.outbound.rate.values[0] * 8.0 * 1400.0).round()
        };
        for text in ["20M", "20 M", "20 Mbit/s", "20Mbps", "20000000"] {
            assert_eq!(rate(text), 20e6, "{text}");
        }
        assert_eq!(client_of(&["--unordered", "25 %"]).flows[0].spec.ordered, 0.75);
        assert_eq!(client_of(&["--unordered", "0.25"]).flows[0].spec.ordered, 0.75);
    }

    #[test]
    fn zero_seconds_are_without_end_as_in_iperf3() {
        assert_eq!(client_of(&["-t", "0"]).duration, UNTIL_STOPPED);
        assert_eq!(client_of(&["--sctp"]).flows, client_of(&[]).flows);
    }

    #[test]
    fn one_flow_of_sctp_sends_as_much_as_possible_unless_more_is_said() {
        let options = client_of(&[]);
        assert_eq!(options.flows.len(), 1);
        assert_eq!(options.flows[0].spec.outbound.rate.values[0], 0.0);
        assert!(options.config.cmt.enabled && options.config.pmtud);
        let options =
            client_of(&["-R", "--no-cmt", "--paths", "pairs", "-C", "cubic", "--set", "max_burst = 9"]);
        assert_eq!(options.flows[0].spec.outbound, Load::default());
        assert_eq!(options.flows[0].spec.inbound.size.values[0], 1400.0);
        assert!(!options.config.cmt.enabled);
        assert_eq!(options.config.max_burst, 9);
    }

    #[test]
    fn latency_has_two_flows_of_one_association_and_a_stream_for_probes() {
        let options = client_of(&["--latency", "-t", "4", "-b", "8M", "-l", "1000", "--probe-rate", "50"]);
        let plan = options.latency.expect("it is measured");
        assert_eq!((plan.loaded, plan.rate), (Duration::from_secs(4), 50.0));
        assert_eq!(options.duration, Duration::from_secs(5 + 2 + 3 * 4));
        let loads = options
            .flows
            .iter()
            .map(|flow| [flow.spec.inbound, flow.spec.outbound].map(|load| load.rate.values[0]));
        assert_eq!(loads.collect::<Vec<_>>(), [[1000.0, 0.0], [0.0, 1000.0]]);
        assert!(options.config.outbound_streams >= 3);
        let refused =
            crate::arguments::measure::command().try_get_matches_from(["measure", "h", "--latency", "-R"]);
        assert!(refused.is_err(), "the phases choose the direction");
    }

    #[test]
    fn a_capture_has_a_limit_unless_another_is_chosen() {
        let limit = |more: &[&str]| {
            let options = client_of(&[&["--pcap", "x.pcapng"], more].concat());
            options.capture.map(|capture| capture.limit.get())
        };
        assert_eq!(limit(&[]), Some(100 << 20));
        assert_eq!(limit(&["--pcap-limit", "3K"]), Some(3 << 10));
        assert_eq!(client_of(&[]).capture, None);
    }

    #[test]
    fn streams_share_an_association_and_parallel_flows_do_not() {
        let options = client_of(&["-P", "2", "--streams", "12"]);
        let associations: Vec<_> = options.flows.iter().map(|flow| flow.association).collect();
        assert_eq!(associations, [[0; 12], [1; 12]].concat());
        assert!(options.config.outbound_streams >= 12);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (arguments, expected) in [
            (&["-b", "fast"][..], "--bitrate fast"),
            (&["-l", "10"], "48 to 65507"),
            (&["--flow", "const1"], "--flow const1"),
            (&["-u", "--streams", "2"], "no streams"),
            (&["-C", "warp"], "warp"),
            (&["--set", "speed = 1"], "speed"),
            (&["--vector", "x.vec.bz2"], ".bz2"),
            (&["-u", "--pcap", "x.pcapng"], "--pcap x.pcapng"),
            (&["--pcap", "x.pcapng", "--pcap-limit", "much"], "--pcap-limit much"),
            (&["-B", "here"], "--local here"),
            (&["--unordered", "2"], "0 to 1"),
            (&["-b", "10,5M"], "10.5M"),
            (&["--at", "1e12"], "at most 30 from now"),
            (&["--latency", "-t", "0"], "--time 0: with --latency expected 1 to 900 seconds"),
        ] {
            let message = complaint(arguments);
            assert!(message.contains(expected), "{arguments:?}: {message}");
        }
    }
}
