//! Checks the words of the sources: no name of the list below, and no comment line beyond 110 columns.
//!
//! The list contains names that hide their meaning, each with a standard term to use instead.

use std::path::{Path, PathBuf};

/// Names that are not used, with the names to use in their place.
const NAMES: &[(&str, &str)] = &[
    ("Firm", "NonRenegable"),
    ("Taken", "AckedPaths, or a name that says what was taken"),
    ("News", "SackDelta, AckDelta or EventQueue"),
    ("SackNews", "SackDelta"),
    ("Habits", "SchedulerTraits or Usage"),
    ("booked", "flight_size"),
    ("Stray", "OutOfTheBlue"),
    ("hold_to", "a name that says what is kept, and until when"),
    ("touched", "schedule, or what the function does"),
    ("Put", "RowWriter"),
    ("Around", "RunContext"),
    ("stretch", "window_rows"),
    ("Look", "ProbeSource"),
    ("Sight", "ProbeView"),
    ("Seat", "Socket"),
];

/// Maximum columns of a comment line, as of a code line (rustfmt.toml); rustfmt does not check comments.
const COLUMNS: usize = 110;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Rust files of all crates, with their paths below `crates/`, without this file.
fn sources() -> Vec<(String, String)> {
    let (mut folders, mut files) = (vec![crates()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of a crate") {
            let path = entry.expect("an entry").path();
            let name =
                path.strip_prefix(crates()).expect("below crates").to_string_lossy().replace('\\', "/");
            if path.is_dir() && !name.ends_with("/target") {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs")
                && name != "testkit/tests/house/words.rs"
            {
                files.push((name, std::fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    files
}

/// The code of a line before a comment. A `//` in a string counts as a comment, so the rest is not checked.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// The identifiers in a part of a line.
fn names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn names_that_hid_their_meaning_stay_away() {
    let mut found = Vec::new();
    for (file, source) in sources() {
        for (index, line) in source.lines().enumerate() {
            for (name, better) in NAMES {
                if names(code(line)).any(|word| word == *name) {
                    found.push(format!("{file}:{}: {name}: write {better}", index + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Lines of code examples between fences are not checked, because rustfmt does not wrap them either.
#[test]
fn comment_lines_end_within_110_columns() {
    let mut found = Vec::new();
    for (file, source) in sources() {
        let mut fenced = false;
        for (index, line) in source.lines().enumerate() {
            let text = line.trim_start();
            if !text.starts_with("//") {
                fenced = false;
                continue;
            }
            let is_fence = text.trim_start_matches(['/', '!']).trim_start().starts_with("```");
            fenced ^= is_fence;
            if !fenced && !is_fence && line.chars().count() > COLUMNS {
                found.push(format!("{file}:{}: {} columns", index + 1, line.chars().count()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
