use super::batch::Batch;
use super::bind::{BindSpec, bind_to_device};
use super::buffers::Buffers;
use super::raw::{self, Framing};
use crate::stats::SocketCounters;
use mio::net::UdpSocket;
use quinn_udp::{EcnCodepoint, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockAddr, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A UDP socket that sends and receives several datagrams by one system call, or a raw socket for packets in
/// IP.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) io: UdpSocket,
    state: UdpSocketState,
    /// The address of the socket; `None` if it receives on all addresses of a family.
    pub(super) address: Option<IpAddr>,
    pub(super) is_ipv4: bool,
    pub(super) framing: Framing,
    pub(crate) counters: Arc<SocketCounters>,
    /// While this socket is open, other processes see that the SCTP port of the raw socket is in use.
    _claim: Option<socket2::Socket>,
}

/// The result of sending a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The packets were sent, or lost to errors that were counted.
    Done,
    /// The kernel's send buffer is full.
    Blocked,
}

impl Socket {
    /// Binds a UDP socket.
    ///
    /// # Errors
    /// The system's error, for example if the address is not local or is in use.
    pub(crate) fn bind(spec: &BindSpec) -> io::Result<Socket> {
        let domain = Domain::for_address(spec.address);
        let socket = socket2::Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if domain == Domain::IPV6 {
            socket.set_only_v6(true)?;
        }
        if let Some(device) = &spec.device {
            bind_to_device(&socket, device)?;
        }
        socket.bind(&SockAddr::from(spec.address))?;
        let counters = Arc::new(SocketCounters::new(spec.address.ip()));
        Socket::set_up(socket, spec, Framing::Udp, counters, None)
    }

    /// Binds a raw socket for an SCTP port, which it claims, or for all ports. The socket shares `counters`
    /// with the UDP socket at the address.
    ///
    /// # Errors
    /// The system's error, for example if the process has no `CAP_NET_RAW`.
    pub(crate) fn bind_ip(
        spec: &BindSpec,
        port: Option<u16>,
        counters: Option<Arc<SocketCounters>>,
    ) -> io::Result<Socket> {
        let address = spec.address.ip();
        let counters = counters.unwrap_or_else(|| Arc::new(SocketCounters::new(address)));
        let socket = raw::open(spec, port)?;
        let claim = port.map(|port| raw::claim(spec, port)).transpose()?;
        Socket::set_up(socket, spec, Framing::of_ip(address), counters, claim)
    }

    /// Sets the options that both kinds of sockets have: ECN, destination addresses, no fragmentation.
    fn set_up(
        socket: socket2::Socket,
        spec: &BindSpec,
        framing: Framing,
        counters: Arc<SocketCounters>,
        claim: Option<socket2::Socket>,
    ) -> io::Result<Socket> {
        let std_socket = std::net::UdpSocket::from(socket);
        let state = UdpSocketState::new(UdpSockRef::from(&std_socket))?;
        // The kernel grants sizes within its limits.
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&std_socket), spec.buffers);
        let _ = state.set_send_buffer_size(UdpSockRef::from(&std_socket), spec.buffers);
        // On other systems, or if this call fails, the protocol detects failures by timeouts.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = state.enable_transport_errors(UdpSockRef::from(&std_socket));
        std_socket.set_nonblocking(true)?;
        let address = Some(spec.address.ip()).filter(|address| !address.is_unspecified());
        Ok(Socket {
            io: UdpSocket::from_std(std_socket),
            state,
            address,
            is_ipv4: spec.address.is_ipv4(),
            framing,
            counters,
            _claim: claim,
        })
    }

    pub(crate) fn is_udp(&self) -> bool {
        self.framing.is_udp()
    }

    /// The UDP port of the socket.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.io.local_addr()?.port())
    }

    /// Sends the packets of a batch, with segmentation offload if the system has it.
    pub(super) fn send(&self, batch: &mut Batch) -> Sent {
        if !self.framing.is_udp() {
            return self.send_each(batch);
        }
        let at_once = self.state.max_gso_segments().max(1);
        if batch.packets > at_once {
            return self.send_in_pieces(batch, at_once * batch.segment);
        }
        match self.send_once(batch, &batch.bytes) {
            Ok(()) => {
                self.counters.sent(batch.packets, batch.bytes.len());
                Sent::Done
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Sent::Blocked,
            // The device may refuse segmentation offload, or an error of an earlier packet may have stopped
            // this call. The packets can still be sent one by one.
            Err(_) => self.send_in_pieces(batch, batch.segment),
        }
    }

    /// Sends `piece` bytes at a time; packets for which the kernel has no room are lost.
    fn send_in_pieces(&self, batch: &Batch, piece: usize) -> Sent {
        for bytes in batch.bytes.chunks(piece) {
            let packets = bytes.len().div_ceil(batch.segment);
            match self.send_once(batch, bytes) {
                Ok(()) => self.counters.sent(packets, bytes.len()),
                Err(error) => self.counters.send_failed(packets, &error),
            }
        }
        Sent::Done
    }

    /// Sends one packet after the other: raw sockets have no segmentation offload.
    fn send_each(&self, batch: &mut Batch) -> Sent {
        for (sent, bytes) in batch.bytes.chunks(batch.segment).enumerate() {
            // The kernel reports the error of an earlier packet once, and does not send this
            // one then. So try again.
            let again = |error: io::Error| match error.kind() {
                ErrorKind::WouldBlock => Err(error),
                _ => self.send_once(batch, bytes),
            };
            match self.send_once(batch, bytes).or_else(again) {
                Ok(()) => self.counters.sent(1, bytes.len()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    batch.skip(sent);
                    return Sent::Blocked;
                }
                Err(error) => self.counters.send_failed(1, &error),
            }
        }
        Sent::Done
    }

    fn send_once(&self, batch: &Batch, bytes: &[u8]) -> io::Result<()> {
        let transmit = quinn_udp::Transmit {
            destination: SocketAddr::new(batch.route.dst, batch.route.udp_port),
            ecn: EcnCodepoint::from_bits(batch.route.ecn as u8),
            contents: bytes,
            segment_size: Some(batch.segment),
            src_ip: self.address.is_none().then_some(batch.route.src),
        };
        self.state.try_send(UdpSockRef::from(&self.io), &transmit)
    }

    /// Reads once. False if there was nothing to read.
    ///
    /// # Errors
    /// The system's error; the socket can be used again.
    pub(super) fn receive(&self, buffers: &mut Buffers) -> io::Result<bool> {
        let io = UdpSockRef::from(&self.io);
        match buffers.fill(self.address, self.framing, |slices, meta| self.state.recv(io, slices, meta)) {
            Ok((datagrams, bytes)) => {
                self.counters.received(datagrams, bytes);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}
