//! Metrics for Prometheus.

use super::Tunnel;
use crate::counters::CarrierStats;
use crate::error::TunnelError;
use crate::stop::Stop;
use io::Endpoint;
use io::blocking::block_on;
use io::metrics::{EndpointMetrics, Kind, MetricText, answer};
use noise::Stats;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Pause after a failed accept.
const BREATH: Duration = Duration::from_millis(100);

/// The latest endpoint, whose metrics are shown.
#[derive(Debug, Default)]
pub(super) struct Shown(Mutex<Option<(Endpoint, Option<Stats>)>>);

impl Shown {
    pub(super) fn set(&self, endpoint: &Endpoint, noise: &Option<Stats>) {
        let shown = Some((endpoint.clone(), noise.clone()));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}

pub(super) fn bind(address: Option<SocketAddr>) -> Result<Option<TcpListener>, TunnelError> {
    let bind =
        |address| TcpListener::bind(address).map_err(|source| TunnelError::Metrics { address, source });
    address.map(bind).transpose()
}

/// Answers HTTP requests until the tunnel has ended.
pub(super) fn serve(listener: TcpListener, tunnel: &Arc<Tunnel>, stop: &Stop) -> Result<(), TunnelError> {
    // This thread must not keep the tunnel while it waits for a request: the TUN device is
    // closed when the tunnel is dropped.
    let tunnel = Arc::downgrade(tunnel);
    let mut of_endpoint = EndpointMetrics::default();
    stop.spawn("metrics", move || {
        for stream in listener.incoming() {
            let Some(tunnel) = tunnel.upgrade() else { break };
            match stream {
                Ok(stream) => answer(stream, || text(&tunnel, &mut of_endpoint)),
                // Accepting fails if the process has no free file descriptor. After a pause there may be one.
                Err(_) => thread::sleep(BREATH),
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn text(tunnel: &Tunnel, of_endpoint: &mut EndpointMetrics) -> MetricText {
    let mut text = MetricText::default();
    let shown = tunnel.shown.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    block_on(of_endpoint.write(shown.as_ref().map(|(endpoint, _)| endpoint), &mut text));
    let peers = tunnel.roster.read().clone();
    let present = peers.iter().enumerate().filter(|(_, peer)| !peer.is_removed());
    let stats: Vec<_> = present.map(|(n, peer)| (tunnel.carrier.stats(n), peer)).collect();
    let mut of_peers = |name: &str, help: &str, value: fn(&CarrierStats) -> u64| {
        text.family(Kind::Counter, &format!("anabranch_tunnel_{name}_total"), help);
        for (stats, peer) in &stats {
            let label = [("peer", peer.name.as_str())];
            text.sample(if peer.name.is_empty() { &[] } else { &label }, value(stats) as f64);
        }
    };
    of_peers("packets_sent", "Packets of the device given to the association.", |stats| stats.sent[0]);
    of_peers("bytes_sent", "Bytes of these packets.", |stats| stats.sent[1]);
    of_peers("packets_received", "Packets of the association given to the device.", |stats| {
        stats.received[0]
    });
    of_peers("bytes_received", "Bytes of these packets.", |stats| stats.received[1]);
    of_peers("packets_dropped", "Packets of the device dropped for a full queue.", |stats| {
        stats.queue.dropped
    });
    let mut counter = |name: &str, help: &str, value: u64| {
        let name = format!("anabranch_tunnel_{name}_total");
        text.family(Kind::Counter, &name, help).sample(&[], value as f64);
    };
    if let Some((_, Some(noise))) = shown {
        counter("handshakes", "Handshakes that made a session.", noise.sessions.load(Ordering::Relaxed));
        let strangers = noise.stranger().map_or(0, |(_, count)| count);
        counter("handshakes_refused", "Handshakes with other keys.", strangers);
        let refused = noise.refused.load(Ordering::Relaxed);
        counter(
            "datagrams_refused",
            "Datagrams that were not authentic, not new or of no known form.",
            refused,
        );
    }
    text
}
