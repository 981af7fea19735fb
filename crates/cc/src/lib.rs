//! Congestion control over several paths.
#![forbid(unsafe_code)]

mod algorithm;
mod control;
mod loss_based;
mod names;
mod policy;
mod setup;
mod window;

pub use algorithm::Algorithm;
pub use control::CongestionControl;
pub use loss_based::LossBased;
pub use names::UnknownName;
pub use policy::{Phase, Snapshot, WindowPolicy};
pub use setup::{GrowthRule, Setup, UnsetShare};
pub use window::{LossKind, PathAck, PathView, Window};
