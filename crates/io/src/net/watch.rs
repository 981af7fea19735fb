//! Addresses of the host's interfaces, which appear and disappear.

use std::io;
use std::net::IpAddr;

/// The addresses of all working interfaces.
pub(crate) fn working_addresses() -> io::Result<Vec<IpAddr>> {
    let all = if_addrs::get_if_addrs()?.into_iter().filter(if_addrs::Interface::is_oper_up);
    Ok(all.map(|interface| interface.ip()).collect())
}

/// True if other hosts may send to an address: a unicast address that is neither loopback nor link-local.
pub(crate) fn is_reachable(address: IpAddr) -> bool {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !address.is_loopback() && !address.is_unspecified() && !address.is_multicast() && !link_local
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::Watch;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use nix::libc::{RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR, RTMGRP_LINK};
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
    };
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};

    /// Detects changes of an interface or its addresses (rtnetlink(7)).
    #[derive(Debug)]
    pub(crate) struct Watch(OwnedFd);

    impl Watch {
        /// Begins to watch.
        ///
        /// # Errors
        /// The system's error.
        pub(crate) fn start() -> io::Result<Self> {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
            let groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
            bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups as u32))?;
            Ok(Watch(socket))
        }

        pub(in crate::net) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
            registry.register(&mut SourceFd(&self.0.as_raw_fd()), token, Interest::READABLE)
        }

        /// Discards the messages, which only say that something changed.
        pub(in crate::net) fn drain(&self) {
            let mut bytes = [0; 8192];
            while recv(self.0.as_raw_fd(), &mut bytes, MsgFlags::empty()).is_ok_and(|length| length > 0) {}
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use other::Watch;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod other {
    use mio::{Registry, Token};
    use std::io;

    /// On other systems changes of interfaces are not reported.
    #[derive(Debug)]
    pub(crate) enum Watch {}

    impl Watch {
        pub(crate) fn start() -> io::Result<Self> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux tells of addresses that come and go"))
        }

        pub(in crate::net) fn register(&self, _: &Registry, _: Token) -> io::Result<()> {
            match *self {}
        }

        pub(in crate::net) fn drain(&self) {
            match *self {}
        }
    }
}
