//! Measures messages of 1 KiB between two C programs: over the preloaded library, and for comparison over a
//! bare pair of `AF_UNIX` and over UDP. Prints messages a second and CPU microseconds a message.
//!
//! `cargo bench -p anabranch-sock --bench messages`
#![cfg(target_os = "linux")]

use anabranch_sock::{Server, ServerOptions};
use sctp::Config;
use std::error::Error;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROUNDS: usize = 7;
/// Messages of a run.
const COUNT: &str = "60000";
/// Environment variable with the path of the socket that this process serves.
const SERVES: &str = "ANABRANCH_BENCH_SERVES";

/// What is measured: the transport, and the bytes of the receiver's buffer.
const CASES: [(&str, &str); 4] = [("unix", "1024"), ("udp", "1024"), ("sctp", "1024"), ("sctp", "65536")];

/// Messages a second, and CPU microseconds a message: of sender, receiver, and the process with the stack.
type Figures = [f64; 4];

fn serve(path: PathBuf) -> Result<(), Box<dyn Error>> {
    let udp_port = UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port();
    let locals = vec![IpAddr::from([127, 0, 0, 1])];
    let host = io::HostOptions { locals, udp_port, remote_udp_port: udp_port, ..Default::default() };
    let config = Config { pmtud: true, ..Config::recommended() };
    Ok(Server::bind(ServerOptions { path, host, config })?.run()?)
}

/// CPU seconds that a process has used.
fn cpu(process: u32) -> Result<f64, Box<dyn Error>> {
    const NANOSECONDS: f64 = 1e9;
    let used = std::fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    Ok(used.split(' ').next().unwrap_or_default().parse::<f64>()? / NANOSECONDS)
}

/// Compiles the C program, and builds the library that is loaded into it.
fn programs() -> Result<(PathBuf, PathBuf), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages");
    let source = here.join("benches/messages.c");
    let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-o"];
    let compiled = Command::new("cc").args(options).args([&program, &source]).status()?;
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "-p", "anabranch-preload"])
        .current_dir(here)
        .status()?;
    if !compiled.success() || !built.success() {
        return Err("the programs cannot be built".into());
    }
    // The library is in the folder above `deps`, where this program is.
    let folder = std::env::current_exe()?.parent().and_then(Path::parent).map(Path::to_owned);
    Ok((program, folder.unwrap_or_default().join("libanabranch_preload.so")))
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::var_os(SERVES) {
        return serve(path.into());
    }
    let (program, library) = programs()?;
    let path = std::env::temp_dir().join(format!("anabranch-messages-{}", std::process::id()));
    let mut host = Command::new(std::env::current_exe()?).env(SERVES, &path).stdin(Stdio::null()).spawn()?;
    while !path.exists() && host.try_wait()?.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut figures: [Vec<Figures>; CASES.len()] = Default::default();
    for round in 0..ROUNDS {
        for ((transport, buffer), figures) in CASES.iter().zip(&mut figures) {
            let before = cpu(host.id())?;
            let port = (5001 + round).to_string();
            let run = Command::new(&program)
                .args([transport, COUNT, buffer, &port])
                .env("LD_PRELOAD", &library)
                .env("ANABRANCH_SOCKET", &path)
                .output()?;
            let told = String::from_utf8(run.stdout)?;
            let numbers = told.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
            let &[rate, sender, receiver] = &numbers[..] else {
                return Err(format!("{transport}: {}", String::from_utf8_lossy(&run.stderr)).into());
            };
            let host = (cpu(host.id())? - before) * 1e6 / COUNT.parse::<f64>()?;
            figures.push([rate, sender, receiver, if *transport == "sctp" { host } else { 0.0 }]);
        }
    }
    host.kill()?;
    host.wait()?;
    println!("transport, buffer: median (least, greatest) of {ROUNDS} rounds");
    println!("messages/s; CPU us a message: sender, receiver, host process");
    for ((transport, buffer), figures) in CASES.iter().zip(figures) {
        let columns = (0..4).map(|n| {
            let mut all: Vec<f64> = figures.iter().map(|each| each[n]).collect();
            all.sort_by(f64::total_cmp);
            let places = if n == 0 { 0 } else { 2 };
            format!("{:.places$} ({:.places$}, {:.places$})", all[ROUNDS / 2], all[0], all[ROUNDS - 1])
        });
        println!("{transport} {buffer}: {}", columns.collect::<Vec<_>>().join("; "));
    }
    Ok(())
}
