//! Both ends of a tunnel in network namespaces, over two links: TCP through it while a link goes and comes, and an end that
//! starts anew.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

#[path = "../../io/tests/common/namespace.rs"]
mod namespace;

use anabranch_tunnel::{PrivateKey, TunnelConfig, ask, render, run};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ROLE: &str = "ANABRANCH_TUNNEL_ROLE";
const FOLDER: &str = "ANABRANCH_TUNNEL_FOLDER";
const NAME: &str = "tcp_survives_a_link_that_goes_and_an_end_that_starts_anew";
/// Longer than anything that must happen takes.
const SOON: Duration = Duration::from_secs(20);
/// The address of the other end in the tunnel.
const THERE: [u8; 4] = [10, 99, 0, 2];
const TCP: u16 = 7001;
const UDP: u16 = 7002;

#[test]
fn tcp_survives_a_link_that_goes_and_an_end_that_starts_anew() {
    match std::env::var(ROLE).as_deref() {
        Ok("tunnel") => return end(),
        Ok("echo") => return echo(),
        Ok(_) => return transfers(),
        Err(_) => {}
    }
    let Some(mut again) = namespace::in_new_namespace() else {
        return namespace::skip(NAME, "the permission to make network namespaces, or unshare");
    };
    for program in ["ip", "tc", "nsenter"] {
        if Command::new(program).arg("-V").output().is_err() {
            return namespace::skip(NAME, &format!("the program {program}"));
        }
    }
    if fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_err() {
        return namespace::skip(NAME, "/dev/net/tun");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tunnel-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("can be made");
    let status = again.args(["--kill-child", "--fork", "--"]).args(this_test());
    let status = status.env(ROLE, "transfers").env(FOLDER, &folder).status();
    fs::remove_dir_all(&folder).expect("is ours");
    assert!(status.expect("unshare runs").success(), "the test failed in its namespace");
}

/// The command line of this test alone.
fn this_test() -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", NAME, "--nocapture"].map(str::to_owned).into()
}

fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("is set").into()
}

/// One end of the tunnel, until it is killed. Its name is in the environment.
fn end() {
    let file = folder().join(std::env::var("END").expect("is set"));
    let config = TunnelConfig::read(&file).expect("is right");
    run(&config, |line| eprintln!("{line}")).expect("runs");
}

/// Sends back what arrives, until it is killed.
fn echo() {
    let listener = TcpListener::bind(("0.0.0.0", TCP)).expect("is free");
    let socket = UdpSocket::bind(("0.0.0.0", UDP)).expect("is free");
    println!("\nready");
    thread::spawn(move || {
        let mut buffer = [0; 2000];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
        }
    });
    for mut stream in listener.incoming().flatten() {
        thread::spawn(move || {
            let mut back = stream.try_clone().expect("can be shared");
            let _ = std::io::copy(&mut stream, &mut back);
        });
    }
}

/// Ends the process when it is dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts"))
    }

    fn await_line(&mut self, expected: &str) {
        let stdout = self.0.stdout.take().expect("is piped");
        assert!(BufReader::new(stdout).lines().any(|line| line.is_ok_and(|line| line == expected)));
    }

    fn stdin(&mut self) -> &mut ChildStdin {
        self.0.stdin.as_mut().expect("is piped")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sh(line: &str) {
    let (program, arguments) = line.split_once(' ').expect("a program and its arguments");
    let status = Command::new(program).args(arguments.split(' ')).status().expect("it runs");
    assert!(status.success(), "{line}");
}

/// The other namespace, and both ends.
struct World {
    other: Running,
}

impl World {
    fn new() -> World {
        let mut other = Running::start(Command::new("unshare").args(["--net", "cat"]));
        // Once it answers it is in its namespace.
        other.stdin().write_all(b"ready\n").expect("it reads");
        other.await_line("ready");
        let world = World { other };
        sh("ip link set lo up");
        let there = format!("nsenter --net=/proc/{}/ns/net ip", world.other.0.id());
        sh(&format!("{there} link set lo up"));
        sh(&format!("{there} address add 10.9.9.9/32 dev lo"));
        for link in 0..2 {
            world.connect(link);
        }
        world
    }

    /// Makes a link to the other namespace.
    fn connect(&self, link: u8) {
        let pid = self.other.0.id();
        sh(&format!("ip link add here{link} type veth peer name there{link} netns {pid}"));
        for (prefix, side, host) in
            [(String::new(), "here", 1), (format!("nsenter --net=/proc/{pid}/ns/net "), "there", 2)]
        {
            sh(&format!("{prefix}ip address add 10.7.{link}.{host}/24 dev {side}{link}"));
            sh(&format!("{prefix}ip link set {side}{link} up"));
            // One link alone is not enough.
            sh(&format!(
                "{prefix}tc qdisc add dev {side}{link} root tbf rate 20mbit burst 15000 limit 100000"
            ));
        }
        let metric = link + 1;
        sh(&format!("ip route add 10.9.9.9/32 via 10.7.{link}.2 dev here{link} metric {metric}"));
    }

    fn start(&self, role: &str, end: &str) -> Running {
        let mut command = if end == "there" {
            let mut command = Command::new("nsenter");
            command.arg(format!("--net=/proc/{}/ns/net", self.other.0.id())).args(this_test());
            command
        } else {
            let [program, arguments @ ..] = &this_test()[..] else { unreachable!("it has arguments") };
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        Running::start(command.env(ROLE, role).env("END", end))
    }
}

/// Writes the keys and the descriptions of both ends.
fn write_configs() {
    let folder = folder();
    let key = |end: &str| PrivateKey::read_or_create(&folder.join(format!("{end}.key"))).expect("is written");
    for (end, other, more) in [
        ("here", "there", "uplinks = ['here0', 'here1']\nconnect = ['10.9.9.9']\nnat = true"),
        ("there", "here", "uplinks = ['10.9.9.9']"),
    ] {
        let host = if end == "here" { 1 } else { 2 };
        let peer = key(other).public();
        key(end);
        let folder = folder.display();
        let text = format!(
            "interface = '{end}'\naddresses = ['10.99.0.{host}/24']\nkey = '{folder}/{end}.key'\npeer = '{peer}'\n\
             status = '{folder}/{end}.sock'\n{more}\n"
        );
        fs::write(std::path::Path::new(&format!("{folder}/{end}")), text).expect("can be written");
    }
}

fn wait_until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + 2 * SOON;
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(Instant::now() < end, "{what}: not in time");
        thread::sleep(Duration::from_millis(20));
    }
}

