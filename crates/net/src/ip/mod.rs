//! IP packets: headers of packets for captures and real hosts, and whole packets that real hosts send.

mod header;
mod whole;

pub(crate) use header::{Label, write_header};
pub use whole::Whole;
pub(crate) use whole::set_ecn;
