//! What an endpoint tells its user, for Python.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sctp::{AssocId, CloseReason, PathState};
use std::net::IpAddr;

/// Something happened to an association: `kind` says what, the other fields what belongs to it, None if nothing.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct Event {
    association: u32,
    kind: &'static str,
    outbound_streams: Option<u16>,
    inbound_streams: Option<u16>,
    peer_addresses: Option<Vec<IpAddr>>,
    peer_port: Option<u16>,
    rtt: Option<u64>,
    address: Option<IpAddr>,
    state: Option<&'static str>,
    stream: Option<u16>,
    tsn: Option<u32>,
    length: Option<usize>,
    message: Option<u64>,
    last_message: Option<u64>,
    path: Option<u8>,
    causes: Option<Py<PyBytes>>,
    reason: Option<&'static str>,
    detail: Option<&'static str>,
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        format!("<Event {} of association {}>", self.kind, self.association)
    }
}

/// The event of an association as Python sees it.
pub fn event(py: Python<'_>, id: AssocId, what: sctp::Event) -> Event {
    let mut event = Event {
        association: id.0,
        kind: "",
        outbound_streams: None,
        inbound_streams: None,
        peer_addresses: None,
        peer_port: None,
        rtt: None,
        address: None,
        state: None,
        stream: None,
        tsn: None,
        length: None,
        message: None,
        last_message: None,
        path: None,
        causes: None,
        reason: None,
        detail: None,
    };
    event.kind = match what {
        sctp::Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port } => {
            event.outbound_streams = Some(outbound_streams);
            event.inbound_streams = Some(inbound_streams);
            event.peer_addresses = Some(peer_addresses);
            event.peer_port = Some(peer_port);
            "connected"
        }
        sctp::Event::Restarted => "restarted",
        sctp::Event::Readable => "readable",
        sctp::Event::Writable => "writable",
        sctp::Event::PathChanged { address, state } => {
            event.address = Some(address);
            event.state = Some(path_state_name(state));
            "path-changed"
        }
        sctp::Event::HeartbeatAnswered { address, rtt } => {
            event.address = Some(address);
            event.rtt = Some(rtt.as_nanos());
            "heartbeat-answered"
        }
        sctp::Event::PrimaryChanged { path, address } => {
            event.path = Some(path.0);
            event.address = Some(address);
            "primary-changed"
        }
        sctp::Event::Delivered { first, last } => {
            event.message = Some(first.0);
            event.last_message = Some(last.0);
            "delivered"
        }
        sctp::Event::SendFailed { id, stream, tsn, length } => {
            event.message = id.map(|id| id.0);
            event.stream = Some(stream.0);
            event.tsn = tsn.map(|tsn| tsn.0);
            event.length = Some(length);
            "send-failed"
        }
        sctp::Event::PeerError { causes } => {
            event.causes = Some(PyBytes::new(py, &causes).unbind());
            "peer-error"
        }
        sctp::Event::ShutdownReceived => "shutdown-received",
        sctp::Event::Closed { reason } => {
            event.reason = Some(reason_name(&reason));
            match reason {
                CloseReason::PeerAbort { causes } => event.causes = Some(PyBytes::new(py, &causes).unbind()),
                CloseReason::ProtocolViolation { what } => event.detail = Some(what),
                _ => {}
            }
            "closed"
        }
    };
    event
}

fn reason_name(reason: &CloseReason) -> &'static str {
    match reason {
        CloseReason::Graceful => "graceful",
        CloseReason::LocalAbort => "local-abort",
        CloseReason::PeerAbort { .. } => "peer-abort",
        CloseReason::ConnectTimeout => "connect-timeout",
        CloseReason::Duplicate { .. } => "duplicate",
        CloseReason::TooManyErrors => "too-many-errors",
        CloseReason::ProtocolViolation { .. } => "protocol-violation",
    }
}

/// The word for the state of a path.
pub fn path_state_name(state: PathState) -> &'static str {
    match state {
        PathState::Unconfirmed => "unconfirmed",
        PathState::Active => "active",
        PathState::PotentiallyFailed => "potentially-failed",
        PathState::Inactive => "inactive",
    }
}
