//! Test of a transfer between two network namespaces whose links disappear and appear. Both endpoints watch
//! their interfaces.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

#[path = "common/namespace.rs"]
mod namespace;

use anabranch_io::blocking::{Connection, Endpoint};
use anabranch_io::{Config, PathState};
use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use units::Span;

/// Environment variable with the role of this process in a namespace.
const ROLE: &str = "ANABRANCH_UPLINKS";
const NAME: &str = "a_transfer_survives_an_uplink_that_goes_and_another_that_comes";
/// Line that the server prints once it listens.
const LISTENS: &str = "the server listens";
const PORT: u16 = 5001;
const MESSAGES: u32 = 600;

#[test]
fn a_transfer_survives_an_uplink_that_goes_and_another_that_comes() {
    match std::env::var(ROLE).as_deref() {
        Ok("server") => return server(),
        Ok(_) => return client(),
        Err(_) => {}
    }
    let Some(mut again) = namespace::in_new_namespace() else {
        return namespace::skip(NAME, "the permission to make network namespaces, or unshare");
    };
    for program in ["ip", "nsenter"] {
        if Command::new(program).arg("-V").output().is_err() {
            return namespace::skip(NAME, &format!("the program {program}"));
        }
    }
    let status = again.args(["--kill-child", "--fork", "--"]).args(this_test()).env(ROLE, "client").status();
    assert!(status.expect("unshare runs").success(), "the test failed in its namespace");
}

/// The command line that runs this test alone.
fn this_test() -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", NAME, "--nocapture"].map(str::to_owned).into()
}

fn endpoint() -> Endpoint {
    let config = Config {
        auth: true,
        asconf: true,
        rto_initial: Span::from_millis(200),
        rto_min: Span::from_millis(100),
        ..Config::recommended()
    };
    let builder = Endpoint::builder().port(PORT).watch_addresses(true);
    builder.config(config).bind().expect("binds")
}

fn server() {
    let endpoint = endpoint();
    let listener = endpoint.listen(1);
    println!("\n{LISTENS}");
    let connection = listener.accept().expect("is open");
    for n in 0..MESSAGES {
        let message = connection.recv().unwrap_or_else(|error| panic!("{n}: {error}")).expect("arrives");
        assert_eq!(message.data[..4], n.to_be_bytes(), "message {n}");
    }
    assert_eq!(connection.recv(), Ok(None));
    assert!(connection.closed().is_graceful());
    assert_eq!(endpoint.local_addresses(), [address(1, 2)]);
}

/// Ends the process when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The call fails if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> Running {
    Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts"))
}

fn address(link: u8, host: u8) -> IpAddr {
    [10, 8, link, host].into()
}

fn run(line: &str) {
    let (program, arguments) = line.split_once(' ').expect("a program and its arguments");
    let status = Command::new(program).args(arguments.split(' ')).status().expect("it runs");
    assert!(status.success(), "{line}");
}

/// Creates a link to the other namespace.
fn connect(link: u8, there: &str) {
    let pid = there.rsplit('/').nth(2).expect("a path of a process");
    run(&format!("ip link add here{link} type veth peer name there{link} netns {pid}"));
    for (prefix, side, host) in [(String::new(), "here", 1), (format!("nsenter --net={there} "), "there", 2)]
    {
        run(&format!("{prefix}ip address add {}/24 dev {side}{link}", address(link, host)));
        run(&format!("{prefix}ip link set {side}{link} up"));
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "{what}: not in time");
        thread::sleep(Duration::from_millis(5));
    }
}

/// True if the path to an address of the server is active.
fn works(connection: &Connection, address: IpAddr) -> bool {
    let paths = connection.paths().expect("is open");
    paths.iter().any(|path| path.remote == address && path.state == PathState::Active)
}

fn client() {
    let mut other = start(Command::new("unshare").args(["--net", "cat"]));
    // A process that answers is already in its namespace.
    other.0.stdin.as_mut().expect("is piped").write_all(b"ready\n").expect("it reads");
    let mut line = String::new();
    BufReader::new(other.0.stdout.as_mut().expect("is piped")).read_line(&mut line).expect("it answers");
    let there = format!("/proc/{}/ns/net", other.0.id());
    connect(0, &there);
    let mut in_there = Command::new("nsenter");
    let mut server = start(in_there.arg(format!("--net={there}")).args(this_test()).env(ROLE, "server"));
    let mut lines = BufReader::new(server.0.stdout.take().expect("is piped")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == LISTENS)));

    let endpoint = endpoint();
    assert_eq!(endpoint.local_addresses(), [address(0, 1)]);
    let connection = endpoint.connect((address(0, 2), PORT)).expect("connects");
    let mut sent = 0_u32;
    let mut send = |more: u32| {
        for _ in 0..more {
            let mut message = vec![0; 20_000];
            message[..4].copy_from_slice(&sent.to_be_bytes());
            connection.send(message).expect("is taken");
            sent += 1;
        }
    };
    send(200);
    connect(1, &there);
    wait_until("a path over the second link", || works(&connection, address(1, 2)));
    let both = [address(0, 1), address(1, 1)];
    assert_eq!(endpoint.local_addresses(), both);
    send(200);
    // This command also deletes the other end of the link.
    run("ip link delete here0");
    send(200);
    connection.flush().expect("is acknowledged");
    wait_until("the first link is forgotten", || {
        endpoint.local_addresses() == both[1..] && !works(&connection, address(0, 2))
    });
    connection.shutdown().expect("ends gracefully");
    let output: Vec<String> = lines.map_while(Result::ok).collect();
    assert!(server.0.wait().expect("ends").success(), "{output:#?}");
    named_addresses_come_back(&there);
}

/// An endpoint with configured addresses closes the socket of a link that goes down, and binds it again
/// later.
fn named_addresses_come_back(there: &str) {
    connect(2, there);
    let (kept, lost) = (address(1, 1), address(2, 1));
    let builder = Endpoint::builder().locals([kept, lost]).udp_port(0).watch_addresses(true);
    let config = Config {
        rto_max: Span::from_millis(200),
        rto_initial: Span::from_millis(200),
        ..Config::recommended()
    };
    let endpoint =
        builder.config(Config { rto_min: Span::from_millis(100), ..config }).bind().expect("binds");
    run("ip link set here2 down");
    wait_until("one address", || endpoint.local_addresses() == [kept]);
    wait_until("one socket", || endpoint.stats().sockets.len() == 1);
    run("ip link set here2 up");
    wait_until("both addresses", || endpoint.local_addresses() == [kept, lost]);
    assert_eq!(endpoint.stats().sockets.len(), 2);
    // A new address of the host is not added to the endpoint, and the last address is kept.
    run("ip address add 10.8.9.1/24 dev here2");
    run("ip link delete here1");
    wait_until("one address", || endpoint.local_addresses() == [lost]);
    run("ip link delete here2");
    thread::sleep(Duration::from_millis(100));
    assert_eq!(endpoint.local_addresses(), [lost]);
}
