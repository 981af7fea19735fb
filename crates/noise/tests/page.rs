//! Tests that the program printed in docs/encryption.md is the one in the documentation of the crate, which
//! compiles.

#[test]
fn the_printed_program_is_the_compiled_one() {
    let page = include_str!("../../../docs/encryption.md");
    let printed = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let source = include_str!("../src/lib.rs").lines().filter_map(|line| line.strip_prefix("//!"));
    let compiled: String =
        source.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
    assert!(compiled.contains(printed), "copy one to the other");
}
