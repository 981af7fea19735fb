use units::Instant;

/// An interval of simulated time in which all flows are measured, in addition to the measurement time of each
/// flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Unique in the scenario.
    pub name: String,
    /// Start of the interval.
    pub from: Instant,
    /// End of the interval.
    pub to: Instant,
}

impl Window {
    /// Name of the interval in which no flow sends. Latencies
    /// while flows send are compared with those in this interval.
    pub const IDLE: &str = "idle";
}
