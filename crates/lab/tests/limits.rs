//! Every number of a scenario file with extreme values: each file is refused, or is simulated without a panic
//! and with little memory.

use anabranch_lab as lab;
use lab::output::RunControl;
use lab::scenario::schema;
use serde_json::Value as Json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Largest additional memory of a thread, bytes.
const LIMIT: isize = 64 << 20;

struct Counting;

fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller fulfils the requirements of `alloc`, and the call is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A small scenario with every kind of TOML table that a scenario file can contain.
const BASE: &str = r#"
[scenario]
seed = 1
[node]
name = "a"
count = 1
[other]
name = "b"
[link]
between = ["a", "b"]
rate = "10 Mbit/s"
[sctp]
[tcp]
[flow]
name = "f"
client = "a"
server = "b"
sctp = "x"
frame_rate = "0 Hz"
stop_time = "6 s"
[udp]
name = "u"
client = "a"
server = "b"
protocol = "UDP"
[transfers]
name = "t"
client = "a"
server = "b"
protocol = "TCP"
tcp = "x"
rate = "5 Hz"
size = "10 kB"
to = "5 s"
remote_port = 80
[window]
name = "w"
from = "1 s"
to = "2 s"
[probe]
quantity = "cwnd"
flow = "f"
every = "100 ms"
"#;

/// The scenario with `key = value` in the table `table`, in place of the value in `BASE`.
fn file(table: &str, key: &str, value: &str) -> String {
    let mut text = String::new();
    let (mut inside, mut said) = (false, false);
    for line in BASE.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if inside && !said {
                text += &format!("{key} = {value}\n");
                said = true;
            }
            inside = name == table;
            text += &match name {
                "scenario" => String::new(),
                "node" | "other" => "[[node]]\n".to_owned(),
                "sctp" | "tcp" => format!("[{name}.x]\n"),
                "flow" | "udp" => "[[flow]]\n".to_owned(),
                name => format!("[[{name}]]\n"),
            };
        } else if inside && line.starts_with(&format!("{key} =")) {
            text += &format!("{key} = {value}\n");
            said = true;
        } else {
            text += &format!("{line}\n");
        }
    }
    if !said {
        text += &format!("{key} = {value}\n");
    }
    text
}

/// Numbers and quantities at the limits of their types and beyond, in the notation of TOML.
fn values(kind: &str) -> Vec<String> {
    let bare = [
        "0",
        "1",
        "-1",
        "-0.0",
        "255",
        "4294967295",
        "9223372036854775807",
        "-9223372036854775808",
        "1e300",
        "-1e300",
        "5e-324",
        "nan",
        "inf",
        "-inf",
    ];
    let quantities = |unit: &str, most: &str| -> Vec<String> {
        let numbers = ["0", "1", "18446744073709551615", "999999999999999999999999999999", "-1", "1e300"];
        let mut all: Vec<String> = numbers.iter().map(|number| format!("\"{number} {unit}\"")).collect();
        all.push(format!("\"{most}\""));
        let ends = [all[0].clone(), all[1].clone(), format!("\"{most}\"")];
        for value in &ends {
            all.push(format!("{{ exponential = {value} }}"));
            all.push(format!("{{ uniform = [{}, {value}] }}", ends[0]));
            all.push(format!("{{ pareto = {value}, shape = 1.000000001 }}"));
        }
        all
    };
    match kind {
        "time" => quantities("ns", "876000 h"),
        "rate" => quantities("bit/s", "1000000 Gbit/s"),
        "size" => quantities("B", "1000000 GB"),
        "frequency" => quantities("mHz", "1000 MHz"),
        _ => bare.map(str::to_owned).into(),
    }
}

/// The kinds of numeric values that a schema accepts.
fn kinds(schema: &Json) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        found.push(name.trim_end_matches("_distribution").to_owned());
    }
    if ["integer", "number"].contains(&schema["type"].as_str().unwrap_or_default()) {
        found.push("number".to_owned());
    }
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    found.extend(branches.flat_map(kinds));
    found.retain(|kind| ["number", "time", "rate", "size", "frequency"].contains(&kind.as_str()));
    found.sort();
    found.dedup();
    found
}

/// The keys of an object that accept numbers. Keys of its tables are written `table.key`.
fn numeric_keys(object: &Json, before: &str, found: &mut Vec<(String, String)>) {
    for (key, schema) in object["properties"].as_object().into_iter().flatten() {
        let key = format!("{before}{key}");
        found.extend(kinds(schema).into_iter().map(|kind| (key.clone(), kind)));
        numeric_keys(schema, &format!("{key}."), found);
        for branch in schema["anyOf"].as_array().into_iter().flatten() {
            numeric_keys(branch, &format!("{key}."), found);
        }
    }
}

