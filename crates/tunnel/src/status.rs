//! The status for `--status`: the state of the tunnel once per second, sent to clients of a Unix socket.

use crate::config::TunnelConfig;
use crate::counters::CarrierStats;
use crate::peers::TunnelPeer;
use crate::roster::Roster;
use crate::stop::Stop;
use io::blocking::block_on;
use io::{Connection, Endpoint, EndpointStats, PathInfo, PathState};
use noise::Stats;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self as std_io, Read, Write};
use std::net::IpAddr;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant as Clock};

/// Version of the JSON.
const SCHEMA: &str = "anabranch.tunnel/1";
/// Time for which a client waits for the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest time for writing an answer, and pause after a failed accept.
const BREATH: Duration = Duration::from_millis(100);

/// The latest state for each peer.
#[derive(Clone, Debug)]
pub(crate) struct Board(Arc<Mutex<Vec<Json>>>);

impl Board {
    /// Creates the socket and answers its clients.
    pub(crate) fn start(config: &TunnelConfig, roster: &Roster, stop: &Stop) -> std_io::Result<Board> {
        let begin = Snapshot::waiting("connecting", &None).json;
        let board = Board(Arc::new(Mutex::new(vec![begin; config.peers.len()])));
        let roster = roster.clone();
        if let Some(folder) = config.status.parent() {
            fs::create_dir_all(folder)?;
        }
        // A former process may have left its socket. A file of another type is left alone.
        if UnixStream::connect(&config.status).is_err() && is_socket(&config.status) {
            fs::remove_file(&config.status)?;
        }
        let listener = UnixListener::bind(&config.status)?;
        let (latest, config) = (board.0.clone(), config.clone());
        stop.spawn("status", move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else {
                    // Accepting fails if the process has no free file descriptor. After a pause there may be
                    // one.
                    thread::sleep(BREATH);
                    continue;
                };
                let json = answer(
                    &config,
                    &roster.read(),
                    latest.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                );
                // The socket buffers the text at once, even if nobody reads.
                let _ = stream.set_write_timeout(Some(BREATH));
                let _ = stream.write_all(format!("{json:#}\n").as_bytes());
            }
            Ok(())
        })?;
        Ok(board)
    }

    /// Updates the counters of the encryption in the states of peers without an association.
    pub(crate) fn count_datagrams(&self, noise: &Option<Stats>) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for json in states.iter_mut().filter(|json| json["state"] == "waiting") {
            json["encryption"] = json!(noise.as_ref().map(noise_json));
        }
    }

    /// Sets the state of a peer.
    pub(crate) fn set(&self, peer: usize, snapshot: Snapshot) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[peer] = snapshot.json;
    }

    /// Adds copies of `snapshot` until there is a state for each of `peers` peers.
    pub(crate) fn extend(&self, peers: usize, snapshot: &Snapshot) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = peers.saturating_sub(states.len());
        states.extend(std::iter::repeat_n(snapshot.json.clone(), missing));
    }

    /// Sets the state of all peers.
    pub(crate) fn set_all(&self, snapshot: &Snapshot) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(snapshot.json.clone());
    }
}

/// The answer to a client: the state, or a list of states if there are several peers.
fn answer(config: &TunnelConfig, peers: &[TunnelPeer], states: Vec<Json>) -> Json {
    let complete = |(mut json, peer): (Json, &TunnelPeer)| {
        json["interface"] = json!(config.interface);
        json["mtu"] = json!(config.mtu);
        if !peer.name.is_empty() {
            json["peer"] = json!(peer.name);
            json["peer_key"] = json!(peer.key.map(|key| key.to_string()));
        }
        json
    };
    let several = peers.iter().any(|peer| !peer.name.is_empty());
    let present = states.into_iter().zip(peers).filter(|(_, peer)| !peer.is_removed());
    let mut states: Vec<Json> = present.map(complete).collect();
    match several {
        true => json!({ "schema": SCHEMA, "interface": config.interface, "peers": states }),
        false => states.pop().unwrap_or_default(),
    }
}

fn is_socket(file: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::symlink_metadata(file).is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// The latest counters of the sockets, which all peers share. Reading them takes
/// time for each socket of the host.
#[derive(Debug, Default)]
pub(crate) struct SocketCounters(Mutex<Option<(Clock, EndpointStats)>>);

impl SocketCounters {
    /// Age up to which counters are used again for other peers. Two updates for the same peer are further
    /// apart.
    const FRESH: Duration = Duration::from_millis(500);

    fn read(&self, endpoint: &Endpoint) -> (Clock, EndpointStats) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = latest.take().filter(|(at, _)| at.elapsed() < SocketCounters::FRESH);
        latest.insert(old.unwrap_or_else(|| (Clock::now(), endpoint.stats()))).clone()
    }
}

