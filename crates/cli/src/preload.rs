//! `anabranch preload` and `anabranch sctpd`: SCTP sockets for unmodified programs.

mod file;
mod host;
mod library;

use crate::arguments::chosen_carrier;
use crate::{Failure, code, complain, interrupt};
use clap::ArgMatches;
use clap::parser::ValueSource;
use host::HostProcess;
use io::{Carrier, HostOptions, sctp::Config};
use measure::{CaptureFile, Captured, Recorder};
use sock::{Server, ServerOptions};
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::ByteCount;

/// The environment variable with the path at which a host process (with the SCTP stack) listens.
const SOCKET: &str = "ANABRANCH_SOCKET";
/// The environment variable that turns TCP sockets of a program into SCTP sockets.
const TCP: &str = "ANABRANCH_TCP_AS_SCTP";
/// The environment variable with options as for `--set`, separated by semicolons. It also reaches a command
/// that a script starts.
const OPTIONS: &str = "ANABRANCH_OPTIONS";
/// Exit codes, as of a shell, if the program cannot be run or is not found.
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;
/// The warning about `--carrier ip` if the kernel has SCTP.
const KERNEL: &str =
    "the SCTP of this kernel answers the same packets with ABORT: docs/ip.md tells what to do";
/// Largest size of a capture file in bytes.
const CAPTURE: ByteCount = ByteCount::new(1 << 30);

/// Runs a program with the preloaded library. A host process of its own runs the program's SCTP sockets,
/// unless `ANABRANCH_SOCKET` names another one (`anabranch sctpd`).
pub fn preload(chosen: &ArgMatches) -> Result<i32, Failure> {
    if let Some(path) = host::path() {
        return host::run(chosen, path);
    }
    let words: Vec<&OsString> = chosen.get_many("program").into_iter().flatten().collect();
    let Some((name, arguments)) = words.split_first() else { return Ok(code::USAGE) };
    let program = file::find(name).ok_or_else(|| Failure {
        code: NOT_FOUND,
        message: format!("{}: there is no such program in PATH", name.display()),
    })?;
    file::check(&program).map_err(|message| Failure { code: CANNOT_RUN, message })?;
    let mut command = Command::new(&program);
    command.arg0(name).args(arguments);
    if chosen.get_flag("usrsctp") {
        return Err(with_usrsctp(command, &program, chosen));
    }
    let library = library::find(library::SOCKETS)?;
    command.env("LD_PRELOAD", before(library.as_os_str(), "LD_PRELOAD", ":"));
    if chosen.get_flag("tcp-as-sctp") {
        command.env(TCP, "1");
    }
    if let Some(path) = std::env::var_os(SOCKET).filter(|path| !path.is_empty()) {
        warn_of_other_host(chosen, Path::new(&path));
        // This process becomes the program.
        let error = command.exec();
        return Err(Failure { code: CANNOT_RUN, message: format!("{}: {error}", program.display()) });
    }
    let path = sock::private_path(&format!("preload-{}", std::process::id())).map_err(Failure::failed)?;
    command.env(SOCKET, &path);
    let host = match HostProcess::start(&path)? {
        Ok(host) => host,
        Err(code) => return Ok(code),
    };
    run_with(host, command, &program)
}

/// Warns if no host process listens where the environment says, and if options are for a host process that
/// this command does not start.
fn warn_of_other_host(chosen: &ArgMatches, path: &Path) {
    let is_file = !path.as_os_str().as_encoded_bytes().starts_with(b"@");
    if is_file && sock::status(path).is_err() {
        let path = path.display();
        complain(&format!(
            "no host process at {path} ({SOCKET}): start one with `anabranch sctpd --socket {path}`"
        ));
    }
    for option in ["local", "carrier", "udp-port", "remote-udp-port", "profile", "set", "capture"] {
        if chosen.value_source(option) == Some(ValueSource::CommandLine) {
            complain(&format!("--{option} has no effect: give it to the host process that {SOCKET} names"));
        }
    }
}

/// Our value, and after it the value that an environment variable has.
fn before(ours: &OsStr, variable: &str, separator: &str) -> OsString {
    let mut all = ours.to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        all.push(separator);
        all.push(others);
    }
    all
}

/// Becomes the program, whose loader finds our library in place of libusrsctp. Returns the reason if it
/// cannot.
fn with_usrsctp(mut command: Command, program: &Path, chosen: &ArgMatches) -> Failure {
    let library = match library::find(library::USRSCTP) {
        Ok(library) => library,
        Err(failure) => return failure,
    };
    let folder = library.parent().unwrap_or(&library);
    command.env("LD_LIBRARY_PATH", before(folder.as_os_str(), "LD_LIBRARY_PATH", ":"));
    if let Err(failure) = config(chosen) {
        return failure;
    }
    let set: Vec<&str> = chosen.get_many::<String>("set").into_iter().flatten().map(String::as_str).collect();
    if !set.is_empty() {
        command.env(OPTIONS, before(set.join(";").as_ref(), OPTIONS, ";"));
    }
    let error = command.exec();
    Failure { code: CANNOT_RUN, message: format!("{}: {error}", program.display()) }
}

