//! Scenarios: the network, the flows over it and the quantities to record, all in one TOML file.
//!
//! [`Sweep::parse`] reads a file. A file describes one [`Scenario`], or with variations one for each
//! combination of them. [`schema`] is the JSON Schema of such files.
#![forbid(unsafe_code)]

mod change;
mod decode;
mod detour;
mod diagnostic;
mod file;
mod flow;
mod host;
mod link;
mod model;
mod probe;
mod quantity;
mod resolve;
mod schema;
mod settings;
mod sweep;
mod transfers;
mod tree;
mod trial;
mod vary;
mod window;

pub use change::{Effect, RunChange, Trigger};
pub use diagnostic::{Diagnostic, ScenarioError, expected_one_of, nearest, render};
pub use file::{assoc_options_over, sctp_options, sctp_options_over};
pub use flow::{
    Change, Changes, Distribution, Flow, Hertz, IpVersion, LocalAddress, OnOff, Pace, PrimaryPath, Protocol,
    RemoteAddress, StreamResetType, StreamResets, Traffic,
};
pub use host::{Attachment, RealHost};
pub use link::{Link, Outage, Renumbering};
pub use model::{Node, NodeKind, Scenario};
pub use probe::{Capture, Every, Probe, ProbeQuantity, ProbeTarget};
pub use schema::schema;
pub use settings::with_values;
pub use sweep::{Recipe, Sweep, Variant, hexadecimal};
pub use transfers::Transfers;
pub use trial::{Misfit, NewTrial, Trial};
pub use vary::{Axis, AxisValue};
pub use window::Window;

use quantity::Quantity;
use units::Span;

/// The longest time that a scenario may contain: a hundred years.
pub const LONGEST_TIME: Span = Span::from_nanos(Span::MOST_SMALLEST);
