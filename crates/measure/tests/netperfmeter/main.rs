//! Tests of this crate's active and passive side with the program
//! NetPerfMeter as the other side (Debian's package `netperfmeter`).
//!
//! Each test runs itself again in a network namespace, which ends with the process. If a program or the
//! permission is missing, the test says so and passes; if `ANABRANCH_REQUIRE_TOOLS` is set, it fails.

#[path = "../../../io/tests/common/namespace.rs"]
mod namespace;

#[path = "../common/mod.rs"]
mod common;

use anabranch_measure::{Client, ClientOptions, MeasureError};
use common::{HERE, Running, client};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Environment variable that tells the test that it runs in its namespace.
const INSIDE: &str = "ANABRANCH_NETPERFMETER_INSIDE";

/// The name of a missing tool or permission, if one is missing.
fn missing() -> Option<String> {
    if namespace::in_new_namespace().is_none() {
        return Some("the permission to make network namespaces, or unshare".into());
    }
    let programs = [("netperfmeter", "-h"), ("ip", "-V"), ("gcc", "--version"), ("timeout", "--version")];
    let lacking = programs.iter().find(|(program, version)| {
        let tried = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
        tried.is_err()
    });
    lacking.map(|(program, _)| format!("the program {program}"))
}

/// Runs the test of this name in a new namespace, with a folder for its files.
fn in_a_namespace(test: &str, body: fn(&Path)) {
    if std::env::var_os(INSIDE).is_some() {
        run(Command::new("ip").args(["link", "set", "lo", "up"]));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("npm-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        body(&folder);
        return std::fs::remove_dir_all(&folder).expect("it was there");
    }
    if let Some(missing) = missing() {
        return namespace::skip(test, &missing);
    }
    let mut again = namespace::in_new_namespace().expect("it was allowed before");
    again.arg(std::env::current_exe().expect("the test has a name"));
    let status = again.args(["--exact", test, "--nocapture"]).env(INSIDE, "1").status();
    assert!(status.expect("unshare runs").success(), "the test failed in its namespace");
}

/// Runs a program that must succeed.
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, error] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{command:?} failed: {out}{error}");
}

/// The value of a scalar of an object in a file of scalars.
fn scalar(file: &Path, object: &str, name: &str) -> f64 {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let begin = format!("scalar \"netPerfMeter.{object}\" \"{name}\"");
    let line = text.lines().find_map(|line| line.strip_prefix(&begin));
    line.unwrap_or_else(|| panic!("{begin} in {text}")).trim().parse().expect("a number")
}

/// The number of rows of a vector file without its first line. Each row must
/// have one cell more than that line.
fn rows(file: &Path) -> usize {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let cells = |line: &str| line.split_whitespace().count();
    let mut lines = text.lines();
    let head = cells(lines.next().expect("a head"));
    // The description of a flow, such as `Flow 1`, contains a blank.
    lines.inspect(|line| assert!(cells(&line.replace("Flow ", "Flow")) == head + 1, "{line}")).count()
}

/// Runs NetPerfMeter's active side against our server. Returns its success and its output.
fn active(port: u16, folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("timeout");
    command.args(["60", "netperfmeter", &format!("127.0.0.1:{port}"), "-control-over-tcp"]);
    let output = command.args(arguments).current_dir(folder).output().expect("it runs");
    (
        output.status.success(),
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
    )
}

