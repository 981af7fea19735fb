//! TUN mode: ping, and TCP of the kernel, through emulated links. The emulation makes the network namespaces.
//!
//! All tests run in separate network and mount namespaces, so that they leave nothing behind.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

mod common;

use common::Emulation;
use common::inside::{self, ROLE, in_namespace, namespace};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const NAME: &str = "the_kernels_of_two_namespaces_exchange_packets_over_emulated_links";
const PRINTED: &str = "the_printed_scenario_carries_the_printed_ping";
const SERVER: ([u8; 4], u16) = ([10, 1, 0, 2], 7001);
const BYTES: usize = 2_000_000;

#[test]
fn the_kernels_of_two_namespaces_exchange_packets_over_emulated_links() {
    match std::env::var(ROLE).as_deref() {
        Ok("serve") => return serve(),
        Ok("load") => return load(),
        Ok(_) => return within(),
        Err(_) => {}
    }
    match inside::missing() {
        Some(missing) => namespace::skip(NAME, &missing),
        None => inside::run_again(NAME, "inside"),
    }
}

#[test]
fn the_printed_scenario_carries_the_printed_ping() {
    if std::env::var(ROLE).is_ok() {
        return printed();
    }
    match inside::missing() {
        Some(missing) => namespace::skip(PRINTED, &missing),
        None if Command::new("ping").arg("-V").output().is_err() => {
            namespace::skip(PRINTED, "the program ping")
        }
        None => inside::run_again(PRINTED, "inside"),
    }
}

/// Tests the scenario and the command of docs/emulate.md.
fn printed() {
    inside::hide_names();
    let section = include_str!("../../../docs/emulate.md").split("## TUN mode").nth(1).expect("the section");
    let block = |language: &str| {
        let rest = section.split(&format!("```{language}\n")).nth(1).expect("a block");
        rest.split("```").next().expect("the end of the block")
    };
    let emulation = Emulation::start(block("toml"));
    let line = block("sh").lines().find(|line| line.contains("ping")).expect("a line with ping");
    let words: Vec<&str> = line.split('#').next().expect("a command").split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{line}: {text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("3 received, 0% packet loss"), "{text}");
    emulation.stop();
}

fn scenario(queue: &str) -> String {
    format!(
        "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\n\
         [[link]]\nbetween = [\"client\", \"server\"]\nnet_id = 1\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = {queue}\n\
         [[host]]\nname = \"client\"\nreal = {{ namespace = \"emu-c\" }}\n\
         [[host]]\nname = \"server\"\nreal = {{ namespace = \"emu-s\", addresses = \"10.1.0.2/16\" }}\n"
    )
}

fn within() {
    inside::hide_names();
    for queue in ["{ kind = \"codel\" }", "{ kind = \"red\", min = 5, max = 15, capacity = 60 }"] {
        let emulation = Emulation::start(&scenario(queue));
        assert!(emulation.ways[0].contains("ip netns exec emu-c"), "{:?}", emulation.ways);
        ping();
        let took = transfer();
        let outcome = emulation.stop();
        let forward = &outcome.links[0];
        println!("{:.2} Mbit/s\n{}", BYTES as f64 * 8e-6 / took.as_secs_f64(), outcome.render());
        assert!(forward.delivered as usize > BYTES / 1500, "{}", outcome.render());
        for name in ["emu-c", "emu-s"] {
            assert!(!Path::new("/run/netns").join(name).exists(), "{name} is removed");
        }
    }
}

/// Tests that the RTT is at least the delay of both directions of the link.
fn ping() {
    if Command::new("ping").arg("-V").output().is_err() {
        return namespace::skip("ping in it", "the program ping");
    }
    let output =
        in_namespace("emu-c", &["ping", "-n", "-c", "3", "-i", "0.2", "-W", "20", "10.1.0.2"]).output();
    let text = String::from_utf8(output.expect("runs").stdout).expect("text");
    let times: Vec<f64> =
        text.split_whitespace().filter_map(|word| word.strip_prefix("time=")?.parse().ok()).collect();
    assert!(!times.is_empty() && times.iter().all(|&time| time >= 20.0), "{text}");
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The call fails if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Transfers data from client to server by TCP of the kernel, and returns the duration.
fn transfer() -> Duration {
    let test = inside::this_test(NAME);
    let mut server = in_namespace("emu-s", &test);
    let _server = Running(server.env(ROLE, "serve").stdin(Stdio::null()).spawn().expect("starts"));
    let began = Instant::now();
    let client = in_namespace("emu-c", &test).env(ROLE, "load").status().expect("runs");
    assert!(client.success(), "the transfer");
    began.elapsed()
}

fn serve() {
    let (mut stream, _) =
        TcpListener::bind(("0.0.0.0", SERVER.1)).expect("is free").accept().expect("one comes");
    let mut bytes = vec![0; BYTES];
    stream.read_exact(&mut bytes).expect("all arrive");
    assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == at as u8), "unchanged");
    stream.write_all(b"!").expect("is open");
}

fn load() {
    let end = Instant::now() + 2 * common::SOON;
    let mut stream = loop {
        let began = Instant::now();
        match TcpStream::connect_timeout(&SocketAddr::from(SERVER), common::SOON) {
            Ok(stream) => {
                let rtt = began.elapsed();
                assert!(rtt >= Duration::from_millis(20), "a handshake of {rtt:?} over two times 10 ms");
                break stream;
            }
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    let bytes: Vec<u8> = (0..BYTES).map(|at| at as u8).collect();
    stream.write_all(&bytes).expect("is open");
    stream.read_exact(&mut [0]).expect("the server has all");
}
