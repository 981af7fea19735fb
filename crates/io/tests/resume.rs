//! Tests of saved paths (`rfc9959`): the second run of a program starts with what the paths of its first run
//! carried.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::blocking::Endpoint;
use anabranch_io::sctp::Resume;
use anabranch_io::{BufferSize, Config, Peer, RestoreError};
use common::NO_FAULTS;
use serde_json::Value;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use testkit::{Faults, Relay};
use units::ByteCount;

const CLIENT: IpAddr = common::CLIENT[0];
const SERVER: IpAddr = common::SERVER[0];

fn endpoint(address: IpAddr) -> anabranch_io::Builder<Endpoint> {
    let window = BufferSize::Fixed(ByteCount::new(400_000));
    let config = Config { resume: Resume::Full, receive_buffer: window, ..Config::recommended() };
    Endpoint::builder().local(address).udp_port(0).config(config)
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("anabranch-io-resume-{name}-{}", std::process::id()))
}

/// Acts as one run of a program: restores the paths in `saved`, sends 1.5 MB, and returns the paths to save.
fn run(peer: &Peer, saved: Option<&str>, log: &Path) -> String {
    let client = endpoint(CLIENT).qlog(log).bind().expect("binds");
    if let Some(saved) = saved {
        client.restore_paths(saved).expect("it was saved");
    }
    let connection = client.connect(peer.clone()).expect("connects");
    for _ in 0..150 {
        connection.send(vec![7; 10_000]).expect("is taken");
    }
    connection.shutdown().expect("ends gracefully");
    client.saved_paths().expect("is open")
}

/// The largest factor by which cwnd grew at once. Without saved paths it is about 3, at the first SACK.
fn jump(log: &Path) -> f64 {
    let file = std::fs::read_dir(log).expect("a folder").next().expect("a log").expect("a file").path();
    let text = std::fs::read_to_string(file).expect("the log");
    let records = text.lines().map(|line| serde_json::from_str::<Value>(&line[1..]).expect("JSON"));
    let windows: Vec<f64> =
        records.filter_map(|record| record["data"]["congestion_window"].as_f64()).collect();
    std::fs::remove_dir_all(log).expect("the folder can be removed");
    windows.windows(2).map(|pair| pair[1] / pair[0]).fold(0.0, f64::max)
}

#[test]
fn the_second_run_of_a_program_jumps_to_what_its_path_carried() {
    let server = endpoint(SERVER).bind().expect("binds");
    let listener = server.listen(2);
    let reading = thread::spawn(move || {
        for _ in 0..2 {
            let accepted = listener.accept().expect("accepts");
            while accepted.recv().expect("ends gracefully").is_some() {}
        }
    });
    let faults = Faults { least_delay: Duration::from_millis(50), ..NO_FAULTS };
    let relay = Relay::start(&[CLIENT], &[SERVER], server.udp_port(), faults, 1).expect("starts");
    let peer = Peer::from((SERVER, server.port())).udp_port(relay.port().expect("is bound"));
    let logs = [folder("first"), folder("second")];
    let saved = run(&peer, None, &logs[0]);
    assert!(saved.contains(&format!("\n{CLIENT} {SERVER} ")), "{saved}");
    run(&peer, Some(&saved), &logs[1]);
    reading.join().expect("everything arrived");
    let [first, second] = logs.map(|log| jump(&log));
    assert!(
        first < 5.0 && second > 5.0,
        "cwnd grew at once by factors of {first} and {second}, with\n{saved}"
    );
}

#[test]
fn a_text_that_is_damaged_or_comes_after_the_end_is_refused() {
    let client = endpoint(CLIENT).bind().expect("binds");
    let saved = client.saved_paths().expect("is open");
    assert_eq!(client.restore_paths(saved.clone()), Ok(()));
    let damaged = client.restore_paths(saved.clone() + "127.0.0.1 127.0.0.2 many").expect_err("is damaged");
    assert!(damaged.to_string().starts_with("saved paths, line 2: expected local and remote address"));
    client.close();
    assert!(matches!(client.restore_paths(saved), Err(RestoreError::Ended(_))));
}
