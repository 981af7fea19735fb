//! Peers that request an association, and the errors of associations that could not begin.

use crate::arguments::Addresses;
use crate::error::{ConfigError, ConnectError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sctp::{AcceptError, Listen};
use std::net::IpAddr;
use transport::is_unicast;

/// A peer that has proved its address and requests an association.
#[pyclass(frozen, get_all, module = "anabranch.endpoint")]
pub struct Arrival {
    /// Number of the arrival, which ``accept`` and ``refuse`` take.
    id: u32,
    /// Addresses of the peer: first the source of its packet, then those that it listed.
    peer_addresses: Vec<IpAddr>,
    /// SCTP port of the peer.
    peer_port: u16,
    /// UDP port of the peer; 0: its packets are not encapsulated.
    udp_port: u16,
    /// Address of the endpoint to which the peer sent its packet.
    local_address: IpAddr,
    /// Streams that the endpoint may use.
    outbound_streams: u16,
    /// Streams that the peer may use.
    inbound_streams: u16,
}

impl From<sctp::Arrival> for Arrival {
    fn from(arrival: sctp::Arrival) -> Self {
        Arrival {
            id: arrival.id.0,
            peer_addresses: arrival.peer_addresses,
            peer_port: arrival.peer_port,
            udp_port: arrival.udp_port,
            local_address: arrival.local_address,
            outbound_streams: arrival.outbound_streams,
            inbound_streams: arrival.inbound_streams,
        }
    }
}

#[pymethods]
impl Arrival {
    fn __repr__(&self) -> String {
        let Arrival { id, peer_port, local_address, .. } = self;
        format!("<Arrival {id} from {} port {peer_port} at {local_address}>", list(&self.peer_addresses))
    }
}

/// Converts the argument that says which peers may begin associations.
pub fn listen(who: &Bound<'_, PyAny>, waiting: usize) -> PyResult<Listen> {
    if let Ok(accept) = who.extract::<bool>() {
        return Ok(accept.into());
    }
    match who.cast::<PyString>().ok().map(|word| word.to_string()).as_deref() {
        Some("off") => Ok(Listen::Off),
        Some("accept") => Ok(Listen::Accept),
        Some("ask") => Ok(Listen::Ask { waiting }),
        _ => {
            let who = who.repr()?;
            Err(PyValueError::new_err(format!(
                "{who} does not say who may begin associations: expected \"off\", \"accept\" or \"ask\""
            )))
        }
    }
}

/// The exception for an association with the peer at `remotes` that could not begin.
pub fn connect_error(error: &sctp::ConnectError, remotes: &Addresses) -> PyErr {
    let text = error.to_string();
    match error {
        sctp::ConnectError::NoUsableAddress => PyValueError::new_err(no_usable_address(&remotes.0)),
        sctp::ConnectError::PortZero | sctp::ConnectError::UnusablePair { .. } => PyValueError::new_err(text),
        sctp::ConnectError::Config(_) => ConfigError::new_err(text),
        _ => ConnectError::new_err(text),
    }
}

/// The exception for an arrival that was not accepted.
pub fn accept_error(error: &AcceptError) -> PyErr {
    let text = error.to_string();
    if matches!(error, AcceptError::Config(_)) {
        ConfigError::new_err(text)
    } else {
        ConnectError::new_err(text)
    }
}

/// The problem of each address, as text.
fn no_usable_address(remotes: &[IpAddr]) -> String {
    let wrong = |address: &IpAddr| match address {
        address if !is_unicast(*address) => format!("{address} is not a unicast address"),
        IpAddr::V4(address) => format!("{address}: the endpoint has no IPv4 address"),
        IpAddr::V6(address) => format!("{address}: the endpoint has no IPv6 address"),
    };
    let reasons: Vec<_> = remotes.iter().map(wrong).collect();
    match reasons[..] {
        [] => "no remote address is given: expected at least one".to_owned(),
        _ => format!("no remote address can be used: {}", reasons.join("; ")),
    }
}

/// Addresses as text for an error message.
pub fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
}
