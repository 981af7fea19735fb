//! Tests of the command in its own process, as a user runs it.

use crate::scratch::Scratch;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SCENARIO: &str = r#"title = "a test"
[[node]]
name = "a"
jitter = "20 us"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "1 Mbit/s"
queue = { kind = "drop-tail", packets = 10 }
loss = 0.01
[[flow]]
name = "f"
client = "a"
server = "b"
reset_time = "1 s"
stop_time = "3 s"
frame_rate = "0 Hz"
[[probe]]
quantity = "cwnd"
flow = "f"
"#;

const VARIED: &str = "loss = { name = \"loss\", vary = [0, 0.01] }";

fn scratch(name: &str) -> Scratch {
    let varied = SCENARIO.replace("loss = 0.01", VARIED);
    let wrong = SCENARIO.replace("delay", "dealy").replace("server = ", "sever = ");
    let files = [("one.toml", SCENARIO), ("two.toml", &varied), ("wrong.toml", &wrong)];
    Scratch::with(&format!("command-{name}"), &files)
}

#[test]
fn a_run_prints_its_replica_its_seed_and_the_throughput_of_its_flow() {
    let scratch = scratch("run");
    let (code, out, _) = scratch.call(&["run", "one.toml", "--seed", "7", "--replica", "2"]);
    assert_eq!(code, 0);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[0], "a test");
    assert!(lines[1].starts_with("replica 2, seed 7: "), "{out}");
    assert!(lines[3].starts_with("flow") && lines[3].contains("throughput"), "{out}");
    assert!(lines[4].starts_with("f ") && lines[4].contains("kbit/s"), "{out}");
    assert_eq!(scratch.call(&["run", "one.toml", "--quiet"]), (0, String::new(), String::new()));
}

/// Two named links to a router, and one link from there to the server, which both share.
const LINES: &str = r#"
[[node]]
name = "home"
[[node]]
name = "exchange"
kind = "router"
[[node]]
name = "server"
[[link]]
name = "dsl"
between = ["home", "exchange"]
net_id = 1
rate = "4 Mbit/s"
[[link]]
name = "lte"
between = ["home", "exchange"]
net_id = 2
rate = "2 Mbit/s"
[[link]]
name = "core"
between = ["exchange", "server"]
rate = "100 Mbit/s"
[sctp.pairs]
paths = "pairs"
cmt = { enabled = true }
[[flow]]
name = "up"
client = "home"
server = "server"
sctp = "pairs"
reset_time = "1 s"
stop_time = "3 s"
frame_rate = "0 Hz"
"#;

#[test]
fn run_and_explain_print_the_names_of_links_beside_the_numbers_of_paths() {
    let scratch = Scratch::with("command-names", &[("lines.toml", LINES)]);
    let (code, out, _) = scratch.call(&["run", "lines.toml"]);
    assert_eq!(code, 0, "{out}");
    let table: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("flow")).take(4).collect();
    let begun = ["flow     path   throughput", "up             ", "      0 (dsl)  ", "      1 (lte)  "];
    assert!(table.iter().zip(begun).all(|(line, begun)| line.starts_with(begun)), "{out}");
    let listed = &scratch.json(&["run", "lines.toml", "--json"])["manifest"]["runs"][0]["paths"];
    assert_eq!(*listed, serde_json::json!({ "up": { "forward": ["dsl", "lte"], "back": [] } }));
    let (code, out, _) = scratch.call(&["explain", "lines.toml", "--quick"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains(": path 0 (dsl) sent ") && out.contains("  flow  path 0 (dsl)  path 1 (lte)\n"),
        "{out}"
    );
    assert_eq!(scratch.call(&["run", "lines.toml", "--out", "out", "-q"]).0, 0);
    assert!(scratch.call(&["explain", "out"]).1.contains("  flow  path 0 (dsl)  path 1 (lte)\n"));
}

