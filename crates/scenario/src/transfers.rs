use super::{Distribution, Flow, Hertz};
use units::{ByteCount, Instant};

/// Short transfers. Each is a connection that begins at a random time, carries a number of bytes from client
/// to server, and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    /// Template of each connection. Its name is the name of these transfers; its times, client port and pace
    /// are not used.
    pub like: Flow,
    /// Transfers per second. With an exponential distribution the arrivals are a Poisson process.
    pub rate: Distribution<Hertz>,
    /// Size of a transfer.
    pub size: Distribution<ByteCount>,
    /// The first transfer begins one random wait after this time.
    pub from: Instant,
    /// No transfer begins after this time.
    pub to: Instant,
}
