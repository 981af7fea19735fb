//! Both ends of a tunnel in network namespaces, with two links between them, with or without NATs, and
//! programs that run there.

use crate::namespace;
use noise::PrivateKey;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Environment variable with the role of a process that the test starts.
pub const ROLE: &str = "ANABRANCH_TUNNEL_ROLE";
/// Environment variable with the name of the end that the process runs.
pub const END: &str = "ANABRANCH_TUNNEL_END";
/// Rate of a link, as a queueing discipline.
const RATE: &str = "tbf rate 20mbit burst 15000 limit 100000";
const FOLDER: &str = "ANABRANCH_TUNNEL_FOLDER";

/// Runs the test of this name again in a new namespace, with the role `client`. If a program is missing,
/// prints which one.
pub fn in_namespaces(name: &str, programs: &[&str]) {
    let Some(mut again) = namespace::in_new_namespace() else {
        return namespace::skip(name, "the permission to make network namespaces, or unshare");
    };
    for program in programs {
        if Command::new(program).arg("-V").stdout(Stdio::null()).status().is_err() {
            return namespace::skip(name, &format!("the program {program}"));
        }
    }
    if fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_err() {
        return namespace::skip(name, "/dev/net/tun");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    // The path of a Unix socket has at most 107 bytes.
    let folder = if folder.as_os_str().len() < 90 { folder } else { short_folder() };
    fs::create_dir_all(&folder).expect("can be made");
    let status = again.args(["--kill-child", "--fork", "--"]).args(this_test(name));
    let status = status.env(ROLE, "client").env(FOLDER, &folder).status();
    fs::remove_dir_all(&folder).expect("is ours");
    assert!(status.expect("unshare runs").success(), "the test failed in its namespace");
}

/// A short folder name that is unique in this process.
fn short_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("anabranch-tunnel-{}-{count}", std::process::id()))
}

/// The command line that runs a test alone.
fn this_test(name: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", name, "--nocapture"].map(str::to_owned).into()
}

/// The folder with the files of this run.
pub fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("is set").into()
}

