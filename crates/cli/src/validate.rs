use crate::{Failure, code, complain, say, scenario};
use clap::ArgMatches;
use lab::scenario::{ScenarioError, Sweep};
use serde_json::{Value as Json, json};

/// `anabranch validate`.
pub fn validate(chosen: &ArgMatches) -> Result<i32, Failure> {
    let files: Vec<&String> = chosen.get_many("file").into_iter().flatten().collect();
    let mut found = Vec::new();
    for file in &files {
        found.push(scenario::parse(file)?);
    }
    if chosen.get_flag("json") {
        let listed: Vec<Json> = found.iter().filter_map(|one| one.as_ref().err()).flat_map(listed).collect();
        say(&format!("{:#}\n", json!(listed)));
    } else {
        for (file, one) in files.iter().zip(&found) {
            match one {
                Ok(sweep) => say(&format!("{file}: {}\n", summary(sweep))),
                Err(error) => complain(&format!("{file} cannot be used\n{}", error.render())),
            }
        }
    }
    Ok(if found.iter().all(Result::is_ok) { code::OK } else { code::USAGE })
}

fn listed(error: &ScenarioError) -> Vec<Json> {
    let one = |d: &lab::scenario::Diagnostic| json!({ "file": error.file, "line": d.line, "column": d.column, "message": d.message });
    error.diagnostics.iter().map(one).collect()
}

/// A line about a valid scenario: its size and its variations.
fn summary(sweep: &Sweep) -> String {
    let scenario = &sweep.variants()[0].scenario;
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "fine: {}, {}, {}",
        counted(scenario.nodes.len(), "node"),
        counted(scenario.links.len(), "link"),
        counted(scenario.flows.len(), "flow")
    );
    if !sweep.axes().is_empty() {
        let axes: Vec<_> =
            sweep.axes().iter().map(|axis| format!("{} of {}", axis.values.len(), axis.name)).collect();
        text += &format!("; {} ({})", counted(sweep.variants().len(), "combination"), axes.join(" x "));
    }
    text
}
