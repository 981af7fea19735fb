//! SCTP directly in IP between two hosts and a router, which are network namespaces: with our own stack, with
//! a host that has no SCTP, and with tsctp of usrsctp. tshark checks all packets.
//!
//! If a program or the permission is missing, a test says so and passes; if `ANABRANCH_REQUIRE_TOOLS` is set,
//! it fails.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

#[path = "../common/namespace.rs"]
mod namespace;
mod network;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../usrsctp/process.rs"]
mod process;

use anabranch_io::blocking::{Connection, Endpoint, Listener};
use anabranch_io::sctp::EcnMode;
use anabranch_io::{BindError, Carrier, Config, Peer};
use network::{Network, v4, v6};
use process::{Running, run};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::dissect::{BAD_CHECKSUM, MALFORMED, count};
use units::Span;

/// Environment variable with the role of this process.
const ROLE: &str = "ANABRANCH_RAW_IP";
/// Line that a server prints once it listens.
const LISTENS: &str = "the server listens";
const PORT: u16 = 5001;
const MESSAGE: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the test of this name in one network namespace, and its server in another.
fn in_a_namespace(test: &str, body: fn(&Network)) {
    match std::env::var(ROLE).as_deref() {
        Ok("here") => {
            let network = Network::new();
            network.unlimit_icmp();
            return body(&network);
        }
        Ok(carrier) => return serve(carrier),
        Err(_) => {}
    }
    let Some(mut again) = namespace::in_new_namespace() else {
        return namespace::skip(test, "the permission to make network namespaces, or unshare");
    };
    let tools = [("ip", "-V"), ("nft", "-v"), ("nsenter", "-V"), ("dumpcap", "-v"), ("tshark", "-v")];
    for (program, version) in tools {
        if Command::new(program).arg(version).output().is_err() {
            return namespace::skip(test, &format!("the program {program}"));
        }
    }
    let status =
        again.args(["--kill-child", "--fork", "--"]).args(this_test(test)).env(ROLE, "here").status();
    assert!(status.expect("unshare runs").success(), "the test failed in its namespace");
}

/// The command line that runs a test alone.
fn this_test(name: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", name, "--nocapture"].map(str::to_owned).into()
}

fn bind(carrier: Carrier, locals: &[IpAddr]) -> Endpoint {
    let config = Config {
        pmtud: true,
        rto_initial: Span::from_millis(200),
        rto_min: Span::from_millis(100),
        ecn: EcnMode::On,
        ..Config::recommended()
    };
    let builder = Endpoint::builder().locals(locals.iter().copied()).port(PORT).config(config);
    builder.carrier(carrier).bind().expect("binds")
}

/// Receives the data of each association, and prints how many bytes arrived and on which carrier.
fn serve(carrier: &str) {
    let (carrier, locals) = match carrier {
        "both" => (Carrier::Both, vec![v4(2, 1), v6(2, 1)]),
        // Raw sockets of the wildcard addresses.
        "any" => (Carrier::Ip, vec![]),
        _ => (Carrier::Ip, vec![v4(2, 1), v6(2, 1)]),
    };
    let endpoint = bind(carrier, &locals);
    let listener = endpoint.listen(4);
    println!("\n{LISTENS}");
    while let Ok(connection) = listener.accept() {
        let udp_port = connection.paths().expect("is open")[0].udp_port;
        println!("{} bytes from UDP port {udp_port}", receive(&connection));
    }
}

/// Receives all messages, which are numbered. Returns their bytes.
fn receive(connection: &Connection) -> u64 {
    let (mut bytes, mut n) = (0, 0_u32);
    while let Some(message) = connection.recv().expect("ends gracefully") {
        assert_eq!(message.data[..4], n.to_be_bytes(), "message {n}");
        (bytes, n) = (bytes + message.data.len() as u64, n + 1);
    }
    bytes
}

