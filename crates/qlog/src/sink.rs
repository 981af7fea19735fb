//! A file of records, which ends at the first error.

use crate::json::{Object, object};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use units::{Instant, Span};

/// Bytes of whole records that are written at once.
const BATCH: usize = 1 << 16;

/// Longest time for which records wait.
const PATIENCE: Span = Span::from_secs(1);

/// Records on their way to a file.
#[derive(Debug)]
pub(crate) struct Sink {
    path: PathBuf,
    /// `None` once a record could not be written.
    file: Option<File>,
    waiting: Vec<u8>,
    written: Instant,
}

impl Sink {
    pub(crate) fn create(path: PathBuf) -> std::io::Result<Sink> {
        let file = Some(File::create(&path)?);
        Ok(Sink { path, file, waiting: Vec::with_capacity(BATCH + BATCH / 16), written: Instant::ZERO })
    }

    /// False once the file has ended.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Adds a record (`rfc7464#section-2.2`).
    #[inline]
    pub(crate) fn record(&mut self, members: impl FnOnce(&mut Object<'_>)) {
        self.waiting.push(0x1e);
        object(&mut self.waiting, members);
        self.waiting.push(b'\n');
    }

    /// Writes the waiting records if they are many, or have waited for long.
    #[inline]
    pub(crate) fn write_due(&mut self, now: Instant) {
        if self.waiting.len() >= BATCH || now.since(self.written) >= PATIENCE {
            self.written = now;
            self.write();
        }
    }

    /// Writes the waiting records. After an error the file has ended: nothing waits for a full disk.
    fn write(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(&self.waiting)
        {
            eprintln!("qlog: {} ends early: {error}", self.path.display());
            self.file = None;
        }
        self.waiting.clear();
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.write();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_ends_the_file_and_nothing_waits_for_it() {
        let mut sink = Sink::create("/dev/full".into()).unwrap();
        let mut second = |at| {
            sink.record(|record| record.text("name", "x"));
            sink.write_due(Instant::ZERO + Span::from_secs(at));
            (sink.is_open(), sink.waiting.is_empty())
        };
        assert_eq!(second(0), (true, false), "records wait for a second");
        assert_eq!(second(1), (false, true));
        assert_eq!(second(2), (false, true));
    }
}
