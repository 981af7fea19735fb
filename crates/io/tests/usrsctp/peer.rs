//! The program `peer.c`, which sends or receives with usrsctp.

use crate::network::Network;
use crate::process::Running;
use std::path::{Path, PathBuf};
use std::process::Command;

/// User data sent or received. Each message begins with its number, in 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Bytes of all messages.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
    /// Sum of the messages' numbers.
    pub numbers: u64,
}

impl Data {
    /// Counts a message.
    pub fn count(&mut self, message: &[u8]) {
        self.bytes += message.len() as u64;
        self.messages += 1;
        self.numbers += message.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
    }
}

/// What usrsctp has done.
#[derive(Debug)]
pub struct Report {
    /// What it sent or received.
    pub data: Data,
    /// Seconds from its first message to the last one, as receiver; to the end of the association, as sender.
    pub seconds: f64,
    /// Whether the association ended gracefully.
    pub graceful: bool,
    /// Everything it says.
    pub json: serde_json::Value,
}

/// Compiles a program of this folder into another one.
///
/// # Errors
/// What is missing.
pub fn compile(source: &str, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("usrsctp-peer");
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/usrsctp")).join(source);
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program);
    let output = command.arg(&source).args(["-lusrsctp", "-lpthread"]).output();
    match output {
        Err(_) => Err("the C compiler cc".into()),
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            let missing = why.contains("usrsctp.h") || why.contains("cannot find -lusrsctp");
            assert!(missing, "{} cannot be compiled: {why}", source.display());
            Err("libusrsctp with its header".into())
        }
    }
}

/// usrsctp at the other side of a network.
pub struct Peer(Running);

impl Peer {
    /// Makes usrsctp wait for an association whose data it receives.
    pub fn receive(network: &Network, program: &Path, cmt: bool) -> Peer {
        let mut peer = Peer::start(network, program, "receive", cmt, 0.0);
        assert_eq!(peer.0.stdout_line(), "listening\n");
        peer
    }

    /// Makes usrsctp connect to this side and send for so many seconds.
    pub fn send(network: &Network, program: &Path, cmt: bool, seconds: f64) -> Peer {
        Peer::start(network, program, "send", cmt, seconds)
    }

    fn start(network: &Network, program: &Path, role: &str, cmt: bool, seconds: f64) -> Peer {
        let mut command = network.there(program.to_str().expect("a path in UTF-8"));
        command.args([role, if cmt { "1" } else { "0" }, &seconds.to_string()]);
        let addresses =
            Network::addresses_there().into_iter().chain(Network::addresses_here().into_iter().take(1));
        command.args(addresses.map(|address| address.to_string()));
        Peer(Running::start(&mut command))
    }

    /// Waits until the program ends, which it does some time after the association at the latest.
    pub fn finish(self) -> Report {
        let printed = self.0.finish();
        let json: serde_json::Value =
            serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
        let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("no {key} in {printed}"));
        Report {
            data: Data { bytes: number("bytes"), messages: number("messages"), numbers: number("numbers") },
            seconds: json["seconds"].as_f64().expect("a number"),
            graceful: json["graceful"] == true,
            json,
        }
    }
}
