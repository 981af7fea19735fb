//! What only tests need: two endpoints face to face ([`Pair`], [`TcpPair`]), one whose peer the test plays ([`Played`]), clients behind a NAT
//! ([`Natted`]), and
//! dialogues of any two stacks over a simulated network ([`World`]), and a lossy network of real sockets ([`Relay`]).
#![forbid(unsafe_code)]

mod dialogue;
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
pub use nat::{NatSent, Natted};
pub use ours::Ours;
pub use packet::{causes, describe, header, packet, parse};
pub use pair::{Fate, Pair, Sent, Side, endpoint_config};
pub use played::{Played, Seen};
pub use relay::{Faults, Relay};
pub use station::{Ending, Speaker, Station};
pub use talk::{Ledger, Line, Script};
pub use tcp_pair::{TcpPair, TcpSent};
pub use world::{Traffic, World};
