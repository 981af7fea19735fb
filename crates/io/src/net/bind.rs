//! The address and the interface to which a socket is bound.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use std::io::ErrorKind;
use std::{io, net::SocketAddr};

/// The address and options of a socket.
#[derive(Clone, Debug)]
pub(crate) struct BindSpec {
    /// A local address, or the unspecified address of a family.
    pub(crate) address: SocketAddr,
    /// The interface that packets must use (`SO_BINDTODEVICE`).
    pub(crate) device: Option<String>,
    /// Requested size of each of the kernel's two buffers.
    pub(crate) buffers: usize,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn bind_to_device(socket: &socket2::Socket, device: &str) -> io::Result<()> {
    socket.bind_device(Some(device.as_bytes()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn bind_to_device(_: &socket2::Socket, _: &str) -> io::Result<()> {
    Err(io::Error::new(ErrorKind::Unsupported, "only Linux binds sockets to devices"))
}
