//! Types of the arguments and results of calls.

mod error;
mod message;
mod peer;

pub use error::{
    AddressError, BindError, ConnectError, ConnectionError, KeyError, Lagged, NotDelivered, OptionsError,
    PathError, RestoreError, SendError, StreamError, TrySendError,
};
pub use message::{Message, Received};
pub use peer::Peer;
