//! What only tests need.
#![forbid(unsafe_code)]
