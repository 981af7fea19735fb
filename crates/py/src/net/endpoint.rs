//! An endpoint on UDP sockets.

use super::arguments::OneOrMore;
use super::connection::NetConnection;
use super::error;
use super::keys::{self, Keys};
use super::listener::NetListener;
use super::operation::Operation;
use super::own::Own;
use crate::arguments::{Address, Addresses, Port};
use crate::options;
use io::{Config, Endpoint, Peer};
use pyo3::prelude::*;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// An SCTP port on UDP sockets, driven by a thread of its own.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetEndpoint {
    inner: Own<Endpoint>,
    remote_udp_port: u16,
    config: Arc<Config>,
    /// Public key of this end, if packets are encrypted.
    identity: Option<String>,
}

/// Counters of a UDP socket.
#[pyclass(frozen, get_all, module = "anabranch.net")]
pub struct SocketStats {
    /// Address to which the socket is bound; the unspecified address for all addresses of a family.
    address: IpAddr,
    /// Packets sent.
    packets_sent: u64,
    /// UDP payload bytes sent.
    bytes_sent: u64,
    /// System calls that sent packets.
    sends: u64,
    /// Packets received.
    packets_received: u64,
    /// UDP payload bytes received.
    bytes_received: u64,
    /// System calls that received packets.
    receives: u64,
    /// Packets that the system dropped because the receive buffer was full; Linux only.
    receive_overflow: u64,
    /// Packets that the system refused to send.
    send_errors: u64,
    /// The ``errno`` of the last send error; 0: none.
    last_error: i32,
}

impl From<io::SocketStats> for SocketStats {
    fn from(stats: io::SocketStats) -> Self {
        SocketStats {
            address: stats.address,
            packets_sent: stats.packets_sent,
            bytes_sent: stats.bytes_sent,
            sends: stats.sends,
            packets_received: stats.packets_received,
            bytes_received: stats.bytes_received,
            receives: stats.receives,
            receive_overflow: stats.receive_overflow,
            send_errors: stats.send_errors,
            last_error: stats.last_error,
        }
    }
}

#[pymethods]
impl SocketStats {
    fn __repr__(&self) -> String {
        let SocketStats { address, packets_sent, sends, packets_received, receives, .. } = self;
        format!(
            "<SocketStats of {address}: {packets_sent} packets in {sends} calls sent, {packets_received} in {receives} \
             received>"
        )
    }
}

/// Name of an endpoint for error messages.
fn name(endpoint: &Endpoint) -> String {
    format!("endpoint {}", error::place(&endpoint.local_addresses(), endpoint.port()))
}

#[pymethods]
impl NetEndpoint {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the Python face names them")]
    fn new(
        py: Python<'_>,
        local: OneOrMore,
        port: Port,
        udp_port: Port,
        remote_udp_port: Port,
        max_associations: usize,
        watch_addresses: bool,
        key: Option<PathBuf>,
        peers: Vec<String>,
        accept_any: bool,
        psk: Option<String>,
        options: &str,
    ) -> PyResult<Self> {
        let config = Arc::new(options::config_over(Config::recommended(), options)?);
        let (guard, public) = Keys { key, peers, accept_any, psk }.guard()?.unzip();
        let mut builder = Endpoint::builder()
            .locals(local.0.0)
            .port(port.0)
            .udp_port(udp_port.0)
            .remote_udp_port(remote_udp_port.0)
            .max_associations(max_associations)
            .watch_addresses(watch_addresses)
            .config(config.clone());
        if let Some(guard) = guard {
            builder = builder.guard(guard);
        }
        let inner = py.detach(|| builder.bind()).map_err(error::bind)?;
        let identity = public.map(|key| key.to_string());
        Ok(NetEndpoint { inner: Own::new(inner), remote_udp_port: remote_udp_port.0, config, identity })
    }

