use io::BindError;
use noise::NoiseError;
use std::io as std_io;
use std::net::SocketAddr;

/// Error: the tunnel cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// The TUN device cannot be created or used.
    #[error(
        "the TUN device {name} cannot be made or used, which needs CAP_NET_ADMIN and /dev/net/tun: {source}"
    )]
    Device {
        /// Name of the TUN device.
        name: String,
        /// The system's error.
        source: std_io::Error,
    },
    /// No uplink has an address now.
    #[error("none of the uplinks is up and has an address: {0}")]
    NoUplink(String),
    /// The sockets cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Encryption cannot begin.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The status socket cannot be created.
    #[error("the socket for --status cannot be made: {0}")]
    Status(std_io::Error),
    /// The address of the metrics cannot be bound.
    #[error("metrics: {address} cannot be bound: {source}")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std_io::Error,
    },
    /// The system cannot create a thread.
    #[error("the system gives no thread: {0}")]
    System(#[from] std_io::Error),
    /// The TUN device was deleted while the tunnel ran.
    #[error("the TUN device was deleted while the tunnel ran: start the tunnel again, which makes a new one")]
    DeviceGone,
    /// The thread that drives the sockets ended.
    #[error("the thread of the sockets ended: start the tunnel again")]
    Closed,
    /// Another thread ended by an error in this program.
    #[error(
        "the thread \"{0}\" ended by a mistake in this program: please report it; start the tunnel again"
    )]
    Thread(&'static str),
}
