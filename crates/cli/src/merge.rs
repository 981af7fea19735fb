use crate::{Failure, code, complain, say};
use clap::ArgMatches;
use lab::sweep::{MergeError, merge as merge_folders};
use std::path::{Path, PathBuf};

/// `anabranch merge`.
pub fn merge(chosen: &ArgMatches) -> Result<i32, Failure> {
    let folders: Vec<PathBuf> =
        chosen.get_many::<String>("folders").into_iter().flatten().map(PathBuf::from).collect();
    let [into, from @ ..] = folders.as_slice() else { return Err(Failure::usage("expected two folders")) };
    let merged = merge_folders(into, from).map_err(|error| match error {
        MergeError::NoStore { .. } => Failure::usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    })?;
    if merged.damaged > 0 {
        complain(&format!(
            "{} damaged runs were left out: `anabranch sweep` simulates them again",
            merged.damaged
        ));
    }
    if let Some(why) = &merged.without_tables {
        complain(&format!(
            "no common tables: {why}. `anabranch sweep SCENARIO --out {}` writes those of a scenario",
            into.display()
        ));
    }
    if !chosen.get_flag("quiet") {
        say(&format!("{} runs copied to {}, {} were there\n", merged.added, into.display(), merged.shared))?;
        if merged.without_tables.is_none() {
            say(&format!("{} runs in {}\n", merged.listed, table(into).display()))?;
        }
    }
    Ok(code::OK)
}

fn table(folder: &Path) -> PathBuf {
    folder.join("scalars.parquet")
}
