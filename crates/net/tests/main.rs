//! All tests of the crate in one program, which is built much faster than one for each file.

mod buckets;
mod capture;
mod common;
mod conservation;
mod disciplines;
mod links;
mod nat;
mod routing;
