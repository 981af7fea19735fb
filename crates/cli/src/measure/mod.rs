//! `anabranch measure`.

mod latency;
mod options;
mod text;

use crate::{Failure, check_folder, code, complain, interrupt, log, say};
use ::measure::{Captured, Client, Interval, Keys, MeasureError, Notice, Report, SCHEMA, Server};
use clap::ArgMatches;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs the server or the client of a measurement.
pub(crate) fn measure(chosen: &ArgMatches) -> Result<i32, Failure> {
    log::start(chosen);
    let host = chosen.get_one::<String>("host").or_else(|| chosen.get_one::<String>("client"));
    match host {
        Some(host) => client(chosen, host),
        None if chosen.get_flag("server") => server(chosen),
        None => Err(Failure::usage("name the server's host, or serve with --server")),
    }
}

/// Format in which results are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Lines,
    Quiet,
}

impl Format {
    fn of(chosen: &ArgMatches) -> Self {
        let formats = [("json", Format::Json), ("json-stream", Format::Lines), ("quiet", Format::Quiet)];
        formats.iter().find(|(name, _)| chosen.get_flag(name)).map_or(Format::Text, |(_, format)| *format)
    }

    fn interval(self, interval: &Interval) -> Result<(), Failure> {
        match self {
            Format::Text => say(&text::interval(interval)),
            Format::Lines => say(&format!(
                "{}\n",
                json!({ "schema": SCHEMA, "event": "interval", "data": interval.to_json() })
            )),
            Format::Json | Format::Quiet => Ok(()),
        }
    }

    fn report(self, report: &Report, other: &str) -> Result<(), Failure> {
        match self {
            Format::Text => say(&text::report(report, other)),
            Format::Json => say(&format!("{:#}\n", report.to_json())),
            Format::Lines => {
                say(&format!("{}\n", json!({ "schema": SCHEMA, "event": "end", "data": report.to_json() })))
            }
            Format::Quiet => Ok(()),
        }
    }
}

/// Measures as the command line requests, but prints nothing.
///
/// # Errors
/// The message for people, and whether the error is in the arguments.
pub fn report(
    arguments: &[String],
    cancel: &AtomicBool,
    watch: impl FnMut(&Interval),
) -> Result<Report, (String, bool)> {
    let all = std::iter::once("measure").chain(arguments.iter().map(String::as_str));
    let chosen = crate::arguments::measure::command()
        .try_get_matches_from(all)
        .map_err(|error| (error.to_string(), true))?;
    let host = chosen.get_one::<String>("host").map_or("", String::as_str);
    let report = connect(&chosen, host).and_then(|client| client.run(cancel, watch).map_err(failed));
    report.map_err(|failure| (failure.message, failure.code == code::USAGE))
}

fn connect(chosen: &ArgMatches, host: &str) -> Result<Client, Failure> {
    Client::connect(options::client(chosen, host)?).map_err(failed)
}

fn failed(error: MeasureError) -> Failure {
    match error {
        MeasureError::Flow(_) | MeasureError::Associations => Failure::usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    }
}

fn client(chosen: &ArgMatches, host: &str) -> Result<i32, Failure> {
    let format = Format::of(chosen);
    chosen.get_one::<String>("out").map_or(Ok(()), |out| check_folder("--out", Path::new(out)))?;
    let cancel = interrupt::flag();
    let client = connect(chosen, host)?;
    tell_encryption(chosen);
    // Errors of standard output are ignored here: the report at the end detects them.
    let report = client.run(&cancel, |interval| drop(format.interval(interval))).map_err(failed)?;
    format.report(&report, "server")?;
    if let Some(out) = chosen.get_one::<String>("out") {
        let cannot = |error| Failure::failed(format!("cannot write to {out}: {error}"));
        report.write(Path::new(out)).map_err(cannot)?;
    }
    if let Some(capture) = &report.capture {
        tell_capture(capture)?;
    }
    match report.failure() {
        Some((flow, why)) => Err(Failure::failed(format!("flow {flow} ended early: {why}"))),
        None => Ok(code::OK),
    }
}

/// Prints to standard error which connections are not encrypted.
fn tell_encryption(chosen: &ArgMatches) {
    match chosen.contains_id("key") {
        _ if chosen.get_flag("quiet") => {}
        true => complain("SCTP is encrypted; TCP, UDP and the control connection are not"),
        false => {
            complain("not encrypted: whoever is on the path can read and change it; --key encrypts SCTP")
        }
    }
}

/// Prints how many packets a capture lacks. Returns an error if the capture could not be written.
fn tell_capture(Captured { file, left_out, failure }: &Captured) -> Result<(), Failure> {
    let file = file.display();
    if *left_out > 0 {
        complain(&format!(
            "{file} reached its limit: the last {left_out} packets are not in it; --pcap-limit allows more"
        ));
    }
    match failure {
        Some(why) => Err(Failure::failed(format!("cannot write {file}: {why}"))),
        None => Ok(()),
    }
}

fn server(chosen: &ArgMatches) -> Result<i32, Failure> {
    let options = options::server(chosen)?;
    let format = Format::of(chosen);
    let public = options.keys.as_ref().map(Keys::public);
    let notify = move |notice| {
        let told = match notice {
            Notice::Began { peer, flows } if format == Format::Text => {
                say(&format!("{peer} measures {flows} {}\n", if flows == 1 { "flow" } else { "flows" }))
            }
            Notice::Began { .. } => Ok(()),
            Notice::Ended { report, .. } => format.report(&report, "client"),
            Notice::Refused { peer, why } => {
                complain(&format!("{peer}: {why}"));
                Ok(())
            }
        };
        // The server continues even if its output cannot be written.
        drop(told);
    };
    let failed = |error: ::measure::ServerError| Failure::failed(error.to_string());
    let server = Server::bind(options, notify).map_err(failed)?;
    tell_encryption(chosen);
    if format == Format::Text {
        let (port, udp_port) = (server.port(), server.udp_port());
        say(&format!("listening on port {port}, control on {}, SCTP in UDP port {udp_port}\n", port + 1))?;
        if let Some(address) = server.metrics() {
            say(&format!("metrics on http://{address}/metrics\n"))?;
        }
        if let Some(public) = public {
            say(&format!("for clients: --key FILE --peer {public}\n"))?;
        }
    }
    server.run(&interrupt::flag()).map_err(failed)?;
    Ok(code::OK)
}
