//! The running tunnel: packets from the TUN device to the association and back, and a
//! new association each time one ends.

mod carry;
mod hooks;
#[cfg(test)]
mod hour;
mod log;
mod metrics;
mod options;
mod trouble;

use crate::config::TunnelConfig;
use crate::device;
use crate::error::TunnelError;
use crate::hosts::resolve;
use crate::idle::Idle;
use crate::peers::TunnelPeer;
use crate::roster::Roster;
use crate::status::{Board, Snapshot, SocketCounters};
use crate::stop::Stop;
use crate::uplinks::{Follower, Place, unreachable_uplinks, working};
use carry::Carrier;
use hooks::Hooks;
use io::blocking::block_on_for;
use io::{Connection, Endpoint, Identity, Listener, Peer};
use log::{Log, Repeated};
use metrics::Shown;
use noise::{Control, Noise, Peers, Stats};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant as Clock};

/// Longest time of one attempt to connect.
const ATTEMPT: Duration = Duration::from_secs(20);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause after an association of at least [`SETTLED`]: an end that restarts is ready again soon.
const SHORT_PAUSE: Duration = Duration::from_millis(100);
/// Duration from which an association counts as accepted: a shorter one may have been refused.
const SETTLED: Duration = Duration::from_secs(10);
/// Interval of checks of the interfaces and of the association.
const LOOK: Duration = Duration::from_secs(1);

/// Time for which this end waits for the answer to its SHUTDOWN.
const GOODBYE: Duration = Duration::from_secs(1);

/// Runs one end of a tunnel until `stop` ends it. `log` gets a line for each event.
///
/// # Errors
/// [`TunnelError`] if the tunnel cannot start or continue.
pub fn run(
    config: &TunnelConfig,
    stop: &Stop,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), TunnelError> {
    let log: Log = Arc::new(log);
    let roster = Roster::new(config.peers.clone());
    let board = Board::start(config, &roster, stop).map_err(TunnelError::Status)?;
    let requests = metrics::bind(config.metrics)?;
    // The endpoint is bound before the TUN device exists: the association must not use the device's address.
    let waiting = match config.connect.is_empty() {
        true => match bind_patiently(config, &board, stop, &log)? {
            None => return stop.wait(),
            // Listens at once, because a peer that connects earlier is refused.
            Some(bound) => Some((bound.endpoint.listen(config.peers.len()), bound)),
        },
        false => None,
    };
    let device = device::open(config)
        .map_err(|source| TunnelError::Device { name: config.interface.clone(), source })?;
    let carrier = Carrier::start(device, config, stop, log.clone())?;
    log(&format!("{}: MTU {}", config.interface, config.mtu));
    let hooks = Hooks::start(config, stop, &log)?;
    let (config, stop) = (config.clone(), stop.clone());
    let (shown, sockets) = (Shown::default(), SocketCounters::default());
    let tunnel = Arc::new(Tunnel { config, roster, carrier, board, sockets, shown, hooks, stop, log });
    if let Some(listener) = requests {
        metrics::serve(listener, &tunnel, &tunnel.stop)?;
    }
    let works = tunnel.clone();
    tunnel.stop.spawn("tunnel", move || match waiting {
        Some((listener, bound)) => works.serve(&listener, &bound),
        None => works.call(),
    })?;
    let outcome = tunnel.stop.wait();
    let connections = tunnel.carrier.leave();
    thread::scope(|scope| {
        for connection in &connections {
            scope.spawn(|| say_goodbye(connection));
        }
    });
    tunnel.hooks.all_down("the tunnel ends");
    tunnel.hooks.finish();
    outcome
}

/// The latest association of each peer, with a flag that is true if the end of
/// the association needs no report.
type Latest = BTreeMap<usize, (Connection, Arc<AtomicBool>)>;

