//! The running tunnel: packets from the device to the association and back, and a new association whenever one ends.

mod carry;
mod options;

use crate::config::TunnelConfig;
use crate::device;
use crate::noise::{Noise, NoiseError, Stats};
use crate::status::{Board, Snapshot};
use crate::uplinks::{Follower, working};
use carry::Carrier;
use io::blocking::{block_on, block_on_for};
use io::{BindError, Connection, Endpoint, Peer};
use std::io as std_io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(20);
/// First pause between two attempts; it doubles up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause between two attempts: an end that comes back is found soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// Time between two looks at the interfaces and at the association.
const LOOK: Duration = Duration::from_secs(1);

/// The tunnel cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// The device cannot be made.
    #[error("the TUN device {name} cannot be made, which needs CAP_NET_ADMIN and /dev/net/tun: {source}")]
    Device {
        /// Its name.
        name: String,
        /// The system's error.
        source: std_io::Error,
    },
    /// No uplink has an address now.
    #[error("none of the uplinks is up and has an address")]
    NoUplink,
    /// The sockets cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Encryption cannot begin.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// Nobody could ask for the status.
    #[error("the socket for --status cannot be made: {0}")]
    Status(std_io::Error),
    /// The system has no thread to give, or no longer a device.
    #[error(transparent)]
    System(#[from] std_io::Error),
}

/// Runs one end of a tunnel for ever. `log` gets a line for each thing that happens.
///
/// # Errors
/// [`TunnelError`] if it cannot begin.
pub fn run(config: &TunnelConfig, log: impl Fn(&str) + Send + Sync + 'static) -> Result<(), TunnelError> {
    let log: Log = Arc::new(log);
    // Before the device: its address is none that the association may use.
    let waiting = if config.connect.is_empty() { Some(bind_patiently(config, &log)?) } else { None };
    let device = device::open(config)
        .map_err(|source| TunnelError::Device { name: config.interface.clone(), source })?;
    let board = Board::start(config).map_err(TunnelError::Status)?;
    let carrier = Carrier::start(device, usize::from(config.mtu))?;
    log(&format!("{}: MTU {}", config.interface, config.mtu));
    match waiting {
        Some((endpoint, stats)) => serve(config, &endpoint, &stats, &carrier, &board, &log),
        None => call(config, &carrier, &board, &log),
    }
}

type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Makes the endpoint of the so many-th attempt. Behind NATs it has one address, another one in each attempt, and lists none to the peer, who could do
/// nothing with it; the others join the association later, each by a request from itself.
fn bind(config: &TunnelConfig, attempt: usize) -> Result<(Endpoint, Option<Stats>), TunnelError> {
    let mut builder = Endpoint::builder()
        .udp_port(config.port)
        .remote_udp_port(config.connect_port)
        .outbox(options::OUTBOX)
        .config(options::config(config));
    let mut places = working(&config.uplinks);
    if places.is_empty() && !config.uplinks.is_empty() {
        return Err(TunnelError::NoUplink);
    }
    if config.nat {
        let first = attempt % places.len().max(1);
        places.rotate_left(first);
        places.truncate(1);
    }
    for (address, device) in places {
        builder = match device {
            Some(device) => builder.local_on_device(address, device),
            None => builder.local(address),
        };
    }
    if config.connect.is_empty() {
        builder = builder.port(options::PORT);
    }
    match &config.keys {
        None => Ok((builder.bind()?, None)),
        Some((private, peer)) => {
            let noise = Noise::new(private.clone(), *peer)?;
            let stats = noise.stats();
            Ok((builder.bind_guarded(noise)?, Some(stats)))
        }
    }
}

/// As [`bind`], as soon as an uplink works: at boot this may take a while.
fn bind_patiently(config: &TunnelConfig, log: &Log) -> Result<(Endpoint, Option<Stats>), TunnelError> {
    let mut bound = bind(config, 0);
    if let Err(TunnelError::NoUplink) = &bound {
        log(&TunnelError::NoUplink.to_string());
    }
    while let Err(TunnelError::NoUplink) = &bound {
        thread::sleep(LOOK);
        bound = bind(config, 0);
    }
    bound
}

