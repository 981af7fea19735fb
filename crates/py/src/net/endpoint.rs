//! An endpoint on UDP sockets.

use super::arguments::{Addresses, Port};
use super::connection::NetConnection;
use super::error;
use super::listener::NetListener;
use super::operation::Operation;
use crate::options;
use io::{Endpoint, Peer};
use pyo3::prelude::*;
use std::net::IpAddr;

/// An SCTP port on UDP sockets, driven by a thread of its own.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetEndpoint {
    inner: Endpoint,
    remote_udp_port: u16,
}

/// What a UDP socket did so far.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct SocketStats {
    address: IpAddr,
    packets_sent: u64,
    bytes_sent: u64,
    sends: u64,
    packets_received: u64,
    bytes_received: u64,
    receives: u64,
    send_errors: u64,
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
            "<SocketStats of {address}: {packets_sent} packets in {sends} calls sent, {packets_received} in {receives} received>"
        )
    }
}

#[pymethods]
impl NetEndpoint {
    #[new]
    fn new(
        py: Python<'_>,
        local: Addresses,
        port: Port,
        udp_port: Port,
        remote_udp_port: Port,
        max_associations: usize,
        options: &str,
    ) -> PyResult<Self> {
        let builder = Endpoint::builder()
            .locals(local.0)
            .port(port.0)
            .udp_port(udp_port.0)
            .remote_udp_port(remote_udp_port.0)
            .max_associations(max_associations)
            .config(options::config(options)?);
        let inner = py.detach(|| builder.bind()).map_err(error::bind)?;
        Ok(NetEndpoint { inner, remote_udp_port: remote_udp_port.0 })
    }

    /// With options in place of those of the endpoint, if there are any.
    fn connect(
        &self,
        addresses: Addresses,
        port: Port,
        udp_port: Option<Port>,
        options: Option<&str>,
    ) -> PyResult<Operation> {
        let config = options.map(options::config).transpose()?;
        let udp_port = udp_port.map(|port| port.0);
        let peer = Peer { addresses: addresses.0, port: port.0, udp_port };
        let udp_port = udp_port.unwrap_or(self.remote_udp_port);
        let name = format!("{} (UDP port {udp_port})", error::place(&peer.addresses, peer.port));
        let endpoint = self.inner.clone();
        Ok(Operation::new(async move {
            let connected = match config {
                None => endpoint.connect(peer).await,
                Some(config) => endpoint.connect_with(peer, config).await,
            };
            connected.map(NetConnection::new).map_err(|failure| error::connect(&name, failure))
        }))
    }

    fn listen(&self, backlog: usize) -> NetListener {
        NetListener::new(self.inner.listen(backlog))
    }

    #[getter]
    fn local_addresses(&self) -> Vec<IpAddr> {
        self.inner.local_addresses().to_vec()
    }

    #[getter]
    fn port(&self) -> u16 {
        self.inner.port()
    }

    #[getter]
    fn udp_port(&self) -> u16 {
        self.inner.udp_port()
    }

    fn sockets(&self) -> Vec<SocketStats> {
        self.inner.stats().sockets.into_iter().map(SocketStats::from).collect()
    }

    fn close(&self) -> Operation {
        let endpoint = self.inner.clone();
        Operation::nothing(async move {
            endpoint.close().await;
            Ok(())
        })
    }
}
