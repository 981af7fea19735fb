mod merging;

use super::*;
use crate::output::Scalar;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::Instant;

const SCENARIO: &str = r#"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = { name = "rho", vary = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"] }
loss = { name = "loss", vary = [0, 0.5] }
[[flow]]
name = "f"
client = "a"
server = "b"
"#;

/// A folder that is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("anabranch-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn sweep() -> Sweep {
    crate::parse(SCENARIO, "x.toml").unwrap()
}

fn options(out: &Path, jobs: usize) -> SweepOptions {
    SweepOptions { replicas: 4, until: None, jobs, out: out.to_owned(), csv: true, cancel: Arc::default() }
}

/// A replacement of the simulator, whose numbers depend on the scenario and the replica.
fn pretend(scenario: &Scenario, replica: u32) -> RunOutput {
    let rate = scenario.links[0].forward.transmitter.mean_rate().expect("a rate");
    let value = rate.as_bps() as f64 / f64::from(replica + 1);
    let point = |i| (Instant::from_nanos(i), value + i as f64);
    RunOutput {
        scalars: vec![
            Scalar { window: String::new(), flow: "f".into(), path: None, quantity: "throughput_bps", value },
            Scalar {
                window: String::new(),
                flow: "f".into(),
                path: Some(1),
                quantity: "timeouts",
                value: scenario.seed as f64,
            },
        ],
        series: vec![crate::output::Series {
            flow: "f".into(),
            path: Some(0),
            quantity: "cwnd",
            points: (0..100).map(point).collect(),
        }],
        digest: u64::MAX - u64::from(replica),
        ..RunOutput::default()
    }
}

fn quick(scenario: &Scenario, replica: u32, _: &RunControl) -> Result<RunOutput, RunError> {
    Ok(pretend(scenario, replica))
}

fn files(out: &Path) -> Vec<Vec<u8>> {
    ["scalars.parquet", "series.parquet", "scalars.csv", "series.csv"]
        .map(|name| std::fs::read(out.join(name)).unwrap())
        .into()
}

#[test]
fn tables_do_not_depend_on_the_number_of_threads() {
    let (one, many) = (Scratch::new("one"), Scratch::new("many"));
    let slow_first = |scenario: &Scenario, replica: u32, _: &RunControl| {
        std::thread::sleep(std::time::Duration::from_millis(u64::from(20 / (replica + 1))));
        Ok(pretend(scenario, replica))
    };
    sweep_with(&quick, None, &sweep(), &options(&one.0, 1), &mut |_| {}).unwrap();
    let report = sweep_with(&slow_first, None, &sweep(), &options(&many.0, 4), &mut |_| {}).unwrap();
    assert_eq!(files(&one.0), files(&many.0));
    assert_eq!(report.runs.len(), 24);
    assert!(report.runs.iter().enumerate().all(|(i, run)| run.run as usize == i && !run.reused));
}

#[test]
fn two_threads_begin_with_one_run_of_each_combination() {
    let out = Scratch::new("first");
    let begun = Mutex::new(Vec::new());
    let noting = |scenario: &Scenario, replica: u32, _: &RunControl| {
        begun.lock().unwrap().push(replica);
        Ok(pretend(scenario, replica))
    };
    sweep_with(&noting, None, &sweep(), &options(&out.0, 2), &mut |_| {}).unwrap();
    // Only the first five numbers are certain: one thread may record
    // the seventh run before the other one records the sixth.
    assert_eq!(begun.into_inner().unwrap()[..5], [0; 5]);
}