/// Counters of a path at one time, from which the next snapshot computes rates.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    sent: u64,
    received: u64,
}

/// The state at one time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    at: Clock,
    paths: BTreeMap<(IpAddr, IpAddr), u64>,
    sockets: BTreeMap<IpAddr, u64>,
    /// Time at which the counters of the sockets were read.
    sockets_at: Clock,
    tunnel: Counted,
    /// Length of the longest packet that an uplink carries unfragmented.
    pub(crate) whole: Option<u64>,
    json: Json,
}

impl Default for Snapshot {
    fn default() -> Self {
        Snapshot {
            at: Clock::now(),
            paths: BTreeMap::new(),
            sockets: BTreeMap::new(),
            sockets_at: Clock::now(),
            tunnel: Counted::default(),
            whole: None,
            json: Json::Null,
        }
    }
}

impl Snapshot {
    /// The state without an association.
    pub(crate) fn waiting(why: &str, noise: &Option<Stats>) -> Snapshot {
        let encryption = noise.as_ref().map(noise_json);
        let json = json!({ "schema": SCHEMA, "state": "waiting", "reason": why, "encryption": encryption });
        Snapshot { json, ..Snapshot::default() }
    }

    /// The current state, with rates since this snapshot.
    pub(crate) fn next(
        &self,
        (endpoint, sockets): (&Endpoint, &SocketCounters),
        connection: &Connection,
        noise: &Option<Stats>,
        carried: CarrierStats,
    ) -> Snapshot {
        let mut next = Snapshot::default();
        let seconds = next.at.duration_since(self.at);
        let rate = |bytes, before| bits_per_second(bytes, before, seconds);
        let paths = block_on(connection.paths()).unwrap_or_default();
        let shown: Vec<Json> = paths
            .iter()
            .map(|path| {
                let bytes = path.stats.packet_bytes.get();
                next.paths.insert((path.local, path.remote), bytes);
                let before = self.paths.get(&(path.local, path.remote)).copied().unwrap_or(bytes);
                path_json(path, rate(bytes, before))
            })
            .collect();
        let (at, sockets) = sockets.read(endpoint);
        next.sockets_at = at;
        let seconds_of_sockets = at.saturating_duration_since(self.sockets_at);
        let uplinks: Vec<Json> = sockets
            .sockets
            .iter()
            .map(|socket| {
                next.sockets.insert(socket.address, socket.bytes_received);
                let before = self.sockets.get(&socket.address).copied().unwrap_or(socket.bytes_received);
                json!({
                    "address": socket.address.to_string(),
                    "receive_bps": bits_per_second(socket.bytes_received, before, seconds_of_sockets),
                    "receive_overflow": socket.receive_overflow,
                    "send_errors": socket.send_errors,
                })
            })
            .collect();
        next.tunnel = Counted { sent: carried.sent[1], received: carried.received[1] };
        let stats = block_on(connection.stats());
        let limit = stats.as_ref().ok().and_then(|stats| stats.limits.present());
        let abandoned = stats.map_or(0, |stats| stats.abandoned.sent + stats.abandoned.unsent);
        next.whole = paths.iter().filter(|path| path.state == PathState::Active).map(whole).max();
        next.json = json!({
            "schema": SCHEMA,
            "state": "connected",
            "whole_packet_bytes": next.whole,
            "limited_by": limit.map(|limit| limit.name()),
            "send_bps": rate(carried.sent[1], self.tunnel.sent),
            "receive_bps": rate(carried.received[1], self.tunnel.received),
            "packets": { "sent": carried.sent[0], "received": carried.received[0], "refused": carried.refused,
                "dropped": carried.queue.dropped, "marked": carried.queue.marked, "abandoned": abandoned,
                "copied": carried.copied, "duplicates": carried.duplicates },
            "paths": shown,
            "uplinks": uplinks,
            "encryption": noise.as_ref().map(noise_json),
        });
        next
    }
}

fn bits_per_second(bytes: u64, before: u64, time: Duration) -> f64 {
    (bytes.saturating_sub(before) as f64 * 8.0 / time.as_secs_f64().max(1e-3)).round()
}

/// Largest number of user bytes that a packet with one DATA chunk carries on a path.
fn whole(path: &PathInfo) -> u64 {
    const DATA: u64 = 16;
    let below = if path.remote.is_ipv4() { 20 } else { 40 } + 8 + 12;
    path.mtu.get().saturating_sub(below + DATA)
}

