//! Explains to the operator why there is no association.

use super::log::{Log, Repeated};
use crate::config::TunnelConfig;
use crate::peers::TunnelPeer;
use crate::uplinks::{Source, Uplink};
use noise::Stats;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Reports the fault of each uplink when none works.
pub(super) fn of_uplinks(uplinks: &[Uplink]) -> String {
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let exists = |name: &str| {
        interfaces.lines().filter_map(|line| line.split_once(':')).any(|(other, _)| other.trim() == name)
    };
    let one = |uplink: &Uplink| match &uplink.source {
        Source::Address(address) => format!("no interface that is up has {address}"),
        Source::Device(name) if exists(name) => format!("{name} is down or has no address"),
        Source::Device(name) => format!("there is no interface {name}"),
    };
    uplinks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Reports that the other end did not answer.
pub(super) fn no_answer(config: &TunnelConfig, stats: &Option<Stats>, within: Duration) -> String {
    let there: Vec<String> = config.connect.iter().map(ToString::to_string).collect();
    let port = config.connect_port;
    let begin =
        format!("no answer from {} at UDP port {port} within {} s", there.join(", "), within.as_secs());
    match (stats, &config.key) {
        (Some(stats), Some(_)) if stats.sessions.load(Ordering::Relaxed) > 0 => {
            format!("{begin}: the keys are right, but the association was not answered")
        }
        (_, Some(private)) => format!(
            "{begin}: it does not run, a firewall drops its packets, or its `peer` is not this end's public key {}, or `peer` here not its own",
            private.public()
        ),
        (_, None) => format!("{begin}: it does not run, a firewall drops its packets, or it is encrypted"),
    }
}

/// Time for which the path MTUs must stay the same until they count as known, since a new path begins with a
/// small MTU.
const SETTLED: Duration = Duration::from_secs(10);

/// Reports, once for each value, the longest packet that passes unfragmented, if the MTU of the tunnel
/// exceeds it.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// The longest unfragmented packet, and the time since which it has not changed.
    seen: Option<(u64, Instant)>,
    told: Option<u64>,
}

impl Cuts {
    pub(super) fn look(&mut self, mtu: u16, whole: Option<u64>, now: Instant) -> Option<String> {
        let whole = whole?;
        let since = self.seen.filter(|&(seen, _)| seen == whole).map_or(now, |(_, since)| since);
        self.seen = Some((whole, since));
        if now.duration_since(since) < SETTLED
            || self.told.replace(whole) == Some(whole)
            || whole >= mtu.into()
        {
            return None;
        }
        Some(format!(
            "packets of more than {whole} bytes are cut, since no uplink carries longer ones in one piece: mtu = {whole} avoids that (it is {mtu} now)"
        ))
    }
}

/// Reports handshakes of strangers, who have other keys than the peers, at most once a minute.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    told: u64,
    repeated: Repeated,
}

impl Strangers {
    pub(super) fn look(&mut self, config: &TunnelConfig, stats: &Option<Stats>, log: &Log) {
        let stranger = stats.as_ref().and_then(|stats| stats.stranger());
        let (Some(private), Some((from, count))) = (&config.key, stranger) else { return };
        if count > self.told && self.repeated.is_due("keys", Instant::now()) {
            self.told = count;
            let here = match &config.peers[..] {
                [TunnelPeer { key: Some(key), .. }] => format!("the `peer` here, {key}"),
                _ => "one of the `peers` here".to_owned(),
            };
            log(&format!(
                "{from} began a handshake with other keys: its `peer` must be this end's public key {}, and its own public key {here}",
                private.public()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_told_once_the_path_mtu_is_known_and_again_if_it_changes() {
        let (mut cuts, begin) = (Cuts::default(), Instant::now());
        let mut look = |seconds, whole| cuts.look(1400, whole, begin + Duration::from_secs(seconds));
        assert_eq!(look(0, Some(1112)), None);
        assert_eq!(look(5, Some(1380)), None);
        assert_eq!(look(14, Some(1380)), None);
        let line = look(15, Some(1380)).expect("it lasted");
        assert!(line.contains("more than 1380 bytes are cut") && line.contains("it is 1400 now"), "{line}");
        assert_eq!(look(16, Some(1380)), None);
        assert_eq!(look(17, None), None, "no path is active");
        assert_eq!(look(18, Some(1412)), None);
        assert_eq!(look(30, Some(1412)), None, "all packets fit");
    }
}
