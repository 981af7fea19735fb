//! Passes the git commit of the checkout to the crate as `ANABRANCH_COMMIT`; the manifest of a sweep names
//! it. The commit comes from the environment or from git.
//!
//! Only release builds contain the commit. In other builds each commit would cause all tests to be compiled
//! again.

use std::path::{Path, PathBuf};
use std::process::Command;

const VARIABLE: &str = "ANABRANCH_COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let named = std::env::var(VARIABLE).ok().filter(|commit| !commit.is_empty());
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = named.or_else(|| if release { commit_of_checkout() } else { None });
    if let Some(commit) = commit {
        println!("cargo::rustc-env={VARIABLE}={commit}");
    }
}

/// Returns the commit of the checkout that contains this crate, with "-dirty" if files were changed since.
/// Returns `None` in a repository of another project that contains a copy of the sources.
fn commit_of_checkout() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    // Git adds a line to `logs/HEAD` with each commit and each checkout.
    let log = root.join(git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?);
    for watched in [log, root.join("crates")].iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    git(&root, &["describe", "--always", "--dirty", "--abbrev=12"])
}

/// Runs git and returns its output without the end of the line.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