/// Starts the server of a test in the other host.
fn server(network: &Network, test: &str, carrier: &str) -> Running {
    let mut command = network.there("env");
    let mut server = Running::start(command.arg(format!("{ROLE}={carrier}")).args(this_test(test)));
    let mut line = String::new();
    while line != format!("{LISTENS}\n") {
        line = server.stdout_line();
        assert!(line.ends_with('\n'), "the server ended");
    }
    server
}

fn send(connection: &Connection, messages: u32) {
    for n in 0..messages {
        let mut message = vec![0; MESSAGE];
        message[..4].copy_from_slice(&n.to_be_bytes());
        connection.send(message).expect("is taken");
    }
}

/// Sends all messages and ends the association. Returns the line of the server.
fn transfer(server: &mut Running, connection: &Connection, messages: u32) -> String {
    send(connection, messages);
    connection.shutdown().expect("ends gracefully");
    server.stdout_line()
}

fn report(messages: u32, udp_port: u16) -> String {
    format!("{} bytes from UDP port {udp_port}\n", messages as usize * MESSAGE)
}

/// A capture at the link of this host.
struct Capture {
    dumpcap: Running,
    file: PathBuf,
}

impl Capture {
    fn start(name: &str) -> Capture {
        let file =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.pcapng", std::process::id()));
        let mut command = Command::new("dumpcap");
        let mut dumpcap = Running::start(command.args(["-i", "e", "-q", "-B", "64", "-w"]).arg(&file));
        dumpcap.await_stderr("File:");
        Capture { dumpcap, file }
    }

    /// Ends the capture. No packet may be damaged or malformed, and each filter must find packets.
    fn check(self, filters: &[&str]) -> Vec<u64> {
        // The kernel passes packets to dumpcap within 250 ms.
        std::thread::sleep(Duration::from_millis(350));
        self.dumpcap.interrupt();
        self.dumpcap.finish();
        // The packet that an ICMP message quotes may be cut.
        let whole = |filter: &str| format!("({filter}) && !icmp && !icmpv6");
        let mut all = vec!["sctp".to_owned(), whole(BAD_CHECKSUM), whole(MALFORMED)];
        all.extend(filters.iter().map(|&filter| filter.to_owned()));
        let row: Vec<u64> = count(&self.file, 0.0, &all)[0].iter().map(|&[packets, _]| packets).collect();
        assert!(row[0] > 0 && row[1..3] == [0, 0], "{row:?} of {all:?} in {}", self.file.display());
        assert!(!row[3..].contains(&0), "{row:?} of {all:?} in {}", self.file.display());
        std::fs::remove_file(&self.file).expect("it was there");
        row
    }
}

#[test]
fn data_arrives_in_ip_of_both_versions_despite_loss_and_smaller_packets_on_the_way() {
    let test = "data_arrives_in_ip_of_both_versions_despite_loss_and_smaller_packets_on_the_way";
    in_a_namespace(test, |network| {
        let test = "data_arrives_in_ip_of_both_versions_despite_loss_and_smaller_packets_on_the_way";
        let capture = Capture::start("raw-ip");
        let mut server = server(network, test, "ip");
        let endpoint = bind(Carrier::Ip, &[v4(1, 1), v6(1, 1)]);
        assert_eq!(endpoint.udp_port(), 0);
        // The association has a path in IPv4 and one in IPv6.
        let connection = endpoint.connect((vec![v4(2, 1), v6(2, 1)], PORT)).expect("connects");
        let paths = connection.paths().expect("is open");
        assert_eq!(paths.iter().map(|path| path.udp_port).collect::<Vec<_>>(), [0, 0]);
        network.on_router(
            "nft add table inet t
             nft 'add chain inet t forward { type filter hook forward priority 0; }'
             nft add rule inet t forward numgen random mod 100 0 drop",
        );
        assert_eq!(transfer(&mut server, &connection, 500), report(500, 0));

        // The link has an MTU of 1400 bytes. The router reports
        // longer packets of IPv4, and only drops those of IPv6.
        network.on_router(
            "nft flush chain inet t forward
             nft 'add chain inet t output { type filter hook output priority 0; }'
             nft add rule inet t output icmpv6 type packet-too-big drop
             ip link set e2 mtu 1400",
        );
        for remote in [v4(2, 1), v6(2, 1)] {
            let connection = endpoint.connect((remote, PORT)).expect("connects");
            send(&connection, 100);
            connection.flush().expect("is acknowledged");
            let mtu = |connection: &Connection| connection.paths().expect("is open")[0].mtu.get();
            let end = Instant::now() + LIMIT;
            while !(1300..=1400).contains(&mtu(&connection)) {
                assert!(Instant::now() < end, "{remote}: {}", mtu(&connection));
                std::thread::sleep(Duration::from_millis(20));
            }
            connection.shutdown().expect("ends gracefully");
            assert_eq!(server.stdout_line(), report(100, 0));
        }
        let chunks = [0, 1, 2, 10, 16].map(|kind| format!("sctp.chunk_type == {kind}"));
        let filters: Vec<&str> = chunks.iter().map(String::as_str).chain(["ip && !icmp", "ipv6"]).collect();
        let row = capture.check(&filters);
        let sockets = endpoint.stats().sockets;
        assert!(
            sockets.iter().all(|socket| socket.packets_sent > 0 && socket.packets_received > 0),
            "{row:?}"
        );
    });
}

