//! A message that arrived.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A message that arrived, or a part of one.
#[pyclass(frozen, get_all, module = "anabranch.net")]
pub struct Message {
    /// The bytes.
    data: Py<PyBytes>,
    /// Number of the stream.
    stream: u16,
    /// Payload protocol identifier as the peer set it.
    ppid: u32,
    /// Whether the message was sent outside the order of its stream.
    unordered: bool,
    /// Whether ``data`` ends the message; false: more of it follows.
    end_of_record: bool,
    /// Whether the message ends here, incomplete, because the peer abandoned it after parts of it were read.
    aborted: bool,
}

impl From<io::Received> for Message {
    fn from(received: io::Received) -> Self {
        Message {
            data: Python::attach(|py| PyBytes::new(py, &received.data).unbind()),
            stream: received.stream.0,
            ppid: received.ppid.0,
            unordered: received.unordered,
            end_of_record: received.end_of_record,
            aborted: received.aborted,
        }
    }
}

#[pymethods]
impl Message {
    fn __len__(&self, py: Python<'_>) -> usize {
        self.data.bind(py).as_bytes().len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let length = self.__len__(py);
        let unordered = if self.unordered { ", unordered" } else { "" };
        let part = if self.end_of_record { "" } else { ", more of it follows" };
        format!("<Message: {length} bytes on stream {}{unordered}{part}>", self.stream)
    }
}