#[test]
fn runs_are_equal_only_with_the_same_seed_and_replica() {
    let scratch = scratch("same");
    let digest = |more: &[&str]| {
        let run = scratch.json(&[&["run", "one.toml", "--json"], more].concat());
        (run["manifest"]["runs"][0]["digest"].clone(), run["scalars"].clone())
    };
    assert_eq!(digest(&[]), digest(&["--seed", "1", "--replica", "0"]));
    assert_ne!(digest(&[]).0, digest(&["--seed", "2"]).0);
    assert_ne!(digest(&[]).0, digest(&["--replica", "1"]).0);
}

#[test]
fn a_run_writes_its_tables_to_the_out_folder() {
    let scratch = scratch("out");
    assert_eq!(scratch.call(&["run", "one.toml", "--out", "results", "--csv", "-q"]).0, 0);
    let scalars = fs::read_to_string(scratch.0.join("results/scalars.csv")).unwrap();
    assert!(scalars.starts_with("run,replica,window,flow,path,quantity,value\n0,0,,f,,"), "{scalars}");
    let series = fs::read_to_string(scratch.0.join("results/series.csv")).unwrap();
    assert!(series.lines().count() > 10 && series.starts_with("run,replica,flow,path,quantity,time,value\n"));
    let manifest: Json =
        serde_json::from_str(&fs::read_to_string(scratch.0.join("results/manifest.json")).unwrap()).unwrap();
    assert_eq!((&manifest["seed"], &manifest["title"]), (&1.into(), &"a test".into()));
    for table in ["scalars.parquet", "series.parquet"] {
        assert!(fs::read(scratch.0.join("results").join(table)).unwrap().starts_with(b"PAR1"), "{table}");
    }
}

