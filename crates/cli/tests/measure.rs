//! Tests of `anabranch measure`: a client and a server in two processes on this host.

#[cfg(target_os = "linux")]
#[path = "../../io/tests/common/namespace.rs"]
mod namespace;

use crate::scratch::Scratch;
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// The warning of a measurement without a key, on standard error.
const IN_CLEAR: &str =
    "anabranch: not encrypted: whoever is on the path can read and change it; --key encrypts SCTP\n";

/// A server process that is killed at the end of the test.
struct Server {
    child: Child,
    /// The port of `-p`, and the port of SCTP in UDP.
    ports: [String; 2],
    /// The line about metrics.
    metrics: String,
}

impl Server {
    fn start() -> Self {
        Self::start_at("127.0.0.1", &[])
    }

    fn start_at(addresses: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
        command.args(["measure", "-s", "-p", "0", "--udp-port", "0", "--local", addresses]).args(more);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = || {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("it prints text");
            line
        };
        let (line, metrics) = (line(), if more.contains(&"--metrics") { line() } else { String::new() });
        // A thread reads the later output of the server, so that its writes never block.
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
        let numbers: Vec<_> = numbers.map(str::to_owned).collect();
        let [port, _, udp_port] = <[String; 3]>::try_from(numbers).unwrap_or_else(|_| panic!("{line}"));
        Server { child, ports: [port, udp_port], metrics }
    }

    /// The arguments of a measurement with this server.
    fn measure<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        self.measure_at("127.0.0.1", more)
    }

    fn measure_at<'a>(&'a self, addresses: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let begin = ["measure", addresses, "-p", &self.ports[0], "--udp-port", &self.ports[1]];
        [&begin[..], more].concat()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("it has not ended");
        self.child.wait().expect("it ends");
    }
}

#[test]
fn a_measurement_prints_its_intervals_its_flows_and_its_paths() {
    let (server, scratch) = (Server::start(), Scratch::with("measure-text", &[]));
    let (code, out, error) =
        scratch.call(&server.measure(&["-t", "0.6", "-i", "0.2", "--bidir", "-b", "4M"]));
    assert_eq!(code, 0, "{error}");
    for expected in ["to server", "from server", "limited by", "127.0.0.1", "Mbit/s", "0.00-0.2"] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}

#[test]
fn verbose_prints_events_with_timestamps_to_standard_error() {
    let (server, scratch) = (Server::start(), Scratch::with("measure-verbose", &[]));
    let errors = |more: &[&str]| {
        let (code, out, error) = scratch.call(&server.measure(&[&["-t", "0.2", "-b", "1M"], more].concat()));
        assert_eq!(code, 0, "{error}");
        assert!(!out.contains("anabranch_io"), "{out}");
        error
    };
    assert_eq!(errors(&[]), IN_CLEAR);
    let info = errors(&["-v"]);
    for event in ["association begun", "association established", "path state", "association ended"] {
        let line =
            info.lines().find(|line| line.contains(event)).unwrap_or_else(|| panic!("{event}: {info}"));
        let (time, rest) = line.split_once(' ').expect("words");
        assert!(time.len() > 20 && time.contains('T') && time.ends_with('Z'), "{line}");
        assert!(rest.trim_start().starts_with("INFO anabranch_io: "), "{line}");
        assert!(line.contains("peer=\"127.0.0.1 port "), "{line}");
    }
    assert!(!info.contains("DEBUG"), "{info}");
    let debug = errors(&["-vv"]);
    for event in ["INFO anabranch_io: path state", "DEBUG anabranch_io: path MTU changed"] {
        assert!(debug.contains(event), "{debug}");
    }
}

