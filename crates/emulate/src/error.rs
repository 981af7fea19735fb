use lab::output::RunError;
use std::io;

/// Error: why an emulation cannot begin, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// The scenario has no real host.
    #[error(
        "no host of this scenario is real; expected a [[host]] with `real`, or `anabranch run` to simulate it"
    )]
    NoRealHost,
    /// A host cannot be attached in the way that the scenario requires.
    #[error("\"{host}\": {problem}")]
    Host {
        /// Name of the host.
        host: String,
        /// The problem, and the remedy.
        problem: String,
    },
    /// The network cannot be built, or a capture cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The system cannot wait for packets.
    #[error("cannot wait for packets: {0}")]
    Wait(io::Error),
}
