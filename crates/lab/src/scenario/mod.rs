//! Scenarios: the network, the flows over it and what is recorded, all in one TOML file.

mod flow;
mod link;
mod model;
mod probe;

pub use flow::{
    Distribution, Flow, Hertz, IpVersion, LocalAddress, Pace, PrimaryPath, Protocol, RemoteAddress, Traffic,
};
pub use link::{Direction, Link, Outage, Queue, QueueLimit, Red, RedUnit};
pub use model::{Node, NodeKind, Scenario};
pub use probe::{Capture, Every, Probe, ProbeQuantity, ProbeTarget};
