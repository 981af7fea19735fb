//! Tests that the program printed in docs/embed-rust.md is the one of the crate's documentation, which runs.

/// The lines of a program from `let server` on, without indentation and without lines
/// hidden in documentation.
fn steps(program: &str) -> Vec<&str> {
    let lines = program.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.skip_while(|line| !line.starts_with("let server")).collect()
}

#[test]
fn the_program_of_the_page_is_that_of_the_crate() {
    let page = include_str!("../../../docs/embed-rust.md");
    let printed = page.split("```").find_map(|block| block.strip_prefix("rs\n")).expect("a block of Rust");
    let docs: Vec<_> =
        include_str!("../src/lib.rs").lines().map_while(|line| line.strip_prefix("//!")).collect();
    let docs = docs.join("\n");
    let documented = steps(docs.split("```").nth(1).expect("an example"));
    assert_eq!(steps(printed), [&documented[..], &["Ok(())", "}"]].concat());
}
