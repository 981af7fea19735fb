//! A temporary folder in which a test calls the command.

#![allow(dead_code)] // Each test uses a part of it.

use serde_json::Value as Json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder with scenario files, removed at the end of the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates a folder with these files. The folder has this name and the id of the process.
    pub fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("anabranch-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for (file, contents) in files {
            fs::write(path.join(file), contents).unwrap();
        }
        Scratch(path)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
        command.current_dir(&self.0).args(arguments).env_remove("ANABRANCH_PYTHON").env_remove("COLUMNS");
        command
    }

    /// Calls the command. Returns the exit code, standard output and standard error.
    pub fn call(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    /// Calls the command, which must succeed, and parses its output as JSON.
    pub fn json(&self, arguments: &[&str]) -> Json {
        let (code, out, err) = self.call(arguments);
        assert_eq!((code, err.as_str()), (0, ""));
        serde_json::from_str(&out).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