#[test]
fn rows_carry_their_run_replica_and_parameters() {
    let out = Scratch::new("rows");
    sweep_with(&quick, None, &sweep(), &options(&out.0, 2), &mut |_| {}).unwrap();
    let csv = std::fs::read_to_string(out.0.join("scalars.csv")).unwrap();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 24 * 2);
    assert_eq!(lines[0], "run,replica,rho,rho_bps,loss,window,flow,path,quantity,value");
    assert_eq!(lines[1], "0,0,1 Mbit/s,1000000,0,,f,,throughput_bps,1000000");
    assert_eq!(lines[2], "0,0,1 Mbit/s,1000000,0,,f,1,timeouts,1");
    assert_eq!(lines[1 + 2 * 7], "7,3,1 Mbit/s,1000000,0.5,,f,,throughput_bps,250000");
    assert_eq!(lines[1 + 2 * 23], "23,3,3 Mbit/s,3000000,0.5,,f,,throughput_bps,750000");
    let series = std::fs::read_to_string(out.0.join("series.csv")).unwrap();
    assert_eq!(series.lines().next(), Some("run,replica,rho,rho_bps,loss,flow,path,quantity,time,value"));
    assert_eq!(series.lines().nth(2), Some("0,0,1 Mbit/s,1000000,0,f,0,cwnd,0.000000001,1000001"));
}

#[test]
fn a_stopped_sweep_reuses_its_finished_runs() {
    let (whole, parts) = (Scratch::new("whole"), Scratch::new("parts"));
    sweep_with(&quick, None, &sweep(), &options(&whole.0, 2), &mut |_| {}).unwrap();

    let halfway = options(&parts.0, 2);
    let (cancel, begun) = (halfway.cancel.clone(), AtomicUsize::new(0));
    let stopping = |scenario: &Scenario, replica: u32, _: &RunControl| {
        cancel.store(begun.fetch_add(1, Ordering::Relaxed) >= 5, Ordering::Relaxed);
        Ok(pretend(scenario, replica))
    };
    let error = sweep_with(&stopping, None, &sweep(), &halfway, &mut |_| {}).unwrap_err();
    let SweepError::Cancelled { done, total: 24 } = error else { panic!("{error}") };
    assert!((6..=7).contains(&done), "{done}");

    // A killed process leaves an unfinished run, and a run with missing files.
    let runs = parts.0.join("runs");
    let hash = store::hash(&sweep().variants()[0].scenario, 0);
    std::fs::create_dir(runs.join(format!(".part-{hash}-1"))).unwrap();
    std::fs::write(runs.join(&hash).join("scalars.parquet"), "").unwrap();

    let simulated = AtomicUsize::new(0);
    let counting = |scenario: &Scenario, replica: u32, _: &RunControl| {
        simulated.fetch_add(1, Ordering::Relaxed);
        Ok(pretend(scenario, replica))
    };
    let report = sweep_with(&counting, None, &sweep(), &options(&parts.0, 2), &mut |_| {}).unwrap();
    assert_eq!(simulated.into_inner(), 24 - done + 1);
    assert_eq!(report.runs.iter().filter(|run| run.reused).count(), done - 1);
    assert_eq!(files(&whole.0), files(&parts.0));
    let left: Vec<_> = std::fs::read_dir(runs).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 24, "{left:?}");
}

#[test]
fn another_seed_reuses_no_stored_run() {
    let out = Scratch::new("seed");
    let mut sweep = sweep();
    sweep_with(&quick, None, &sweep, &options(&out.0, 1), &mut |_| {}).unwrap();
    sweep.set_seed(2);
    let report = sweep_with(&quick, None, &sweep, &options(&out.0, 1), &mut |_| {}).unwrap();
    assert!(report.runs.iter().all(|run| !run.reused));
    assert!(report.manifest["seed"] == 2 && report.manifest["runs"][23]["parameters"]["rho"] == "3 Mbit/s");
}

#[test]
fn a_failed_run_is_named_and_the_finished_runs_are_kept() {
    let out = Scratch::new("fails");
    let failing = |scenario: &Scenario, replica: u32, _: &RunControl| {
        if replica == 2 { Err(RunError::Failed("no route".into())) } else { Ok(pretend(scenario, replica)) }
    };
    let error = sweep_with(&failing, None, &sweep(), &options(&out.0, 1), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "replica 2 (seed 1, rho = 1 Mbit/s, loss = 0) failed: no route");
    assert_eq!(std::fs::read_dir(out.0.join("runs")).unwrap().count(), 2);
}