fn connect_tcp() -> TcpStream {
    let to = SocketAddr::from((THERE, TCP));
    wait_until("TCP through the tunnel", || TcpStream::connect_timeout(&to, Duration::from_secs(2)).ok())
}

/// Sends bytes and gets them back, while `meanwhile` happens after half of them.
fn exchange(bytes: usize, meanwhile: impl FnOnce()) {
    let stream = connect_tcp();
    stream.set_read_timeout(Some(2 * SOON)).expect("is positive");
    let mut writing = stream.try_clone().expect("can be shared");
    let data: Vec<u8> = (0..bytes).map(|n| ((n * 31) >> 7) as u8).collect();
    let copy = data.clone();
    let writer = thread::spawn(move || writing.write_all(&copy));
    let mut back = vec![0; bytes];
    (&stream).read_exact(&mut back[..bytes / 2]).expect("the first half comes back");
    meanwhile();
    (&stream).read_exact(&mut back[bytes / 2..]).expect("the second half comes back");
    writer.join().expect("no panic").expect("all is sent");
    assert!(back == data, "what came back is what was sent");
}

fn assert_datagrams_pass() {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("is free");
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("is positive");
    wait_until("a datagram comes back", || {
        socket.send_to(b"ping", SocketAddr::from((THERE, UDP))).ok()?;
        let mut buffer = [0; 10];
        socket.recv(&mut buffer).ok().filter(|&length| buffer[..length] == *b"ping")
    });
}

fn transfers() {
    let world = World::new();
    write_configs();
    let mut echo = world.start("echo", "there");
    echo.await_line("ready");
    let _here = world.start("tunnel", "here");
    let there = world.start("tunnel", "there");
    assert_datagrams_pass();
    exchange(4_000_000, || ());
    let socket = folder().join("here.sock");
    let both_used = |status: &serde_json::Value| {
        let paths = status["paths"].as_array()?;
        let used = |link: u8| {
            paths.iter().any(|path| {
                path["local"] == format!("10.7.{link}.1")
                    && path["state"] == "active"
                    && path["data_packets"].as_u64() > Some(20)
            })
        };
        (used(0) && used(1)).then_some(())
    };
    let status = wait_until("both paths carry data", || {
        exchange(400_000, || ());
        let status = ask(&socket).ok()?;
        both_used(&status).map(|()| status)
    });
    assert!(status["encryption"]["handshakes"].as_u64() >= Some(1), "{status:#}");
    assert!(render(&status).contains("10.7.1.1 > 10.9.9.9"), "{}", render(&status));
    // Takes the other end with it.
    exchange(4_000_000, || sh("ip link delete here0"));
    world.connect(0);
    wait_until("the link is used again", || {
        exchange(100_000, || ());
        both_used(&ask(&socket).ok()?)
    });
    // A TCP connection outlives an end of the tunnel that starts anew.
    let mut again = None;
    exchange(400_000, || {
        drop(there);
        again = Some(world.start("tunnel", "there"));
        assert_datagrams_pass();
    });
    assert_datagrams_pass();
}
