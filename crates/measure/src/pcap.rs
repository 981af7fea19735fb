//! Captures the packets of our SCTP stack. Packets of an encrypted association are captured unencrypted.

use io::Tap;
use io::transport::{Datagram, Octets, Transmit};
use net::{CaptureDirection, DatagramCapture};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use units::ByteCount;

/// Capture file that the user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    /// Name of the file.
    pub file: PathBuf,
    /// Largest size of the file in bytes.
    pub limit: ByteCount,
}

/// A capture that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Name of the file.
    pub file: PathBuf,
    /// Number of packets that were left out because the file was full.
    pub left_out: u64,
    /// Reason why the file could not be written, if it could not.
    pub failure: Option<String>,
}

impl Captured {
    pub(crate) fn to_json(&self) -> Value {
        let file = self.file.display().to_string();
        json!({ "file": file, "left_out": self.left_out, "failure": self.failure })
    }
}

/// Size in bytes of the write buffer of the file.
const BUFFER: usize = 1 << 18;

/// A capture file that is being written. The driver (thread of the sockets) passes each packet to one clone
/// of this value, and the caller keeps another one.
#[derive(Clone, Debug)]
pub struct Recorder {
    file: PathBuf,
    /// The capture; `None` once the capture has ended.
    capture: Arc<Mutex<Option<DatagramCapture<BufWriter<File>>>>>,
    /// The beginning of the capture, on the monotonic clock and as time of day. Packets get the time of
    /// day at the beginning plus the monotonic time since then, so that a changed clock causes no jump.
    began: Instant,
    epoch: u64,
}

impl Recorder {
    /// Creates the file and begins to capture. If `is_encrypted`, packets have no CRC32c, and
    /// the capture fills it in.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create(CaptureFile { file, limit }: &CaptureFile, is_encrypted: bool) -> std::io::Result<Self> {
        let sink = BufWriter::with_capacity(BUFFER, File::create(file)?);
        let mut capture = DatagramCapture::new(sink, "SCTP", *limit)?;
        if is_encrypted {
            capture = capture.completed_by(fill_in_checksum);
        }
        Ok(Recorder {
            file: file.clone(),
            capture: Arc::new(Mutex::new(Some(capture))),
            began: Instant::now(),
            epoch: crate::clock::micros().saturating_mul(1000),
        })
    }

    /// Ends the file.
    pub fn finish(self) -> Captured {
        let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner).take();
        let finished = capture.map_or(Ok(0), DatagramCapture::finish);
        let failure = finished.as_ref().err().map(ToString::to_string);
        Captured { file: self.file, left_out: finished.unwrap_or_default(), failure }
    }

    fn record(
        &self,
        direction: CaptureDirection,
        ends: [SocketAddr; 2],
        ecn: io::transport::Ecn,
        packet: Octets<'_>,
    ) {
        let since = self.began.elapsed().as_nanos() as u64;
        let at = units::Instant::from_nanos(self.epoch.saturating_add(since));
        if let Some(capture) = &mut *self.capture.lock().unwrap_or_else(PoisonError::into_inner) {
            capture.record(at, direction, ends, ecn, packet);
        }
    }
}

/// Writes the CRC32c of an SCTP packet. Without it, programs that read captures do not recognise the packet.
fn fill_in_checksum(packet: &mut [u8]) {
    let crc = wire::crc32c(Octets::from(&*packet));
    if let Some(field) = packet.get_mut(8..12) {
        field.copy_from_slice(&crc.to_le_bytes());
    }
}

impl Tap for Recorder {
    fn sent(&mut self, route: &Transmit, udp_port: u16, packet: Octets<'_>) {
        let ends = [(route.src, udp_port).into(), (route.dst, route.udp_port).into()];
        self.record(CaptureDirection::Outbound, ends, route.ecn, packet);
    }

    fn received(&mut self, datagram: &Datagram<'_>, udp_port: u16) {
        let ends = [(datagram.src, datagram.udp_port).into(), (datagram.dst, udp_port).into()];
        self.record(CaptureDirection::Inbound, ends, datagram.ecn, datagram.bytes);
    }
}
