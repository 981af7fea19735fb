//! Options that may change while the association lives: the socket options of RFC 6458, sections 8.1 and 8.3.

use super::Association;
use crate::config::Config;
use std::sync::Arc;
use transport::ConfigError;
use units::{Instant, Span};

/// The options of an association that can change while it lives, each as in [`Config`].
#[derive(Clone, Debug, PartialEq)]
pub struct AssocOptions {
    /// [`Config::rto_initial`] (`SCTP_RTOINFO`), for paths without a measurement.
    pub rto_initial: Span,
    /// [`Config::rto_min`] (`SCTP_RTOINFO`).
    pub rto_min: Span,
    /// [`Config::rto_max`] (`SCTP_RTOINFO`).
    pub rto_max: Span,
    /// [`Config::association_max_retrans`] (`SCTP_ASSOCINFO`).
    pub association_max_retrans: u32,
    /// [`Config::path_max_retrans`] (`SCTP_PEER_ADDR_PARAMS`).
    pub path_max_retrans: u32,
    /// [`Config::potentially_failed`] (`SCTP_PEER_ADDR_THLDS`, `rfc7829#section-7.2`).
    pub potentially_failed: Option<u32>,
    /// [`Config::primary_switchover`] (`SCTP_PEER_ADDR_THLDS`).
    pub primary_switchover: Option<u32>,
    /// [`Config::hb_interval`] (`SCTP_PEER_ADDR_PARAMS`).
    pub hb_interval: Option<Span>,
    /// [`Config::sack_delay`] (`SCTP_DELAYED_SACK`).
    pub sack_delay: Span,
    /// [`Config::sack_frequency`] (`SCTP_DELAYED_SACK`).
    pub sack_frequency: u32,
    /// [`Config::max_burst`] (`SCTP_MAX_BURST`).
    pub max_burst: u32,
    /// [`Config::nagle`]; the inverse of `SCTP_NODELAY`.
    pub nagle: bool,
}

impl AssocOptions {
    /// What a configuration says.
    pub fn of(config: &Config) -> Self {
        AssocOptions {
            rto_initial: config.rto_initial,
            rto_min: config.rto_min,
            rto_max: config.rto_max,
            association_max_retrans: config.association_max_retrans,
            path_max_retrans: config.path_max_retrans,
            potentially_failed: config.potentially_failed,
            primary_switchover: config.primary_switchover,
            hb_interval: config.hb_interval,
            sack_delay: config.sack_delay,
            sack_frequency: config.sack_frequency,
            max_burst: config.max_burst,
            nagle: config.nagle,
        }
    }

    /// A configuration with these options in place of its own.
    fn over(&self, config: &Config) -> Config {
        Config {
            rto_initial: self.rto_initial,
            rto_min: self.rto_min,
            rto_max: self.rto_max,
            association_max_retrans: self.association_max_retrans,
            path_max_retrans: self.path_max_retrans,
            potentially_failed: self.potentially_failed,
            primary_switchover: self.primary_switchover,
            hb_interval: self.hb_interval,
            sack_delay: self.sack_delay,
            sack_frequency: self.sack_frequency,
            max_burst: self.max_burst,
            nagle: self.nagle,
            ..config.clone()
        }
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
