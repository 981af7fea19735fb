//! The probes of a measurement of latency.

use super::data::{bind, io_peer};
use super::{Client, MeasureError};
use crate::latency::{Probed, Prober};
use std::time::Instant;

impl Client {
    /// Starts to probe, if latency is to be measured. `started`: when the answer to START arrived.
    pub(super) fn probe(&self, started: Instant) -> Result<Option<Prober>, MeasureError> {
        let Some(plan) = self.options.latency else { return Ok(None) };
        let ([down, up], [association]) = (&self.flows[..], &self.associations[..]) else {
            return Err(MeasureError::System("latency needs the two flows of one association".to_owned()));
        };
        // A key is in use by one association at a time, so with keys no new association can be probed.
        let foreign = self.options.keys.is_none().then(|| {
            let options = self.options.clone();
            let peer = io_peer(&options.peers, options.port);
            (Box::new(move || bind(&options, None)) as _, peer)
        });
        let probed = Probed {
            plan,
            started,
            cookie: self.samples.cookie(),
            connection: association.connection.clone(),
            stream: self.flows.len() as u16,
            own: self.own_probes.clone(),
            flows: [down.flow.clone(), up.flow.clone()],
            foreign,
        };
        Prober::start(probed).map(Some).map_err(|error| MeasureError::System(error.to_string()))
    }
}
