//! Measures the emulator at given packet rates: the packets per second that pass, the CPU time of the
//! emulation thread, and how late packets leave.
//!
//! `cargo bench -p anabranch-emulate` sends 5000 to 100,000 datagrams per second through one link. Hosts
//! attach by in-process queues (doors) and, on Linux, also by UDP sockets. To run a single case instead:
//! `-- --door in-process --rate 50000 --seconds 10 --size 1400 --spin`.
#![allow(clippy::disallowed_types, reason = "emulation works in real time")]

use anabranch_emulate::{Control, Door, DoorPacket, InProcess, Outcome};
use lab::scenario::Scenario;
use net::{Ecn, Protocol};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use transport::PacketBuf;
use units::Span;

/// Interval at which the generator wakes and sends the datagrams that are due.
const TICK: Duration = Duration::from_micros(200);
/// Time to wait after the last datagram, so that all packets leave the network.
const REST: Duration = Duration::from_millis(200);

struct Options {
    doors: Vec<String>,
    rates: Vec<u64>,
    time: Duration,
    size: usize,
    spin: bool,
}

/// Numbers of datagrams at both ends of the link, and the time.
struct Counts {
    sent: u64,
    received: u64,
    took: Duration,
    /// CPU time of the emulation thread.
    cpu: Option<Duration>,
}

fn main() {
    let options = options();
    println!(
        "{} cores, load average {}; datagrams of {} bytes over one link with a delay of 5 ms, {} s each",
        thread::available_parallelism().map_or(0, usize::from),
        std::fs::read_to_string("/proc/loadavg")
            .map_or_else(|_| "unknown".to_owned(), |text| text[..text.len().min(14)].to_owned()),
        options.size,
        options.time.as_secs_f64(),
    );
    println!(
        "{:<11}{:>10}{:>10}{:>8}{:>12}{:>10}{:>10}{:>10}{:>6}",
        "door", "sent/s", "out/s", "lost", "CPU share", "p50, ms", "p99, ms", "max, ms", "late"
    );
    for door in &options.doors {
        for &rate in &options.rates {
            let (counts, outcome) = match door.as_str() {
                "in-process" => in_process(rate, &options),
                #[cfg(target_os = "linux")]
                "udp" => udp::run(rate, &options),
                other => panic!("expected the door in-process or, on Linux, udp; found {other}"),
            };
            show(door, &counts, &outcome);
        }
    }
}

fn options() -> Options {
    let mut options = Options {
        doors: vec!["in-process".to_owned()],
        rates: vec![5_000, 20_000, 50_000, 100_000],
        time: Duration::from_secs(5),
        size: 1400,
        spin: false,
    };
    if cfg!(target_os = "linux") {
        options.doors.push("udp".to_owned());
    }
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} has no value"));
        let number =
            |text: String| text.parse().unwrap_or_else(|_| panic!("expected a number, found {text}"));
        match argument.as_str() {
            "--door" => options.doors = vec![value()],
            "--rate" => options.rates = vec![number(value())],
            "--seconds" => options.time = Duration::from_secs(number(value())),
            "--size" => options.size = number(value()) as usize,
            "--spin" => options.spin = true,
            // Cargo adds this argument.
            "--bench" => {}
            other => panic!("unknown option {other}"),
        }
    }
    options
}

fn show(door: &str, counts: &Counts, outcome: &Outcome) {
    let seconds = counts.took.as_secs_f64();
    let milli = |span: Span| format!("{:.3}", span.as_secs_f64() * 1e3);
    let share =
        counts.cpu.map_or("-".to_owned(), |cpu| format!("{:.0} %", 100.0 * cpu.as_secs_f64() / seconds));
    println!(
        "{door:<11}{:>10.0}{:>10.0}{:>8}{share:>12}{:>10}{:>10}{:>10}{:>6}",
        counts.sent as f64 / seconds,
        counts.received as f64 / seconds,
        counts.sent - counts.received,
        milli(outcome.lateness.percentile(0.5)),
        milli(outcome.lateness.percentile(0.99)),
        milli(outcome.lateness.most()),
        if outcome.late { "yes" } else { "no" },
    );
}

/// A link that drops nothing, from `a` to `b`.
fn scenario(a: &str, b: &str) -> Scenario {
    let text = format!(
        "node = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         host = [{{ name = \"a\", real = {{ {a} }} }}, {{ name = \"b\", real = {{ {b} }} }}]\n\
         [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\n\
         queue = {{ kind = \"drop-tail\", packets = 100000 }}\n"
    );
    lab::parse(&text, "bench.toml").expect("is right").variants()[0].scenario.clone()
}

