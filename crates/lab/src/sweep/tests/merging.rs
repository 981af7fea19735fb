//! Sweeps whose parts different processes perform.

use super::*;
use crate::output::FlowPaths;

/// The sweep with only one value of the axis `rho`.
fn only(rho: &str) -> Sweep {
    let mut sweep = sweep();
    sweep.restrict("rho", rho).unwrap();
    sweep
}

fn swept(name: &str, sweep: &Sweep) -> Scratch {
    let out = Scratch::new(name);
    sweep_with(&quick, None, sweep, &options(&out.0, 2), &mut |_| {}).unwrap();
    out
}

fn tables(out: &Scratch) -> [Vec<u8>; 2] {
    ["scalars.parquet", "series.parquet"].map(|name| std::fs::read(out.0.join(name)).unwrap())
}

#[test]
fn merged_sweeps_have_the_tables_of_one_sweep() {
    let whole = swept("merge-whole", &sweep());
    let parts =
        ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"].map(|rho| swept(&format!("merge-{}", &rho[..1]), &only(rho)));
    let into = Scratch::new("merge-into");
    let from = parts.each_ref().map(|part| part.0.clone());
    let merged = merge(&into.0, &from).unwrap();
    assert_eq!(merged, Merged { added: 24, shared: 0, damaged: 0, listed: 24, without_tables: None });
    assert_eq!(tables(&into), tables(&whole));
    let manifest = |out: &Scratch| -> Json {
        let mut manifest: Json =
            serde_json::from_slice(&std::fs::read(out.0.join("manifest.json")).unwrap()).unwrap();
        manifest["outputs_sha256"].as_object_mut().unwrap().retain(|name, _| name.ends_with("parquet"));
        ["wall_s", "outputs_sha256"].iter().for_each(|key| assert!(manifest[key] != Json::Null));
        // The wall times differ, and the SHA-256 of the manifest covers them.
        (manifest["wall_s"], manifest["manifest_sha256"]) = (Json::Null, Json::Null);
        manifest["runs"].as_array_mut().unwrap().iter_mut().for_each(|run| run["wall_s"] = Json::Null);
        manifest
    };
    assert_eq!(manifest(&into), manifest(&whole));
    // A second merge adds nothing, and a sweep over everything reuses the runs.
    assert_eq!(merge(&into.0, &from).unwrap(), Merged { shared: 24, listed: 24, ..Merged::default() });
    let again = sweep_with(&|_, _, _| panic!("is stored"), None, &sweep(), &options(&into.0, 2), &mut |_| {});
    assert!(again.unwrap().runs.iter().all(|run| run.reused));
}

#[test]
fn different_results_of_the_same_inputs_are_a_conflict_that_names_both_and_copies_nothing() {
    let other = |scenario: &Scenario, replica: u32, _: &RunControl| {
        let mut output = pretend(scenario, replica);
        output.scalars[0].value += f64::from(u8::from(replica == 3));
        Ok(output)
    };
    let (one, two) = (swept("conflict-one", &only("1 Mbit/s")), Scratch::new("conflict-two"));
    sweep_with(&other, None, &sweep(), &options(&two.0, 2), &mut |_| {}).unwrap();
    let before = std::fs::read_dir(one.0.join("runs")).unwrap().count();
    let error = merge(&one.0, std::slice::from_ref(&two.0)).unwrap_err();
    let MergeError::Conflict { one: a, other: b } = &error else { panic!("{error}") };
    assert!(a.starts_with(&one.0) && b.starts_with(&two.0) && a.file_name() == b.file_name());
    for path in [a, b] {
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    assert_eq!(std::fs::read_dir(one.0.join("runs")).unwrap().count(), before);
    // Merging both folders into a third one fails in the same way.
    let into = Scratch::new("conflict-into");
    let error = merge(&into.0, &[one.0.clone(), two.0.clone()]).unwrap_err();
    assert!(matches!(error, MergeError::Conflict { .. }), "{error}");
}

#[test]
fn machine_and_wall_time_of_a_run_are_no_conflict() {
    let slow = |scenario: &Scenario, replica: u32, _: &RunControl| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        Ok(pretend(scenario, replica))
    };
    let (one, two) = (swept("walls-one", &sweep()), Scratch::new("walls-two"));
    sweep_with(&slow, None, &sweep(), &options(&two.0, 2), &mut |_| {}).unwrap();
    assert_eq!(merge(&one.0, std::slice::from_ref(&two.0)).unwrap().shared, 24);
}