#[test]
fn the_active_side_of_netperfmeter_measures_against_our_server() {
    in_a_namespace("the_active_side_of_netperfmeter_measures_against_our_server", |folder| {
        let server = Running::start();
        let arguments = [
            "-scalar=s.sca",
            "-vector=v.vec",
            "-runtime=2",
            "-tcp",
            "const20:const1000:const10:exp500:onoff=0,+1,+0.5",
            "-udp",
            "const20:exp400:const10:const300:maxmsgsize=200",
        ];
        let (success, printed) = active(server.ports[0], folder, &arguments);
        assert!(success, "{printed}");
        assert_eq!(server.report().total.flows.len(), 2);
        let [ours, theirs] = ["s-passive.sca", "s-active.sca"].map(|name| folder.join(name));
        for flow in 0..2 {
            let (here, there) = (format!("passive.flow[{flow}]"), format!("active.flow[{flow}]"));
            for (sent, received) in [
                (scalar(&theirs, &there, "Transmitted Bytes"), scalar(&ours, &here, "Received Bytes")),
                (scalar(&ours, &here, "Transmitted Bytes"), scalar(&theirs, &there, "Received Bytes")),
            ] {
                assert!(received > 0.0 && received <= sent, "flow {flow}: {received} of {sent}");
            }
            let messages = scalar(&ours, &here, "Received Packets");
            let found = rows(&folder.join(format!("v-passive-{flow:08x}-0000.vec")));
            assert!(found as f64 >= messages, "{found} rows for {messages} messages");
        }
        assert!(rows(&folder.join("v-passive.vec")) >= 2 * 9, "at the start and at the end");
    });
}

#[test]
fn the_active_side_of_netperfmeter_measures_without_files_too_and_learns_that_there_is_no_compression() {
    let name =
        "the_active_side_of_netperfmeter_measures_without_files_too_and_learns_that_there_is_no_compression";
    in_a_namespace(name, |folder| {
        let server = Running::start();
        let (success, printed) =
            active(server.ports[0], folder, &["-runtime=1", "-tcp", "const20:const1000"]);
        assert!(success, "{printed}");
        let arguments = ["-scalar=s.sca.bz2", "-runtime=1", "-tcp", "const20:const1000"];
        assert!(!active(server.ports[0], folder, &arguments).0);
        let why = server.refusal();
        assert!(why.contains(".bz2"), "{why}");
    });
}

/// NetPerfMeter's passive side. Dropping it ends the program.
struct Passive(Child);

impl Passive {
    fn start(folder: &Path, port: u16) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/netperfmeter/shim.c");
        let library: PathBuf = folder.join("shim.so");
        run(Command::new("gcc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl"));
        let mut command = Command::new("netperfmeter");
        command.arg(port.to_string()).env("LD_PRELOAD", &library).current_dir(folder);
        Passive(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Passive {
    fn drop(&mut self) {
        self.0.kill().expect("it has not ended");
        self.0.wait().expect("it ends");
    }
}

#[test]
fn our_client_measures_against_the_passive_side_of_netperfmeter() {
    in_a_namespace("our_client_measures_against_the_passive_side_of_netperfmeter", |folder| {
        let _passive = Passive::start(folder, 9000);
        for files in [true, false] {
            let flows = [
                "tcp:const50:const1000:const50:const500",
                "udp:const50:const400:const50:exp300:onoff=+0.1,+5",
            ];
            let mut options = client(HERE, [9000, 9899], &flows);
            options.duration = Duration::from_secs(2);
            options.interval = Duration::from_secs(1);
            options.scalars = files.then(|| folder.join("c.sca"));
            options.vectors = files.then(|| folder.join("c.vec"));
            let report = connect(&options).run(&AtomicBool::new(false), |_| {}).expect("a measurement");
            for flow in &report.total.flows {
                let peer = flow.peer.expect("it counted");
                assert!(peer.received.bytes > 0 && peer.received.bytes <= flow.sent.amount.bytes, "{flow:?}");
                assert!(flow.received.amount.bytes > 0, "{flow:?}");
            }
        }
        assert!(scalar(&folder.join("c-passive.sca"), "passive.flow[1]", "Received Packets") > 0.0);
        for flow in 0..2 {
            for side in ["active", "passive"] {
                assert!(rows(&folder.join(format!("c-{side}-{flow:08x}-0000.vec"))) > 0, "{side} {flow}");
            }
        }
        assert!(rows(&folder.join("c-passive.vec")) >= 9);
    });
}

/// Connects once the passive side listens. Tries for at most 20 s.
fn connect(options: &ClientOptions) -> Client {
    let mut tries = 0..200;
    loop {
        match Client::connect(options.clone()) {
            Ok(client) => return client,
            Err(MeasureError::Connect { .. }) if tries.next().is_some() => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
