//! The options of Concurrent Multipath Transfer, each by itself. Split fast retransmission is a bound of the missing reports
//! in `tx/report.rs`; the others are here.

pub(crate) mod cuc;
pub(crate) mod dac;
pub(crate) mod rtx;
