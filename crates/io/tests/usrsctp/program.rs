//! A C program with usrsctp for the tests of several crates: its compilation and its report.

use std::path::{Path, PathBuf};
use std::process::Command;

/// User data sent or received. The first 8 bytes of each message are its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Bytes of all messages.
    pub bytes: u64,
    /// Number of messages.
    pub messages: u64,
    /// Sum of the messages' numbers.
    pub numbers: u64,
}

/// The report of usrsctp at its end.
#[derive(Debug)]
pub struct Report {
    /// Data that usrsctp sent or received.
    pub data: Data,
    /// Seconds from the first message to the last message (of a receiver) or to the end of the association
    /// (of a sender).
    pub seconds: f64,
    /// True if the association ended gracefully.
    pub graceful: bool,
    /// The whole report.
    pub json: serde_json::Value,
}

impl Report {
    /// Reads the line of JSON that the program `suites/overlay/usrsctp.c` prints at its end.
    ///
    /// # Panics
    /// If the line is not a report.
    pub fn read(printed: &str) -> Report {
        let json: serde_json::Value =
            serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
        let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("no {key} in {printed}"));
        Report {
            data: Data { bytes: number("bytes"), messages: number("messages"), numbers: number("numbers") },
            seconds: json["seconds"].as_f64().expect("a number"),
            graceful: json["graceful"] == true,
            json,
        }
    }
}

/// Compiles a program, whose source path is relative to the root of the tree, into a folder.
///
/// # Errors
/// A text that names the missing tool or library.
pub fn compile(source: &str, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("usrsctp-peer");
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(source);
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program);
    let output = command.arg(&source).args(["-lusrsctp", "-lpthread"]).output();
    match output {
        Err(_) => Err("the C compiler cc".into()),
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            let missing = why.contains("usrsctp.h") || why.contains("cannot find -lusrsctp");
            assert!(missing, "{} cannot be compiled: {why}", source.display());
            Err("libusrsctp with its header".into())
        }
    }
}
