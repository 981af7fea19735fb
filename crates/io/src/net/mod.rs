//! Sockets: one for each local address, or one for each address family, of UDP, raw IP or both.

mod batch;
mod bind;
mod buffers;
mod clock;
mod errors;
mod nap;
mod overflow;
mod places;
mod raw;
mod socket;
mod sockets;
mod watch;

pub(crate) use bind::BindSpec;
pub(crate) use buffers::Buffers;
pub(crate) use clock::Clock;
pub(crate) use errors::Report;
pub(crate) use overflow::dropped;
pub(crate) use places::{bind_raw_sockets, bind_sockets, claim_port, interface_addresses, is_claimed};
pub(crate) use socket::Socket;
pub use sockets::Ready;
pub(crate) use sockets::{OTHERS, Sockets};
pub(crate) use watch::{Watch, is_reachable, working_addresses};
