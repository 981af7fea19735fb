//! The options of Concurrent Multipath Transfer, each by itself. Split fast retransmission and CUC are steps of SACK
//! processing, in `tx/report.rs` and `tx/cuc.rs`; the others are here.

pub(crate) mod dac;
pub(crate) mod rtx;
