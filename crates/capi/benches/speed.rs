//! Compares the speed of the C library with that of the same loop in Rust: two endpoints in memory, virtual
//! time, checksums, messages of 64 KiB. Prints megabytes per CPU-second of both ends.
//!
//! `cargo bench -p anabranch-capi --bench speed`
//!
//! The loop of C is `benches/speed.c`, compiled with `cc -O2` and the shared library. It copies each message
//! in and out. The loop in Rust runs twice: with these copies, and without them.
#![cfg(target_os = "linux")]

use bytes::Bytes;
use sctp::{
    AssocId, Config, Datagram, Encapsulation, Endpoint, EndpointConfig, Event, Message, Payload, Seed,
    SendError, Transmit,
};
use std::collections::VecDeque;
use std::error::Error;
use std::hint::black_box;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use transport::PacketBuf;
use units::{ByteCount, Instant, Span};

const ONE_WAY: Span = Span::from_millis(5);
const BUFFER: u64 = 4 << 20;
const MESSAGE: usize = 65_536;
const SECONDS: f64 = 1.0;
const ROUNDS: usize = 7;

/// Two endpoints and the packets between them. All packets have the same delay, so that they arrive in order.
struct World {
    now: Instant,
    endpoints: [Endpoint; 2],
    flying: [VecDeque<(Instant, Transmit, PacketBuf)>; 2],
    spare: Vec<PacketBuf>,
    packet: PacketBuf,
}

fn address(side: usize) -> IpAddr {
    [10, 0, 0, 1 + side as u8].into()
}

fn endpoint(side: usize) -> Result<Endpoint, Box<dyn Error>> {
    let config = Config {
        pmtud: true,
        send_buffer: ByteCount::new(BUFFER).into(),
        receive_buffer: ByteCount::new(BUFFER).into(),
        ..Config::recommended()
    };
    let seed = Seed::from([side as u8; 32]);
    Ok(Endpoint::new(EndpointConfig {
        config: config.into(),
        encapsulation: Some(Encapsulation::default()),
        ..EndpointConfig::new(5001 + side as u16, vec![address(side)], seed)
    })?)
}

impl World {
    fn drain(&mut self, side: usize) {
        while let Some(transmit) = self.endpoints[side].poll_transmit(self.now, &mut self.packet) {
            let mut packet = self.spare.pop().unwrap_or_default();
            packet.head.clone_from(&self.packet.head);
            self.flying[1 - side].push_back((self.now + ONE_WAY, transmit, packet));
        }
    }

    fn step(&mut self) {
        let arrivals = self.flying.iter().filter_map(|packets| packets.front().map(|&(at, ..)| at));
        let timeouts = self.endpoints.iter().filter_map(Endpoint::poll_timeout);
        self.now = arrivals.chain(timeouts).min().map_or(self.now, |next| self.now.max(next));
        for side in 0..2 {
            while self.flying[side].front().is_some_and(|&(at, ..)| at <= self.now) {
                let Some((_, way, packet)) = self.flying[side].pop_front() else { break };
                let datagram = Datagram::new(way.src, way.dst, packet.as_octets());
                let datagram = Datagram { udp_port: Encapsulation::PORT, ecn: way.ecn, ..datagram };
                self.endpoints[side].handle(self.now, datagram);
                self.spare.push(packet);
                self.drain(side);
            }
            if self.endpoints[side].poll_timeout().is_some_and(|at| at <= self.now) {
                self.endpoints[side].handle_timeout(self.now);
                self.drain(side);
            }
        }
    }

    /// Sends and reads messages. Returns the number of received bytes.
    fn exchange(&mut self, id: AssocId, given: &Bytes, taken: &mut [u8], copies: bool) -> u64 {
        while let Some((_, event)) = self.endpoints[0].poll_event() {
            if !matches!(event, Event::Connected { .. } | Event::Writable) {
                continue;
            }
            loop {
                let bytes = if copies { Bytes::copy_from_slice(given) } else { given.clone() };
                match self.endpoints[0].send(self.now, id, Message::new(Payload::Bytes(bytes))) {
                    Ok(_) => {}
                    Err(SendError::WouldBlock) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            self.drain(0);
        }
        let mut received = 0;
        while let Some((theirs, event)) = self.endpoints[1].poll_event() {
            if event == Event::Readable {
                while let Some(message) = self.endpoints[1].receive(theirs, MESSAGE) {
                    let bytes = message.payload.as_octets();
                    if copies {
                        taken[..bytes.len()].copy_from_slice(bytes.head);
                    }
                    received += bytes.len() as u64;
                }
                self.drain(1);
            }
        }
        received
    }
}

/// CPU time of this process in seconds.
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Megabytes per CPU-second of the loop in Rust.
fn in_rust(copies: bool) -> Result<f64, Box<dyn Error>> {
    let mut world = World {
        now: Instant::ZERO,
        endpoints: [endpoint(0)?, endpoint(1)?],
        flying: Default::default(),
        spare: Vec::new(),
        packet: PacketBuf::default(),
    };
    world.endpoints[1].listen(true);
    let id = world.endpoints[0].connect(world.now, 5002, &[address(1)])?;
    world.drain(0);
    let given = Bytes::from((0..MESSAGE).map(|n| (n * 7) as u8).collect::<Vec<u8>>());
    let (mut taken, mut received, begin) = (vec![0; MESSAGE], 0, cpu());
    while cpu() - begin < SECONDS {
        for _ in 0..1000 {
            world.step();
            received += world.exchange(id, &given, &mut taken, copies);
        }
    }
    Ok(received as f64 / (cpu() - begin) / 1e6)
}

/// Compiles the loop in C.
fn program_of_c() -> Result<Command, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = std::env::current_exe()?.parent().map(PathBuf::from).unwrap_or_default();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed");
    let installed = Command::new(here.join("install.sh")).arg(built).arg("/usr").arg(&folder).status()?;
    let (program, lib) = (folder.join("speed"), folder.join("usr/lib"));
    let compiled = Command::new("cc")
        .args(["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here.join("benches/speed.c"))
        .arg("-I")
        .arg(folder.join("usr/include"))
        .arg("-L")
        .arg(&lib)
        .arg("-lanabranch")
        .status();
    if !installed.success() || !compiled?.success() {
        return Err("the loop in C does not compile".into());
    }
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", lib).arg(SECONDS.to_string());
    Ok(command)
}

fn in_c(program: &mut Command) -> Result<f64, Box<dyn Error>> {
    let done = program.output()?;
    Ok(String::from_utf8(done.stdout)?.trim().parse()?)
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    // Allocates and frees a large block. From then on glibc keeps the memory of freed messages, as in the
    // loop in C.
    drop(black_box(Vec::<u8>::with_capacity(BUFFER as usize)));
    let mut program = program_of_c()?;
    let (mut c, mut copying, mut plain, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let round = (in_c(&mut program)?, in_rust(true)?, in_rust(false)?);
        ratios.push(round.0 / round.1);
        c.push(round.0);
        copying.push(round.1);
        plain.push(round.2);
    }
    println!("MB per CPU-second of both ends, median of {ROUNDS} rounds, messages of 64 KiB:");
    println!("{:6.0}  the C library", middle(c));
    println!("{:6.0}  the same loop in Rust, which copies each message in and out, too", middle(copying));
    println!("{:6.0}  the loop in Rust without these copies", middle(plain));
    let rounds: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    println!(
        "{:6.3}  C library / same loop in Rust (bar 0.95), by round {}",
        middle(ratios),
        rounds.join(" ")
    );
    Ok(())
}
