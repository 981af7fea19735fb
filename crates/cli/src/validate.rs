use crate::{Failure, code, complain, say, scenario};
use clap::ArgMatches;
use lab::scenario::{Diagnostic, Sweep, render};
use serde_json::{Value as Json, json};

/// `anabranch validate`.
pub fn validate(chosen: &ArgMatches) -> Result<i32, Failure> {
    let files: Vec<&String> = chosen.get_many("file").into_iter().flatten().collect();
    let mut listing = Vec::new();
    let mut worst = code::OK;
    for file in &files {
        let told = match scenario::parse(file) {
            Ok(Ok(sweep)) => {
                if !chosen.get_flag("json") {
                    say(&format!("{file}: {}\n", summary(&sweep)))?;
                    if !sweep.warnings().is_empty() {
                        complain(&format!("{file} has warnings\n{}", render(file, sweep.warnings())));
                    }
                }
                listing.extend(listed(file, "warning", sweep.warnings()));
                continue;
            }
            Ok(Err(error)) => {
                listing.extend(listed(&error.file, "error", &error.diagnostics));
                format!("{file} cannot be used\n{}", error.render())
            }
            Err(Failure { message, .. }) => {
                listing.push(json!({ "severity": "error", "file": file, "line": null, "column": null, "message": message }));
                message
            }
        };
        worst = code::USAGE;
        if !chosen.get_flag("json") {
            complain(&told);
        }
    }
    if chosen.get_flag("json") {
        say(&format!("{:#}\n", json!(listing)))?;
    }
    Ok(worst)
}

fn listed(file: &str, severity: &str, diagnostics: &[Diagnostic]) -> Vec<Json> {
    let one = |d: &Diagnostic| json!({ "severity": severity, "file": file, "line": d.line, "column": d.column, "message": d.message });
    diagnostics.iter().map(one).collect()
}

/// One line about a valid scenario: its size and its variations.
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
