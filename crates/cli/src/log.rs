//! The log of `-v`.

use clap::ArgMatches;
use tracing_subscriber::filter::LevelFilter;

/// Prints events to standard error if `-v` was given, and returns true then. If one process calls this again,
/// as from Python, the first choice remains valid.
pub fn start(chosen: &ArgMatches) -> bool {
    let level = match chosen.get_count("verbose") {
        0 => return false,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
    let _ = log.with_writer(std::io::stderr).try_init();
    true
}
