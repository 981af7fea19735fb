//! Rounds of all rivals, and the table of their medians.

use crate::child::{self, Outcome};
use crate::rivals::Rival;
use std::error::Error;
use std::fs;

/// Runs all rivals in turn for several rounds. Prints medians, and ratios to the
/// ceiling (UDP) of the same round.
pub fn compare(rivals: &[Rival], rounds: usize, seconds: f64) -> Result<(), Box<dyn Error>> {
    print_machine();
    let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); rivals.len()];
    for round in 1..=rounds {
        for (rival, outcomes) in rivals.iter().zip(&mut outcomes) {
            match child::run(*rival, seconds) {
                Ok(outcome) => {
                    eprintln!(
                        "round {round}: {}: {:.0} MB/CPU-s, {:.0} Mbit/s",
                        rival.name(),
                        outcome.megabytes_per_cpu_second(),
                        outcome.bytes as f64 * 8e-6 / outcome.seconds
                    );
                    outcomes.push(outcome);
                }
                Err(error) => eprintln!("round {round}: {error}"),
            }
        }
    }
    let ceiling = rivals.iter().position(|&rival| rival == Rival::UdpOffload);
    println!(
        "| sender and receiver | MB/CPU-s: median (quartiles) | of the ceiling in the same round | packets per send |"
    );
    println!("|---|---|---|---|");
    for (rival, runs) in rivals.iter().zip(&outcomes) {
        let rates: Vec<f64> = runs.iter().map(Outcome::megabytes_per_cpu_second).collect();
        let ratios: Vec<f64> = ceiling
            .map(|n| {
                rates
                    .iter()
                    .zip(&outcomes[n])
                    .map(|(rate, top)| rate / top.megabytes_per_cpu_second())
                    .collect()
            })
            .unwrap_or_default();
        let packets: Vec<f64> = runs.iter().filter_map(|run| run.packets_per_send).collect();
        println!(
            "| {} | {} | {} | {} |",
            rival.description(),
            spread(&rates, 0),
            spread(&ratios, 3),
            quantile(&packets, 0.5).map_or_else(|| "-".to_owned(), |packets| format!("{packets:.1}"))
        );
    }
    Ok(())
}

fn spread(values: &[f64], digits: usize) -> String {
    match (quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)) {
        (Some(low), Some(median), Some(high)) => {
            format!("{median:.digits$} ({low:.digits$} to {high:.digits$})")
        }
        _ => "-".to_owned(),
    }
}

/// The quantile `share` of the values.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share * last as f64).round() as usize).copied()
}

fn print_machine() {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    println!("kernel {}", read("/proc/sys/kernel/osrelease").trim());
    println!("CPU {}", model.map_or("unknown", |(_, model)| model));
    println!();
}