#[test]
fn progress_counts_reused_runs_and_estimates_the_time_left() {
    let out = Scratch::new("progress");
    let seen = Mutex::new(Vec::new());
    sweep_with(&quick, None, &sweep(), &options(&out.0, 3), &mut |progress| {
        seen.lock().unwrap().push(progress)
    })
    .unwrap();
    let last = *seen.lock().unwrap().last().unwrap();
    assert_eq!((last.done, last.reused, last.total), (24, 0, 24));
    let half = Progress { done: 6, reused: 2, total: 10, elapsed: Span::from_secs(8) };
    assert_eq!(half.left(), Some(Span::from_secs(8)));
    assert_eq!(Progress { done: 2, reused: 2, ..half }.left(), None);
}

#[test]
fn a_sweep_of_too_many_runs_is_refused() {
    let out = Scratch::new("many-runs");
    let many = SweepOptions { replicas: u32::MAX, ..options(&out.0, 1) };
    let error = sweep_with(&quick, None, &sweep(), &many, &mut |_| {}).unwrap_err();
    let told =
        "the sweep has 25769803770 runs; expected at most 1000000: choose fewer replicas or combinations";
    assert_eq!(error.to_string(), told);
}

/// Sweeps again in the same folder, compares the tables with those of a clean sweep, and returns the number
/// of runs that were simulated again.
fn sweeps_as(clean: &Scratch, out: &Scratch) -> usize {
    let report = sweep_with(&quick, None, &sweep(), &options(&out.0, 2), &mut |_| {}).unwrap();
    assert!(files(&clean.0) == files(&out.0), "the tables differ from those of a clean sweep");
    assert!(report.runs.iter().all(|run| run.reused != run.redone));
    report.runs.iter().filter(|run| run.redone).count()
}

/// The files of the first stored run.
fn stored(out: &Scratch) -> [PathBuf; 3] {
    let run = out.0.join("runs").join(store::hash(&sweep().variants()[0].scenario, 0));
    ["scalars.parquet", "series.parquet", "manifest.json"].map(|name| run.join(name))
}

#[test]
fn a_run_whose_stored_files_are_damaged_is_simulated_again() {
    let (clean, out) = (Scratch::new("undamaged"), Scratch::new("damaged"));
    sweep_with(&quick, None, &sweep(), &options(&clean.0, 2), &mut |_| {}).unwrap();
    sweep_with(&quick, None, &sweep(), &options(&out.0, 2), &mut |_| {}).unwrap();
    assert_eq!(sweeps_as(&clean, &out), 0);
    for path in stored(&out) {
        let whole = std::fs::read(&path).unwrap();
        let is_text = path.extension().is_some_and(|extension| extension == "json");
        for k in 0..40 {
            let mut bytes = whole.clone();
            let bit = whole.len() * 8 * k / 40 + k % 8;
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).unwrap();
            // A flipped bit that changes one whitespace character into another does not change the parsed
            // JSON.
            let same =
                is_text && whole[bit / 8].is_ascii_whitespace() && bytes[bit / 8].is_ascii_whitespace();
            assert_eq!(sweeps_as(&clean, &out), usize::from(!same), "bit {bit} of {}", path.display());
        }
        for length in [0, 1, whole.len() / 2, whole.len() - 2] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(sweeps_as(&clean, &out), 1, "{length} bytes of {}", path.display());
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(sweeps_as(&clean, &out), 1, "without {}", path.display());
    }
    assert_eq!(sweeps_as(&clean, &out), 0);
}

#[test]
fn a_stored_table_of_another_run_is_not_used() {
    let (clean, out) = (Scratch::new("own"), Scratch::new("other"));
    sweep_with(&quick, None, &sweep(), &options(&clean.0, 2), &mut |_| {}).unwrap();
    sweep_with(&quick, None, &sweep(), &options(&out.0, 2), &mut |_| {}).unwrap();
    let other = out.0.join("runs").join(store::hash(&sweep().variants()[0].scenario, 1));
    std::fs::copy(other.join("scalars.parquet"), &stored(&out)[0]).unwrap();
    assert_eq!(sweeps_as(&clean, &out), 1);
    // All files are from another run, so the hash in its manifest differs from the name of the folder.
    for (path, name) in stored(&out).iter().zip(["scalars.parquet", "series.parquet", "manifest.json"]) {
        std::fs::copy(other.join(name), path).unwrap();
    }
    assert_eq!(sweeps_as(&clean, &out), 1);
}

