//! IP packets: the headers that captures and real hosts get, and whole packets that real hosts send.

mod header;
mod whole;

pub(crate) use header::{Label, write_header};
pub use whole::Whole;
pub(crate) use whole::set_ecn;
