//! An association over two emulated links between a simulated host and a real host that runs usrsctp, like
//! the ExtInterface of paper 001.
#![cfg(target_os = "linux")]

mod common;
#[allow(dead_code, reason = "the tests of crate io use all of it")]
#[path = "../../io/tests/usrsctp/process.rs"]
mod process;
#[allow(dead_code, reason = "the tests of crate io use all of it")]
#[path = "../../io/tests/usrsctp/program.rs"]
mod program;

use common::Emulation;
use common::inside::{self, ROLE, in_namespace, namespace};
use lab::output::RunOutput;
use process::Running;
use program::Report;
use std::path::Path;

const NAME: &str = "a_simulated_host_and_usrsctp_transfer_all_data_over_two_emulated_links";
/// The addresses of both hosts. The order of the hosts in the scenario determines the addresses.
const REAL: [&str; 2] = ["10.1.0.1", "10.2.0.1"];
const SIMULATED: &str = "10.1.0.2";

#[test]
fn a_simulated_host_and_usrsctp_transfer_all_data_over_two_emulated_links() {
    if let Some(program) = std::env::var_os(ROLE) {
        return within(Path::new(&program));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("usrsctp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("cargo made the folder above");
    let prepared =
        inside::missing().map_or_else(|| program::compile("suites/overlay/usrsctp.c", &folder), Err);
    match prepared {
        Ok(program) => inside::run_again(NAME, program),
        Err(missing) => namespace::skip(NAME, &missing),
    }
    std::fs::remove_dir_all(&folder).expect("it was made above");
}

fn within(program: &Path) {
    inside::hide_names();
    usrsctp_sends(program);
    usrsctp_receives(program);
}

/// Two links between usrsctp and the simulated host, and their flow.
fn scenario(client: &str, server: &str) -> String {
    format!(
        "[[node]]\nname = \"real\"\n[[node]]\nname = \"simulated\"\n\
         [[link]]\nname = \"fast\"\nbetween = [\"real\", \"simulated\"]\nnet_id = 1\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
         [[link]]\nname = \"slow\"\nbetween = [\"real\", \"simulated\"]\nnet_id = 2\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[host]]\nname = \"real\"\nreal = {{ namespace = \"emu-u\" }}\n\
         [sctp.cmt]\nprofile = \"recommended\"\ncmt = {{ enabled = true }}\n\
         [[flow]]\nname = \"flow\"\nclient = \"{client}\"\nserver = \"{server}\"\nudp_encapsulation = true\nsctp = \"cmt\"\n\
         local_port = 5001\nremote_port = 5001\nframe_rate = \"0 Hz\"\nframe_size = \"1400 B\"\n\
         connect_time = \"1 s\"\nstart_time = \"0 s\"\nreset_time = \"0 s\"\nstop_time = \"4 s\"\n"
    )
}

/// The simulated host is the server of the association.
fn usrsctp_sends(program: &Path) {
    let emulation = Emulation::start(&scenario("real", "simulated"));
    let report = usrsctp(program, &["send", "1", "2", REAL[0], REAL[1], SIMULATED], "");
    // A flow with a real client has no results. If usrsctp ends gracefully, the simulated host acknowledged
    // all data.
    finish(emulation, &report, 0);
    assert!(report.data.bytes > 1_000_000, "{} in 2 s over 30 Mbit/s", report.json);
}

/// The simulated host is the client, whose flow ends after 4 s.
fn usrsctp_receives(program: &Path) {
    let emulation = Emulation::start(&scenario("simulated", "real"));
    let report = usrsctp(program, &["receive", "1", "0", REAL[0], REAL[1]], "listening\n");
    let results = finish(emulation, &report, 1);
    // All messages that the simulated sender accepted count as undelivered, because no simulated receiver
    // received one.
    let taken = results.scalars.iter().find(|scalar| scalar.quantity == "undelivered_messages");
    let taken = taken.expect("the flow has it").value;
    assert_eq!(taken, report.data.messages as f64, "what the simulated host sent was not received");
    assert!(report.data.bytes > 2_000_000, "{} in 4 s over 30 Mbit/s", report.json);
}

/// Runs usrsctp at the real host until the association has ended. usrsctp prints `first` when it is ready.
fn usrsctp(program: &Path, arguments: &[&str], first: &str) -> Report {
    let mut line = vec![program.as_os_str()];
    line.extend(arguments.iter().map(std::ffi::OsStr::new));
    let mut running = Running::start(&mut in_namespace("emu-u", &line));
    if !first.is_empty() {
        assert_eq!(running.stdout_line(), first);
    }
    Report::read(&running.finish())
}

/// Ends the emulation and checks it; `forward` is the direction of the links that carries the data.
fn finish(emulation: Emulation, report: &Report, forward: usize) -> RunOutput {
    let (outcome, results) = emulation.stop_with_results();
    println!("{}\n{}", report.json, outcome.render());
    assert!(report.graceful, "{}", report.json);
    assert_eq!(report.json["bad_checksums"], 0, "{}", report.json);
    let carried = [0, 2].map(|link| outcome.links[link + forward].delivered_bytes);
    assert!(carried.iter().all(|&bytes| bytes > 100_000), "both links carry data: {}", outcome.render());
    assert!(
        carried.iter().sum::<u64>() > report.data.bytes,
        "no byte takes another way: {}",
        outcome.render()
    );
    results
}
