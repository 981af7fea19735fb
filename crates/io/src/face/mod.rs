//! What applications hold: handles with `async` methods that run on any runtime.

mod connection;
mod endpoint;
mod error;
mod events;
mod listener;
mod message;
mod peer;

pub use connection::{Connection, StreamReader};
pub use endpoint::Endpoint;
pub use error::{ConnectError, ConnectionError, EndpointClosed, Lagged, SendError, TrySendError};
pub use events::Events;
pub use listener::Listener;
pub use message::{Message, Received};
pub use peer::Peer;
