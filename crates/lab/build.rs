//! Fingerprints the sources that results depend on, so that no stored run outlives a change of the simulator.

use std::path::{Path, PathBuf};

const CRATES: [&str; 8] = ["units", "wire", "cc", "sctp", "tcp", "des", "net", "lab"];

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut digest = Fnv(0xcbf2_9ce4_8422_2325);
    for name in CRATES {
        let root = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", root.display());
        let mut files = Vec::new();
        collect(&root, &mut files);
        files.sort();
        for file in files {
            let relative = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            digest.add(format!("{name}/{relative}\n").bytes());
            digest.add(std::fs::read(&file).unwrap_or_default().into_iter().filter(|byte| *byte != b'\r'));
        }
    }
    // The versions of the libraries: some of them compute.
    let lock = crates.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    digest.add(std::fs::read(lock).unwrap_or_default().into_iter().filter(|byte| *byte != b'\r'));
    println!("cargo::rustc-env=ANABRANCH_SOURCES={:016x}", digest.0);
    println!("cargo::rerun-if-env-changed=ANABRANCH_COMMIT");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Fowler-Noll-Vo, variant 1a, 64 bits.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: impl Iterator<Item = u8>) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
