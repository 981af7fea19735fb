//! Measures what many peers cost a server. Run it by `make bench-peers`, as root.
//!
//! Two servers, one after the other: an endpoint with encryption that keeps all connections, and a tunnel.
//! Each is a process of its own, whose memory, threads and CPU time are read from /proc.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

use anabranch_tunnel::{Stop, TunnelConfig, run};
use io::Peer;
use io::blocking::{Connection, Endpoint};
use noise::{Noise, Peers, PrivateKey, PublicKey, read_peers};
use std::error::Error;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, iter};

const NUMBER: usize = 1000;
/// Clients that connect at the same time.
const AT_ONCE: usize = 100;
const PORT: u16 = 9901;
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));
/// Time for which the idle server is watched.
const WATCHED: Duration = Duration::from_secs(30);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["endpoint", folder] => serve_endpoint(Path::new(folder)),
        ["tunnel", folder] => {
            let config = TunnelConfig::read(&Path::new(folder).join("server.toml"))?;
            Ok(run(&config, &Stop::default(), |_| ())?)
        }
        _ => {
            println!("{NUMBER} peers over loopback, {} cores", thread::available_parallelism()?);
            ["endpoint", "tunnel"].into_iter().try_for_each(measure)
        }
    }
}

/// Accepts all peers and keeps their connections.
fn serve_endpoint(folder: &Path) -> Outcome<()> {
    let peers = Peers::from(read_peers(&folder.join("peers"))?);
    let noise = Noise::new(PrivateKey::read(&folder.join("key"))?, peers)?;
    let endpoint = Endpoint::builder().udp_port(PORT).port(PORT).local(SERVER).guard(noise).bind()?;
    let listener = endpoint.listen(NUMBER);
    let _all = iter::from_fn(|| listener.accept().ok()).collect::<Vec<_>>();
    Ok(())
}

/// Writes the files of a server. Returns its public key and the keys of its peers.
fn prepare(folder: &Path) -> Outcome<(PublicKey, Vec<PrivateKey>)> {
    fs::create_dir_all(folder)?;
    let own = PrivateKey::read_or_create(&folder.join("key"))?;
    let keys = iter::repeat_with(PrivateKey::generate).take(NUMBER).collect::<Result<Vec<_>, _>>()?;
    let (mut list, mut tables) = (String::new(), String::new());
    for (n, key) in keys.iter().enumerate() {
        let public = key.public();
        writeln!(list, "{public}")?;
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(10, 99, 1, 0).to_bits() + n as u32);
        writeln!(tables, "{{ key = '{public}', name = 'peer {n}', addresses = ['{address}/32'] }},")?;
    }
    fs::write(folder.join("peers"), list)?;
    let at = folder.display();
    let lines = ["addresses = ['10.99.0.1/16']".to_owned(), format!("uplinks = ['{SERVER}']")];
    let files = [format!("key = '{at}/key'"), format!("status = '{at}/status'")];
    let text = format!("{}\n{}\npeers = [\n{tables}]\n", lines.join("\n"), files.join("\n"));
    fs::write(folder.join("server.toml"), text)?;
    Ok((own.public(), keys))
}

/// A process that is killed when this value is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Resources that a process has used.
struct Used {
    memory_kib: f64,
    threads: f64,
    /// CPU time in seconds.
    cpu: f64,
}

impl Server {
    fn used(&self) -> Outcome<Used> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let value = |name: &str| -> Outcome<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
            Ok(line.split_whitespace().next().ok_or("no value")?.parse()?)
        };
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let (_, after) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = after.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        let cpu = ticks.sum::<Result<f64, _>>()? / 100.0;
        Ok(Used { memory_kib: value("VmRSS:")?, threads: value("Threads:")?, cpu })
    }
}

fn measure(role: &str) -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("anabranch-peers-{}", std::process::id()));
    let (server_key, keys) = prepare(&folder)?;
    let server = Server(Command::new(std::env::current_exe()?).arg(role).arg(&folder).spawn()?);
    thread::sleep(Duration::from_secs(2));
    let (before, begin) = (server.used()?, Instant::now());
    let connections = connect_all(server_key, keys)?;
    let (took, after) = (begin.elapsed().as_secs_f64(), server.used()?);
    thread::sleep(Duration::from_secs(10));
    let settled = server.used()?;
    thread::sleep(WATCHED);
    let later = server.used()?;
    let number = connections.len() as f64;
    println!(
        "{role}: {:.0} KiB and {:.1} threads for each peer; {number} connected in {took:.1} s, {:.2} ms of CPU time each; idle \
         {:.1} % of a core",
        (later.memory_kib - before.memory_kib) / number,
        (later.threads - before.threads) / number,
        (after.cpu - before.cpu) * 1000.0 / number,
        (later.cpu - settled.cpu) * 100.0 / WATCHED.as_secs_f64(),
    );
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Connects all peers, each with an endpoint and an address of its own.
fn connect_all(server: PublicKey, keys: Vec<PrivateKey>) -> Outcome<Vec<(Endpoint, Connection)>> {
    let (todo, done) = (Mutex::new(keys.into_iter().enumerate()), Mutex::new(Vec::new()));
    let connect = || -> Outcome<()> {
        let next = || todo.lock().map(|mut todo| todo.next()).unwrap_or_default();
        while let Some((n, key)) = next() {
            let address = IpAddr::from([127, 1, (n / 200) as u8, (n % 200 + 1) as u8]);
            let noise = Noise::new(key, Peers::known([server]))?;
            let builder = Endpoint::builder().udp_port(0).remote_udp_port(PORT).local(address);
            let endpoint = builder.guard(noise).bind()?;
            // Tries again after a failure, because a busy server may answer late.
            let attempts = iter::repeat_with(|| endpoint.connect(Peer::from((vec![SERVER], PORT))));
            let connection = attempts.flatten().next().ok_or("no attempt")?;
            done.lock().map_err(|_| "another thread failed")?.push((endpoint, connection));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(connect)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed")?)
    })?;
    Ok(done.into_inner().map_err(|_| "a thread failed")?)
}