#[test]
fn names_of_paths_are_stored_and_runs_of_older_versions_have_none() {
    let named = |scenario: &Scenario, replica: u32, _: &RunControl| {
        let forward = vec![Some("lte".to_owned()), None];
        let paths = vec![FlowPaths { flow: "f".into(), forward, back: Vec::new() }];
        Ok(RunOutput { paths, ..pretend(scenario, replica) })
    };
    let (new, old) = (Scratch::new("names-new"), swept("names-old", &sweep()));
    for simulate in [&named as Simulate<'_>, &quick] {
        let report = sweep_with(simulate, None, &sweep(), &options(&new.0, 2), &mut |_| {}).unwrap();
        let listed = &report.manifest["runs"][23];
        assert_eq!(listed["paths"], serde_json::json!({ "f": { "forward": ["lte", null], "back": [] } }));
        assert_eq!(paths_of(listed), report.runs[23].paths);
    }
    for run in std::fs::read_dir(old.0.join("runs")).unwrap() {
        let path = run.unwrap().path().join(MANIFEST);
        let mut manifest = crate::results::unsealed(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert!(manifest.as_object_mut().unwrap().remove("paths").is_some());
        std::fs::write(&path, sealed(&manifest)).unwrap();
    }
    let again = sweep_with(&quick, None, &sweep(), &options(&old.0, 2), &mut |_| {}).unwrap();
    assert!(again.runs.iter().all(|run| run.reused && run.paths.is_empty()));
    assert_eq!(merge(&new.0, std::slice::from_ref(&old.0)).unwrap().shared, 24);
}

#[test]
fn damaged_runs_are_left_out_and_replaced() {
    let (whole, broken) = (swept("merge-sound", &sweep()), swept("merge-broken", &sweep()));
    std::fs::write(&stored(&broken)[0], "").unwrap();
    let into = Scratch::new("merge-without");
    let from = std::slice::from_ref(&broken.0);
    let merged = merge(&into.0, from).unwrap();
    assert_eq!((merged.added, merged.damaged, merged.listed), (23, 1, 0));
    assert!(merged.without_tables.unwrap().ends_with("is missing or damaged"));
    // An undamaged folder has the run and replaces the damaged one.
    let merged = merge(&broken.0, std::slice::from_ref(&whole.0)).unwrap();
    assert_eq!((merged.added, merged.shared), (1, 23));
    assert_eq!(tables(&broken), tables(&whole));
}

#[test]
fn runs_of_several_sweeps_are_merged_without_tables() {
    let mut other = sweep();
    other.set_seed(2);
    let (one, two) = (swept("sweep-one", &sweep()), swept("sweep-two", &other));
    let before = tables(&one);
    let merged = merge(&one.0, std::slice::from_ref(&two.0)).unwrap();
    assert_eq!((merged.added, merged.listed), (24, 0));
    assert!(merged.without_tables.unwrap().ends_with("the seed is 2, not 1"));
    assert_eq!(tables(&one), before);
    let error = merge(&one.0, &[one.0.join("runs")]).unwrap_err();
    assert!(error.to_string().contains("which has a folder `runs`"), "{error}");
}

#[test]
fn every_run_is_in_one_part() {
    let tasks = places(&sweep(), 4).unwrap();
    assert_eq!(tasks.len(), 24);
    for of in [1, 5, 24, 30] {
        let part = |number| Part { number, of };
        let count = |number| tasks.iter().filter(|(run, ..)| Part::of_run(*run, of) == part(number)).count();
        assert_eq!((1..=of).map(count).sum::<usize>(), 24);
    }
    assert_eq!(Part::parse("2/3"), Ok(Part { number: 2, of: 3 }));
    for wrong in ["", "2", "0/3", "4/3", "a/b", "1/0"] {
        assert!(
            Part::parse(wrong).is_err_and(|message| message.contains("such as 1/10 to 10/10")),
            "{wrong}"
        );
    }
}

/// Performs runs in this process, but loses every third one.
struct Forgetful {
    asked: Vec<Task>,
    cancel: Option<Arc<AtomicBool>>,
}

impl Elsewhere for Forgetful {
    fn work(
        &mut self,
        recipe: &crate::scenario::Recipe,
        tasks: &[Task],
        runs: &Path,
        done: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), String> {
        let sweep = crate::parse(&recipe.text, &recipe.file).unwrap();
        for (number, task) in tasks.iter().enumerate() {
            let variant = sweep.variants().iter().find(|variant| variant.number == task.variant).unwrap();
            if number % 3 > 0 {
                let store = Store::open(runs.parent().unwrap()).unwrap();
                let job = Job { run: 0, variant, replica: task.replica };
                assert_eq!(pool::one(&quick, &job, &store, &Arc::default()).unwrap().hash, task.hash);
            }
            self.asked.push(task.clone());
            self.cancel.iter().for_each(|cancel| cancel.store(true, Ordering::Relaxed));
            if !done(number + 1) {
                return Ok(());
            }
        }
        Ok(())
    }
}

#[test]
fn runs_that_are_done_elsewhere_give_the_same_tables() {
    let (whole, far) = (swept("elsewhere-whole", &only("2 Mbit/s")), Scratch::new("elsewhere"));
    let mut elsewhere = Forgetful { asked: Vec::new(), cancel: None };
    let sweep = only("2 Mbit/s");
    let few = SweepOptions { replicas: 2, ..options(&far.0, 1) };
    sweep_with(&quick, None, &sweep, &few, &mut |_| {}).unwrap();
    let mut last = None;
    let report =
        sweep_with(&quick, Some(&mut elsewhere), &sweep, &options(&far.0, 1), &mut |at| last = Some(at))
            .unwrap();
    assert_eq!(elsewhere.asked.len(), 4, "the first two replicas of both combinations are stored");
    assert_eq!(report.runs.iter().filter(|run| run.reused).count(), 4);
    assert_eq!(files(&far.0), files(&whole.0));
    assert_eq!(last.map(|at| (at.done, at.total)), Some((8, 8)));
}

#[test]
fn a_sweep_elsewhere_that_is_stopped_keeps_finished_runs() {
    let far = Scratch::new("elsewhere-stopped");
    let options = options(&far.0, 1);
    let mut elsewhere = Forgetful { asked: Vec::new(), cancel: Some(options.cancel.clone()) };
    let error = sweep_with(&quick, Some(&mut elsewhere), &sweep(), &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SweepError::Cancelled { total: 24, .. }), "{error}");
    assert_eq!(elsewhere.asked.len(), 1);
}

