//! The operator's commands, run when the tunnel is connected and when the connection is lost.

use super::log::Log;
use crate::config::TunnelConfig;
use crate::error::TunnelError;
use crate::stop::Stop;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest time that the tunnel waits for the last command before it ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the commands one after the other in a separate thread, `up` and `down` of each peer alternately.
pub(super) struct Hooks(Mutex<State>);

struct State {
    /// Names of the peers that are connected.
    up: BTreeSet<String>,
    events: Sender<Event>,
}

enum Event {
    /// Name of the peer, and its addresses.
    Up(String, String),
    /// Name of the peer, and the reason.
    Down(String, String),
    /// Reports that the earlier commands have ended.
    Done(Sender<()>),
}

impl Hooks {
    pub(super) fn start(config: &TunnelConfig, stop: &Stop, log: &Log) -> Result<Hooks, TunnelError> {
        let (events, receiver) = channel();
        let (config, log) = (config.clone(), log.clone());
        stop.spawn("hooks", move || {
            run_all(&config, &log, &receiver);
            Ok(())
        })?;
        Ok(Hooks(Mutex::new(State { up: BTreeSet::new(), events })))
    }

    /// Runs the command `up`: there is an association with the peer of this name at these addresses.
    pub(super) fn up(&self, peer: &str, addresses: &str) {
        let mut state = self.state();
        if state.up.insert(peer.to_owned()) {
            state.tell(Event::Up(peer.to_owned(), addresses.to_owned()));
        }
    }

    /// Runs the command `down`: the association with the peer of this name is lost.
    pub(super) fn down(&self, peer: &str, reason: &str) {
        let mut state = self.state();
        if state.up.remove(peer) {
            state.tell(Event::Down(peer.to_owned(), reason.to_owned()));
        }
    }

    /// Runs the command `down` for all peers that are connected.
    pub(super) fn all_down(&self, reason: &str) {
        let mut state = self.state();
        for peer in std::mem::take(&mut state.up) {
            state.tell(Event::Down(peer, reason.to_owned()));
        }
    }

    /// Waits until all commands so far have ended, at most for [`PATIENCE`].
    pub(super) fn finish(&self) {
        let (done, wait) = channel();
        self.state().tell(Event::Done(done));
        let _ = wait.recv_timeout(PATIENCE);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&self, event: Event) {
        // The send fails only if the thread has ended, at the end of the tunnel.
        let _ = self.events.send(event);
    }
}

fn run_all(config: &TunnelConfig, log: &Log, events: &Receiver<Event>) {
    while let Ok(event) = events.recv() {
        let (name, hook, peer, detail) = match event {
            Event::Up(peer, addresses) => ("up", &config.up, peer, ("ANABRANCH_PEER", addresses)),
            Event::Down(peer, reason) => ("down", &config.down, peer, ("ANABRANCH_REASON", reason)),
            Event::Done(done) => {
                let _ = done.send(());
                continue;
            }
        };
        let Some(hook) = hook else { continue };
        let addresses = config.addresses.iter().map(|(address, length)| format!("{address}/{length}"));
        let status = Command::new("/bin/sh")
            .args(["-c", hook])
            .env("ANABRANCH_EVENT", name)
            .env("ANABRANCH_INTERFACE", &config.interface)
            .env("ANABRANCH_ADDRESSES", addresses.collect::<Vec<_>>().join(" "))
            .env("ANABRANCH_MTU", config.mtu.to_string())
            .env("ANABRANCH_PEER_NAME", peer)
            .env(detail.0, detail.1)
            .stdin(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => log(&format!("the command of `{name}` failed, {status}: {hook}")),
            Err(error) => log(&format!("the command of `{name}` cannot run, /bin/sh: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_commands_run_in_turn_with_their_environment_and_failures_are_logged() {
        let file = std::env::temp_dir().join(format!("anabranch-hooks-{}", std::process::id()));
        let text = format!(
            "encryption = false\naddresses = ['10.9.0.1/24']\n\
             up = 'echo $ANABRANCH_EVENT $ANABRANCH_INTERFACE $ANABRANCH_ADDRESSES $ANABRANCH_MTU $ANABRANCH_PEER >> {0}'\n\
             down = 'echo $ANABRANCH_EVENT $ANABRANCH_REASON >> {0}; exit 3'\n",
            file.display()
        );
        let config = TunnelConfig::parse_without_keys(&text);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let logged = lines.clone();
        let log: Log = Arc::new(move |line: &str| logged.lock().expect("no panic").push(line.to_owned()));
        let hooks = Hooks::start(&config, &Stop::default(), &log).expect("starts");
        hooks.down("", "was never up");
        hooks.up("", "192.0.2.1");
        hooks.up("", "is up");
        hooks.down("", "lost");
        hooks.down("", "is down");
        hooks.up("", "192.0.2.2");
        hooks.finish();
        let written = std::fs::read_to_string(&file).expect("is written");
        std::fs::remove_file(&file).expect("is ours");
        assert_eq!(
            written,
            "up ana0 10.9.0.1/24 1400 192.0.2.1\ndown lost\nup ana0 10.9.0.1/24 1400 192.0.2.2\n"
        );
        let lines = lines.lock().expect("no panic");
        assert!(lines.len() == 1 && lines[0].contains("`down` failed, exit status: 3"), "{lines:?}");
    }
}
