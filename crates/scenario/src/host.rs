use std::net::{IpAddr, SocketAddr};

/// A host that is not simulated: packets enter and leave the emulated network there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealHost {
    /// Index of its node in [`Scenario::nodes`](super::Scenario::nodes).
    pub node: usize,
    /// How the host is attached.
    pub attachment: Attachment,
}

/// How a real host is attached to the emulated network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// The program of the host sends and receives UDP datagrams.
    Udp {
        /// Addresses of the host, one for each of its links. Port 0: the emulator learns the port.
        at: Vec<SocketAddr>,
        /// Addresses at which other hosts reach this host, one for each link. Port 0: the system chooses the
        /// port.
        appears_at: Vec<SocketAddr>,
    },
    /// The host has a TUN device for each of its links.
    Tun {
        /// Name of the device, to which a number is appended if there are several.
        device: String,
        /// Network namespace of the devices; by default that of the emulator.
        namespace: Option<String>,
        /// Addresses and prefix lengths, one for each link. If empty, those of a simulated host are used.
        addresses: Vec<(IpAddr, u8)>,
    },
    /// Queues of the Rust program that runs the emulation.
    InProcess,
}
