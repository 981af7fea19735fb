//! Tests `anabranch measure --latency` over `anabranch emulate`, in network namespaces, with two queues.
//!
//! The limits are wide, because a busy machine adds latency of its own. docs/latency.md has exact numbers.
#![cfg(target_os = "linux")]

#[path = "../../emulate/tests/common/inside.rs"]
mod inside;
mod scratch;

use inside::{ROLE, in_namespace, namespace};
use scratch::Scratch;
use serde_json::Value as Json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const TEST: &str = "each_queue_gives_its_latency_under_load";
const COMMAND: &str = env!("CARGO_BIN_EXE_anabranch");

/// RTT of the link without load, and the largest delay of the drop-tail queue, in seconds.
const BASE: f64 = 0.02;
const QUEUE: f64 = 0.2;
const LOADED: [&str; 3] = ["down", "up", "both"];

#[test]
fn each_queue_gives_its_latency_under_load() {
    if std::env::var(ROLE).is_ok() {
        return within();
    }
    match inside::missing() {
        Some(missing) => namespace::skip(TEST, &missing),
        None => inside::run_again(TEST, "inside"),
    }
}

/// A process that gets SIGTERM when this value is dropped.
struct Running(Child);

impl Running {
    /// Starts a command, and waits until it prints a line with this text to one of its outputs.
    fn start(mut command: Command, text: &str) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let (sender, lines) = std::sync::mpsc::channel();
        let outputs: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("it is piped")),
            Box::new(child.stderr.take().expect("it is piped")),
        ];
        for output in outputs {
            let sender = sender.clone();
            std::thread::spawn(move || {
                // Reads on after the test has stopped listening, so that the process never blocks.
                BufReader::new(output).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
            });
        }
        let running = Running(child);
        loop {
            let line = lines.recv_timeout(std::time::Duration::from_secs(60)).expect("it begins in time");
            if line.contains(text) {
                return running;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The emulator removes its namespaces on SIGTERM. The call fails if the process has ended.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn within() {
    inside::hide_names();
    let drop_tail = latency(&format!("{{ kind = \"drop-tail\", delay = \"{QUEUE} s\" }}"));
    let fair = latency("{ kind = \"fq-codel\" }");
    // A phase may be too short for the load to fill the queue, so the largest of the three values counts.
    let most = path(&drop_tail, "p95_s").into_iter().fold(0.0, f64::max);
    assert!((BASE + 0.7 * QUEUE..BASE + 1.5 * QUEUE).contains(&most), "{most}: {drop_tail:#}");
    // In a fair queue the probes do not wait behind the load.
    let median = path(&fair, "p50_s").into_iter().fold(0.0, f64::max);
    assert!(median < BASE + 0.1 * QUEUE, "{median}: {fair:#}");
    let rpm = |latency: &Json| LOADED.map(|phase| latency["rpm"][phase].as_f64().expect("a number"));
    let [slow, fast] = [&drop_tail, &fair].map(|latency| rpm(latency).into_iter().fold(f64::MAX, f64::min));
    assert!(slow > 0.0 && fast > 1.5 * slow, "RPM {slow} and {fast}");
    let grade = drop_tail["grade"].as_str().expect("a grade");
    assert!(["C", "D"].contains(&grade), "an added latency of about 200 ms: {grade}");
}

/// Returns the value `name` of the first path in each phase with load.
fn path(latency: &Json, name: &str) -> [f64; 3] {
    LOADED.map(|phase| latency[phase]["paths"][0][name].as_f64().expect("answers"))
}

/// Measures latency over a link of 20 Mbit/s with this queue.
fn latency(queue: &str) -> Json {
    let scenario = format!(
        "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\n\
         [[link]]\nbetween = [\"client\", \"server\"]\nnet_id = 1\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = {queue}\n\
         [[host]]\nname = \"client\"\nreal = {{ namespace = \"lat-c\" }}\n\
         [[host]]\nname = \"server\"\nreal = {{ namespace = \"lat-s\", addresses = \"10.1.0.2/16\" }}\n"
    );
    let scratch = Scratch::with("latency", &[("link.toml", &scenario)]);
    let _emulation = Running::start(scratch.command(&["emulate", "link.toml"]), "ready");
    let _server = Running::start(
        in_namespace("lat-s", &[COMMAND, "measure", "-s", "--local", "10.1.0.2"]),
        "listening",
    );
    let client = [COMMAND, "measure", "10.1.0.2", "--latency", "-t", "3", "--probe-rate", "50", "-qJ"];
    let output = in_namespace("lat-c", &client).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {error}"));
    report["latency"].clone()
}
