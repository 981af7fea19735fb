//! `anabranch sweep --export slurm`: writes a job array that performs the runs of a sweep, and a list of the
//! runs.

use crate::{Failure, arguments, code, say};
use clap::ArgMatches;
use lab::scenario::Sweep;
use lab::sweep::{Part, SweepOptions, places};
use std::path::Path;

/// Largest number of tasks without `--tasks`. By default a job array of Slurm has at most 1001 tasks.
const TASKS: u32 = 1000;

/// Writes `sweep.sbatch`, `collect.sbatch` and `points.csv` to the folder of results.
pub fn slurm(chosen: &ArgMatches, sweep: &Sweep, options: &SweepOptions) -> Result<i32, Failure> {
    if options.until.is_some() {
        return Err(Failure::usage(
            "--until cannot be exported, as the number of runs is not known before: give --replicas instead",
        ));
    }
    let runs = places(sweep, options.replicas).map_err(|error| Failure::usage(error.to_string()))?;
    let most = runs.len().max(1) as u32;
    let tasks = chosen.get_one::<u32>("tasks").copied().unwrap_or(TASKS).min(most);
    let mut points = vec!["task".to_owned(), "run".to_owned(), "replica".to_owned()];
    points.extend(sweep.axes().iter().map(|axis| axis.name.clone()));
    points.push("hash".to_owned());
    let mut list = line(&points);
    for (run, variant, task) in &runs {
        let parameters = sweep.variants()[*variant].parameters.iter().map(|(_, value)| value.to_string());
        let number = Part::of_run(*run, tasks).number;
        let mut cells = vec![number.to_string(), run.to_string(), task.replica.to_string()];
        cells.extend(parameters);
        cells.push(task.hash.clone());
        list += &line(&cells);
    }
    let here = std::env::current_dir().map_err(|error| Failure::failed(error.to_string()))?;
    let script =
        Script { here: &here, sweep: command(chosen, options), out: &options.out, tasks, runs: most };
    std::fs::create_dir_all(&options.out).map_err(|error| cannot_write(&options.out, &error))?;
    for (name, text) in
        [("points.csv", list), ("sweep.sbatch", script.array()), ("collect.sbatch", script.collect())]
    {
        let path = options.out.join(name);
        std::fs::write(&path, text).map_err(|error| cannot_write(&path, &error))?;
    }
    let path = |name: &str| quoted(&options.out.join(name).display().to_string());
    say(&format!(
        "{most} runs in {tasks} tasks, listed in {}. Submit them, and then what writes the tables:\n\n  \
         job=$(sbatch --parsable {})\n  sbatch --dependency=afterany:$job {}\n",
        path("points.csv"),
        path("sweep.sbatch"),
        path("collect.sbatch"),
    ))?;
    Ok(code::OK)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}

/// A line of CSV.
fn line(cells: &[String]) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// The command line of this sweep, without the options that set how the sweep is performed.
fn command(chosen: &ArgMatches, options: &SweepOptions) -> String {
    let mut words = vec![
        "sweep".to_owned(),
        quoted(arguments::text(chosen, "file")),
        format!("--replicas {}", options.replicas),
        format!("--out {}", quoted(&options.out.display().to_string())),
    ];
    words.extend(chosen.get_one::<u64>("seed").map(|seed| format!("--seed {seed}")));
    let settings = chosen.get_many::<String>("set").into_iter().flatten();
    words.extend(settings.map(|setting| format!("--set {}", quoted(setting))));
    for name in ["captures", "csv"] {
        words.extend(chosen.get_flag(name).then(|| format!("--{name}")));
    }
    words.join(" ")
}

/// A word, quoted for the shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

struct Script<'s> {
    /// The folder to which relative paths refer.
    here: &'s Path,
    sweep: String,
    out: &'s Path,
    tasks: u32,
    runs: u32,
}

impl Script<'_> {
    fn array(&self) -> String {
        let Script { tasks, runs, sweep, .. } = self;
        let head = self.head(&format!("--array=1-{tasks}"), "%A-%a");
        format!(
            "{head}\
             # Each task does its part of {runs} runs, and stores each run when it is finished. Submit this script again after an\n\
             # interruption: finished runs are not repeated.\n\
             exec \"${{ANABRANCH:-anabranch}}\" {sweep} --quiet \\\n  \
             --part \"$SLURM_ARRAY_TASK_ID/{tasks}\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
        )
    }

    fn collect(&self) -> String {
        let head = self.head("--ntasks=1", "%A");
        format!(
            "{head}\
             # Writes the tables. Runs that are missing, because a task failed, are done here.\n\
             exec \"${{ANABRANCH:-anabranch}}\" {} --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
            self.sweep
        )
    }

    fn head(&self, option: &str, number: &str) -> String {
        let log = self.here.join(self.out).join(format!("slurm-{number}.log"));
        format!(
            "#!/bin/bash\n#SBATCH --job-name=anabranch\n#SBATCH {option}\n#SBATCH --cpus-per-task=1\n\
             #SBATCH --output={}\nset -eu\ncd {}\n",
            log.display(),
            quoted(&self.here.display().to_string())
        )
    }
}
