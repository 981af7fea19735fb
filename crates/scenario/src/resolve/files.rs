//! Files that a scenario names: traces of rates and delays.

use crate::decode::At;
use crate::diagnostic::{Faults, nearest};
use net::{DelaySeries, RateSeries, Series, SeriesFault, Trace, Varying};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use transport::utf8;
use units::Span;

/// Reads each file once for all combinations of a sweep. Relative paths start at the folder of the scenario.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    rates: Known<RateSeries>,
    delays: Known<DelaySeries>,
    deliveries: Known<Trace>,
}

/// Contents of files, or why they cannot be used. The key is the name and the time after which a trace
/// repeats.
type Known<T> = BTreeMap<(String, Option<Span>), Result<Arc<T>, String>>;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 256 << 20;

impl Files {
    /// The files that the scenario file of this name refers to.
    pub fn of(scenario: &str) -> Self {
        let folder = Path::new(scenario).parent().map(Path::to_owned).unwrap_or_default();
        Files { folder, rates: Known::new(), delays: Known::new(), deliveries: Known::new() }
    }

    /// The rates in a file; `None` if a fault was noted.
    pub(super) fn rates(
        &mut self,
        file: &At<String>,
        repeat: Option<Span>,
        faults: &mut Faults,
    ) -> Option<Arc<RateSeries>> {
        once(&mut self.rates, &self.folder, file, repeat, series, faults)
    }

    /// The delays in a file; `None` if a fault was noted.
    pub(super) fn delays(
        &mut self,
        file: &At<String>,
        repeat: Option<Span>,
        faults: &mut Faults,
    ) -> Option<Arc<DelaySeries>> {
        once(&mut self.delays, &self.folder, file, repeat, series, faults)
    }

    /// The delivery opportunities in a file, as of Mahimahi; `None` if a fault was noted.
    pub(super) fn deliveries(&mut self, file: &At<String>, faults: &mut Faults) -> Option<Arc<Trace>> {
        let parse = |text: &str, name: &str, _| {
            Trace::parse(text).map_err(|fault| format!("the file \"{name}\" is no trace: {fault}"))
        };
        once(&mut self.deliveries, &self.folder, file, None, parse, faults)
    }
}

fn once<T>(
    known: &mut Known<T>,
    folder: &Path,
    file: &At<String>,
    repeat: Option<Span>,
    parse: impl Fn(&str, &str, Option<Span>) -> Result<T, String>,
    faults: &mut Faults,
) -> Option<Arc<T>> {
    let name = &file.value;
    let read = known.entry((name.clone(), repeat)).or_insert_with(|| {
        let path = folder.join(name);
        let bytes = contents(&path).map_err(|kind| unreadable(&path, name, kind))?;
        let text = utf8(bytes).map_err(|error| format!("the file \"{name}\" is no trace: {name}:{error}"))?;
        parse(&text, name, repeat).map(Arc::new)
    });
    match read {
        Ok(contents) => Some(contents.clone()),
        Err(message) => {
            faults.note(file.span.clone(), message.clone());
            None
        }
    }
}

fn series<V: Varying>(text: &str, name: &str, repeat: Option<Span>) -> Result<Series<V>, String> {
    Series::parse(text, repeat).map_err(|fault| match fault {
        SeriesFault::Period(line) => format!(
            "`repeat` ends before the {} of line {line} of \"{name}\" begins; expected a longer time",
            V::KEY
        ),
        fault => format!("the file \"{name}\" is no trace: {}", fault.message::<V>("line")),
    })
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

/// The question whether a similar file in the same folder was meant; empty if there is none.
fn similar(path: &Path) -> String {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let given = path.file_name().unwrap_or_default().to_string_lossy();
    nearest(&given, names.iter().map(String::as_str))
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
