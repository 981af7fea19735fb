//! Goodput over two emulated links at the same time.

use crate::link::{self, Ends, Link};
use crate::rivals::random_bytes;
use anabranch_io::{Config, SendError};
use anabranch_io::blocking::{Connection, Endpoint};
use anabranch_units::ByteCount;
use bytes::Bytes;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

const CLIENT: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(127, 1, 0, 1)), IpAddr::V4(Ipv4Addr::new(127, 2, 0, 1))];
const SERVER: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(127, 1, 0, 2)), IpAddr::V4(Ipv4Addr::new(127, 2, 0, 2))];

/// Two links and the buffers of both ends.
struct Case {
    name: &'static str,
    links: [Link; 2],
    buffers: Option<u64>,
    seconds: u64,
}

fn cases() -> Vec<Case> {
    let mut dead = Link::new(50.0, 20);
    dead.outage = Some((Duration::from_secs(4), Duration::from_secs(9)));
    let case = |name, links, buffers, seconds| Case { name, links, buffers, seconds };
    vec![
        case("50 + 50 Mbit/s, 20 ms", [Link::new(50.0, 20), Link::new(50.0, 20)], None, 10),
        case("50 + 10 Mbit/s, 20 ms", [Link::new(50.0, 20), Link::new(10.0, 20)], None, 10),
        case("50 Mbit/s, 20 ms + 10 Mbit/s, 100 ms", [Link::new(50.0, 20), Link::new(10.0, 100)], None, 10),
        case("the same, buffers of 256 KB", [Link::new(50.0, 20), Link::new(10.0, 100)], Some(256_000), 10),
        case("50 + 50 Mbit/s, 20 ms, path 2 dead from 4 s to 9 s", [Link::new(50.0, 20), dead], None, 15),
    ]
}

/// Runs all cases, and prints a table: goodput in Mbit/s and the longest time without a message.
pub fn measure(rounds: usize) -> Result<(), Box<dyn Error>> {
    println!("| links | goodput, Mbit/s, of {rounds} runs | longest silence |");
    println!("|---|---|---|");
    for case in cases() {
        let mut rates = Vec::new();
        let mut silence = Duration::ZERO;
        for _ in 0..rounds {
            let (rate, longest) = run(&case)?;
            rates.push(format!("{rate:.1}"));
            silence = silence.max(longest);
        }
        println!("| {} | {} | {} ms |", case.name, rates.join(", "), silence.as_millis());
    }
    Ok(())
}

fn run(case: &Case) -> Result<(f64, Duration), Box<dyn Error>> {
    let mut config = Config::recommended();
    if let Some(buffers) = case.buffers {
        config.send_buffer = ByteCount::new(buffers).into();
        config.receive_buffer = ByteCount::new(buffers).into();
    }
    let server = Endpoint::builder().locals(SERVER).udp_port(0).config(config.clone()).bind()?;
    let listener = server.listen(1);
    let entrance = link::free_port(&SERVER)?;
    let client = Endpoint::builder()
        .locals(CLIENT)
        .udp_port(0)
        .remote_udp_port(entrance)
        .config(config)
        .bind()?;
    let begin = Instant::now();
    for (n, &link) in case.links.iter().enumerate() {
        let ends = Ends {
            client: SocketAddr::new(CLIENT[n], client.udp_port()),
            server: SocketAddr::new(SERVER[n], server.udp_port()),
            entrance,
        };
        link::start(link, ends, begin)?;
    }
    let connection = client.connect((SERVER, server.port()))?;
    let accepted = listener.accept()?;
    let end = begin + Duration::from_secs(case.seconds);
    let reading = thread::spawn(move || read_until(&accepted, end));
    // Each message fits one packet: a message that waits for its last fragment would distort the times.
    let message = Bytes::from(random_bytes(1400));
    while Instant::now() < end {
        let message = anabranch_io::Message::from(message.clone()).unordered(true);
        match connection.send_timeout(message, Duration::from_secs(1)) {
            Err(SendError::TimedOut) => eprintln!("no room for a second"),
            sent => sent?,
        }
    }
    let result = reading.join().map_err(|_| "the reader failed")?;
    for path in connection.paths()? {
        eprintln!("{} to {}: {:?} {:?}", path.local, path.remote, path.srtt, path.stats);
    }
    connection.abort("done");
    server.close();
    client.close();
    Ok(result)
}

/// Goodput in Mbit/s until `end`, and the longest time without a message.
fn read_until(connection: &Connection, end: Instant) -> (f64, Duration) {
    let begin = Instant::now();
    let (mut bytes, mut last, mut longest) = (0, begin, Duration::ZERO);
    while let Ok(Some(message)) = connection.recv_timeout(end.saturating_duration_since(Instant::now())) {
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
        bytes += message.data.len();
    }
    (bytes as f64 * 8e-6 / begin.elapsed().as_secs_f64(), longest)
}