    /// Connects to a peer, which must own the public key ``key`` if there is one.
    ///
    /// Options that are left out keep the values of the endpoint.
    fn connect(
        &self,
        addresses: OneOrMore,
        port: Port,
        udp_port: Option<Port>,
        key: Option<&str>,
        options: Option<&str>,
    ) -> PyResult<Operation> {
        let over = |options| options::config_over((*self.config).clone(), options);
        let config = options.map(over).transpose()?;
        let udp_port = udp_port.map(|port| port.0);
        let OneOrMore(Addresses(addresses)) = addresses;
        let identity = key.map(keys::peer).transpose()?.map(Into::into);
        let peer = Peer { udp_port, identity, ..Peer::from((addresses.clone(), port.0)) };
        let udp_port = udp_port.unwrap_or(self.remote_udp_port);
        let name = format!("{} (UDP port {udp_port})", error::place(&addresses, peer.port));
        let endpoint = self.inner.clone();
        let is_encrypted = self.identity.is_some();
        Ok(Operation::new(async move {
            let connected = match config {
                None => endpoint.connect(peer).await,
                Some(config) => endpoint.connect_with(peer, config).await,
            };
            connected
                .map(NetConnection::new)
                .map_err(|failure| error::connect(&name, &Addresses(addresses), is_encrypted, failure))
        }))
    }

    /// Lets peers connect; at most ``backlog`` of them wait to be accepted.
    fn listen(&self, backlog: usize) -> NetListener {
        NetListener::new(self.inner.listen(backlog))
    }

    /// Adds a local address to the endpoint and its connections.
    fn add_local_address(&self, address: Address, device: Option<String>) -> Operation {
        let endpoint = self.inner.clone();
        Operation::nothing(async move {
            let added = match device {
                None => endpoint.add_local_address(address.0).await,
                Some(device) => endpoint.add_local_address_on_device(address.0, device).await,
            };
            added.map_err(|failure| error::endpoint_address(&name(&endpoint), failure))
        })
    }

    /// Removes a local address from the endpoint and its connections.
    fn remove_local_address(&self, address: Address) -> Operation {
        let endpoint = self.inner.clone();
        Operation::nothing(async move {
            let removed = endpoint.remove_local_address(address.0).await;
            removed.map_err(|failure| error::endpoint_address(&name(&endpoint), failure))
        })
    }

    /// Local addresses as they are now.
    #[getter]
    fn local_addresses(&self) -> Vec<IpAddr> {
        self.inner.local_addresses()
    }

    /// SCTP port.
    #[getter]
    fn port(&self) -> u16 {
        self.inner.port()
    }

    /// UDP port.
    #[getter]
    fn udp_port(&self) -> u16 {
        self.inner.udp_port()
    }

    /// Public key of this end as 64 hexadecimal digits; None without encryption.
    #[getter]
    fn identity(&self) -> Option<&str> {
        self.identity.as_deref()
    }

    /// Counters of each UDP socket.
    fn sockets(&self) -> Vec<SocketStats> {
        self.inner.stats().sockets.into_iter().map(SocketStats::from).collect()
    }

    /// Returns what the paths of this endpoint carried in a round trip, and their RTTs, as text.
    fn saved_paths(&self) -> Operation {
        let endpoint = self.inner.clone();
        Operation::new(async move {
            let saved = endpoint.saved_paths().await;
            saved.map_err(|_| error::closed(&name(&endpoint)))
        })
    }

    /// Restores the paths from the text that ``saved_paths`` returned earlier.
    fn restore_paths(&self, saved: String) -> Operation {
        let endpoint = self.inner.clone();
        Operation::nothing(async move {
            let restored = endpoint.restore_paths(saved).await;
            restored.map_err(|failure| error::restore(&name(&endpoint), failure))
        })
    }

    /// Shuts all connections down and waits until they have ended.
    fn close(&self) -> Operation {
        let endpoint = self.inner.clone();
        Operation::nothing(async move {
            endpoint.close().await;
            Ok(())
        })
    }
}