/// Runs the program. Returns its exit code, or that of the host process if this fails.
fn run_with(host: HostProcess, mut command: Command, program: &Path) -> Result<i32, Failure> {
    // The terminal sends Ctrl-C to the program, too: only the program decides whether it ends.
    interrupt::call(|| {});
    let status = command
        .status()
        .map_err(|error| Failure { code: CANNOT_RUN, message: format!("{}: {error}", program.display()) })?;
    match host.leave() {
        Ok(code::OK) => {
            Ok(status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap_or(code::FAILED))
        }
        Ok(code) => Ok(code),
        Err(error) => Err(Failure::failed(format!("the host process cannot be waited for: {error}"))),
    }
}

/// Serves the programs of this user until Ctrl-C.
pub fn sctpd(chosen: &ArgMatches) -> Result<i32, Failure> {
    let path = PathBuf::from(crate::arguments::text(chosen, "socket"));
    if chosen.get_flag("status") {
        let failed = |error: std::io::Error| {
            Failure::failed(format!("{}: no host process answers: {}", path.display(), crate::reason(&error)))
        };
        println!("{}", sock::status(&path).map_err(failed)?);
        return Ok(code::OK);
    }
    let recorder = recorder(chosen)?;
    let server = bind(chosen, path.clone(), recorder.clone())?;
    let how = match server.udp_port() {
        0 => "in IP".to_owned(),
        port => format!("at UDP port {port}"),
    };
    complain(&format!("serving {} {how}", path.display()));
    let stopper = server.stopper();
    interrupt::call(move || stopper.stop_now());
    serve(server, recorder, || {})?;
    Ok(code::OK)
}

/// Serves programs until the server stops, and then finishes the capture. Calls `goes_on` if other programs
/// need the server when the one that was started has ended.
fn serve(server: Server, recorder: Option<Recorder>, goes_on: impl FnOnce()) -> Result<(), Failure> {
    server.run_then(goes_on).map_err(|error| Failure::failed(format!("the host process failed: {error}")))?;
    let Some(Captured { file, left_out, failure, .. }) = recorder.map(Recorder::finish) else {
        return Ok(());
    };
    let file = file.display();
    if left_out > 0 {
        complain(&format!("{file} reached its limit: the last {left_out} packets are not in it"));
    }
    failure.map_or(Ok(()), |why| Err(Failure::failed(format!("cannot write {file}: {why}"))))
}

/// Begins the capture if the command line requests one.
fn recorder(chosen: &ArgMatches) -> Result<Option<Recorder>, Failure> {
    let Some(file) = chosen.get_one::<String>("capture") else { return Ok(None) };
    let recorder = Recorder::create(&CaptureFile { file: file.into(), limit: CAPTURE }, false);
    let cannot = |error| Failure::failed(format!("cannot write {file}: {}", crate::reason(&error)));
    recorder.map(Some).map_err(cannot)
}

/// Starts a server with the options of the command line. Without `--udp-port`, takes any free UDP port if the
/// default one is in use.
fn bind(chosen: &ArgMatches, path: PathBuf, recorder: Option<Recorder>) -> Result<Server, Failure> {
    let locals = chosen.get_many::<String>("local").into_iter().flatten().map(|text| {
        text.parse::<IpAddr>().map_err(|_| Failure::usage(format!("--local {text}: expected an IP address")))
    });
    let locals = locals.collect::<Result<Vec<_>, _>>()?;
    let port = |name| chosen.get_one::<u16>(name).copied();
    let (defaults, carrier) = (HostOptions::default(), chosen_carrier(chosen));
    if carrier != Carrier::Udp && Path::new("/proc/net/sctp").exists() {
        complain(KERNEL);
    }
    let remote_udp_port = port("remote-udp-port").unwrap_or(defaults.remote_udp_port);
    let host = |udp_port| {
        let tap = recorder.clone().map(|recorder| Box::new(recorder) as Box<dyn io::Tap>);
        HostOptions { locals: locals.clone(), carrier, udp_port, remote_udp_port, tap, link: None }
    };
    let config = config(chosen)?;
    let start = |udp_port| {
        Server::bind(ServerOptions { path: path.clone(), host: host(udp_port), config: config.clone() })
    };
    let refused = |error: sock::ServerError| Failure::failed(error.to_string());
    match (port("udp-port"), start(port("udp-port").unwrap_or(defaults.udp_port))) {
        (None, Err(sock::ServerError::PortInUse(_))) => {
            let server = start(0).map_err(refused)?;
            complain(&format!(
                "UDP port {} is in use: peers that begin associations reach this program at UDP port {}",
                defaults.udp_port,
                server.udp_port()
            ));
            Ok(server)
        }
        (_, result) => result.map_err(refused),
    }
}

fn config(chosen: &ArgMatches) -> Result<Config, Failure> {
    let base = match crate::arguments::text(chosen, "profile") {
        "rfc9260" => Config::default(),
        _ => Config { pmtud: true, ..Config::recommended() },
    };
    let over = |base, lines: &str, what| {
        lab::scenario::sctp_options_over(base, lines, what).map_err(|error| Failure::usage(error.to_string()))
    };
    let environment = std::env::var(OPTIONS).unwrap_or_default().replace(';', "\n");
    let lines: String =
        chosen.get_many::<String>("set").into_iter().flatten().map(|s| format!("{s}\n")).collect();
    over(over(base, &environment, OPTIONS)?, &lines, "options of SCTP")
}
