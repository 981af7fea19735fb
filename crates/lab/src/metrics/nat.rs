use super::quantity as q;
use super::rows::RowWriter;
use crate::output::Scalar;
use net::Network;

/// The rows of all NATs, each for the whole run.
pub(crate) fn of_nats(network: &Network) -> Vec<Scalar> {
    let mut out = Vec::new();
    for (node, counters) in network.nats() {
        let name = format!("nat:{}", network.name(node));
        let mut rows = RowWriter { window: "", flow: &name, out: &mut out };
        rows.write(q::NAT_MAPPINGS, counters.mappings as f64);
        rows.write(q::NAT_DROPS, counters.dropped as f64);
    }
    out
}