#[test]
fn marks_of_a_router_reduce_the_rate_in_ip_of_both_versions() {
    let test = "marks_of_a_router_reduce_the_rate_in_ip_of_both_versions";
    in_a_namespace(test, |network| {
        let test = "marks_of_a_router_reduce_the_rate_in_ip_of_both_versions";
        let capture = Capture::start("raw-ecn");
        let mut server = server(network, test, "ip");
        let endpoint = bind(Carrier::Ip, &[v4(1, 1), v6(1, 1)]);
        network.on_router(
            "nft add table inet t
             nft 'add chain inet t forward { type filter hook forward priority 0; }'
             nft add rule inet t forward ip ecn ect0 numgen random mod 50 0 ip ecn set ce
             nft add rule inet t forward ip6 ecn ect0 numgen random mod 50 0 ip6 ecn set ce",
        );
        for remote in [v4(2, 1), v6(2, 1)] {
            let connection = endpoint.connect((remote, PORT)).expect("connects");
            send(&connection, 100);
            connection.flush().expect("is acknowledged");
            let path = &connection.paths().expect("is open")[0];
            assert!(path.stats.ecn_reductions > 0, "{remote}: {path:?}");
            connection.shutdown().expect("ends gracefully");
            assert_eq!(server.stdout_line(), report(100, 0));
        }
        // Chunk type 12 is ECNE, 13 is CWR.
        let of = |version: &str, kind: u8| format!("{version} && sctp.chunk_type == {kind}");
        let filters = [of("ip", 12), of("ip", 13), of("ipv6", 12), of("ipv6", 13)];
        capture.check(&filters.each_ref().map(String::as_str));
    });
}

