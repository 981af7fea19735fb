//! Two hosts with a router between them, as network namespaces. They end with the processes in them.

use crate::process::{Running, run};
use std::io::Write;
use std::net::IpAddr;
use std::process::Command;

/// The namespace of this process (here), a router, and another host (there). Each host has two addresses of
/// each family, on one link.
pub struct Network {
    router: Running,
    there: Running,
}

/// Address number `n` of a host; `host` is 1 for the host of this process and 2 for the other host.
pub fn v4(host: u8, n: u8) -> IpAddr {
    [10, 9, host, n].into()
}

pub fn v6(host: u8, n: u8) -> IpAddr {
    format!("fd09:{host}::{n}").parse().expect("an address")
}

/// A process whose only purpose is to keep a namespace.
fn namespace() -> Running {
    let mut keeper = Running::start(Command::new("unshare").args(["--net", "cat"]));
    // A process that answers is already in its namespace.
    keeper.stdin().write_all(b"ready\n").expect("it reads");
    assert_eq!(keeper.stdout_line(), "ready\n");
    keeper
}

fn inside(keeper: &Running, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/proc/{}/ns/net", keeper.id())).arg(program);
    command
}

fn sh(mut shell: Command, script: &str) {
    run(shell.args(["-e", "-c", script]));
}

impl Network {
    pub fn new() -> Network {
        let network = Network { router: namespace(), there: namespace() };
        let (router, there) = (network.router.id(), network.there.id());
        sh(
            Command::new("sh"),
            &format!("ip link set lo up; ip link add e type veth peer name e1 netns {router}"),
        );
        sh(
            inside(&network.router, "sh"),
            &format!(
                "ip link add e2 type veth peer name e netns {there}
                 echo 1 > /proc/sys/net/ipv4/ip_forward
                 echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
                 for host in 1 2; do
                     ip address add 10.9.$host.254/24 dev e$host
                     ip address add fd09:$host::fe/64 dev e$host nodad
                     ip link set e$host up
                 done"
            ),
        );
        for (shell, host) in [(Command::new("sh"), 1), (inside(&network.there, "sh"), 2)] {
            sh(
                shell,
                &format!(
                    "ip link set lo up
                     for n in 1 2; do
                         ip address add 10.9.{host}.$n/24 dev e
                         ip address add fd09:{host}::$n/64 dev e nodad
                     done
                     ip link set e up
                     ip route add default via 10.9.{host}.254
                     ip route add default via fd09:{host}::fe"
                ),
            );
        }
        network
    }

    /// A command that runs in the namespace of the other host.
    pub fn there(&self, program: &str) -> Command {
        inside(&self.there, program)
    }

    /// Runs a shell script on the router.
    pub fn on_router(&self, script: &str) {
        sh(inside(&self.router, "sh"), script);
    }

    /// Removes the limits of ICMP messages per second, so that each packet of a test can cause a message.
    pub fn unlimit_icmp(&self) {
        let script = "echo 0 > /proc/sys/net/ipv4/icmp_ratelimit; echo 0 > /proc/sys/net/ipv6/icmp/ratelimit";
        self.on_router(script);
        sh(self.there("sh"), script);
    }
}