/// State that the threads of a tunnel share.
struct Tunnel {
    config: TunnelConfig,
    roster: Roster,
    carrier: Carrier,
    board: Board,
    sockets: SocketCounters,
    shown: Shown,
    hooks: Hooks,
    stop: Stop,
    log: Log,
}

/// Ends an association so that the other end is informed at once: by SHUTDOWN, which is repeated, and by
/// ABORT if it is not answered.
fn say_goodbye(connection: &Connection) {
    if block_on_for(connection.shutdown(), GOODBYE).is_none() {
        connection.abort("the tunnel ends");
        block_on_for(connection.closed(), GOODBYE);
    }
}

/// An endpoint, and the handles of its encryption.
struct Bound {
    endpoint: Endpoint,
    stats: Option<Stats>,
    control: Option<Control>,
}

/// Creates the endpoint of attempt number `attempt`. Behind NATs the endpoint begins with one
/// address, a different one in each attempt, and its INIT lists no address, because the peer cannot
/// reach an address behind a NAT. The other addresses join the association later, each by a request
/// that is sent from the address.
fn bind(config: &TunnelConfig, attempt: usize) -> Result<Bound, TunnelError> {
    let mut builder = Endpoint::builder()
        .udp_port(config.port)
        .remote_udp_port(config.connect_port)
        .outbox(options::OUTBOX)
        .config(options::config(config));
    let mut places = working(&config.uplinks);
    if places.is_empty() && !config.uplinks.is_empty() {
        return Err(TunnelError::NoUplink(trouble::of_uplinks(&config.uplinks)));
    }
    if config.nat {
        let first = attempt % places.len().max(1);
        places.rotate_left(first);
        places.truncate(1);
    }
    for Place { address, device, .. } in places {
        builder = match device {
            Some(device) => builder.local_on_device(address, device),
            None => builder.local(address),
        };
    }
    if config.connect.is_empty() {
        builder = builder.port(options::PORT);
    }
    match &config.key {
        None => Ok(Bound { endpoint: builder.bind()?, stats: None, control: None }),
        Some(private) => {
            let known = Peers::known(config.peers.iter().filter_map(|peer| peer.key));
            let with_psk = |peers: Peers, peer: &TunnelPeer| match (peer.key, &peer.psk) {
                (Some(key), Some(psk)) => peers.psk(key, psk.clone()),
                _ => peers,
            };
            let noise = Noise::new(private.clone(), config.peers.iter().fold(known, with_psk))?;
            let (stats, control) = (Some(noise.stats()), Some(noise.control()));
            Ok(Bound { endpoint: builder.guard(noise).bind()?, stats, control })
        }
    }
}

/// As [`bind`], but waits until an uplink works, which may take some time after boot. `None` if the tunnel
/// must end first.
fn bind_patiently(
    config: &TunnelConfig,
    board: &Board,
    stop: &Stop,
    log: &Log,
) -> Result<Option<Bound>, TunnelError> {
    let mut errors = Repeated::default();
    loop {
        match bind(config, 0) {
            Err(error @ TunnelError::NoUplink(_)) => {
                errors.say(log, &error.to_string());
                board.set_all(&Snapshot::waiting(&error.to_string(), &None));
            }
            bound => return bound.map(Some),
        }
        if stop.sleep(LOOK) {
            return Ok(None);
        }
    }
}

