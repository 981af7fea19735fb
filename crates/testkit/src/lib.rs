//! Test harnesses: two connected endpoints ([`Pair`], [`TcpPair`]), an endpoint whose peer is scripted by the
//! test ([`Played`]), and clients behind a NAT ([`Natted`]). Any two stacks exchange messages ([`Dialogue`])
//! over a simulated network ([`World`]) or over real sockets and a lossy relay ([`Relay`]). [`Interop`]
//! records the extensions that work with other stacks.
#![forbid(unsafe_code)]

mod dialogue;
pub mod dissect;
mod interop;
pub mod machine;
mod nat;
mod ours;
mod packet;
mod pair;
mod played;
mod relay;
mod station;
mod talk;
mod tcp_pair;
mod world;

pub use dialogue::Dialogue;
pub use interop::Interop;
pub use nat::{NatSent, Natted};
pub use ours::Ours;
pub use packet::{causes, describe, header, packet, parse};
pub use pair::{Fate, Pair, Sent, Side, endpoint_config, ms};
pub use played::{Played, Seen};
pub use relay::{Faults, Relay};
pub use station::{Ending, Speaker, Station};
pub use talk::{Ledger, Line, Script};
pub use tcp_pair::{TcpPair, TcpSent};
pub use world::{Traffic, World};
