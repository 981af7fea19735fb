//! Metrics for Prometheus.

use super::{ServerError, Shared, accept};
use io::Endpoint;
use io::blocking::block_on;
use io::metrics::{EndpointMetrics, Kind, MetricText, answer};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::Ordering;

pub fn bind(address: SocketAddr) -> Result<TcpListener, ServerError> {
    let bound =
        TcpListener::bind(address).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map_err(|source| ServerError::Metrics { address, source })
}

/// Answers HTTP requests until the server ends.
pub fn serve(shared: &Shared, requests: &TcpListener, endpoint: &Endpoint) {
    let mut of_endpoint = EndpointMetrics::default();
    while !shared.over.is_closed() {
        let Some((stream, _)) = accept(requests, &shared.over) else { continue };
        answer(stream, || {
            let mut text = MetricText::default();
            block_on(of_endpoint.write(Some(endpoint), &mut text));
            let sessions = shared.sessions.len() as f64;
            text.family(Kind::Gauge, "anabranch_measure_sessions", "Control connections.")
                .sample(&[], sessions);
            let measured = shared.measured.load(Ordering::Relaxed) as f64;
            let name = "anabranch_measure_measurements_total";
            text.family(Kind::Counter, name, "Measurements that have ended.").sample(&[], measured);
            text
        });
    }
}
