//! Why there is no association, in words for the operator.

use super::log::{Log, Repeated};
use crate::config::TunnelConfig;
use crate::noise::Stats;
use crate::uplinks::Uplink;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What each uplink lacks when none works.
pub(super) fn of_uplinks(uplinks: &[Uplink]) -> String {
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let exists = |name: &str| {
        interfaces.lines().filter_map(|line| line.split_once(':')).any(|(other, _)| other.trim() == name)
    };
    let one = |uplink: &Uplink| match uplink {
        Uplink::Address(address) => format!("no interface that is up has {address}"),
        Uplink::Device(name) if exists(name) => format!("{name} is down or has no address"),
        Uplink::Device(name) => format!("there is no interface {name}"),
    };
    uplinks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The other end did not answer.
pub(super) fn no_answer(config: &TunnelConfig, stats: &Option<Stats>, within: Duration) -> String {
    let there: Vec<String> = config.connect.iter().map(ToString::to_string).collect();
    let port = config.connect_port;
    let begin =
        format!("no answer from {} at UDP port {port} within {} s", there.join(", "), within.as_secs());
    match (stats, &config.keys) {
        (Some(stats), Some(_)) if stats.sessions.load(Ordering::Relaxed) > 0 => {
            format!("{begin}: the keys are right, but the association was not answered")
        }
        (_, Some((private, _))) => format!(
            "{begin}: it does not run, a firewall drops its packets, or its `peer` is not this end's public key {}, or `peer` here not its own",
            private.public()
        ),
        (_, None) => format!("{begin}: it does not run, a firewall drops its packets, or it is encrypted"),
    }
}

/// Tells what the uplinks carry in one piece, if that is less than a packet may have.
pub(super) fn tell_of_cuts(mtu: u16, whole: Option<u64>, log: &Log) {
    if let Some(whole) = whole.filter(|&whole| whole < u64::from(mtu)) {
        log(&format!(
            "packets of more than {whole} bytes are cut, since no uplink carries longer ones in one piece: mtu = {whole} avoids that (it is {mtu} now)"
        ));
    }
}

/// Tells of handshakes with other keys, at most once a minute.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    told: u64,
    repeated: Repeated,
}

impl Strangers {
    pub(super) fn look(&mut self, config: &TunnelConfig, stats: &Option<Stats>, log: &Log) {
        let stranger = stats.as_ref().and_then(|stats| stats.stranger());
        let (Some((private, peer)), Some((from, count))) = (&config.keys, stranger) else { return };
        if count > self.told && self.repeated.is_due("keys", Instant::now()) {
            self.told = count;
            log(&format!(
                "{from} began a handshake with other keys: its `peer` must be this end's public key {}, and its own public key the `peer` here, {peer}",
                private.public()
            ));
        }
    }
}
