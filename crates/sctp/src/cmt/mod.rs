//! Concurrent multipath transfer: the options that make sending over several paths at once worth while, each by
//! itself. Split fast retransmission is a bound in the missing reports; the rest is here.

pub(crate) mod cuc;
pub(crate) mod dac;
pub(crate) mod rtx;