// No process serves UDP port 1, so that a measurement over UDP would fail.
#[cfg(target_os = "linux")]
#[test]
fn sctp_directly_in_ip_is_measured() {
    let Some(mut bash) = namespace::in_new_namespace() else {
        return namespace::skip("measurement in IP", "network namespaces");
    };
    let script = "ip link set lo up
        timeout 30 $A measure -s -1 --carrier ip --local 127.0.0.1 > /dev/null & sleep 1
        timeout 20 $A measure 127.0.0.1 --carrier ip --udp-port 1 -t 1 --json --pcap $F; wait";
    let scratch = Scratch::with("measure-in-ip", &[]);
    let file = scratch.0.join("m.pcapng");
    bash.args(["bash", "-c", script]).env("A", env!("CARGO_BIN_EXE_anabranch")).env("F", &file);
    let output = bash.output().expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let report: Json = serde_json::from_str(&told).expect("JSON");
    let path = &report["intervals"][0]["associations"][0]["paths"][0];
    assert!(path["user_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{report}");
    let (code, explained, errors) = scratch.call(&["explain", "m.pcapng"]);
    assert_eq!(code, 0, "{explained}{errors}");
    assert!(explained.contains("127.0.0.1") && !explained.contains("9899"), "{explained}");
}

#[test]
fn a_server_serves_metrics_on_loopback() {
    let scratch = Scratch::with("measure-metrics", &[]);
    let server = Server::start_at("127.0.0.1", &["--metrics", "0"]);
    let address = server.metrics.trim().strip_prefix("metrics on http://127.0.0.1:").expect("on loopback");
    let port: u16 = address.strip_suffix("/metrics").expect("a path").parse().expect("a port");
    let ask = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        text
    };
    assert!(ask().contains("\nanabranch_measure_measurements_total 0\n"));
    assert_eq!(scratch.call(&server.measure(&["-t", "0.2", "-b", "1M"])).0, 0);
    let text = ask();
    assert!(text.contains("\nanabranch_measure_measurements_total 1\n"), "{text}");
    assert!(text.contains("\n# TYPE anabranch_path_bytes_received_total counter\n"), "{text}");
    let (code, _, error) = scratch.call(&["measure", "-s", "--metrics", "here"]);
    assert!(code == 2 && error.contains("--metrics here: expected a port"), "{error}");
}

#[test]
fn json_has_a_schema_and_a_stream_has_a_line_for_each_interval() {
    let (server, scratch) = (Server::start(), Scratch::with("measure-json", &[]));
    let report = scratch
        .json(&server.measure(&["-u", "-R", "-n", "20K", "-t", "20", "-q", "--json", "--out", "tables"]));
    assert_eq!(report["schema"], "anabranch.measure/1");
    assert_eq!(report["total"]["flows"][0]["transport"], "udp");
    assert!(report["total"]["flows"][0]["received"]["bytes"].as_u64() >= Some(20 * 1024));
    assert!(scratch.0.join("tables/scalars.parquet").is_file());

    let (code, out, _) = scratch.call(&server.measure(&["--tcp", "-t", "0.6", "-i", "0.2", "--json-stream"]));
    assert_eq!(code, 0);
    let lines: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() >= 2, "{out}");
    assert!(lines[..lines.len() - 1].iter().all(|line| line["event"] == "interval"));
    assert_eq!(lines[lines.len() - 1]["event"], "end");
}

