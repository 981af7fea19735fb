//! Checks that CHECKLIST.md and docs/conformance.md name existing tests, and that tests name sections.

use std::path::Path;

/// Reads the file of a test module in `tests/` or `src/`. The crate is sctp unless the first name is a crate.
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

/// The comment above a test, if the test exists.
fn heading(reference: &str) -> Option<String> {
    let mut modules: Vec<&str> = reference.split("::").collect();
    let test = modules.pop()?;
    let source = source(&modules)?;
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let found = |pair: &[&str]| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {test}("));
    let at = lines.windows(2).position(found)?;
    let comments = lines[..at].iter().rev().take_while(|line| line.starts_with("//"));
    Some(comments.copied().collect())
}

/// The rows of a page, each with the names of tests in its last column.
fn rows<'a>(
    page: &'a str,
    is_row: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
    page.lines().filter(move |line| is_row(line)).map(|row| {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let waits = held_by.starts_with("waits: ");
        let names = held_by.split(", ").filter(|_| !waits).map(|name| name.trim_matches('`'));
        (row, names.collect())
    })
}

#[test]
fn every_line_has_a_test_that_names_its_section_or_waits() {
    let list = include_str!("../CHECKLIST.md");
    let mut lines = 0;
    for (row, names) in rows(list, |line| line.starts_with("| M |") || line.starts_with("| S |")) {
        lines += 1;
        let mut names_a_section = names.is_empty();
        for name in names {
            let heading = heading(name);
            assert!(heading.is_some(), "{name} is no test: {row}");
            names_a_section |= heading.is_some_and(|heading| heading.contains("#section-"));
        }
        assert!(names_a_section, "none of these tests names its section: {row}");
    }
    assert!(lines > 100, "the list has {lines} lines");
}

#[test]
fn every_purpose_of_the_conformance_suites_has_a_test_or_waits() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md");
    let page = std::fs::read_to_string(page).expect("docs/conformance.md");
    let heading_of_table = |line: &str| line.starts_with("| Purpose |") || line.starts_with("|---");
    let mut purposes = Vec::new();
    for (row, names) in rows(&page, |line| line.starts_with('|') && !heading_of_table(line)) {
        purposes.push(row.split(" | ").next().unwrap_or_default());
        for name in names {
            assert!(heading(name).is_some(), "{name} is no test: {row}");
        }
    }
    let all = purposes.len();
    purposes.sort_unstable();
    purposes.dedup();
    assert_eq!(purposes.len(), all, "a purpose is listed twice");
    let groups = ["AS", "AT", "IMH", "DM", "FH", "E", "BDC", "D", "A", "M", "RT"];
    let of_group = |group: &&str| {
        let is_etsi = |kind| move |purpose: &&&str| purpose.starts_with(&format!("| {group}-{kind}-"));
        ["V", "I", "O"].iter().map(|kind| purposes.iter().filter(is_etsi(kind)).count()).sum::<usize>()
    };
    let etsi: Vec<usize> = groups.iter().map(of_group).collect();
    assert_eq!(etsi, [33, 16, 10, 15, 8, 6, 8, 15, 3, 4, 3], "ETSI TS 102 369 has 121 purposes");
}
