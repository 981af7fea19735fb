use transport::named;

named! {
    /// State of a path under a control with a model of the path. Its number is `state` in
    /// [`CongestionControl::inspect`](crate::CongestionControl::inspect).
    "state" ModelState {
        /// The rate doubles each round trip.
        Startup = "startup",
        /// The queue of Startup drains.
        Drain = "drain",
        /// The queue that the last bandwidth probe built drains.
        Down = "down",
        /// The rate equals the measured bandwidth.
        Cruise = "cruise",
        /// The path is filled before the rate is raised.
        Refill = "refill",
        /// The rate exceeds the measured bandwidth.
        Up = "up",
        /// The queue is drained to measure the propagation delay.
        ProbeRtt = "probe-rtt",
    }
}

impl ModelState {
    /// The number under which `CongestionControl::inspect` reports the state.
    pub fn number(self) -> f64 {
        f64::from(self as u8)
    }
}
