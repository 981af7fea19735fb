//! The command line of `anabranch measure`: the option letters of iperf3, and the flows of NetPerfMeter.

use super::{carrier, examples, flag, value, verbose, whole};
use clap::{Arg, ArgAction, Command, value_parser};

/// The subcommand.
pub fn command() -> Command {
    Command::new("measure")
        .about("Measures SCTP, TCP and UDP between two hosts")
        .after_help(examples(
            &[
                "anabranch measure --server",
                "anabranch measure 192.0.2.1 -t 30 -R",
                "anabranch measure 192.0.2.1,198.51.100.1 -B 10.0.0.2,10.1.0.2 --json",
                "anabranch measure 192.0.2.1 -u -b 20M -l 1200",
                "anabranch measure 192.0.2.1 --latency",
                "anabranch measure --server --key server.key --peers any",
            ],
            "Start `anabranch measure --server` on one host, and `anabranch measure HOST` on the other one. Each of both also works \
             with NetPerfMeter over TCP control (`-control-over-tcp`). Rates have K, M or G for powers of 1000, bytes for powers of \
             1024.",
        ))
        // `-h` prints the help. The host is given without a letter or with iperf3's `-c`.
        .arg(Arg::new("host").value_name("HOST").help("Server; further addresses of it for SCTP follow after commas"))
        .arg(value("client", "HOST", "The same as HOST alone").short('c').conflicts_with("host"))
        .arg(flag("server", "Serve measurements").short('s').conflicts_with_all(["host", "client"]))
        .args(both())
        .args(client())
        .args(flows())
        .args(results())
}

/// Options of both sides.
fn both() -> Vec<Arg> {
    vec![
        port("port", "Port of the flows; the control connection uses the next port")
            .short('p')
            .default_value("9000"),
        port("udp-port", "UDP port of the server's SCTP (RFC 6951)").default_value("9899"),
        carrier(),
        value("local", "A,B", "Local addresses: all for SCTP, the first one for TCP and UDP")
            .short('B')
            .alias("bind"),
        flag("one-off", "Server: end after one measurement").short('1'),
        seconds("max-time", "Server: longest measurement").default_value("3600"),
        value("metrics", "[ADDRESS:]PORT", "Server: serve metrics for Prometheus (address: 127.0.0.1)")
            .requires("server"),
        value("key", "FILE", "Encrypt SCTP with the private key in this file, made if it does not exist"),
        value(
            "peers",
            "any|KEYS|FILES",
            "Server with --key: who may measure: any, or keys and files that list them, with commas",
        )
        .requires_all(["key", "server"]),
        value("cc", "NAME", "Congestion control of SCTP").short('C'),
        flag("cmt", "Send on all paths at once (the default)").conflicts_with("no-cmt"),
        flag("no-cmt", "Send on one path only"),
        value("paths", "SET", "What a path of SCTP is: addresses, pairs or same-subnet"),
        value("set", "OPTION=VALUE", "Any other option of SCTP, as in scenarios; may be repeated")
            .action(ArgAction::Append),
    ]
}

/// Options that `--latency` excludes, because they choose other flows or times.
const NOT_WITH_LATENCY: [&str; 13] = [
    "server",
    "bytes",
    "omit",
    "transport",
    "udp",
    "tcp",
    "parallel",
    "streams",
    "reverse",
    "bidir",
    "unordered",
    "flow",
    "vector",
];

