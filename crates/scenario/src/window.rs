use units::Instant;

/// A stretch of simulated time in which everything is measured, beside the flows' own times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Unique in the scenario.
    pub name: String,
    /// Its begin.
    pub from: Instant,
    /// Its end.
    pub to: Instant,
}
