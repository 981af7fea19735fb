//! Files that a scenario names: traces of rates.

use crate::decode::At;
use crate::diagnostic::{Faults, nearest};
use net::{RateSeries, SeriesFault, Trace, TransmitterSpec};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use transport::utf8;
use units::Span;

/// Reads each file once for all combinations of a sweep. Their paths are relative to the folder of the scenario.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    known: BTreeMap<(String, Format), Result<TransmitterSpec, String>>,
}

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
    /// Times and rates, repeated after a period or not.
    Series(Option<Span>),
    /// Delivery opportunities, as of Mahimahi.
    Deliveries,
}

/// Bytes of the largest file that is read.
const LARGEST: u64 = 256 << 20;

impl Files {
    /// The files that the scenario file of this name refers to.
    pub fn of(scenario: &str) -> Self {
        let folder = Path::new(scenario).parent().map(Path::to_owned).unwrap_or_default();
        Files { folder, known: BTreeMap::new() }
    }

    /// The transmitter that a file describes; `None` if a fault was noted.
    pub(super) fn transmitter(
        &mut self,
        file: &At<String>,
        format: Format,
        faults: &mut Faults,
    ) -> Option<TransmitterSpec> {
        let known = self.known.entry((file.value.clone(), format));
        let read = known.or_insert_with(|| read(&self.folder.join(&file.value), &file.value, format));
        match read {
            Ok(transmitter) => Some(transmitter.clone()),
            Err(message) => {
                faults.note(file.span.clone(), message.clone());
                None
            }
        }
    }
}

fn read(path: &Path, name: &str, format: Format) -> Result<TransmitterSpec, String> {
    let bytes = contents(path).map_err(|kind| unreadable(path, name, kind))?;
    let text = utf8(bytes).map_err(|error| format!("the file \"{name}\" is no trace: {name}:{error}"))?;
    let wrong = |why: String| format!("the file \"{name}\" is no trace: {why}");
    match format {
        Format::Series(repeat) => match RateSeries::parse(&text, repeat) {
            Ok(series) => Ok(TransmitterSpec::Series(Arc::new(series))),
            Err(SeriesFault::Dead(line)) => Err(wrong(format!(
                "line {line} makes the rate 0 for ever: expected a rate above 0 at last, or `repeat`"
            ))),
            Err(SeriesFault::Period(line)) => Err(format!(
                "`repeat` ends before the rate of line {line} of \"{name}\" begins; expected a longer time"
            )),
            Err(fault) => Err(wrong(fault.to_string())),
        },
        Format::Deliveries => Trace::parse(&text)
            .map(|trace| TransmitterSpec::Trace(Arc::new(trace)))
            .map_err(|fault| wrong(fault.to_string())),
    }
}

/// The bytes of a file. Devices and pipes, which may have no end, are not read.
fn contents(path: &Path) -> Result<Vec<u8>, ErrorKind> {
    let about = std::fs::metadata(path).map_err(|error| error.kind())?;
    if !about.is_file() {
        return Err(ErrorKind::InvalidInput);
    }
    if about.len() > LARGEST {
        return Err(ErrorKind::FileTooLarge);
    }
    std::fs::read(path).map_err(|error| error.kind())
}

fn unreadable(path: &Path, name: &str, kind: ErrorKind) -> String {
    let expected = "expected a path relative to the folder of the scenario";
    match kind {
        ErrorKind::NotFound => format!("there is no file \"{name}\"; {expected}{}", similar(path)),
        ErrorKind::InvalidInput => format!("\"{name}\" is not a file; {expected}"),
        ErrorKind::FileTooLarge => format!("the file \"{name}\" is too large; expected at most 256 MiB"),
        _ => format!("the file \"{name}\" cannot be read; {expected}, of a file that may be read"),
    }
}

/// The name of a similar file in the same folder, as a question.
fn similar(path: &Path) -> String {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let given = path.file_name().unwrap_or_default().to_string_lossy();
    nearest(&given, names.iter().map(String::as_str))
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