#[test]
fn what_a_dead_process_left_behind_is_removed_at_the_next_start() {
    let out = Scratch::new("left-behind");
    let runs = out.0.join("runs");
    std::fs::create_dir_all(&runs).unwrap();
    // Process numbers of Linux are below 2^22, so that no process has the number 99999999.
    let own = parts::of(&runs.join("0123")).file_name().unwrap().to_string_lossy().into_owned();
    let (head, _) = own.rsplit_once('-').unwrap();
    let (dead, alive) = (format!("{head}-99999999"), own.clone());
    let far = ".part-0123-another_machine-99999999".to_owned();
    for name in [&dead, &alive, &far] {
        std::fs::create_dir(runs.join(name)).unwrap();
        std::fs::write(runs.join(name).join("a.pcapng"), "x").unwrap();
        std::fs::write(out.0.join(name.replace("0123", "scalars.parquet")), "x").unwrap();
    }
    Store::open(&out.0).unwrap();
    let left = |folder: &Path| -> BTreeSet<String> {
        let names =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with('.'))
            .map(|name| name.replace("scalars.parquet", "0123"))
            .collect()
    };
    let mut expected = BTreeSet::from([alive, far]);
    if !Path::new("/proc/self").exists() {
        expected.insert(dead);
    }
    assert_eq!((left(&runs), left(&out.0)), (expected.clone(), expected));
}