impl Tunnel {
    /// Accepts the associations of the other ends until the tunnel ends. A new association of a peer replaces
    /// its earlier one, because the peer has lost that one.
    fn serve(self: &Arc<Self>, listener: &Listener, bound: &Bound) -> Result<(), TunnelError> {
        let Bound { endpoint, stats, control } = bound;
        let mut before = Latest::new();
        let mut strangers = trouble::Strangers::default();
        self.shown.set(endpoint, stats);
        self.board.set_all(&Snapshot::waiting("for the other end to connect", stats));
        while !self.stop.is_over() {
            strangers.look(&self.config, stats, &self.log);
            self.board.count_datagrams(stats);
            if let (Some(list), Some(control)) = (self.stop.new_peers(), control) {
                self.replace_peers(list, control, stats, &mut before);
            }
            let Some(accepted) = block_on_for(listener.accept(), LOOK) else { continue };
            let connection = accepted.map_err(|_| TunnelError::Closed)?;
            let Some(peer) = self.peer_of(&connection) else {
                connection.abort("unknown peer");
                continue;
            };
            let ended = Arc::new(AtomicBool::new(false));
            if let Some((old, ended)) = before.insert(peer, (connection.clone(), ended.clone())) {
                ended.store(true, Ordering::Relaxed);
                old.abort("replaced");
            }
            let (tunnel, endpoint, stats) = (self.clone(), endpoint.clone(), stats.clone());
            let live = move || tunnel.live(peer, &endpoint, &stats, &connection, &ended);
            self.stop.spawn("association", live)?;
        }
        Ok(())
    }

    /// Applies a new list of peers.
    fn replace_peers(
        &self,
        list: Vec<TunnelPeer>,
        control: &Control,
        stats: &Option<Stats>,
        before: &mut Latest,
    ) {
        if list.iter().chain(self.roster.read().iter()).any(|peer| peer.name.is_empty()) {
            return (self.log)("the file has no list `peers` now, or had none at the start: nothing changes");
        }
        let keys: Vec<_> = list.iter().filter_map(|peer| Some((peer.key?, peer.psk.clone()))).collect();
        let (peers, removed) = self.roster.with(list);
        self.carrier.set_peers(&peers);
        self.board.extend(peers.len(), &Snapshot::waiting("for the other end to connect", stats));
        for (n, key) in removed {
            self.log_of(n, "is no longer on the list");
            if let Some((connection, ended)) = before.remove(&n) {
                ended.store(true, Ordering::Relaxed);
                connection.abort("no longer on the list");
                // Waits, so that the ABORT leaves before the encryption session of the peer ends.
                block_on_for(connection.closed(), LOOK);
                self.hooks.down(&self.name_of(n), "it is no longer on the list");
                self.board.set(n, Snapshot::waiting("for the other end to connect", stats));
            }
            control.revoke(key);
        }
        for (key, psk) in keys {
            if let Err(error) = control.allow(key, psk) {
                (self.log)(&format!("{key}: {error}"));
            }
        }
        self.roster.set(peers);
        (self.log)("the list of peers is that of the file now");
    }

    /// The peer at the other end of a connection; without encryption there is only one peer.
    fn peer_of(&self, connection: &Connection) -> Option<usize> {
        if self.config.key.is_none() {
            return Some(0);
        }
        let identity = connection.peer_identity()?;
        self.roster.read().iter().position(|peer| peer.key.map(Identity::from) == Some(identity))
    }

    fn name_of(&self, peer: usize) -> String {
        self.roster.read()[peer].name.clone()
    }

    /// Logs a line about a peer, with its name if there are several.
    fn log_of(&self, peer: usize, line: &str) {
        match self.name_of(peer) {
            name if name.is_empty() => (self.log)(line),
            name => (self.log)(&format!("{name}: {line}")),
        }
    }

    /// Repeatedly connects to the other end. Each attempt has new sockets and a new SCTP port, so that an
    /// earlier association cannot interfere.
    fn call(&self) -> Result<(), TunnelError> {
        let mut failures = Repeated::default();
        let mut saved = None;
        for number in 0.. {
            let mut pause = PAUSE;
            match self.attempt(number, saved.as_deref()) {
                Ok((Bound { endpoint, stats, .. }, connection)) => {
                    let begin = Clock::now();
                    self.live(0, &endpoint, &stats, &connection, &AtomicBool::new(false))?;
                    if begin.elapsed() >= SETTLED {
                        pause = SHORT_PAUSE;
                    }
                    drop(connection);
                    saved = block_on_for(endpoint.saved_paths(), LOOK).and_then(Result::ok);
                    let _ = block_on_for(endpoint.close(), LOOK);
                }
                Err(error) => failures.say(&self.log, &error),
            }
            if self.stop.sleep(pause) {
                break;
            }
        }
        Ok(())
    }

