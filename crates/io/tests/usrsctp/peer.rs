//! The program `suites/overlay/usrsctp.c`, which sends or receives with usrsctp.

use crate::network::Network;
use crate::process::Running;
pub use crate::program::{Data, Report};
use std::path::Path;

impl Data {
    /// Counts a message.
    pub fn count(&mut self, message: &[u8]) {
        self.bytes += message.len() as u64;
        self.messages += 1;
        self.numbers += message.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
    }
}

/// usrsctp at the other side of a network.
pub struct Peer(Running);

impl Peer {
    /// Starts usrsctp as a server that receives the data of one association.
    pub fn receive(network: &Network, program: &Path, cmt: bool) -> Peer {
        let mut peer = Peer::start(network, program, "receive", cmt, 0.0);
        assert_eq!(peer.0.stdout_line(), "listening\n");
        peer
    }

    /// Starts usrsctp as a client that connects to this side and sends for this time.
    pub fn send(network: &Network, program: &Path, cmt: bool, seconds: f64) -> Peer {
        Peer::start(network, program, "send", cmt, seconds)
    }

    fn start(network: &Network, program: &Path, role: &str, cmt: bool, seconds: f64) -> Peer {
        let mut command = network.there(program.to_str().expect("a path in UTF-8"));
        command.args([role, if cmt { "1" } else { "0" }, &seconds.to_string()]);
        let remote = Network::addresses_here().into_iter().take(usize::from(role == "send"));
        let addresses = Network::addresses_there().into_iter().chain(remote);
        command.args(addresses.map(|address| address.to_string()));
        Peer(Running::start(&mut command))
    }

    /// Waits until the program ends. It ends by itself some time after the end of the association.
    pub fn finish(self) -> Report {
        Report::read(&self.0.finish())
    }
}
