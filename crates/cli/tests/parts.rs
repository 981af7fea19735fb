//! Tests of sweeps in parts and as job arrays, and of merging the parts.

use crate::scratch::Scratch;
use std::fs;
use std::process::Command;

const SCENARIO: &str = r#"
[[node]]
name = "a"
jitter = "20 us"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "1 Mbit/s"
loss = { name = "loss", vary = [0, 0.01] }
[[flow]]
name = "f"
client = "a"
server = "b"
reset_time = "1 s"
stop_time = "2 s"
frame_rate = "0 Hz"
"#;

fn scratch(name: &str) -> Scratch {
    Scratch::with(&format!("parts-{name}"), &[("two.toml", SCENARIO)])
}

fn tables(scratch: &Scratch, folder: &str) -> [Vec<u8>; 2] {
    ["scalars.parquet", "series.parquet"].map(|name| fs::read(scratch.0.join(folder).join(name)).unwrap())
}

const SWEEP: [&str; 5] = ["sweep", "two.toml", "--replicas", "3", "-q"];

fn sweep(scratch: &Scratch, more: &[&str]) {
    assert_eq!(scratch.call(&[&SWEEP[..], more].concat()), (0, String::new(), String::new()));
}

#[test]
fn parts_make_no_tables_and_the_whole_sweep_reuses_them() {
    let scratch = scratch("whole");
    sweep(&scratch, &["--out", "whole"]);
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        sweep(&scratch, &["--out", "parts", "--part", part]);
    }
    assert!(!scratch.0.join("parts/scalars.parquet").exists());
    let (code, out, _) = scratch.call(&["sweep", "two.toml", "--replicas", "3", "--out", "parts"]);
    assert!(code == 0 && out.contains("; 6 reused"), "{out}");
    assert_eq!(tables(&scratch, "parts"), tables(&scratch, "whole"));
    let (code, _, err) = scratch.call(&["sweep", "two.toml", "--part", "5/4"]);
    assert!(code == 2 && err.contains("--part \"5/4\": expected a part and the number of parts"), "{err}");
}

#[test]
fn a_job_array_does_all_runs_again_only_if_they_are_missing() {
    let scratch = scratch("slurm");
    sweep(&scratch, &["--out", "whole", "--seed", "7"]);
    let (code, out, err) = scratch.call(&[
        "sweep",
        "two.toml",
        "--replicas",
        "3",
        "--seed",
        "7",
        "--out",
        "my array",
        "--export",
        "slurm",
        "--tasks",
        "4",
    ]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("6 runs in 4 tasks, listed in 'my array/points.csv'."), "{out}");
    assert!(!scratch.0.join("my array/runs").exists(), "nothing is run");
    let points = fs::read_to_string(scratch.0.join("my array/points.csv")).unwrap();
    let lines: Vec<_> = points.lines().collect();
    assert_eq!((lines[0], lines.len()), ("task,run,replica,loss,hash", 7));
    assert!(lines[6].starts_with("2,5,2,0.01,"), "{points}");
    let script = |name: &str, task: &str| {
        let mut bash = Command::new("bash");
        // Slurm runs a copy of the script in another folder.
        bash.arg(scratch.0.join("my array").join(name)).current_dir(std::env::temp_dir());
        bash.env("ANABRANCH", env!("CARGO_BIN_EXE_anabranch")).env("SLURM_ARRAY_TASK_ID", task);
        assert!(bash.output().unwrap().status.success(), "{name} {task}");
    };
    // Leaves task 3 out, and performs task 1 twice.
    ["1", "1", "2", "4"].iter().for_each(|task| script("sweep.sbatch", task));
    let stored =
        |line: &&&str| scratch.0.join("my array/runs").join(line.rsplit(',').next().unwrap()).exists();
    assert_eq!(lines[1..].iter().filter(stored).count(), 5);
    script("collect.sbatch", "");
    assert_eq!(tables(&scratch, "my array"), tables(&scratch, "whole"));
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let scratch = scratch("refused");
    let until = ["sweep", "two.toml", "--export", "slurm", "--until", "throughput_bps ± 5 %"];
    let (code, _, err) = scratch.call(&until);
    assert!(code == 2 && err.contains("--until cannot be exported"), "{err}");
    let (code, _, err) = scratch.call(&["sweep", "two.toml", "--export", "pbs"]);
    assert!(code == 2 && err.contains("slurm"), "{err}");
}

#[test]
fn folders_are_merged_and_conflicts_are_named() {
    let scratch = scratch("merge");
    sweep(&scratch, &["--out", "whole"]);
    sweep(&scratch, &["--out", "a", "--set", "loss=0"]);
    sweep(&scratch, &["--out", "b", "--set", "loss=0.01"]);
    let (code, out, err) = scratch.call(&["merge", "all", "a", "b"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "6 runs copied to all, 0 were there\n6 runs in all/scalars.parquet\n");
    assert_eq!(tables(&scratch, "all"), tables(&scratch, "whole"));
    // With another seed the runs cannot belong to the same sweep.
    sweep(&scratch, &["--out", "other", "--seed", "2"]);
    let (code, out, err) = scratch.call(&["merge", "all", "other"]);
    assert_eq!((code, out.as_str()), (0, "6 runs copied to all, 0 were there\n"));
    assert!(err.contains("no common tables: other/manifest.json: the seed is 2, not 1"), "{err}");
    let (code, _, err) = scratch.call(&["merge", "all", "nowhere"]);
    assert!(code == 2 && err.contains("nowhere: expected a folder of `anabranch sweep`"), "{err}");
}

#[test]
fn captures_of_a_sweep_are_announced_and_end_at_their_limit() {
    let text = format!("{SCENARIO}[[capture]]\nlink = \"a-b\"\nfile = \"a.pcapng\"\nlimit = \"20 kB\"\n");
    let scratch = Scratch::with("parts-captures", &[("two.toml", &text)]);
    let (code, out, err) =
        scratch.call(&["sweep", "two.toml", "--replicas", "1", "--captures", "--out", "o"]);
    assert_eq!(code, 0);
    assert!(err.contains("2 captures of up to 0.04 MB in total will be written below o/runs"), "{err}");
    assert!(err.contains("capture a.pcapng reached its limit: the last"), "{err}");
    assert!(out.contains("2 runs"), "{out}");
    let sizes: Vec<u64> = fs::read_dir(scratch.0.join("o/runs"))
        .unwrap()
        .map(|run| fs::metadata(run.unwrap().path().join("a.pcapng")).unwrap().len())
        .collect();
    assert!(sizes.iter().all(|size| (15_000..=20_000).contains(size)), "{sizes:?}");
    // The pcapng option with the name of the interface: option code 2, length 3, and the name.
    let run = fs::read_dir(scratch.0.join("o/runs")).unwrap().next().unwrap().unwrap().path();
    let file = fs::read(run.join("a.pcapng")).unwrap();
    assert!(file[..128].windows(7).any(|bytes| bytes == b"\x02\0\x03\0a-b"), "the name of the link");
    let (_, _, err) = scratch.call(&["sweep", "two.toml", "--replicas", "1", "--out", "p"]);
    assert!(err.contains("captures are written only with --captures"), "{err}");
}
