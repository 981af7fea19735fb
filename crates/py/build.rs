//! Copies the papers, suites and scenarios for wheels. `[tool.maturin]` in pyproject.toml lists the files of
//! the copy that go into a wheel.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    let data = Path::new(&out).join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    for kind in ["papers", "suites", "scenarios"] {
        let folder = Path::new("../..").join(kind);
        println!("cargo::rerun-if-changed={}", folder.display());
        copy(&folder, &data.join(kind))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to)?;
        }
    }
    Ok(())
}