/// The objects in a part of the schema, also behind references and in variations.
fn objects<'s>(root: &'s Json, schema: &'s Json) -> Vec<&'s Json> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return objects(root, &root["$defs"][name]);
    }
    if schema["properties"].is_object() && schema["properties"].get("vary").is_none() {
        return vec![schema];
    }
    let inner = ["items", "additionalProperties"].iter().map(|key| &schema[*key]);
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    inner
        .chain(branches)
        .filter(|schema| schema.is_object())
        .flat_map(|schema| objects(root, schema))
        .collect()
}

/// Parses the file and, if it is valid, simulates its first events. Returns true if the file is valid.
fn survives(text: &str) -> bool {
    let before = HELD.get();
    MOST.set(before);
    let right = match anabranch_lab::parse(text, "x.toml") {
        Ok(sweep) => {
            // A run checks its cancel flag only once in several thousand events.
            let control = RunControl::default();
            control.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            let _ = lab::world::run(&sweep.variants()[0].scenario, 0, &control);
            true
        }
        Err(error) => {
            assert!(error.diagnostics.iter().all(|fault| fault.line > 0 && !fault.message.is_empty()));
            false
        }
    };
    let most = MOST.get() - before;
    assert!(most < LIMIT, "{most} bytes were allocated for\n{text}");
    right
}

#[test]
fn extreme_numbers_in_scenarios_cause_no_panic_and_use_little_memory() {
    let root: Json = serde_json::from_str(&schema()).unwrap();
    assert!(survives(&file("scenario", "seed", "1")));
    let (mut tried, mut right) = (0, 0);
    for table in ["node", "link", "sctp", "tcp", "flow", "udp", "transfers", "window", "probe"] {
        let of_file = if table == "udp" { "flow" } else { table };
        let mut keys = Vec::new();
        for object in objects(&root, &root["properties"][of_file]) {
            numeric_keys(object, "", &mut keys);
        }
        assert!(!keys.is_empty(), "{table}");
        for (key, kind) in keys {
            for value in values(&kind) {
                tried += 1;
                right += usize::from(survives(&file(table, &key, &value)));
            }
        }
    }
    for (key, rest) in [
        ("packets", ""),
        ("bytes", ""),
        ("min", ", max = 80"),
        ("max", ", min = 1"),
        ("weight", ", min = 1, max = 2"),
    ] {
        let kind = if ["packets", "bytes"].contains(&key) { "drop-tail" } else { "red" };
        for value in values("number").into_iter().chain(values("size")) {
            tried += 1;
            let queue = format!("{{ kind = \"{kind}\", {key} = {value}{rest} }}");
            right += usize::from(survives(&file("link", "queue", &queue)));
        }
    }
    assert!(tried > 1000 && right > 200, "{right} of {tried} files were right");
}

#[test]
fn combinations_with_many_flows_in_total_are_refused() {
    let text = file("flow", "count", "1000\nstart_time = { vary = [TIMES] }");
    let times: Vec<String> = (1..=120).map(|ms| format!("\"{ms} ms\"")).collect();
    let before = HELD.get();
    MOST.set(before);
    let error = anabranch_lab::parse(&text.replace("TIMES", &times.join(", ")), "x.toml").unwrap_err();
    let message = "the combinations of variations have more than 100000 nodes, links, flows and probes";
    assert!(error.to_string().contains(message), "{error}");
    assert!(MOST.get() - before < 8 * LIMIT, "{} bytes", MOST.get() - before);
}

#[test]
fn scenarios_that_need_too_much_memory_are_refused_before_they_allocate_it() {
    for (table, key, value, message) in [
        ("node", "count", "4000000000", "expected a `count` from 1 to 10000"),
        ("flow", "count", "4000000000", "expected a `count` from 1 to 10000"),
        ("probe", "every", "\"1 ns\"", "31000000000 rows would be recorded"),
        ("flow", "stop_time", "\"18446744073709551615 ns\"", "is too large; expected at most 876000 h"),
        ("transfers", "rate", "\"1000 MHz\"", "about 5000000000 transfers; expected at most 5000000"),
    ] {
        let text = file(table, key, value);
        assert!(!survives(&text));
        let error = anabranch_lab::parse(&text, "x.toml").unwrap_err();
        let fault = &error.diagnostics[0];
        assert!(fault.message.contains(message), "{}", fault.message);
        let there = text.lines().nth(fault.line - 1).unwrap_or_default();
        assert!(there.starts_with(key), "line {}: {there}", fault.line);
    }
}
