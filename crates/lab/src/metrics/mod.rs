//! The numbers of a run: what each [`quantity`] of flows, paths and links is, and how it comes about.

mod flow;
mod link;
pub mod quantity;

pub(crate) use flow::{of_flows, warnings};
pub(crate) use link::{LinkWindow, direction_name};
