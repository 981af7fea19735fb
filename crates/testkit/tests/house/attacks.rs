//! Checks that each test named in docs/security.md exists.

use std::fs;
use std::path::{Path, PathBuf};

/// All files and folders in a folder, without the contents of `target`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("can be read") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" {
            files(&path, found);
        }
        found.push(path);
    }
}

/// The texts between backquotes in the last column of each table of attacks.
fn named(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack"));
    let tests = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    tests.flat_map(|tests| tests.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn each_test_that_the_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/security.md")).expect("can be read");
    let mut all = Vec::new();
    for folder in ["crates", "python", "fuzz"] {
        files(&root.join(folder), &mut all);
        all.push(root.join(folder));
    }
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "rs");
    let sources: String =
        all.iter().filter(is_source).map(|path| fs::read_to_string(path).expect("is text")).collect();
    let paths: Vec<String> = all.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect();
    let names = named(&page);
    assert!(names.len() > 60, "{} names", names.len());
    for name in names {
        let exists = match name.strip_suffix('…') {
            Some(beginning) => sources.contains(&format!("fn {beginning}")),
            None => {
                let end = format!("/{}", name.trim_end_matches('/'));
                paths.iter().any(|path| path.ends_with(&end)) || sources.contains(&format!("fn {name}()"))
            }
        };
        assert!(exists, "docs/security.md names `{name}`, which does not exist");
    }
}

#[test]
fn names_are_those_of_the_last_column() {
    let page = "| attack | defence | test |\n|---|---|---|\n| a | `b` | `c.rs`, `d_…` |\ntext `e`\n";
    assert_eq!(named(page), ["c.rs", "d_…"]);
}
