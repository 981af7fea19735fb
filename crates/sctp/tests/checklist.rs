//! CHECKLIST.md names tests that exist.

use std::path::Path;

/// The file that holds a test of this name: in `tests/`, or a module in `src/`, of this crate or the one named first.
fn source(modules: &[&str]) -> Option<String> {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let (name, modules) = match modules {
        [name @ ("wire" | "cc" | "testkit"), modules @ ..] => (*name, modules),
        modules => ("sctp", modules),
    };
    let path = modules.join("/");
    ["tests/{}.rs", "src/{}.rs", "src/{}/mod.rs"].iter().find_map(|place| {
        let file = format!("{crates}/{name}/{}", place.replace("{}", &path));
        std::fs::read_to_string(Path::new(&file)).ok()
    })
}

fn exists(reference: &str) -> bool {
    let mut modules: Vec<&str> = reference.split("::").collect();
    let test = modules.pop().unwrap_or_default();
    source(&modules).is_some_and(|source| {
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {test}(")))
    })
}

#[test]
fn every_line_has_tests_that_exist_or_waits() {
    let list = include_str!("../CHECKLIST.md");
    let rows = list.lines().filter(|line| line.starts_with("| M |") || line.starts_with("| S |"));
    let mut lines = 0;
    for row in rows {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        lines += 1;
        if held_by.starts_with("waits: ") {
            continue;
        }
        for reference in held_by.split(", ") {
            let name = reference.trim_matches('`');
            assert!(name.len() + 2 == reference.len() && exists(name), "{reference} is no test: {row}");
        }
    }
    assert!(lines > 100, "the list has {lines} lines");
}