    /// Connects once. `saved` is the text of `Endpoint::saved_paths` after the previous association.
    fn attempt(&self, number: usize, saved: Option<&str>) -> Result<(Bound, Connection), String> {
        let config = &self.config;
        let fail = |why: String, stats: &Option<Stats>| {
            self.board.set_all(&Snapshot::waiting(&why, stats));
            Err(why)
        };
        let addresses = match resolve(&config.connect, |line| (self.log)(line)) {
            Ok(addresses) => addresses,
            Err(error) => return fail(error, &None),
        };
        unreachable_uplinks(&config.uplinks, &addresses).iter().for_each(|line| (self.log)(line));
        let bound = match bind(config, number) {
            Ok(bound) => bound,
            Err(error) => return fail(error.to_string(), &None),
        };
        let Bound { endpoint, stats, .. } = &bound;
        self.shown.set(endpoint, stats);
        if let Some(saved) = saved {
            // This cannot fail: an endpoint with the same options saved the text.
            let _ = block_on_for(endpoint.restore_paths(saved), LOOK);
        }
        let mut peer = Peer::from((addresses, options::PORT));
        peer.udp_port = Some(config.connect_port);
        match block_on_for(endpoint.connect(peer), ATTEMPT) {
            Some(Ok(connection)) => Ok((bound, connection)),
            Some(Err(error)) => fail(format!("no connection: {error}"), stats),
            None => fail(trouble::no_answer(config, stats, ATTEMPT), stats),
        }
    }

    /// Carries the packets of a peer until its association ends.
    fn live(
        &self,
        peer: usize,
        endpoint: &Endpoint,
        stats: &Option<Stats>,
        connection: &Connection,
        ended: &AtomicBool,
    ) -> Result<(), TunnelError> {
        self.log_of(peer, "connected");
        let mut follower = Follower::new(self.config.nat);
        follower.set_options(connection, &working(&self.config.uplinks));
        self.carrier.carry(peer, connection)?;
        let (addresses, _) = connection.peer().unwrap_or_default();
        self.hooks.up(
            &self.name_of(peer),
            &addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        );
        let mut cuts = trouble::Cuts::default();
        let mut idle = Idle::new(Clock::now());
        let mut snapshot = Snapshot::default();
        loop {
            if let Some(reason) = block_on_for(connection.closed(), LOOK) {
                self.carrier.stop(peer, connection.id());
                let reason = match reason.is_graceful() {
                    true if self.stop.is_over() => "this end stops".to_owned(),
                    true => "the other end stopped".to_owned(),
                    false => reason.to_string(),
                };
                self.log_of(peer, &reason);
                // Nothing is reported if another association has replaced this one.
                if !ended.swap(true, Ordering::Relaxed) {
                    self.board.set(peer, Snapshot::waiting(&reason, stats));
                    self.hooks.down(&self.name_of(peer), &reason);
                }
                return Ok(());
            }
            let carried = self.carrier.stats(peer);
            if !self.config.uplinks.is_empty() {
                // The end that connects chooses the interval of heartbeats for both.
                let is_idle = idle.is_idle(Clock::now(), carried.sent[0] + carried.received[0])
                    && !self.config.connect.is_empty();
                let log = |line: &str| self.log_of(peer, line);
                follower.follow(endpoint, connection, &self.config.uplinks, is_idle, log);
            }
            if !ended.load(Ordering::Relaxed) {
                snapshot = snapshot.next((endpoint, &self.sockets), connection, stats, carried);
                self.board.set(peer, snapshot.clone());
                if let Some(line) = cuts.look(self.config.mtu, snapshot.whole, Clock::now()) {
                    self.log_of(peer, &line);
                }
            }
        }
    }
}
