//! The tables of `docs/interop.md`. The interoperability tests write one table for each peer.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The table of one peer.
#[derive(Debug)]
pub struct Interop {
    peer: &'static str,
    version: String,
    rows: Vec<[String; 4]>,
}

/// Allows one test at a time to write `docs/interop.md`.
static PAGE: Mutex<()> = Mutex::new(());

const HEADER: &str =
    "| peer | version | extension | what happens | who connects | result |\n|---|---|---|---|---|---|\n";

impl Interop {
    /// A table without rows.
    pub fn new(peer: &'static str, version: impl Into<String>) -> Interop {
        Interop { peer, version: version.into(), rows: Vec::new() }
    }

    /// Adds a row for a use of an extension that a test has shown to work.
    pub fn works(&mut self, extension: &str, what: &str, connects: &str) {
        self.row(extension, what, connects, "works");
    }

    /// Adds a row for a use of an extension that is impossible with this peer, with the reason.
    pub fn hole(&mut self, extension: &str, what: &str, why: &str) {
        self.row(extension, what, "-", why);
    }

    fn row(&mut self, extension: &str, what: &str, connects: &str, result: &str) {
        self.rows.push([extension, what, connects, result].map(str::to_owned));
        // Writes to standard error without a macro, because cargo hides the macro output of a test that
        // passes.
        let line = self.lines().pop().expect("a row was added");
        std::io::stderr().write_all(line.as_bytes()).expect("standard error is open");
    }

    fn lines(&self) -> Vec<String> {
        let line =
            |row: &[String; 4]| format!("| {} | {} | {} |\n", self.peer, self.version, row.join(" | "));
        self.rows.iter().map(line).collect()
    }

    /// Compares the table with the one in the page; the version of the peer may differ. If `ANABRANCH_UPDATE`
    /// is set, writes the table into the page instead.
    ///
    /// # Panics
    /// If the page has other rows, or cannot be read or written.
    pub fn check(self) {
        let _alone = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/interop.md");
        let mut page = std::fs::read_to_string(&file).expect("docs/interop.md is there");
        let marker = format!("<!-- rows: {} -->\n", self.peer);
        let from = page.find(&marker).unwrap_or_else(|| panic!("no {marker}")) + marker.len();
        let to = from + page[from..].find("<!-- end -->").expect("an end of the table");
        if std::env::var_os("ANABRANCH_UPDATE").is_some() {
            page.replace_range(from..to, &(HEADER.to_owned() + &self.lines().concat()));
            return std::fs::write(file, page).expect("the page can be written");
        }
        let without_version = |line: &str| {
            let mut cells: Vec<&str> = line.split('|').map(str::trim).collect();
            assert!(cells.len() > 2, "a row of a table, not {line}");
            cells.remove(2);
            cells.join("|")
        };
        let there: Vec<_> = page[from..to].lines().skip(2).map(without_version).collect();
        let here: Vec<_> = self.lines().iter().map(|line| without_version(line.trim_end())).collect();
        assert_eq!(here, there, "docs/interop.md is old: run this test with ANABRANCH_UPDATE=1");
    }
}
