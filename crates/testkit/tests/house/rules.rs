//! Checks that the table of rules in docs/design/sender.md has the constants, values and tests of the code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of the multipath sender, and those that the recommended options use at the receiver and in
/// congestion control. Each constant in these files is in the table of rules or in the table of other
/// numbers.
const FILES: &[&str] = &[
    "bottlenecks",
    "model",
    "same_return",
    "retransmission",
    "copies",
    "lateness",
    "probe",
    "timeout",
    "sack",
    "send",
    "tx/rack",
    "path/rack",
    "path/mod",
    "path/heartbeat",
    "liveness",
    "return_path",
    "rto",
    "sack_path",
    "lean",
    "reserve",
    "paced",
    "cc/src/pacer",
    "shares",
    "cc/src/delivery",
    "cc/src/resume",
    "hystart",
    "rtt",
];

/// Crates that contain the files of [`FILES`] and the tests of the rules.
const CRATES: &[&str] = &["sctp", "cc", "transport", "lab"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Rust files of the crates, with their paths below `crates/`.
fn sources() -> Vec<(String, String)> {
    let parts = |name: &&str| ["src", "tests"].map(|part| crates().join(name).join(part));
    let mut folders: Vec<PathBuf> = CRATES.iter().flat_map(parts).filter(|folder| folder.is_dir()).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of a crate") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(crates()).expect("below crates").to_string_lossy().into_owned();
                files.push((name, std::fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    files
}

/// The constants of a file by name, without those of its tests. The values are written as in the page.
fn constants(source: &str) -> BTreeMap<String, String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = BTreeMap::new();
    for line in code.lines() {
        let line = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let Some((name, value)) = line.strip_prefix("const ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let value = value.split_once(" = ").map_or("", |(_, value)| value.trim_end_matches(';'));
        found.insert(name.to_owned(), readable(value));
    }
    found
}

/// Converts a value: `Span::from_millis(10)` to 10 ms, `1.0 / 16.0` to 1/16, `100_000` to 100000.
fn readable(value: &str) -> String {
    for (call, unit) in [("millis", "ms"), ("secs", "s")] {
        let number =
            value.strip_prefix(&format!("Span::from_{call}(")).and_then(|rest| rest.strip_suffix(')'));
        if let Some(number) = number {
            return format!("{number} {unit}");
        }
    }
    value.replace("1.0 / 16.0", "1/16").replace('_', "")
}

fn page() -> String {
    std::fs::read_to_string(crates().join("../docs/design/sender.md")).expect("the page is there")
}

/// The rows of the tables between two markers; a row is a list of cells.
fn rows<'p>(page: &'p str, marker: &str) -> Vec<Vec<&'p str>> {
    let after = page.split_once(&format!("<!-- {marker} -->")).expect("a begin of the tables").1;
    let part = after.split_once(&format!("<!-- end of {marker} -->")).expect("an end of the tables").0;
    let is_row = |line: &&str| {
        line.starts_with("| ") && !line.contains("| reason |") && !line.starts_with("| constant |")
    };
    part.lines()
        .filter(is_row)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The words in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The constants in the table of rules, as `file::NAME`, with their values.
fn of_rules(page: &str) -> Vec<(String, String)> {
    let cells = rows(page, "rules").into_iter().map(|row| row[1]).filter(|cell| !cell.is_empty());
    let constants = cells.flat_map(|cell| cell.split(", "));
    let in_two = |text: &str| {
        let (name, value) = text.split_once("` = ").unwrap_or_else(|| panic!("no value: {text}"));
        (name.trim_start_matches('`').to_owned(), value.to_owned())
    };
    constants.map(in_two).collect()
}

/// The source text of the sender's file that the page calls `name`.
fn file<'s>(sources: &'s [(String, String)], name: &str) -> &'s str {
    let end = format!("/{name}.rs");
    let is_it = |path: &str| {
        path.contains("/src/") && !path.contains("/tests/") && format!("/{path}").ends_with(&end)
    };
    let mut found = sources.iter().filter(|(path, _)| is_it(path));
    let (_, source) = found.next().unwrap_or_else(|| panic!("no file is called {name}"));
    assert!(found.next().is_none(), "several files are called {name}: write a folder before it");
    source
}

#[test]
fn every_constant_of_a_rule_has_the_value_in_the_table() {
    let (page, sources) = (page(), sources());
    let rules = of_rules(&page);
    assert!(rules.len() > 20, "only {} constants were found", rules.len());
    for (name, value) in rules {
        let (stem, constant) = name.rsplit_once("::").unwrap_or_else(|| panic!("no file: {name}"));
        assert!(FILES.contains(&stem), "{stem} is no file of the sender");
        let code = constants(file(&sources, stem));
        assert_eq!(code.get(constant), Some(&value), "{name} in the code and in the table");
    }
}

#[test]
fn every_constant_of_the_sender_is_in_a_table() {
    let (page, sources) = (page(), sources());
    let numbers = rows(&page, "numbers");
    let mut told: Vec<String> = of_rules(&page).into_iter().map(|(name, _)| name).collect();
    told.extend(numbers.iter().flat_map(|row| quoted(row[0])).map(str::to_owned));
    let mut known = Vec::new();
    for stem in FILES {
        let names = constants(file(&sources, stem)).into_keys();
        known.extend(names.map(|name| format!("{stem}::{name}")));
    }
    let missing: Vec<_> = known.iter().filter(|name| !told.contains(name)).collect();
    assert!(missing.is_empty(), "neither a rule nor another number: {missing:?}");
    let gone: Vec<_> = told.iter().filter(|name| !known.contains(name)).collect();
    assert!(gone.is_empty(), "not in the code: {gone:?}");
    let mut each = told.clone();
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), told.len(), "a constant is in the tables twice");
}

#[test]
fn every_test_of_a_rule_exists() {
    let (page, sources) = (page(), sources());
    for row in rows(&page, "rules") {
        assert_eq!(row.len(), 5, "{row:?}");
        let test = row[4].trim_matches('`');
        if test == "none" {
            continue;
        }
        let heads = sources.iter().flat_map(|(_, source)| source.split("#[test]").skip(1));
        let of_test = |head: &str| {
            let function = head.split("fn ").nth(1).unwrap_or_default();
            function.strip_prefix(test).is_some_and(|rest| rest.starts_with('('))
        };
        assert!(heads.clone().any(of_test), "{test} is no test: {row:?}");
    }
}

/// The page states the number of rules, and the number of rules without a test.
#[test]
fn the_page_counts_its_rules() {
    let page = page();
    let rules = rows(&page, "rules");
    let untested = rules.iter().filter(|row| row[4] == "none").count();
    let counts = format!(
        "The sender has {} rules with {} constants; rules without a test: {untested}.",
        rules.len(),
        of_rules(&page).len()
    );
    assert!(page.contains(&counts), "the page has to say: {counts}");
}
