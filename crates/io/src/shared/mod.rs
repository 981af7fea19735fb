//! State shared by the driver thread and the handles: a queue of commands, and a mailbox for each connection.

mod attempt;
mod backlog;
mod commands;
mod event_queue;
mod hub;
mod inbox;
mod mailbox;
mod new_connections;
mod outbox;
mod source;
pub(crate) mod wait;

pub(crate) use attempt::Attempt;
pub(crate) use commands::{Call, Command};
pub(crate) use event_queue::Reader;
pub(crate) use hub::{Hub, Places, Ports};
pub(crate) use mailbox::{Handle, Mailbox, Phase, Stop};
pub(crate) use new_connections::{NewConnections, Opening, Request};
pub(crate) use outbox::{OUTBOX, Parcel, Receipt, Ticket};
pub(crate) use source::Source;
