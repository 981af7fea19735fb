use super::{Distribution, Flow, Hertz};
use units::{ByteCount, Instant};

/// Short transfers: each a connection of its own that begins at a random time, carries so many bytes from client to
/// server, and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    /// What each connection is like. Its name is that of all the transfers; its times, ports of the client and pace are
    /// not used.
    pub like: Flow,
    /// Transfers a second; with an exponential law their arrivals are Poisson's.
    pub rate: Distribution<Hertz>,
    /// Bytes of each.
    pub size: Distribution<ByteCount>,
    /// The first comes one wait after this.
    pub from: Instant,
    /// None comes after this.
    pub to: Instant,
}
