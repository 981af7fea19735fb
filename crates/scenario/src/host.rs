use std::net::{IpAddr, SocketAddr};

/// A host that is not simulated: packets enter and leave the emulated network there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealHost {
    /// Index of its node in [`Scenario::nodes`](super::Scenario::nodes).
    pub node: usize,
    /// How it is attached.
    pub attachment: Attachment,
}

/// How a real host is attached to the emulated network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// The program of the host sends and receives UDP datagrams.
    Udp {
        /// Addresses of the host, one for each of its links; port 0: the port is learned.
        at: Vec<SocketAddr>,
        /// Where the programs of other hosts reach it, one for each link; port 0: the system chooses.
        appears_at: Vec<SocketAddr>,
    },
    /// The host has a TUN device for each of its links.
    Tun {
        /// Name of the device, to which a number is appended if there are several.
        device: String,
        /// Network namespace of the devices; by default that of the emulator.
        namespace: Option<String>,
        /// Addresses and lengths of prefixes, one for each link; empty: those of a simulated host.
        addresses: Vec<(IpAddr, u8)>,
    },
    /// Queues of the Rust program that runs the emulation.
    InProcess,
}