/// Waits for the other end, again and again. A new association takes the place of the one before: the peer has lost that.
fn serve(
    config: &TunnelConfig,
    endpoint: &Endpoint,
    stats: &Option<Stats>,
    carrier: &Carrier,
    board: &Board,
    log: &Log,
) -> Result<(), TunnelError> {
    let listener = endpoint.listen(1);
    let mut before: Option<(Connection, Arc<AtomicBool>)> = None;
    while let Ok(connection) = block_on(listener.accept()) {
        if let Some((old, ended)) = before.take() {
            ended.store(true, Ordering::Relaxed);
            old.abort("replaced");
        }
        let ended = Arc::new(AtomicBool::new(false));
        before = Some((connection.clone(), ended.clone()));
        let (config, endpoint, stats) = (config.clone(), endpoint.clone(), stats.clone());
        let (carrier, board, log) = (carrier.clone(), board.clone(), log.clone());
        thread::Builder::new().name("association".to_owned()).spawn(move || {
            live(&config, &endpoint, &stats, &connection, &carrier, &board, &log, &ended);
        })?;
    }
    Ok(())
}

/// Connects to the other end, again and again. Each attempt has new sockets and a new SCTP port, so that nothing of an association before
/// it is in its way.
fn call(config: &TunnelConfig, carrier: &Carrier, board: &Board, log: &Log) -> Result<(), TunnelError> {
    let mut pause = PAUSE;
    for number in 0.. {
        match attempt(config, number) {
            Ok((endpoint, stats, connection)) => {
                pause = PAUSE;
                let ended = AtomicBool::new(false);
                live(config, &endpoint, &stats, &connection, carrier, board, log, &ended);
                drop(connection);
                let _ = block_on_for(endpoint.close(), LOOK);
            }
            Err(error) => {
                board.set(Snapshot::waiting(&error));
                log(&error);
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

fn attempt(config: &TunnelConfig, number: usize) -> Result<(Endpoint, Option<Stats>, Connection), String> {
    let (endpoint, stats) = bind(config, number).map_err(|error| error.to_string())?;
    let mut peer = Peer::from((config.connect.clone(), options::PORT));
    peer.udp_port = Some(config.connect_port);
    match block_on_for(endpoint.connect(peer), ATTEMPT) {
        Some(Ok(connection)) => Ok((endpoint, stats, connection)),
        Some(Err(error)) => Err(format!("no connection: {error}")),
        None => Err(format!("no answer within {} s", ATTEMPT.as_secs())),
    }
}

/// Carries packets until the association ends.
#[expect(clippy::too_many_arguments, reason = "what a tunnel consists of")]
fn live(
    config: &TunnelConfig,
    endpoint: &Endpoint,
    stats: &Option<Stats>,
    connection: &Connection,
    carrier: &Carrier,
    board: &Board,
    log: &Log,
    ended: &AtomicBool,
) {
    log("connected");
    carrier.carry(connection.clone());
    let (mut snapshot, mut follower) = (Snapshot::default(), Follower::new(config.nat));
    loop {
        if let Some(reason) = block_on_for(connection.closed(), LOOK) {
            carrier.stop(connection.id());
            // Another association may have begun meanwhile.
            if !ended.load(Ordering::Relaxed) {
                board.set(Snapshot::waiting(&reason.to_string()));
            }
            log(&reason.to_string());
            return;
        }
        if !config.uplinks.is_empty() {
            follower.follow(endpoint, connection, &config.uplinks);
        }
        if !ended.load(Ordering::Relaxed) {
            snapshot = snapshot.next(endpoint, connection, stats, carrier.stats());
            board.set(snapshot.clone());
        }
    }
}