#[test]
fn a_run_of_a_scenario_with_variations_needs_a_chosen_value() {
    let scratch = scratch("vary");
    let (code, out, err) = scratch.call(&["run", "two.toml"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("loss: 0, 0.01") && err.ends_with("choose one: --set 'loss=0'\n"), "{err}");
    assert!(
        scratch.call(&["run", "two.toml", "--set", "loss=0"]).1.contains("replica 0, seed 1, loss = 0: ")
    );
    for (setting, told) in [
        ("loss=5", "--set loss=5: axis \"loss\" has no value \"5\"; expected one of `0`, `0.01`"),
        ("los=0", "Axes of variation of two.toml: `loss`"),
    ] {
        let (code, _, err) = scratch.call(&["run", "two.toml", "--set", setting]);
        assert!(code == 2 && err.contains(told), "{err}");
    }
}

#[test]
fn a_new_scenario_is_right_and_overwrites_nothing() {
    let scratch = Scratch::with("command-new", &[("taken.toml", "mine")]);
    let (code, out, err) = scratch.call(&["new", "first.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "first.toml is written. Next: anabranch run first.toml\n");
    let text = fs::read_to_string(scratch.0.join("first.toml")).unwrap();
    assert!(text.contains("#   anabranch run first.toml "), "{text}");
    let (code, out, err) = scratch.call(&["run", "first.toml", "--set", "link.slow.rate=30 Mbit/s"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("transfer") && out.contains("Mbit/s"), "{out}");
    assert_eq!(scratch.call(&["new", "taken.toml"]).0, 2);
    assert_eq!(fs::read_to_string(scratch.0.join("taken.toml")).unwrap(), "mine");
}

#[test]
fn completions_and_manual_pages_know_every_subcommand() {
    let scratch = Scratch::with("command-manual", &[]);
    let (code, help, _) = scratch.call(&["--help"]);
    assert_eq!(code, 0);
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names: Vec<&str> =
        commands.map_while(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.contains(&"run") && names.contains(&"bonding"), "{names:?}");
    assert_eq!(scratch.call(&["man", "pages"]).0, 0);
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = scratch.call(&["completions", shell]);
        assert!(code == 0 && names.iter().all(|name| script.contains(name)), "{shell}");
    }
    for name in names {
        let page = fs::read_to_string(scratch.0.join(format!("pages/anabranch-{name}.1"))).expect(name);
        assert!(page.starts_with(".ie") || page.contains(".TH"), "{name}");
    }
    assert_eq!(scratch.call(&["completions", "cmd"]).0, 2);
}

#[test]
fn a_sweep_adds_runs_until_an_interval_is_narrow() {
    let scratch = scratch("until");
    let call =
        |more: &[&str]| scratch.call(&[&["sweep", "two.toml", "--out", "out", "--until"], more].concat());
    let (code, out, err) = call(&["throughput_bps ± 10 %", "--most", "40"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(" replicas"), "{out}");
    let (code, _, err) = call(&["throughput_bps ± 0.001 %", "--most", "6"]);
    assert!(code == 0 && err.contains("loss = 0.01, flow f: still ± "), "{err}");
    for (wrong, told) in
        [("throughput", "such as"), ("speed ± 1 %", "no run has a quantity `speed`\nThere are")]
    {
        let (code, out, err) = call(&[wrong]);
        assert!(code == 2 && out.is_empty() && err.contains(told), "{err}");
    }
}

#[test]
fn captures_of_a_sweep_are_written_only_where_asked_for() {
    let captured = format!("{SCENARIO}\n[[capture]]\nlink = \"a-b\"\nfile = \"ab.pcapng\"\n")
        .replace("[[link]]\n", "[[link]]\nname = \"a-b\"\n");
    let scratch = Scratch::with("command-captures", &[("one.toml", &captured)]);
    let found = |more: &[&str]| {
        let all = [&["sweep", "one.toml", "--replicas", "2", "-q", "--out", "out"], more].concat();
        let (code, _, err) = scratch.call(&all);
        assert_eq!(code, 0, "{err}");
        let runs = fs::read_dir(scratch.0.join("out/runs")).unwrap().flatten();
        (runs.filter(|run| run.path().join("ab.pcapng").exists()).count(), err)
    };
    let (files, told) = found(&[]);
    assert!(files == 0 && told.contains("captures are written only with --captures"), "{told}");
    let (files, told) = found(&["--captures"]);
    assert!(files == 2 && told.contains("2 captures of up to 200.00 MB in total"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_none() {
    let scratch = scratch("full");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("exists");
    let run = scratch.command(&["run", "one.toml"]).stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.code() == Some(1) && told.contains("cannot write to standard output"), "{told}");
    let mut child =
        scratch.command(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn any_key_of_a_scenario_can_be_set() {
    let scratch = scratch("set");
    let throughput = |more: &[&str]| {
        let run = scratch.json(&[&["run", "one.toml", "--json"], more].concat());
        let scalars = run["scalars"].as_array().expect("a list").clone();
        let of_flow = scalars.iter().find(|s| s["quantity"] == "throughput_bps" && s["path"].is_null());
        of_flow.and_then(|s| s["value"].as_f64()).expect("is measured")
    };
    let faster =
        ["--set", "link.a-b.rate=4 Mbit/s", "--set", "link.*.loss = 0", "--set", "flow.f.stop_time=2 s"];
    assert!(throughput(&faster) > 3.0 * throughput(&[]));
    let varied = ["sweep", "one.toml", "--replicas", "1", "--set", "link.a-b.loss={ vary = [0, 0.1] }", "-q"];
    assert_eq!(scratch.call(&[&varied[..], &["--csv", "--out", "out"]].concat()).0, 0);
    let scalars = fs::read_to_string(scratch.0.join("out/scalars.csv")).unwrap();
    assert!(
        scalars.starts_with("run,replica,link.a-b.loss,"),
        "{}",
        scalars.lines().next().unwrap_or_default()
    );
    for (setting, told) in [
        ("link.a-c.rate=1", "no element `a-c` in `link`; expected `a-b`; did you mean `a-b`?"),
        ("link.a-b.rat=4 Mbit/s", "unknown key `rat` in [[link]]; expected one of"),
        ("link.a-b.rate=fast", "anabranch: --set link.a-b.rate=fast: \"fast\" is not a quantity"),
    ] {
        let (code, out, err) = scratch.call(&["run", "one.toml", "--set", setting]);
        assert!(code == 2 && out.is_empty() && err.contains(told), "{err}");
    }
}

#[test]
fn a_shipped_scenario_is_found_by_name_unless_a_file_has_that_name() {
    let scratch = scratch("shipped");
    fs::create_dir(scratch.0.join("elsewhere")).unwrap();
    let run = |name: &str| {
        let mut command = scratch.command(&["run", name, "--set", "loss=0"]);
        let command = command.current_dir(scratch.0.join("elsewhere")).env("ANABRANCH_SCENARIOS", &scratch.0);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run("two"), (0, String::new()));
    let (code, told) = run("twi");
    assert!(
        code == 2 && told.ends_with("; did you mean `two`?\nShipped scenarios: one, two, wrong\n"),
        "{told}"
    );
    let (code, told) = run("two.toml");
    assert!(code == 2 && told.starts_with("anabranch: cannot read two.toml: "), "{told}");
    fs::write(scratch.0.join("elsewhere/two"), "x = 1").unwrap();
    assert_eq!(run("two").0, 2);
}

#[test]
fn an_error_in_a_scenario_is_shown_with_file_line_and_column() {
    let scratch = scratch("wrong");
    let (code, out, err) = scratch.call(&["run", "wrong.toml"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("wrong.toml:15:1: unknown key `sever` in [[flow]]"), "{err}");
    assert!(err.contains("did you mean `server`?\n 15 | sever = \"b\"\n    | ^^^^^\n"), "{err}");
    let (code, out, err) = scratch.call(&["validate", "one.toml", "wrong.toml", "two.toml"]);
    assert_eq!(code, 2);
    assert_eq!(
        out,
        "one.toml: fine: 2 nodes, 1 link, 1 flow\ntwo.toml: fine: 2 nodes, 1 link, 1 flow; 2 combinations (2 of loss)\n"
    );
    assert!(err.starts_with("anabranch: wrong.toml cannot be used\n"), "{err}");
    let (code, out, _) = scratch.call(&["validate", "wrong.toml", "--json"]);
    let listed: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &listed[0]["line"], &listed[0]["file"]), (2, &15.into(), &"wrong.toml".into()));
    assert_eq!(scratch.call(&["validate", "one.toml"]).0, 0);
    // A file that cannot be read does not prevent the check of the others.
    let (code, out, err) = scratch.call(&["validate", "none.toml", "one.toml", "wrong.toml"]);
    assert!(code == 2 && out.starts_with("one.toml: fine") && err.contains("cannot read none.toml"), "{err}");
    assert!(err.contains("wrong.toml cannot be used"), "{err}");
}

#[test]
fn validate_run_and_sweep_warn_of_a_link_that_is_down_beside_another_route() {
    let parallel = r#"
node = [{ name = "a" }, { name = "r", kind = "router" }, { name = "s", kind = "router" }, { name = "b" }]
link = [
  { between = ["a", "r"], rate = "10 Mbit/s" },
  { between = ["r", "s"], name = "radio", rate = "10 Mbit/s", down = [["1500 ms", "1600 ms"]] },
  { between = ["r", "s"], name = "fibre", rate = "10 Mbit/s" },
  { between = ["s", "b"], rate = "10 Mbit/s" },
]
flow = [{ name = "f", client = "a", server = "b", reset_time = "0 s", stop_time = "1 s" }]
"#;
    let scratch = Scratch::with("command-detour", &[("parallel.toml", parallel)]);
    let what = "link `radio` has `down` times, and routes do not change";
    let (code, out, err) = scratch.call(&["validate", "parallel.toml"]);
    assert_eq!((code, out.as_str()), (0, "parallel.toml: fine: 4 nodes, 4 links, 1 flow\n"));
    assert!(err.contains(&format!("parallel.toml:5:71: {what}")) && err.contains("^^^^"), "{err}");
    let listed = scratch.json(&["validate", "parallel.toml", "--json"]);
    assert_eq!((&listed[0]["severity"], &listed[0]["line"]), (&"warning".into(), &5.into()));
    let (code, out, _) = scratch.call(&["run", "parallel.toml"]);
    assert!(code == 0 && out.contains(&format!("\nNote: {what}")), "{out}");
    let (code, _, err) = scratch.call(&["sweep", "parallel.toml", "--replicas", "3", "--out", "swept"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = err.lines().filter(|line| line.contains(what)).collect();
    assert!(matches!(lines[..], [line] if line.contains("run 0 (replica 0) and 2 more: ")), "{err}");
}

#[test]
fn wrong_arguments_get_exit_code_2_and_the_nearest_right_one() {
    let scratch = scratch("usage");
    for (arguments, told) in [
        (&["swep", "one.toml"][..], "did you mean `sweep`?"),
        (&["sweep", "one.toml", "--replica", "3"], "'--replicas'"),
        (&["sweep", "one.toml", "--replicas", "0"], "from 1 to"),
        (&["run"], "<SCENARIO>"),
        (&["run", "none.toml"], "cannot read none.toml"),
        (&["run", "two.toml", "--set", "loss"], "expected KEY=VALUE"),
        (&[], "Usage: anabranch <COMMAND>"),
    ] {
        let (code, out, err) = scratch.call(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}

/// The link is down from the start, so no connection is established.
const DOWN: &str = "loss = 0\ndown = [[\"0 s\", \"10000 s\"]]";

#[test]
fn a_run_whose_flow_never_connects_fails_and_says_which() {
    let scratch = scratch("unconnected");
    fs::write(scratch.0.join("down.toml"), SCENARIO.replace("loss = 0.01", DOWN)).unwrap();
    let (code, out, err) = scratch.call(&["run", "down.toml", "--out", "results", "--csv"]);
    assert_eq!((code, err.as_str()), (1, "anabranch: the run failed: flow `f` never connected\n"));
    assert!(out.contains("Note: flow `f` had not connected"), "{out}");
    let scalars = fs::read_to_string(scratch.0.join("results/scalars.csv")).unwrap();
    assert!(scalars.contains(",throughput_bps,0\n"), "results are written: {scalars}");
    assert!(![scalars.as_str(), &out].concat().contains("-0"), "{out}{scalars}");
    let (code, out, _) = scratch.call(&["run", "down.toml", "--json"]);
    let run: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &run["failures"][0]), (1, &"flow `f` never connected".into()));
}

#[test]
fn a_run_that_delivers_nothing_fails() {
    let scratch = scratch("nothing");
    // The handshake is over before the link fails. The link fails one second before data is sent.
    let cut = SCENARIO.replace("loss = 0.01", "down = [[\"0.5 s\", \"10000 s\"]]");
    fs::write(scratch.0.join("cut.toml"), &cut).unwrap();
    let (code, _, err) = scratch.call(&["run", "cut.toml", "-q"]);
    assert_eq!((code, err.as_str()), (1, "anabranch: the run failed: no flow delivered anything\n"));
    // The flow delivers data only before the time from which results count. This is a valid result.
    let late = cut.replace("0.5 s", "1.5 s");
    fs::write(scratch.0.join("late.toml"), late).unwrap();
    assert_eq!(scratch.call(&["run", "late.toml", "-q"]), (0, String::new(), String::new()));
}

#[test]
fn a_sweep_with_failed_runs_writes_its_results_and_fails() {
    let scratch = scratch("some");
    let varied = "down = { name = \"down\", vary = [[], [[\"0 s\", \"10000 s\"]]] }";
    fs::write(scratch.0.join("some.toml"), SCENARIO.replace("loss = 0.01", varied)).unwrap();
    let sweep = ["sweep", "some.toml", "--replicas", "2", "--out", "results"];
    for _ in 0..2 {
        let (code, out, err) = scratch.call(&sweep);
        let told = "anabranch: 2 of 4 runs failed:\n  run 2 (replica 0): flow `f` never connected\n  \
                    run 3 (replica 1): flow `f` never connected\n";
        assert_eq!((code, err.as_str()), (1, told));
        assert!(out.contains("4 runs: 2 replicas each"), "{out}");
    }
    let manifest = fs::read_to_string(scratch.0.join("results/manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["runs"][1]["failures"], serde_json::json!([]));
    assert_eq!(manifest["runs"][3]["failures"], serde_json::json!(["flow `f` never connected"]));
}

#[test]
fn a_damaged_stored_run_is_simulated_again_and_reported() {
    let scratch = scratch("damaged");
    let sweep = ["sweep", "one.toml", "--replicas", "2", "--out", "results", "-q"];
    let tables = || {
        ["scalars", "series"].map(|name| fs::read(scratch.0.join(format!("results/{name}.parquet"))).unwrap())
    };
    assert_eq!(scratch.call(&sweep), (0, String::new(), String::new()));
    let clean = tables();
    let run = fs::read_dir(scratch.0.join("results/runs")).unwrap().next().unwrap().unwrap().path();
    let mut series = fs::read(run.join("series.parquet")).unwrap();
    let middle = series.len() / 2;
    series[middle] ^= 1;
    fs::write(run.join("series.parquet"), series).unwrap();
    let (code, _, err) = scratch.call(&sweep);
    let told = "anabranch: the stored results of 1 run were damaged: it was simulated again\n";
    assert_eq!((code, err.as_str()), (0, told));
    assert_eq!(clean, tables());
}

#[test]
fn the_schema_is_json() {
    let schema = scratch("schema").json(&["schema"]);
    assert_eq!(schema["properties"]["link"]["anyOf"][0]["type"], "array");
}

#[test]
fn a_sweep_prints_means_and_keeps_its_runs() {
    let scratch = scratch("sweep");
    let sweep = ["sweep", "two.toml", "--replicas", "3", "--jobs", "2"];
    let (code, out, err) = scratch.call(&sweep);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("a test\n6 runs: 3 replicas each, seed 1\n\nloss  flow  throughput"), "{out}");
    assert!(
        out.contains(" ± ") && out.ends_with("out/two/scalars.parquet\nout/two/series.parquet\n"),
        "{out}"
    );
    let again = scratch.json(&[&sweep[..], &["--json"]].concat());
    assert_eq!(again["throughput"][1]["parameters"]["loss"], "0.01");
    assert_eq!(fs::read_dir(scratch.0.join("out/two/runs")).unwrap().count(), 6);
}

/// Bursts of packets that take 1 ms each on the line, and probes, of which every second one comes 30 ms after
/// the begin of a burst.
const LATENCY: &str = r#"
node = [{ name = "a" }, { name = "b" }]
link = [{ between = ["a", "b"], rate = "12 Mbit/s", delay = "50 ms", framing = 7 }]
[[flow]]
name = "bursts"
client = "a"
server = "b"
protocol = "UDP"
start_time = "2.02 s"
reset_time = "0.98 s"
stop_time = "3.98 s"
frame_rate = "10 Hz"
frame_size = { name = "burst", vary = ["73250 B", "7325 B"] }
max_msg_size = "1465 B"
[[window]]
name = "late"
from = "5 s"
to = "6 s"
[[latency]]
client = "a"
server = "b"
"#;

#[test]
fn run_and_sweep_print_the_latency_that_a_load_adds_and_its_grade() {
    let scratch = Scratch::with("command-latency", &[("latency.toml", LATENCY)]);
    let (code, out, _) = scratch.call(&["run", "latency.toml", "--set", "burst=73250 B"]);
    assert_eq!(code, 0, "{out}");
    let table: Vec<_> = out.lines().skip_while(|line| !line.starts_with("latency")).collect();
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        table.iter().map(|line| cells(line)).collect::<Vec<_>>(),
        [
            "latency|window|idle p50|p50|p95|p99|lost|added|grade",
            "latency|100.13 ms|100.13 ms|120.13 ms|120.13 ms|0|20.00 ms|A",
            "latency|late|100.13 ms|100.13 ms|120.13 ms|120.13 ms|0|20.00 ms|A",
        ]
    );
    let sweep = ["sweep", "latency.toml", "--replicas", "2"];
    let (code, out, _) = scratch.call(&sweep);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("\n73250 B  latency") && out.contains("20.00 ms ± 0 us      A\n"), "{out}");
    assert!(out.contains("0 us ± 0 us     A+\n"), "{out}");
    let json = scratch.json(&[&sweep[..], &["--json"]].concat());
    assert_eq!(
        (&json["latency"][1]["grade"], &json["throughput"][0]["flow"]),
        (&"A+".into(), &"bursts".into())
    );
    assert_eq!(json["throughput"].as_array().map(Vec::len), Some(2), "without the probes");
}

#[test]
fn sweep_lists_no_throughput_of_a_probe_that_has_no_samples_without_load() {
    let never = "[[window]]\nname = \"idle\"\nfrom = \"1 us\"\nto = \"2 us\"\n[[latency]]";
    let scenario = LATENCY.replace("[[latency]]", never);
    let scratch = Scratch::with("command-latency-idle", &[("latency.toml", &scenario)]);
    let json = scratch.json(&["sweep", "latency.toml", "--replicas", "1", "--json"]);
    assert_eq!(json["latency"], Json::Null, "no latency is added to nothing");
    let flows: Vec<_> = json["throughput"].as_array().unwrap().iter().map(|mean| &mean["flow"]).collect();
    assert_eq!(flows, ["bursts", "bursts"]);
}

/// A scenario whose sweep takes some seconds.
fn long(scratch: &Scratch) {
    let slow =
        SCENARIO.replace("1 Mbit/s", "50 Mbit/s").replace("3 s", "20 s").replace("loss = 0.01", VARIED);
    fs::write(scratch.0.join("long.toml"), slow).unwrap();
}

/// Starts a sweep and waits for its first finished run.
#[cfg(unix)]
fn begun(scratch: &Scratch, arguments: &[&str], out: &Path) -> std::process::Child {
    let mut command = scratch.command(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let finished = || {
        fs::read_dir(out.join("runs"))
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
    };
    while !finished() {
        assert_eq!(child.try_wait().unwrap(), None, "the sweep ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[cfg(unix)]
#[test]
fn a_sweep_after_a_kill_writes_the_same_bytes() {
    let scratch = scratch("killed");
    long(&scratch);
    let sweep = |out| ["sweep", "long.toml", "--replicas", "8", "--jobs", "2", "--out", out];
    let mut child = begun(&scratch, &sweep("killed"), &scratch.0.join("killed"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!scratch.0.join("killed/scalars.parquet").exists());
    let (code, out, _) = scratch.call(&sweep("killed"));
    assert!(code == 0 && out.contains(" reused\n"), "{out}");
    assert_eq!(
        scratch.call(&["sweep", "long.toml", "--replicas", "8", "--jobs", "1", "--out", "whole", "-q"]).0,
        0
    );
    for table in ["scalars.parquet", "series.parquet"] {
        let bytes = |out| fs::read(scratch.0.join(out).join(table)).unwrap();
        assert!(bytes("killed") == bytes("whole"), "{table} differs");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_sweep_and_keeps_its_finished_runs() {
    let scratch = scratch("stopped");
    long(&scratch);
    let sweep = ["sweep", "long.toml", "--replicas", "50", "--out", "stopped"];
    let child = begun(&scratch, &sweep, &scratch.0.join("stopped"));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(told.contains("of 100 runs; they are kept in stopped"), "{told}");
}

#[cfg(unix)]
#[test]
fn subcommands_of_python_are_passed_to_the_python_package() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch("python");
    let (code, _, err) = {
        let output =
            scratch.command(&["papers"]).env("ANABRANCH_PYTHON", "/nonexistent/python").output().unwrap();
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(code, Some(1));
    assert!(
        err.contains("`papers` needs the Python package") && err.contains("pip install anabranch"),
        "{err}"
    );

    let python = scratch.0.join("python");
    fs::write(&python, "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 3\n").unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["reproduce", "001", "--figure", "8", "--help", "-q"];
    let output = scratch.command(&arguments).env("ANABRANCH_PYTHON", &python).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stdout, b"-m anabranch reproduce 001 --figure 8 --help -q\n");
}
