//! `anabranch emulate`.

use crate::{Failure, code, complain, interrupt, log, run, say, scenario};
use clap::ArgMatches;
use emulate::{Control, EmulateError};
use lab::output::RunControl;
use lab::sweep::RunReport;
use std::path::PathBuf;
use std::time::Duration;

/// `anabranch emulate`.
pub fn emulate(chosen: &ArgMatches) -> Result<i32, Failure> {
    log::start(chosen);
    let sweep = scenario::read_with_real_hosts(chosen)?;
    if sweep.variants().len() > 1 {
        return Err(Failure::usage(run::varies(&sweep)));
    }
    let scenario = &sweep.variants()[0].scenario;
    let time = match chosen.get_one::<f64>("time") {
        None => None,
        Some(seconds) if (0.0..=1e9).contains(seconds) => Some(Duration::from_secs_f64(*seconds)),
        Some(seconds) => {
            return Err(Failure::usage(format!("--time {seconds}: expected seconds from 0 to 1e9")));
        }
    };
    let out = chosen.get_one::<String>("out").map(PathBuf::from);
    run::prepare_out(out.as_deref(), scenario)?;
    let run = RunControl { cancel: interrupt::flag(), captures: out.clone(), ..RunControl::default() };
    let control = Control { time, spin: chosen.get_flag("spin"), run };
    let ready = |ways: &[String]| {
        ways.iter().for_each(|way| complain(way));
        complain("ready");
    };
    let (outcome, output) = emulate::run(scenario, &control, ready).map_err(|error| match error {
        EmulateError::NoRealHost => Failure::usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    })?;
    if chosen.get_flag("json") {
        say(&format!("{:#}\n", outcome.as_json()))?;
    } else {
        say(&outcome.render())?;
    }
    output.warnings.iter().for_each(|warning| complain(warning));
    if let Some(out) = &out {
        let mut report = RunReport::new(&sweep, 0, output, outcome.time);
        report.manifest["emulation"] = outcome.as_json();
        report.write(out, false).map_err(|error| Failure::failed(error.to_string()))?;
    }
    Ok(code::OK)
}
