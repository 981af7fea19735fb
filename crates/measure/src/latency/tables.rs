//! Rows about latency in the tables of a measurement. The field `window` of a scalar is the name of the
//! phase.

use super::plan::Phase;
use super::report::{Latency, ProbeKind, Probes};
use lab::output::{Scalar, Series};
use units::{Instant, Span};

/// Name of the quantity RPM in tables, and flow name of its rows.
const RPM: &str = "rpm";
const PROBE: &str = "probe:all";
/// Name of the series of round-trip times, in seconds.
const SERIES: &str = "probe-rtt";

impl Probes {
    fn path(&self) -> Option<u8> {
        match self.kind {
            ProbeKind::Path { path, .. } => Some(path),
            ProbeKind::Own | ProbeKind::Handshake | ProbeKind::Message => None,
        }
    }
}

impl Latency {
    /// The scalars: percentiles, jitter, loss and added latency of each kind of probes, and RPM.
    pub(crate) fn scalars(&self) -> Vec<Scalar> {
        let mut rows = Vec::new();
        for one in &self.phases {
            let mut row = |flow: &str, path: Option<u8>, quantity: &'static str, value: f64| {
                let (flow, window) = (flow.to_owned(), one.phase.to_string());
                rows.push(Scalar { flow, window, path, quantity, value });
            };
            for probes in &self.probes {
                let (flow, path) = (probes.kind.name(), probes.path());
                if let Some(spread) = self.spread(probes, one.phase) {
                    row(flow, path, "rtt_p50_s", spread.p50);
                    row(flow, path, "rtt_p95_s", spread.p95);
                    row(flow, path, "rtt_p99_s", spread.p99);
                    row(flow, path, "rtt_jitter_s", spread.jitter);
                    row(flow, path, "rtt_lost_share", spread.lost as f64 / spread.sent as f64);
                }
                if let Some(added) = self.added(probes, one.phase) {
                    row(flow, path, "rtt_added_s", added);
                }
            }
            if let Some(rpm) = self.rpm(one.phase) {
                row(PROBE, None, RPM, rpm);
            }
            if one.phase != Phase::Idle {
                row(PROBE, None, "load_down_bps", one.load[0]);
                row(PROBE, None, "load_up_bps", one.load[1]);
            }
        }
        rows
    }

    /// The round-trip time of each answered probe, at the time of sending.
    pub(crate) fn series(&self) -> Vec<Series> {
        let series = |probes: &Probes| {
            let points = probes
                .rtts
                .iter()
                .filter_map(|(at, rtt)| Some((Instant::ZERO + Span::from_secs_f64(*at), (*rtt)?)));
            let flow = probes.kind.name().to_owned();
            Series { flow, path: probes.path(), quantity: SERIES, points: points.collect() }
        };
        self.probes.iter().map(series).collect()
    }
}
