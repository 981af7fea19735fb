//! The stack on UDP sockets for Python. `anabranch.net` and `anabranch.aio` both consist of these classes. A
//! call that takes time is an [`Operation`]. A thread waits for it without the GIL, or an event loop polls
//! it.

mod arguments;
mod connection;
mod delivery;
mod endpoint;
mod error;
mod events;
mod keys;
mod link;
mod listener;
mod message;
mod operation;
mod own;
mod pair;
mod wakeups;
mod writer;

pub use connection::NetConnection;
pub use delivery::NetDelivery;
pub use endpoint::{NetEndpoint, SocketStats};
pub use error::{ConnectionLostError, EndpointClosedError, NotDeliveredError};
pub use events::NetEvents;
pub use listener::NetListener;
pub use message::Message;
pub use operation::Operation;
pub use wakeups::Wakeups;
pub use writer::NetWriter;
