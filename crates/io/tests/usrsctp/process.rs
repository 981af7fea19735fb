//! Programs that a test runs to their end, or kills when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

/// Runs a program that must succeed, and returns its standard output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?} failed: {stdout}{stderr}");
    stdout.into_owned()
}

/// A program that runs beside the test. Dropping it kills the program, also after a panic.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    /// Starts a program whose input and output are pipes.
    pub fn start(command: &mut Command) -> Running {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        Running { stdin: child.stdin.take(), child, stdout: Some(stdout), stderr }
    }

    /// The process ID of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The standard input of the program.
    pub fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().expect("it is open until the end")
    }

    /// The standard output of the program, for another thread to read.
    pub fn take_stdout(&mut self) -> BufReader<ChildStdout> {
        self.stdout.take().expect("nobody has taken it")
    }

    /// Waits for a line on standard output.
    pub fn stdout_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("nobody has taken it").read_line(&mut line).expect("it prints text");
        line
    }

    /// Waits for a line on standard error with this beginning.
    pub fn await_stderr(&mut self, beginning: &str) {
        let mut seen = String::new();
        while !seen.lines().any(|line| line.starts_with(beginning)) {
            let read = self.stderr.read_line(&mut seen).expect("it prints text");
            assert!(read > 0, "it ended: {seen}");
        }
    }

    /// Interrupts the program, as Ctrl-C does.
    pub fn interrupt(&self) {
        run(Command::new("sh").args(["-c", &format!("kill -INT {}", self.id())]));
    }

    /// Waits for the successful end of the program, and returns the unread part of its standard output.
    pub fn finish(mut self) -> String {
        self.stdin = None;
        let [mut stdout, mut stderr] = [String::new(), String::new()];
        let mut rest = self.stdout.take().expect("nobody has taken it");
        rest.read_to_string(&mut stdout).expect("it prints text");
        self.stderr.read_to_string(&mut stderr).expect("it prints text");
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "{status}: {stdout}{stderr}");
        stdout
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both calls fail only if the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
