//! Checks that the dependencies between crates are those that ARCHITECTURE.md lists.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The direct dependencies of each crate in ARCHITECTURE.md.
const ARROWS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("transport", &["units"]),
    ("wire", &["transport"]),
    ("cc", &["transport"]),
    ("des", &["units"]),
    ("sctp", &["wire", "cc"]),
    ("tcp", &["cc"]),
    ("anabranch", &["sctp", "tcp"]),
    ("net", &["des", "transport"]),
    ("scenario", &["sctp", "tcp", "net"]),
    ("lab", &["scenario", "qlog"]),
    ("capi", &["scenario", "sock", "client"]),
    ("playground", &["lab"]),
    ("measure", &["lab", "noise"]),
    ("emulate", &["lab"]),
    ("cli", &["measure", "tunnel", "emulate", "sock"]),
    ("py", &["cli"]),
    ("qlog", &["sctp"]),
    ("io", &["qlog"]),
    ("tokio", &["io"]),
    ("noise", &["io"]),
    ("tunnel", &["noise"]),
    ("records", &[]),
    ("sock", &["io", "records", "scenario"]),
    ("client", &["records"]),
    ("preload", &["client"]),
    ("usrsctp", &["sock", "client"]),
    ("testkit", &["sctp", "tcp", "net"]),
];

/// All direct and indirect dependencies of a crate.
fn reach(name: &str) -> BTreeSet<String> {
    let (_, direct) =
        ARROWS.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} is not in ARROWS"));
    direct.iter().flat_map(|d| reach(d).into_iter().chain([(*d).to_owned()])).collect()
}

/// The crates of the workspace and their direct dependencies on each other, without dev-dependencies.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let short = |value: &serde_json::Value| match value["name"].as_str() {
        Some("anabranch") => Some("anabranch".to_owned()),
        name => name.and_then(|name| name.strip_prefix("anabranch-")).map(str::to_owned),
    };
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
            let for_real = dependencies.filter(|d| d["kind"] != "dev");
            (
                short(package).expect("every crate is named anabranch or anabranch-*"),
                for_real.filter_map(short).collect(),
            )
        })
        .collect()
}

#[test]
fn dependencies_go_one_way() {
    for (name, dependencies) in edges() {
        let allowed = reach(&name);
        let stray: Vec<_> = dependencies.difference(&allowed).collect();
        assert!(stray.is_empty(), "{name} must not depend on {stray:?}: ARCHITECTURE.md allows {allowed:?}");
    }
}

/// The protocol and simulator crates do not use anything that makes a result depend on the machine.
#[test]
fn protocol_and_simulator_crates_use_no_clock_socket_or_thread() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for name in ["units", "transport", "wire", "cc", "sctp", "tcp", "anabranch", "des", "net"] {
        let manifest = std::fs::read_to_string(format!("{root}/{name}/Cargo.toml")).expect("a manifest");
        for crate_name in ["tokio", "mio", "socket2", "getrandom", "rayon", "libc"] {
            let mut lines = manifest.lines().filter(|line| line.starts_with(crate_name));
            // sctp has an optional dependency on `getrandom`, which the simulator does not enable.
            let allowed = |line: &str| crate_name == "getrandom" && line.contains("optional = true");
            assert!(lines.all(allowed), "{name} depends on {crate_name}");
        }
        let lib = std::fs::read_to_string(format!("{root}/{name}/src/lib.rs")).expect("a library");
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{name} must forbid unsafe code");
    }
}
