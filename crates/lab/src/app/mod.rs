//! Applications: NetPerfMeter (paper 001, section 4.4), the sender and receiver at both ends of a flow.

mod bounds;
mod flow;
mod meter;
mod running;
mod source;
mod transfers;

pub(crate) use flow::{Dial, Fate, Flow, Measured, Plan, Step, Window};
pub(crate) use meter::{Meter, Reaction, Tally};
pub(crate) use running::{Running, Signal};
pub(crate) use source::Source;
pub(crate) use transfers::{Done, Lane, TransferSource};