#[test]
fn a_stored_run_is_named_by_the_contents_of_its_traces() {
    let scratch = Scratch::new("traces");
    std::fs::create_dir_all(&scratch.0).unwrap();
    let text = SCENARIO
        .replace(
            r#"{ name = "rho", vary = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"] }"#,
            r#"{ trace = "own.csv" }"#,
        )
        .replace(r#"{ name = "loss", vary = [0, 0.5] }"#, "0");
    let hash = |trace: &str| {
        std::fs::write(scratch.0.join("own.csv"), trace).unwrap();
        let sweep = crate::parse(&text, &scratch.0.join("x.toml").display().to_string()).unwrap();
        store::hash(&sweep.variants()[0].scenario, 0)
    };
    assert_eq!(hash("0,1\n1,2"), hash("# the same\n0,1\n1,2"));
    assert_ne!(hash("0,1\n1,2"), hash("0,1\n1,3"));
}

#[test]
fn replicas_are_added_where_an_interval_is_wide_and_only_there() {
    // At 1 Mbit/s all replicas are equal, at 2 Mbit/s they vary a little, at 3 Mbit/s too much for any number
    // of replicas.
    fn varied(scenario: &Scenario, replica: u32, _: &RunControl) -> Result<RunOutput, RunError> {
        let mbps = scenario.links[0].forward.transmitter.mean_rate().expect("a rate").as_bps() / 1_000_000;
        let spread = [0.0, 0.0, 0.06, 100.0][mbps as usize];
        let mut output = pretend(scenario, replica);
        output.scalars[0].value = 10.0 + if replica.is_multiple_of(2) { spread } else { -spread };
        Ok(output)
    }
    let out = Scratch::new("until");
    let until = Until::parse("throughput_bps ± 0.5 %", 20).expect("is well-formed");
    let wanted = SweepOptions { replicas: 2, until: Some(until), ..options(&out.0, 2) };
    let mut last = None;
    let report = sweep_with(&varied, None, &sweep(), &wanted, &mut |at| last = Some(at)).unwrap();
    let [a, b, c, d, e, f] = report.replicas[..] else { panic!("{:?}", report.replicas) };
    assert_eq!((a, b, e, f), (2, 2, 20, 20));
    assert!(c == d && c > 2 && c < 20, "{c}");
    assert_eq!(
        report.wide.iter().map(|wide| (wide.variant, wide.replicas)).collect::<Vec<_>>(),
        [(4, 20), (5, 20)]
    );
    let total = report.runs.len();
    assert_eq!(total as u32, report.replicas.iter().sum::<u32>());
    assert!(report.runs.iter().zip(0..).all(|(run, number)| run.run == number));
    assert_eq!(last.map(|at: Progress| (at.done, at.total)), Some((total, total)));
    let table = std::fs::read_to_string(out.0.join("scalars.csv")).unwrap();
    // The second sweep reuses all runs and gives the same tables.
    let again = sweep_with(&|_, _, _| panic!("is stored"), None, &sweep(), &wanted, &mut |_| {}).unwrap();
    assert_eq!((again.replicas, again.runs.iter().all(|run| run.reused)), (report.replicas, true));
    assert_eq!(std::fs::read_to_string(out.0.join("scalars.csv")).unwrap(), table);
    let other = SweepOptions { until: Some(Until::parse("rtt ± 1 %", 20).unwrap()), ..wanted };
    let error = sweep_with(&varied, None, &sweep(), &other, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "no run has a quantity `rtt`\nThere are throughput_bps, timeouts");
}