/// Linux only: other systems have only one loopback address.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_sends_over_two_paths_is_shown_path_by_path_and_its_capture_is_explained() {
    const EVENLY: [&str; 2] = ["--set", "cmt.path_selection = 'round-robin'"];
    let (server, scratch) =
        (Server::start_at("127.0.1.2,127.0.2.2", &EVENLY), Scratch::with("measure-paths", &[]));
    let begin = ["--local", "127.0.1.1,127.0.2.1", "-R", "-b", "8M", "-t", "1.2", "-i", "0.4"];
    let measure = |more: &[&'static str]| [&begin[..], more].concat();
    let run = |more: &[&'static str]| scratch.call(&server.measure_at("127.0.1.2,127.0.2.2", &measure(more)));
    let (code, out, error) = run(&["--pcap", "m.pcapng"]);
    assert_eq!((code, error.as_str()), (0, IN_CLEAR));
    let lines = |path: &str| out.lines().filter(|line| line.contains(path) && line.contains("cwnd")).count();
    assert!(lines("path 0 from 127.0.1.2 ") > 0 && lines("path 1 from 127.0.2.2 ") > 0, "{out}");
    let table = |line: &&str| line.contains("127.0.2.2  127.0.2.1");
    assert_eq!(out.lines().filter(table).count(), 1, "a row of the second path: {out}");

    let (code, out, error) = scratch.call(&["explain", "m.pcapng"]);
    assert_eq!(code, 0, "{error}");
    for path in ["127.0.1.2 to 127.0.1.1", "127.0.2.2 to 127.0.2.1"] {
        assert!(out.contains(path), "{path}: {out}");
    }

    let (code, _, error) = run(&["--pcap", "m.pcapng", "--pcap-limit", "4K", "-q", "--out", "tables"]);
    assert!(code == 0 && error.contains("m.pcapng reached its limit: the last "), "{code} {error}");

    let found = scratch.json(&["explain", "tables", "--json"]);
    assert!(found["limited_by"]["application"].as_f64() > Some(0.5), "{found}");
    assert_eq!(found["paths"].as_array().map(Vec::len), Some(2), "{found}");
    let (code, out, error) = scratch.call(&["explain", "tables"]);
    assert!(code == 0 && error.is_empty(), "{error}");
    assert!(out.contains("the application") && !out.contains("of what the links"), "{out}");
    assert!(found["goodput_share"].is_null(), "links are not known: {found}");
}

#[cfg(unix)]
#[test]
fn zero_seconds_last_until_it_is_stopped_and_the_report_is_printed() {
    let (server, scratch) = (Server::start(), Scratch::with("measure-endless", &[]));
    let arguments = server.measure(&["--sctp", "-t", "0", "-i", "0.2", "-b", "4 Mbit/s"]);
    let mut child = scratch.command(&arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.by_ref().take(4).all(|line| line.contains("sent")), "four intervals");
    assert_eq!(child.try_wait().expect("it is ours"), None, "it goes on");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    assert!(lines.any(|line| line.contains("to server")), "the report");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn with_keys_sctp_is_encrypted_and_without_keys_the_client_says_that_nothing_is() {
    let scratch = Scratch::with("measure-keys", &[]);
    let (_, key, _) = scratch.call(&["key", "server.key"]);
    let (_, client, _) = scratch.call(&["key", "client.key"]);
    std::fs::write(scratch.0.join("clients"), format!("{} laptop\n", client.trim())).expect("is written");
    let (file, clients) = (scratch.0.join("server.key"), scratch.0.join("clients"));
    let peers = clients.to_str().expect("is text");
    let server = Server::start_at("127.0.0.1", &["--key", file.to_str().expect("is text"), "--peers", peers]);
    let run = |more: &[&str]| scratch.call(&[&server.measure(&["-t", "0.2", "-b", "1M"]), more].concat());
    let (code, out, error) = run(&["--key", "client.key", "--peer", key.trim()]);
    assert!(code == 0 && out.contains("to server"), "{code} {error}");
    assert_eq!(error, "anabranch: SCTP is encrypted; TCP, UDP and the control connection are not\n");
    let (code, _, error) = run(&["--tcp"]);
    assert_eq!((code, error.as_str()), (0, IN_CLEAR));
    let (code, _, error) = run(&["--tcp", "-q"]);
    assert_eq!((code, error.as_str()), (0, ""));
}

#[test]
fn wrong_arguments_about_keys_have_code_2_and_say_what_to_give() {
    let scratch = Scratch::with("measure-wrong-keys", &[("two", TWO_KEYS)]);
    for (arguments, expected) in [
        (&["127.0.0.1", "--key", "k"][..], "--key k: name the server's public key with --peer"),
        (&["--server", "--key", "k"], "--key k: say who may measure: --peers any"),
        (&["127.0.0.1", "--key", "k", "--peer", "12"], "--peer 12: a key has 64 hexadecimal digits"),
        (&["127.0.0.1", "--key", "k", "--peer", "two"], "--peer two: expected one key, found 2"),
        (&["127.0.0.1", "--key", "k", "--peer", "two", "-u"], "--key k encrypts SCTP, but no flow"),
        (&["127.0.0.1", "--peer", "two"], "--key <FILE>"),
        (&["--server", "--peers", "any"], "--key <FILE>"),
    ] {
        let (code, _, error) = scratch.call(&[&["measure"], arguments].concat());
        assert!(code == 2 && error.contains(expected), "{arguments:?}: {code} {error}");
    }
}

const TWO_KEYS: &str = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f
8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a
";

#[test]
fn wrong_arguments_have_code_2_and_a_missing_server_has_code_1() {
    let scratch = Scratch::with("measure-wrong", &[]);
    let (code, _, error) = scratch.call(&["measure"]);
    assert!(code == 2 && error.contains("--server"), "{code} {error}");
    let (code, _, error) = scratch.call(&["measure", "127.0.0.1", "-b", "fast"]);
    assert!(code == 2 && error.contains("--bitrate fast"), "{code} {error}");
    let (code, _, error) = scratch.call(&["measure", "127.0.0.1", "--pcap", "missing/m.pcapng"]);
    assert!(code == 1 && error.contains("cannot write missing/m.pcapng"), "{code} {error}");
    // The control connection would use port 1, at which no server listens.
    let (code, _, error) = scratch.call(&["measure", "127.0.0.1", "-p", "0"]);
    assert!(
        code == 1
            && error
                .contains("on port 0 (control port 1: connection refused); is `anabranch measure --server"),
        "{code} {error}"
    );
}
