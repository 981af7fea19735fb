//! Metrics of endpoints in the text format of Prometheus, and an HTTP response that contains them.
//!
//! A peer cannot create an unbounded number of series. Labels are numbers below fixed limits, local
//! addresses, and at most 64 different addresses of peers.
//!
//! ```
//! use anabranch_io::{Endpoint, blocking::block_on, metrics::{EndpointMetrics, MetricText}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::builder().local([127, 0, 0, 1]).udp_port(0).bind()?;
//! let (mut metrics, mut text) = (EndpointMetrics::default(), MetricText::default());
//! block_on(metrics.write(Some(&endpoint), &mut text));
//! assert!(text.as_str().contains("\nanabranch_associations 0\n"));
//! # Ok(())
//! # }
//! ```

mod serve;
mod text;

use crate::face::Endpoint;
use crate::stats::SocketStats;
use sctp::{AssocId, PathInfo, PathState};
pub use serve::{address, answer};
use std::collections::BTreeSet;
use std::net::IpAddr;
pub use text::{Kind, MetricText};

/// Largest number of associations whose paths are shown; the oldest associations are shown.
const MOST_ASSOCIATIONS: usize = 16;
/// Largest number of shown paths of an association.
const MOST_PATHS: usize = 16;
/// Largest number of different peer addresses that become labels; later addresses get the label `other`.
const MOST_REMOTES: usize = 64;

/// A metric of each path: name, kind, help text, and the function that reads the value.
type OfPath = (&'static str, Kind, &'static str, fn(&PathInfo) -> Option<f64>);

const OF_PATHS: [OfPath; 8] = [
    ("srtt_seconds", Kind::Gauge, "Smoothed round-trip time.", |path| Some(path.srtt?.as_secs_f64())),
    ("cwnd_bytes", Kind::Gauge, "Congestion window.", |path| Some(path.cwnd.as_f64())),
    ("flight_bytes", Kind::Gauge, "Bytes in flight.", |path| Some(path.flight.as_f64())),
    ("mtu_bytes", Kind::Gauge, "Path MTU with the IP header.", |path| Some(path.mtu.as_f64())),
    ("bytes_sent_total", Kind::Counter, "Bytes of SCTP packets sent.", |path| {
        Some(path.stats.packet_bytes.as_f64())
    }),
    ("bytes_received_total", Kind::Counter, "Bytes of SCTP packets received.", |path| {
        Some(path.stats.received_bytes.as_f64())
    }),
    ("retransmissions_total", Kind::Counter, "Chunks sent again.", |path| {
        Some((path.stats.fast_retransmissions + path.stats.timer_retransmissions) as f64)
    }),
    ("timeouts_total", Kind::Counter, "Expiries of T3-rtx.", |path| Some(path.stats.timeouts as f64)),
];

/// A counter of each socket: name, help text, and the function that reads the value.
type OfSocket = (&'static str, &'static str, fn(&SocketStats) -> u64);

const OF_SOCKETS: [OfSocket; 4] = [
    ("bytes_sent_total", "Bytes of packets sent, without UDP and IP headers.", |socket| socket.bytes_sent),
    (
        "bytes_received_total",
        "Bytes of packets received, without UDP header; SCTP directly in IPv4 counts with its IP header.",
        |socket| socket.bytes_received,
    ),
    ("receive_overflow_packets_total", "Packets lost to a full receive buffer.", |socket| {
        socket.receive_overflow
    }),
    ("send_errors_total", "Packets that the system refused to send.", |socket| socket.send_errors),
];

/// Writes the metrics of an endpoint, or of several endpoints of which each replaces the one before.
#[derive(Debug, Default)]
pub struct EndpointMetrics {
    /// The associations that are shown. The index of an association is its label.
    shown: [Option<AssocId>; MOST_ASSOCIATIONS],
    remotes: BTreeSet<IpAddr>,
}

impl EndpointMetrics {
    /// Writes the metrics of an endpoint. If `endpoint` is `None` or has ended, writes the metrics of an
    /// endpoint without associations and sockets.
    pub async fn write(&mut self, endpoint: Option<&Endpoint>, text: &mut MetricText) {
        let (associations, sockets) = match endpoint {
            Some(endpoint) => (endpoint.associations().await, endpoint.stats().sockets),
            None => (Vec::new(), Vec::new()),
        };
        text.family(Kind::Gauge, "anabranch_associations", "Established associations.")
            .sample(&[], associations.len() as f64);
        self.write_paths(&associations, text);
        for (name, help, read) in OF_SOCKETS {
            text.family(Kind::Counter, &format!("anabranch_socket_{name}"), help);
            for socket in &sockets {
                text.sample(&[("local", &socket.address.to_string())], read(socket) as f64);
            }
        }
    }

    fn write_paths(&mut self, associations: &[(AssocId, Vec<PathInfo>)], text: &mut MetricText) {
        self.choose(associations.iter().map(|(id, _)| *id));
        let shown = self.shown.iter().enumerate().filter_map(|(place, shown)| Some((place, (*shown)?)));
        let of = |id: AssocId| associations.iter().find(|(other, _)| *other == id);
        let paths: Vec<([String; 2], &PathInfo)> = shown
            .filter_map(|(place, id)| Some((place, &of(id)?.1)))
            .flat_map(|(place, paths)| paths.iter().take(MOST_PATHS).map(move |path| (place, path)))
            .map(|(place, path)| ([place.to_string(), path.id.0.to_string()], path))
            .collect();
        text.family(Kind::Gauge, "anabranch_path_info", "Addresses of the path.");
        for ([association, number], path) in &paths {
            let (local, remote) = (path.local.to_string(), self.remote(path.remote));
            text.sample(
                &[("association", association), ("path", number), ("local", &local), ("remote", &remote)],
                1.0,
            );
        }
        text.family(Kind::Gauge, "anabranch_path_state", "1 for the state of the path, 0 for others.");
        for ([association, number], path) in &paths {
            for state in PathState::ALL {
                let labels = [("association", &**association), ("path", number), ("state", state.name())];
                text.sample(&labels, if path.state == state { 1.0 } else { 0.0 });
            }
        }
        for (name, kind, help, read) in OF_PATHS {
            text.family(kind, &format!("anabranch_path_{name}"), help);
            for ([association, number], path) in &paths {
                if let Some(value) = read(path) {
                    text.sample(&[("association", association), ("path", number)], value);
                }
            }
        }
    }

    /// Gives the indices that ended associations had to other associations, the oldest association first.
    fn choose(&mut self, ids: impl Iterator<Item = AssocId> + Clone) {
        for place in &mut self.shown {
            *place = place.filter(|shown| ids.clone().any(|id| id == *shown));
        }
        for id in ids {
            if !self.shown.contains(&Some(id))
                && let Some(place) = self.shown.iter_mut().find(|place| place.is_none())
            {
                *place = Some(id);
            }
        }
    }

    fn remote(&mut self, address: IpAddr) -> String {
        if self.remotes.len() < MOST_REMOTES {
            self.remotes.insert(address);
        }
        if self.remotes.contains(&address) { address.to_string() } else { "other".to_owned() }
    }
}

#[cfg(test)]
mod tests;