fn path_json(path: &PathInfo, rate: f64) -> Json {
    let stats = &path.stats;
    json!({
        "local": path.local.to_string(),
        "remote": path.remote.to_string(),
        "udp_port": path.udp_port,
        "state": path.state.name().replace('-', " "),
        "cost": path.cost,
        "send_bps": rate,
        "srtt_ms": path.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
        "cwnd_bytes": path.cwnd.get(),
        "flight_bytes": path.flight.get(),
        "mtu_bytes": path.mtu.get(),
        "data_packets": stats.data_packets,
        "retransmissions": stats.fast_retransmissions + stats.timer_retransmissions,
        "timeouts": stats.timeouts,
        "limited_by": path.limits.present().map(|limit| limit.name()),
    })
}

fn noise_json(stats: &Stats) -> Json {
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    json!({
        "handshakes": read(&stats.sessions),
        "refused_datagrams": read(&stats.refused),
        "unsent_packets": read(&stats.unsent),
        "strangers": stats.stranger().map_or(0, |(_, count)| count),
        "last_stranger": stats.stranger().map(|(from, _)| from.to_string()),
    })
}

/// Requests the status of a running tunnel.
///
/// # Errors
/// No process listens at this socket, or the answer is not the status of a tunnel.
pub fn ask(socket: &Path) -> std_io::Result<Json> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    serde_json::from_str(&text).map_err(std_io::Error::from)
}

/// The status as text.
pub fn render(status: &Json) -> String {
    if let Some(peers) = status["peers"].as_array() {
        return peers.iter().map(render).collect::<Vec<_>>().join("\n");
    }
    let text = |value: &Json| value.as_str().unwrap_or("-").to_owned();
    let mbit = |value: &Json| format!("{:.2}", value.as_f64().unwrap_or(0.0) / 1e6);
    let peer = status["peer"].as_str().map(|peer| format!(", {peer}")).unwrap_or_default();
    let mut out = format!("{}{peer}: {}", text(&status["interface"]), text(&status["state"]));
    if let Some(reason) = status["reason"].as_str() {
        let _ = write!(out, " ({reason})");
    }
    out.push('\n');
    let encryption = &status["encryption"];
    if let Some(from) = encryption["last_stranger"].as_str() {
        let count = &encryption["strangers"];
        let _ = writeln!(
            out,
            "{count} handshakes came with other keys, the last one from {from}: compare `peer` at both ends with what `anabranch key` prints at the other one"
        );
    }
    if status["state"] != "connected" {
        return out;
    }
    let packets = &status["packets"];
    let _ = writeln!(
        out,
        "sends {} Mbit/s, receives {} Mbit/s, limited by {}; dropped {}, abandoned {}",
        mbit(&status["send_bps"]),
        mbit(&status["receive_bps"]),
        text(&status["limited_by"]),
        packets["dropped"],
        packets["abandoned"],
    );
    let (mtu, whole) = (status["mtu"].as_u64(), status["whole_packet_bytes"].as_u64());
    if let (Some(mtu), Some(whole)) = (mtu, whole)
        && whole < mtu
    {
        let _ = writeln!(out, "packets of more than {whole} bytes are cut (mtu = {mtu})");
    }
    let _ = match encryption {
        Json::Null => writeln!(out, "NOT ENCRYPTED"),
        _ => writeln!(
            out,
            "encrypted, {} handshakes, {} datagrams refused",
            encryption["handshakes"], encryption["refused_datagrams"]
        ),
    };
    let _ = writeln!(
        out,
        "{:<40} {:<18} {:>5} {:>8} {:>8} {:>8} {:>6} {:>7} {:<}",
        "path", "state", "cost", "Mbit/s", "RTT ms", "cwnd", "MTU", "retx", "limited by"
    );
    for path in status["paths"].as_array().into_iter().flatten() {
        let _ = writeln!(
            out,
            "{:<40} {:<18} {:>5} {:>8} {:>8} {:>8} {:>6} {:>7} {:<}",
            format!("{} > {}", text(&path["local"]), text(&path["remote"])),
            text(&path["state"]),
            path["cost"].to_string(),
            mbit(&path["send_bps"]),
            path["srtt_ms"].as_f64().map_or("-".to_owned(), |ms| format!("{ms:.1}")),
            path["cwnd_bytes"].to_string(),
            path["mtu_bytes"].to_string(),
            path["retransmissions"].to_string(),
            text(&path["limited_by"]),
        );
    }
    out
}
