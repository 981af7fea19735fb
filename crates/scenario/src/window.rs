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
    /// Name of the window without load, with which latencies are compared.
    pub const IDLE: &str = "idle";
}
