//! Which options can work.

use super::{Config, LEAST_WINDOW, MTU};
use transport::{ConfigError, check};
use units::{ByteCount, Span};

impl Config {
    /// Says which option cannot work, if one cannot.
    ///
    /// # Errors
    /// [`ConfigError`] with the first such option.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_timers()?;
        self.check_counts()?;
        self.check_buffers()
    }

    fn check_timers(&self) -> Result<(), ConfigError> {
        check(!self.rto_min.is_zero(), "rto_min", self.rto_min, "more than zero")?;
        check(self.rto_min <= self.rto_max, "rto_max", self.rto_max, "at least rto_min")?;
        let initial = self.rto_initial;
        check(
            !initial.is_zero() && initial <= self.rto_max,
            "rto_initial",
            initial,
            "more than zero, at most rto_max",
        )?;
        if let Some(most) = self.init_rto_max {
            check(!most.is_zero(), "init_rto_max", most, "more than zero, or none for rto_max")?;
        }
        for (option, weight) in [("rto_alpha", self.rto_alpha), ("rto_beta", self.rto_beta)] {
            check(weight > 0.0 && weight <= 1.0, option, weight, "a number above 0, at most 1")?;
        }
        let jitter = self.rto_jitter;
        check((0.0..=0.5).contains(&jitter), "rto_jitter", jitter, "a number from 0 to 0.5")?;
        let life = self.valid_cookie_life;
        check(!life.is_zero(), "valid_cookie_life", life, "more than zero")?;
        if let Some(interval) = self.hb_interval {
            check(!interval.is_zero(), "hb_interval", interval, "more than zero, or none for no heartbeats")?;
        }
        // rfc9260#section-6.2: an implementation must not allow more.
        check(self.sack_delay <= Span::from_millis(500), "sack_delay", self.sack_delay, "at most 500 ms")
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        for (option, count) in [
            ("max_burst", self.max_burst),
            ("association_max_retrans", self.association_max_retrans),
            ("hb_max_burst", self.hb_max_burst),
            ("sack_frequency", self.sack_frequency),
            ("outbound_streams", self.outbound_streams.into()),
            ("max_inbound_streams", self.max_inbound_streams.into()),
        ] {
            check(count > 0, option, count, "at least 1")?;
        }
        let packets = self.initial_window.unwrap_or(1);
        check(
            (1..=10_000).contains(&packets),
            "initial_window",
            packets,
            "1 to 10000 packets, or none for RFC 9260's",
        )?;
        check(self.send_queue != Some(0), "send_queue", 0, "at least 1, or none for no limit in messages")?;
        let (failing, switchover) = (self.potentially_failed, self.primary_switchover);
        let expected = "at most path_max_retrans";
        let most = self.path_max_retrans;
        check(failing.is_none_or(|n| n <= most), "potentially_failed", failing.unwrap_or(0), expected)?;
        // rfc7829#section-5: no sooner than a path has potentially failed.
        check(
            switchover.is_none_or(|n| n >= failing.unwrap_or(0)),
            "primary_switchover",
            switchover.unwrap_or(0),
            "at least potentially_failed",
        )?;
        check(!self.cmt.weights.contains(&0), "cmt.weights", 0, "at least 1")?;
        check(self.rp_min > 0, "rp_min", self.rp_min, "at least 1")?;
        self.knobs.check()
    }

    fn check_buffers(&self) -> Result<(), ConfigError> {
        check(MTU.contains(&self.mtu.get()), "mtu", self.mtu, "576 to 65535 bytes")?;
        let window = u64::from(LEAST_WINDOW)..=u64::from(u32::MAX);
        let receive = self.receive_buffer;
        check(window.contains(&receive.get()), "receive_buffer", receive, "1500 to 4294967295 bytes")?;
        check(self.sws_limit < receive, "sws_limit", self.sws_limit, "less than receive_buffer")?;
        check(self.send_buffer > ByteCount::ZERO, "send_buffer", self.send_buffer, "at least 1 byte")
    }
}
