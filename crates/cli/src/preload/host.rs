//! The host process of `anabranch preload`. It is a process of its own, so that it can go on in the
//! background when the command ends: a daemon keeps its sockets.

use super::{bind, recorder, serve};
use crate::{Failure, code, interrupt};
use clap::ArgMatches;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The environment variable that makes the command a host process, with the path at which it listens.
const HOST: &str = "ANABRANCH_PRELOAD_HOST";

/// A host process that this process has started.
pub struct HostProcess {
    process: Child,
    told: ChildStdout,
}

impl HostProcess {
    /// Starts this command with the same arguments as a host process, and waits until it listens. Returns its
    /// exit code if it ends instead; it has then printed the reason.
    pub fn start(path: &Path) -> Result<Result<Self, i32>, Failure> {
        let failed =
            |error: io::Error| Failure::failed(format!("the host process cannot be started: {error}"));
        let mut arguments = std::env::args_os();
        let mut command = Command::new("/proc/self/exe");
        if let Some(name) = arguments.next() {
            command.arg0(name);
        }
        // In a group of its own it gets no signals from the terminal.
        command.args(arguments).env(HOST, path).process_group(0);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut told = process.stdout.take().expect("a pipe");
        match told.read(&mut [0]).map_err(failed)? {
            0 => Ok(Err(process.wait().map_err(failed)?.code().unwrap_or(code::FAILED))),
            _ => Ok(Ok(HostProcess { process, told })),
        }
    }

    /// Tells the host process that the program has ended. Waits until the host process has ended, or goes on
    /// in the background because other programs need it. Returns its exit code, 0 if it goes on.
    pub fn leave(mut self) -> io::Result<i32> {
        drop(self.process.stdin.take());
        match self.told.read(&mut [0])? {
            0 => Ok(self.process.wait()?.code().unwrap_or(code::FAILED)),
            _ => Ok(code::OK),
        }
    }
}

/// The path at which this process must listen, if it is a host process.
pub fn path() -> Option<PathBuf> {
    std::env::var_os(HOST).map(PathBuf::from)
}

/// Serves the programs of the process that started this one, until they have ended.
pub fn run(chosen: &ArgMatches, path: PathBuf) -> Result<i32, Failure> {
    close_inherited();
    let recorder = recorder(chosen)?;
    let server = bind(chosen, path, recorder.clone())?;
    let (stopper, asked) = (server.stopper(), server.stopper());
    interrupt::call(move || asked.stop_when_idle());
    std::thread::spawn(move || {
        // The end of standard input says that the program has ended.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        stopper.stop_when_unused();
    });
    tell();
    serve(server, recorder, go_to_background)?;
    Ok(code::OK)
}

/// Closes what the shell has open beside the standard files: whoever waits for the end of such a pipe, or for
/// such a lock, does not wait for this process.
fn close_inherited() {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|&descriptor| descriptor > 2) {
        // The descriptor of the folder itself is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Writes a byte to the process that started this one, which may have ended.
fn tell() {
    let mut out = io::stdout();
    let _ = out.write_all(b"\n").and_then(|()| out.flush());
}

/// Lets the process that started this one end, and closes what both have open, for which others may wait.
fn go_to_background() {
    tell();
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdout(&nothing).and_then(|()| nix::unistd::dup2_stderr(&nothing));
    }
}
