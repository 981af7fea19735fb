//! The handles of applications, whose `async` methods run on any runtime.

mod addresses;
mod builder;
mod connection;
#[cfg(test)]
mod death_tests;
mod endpoint;
mod events;
mod hold;
mod keys;
mod listener;
mod reader;
mod saved;
mod sending;
mod streams;
mod writer;

pub use builder::Builder;
pub use connection::Connection;
pub use endpoint::Endpoint;
pub use events::Events;
pub use listener::Listener;
pub use reader::{Messages, StreamReader};
pub use sending::Delivery;
pub use writer::MessageWriter;
