//! Two network namespaces with two links between them. They end with the processes in them.

use crate::process::{Running, run};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;

/// Time that a full queue takes to drain, in ms; long enough for a transfer that fills its link.
pub const LONG_QUEUE: u32 = 32;
/// Burst of the token bucket in bytes: ten packets.
const BURST: u32 = 15_000;

/// Two links between the namespace of this process (interfaces `here0` and `here1`) and another namespace
/// (interfaces `there0` and `there1`).
pub struct Network {
    /// A process whose only purpose is to keep the other namespace.
    other: Running,
}

impl Network {
    /// Creates links of the given rates in Mbit/s in both directions. A full queue drains in `queue` ms.
    pub fn new(rates: [u32; 2], queue: u32) -> Network {
        let mut other = Running::start(Command::new("unshare").args(["--net", "cat"]));
        // A process that answers is already in its namespace.
        other.stdin().write_all(b"ready\n").expect("it reads");
        assert_eq!(other.stdout_line(), "ready\n");
        let network = Network { other };
        run(Command::new("ip").args("link set lo up".split(' ')));
        for (path, rate) in rates.into_iter().enumerate() {
            let pid = network.other.id();
            let pair = format!("link add here{path} type veth peer name there{path} netns {pid}");
            run(Command::new("ip").args(pair.split(' ')));
            for (side, host) in [("here", 1), ("there", 2)] {
                network.configure(&format!("{side}{path}"), side == "here", address(path, host), rate, queue);
            }
        }
        network
    }

    fn configure(&self, interface: &str, here: bool, address: IpAddr, rate: u32, queue: u32) {
        let limit = rate * 1_000_000 / 8 / 1000 * queue + BURST;
        for line in [
            format!("ip address add {address}/24 dev {interface}"),
            // Batches of packets are split before the capture sees them, as a network card would do.
            format!("ip link set {interface} gso_max_segs 1 up"),
            format!("tc qdisc add dev {interface} root tbf rate {rate}mbit burst {BURST} limit {limit}"),
        ] {
            let (program, arguments) = line.split_once(' ').expect("a program and its arguments");
            let mut command = if here { Command::new(program) } else { self.there(program) };
            run(command.args(arguments.split(' ')));
        }
    }

    /// A command in the other namespace.
    pub fn there(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.other.id())).arg(program);
        command
    }

    /// The interfaces of the other namespace, by path.
    pub fn interfaces_there() -> [&'static str; 2] {
        ["there0", "there1"]
    }

    /// Addresses of this side, by path.
    pub fn addresses_here() -> [IpAddr; 2] {
        [address(0, 1), address(1, 1)]
    }

    /// Addresses of the other side, by path.
    pub fn addresses_there() -> [IpAddr; 2] {
        [address(0, 2), address(1, 2)]
    }

    /// Takes the link of path 0 down at this side, or up again. While it is down, this side cannot send
    /// packets to it, and packets of the other side are lost.
    pub fn set_first_link(state: &str) {
        run(Command::new("ip").args(["link", "set", "here0", state]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for path in 0..2 {
            // Also deletes the other end of the link. The call fails if the network was not created
            // completely.
            let _ = Command::new("ip").args(["link", "delete", &format!("here{path}")]).output();
        }
    }
}

/// Each path has a subnet of its own, because usrsctp leaves the choice of source addresses to the routes.
fn address(path: usize, host: u8) -> IpAddr {
    Ipv4Addr::new(10, 7, path as u8, host).into()
}
