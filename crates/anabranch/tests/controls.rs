//! Tests that every registered algorithm has its page in docs/controls, with the equations of its source and
//! its options.
//!
//! The crate of the controls does not contain these tests. So a developer can run the tests of that crate for
//! a new algorithm before its page exists.

use std::fs;
use std::path::{Path, PathBuf};

use anabranch::cc::{Algorithm, Knobs};
use transport::{OptionValue, Options};

const LARGEST_PICTURE: u64 = 60_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = root().join("docs/controls").join(format!("{name}.md"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks between ```` ```text ```` and ```` ``` ````.
fn equations(text: &str) -> Vec<String> {
    let blocks = text.split("```text\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The documentation at the top of a source file.
fn header(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

#[test]
fn every_control_has_a_page_a_small_picture_and_a_line_in_the_index() {
    let index = page("README");
    for name in Algorithm::NAMES {
        assert!(page(name).contains("!["), "docs/controls/{name}.md shows no picture");
        assert!(page(name).contains(&format!("({name}.png)")), "docs/controls/{name}.md shows no {name}.png");
        let picture = root().join("docs/controls").join(format!("{name}.png"));
        let size =
            fs::metadata(&picture).unwrap_or_else(|error| panic!("{}: {error}", picture.display())).len();
        assert!((5_000..LARGEST_PICTURE).contains(&size), "{name}.png has {size} bytes");
        assert!(
            index.contains(&format!("({name}.md)")),
            "docs/controls/README.md does not lead to {name}.md"
        );
    }
}

#[test]
fn pages_have_the_equations_of_the_source() {
    for name in Algorithm::NAMES {
        let page = page(name);
        let file =
            page.split("(../../crates/cc/src/algorithm/").nth(1).and_then(|rest| rest.split(')').next());
        let file = file.unwrap_or_else(|| panic!("docs/controls/{name}.md does not lead to its source"));
        let source = fs::read_to_string(root().join("crates/cc/src/algorithm").join(file)).unwrap();
        assert!(source.contains(&format!("\"{name}\"")), "docs/controls/{name}.md leads to another's source");
        assert!(!equations(&page).is_empty(), "docs/controls/{name}.md has no equation");
        assert_eq!(equations(&page), equations(&header(&source)), "equations of {name}");
    }
}

#[test]
fn pages_have_every_option_with_its_default() {
    let pages: Vec<String> = Algorithm::NAMES.iter().map(|name| page(name)).collect();
    Knobs::default().each(&mut |group| {
        let OptionValue::Group(options) = group.value else { panic!("{} is no group", group.path) };
        options.each(&mut |option| {
            let row = format!("| `{}` | {} |", option.path, option.value.text());
            assert!(pages.iter().any(|page| page.contains(&row)), "no page of docs/controls has `{row}`");
        });
    });
}