#[test]
fn peers_in_ip_and_in_udp_reach_one_endpoint_and_wildcard_sockets_know_their_addresses() {
    let test = "peers_in_ip_and_in_udp_reach_one_endpoint_and_wildcard_sockets_know_their_addresses";
    in_a_namespace(test, |network| {
        let test = "peers_in_ip_and_in_udp_reach_one_endpoint_and_wildcard_sockets_know_their_addresses";
        let mut both = server(network, test, "both");
        let endpoint = bind(Carrier::Both, &[v4(1, 1), v6(1, 1)]);
        assert_eq!(endpoint.stats().sockets.len(), 2, "one entry for each address");
        for (remote, udp_port) in [(v4(2, 1), 0), (v4(2, 1), 9899), (v6(2, 1), 0), (v6(2, 1), 9899)] {
            let peer = Peer::from((remote, PORT)).udp_port(udp_port);
            let connection = endpoint.connect(peer).expect("connects");
            assert_eq!(connection.paths().expect("is open")[0].udp_port, udp_port);
            assert_eq!(transfer(&mut both, &connection, 20), report(20, udp_port));
        }
        // An added address gets a raw socket, too, and carries the data after the old address was removed.
        let connection = endpoint.connect(Peer::from((v4(2, 1), PORT)).udp_port(0)).expect("connects");
        endpoint.add_local_address(v4(1, 2)).expect("is an address of this host");
        assert_eq!(endpoint.stats().sockets.len(), 3);
        let local = || connection.paths().expect("is open")[0].local;
        let end = Instant::now() + LIMIT;
        while local() != v4(1, 2) {
            assert!(Instant::now() < end, "{}", local());
            // The connection keeps its last address until the peer has accepted the new one.
            let _ = connection.remove_local_address(v4(1, 1));
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(transfer(&mut both, &connection, 20), report(20, 0));
        drop(both);
        drop(endpoint);
        let mut any = server(network, test, "any");
        let endpoint = bind(Carrier::Ip, &[]);
        for remote in [v4(2, 2), v6(2, 2)] {
            let connection = endpoint.connect((remote, PORT)).expect("connects");
            assert_eq!(transfer(&mut any, &connection, 20), report(20, 0));
        }
    });
}

#[test]
fn a_host_without_sctp_refuses_at_once_and_packets_for_another_port_are_not_read() {
    let test = "a_host_without_sctp_refuses_at_once_and_packets_for_another_port_are_not_read";
    in_a_namespace(test, |network| {
        let test = "a_host_without_sctp_refuses_at_once_and_packets_for_another_port_are_not_read";
        let endpoint = bind(Carrier::Ip, &[v4(1, 1), v6(1, 1)]);
        let in_udp = bind(Carrier::Udp, &[v4(1, 1), v6(1, 1)]);
        for (endpoint, remote) in [&in_udp, &endpoint].iter().flat_map(|e| [(e, v4(2, 1)), (e, v6(2, 1))]) {
            let begin = Instant::now();
            let error = endpoint.connect((remote, PORT)).expect_err("nobody has SCTP there").to_string();
            assert!(error.contains("nobody has the port"), "{remote}: {error}");
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        }
        // Once the other host has a raw socket for SCTP, its kernel sends no ICMP message.
        let _server = server(network, test, "ip");
        for remote in [v4(2, 1), v6(2, 1)] {
            let waited = endpoint.connect_timeout((remote, PORT + 1), Duration::from_millis(500));
            assert!(waited.is_err(), "nobody has this port");
        }
        let other =
            Endpoint::builder().local(v4(1, 1)).port(PORT + 2).carrier(Carrier::Ip).bind().expect("binds");
        let connection = endpoint.connect((v4(2, 1), PORT)).expect("connects");
        send(&connection, 20);
        connection.shutdown().expect("ends gracefully");
        let seen = other.stats().sockets[0].packets_received;
        assert_eq!(seen, 0, "the filter in the kernel selects the port");
    });
}

#[test]
fn one_port_at_one_address_has_one_raw_socket() {
    in_a_namespace("one_port_at_one_address_has_one_raw_socket", |_| {
        let builder = |port| Endpoint::builder().port(port).carrier(Carrier::Ip).udp_port(0);
        let bind = |address, port| builder(port).local(address).bind();
        let first = bind(v4(1, 1), PORT).expect("binds");
        for (address, port) in [(v4(1, 1), PORT + 1), (v6(1, 1), PORT), (v4(1, 2), PORT)] {
            bind(address, port).expect("binds");
        }
        let in_use = |bound: Result<Endpoint, BindError>, address: IpAddr| {
            let told = format!("cannot send SCTP in IP at {address}: Address already in use (os error 98)");
            assert_eq!(bound.expect_err("in use").to_string(), told);
        };
        let all: [IpAddr; 2] = [[0; 4].into(), [0_u16; 8].into()];
        let wildcard = |port| builder(port).bind();
        let on_device = |address, port| builder(port).local_on_device(address, "e").bind();
        in_use(bind(v4(1, 1), PORT), v4(1, 1));
        in_use(on_device(v4(1, 1), PORT), v4(1, 1));
        in_use(wildcard(PORT), all[0]);
        drop(first);
        // The driver's thread closes the socket a moment later.
        in_time(|| bind(v4(1, 1), PORT));
        let _all = wildcard(PORT + 2).expect("binds");
        for address in [v4(1, 2), v6(1, 1), [127, 0, 0, 2].into()] {
            in_use(bind(address, PORT + 2), address);
        }
        for (address, all, port) in [(v4(1, 1), all[0], PORT + 3), (v6(1, 1), all[1], PORT + 4)] {
            let _bound = on_device(address, port).expect("binds");
            in_use(bind(address, port), address);
            in_use(wildcard(port), all);
        }
    });
}

/// The program tsctp, at the place where Debian's package libusrsctp-examples installs it.
const TSCTP: &str = "/usr/lib/usrsctp/tsctp";

/// Starts tsctp in the other host, without UDP. Its output is discarded, because tsctp would block on a full
/// pipe.
fn tsctp(network: &Network, arguments: &str) -> Running {
    let line = format!("exec {TSCTP} -E 0 -L 10.9.2.1 -p {PORT} {arguments} >/dev/null 2>&1");
    Running::start(network.there("sh").args(["-c", &line]))
}

#[test]
fn tsctp_of_usrsctp_and_ours_transfer_data_in_ip_in_both_directions() {
    let test = "tsctp_of_usrsctp_and_ours_transfer_data_in_ip_in_both_directions";
    if !Path::new(TSCTP).exists() {
        return namespace::skip(test, "the program tsctp of libusrsctp-examples");
    }
    in_a_namespace(test, |network| {
        let capture = Capture::start("raw-tsctp");
        // Our stack sends, and tsctp receives until the association ends.
        let theirs = tsctp(network, "-n 0");
        let endpoint = bind(Carrier::Ip, &[v4(1, 1)]);
        let connection = connect_in_time(&endpoint, v4(2, 1));
        send(&connection, 100);
        connection.shutdown().expect("ends gracefully");
        drop(theirs);
        // tsctp sends.
        let listener: Listener = endpoint.listen(1);
        let theirs = tsctp(network, "-n 500 -l 5000 10.9.1.1");
        let connection = listener.accept_timeout(LIMIT).expect("tsctp connects");
        let mut bytes = 0;
        while let Some(message) = connection.recv_timeout(LIMIT).expect("ends gracefully") {
            bytes += message.data.len();
        }
        assert_eq!(bytes, 500 * 5000);
        theirs.finish();
        capture.check(&["sctp.chunk_type == 0", "sctp.chunk_type == 14"]);
    });
}

/// Connects once the peer listens.
fn connect_in_time(endpoint: &Endpoint, remote: IpAddr) -> Connection {
    in_time(|| endpoint.connect((remote, PORT)))
}

/// The result of the first attempt that succeeds.
fn in_time<T, E: std::fmt::Display>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(error) if Instant::now() > end => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[test]
fn a_process_without_the_privilege_is_told_what_it_needs() {
    // A process in a new user namespace has no privilege in its old network namespace.
    if std::env::var_os(ROLE).is_some() {
        let bound = Endpoint::builder().local([127, 0, 0, 1]).carrier(Carrier::Ip).bind();
        let error: BindError = bound.expect_err("not permitted");
        let program = std::env::current_exe().expect("the test has a name");
        let expected = format!(
            "cannot send SCTP in IP at 127.0.0.1: Operation not permitted (os error 1): the program needs \
             CAP_NET_RAW (setcap cap_net_raw+ep {})",
            program.display()
        );
        return assert_eq!(error.to_string(), expected);
    }
    let test = "a_process_without_the_privilege_is_told_what_it_needs";
    let mut unprivileged = Command::new("unshare");
    unprivileged.args(["--user", "--"]);
    if !Command::new("unshare").args(["--user", "true"]).status().is_ok_and(|status| status.success()) {
        return namespace::skip(test, "the permission to make user namespaces, or unshare");
    }
    run(unprivileged.args(this_test(test)).env(ROLE, "unprivileged"));
}
