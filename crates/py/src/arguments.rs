//! Arguments of calls from Python, with errors that name the wrong value.

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString};
use sctp::{Reliability, ResetDirection, Seed};
use std::net::IpAddr;
use transport::Ecn;
use units::Span;

/// The direction of the streams to reset.
pub struct Direction(pub ResetDirection);

impl FromPyObject<'_, '_> for Direction {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<String>()?.as_str() {
            "outgoing" => Ok(Direction(ResetDirection::Outgoing)),
            "incoming" => Ok(Direction(ResetDirection::Incoming)),
            "both" => Ok(Direction(ResetDirection::Both)),
            other => Err(PyValueError::new_err(format!(
                "direction = {other:?}: expected \"outgoing\", \"incoming\" or \"both\""
            ))),
        }
    }
}

/// Bytes of a Python object. `bytes` are borrowed; other objects (bytearray, memoryview) are copied.
pub enum ByteString<'a> {
    Borrowed(&'a [u8]),
    Copied(Vec<u8>),
}

impl ByteString<'_> {
    pub const EMPTY: Self = ByteString::Borrowed(b"");

    pub fn as_slice(&self) -> &[u8] {
        match self {
            ByteString::Borrowed(bytes) => bytes,
            ByteString::Copied(bytes) => bytes,
        }
    }

    pub fn into_bytes(self) -> Bytes {
        match self {
            ByteString::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            ByteString::Copied(bytes) => Bytes::from(bytes),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for ByteString<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(ByteString::Borrowed(object.extract()?));
        }
        let copied = PyBuffer::<u8>::get(&object).and_then(|buffer| buffer.to_vec(object.py()));
        copied.map(ByteString::Copied).map_err(|_| {
            let kind = kind(&object);
            PyTypeError::new_err(format!("expected bytes, a bytearray or a memoryview of bytes, not {kind}"))
        })
    }
}

/// An IP address: text, or an object of `ipaddress`.
#[derive(Clone, Copy)]
pub struct Address(pub IpAddr);

impl FromPyObject<'_, '_> for Address {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let read = match object.cast::<PyString>() {
            Ok(text) => text.to_cow()?.parse().ok(),
            Err(_) => object.extract().ok(),
        };
        read.map(Address).ok_or_else(|| {
            let shown = object.repr().map_or_else(|_| kind(&object), |shown| shown.to_string());
            PyValueError::new_err(format!(
                "{shown} is not an IP address: expected text such as \"192.0.2.1\" or \"2001:db8::1\", or an object of \
                 `ipaddress`"
            ))
        })
    }
}

/// Several addresses, in order.
pub struct Addresses(pub Vec<IpAddr>);

impl FromPyObject<'_, '_> for Addresses {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let several = if object.is_instance_of::<PyString>() { None } else { object.try_iter().ok() };
        let Some(several) = several else {
            let kind = kind(&object);
            return Err(PyTypeError::new_err(format!("expected a list of addresses, not {kind}")));
        };
        several.map(|item| Ok(item?.extract::<Address>()?.0)).collect::<PyResult<_>>().map(Addresses)
    }
}

macro_rules! whole_numbers {
    ($($(#[$meta:meta])* $name:ident($of:ident) = $word:literal;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name(pub $of);

        impl FromPyObject<'_, '_> for $name {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
                whole(&object, $word, u64::from($of::MAX)).map(|number| $name(number as $of))
            }
        }
    )+};
}

whole_numbers! {
    /// Time in nanoseconds.
    Now(u64) = "now";
    /// A port of SCTP or UDP.
    Port(u16) = "port";
    Association(u32) = "association";
    ArrivalNumber(u32) = "arrival";
    Stream(u16) = "stream";
    /// Priority or weight of a stream.
    StreamValue(u16) = "value";
    StreamCount(u16) = "number of streams";
    PayloadProtocol(u32) = "ppid";
    /// A number that the event `send-failed` reports.
    Context(u32) = "context";
    PathNumber(u8) = "path";
    /// Identifier of a key for AUTH.
    AuthKey(u16) = "key";
    /// A path MTU in bytes.
    Mtu(u64) = "mtu";
}

/// A whole number from 0 to `most`.
fn whole(object: &Bound<'_, PyAny>, word: &str, most: u64) -> PyResult<u64> {
    let no_number = || PyTypeError::new_err(format!("{word} must be a whole number, not {}", kind(object)));
    if object.is_instance_of::<PyBool>() {
        return Err(no_number());
    }
    match object.extract::<u64>() {
        Ok(number) if number <= most => Ok(number),
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => Err(no_number()),
        _ => Err(PyValueError::new_err(format!("{word} {object} is out of range: expected 0 to {most}"))),
    }
}

/// When a message is abandoned: a dict with one of `lifetime` in seconds, `retransmissions` and `priority`,
/// or None.
#[derive(Clone, Copy)]
pub struct Policy(pub Reliability);

impl Policy {
    pub const RELIABLE: Self = Policy(Reliability::Reliable);
}

impl FromPyObject<'_, '_> for Policy {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Policy::RELIABLE);
        }
        let wrong = || {
            PyValueError::new_err(
                "reliability must be None or a dict with one of lifetime (in seconds), retransmissions and priority",
            )
        };
        let dict = object.cast::<PyDict>().map_err(|_| wrong())?;
        let (Some((key, value)), 1) = (dict.iter().next(), dict.len()) else { return Err(wrong()) };
        let number = |word| whole(&value, word, u64::from(u32::MAX)).map(|number| number as u32);
        Ok(Policy(match key.extract::<String>().map_err(|_| wrong())?.as_str() {
            "lifetime" => Reliability::Until(seconds(&value)?),
            "retransmissions" => Reliability::Retransmissions(number("retransmissions")?),
            "priority" => Reliability::Priority(number("priority")?),
            _ => return Err(wrong()),
        }))
    }
}

/// A lifetime in seconds.
fn seconds(object: &Bound<'_, PyAny>) -> PyResult<Span> {
    let seconds: f64 = object.extract()?;
    if !(0.0..f64::INFINITY).contains(&seconds) {
        let message = format!("lifetime {seconds} is out of range: expected seconds from 0 on");
        return Err(PyValueError::new_err(message));
    }
    Ok(Span::from_secs_f64(seconds))
}

/// The two bits of the ECN field.
pub struct EcnField(pub Ecn);

impl EcnField {
    pub const NOT_CAPABLE: Self = EcnField(Ecn::NotCapable);
}

impl FromPyObject<'_, '_> for EcnField {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(EcnField(match whole(&object, "ecn", 3)? {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        }))
    }
}

/// Source of the random numbers of an endpoint.
pub struct Randomness(pub Seed);

impl Randomness {
    pub fn from_system() -> PyResult<Self> {
        Seed::from_system().map(Randomness).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

impl FromPyObject<'_, '_> for Randomness {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.extract::<ByteString<'_>>() {
            let bytes = bytes.as_slice();
            let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| {
                PyValueError::new_err(format!(
                    "seed has {} bytes: expected 32 bytes, or a number",
                    bytes.len()
                ))
            })?;
            return Ok(Randomness(Seed::from(bytes)));
        }
        whole(&object, "seed", u64::MAX).map(|number| Randomness(Seed::for_simulation(number)))
    }
}

/// The name of the type of an object, for error messages.
fn kind(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "this object".to_owned(), |name| format!("`{name}`"))
}