fn control(options: &Options) -> Control {
    Control { spin: options.spin, ..Control::default() }
}

fn in_process(rate: u64, options: &Options) -> (Counts, Outcome) {
    let scenario = scenario("in_process = true", "in_process = true");
    let (emulation, doors) = InProcess::start(&scenario, &control(options)).expect("begins");
    let [from, to] = <[Door; 2]>::try_from(doors).expect("two hosts");
    let (src, dst) = (from.addresses()[0], to.addresses()[0]);
    let sink = thread::spawn(move || {
        let mut received = 0;
        while let Ok(packet) = to.receive(Span::from_millis(100)) {
            received += u64::from(packet.is_some());
        }
        received
    });
    let (sent, took, cpu) = generate(rate, options.time, || {
        let payload = PacketBuf { head: vec![0xaa; options.size], zeros: 0 };
        let packet = DoorPacket { src, dst, protocol: Protocol::Udp, ecn: Ecn::NotCapable, payload };
        from.send(packet).expect("goes on")
    });
    let (outcome, _) = emulation.stop().expect("ends well");
    (Counts { sent, received: sink.join().expect("no panic"), took, cpu }, outcome)
}

/// Calls `send` `rate` times per second for `time`. Returns the number of datagrams that `send` accepted, the
/// duration, and the CPU time of the emulation.
fn generate(rate: u64, time: Duration, mut send: impl FnMut() -> bool) -> (u64, Duration, Option<Duration>) {
    let before = cpu();
    let began = Instant::now();
    let (mut tried, mut sent) = (0, 0);
    loop {
        let now = began.elapsed();
        let due = (now.min(time).as_secs_f64() * rate as f64) as u64;
        while tried < due {
            tried += 1;
            sent += u64::from(send());
        }
        if now >= time {
            break;
        }
        thread::sleep(TICK);
    }
    let (took, after) = (began.elapsed(), cpu());
    thread::sleep(REST);
    (sent, took, after.zip(before).map(|(after, before)| after.saturating_sub(before)))
}

/// CPU time of the threads with the name `emulate`; `None` if the system does not report it.
fn cpu() -> Option<Duration> {
    let named = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "emulate")
    };
    let tasks = std::fs::read_dir("/proc/self/task").ok()?.flatten().filter(named);
    let nanos = tasks.map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    nanos.sum::<Option<u64>>().map(Duration::from_nanos)
}

#[cfg(target_os = "linux")]
mod udp {
    use super::*;
    use std::net::{SocketAddr, UdpSocket};
    use std::sync::mpsc::channel;

    pub(super) fn run(rate: u64, options: &Options) -> (Counts, Outcome) {
        let [from, to] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("is free"));
        let at = |socket: &UdpSocket| format!("udp = \"{}\"", socket.local_addr().expect("is bound"));
        let scenario = scenario(&at(&from), &at(&to));
        let control = control(options);
        let (ready, is_ready) = channel();
        let given = control.clone();
        let work = move || {
            let told = |ways: &[String]| ready.send(ways.to_vec()).expect("is awaited");
            anabranch_emulate::run(&scenario, &given, told).expect("runs").0
        };
        let emulation = thread::Builder::new().name("emulate".to_owned()).spawn(work).expect("starts");
        let ways = is_ready.recv().expect("begins");
        let way = ways.iter().find_map(|way| way.strip_prefix("b appears at ")).expect("has a socket");
        let address: SocketAddr = way.split(',').next().expect("some").parse().expect("an address");
        let cancel = control.run.cancel.clone();
        to.set_read_timeout(Some(Duration::from_millis(100))).expect("is not zero");
        let sink = thread::spawn(move || {
            let (mut received, mut bytes) = (0, [0; 65536]);
            while !cancel.load(Ordering::Relaxed) {
                received += u64::from(to.recv(&mut bytes).is_ok());
            }
            received
        });
        let bytes = vec![0xaa; options.size];
        let (sent, took, cpu) = generate(rate, options.time, || from.send_to(&bytes, address).is_ok());
        control.run.cancel.store(true, Ordering::Relaxed);
        let outcome = emulation.join().expect("no panic");
        (Counts { sent, received: sink.join().expect("no panic"), took, cpu }, outcome)
    }
}
