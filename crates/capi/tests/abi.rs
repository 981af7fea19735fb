//! The binary interface: `abi.txt` records it, and only additions may change it.
//! `ANABRANCH_WRITE_ABI=1` writes additions.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod table;
mod tools;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// The interface as Rust compiles it.
fn current() -> String {
    let mut text = format!("abi {}\n", anabranch_capi::ANB_ABI);
    for table::Function { name, result, parameters } in table::functions() {
        writeln!(text, "{result} {name}({})", parameters.join(", ")).unwrap();
    }
    for one in table::structs() {
        writeln!(text, "{} of {} bytes", one.name, one.size).unwrap();
        for (field, offset, size) in one.fields {
            writeln!(text, "{}.{field} at {offset}, {size} bytes", one.name).unwrap();
        }
    }
    text
}

/// The recorded lines that the library no longer has. A struct that has only grown is not one of them.
fn broken<'r>(record: &'r str, current: &str) -> Vec<&'r str> {
    let size = |line: &str| {
        let (name, rest) = line.split_once(" of ")?;
        Some((name.to_owned(), rest.strip_suffix(" bytes")?.parse::<usize>().ok()?))
    };
    let lines: BTreeSet<&str> = current.lines().collect();
    let sizes: Vec<_> = current.lines().filter_map(size).collect();
    let holds = |line: &str| match size(line) {
        Some((name, least)) => sizes.iter().any(|(other, size)| *other == name && *size >= least),
        None => lines.contains(line),
    };
    record.lines().filter(|line| !holds(line)).collect()
}

#[test]
fn the_interface_is_that_of_the_record_or_has_additions_that_were_recorded() {
    let file = tools::here().join("abi.txt");
    let (record, current) = (std::fs::read_to_string(&file).unwrap_or_default(), current());
    let broken = broken(&record, &current);
    assert!(broken.is_empty(), "programs that exist would break: {broken:#?}");
    if std::env::var_os("ANABRANCH_WRITE_ABI").is_some() {
        std::fs::write(&file, &current).expect("abi.txt can be written");
    } else {
        assert_eq!(record, current, "there are additions: write them with ANABRANCH_WRITE_ABI=1");
    }
}

#[test]
fn a_change_of_a_record_is_found_and_growth_is_not_one() {
    let record = "int f(int)\ns of 8 bytes\ns.a at 0, 4 bytes\n";
    assert!(broken(record, "int f(int)\nint g(int)\ns of 12 bytes\ns.a at 0, 4 bytes\n").is_empty());
    for changed in [
        "int f(long)\ns of 8 bytes\ns.a at 0, 4 bytes\n",
        "int f(int)\ns of 4 bytes\ns.a at 0, 4 bytes\n",
        "int f(int)\ns of 8 bytes\ns.a at 4, 4 bytes\n",
        "s of 8 bytes\ns.a at 0, 4 bytes\n",
    ] {
        assert_eq!(broken(record, changed).len(), 1, "{changed}");
    }
}

/// Without padding, all bytes of the structs that are written to a caller are initialised.
#[test]
fn structs_have_no_padding() {
    for one in table::structs() {
        let mut end = 0;
        for (field, offset, size) in one.fields {
            assert_eq!(offset, end, "{}.{field}", one.name);
            end = offset + size;
        }
        assert_eq!(end, one.size, "{}", one.name);
    }
}

/// The sizes of the structs as published, on 64-bit systems.
#[test]
fn structs_have_the_sizes_that_were_published() {
    let size = |name: &str| table::structs().iter().find(|one| one.name == name).expect("a struct").size;
    let published = [("ip", 24), ("setup", 72), ("peer", 24), ("msg", 28), ("info", 32), ("route", 56)];
    for (name, bytes) in
        published.into_iter().chain([("event", 256), ("path", 136), ("stats", 80), ("host_setup", 40)])
    {
        assert_eq!(size(&format!("anb_{name}")), bytes, "{name}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_shared_library_exports_the_functions_and_nothing_else() {
    if !tools::has("nm") {
        return;
    }
    let library = tools::built().join("libanabranch_capi.so");
    let listed = tools::run(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let exported: BTreeSet<&str> = listed.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let functions = table::functions();
    assert_eq!(exported, functions.iter().map(|function| function.name).collect());
    if tools::has("readelf") {
        let dynamic =
            tools::run(Command::new("readelf").arg("-d").arg(tools::built().join("libanabranch_capi.so")));
        let name = format!("[libanabranch.so.{}]", anabranch_capi::ANB_ABI);
        assert!(dynamic.lines().any(|line| line.contains("SONAME") && line.contains(&name)), "{dynamic}");
    }
}
