//! Options that may change while the association exists: socket options of RFC 6458, sections 8.1 and 8.3.

use super::Association;
use crate::config::Config;
use std::sync::Arc;
use transport::{ConfigError, options_subset};
use units::{ByteCount, Instant, Span};

options_subset! {
    /// The options of an association that can change while it exists.
    pub struct AssocOptions of Config {
        /// [`Config::rto_initial`] (`SCTP_RTOINFO`), for paths without a measurement.
        rto_initial: Span,
        /// [`Config::rto_min`] (`SCTP_RTOINFO`).
        rto_min: Span,
        /// [`Config::rto_max`] (`SCTP_RTOINFO`).
        rto_max: Span,
        /// [`Config::max_burst`] (`SCTP_MAX_BURST`).
        max_burst: u32,
        /// [`Config::association_max_retrans`] (`SCTP_ASSOCINFO`).
        association_max_retrans: u32,
        /// [`Config::path_max_retrans`] (`SCTP_PEER_ADDR_PARAMS`).
        path_max_retrans: u32,
        /// [`Config::potentially_failed`] (`SCTP_PEER_ADDR_THLDS`, `rfc7829#section-7.2`).
        potentially_failed: Option<u32>,
        /// [`Config::primary_switchover`] (`SCTP_PEER_ADDR_THLDS`).
        primary_switchover: Option<u32>,
        /// [`Config::hb_interval`] (`SCTP_PEER_ADDR_PARAMS`).
        hb_interval: Option<Span>,
        /// [`Config::sack_delay`] (`SCTP_DELAYED_SACK`).
        sack_delay: Span,
        /// [`Config::sack_frequency`] (`SCTP_DELAYED_SACK`).
        sack_frequency: u32,
        /// [`Config::nagle`]; the inverse of `SCTP_NODELAY`.
        nagle: bool,
        /// [`Config::partial_delivery_point`] (`SCTP_PARTIAL_DELIVERY_POINT`), from the next chunk on.
        partial_delivery_point: Option<ByteCount>,
    }
}

impl Association {
    pub(crate) fn options(&self) -> AssocOptions {
        AssocOptions::of(self.config())
    }

    pub(crate) fn set_options(&mut self, now: Instant, options: &AssocOptions) -> Result<(), ConfigError> {
        let old = self.sender.shared_config();
        let new = options.over(&old);
        new.check()?;
        for path in self.paths.iter_mut() {
            path.rto.rebound(&old, &new);
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.set_sack_options(now, new.sack_delay, new.sack_frequency);
            receiver.set_partial_point(new.partial_delivery_point);
        }
        let heartbeats = new.hb_interval != old.hb_interval;
        self.sender.set_config(Arc::new(new));
        if heartbeats {
            self.restart_heartbeats(now);
        }
        self.settle(now);
        Ok(())
    }
}
