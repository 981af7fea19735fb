//! The results of the passive side, and the files of both sides.

use super::course::Course;
use super::{ANSWER, Client, MeasureError, Opened};
use crate::counters::Amount;
use crate::files;
use crate::npmp::{FlowId, Message};
use crate::paths::read_limits;
use crate::report::{PeerReport, Report};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest file of scalars, and longest vector file, that is accepted from the peer, in bytes.
const SCALARS: usize = 16 << 20;
const VECTOR: usize = 1 << 30;
/// Longest time between two pieces of a file from the peer.
const PIECE: Duration = Duration::from_secs(30);

/// Inserts the name of the side before the suffix of a file name and, if a flow is given, the flow's numbers.
fn name(pattern: &Path, side: &str, flow: Option<FlowId>) -> PathBuf {
    let stem = pattern.file_stem().unwrap_or_default().to_string_lossy();
    let numbers = flow.map(|id| format!("-{:08x}-{:04x}", id.flow, id.stream)).unwrap_or_default();
    let suffix = pattern.extension().map(|suffix| format!(".{}", suffix.to_string_lossy()));
    pattern.with_file_name(format!("{stem}-{side}{numbers}{}", suffix.unwrap_or_default()))
}

fn write(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), MeasureError> {
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|source| MeasureError::File { file: file.display().to_string(), source })
}

impl Client {
    /// Receives a file of the peer, and keeps at most `most` bytes of it.
    fn file(
        &mut self,
        what: &str,
        most: usize,
        out: &mut impl Write,
    ) -> Result<io::Result<()>, MeasureError> {
        let mut result = Ok(());
        let mut left = most;
        let mut deadline = Instant::now() + PIECE;
        loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            let piece = self.reader.next(patience, |message| match message {
                Message::Results { last, piece } => {
                    let kept = &piece[..piece.len().min(left)];
                    left -= kept.len();
                    if result.is_ok() {
                        result = out.write_all(kept);
                    }
                    Some(last)
                }
                _ => None,
            })?;
            match piece {
                None => return Err(MeasureError::Silent(what.to_owned())),
                Some(Some(true)) => return Ok(result),
                Some(Some(false)) => deadline = Instant::now() + PIECE,
                Some(None) => {}
            }
        }
    }

    fn file_to(&mut self, what: &str, file: &Path) -> Result<(), MeasureError> {
        let failed = |source| MeasureError::File { file: file.display().to_string(), source };
        let mut out = BufWriter::new(File::create(file).map_err(failed)?);
        self.file(what, VECTOR, &mut out)?.and_then(|()| out.flush()).map_err(failed)
    }

    /// Receives the results of the peer, writes the files of both sides, and adds the counters of the peer to
    /// the report.
    pub(super) fn results(&mut self, course: &Course, report: &mut Report) -> Result<(), MeasureError> {
        let vectors = self.options.vectors.clone();
        if let Some(pattern) = &vectors {
            self.file_to("with its vector", &name(pattern, "passive", None))?;
        }
        let mut text = Vec::new();
        // Writing to memory does not fail.
        self.file("with its scalars", SCALARS, &mut text)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        for flow in &mut report.total.flows {
            flow.peer = peer(&text, flow.flow);
        }
        if let Some(pattern) = self.options.scalars.clone() {
            write(&name(&pattern, "passive", None), |out| out.write_all(text.as_bytes()))?;
            let last = course.snapshots.last().map_or(course.begun, |snapshot| snapshot.time);
            let flows = self.flows.iter().map(|opened| &*opened.flow);
            write(&name(&pattern, "active", None), |out| {
                files::scalars(out, "active", flows, (course.begun, last))
            })?;
        }
        if let Some(pattern) = &vectors {
            let names = self.flows.iter().map(|opened| &opened.flow);
            let names: Vec<_> = names.map(|flow| (flow.id.flow, flow.spec.description.clone())).collect();
            write(&name(pattern, "active", None), |out| files::total_vector(out, &names, &course.snapshots))?;
        }
        self.remove(course, vectors.as_deref())
    }

    /// Ends the flows, and receives their vector files (a row for each received message).
    fn remove(&mut self, course: &Course, vectors: Option<&Path>) -> Result<(), MeasureError> {
        let flows: Vec<_> = self.flows.iter().map(|Opened { flow, .. }| flow.clone()).collect();
        for flow in flows {
            self.writer.send(&Message::RemoveFlow(flow.id))?;
            let Some(pattern) = vectors else { continue };
            self.acknowledged(flow.id, &format!("to end flow {}", flow.id.flow), ANSWER)?;
            self.file_to("with the vector of a flow", &name(pattern, "passive", Some(flow.id)))?;
            let arrivals = flow.take_arrivals();
            let file = name(pattern, "active", Some(flow.id));
            write(&file, |out| files::flow_vector(out, course.begun, &arrivals))?;
        }
        Ok(())
    }
}

/// The peer's counters of a flow; `None` if the peer's scalars lack the flow.
fn peer(text: &str, flow: u32) -> Option<PeerReport> {
    let scalars = files::read_scalars(text, &format!("passive.flow[{flow}]"));
    let value = |name: &str| scalars.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let amount = |kind: &str| {
        Some(Amount {
            bytes: value(&format!("{kind} Bytes"))? as u64,
            packets: value(&format!("{kind} Packets"))? as u64,
            frames: value(&format!("{kind} Frames"))? as u64,
        })
    };
    Some(PeerReport {
        sent: amount("Transmitted")?,
        received: amount("Received")?,
        received_bit_rate: value("Received Bit Rate")?,
        lost: amount("Lost"),
        jitter: value("Jitter"),
        limits: read_limits(&scalars),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_netperfmeter_names_them() {
        let id = FlowId { measurement: 0, flow: 0x1f, stream: 2 };
        let named = |pattern: &str, flow| name(Path::new(pattern), "passive", flow);
        assert_eq!(named("a/x.sca", None), Path::new("a/x-passive.sca"));
        assert_eq!(named("x.vec", Some(id)), Path::new("x-passive-0000001f-0002.vec"));
    }
}