/// A process that is killed when this value is dropped.
pub struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts"))
    }

    /// Starts a process in a new network namespace. The namespace ends with the process.
    fn namespace() -> Running {
        let mut holder = Running::start(Command::new("unshare").args(["--net", "cat"]));
        // A process that answers is already in its namespace.
        holder.stdin().write_all(b"ready\n").expect("it reads");
        holder.await_line("ready");
        holder
    }

    /// Waits until the process prints this line.
    pub fn await_line(&mut self, expected: &str) {
        let stdout = self.0.stdout.take().expect("is piped");
        assert!(BufReader::new(stdout).lines().any(|line| line.is_ok_and(|line| line == expected)));
    }

    /// Requests the end of the process, as SIGTERM does for the command, and waits for the end.
    pub fn stop(&mut self) -> ExitStatus {
        self.stdin().write_all(b"stop\n").expect("it reads");
        self.0.wait().expect("is our child")
    }

    /// Requests that the process reads its peers again, as SIGHUP does for the command.
    pub fn reload(&mut self) {
        self.stdin().write_all(b"reload\n").expect("it reads");
    }

    /// Exit status of the process; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("is our child")
    }

    /// Sets the limit of open descriptors of the process, in the form that `prlimit` expects.
    pub fn limit_descriptors(&self, limit: &str) {
        sh(&format!("prlimit --pid {} --nofile={limit}", self.0.id()));
    }

    /// CPU time of the process, in hundredths of a second.
    pub fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("it runs");
        let (_, after) = stat.rsplit_once(')').expect("the name is in brackets");
        after.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    }

    fn stdin(&mut self) -> &mut ChildStdin {
        self.0.stdin.as_mut().expect("is piped")
    }

    /// The beginning of a command line that runs a command in the namespace of the process.
    fn enter(&self) -> String {
        format!("nsenter --net=/proc/{}/ns/net ", self.0.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The call fails if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command line whose words are separated by single blanks. The command must succeed.
pub fn sh(line: &str) {
    assert!(try_sh(line), "{line}");
}

fn try_sh(line: &str) -> bool {
    let (program, arguments) = line.split_once(' ').expect("a program and its arguments");
    Command::new(program).args(arguments.split(' ')).status().expect("it runs").success()
}

/// Two network namespaces. The client is in the namespace of this process. The server is in another one, and
/// has the additional address 10.9.9.9.
pub struct World {
    name: &'static str,
    server: Running,
    /// The NAT of each link; empty without NATs.
    routers: Vec<Running>,
}

impl World {
    /// Creates two direct links.
    pub fn new(name: &'static str) -> World {
        let world = World::without_links(name);
        for link in 0..2 {
            world.connect(link);
        }
        world
    }

    /// Creates two links, each behind a separate NAT; `None` if the kernel has no NAT.
    pub fn with_nats(name: &'static str) -> Option<World> {
        let mut world = World::without_links(name);
        for link in 0..2 {
            world.routers.push(Running::namespace());
            if !world.connect_by_nat(link) {
                return None;
            }
        }
        Some(world)
    }

    /// Gives new devices of both ends no IPv6 addresses, because the kernel would send packets for them.
    pub fn silence_kernels(&self) {
        let line = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null || true";
        let net = format!("--net=/proc/{}/ns/net", self.server.0.id());
        for words in [&["sh", "-c", line][..], &["nsenter", &net, "sh", "-c", line]] {
            assert!(Command::new(words[0]).args(&words[1..]).status().expect("it runs").success());
        }
    }

    fn without_links(name: &'static str) -> World {
        let server = Running::namespace();
        sh("ip link set lo up");
        sh(&format!("{}ip link set lo up", server.enter()));
        sh(&format!("{}ip address add 10.9.9.9/32 dev lo", server.enter()));
        World { name, server, routers: Vec::new() }
    }

    /// Creates a link from the client to the server.
    pub fn connect(&self, link: u8) {
        let there = self.server.enter();
        sh(&format!("ip link add here{link} type veth peer name there{link} netns {}", self.server.0.id()));
        address("", &format!("here{link}"), &format!("10.7.{link}.1/24"));
        address(&there, &format!("there{link}"), &format!("10.7.{link}.2/24"));
        self.finish_link(link);
    }

    /// Creates a link from the client to a NAT, and one from there to the server. Returns false if the kernel
    /// has no NAT.
    fn connect_by_nat(&self, link: u8) -> bool {
        let (router, server) = (&self.routers[usize::from(link)], &self.server);
        let [nat, there] = [router, server].map(Running::enter);
        sh(&format!("ip link add here{link} type veth peer name in{link} netns {}", router.0.id()));
        sh(&format!("{nat}ip link add out{link} type veth peer name there{link} netns {}", server.0.id()));
        address("", &format!("here{link}"), &format!("10.7.{link}.1/24"));
        address(&nat, &format!("in{link}"), &format!("10.7.{link}.2/24"));
        address(&nat, &format!("out{link}"), &format!("10.8.{link}.1/24"));
        address(&there, &format!("there{link}"), &format!("10.8.{link}.254/24"));
        sh(&format!("{nat}ip route add 10.9.9.9/32 via 10.8.{link}.254"));
        let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
        let (nsenter, net) = nat.trim_end().split_once(' ').expect("a program and an argument");
        let forwarding = Command::new(nsenter).args([net, "sh", "-c", forward]).status();
        assert!(forwarding.expect("it runs").success(), "the router can forward packets");
        self.finish_link(link);
        let rules = folder().join(format!("nat{link}.nft"));
        let rule = format!("oifname \"out{link}\" masquerade random");
        let chain = format!("chain out {{\ntype nat hook postrouting priority 100\n{rule}\n}}");
        let text = format!("table ip nat {{\n{chain}\n}}\n");
        fs::write(&rules, text).expect("can be written");
        try_sh(&format!("{nat}nft -f {}", rules.display()))
    }

    /// Limits the rate of a link, so that the tunnel needs both links, and sets the route to the server.
    fn finish_link(&self, link: u8) {
        for (prefix, side) in [(String::new(), "here"), (self.server.enter(), "there")] {
            sh(&format!("{prefix}tc qdisc add dev {side}{link} root {RATE}"));
        }
        let metric = link + 1;
        sh(&format!("ip route add 10.9.9.9/32 via 10.7.{link}.2 dev here{link} metric {metric}"));
    }

    /// Gives the NAT of a link another outside address. The NAT loses its mappings, too.
    pub fn rebind(&self, link: u8, before: u8, now: u8) {
        let nat = self.routers[usize::from(link)].enter();
        sh(&format!("{nat}ip address del 10.8.{link}.{before}/24 dev out{link}"));
        address(&nat, &format!("out{link}"), &format!("10.8.{link}.{now}/24"));
        sh(&format!("{nat}ip route replace 10.9.9.9/32 via 10.8.{link}.254"));
    }

    /// Gives the client another address on a link, half a second after the old one is removed. The public
    /// address stays the same.
    pub fn renumber(&self, link: u8, before: u8, now: u8) {
        sh(&format!("ip address del 10.7.{link}.{before}/24 dev here{link}"));
        std::thread::sleep(std::time::Duration::from_millis(500));
        address("", &format!("here{link}"), &format!("10.7.{link}.{now}/24"));
        let metric = link + 1;
        sh(&format!("ip route replace 10.9.9.9/32 via 10.7.{link}.2 dev here{link} metric {metric}"));
    }

    /// Makes a link drop all packets without a notice to either end: no packet fits the token bucket.
    pub fn silence(&self, link: u8) {
        for (prefix, side) in [(String::new(), "here"), (self.server.enter(), "there")] {
            sh(&format!("{prefix}tc qdisc replace dev {side}{link} root tbf rate 8kbit burst 20 limit 20"));
        }
    }

    /// Ends [`Self::silence`].
    pub fn unsilence(&self, link: u8) {
        for (prefix, side) in [(String::new(), "here"), (self.server.enter(), "there")] {
            sh(&format!("{prefix}tc qdisc replace dev {side}{link} root {RATE}"));
        }
    }

    /// Sets the MTU of both sides of a link.
    pub fn narrow(&self, link: u8, mtu: u16) {
        for (prefix, side) in [(String::new(), "here"), (self.server.enter(), "there")] {
            sh(&format!("{prefix}ip link set {side}{link} mtu {mtu}"));
        }
    }

    /// Starts this program in another role, at the end `here` or `there`.
    pub fn start(&self, role: &str, end: &str) -> Running {
        let line = this_test(self.name);
        let mut command = if end == "there" {
            let mut command = Command::new("nsenter");
            command.arg(format!("--net=/proc/{}/ns/net", self.server.0.id())).args(line);
            command
        } else {
            let mut command = Command::new(&line[0]);
            command.args(&line[1..]);
            command
        };
        Running::start(command.env(ROLE, role).env(END, end))
    }
}

fn address(prefix: &str, device: &str, address: &str) {
    sh(&format!("{prefix}ip address add {address} dev {device}"));
    sh(&format!("{prefix}ip link set {device} up"));
}

/// Writes the keys and the configuration files of both ends.
pub fn write_configs() {
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
