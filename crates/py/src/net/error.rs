//! Converts errors to the exceptions that Python programs expect.

use crate::arguments::Addresses;
use crate::arrivals::{connect_error, list};
use crate::error::ConfigError;
use io::{
    AddressError, BindError, CloseReason, ConnectError, ConnectionError, GuardError, KeyError, NotDelivered,
    PathError, RestoreError, SendError, StreamError,
};
use noise::KeyFileError;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyBrokenPipeError, PyConnectionAbortedError, PyConnectionError, PyConnectionRefusedError,
    PyConnectionResetError, PyOSError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use std::fmt::Display;
use std::net::IpAddr;

create_exception!(
    anabranch,
    ConnectionLostError,
    PyConnectionError,
    "The peer no longer answers on any path, or it broke the protocol."
);
create_exception!(
    anabranch,
    EndpointClosedError,
    PyConnectionError,
    "The endpoint or the listener was closed."
);

create_exception!(
    anabranch,
    NotDeliveredError,
    PyConnectionResetError,
    "A message was given up, or lost because the peer began anew or shut the connection down."
);

/// Addresses and an SCTP port as text for error messages.
pub fn place(addresses: &[IpAddr], port: u16) -> String {
    format!("{} port {port}", list(addresses))
}

/// The endpoint could not be bound.
pub fn bind(error: BindError) -> PyErr {
    match error {
        BindError::Address { ref source, .. } => match source.raw_os_error() {
            // Python selects the subclass of OSError by the number.
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
        BindError::Config(error) => ConfigError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// The file of a key, or a list of peers, cannot be used.
pub fn key_file(argument: &str, error: &KeyFileError) -> PyErr {
    let text = format!("{argument}: {error}");
    match error.raw_os_error() {
        // Python selects the subclass of OSError by the number.
        Some(number) => PyOSError::new_err((number, text)),
        None => PyValueError::new_err(text),
    }
}

/// No connection could be made to `peer`, which has these addresses. `is_encrypted` is true if
/// the endpoint has a key.
pub fn connect(peer: &str, addresses: &Addresses, is_encrypted: bool, error: ConnectError) -> PyErr {
    let text = |why: &dyn Display| format!("cannot connect to {peer}: {why}");
    let no_answer = if is_encrypted { "no answer: wrong key, wrong port or no route" } else { "no answer" };
    match error {
        ConnectError::Guard(GuardError::WhichPeer { known }) => PyValueError::new_err(text(&format!(
            "{known} peers are known; name the one to connect to with peer=KEY"
        ))),
        ConnectError::Guard(GuardError::UnknownPeer) => PyConnectionRefusedError::new_err(text(
            &"the key of the peer is not among the peers of the endpoint",
        )),
        ConnectError::Unguarded => PyValueError::new_err(text(
            &"peer=KEY cannot be checked, since the endpoint has no key; give it key=FILE and peers=[KEY]",
        )),
        ConnectError::Refused(error) => connect_error(&error, addresses),
        ConnectError::TimedOut => PyTimeoutError::new_err(text(&no_answer)),
        ConnectError::Failed(ConnectionError::EndpointClosed) => EndpointClosedError::new_err(text(&CLOSED)),
        ConnectError::Failed(ConnectionError::NoSession) => PyTimeoutError::new_err(text(&no_answer)),
        ConnectError::Failed(ConnectionError::Closed(reason)) => match &reason {
            CloseReason::ConnectTimeout => PyTimeoutError::new_err(text(&no_answer)),
            CloseReason::PeerAbort { .. } | CloseReason::Unreachable => {
                PyConnectionRefusedError::new_err(text(&reason))
            }
            CloseReason::LocalAbort => PyConnectionAbortedError::new_err(text(&"the attempt was given up")),
            _ => PyConnectionError::new_err(text(&reason)),
        },
        _ => PyConnectionError::new_err(text(&error)),
    }
}

/// The connection to `peer` ended for this reason.
pub fn ended(peer: &str, error: ConnectionError) -> PyErr {
    let text = format!("connection to {peer}: {error}");
    let reason = match error {
        ConnectionError::Closed(reason) => reason,
        ConnectionError::Revoked => return PyConnectionAbortedError::new_err(text),
        _ => return EndpointClosedError::new_err(format!("connection to {peer}: {CLOSED}")),
    };
    match reason {
        CloseReason::Graceful => PyBrokenPipeError::new_err(text),
        CloseReason::LocalAbort => PyConnectionAbortedError::new_err(text),
        CloseReason::PeerAbort { .. } => PyConnectionResetError::new_err(text),
        _ => ConnectionLostError::new_err(text),
    }
}

/// A message could not be sent to `peer`.
pub fn send(peer: &str, error: SendError) -> PyErr {
    match error {
        SendError::Ended(reason) => ended(peer, reason),
        SendError::Shut => PyBrokenPipeError::new_err(format!("connection to {peer}: {error}")),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A call about a path of the connection to `peer` failed.
pub fn path(peer: &str, error: PathError) -> PyErr {
    let text = format!("connection to {peer}: {error}");
    match error {
        PathError::Ended(reason) => ended(peer, reason),
        PathError::Failed { .. } => PyTimeoutError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A message did not reach `peer`.
pub fn not_delivered(peer: &str, error: NotDelivered) -> PyErr {
    match error {
        NotDelivered::Ended(reason) => ended(peer, reason),
        _ => NotDeliveredError::new_err(format!("connection to {peer}: {error}")),
    }
}

/// A call about streams of the connection to `peer` failed.
pub fn streams(peer: &str, error: StreamError) -> PyErr {
    match error {
        StreamError::Ended(reason) => ended(peer, reason),
        _ => PyValueError::new_err(format!("connection to {peer}: {error}")),
    }
}

/// A call about keys of the connection to `peer` failed.
pub fn keys(peer: &str, error: KeyError) -> PyErr {
    match error {
        KeyError::Ended(reason) => ended(peer, reason),
        _ => PyValueError::new_err(format!("connection to {peer}: {error}")),
    }
}

/// A call about local addresses of the connection to `peer` failed.
pub fn address(peer: &str, error: AddressError) -> PyErr {
    match error {
        AddressError::Ended(reason) => ended(peer, reason),
        error => endpoint_address(&format!("connection to {peer}"), error),
    }
}

/// A call about local addresses of an endpoint failed.
pub fn endpoint_address(endpoint: &str, error: AddressError) -> PyErr {
    match error {
        AddressError::Ended(_) => closed(endpoint),
        AddressError::Bind(error) => bind(error),
        _ => PyValueError::new_err(format!("{endpoint}: {error}")),
    }
}

/// Saved paths could not be restored.
pub fn restore(endpoint: &str, error: RestoreError) -> PyErr {
    match error {
        RestoreError::Ended(_) => closed(endpoint),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// An endpoint was closed before a call.
pub fn closed(endpoint: &str) -> PyErr {
    EndpointClosedError::new_err(format!("{endpoint}: {CLOSED}"))
}

const CLOSED: &str = "the endpoint is closed";