fn client() -> Vec<Arg> {
    vec![
        seconds("time", "How long to send; 0: until it is stopped").short('t').default_value("10"),
        seconds("interval", "Time between two lines; 0: none").short('i').default_value("1"),
        value(
            "at",
            "TIME",
            "Begin to send at this time in seconds since 1970, so that several measurements begin together",
        )
        .value_parser(value_parser!(f64)),
        seconds("omit", "Time at the beginning that does not count").short('O').default_value("0"),
        value("peer", "KEY|FILE", "With --key: the server's public key, or a file that lists it")
            .requires("key")
            .conflicts_with("server"),
        value("bytes", "N", "Send so many bytes on each flow instead").short('n'),
        flag("latency", "Measure latency without load and under load (SCTP): -t is the time of each load")
            .conflicts_with_all(NOT_WITH_LATENCY),
        value("probe-rate", "N", "With --latency: probes a second on each path, at most 100")
            .value_parser(|text: &str| {
                let rate = text.parse::<f64>().ok().filter(|rate| (1.0..=100.0).contains(rate));
                rate.ok_or_else(|| "expected probes a second, from 1 to 100".to_owned())
            })
            .allow_negative_numbers(true)
            .default_value("20"),
        value("transport", "NAME", "sctp (the default), tcp or udp").value_parser(["sctp", "tcp", "udp"]),
        flag("udp", "The same as --transport udp").short('u').conflicts_with("transport"),
        flag("tcp", "The same as --transport tcp").conflicts_with_all(["transport", "udp"]),
        flag("sctp", "The same as --transport sctp").conflicts_with_all(["transport", "udp", "tcp"]),
    ]
}

fn flows() -> Vec<Arg> {
    vec![
        count("parallel", "N", "Associations or connections at once").short('P').default_value("1"),
        count("streams", "N", "Streams of each association, each a flow")
            .alias("nstreams")
            .default_value("1"),
        value("bitrate", "RATE", "Rate of each flow; 0: as much as possible (the default, but 1M for UDP)")
            .short('b'),
        value("length", "BYTES", "Length of a message (default: 1400; 16000 for TCP)")
            .short('l')
            .alias("len"),
        flag("reverse", "The server sends").short('R').conflicts_with("bidir"),
        flag("bidir", "Both sides send"),
        value("unordered", "SHARE", "Share of messages sent unordered: 0 to 1, or 0 % to 100 %")
            .conflicts_with("flow"),
        value("flow", "SPEC", "A flow in NetPerfMeter's way, after sctp:, tcp: or udp:; may be repeated")
            .action(ArgAction::Append)
            .conflicts_with_all(["parallel", "streams", "bitrate", "length", "reverse", "bidir"]),
    ]
}

fn results() -> Vec<Arg> {
    vec![
        flag("json", "Print the results as JSON").short('J').conflicts_with("json-stream"),
        flag("json-stream", "Print a line of JSON for each interval"),
        flag("quiet", "Print errors only").short('q'),
        verbose(),
        value("out", "DIR", "Write tables with the columns of a simulated run to this folder"),
        value("scalar", "FILE", "Write NetPerfMeter's scalars of both sides, with this pattern of names"),
        value("vector", "FILE", "Write NetPerfMeter's vectors of both sides, with this pattern of names"),
        value("pcap", "FILE", "Capture the packets of SCTP at this side in a pcapng file")
            .conflicts_with("server"),
        value("pcap-limit", "BYTES", "Largest size of that file").default_value("100M").requires("pcap"),
        value("qlog", "DIR", "Write a log of each SCTP association in the format qlog to this folder"),
        value("npmp-events", "BYTES", "Size of on/off events: 36 for NetPerfMeter 2.0.3 and later")
            .value_parser(["40", "36"])
            .default_value("40"),
    ]
}

fn port(name: &'static str, help: &'static str) -> Arg {
    value(name, "PORT", help).allow_negative_numbers(true).value_parser(whole(0, u16::MAX))
}

fn seconds(name: &'static str, help: &'static str) -> Arg {
    value(name, "SECONDS", help).allow_negative_numbers(true).value_parser(|text: &str| {
        let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
        seconds.ok_or_else(|| "expected seconds, from 0 to a million".to_owned())
    })
}

fn count(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    value(name, placeholder, help).allow_negative_numbers(true).value_parser(whole::<u16>(1, 64))
}
