//! Tests of endpoints without configured addresses, in a network namespace whose loopback interface has two
//! additional addresses.
#![cfg(target_os = "linux")]

#[path = "common/namespace.rs"]
mod namespace;

use anabranch_io::blocking::Endpoint;
use std::net::IpAddr;
use std::process::Command;

/// Environment variable that tells the test that it runs in the namespace.
const INSIDE: &str = "ANABRANCH_INSIDE";
const NAME: &str = "an_endpoint_without_addresses_uses_all_of_the_host";
const ADDRESSES: [&str; 2] = ["10.9.1.1", "10.9.2.1"];

#[test]
fn an_endpoint_without_addresses_uses_all_of_the_host() {
    if std::env::var_os(INSIDE).is_some() {
        return transfer();
    }
    let Some(mut again) = namespace::in_new_namespace() else {
        return namespace::skip(NAME, "the permission to make network namespaces, or unshare");
    };
    if Command::new("ip").arg("-V").output().is_err() {
        return namespace::skip(NAME, "the program ip");
    }
    again.arg(std::env::current_exe().expect("the test has a name")).args(["--exact", NAME, "--nocapture"]);
    assert!(
        again.env(INSIDE, "1").status().expect("unshare runs").success(),
        "the test failed in its namespace"
    );
}

fn transfer() {
    for line in ["link set lo up", "address add 10.9.1.1/24 dev lo", "address add 10.9.2.1/24 dev lo"] {
        assert!(Command::new("ip").args(line.split(' ')).status().expect("ip runs").success(), "{line}");
    }
    let addresses = ADDRESSES.map(|address| address.parse::<IpAddr>().expect("an address"));
    let server = Endpoint::builder().udp_port(0).bind().expect("binds");
    assert_eq!(server.local_addresses(), addresses, "neither loopback nor link-local addresses");
    let listener = server.listen(1);
    let client = Endpoint::builder()
        .local_on_device(addresses[0], "lo")
        .udp_port(0)
        .remote_udp_port(server.udp_port())
        .bind()
        .expect("binds");
    let connection = client.connect((addresses[1], server.port())).expect("connects");
    connection.send("hello").expect("is taken");
    let accepted = listener.accept().expect("accepts");
    assert_eq!(accepted.recv().expect("is open").expect("arrives").data, "hello");
    let (peer, _) = connection.peer().expect("is open");
    assert_eq!(peer.len(), 2, "the server listed both addresses");
    accepted.send("from the address that was called").expect("is taken");
    assert!(connection.recv().expect("is open").is_some());
    connection.shutdown().expect("ends gracefully");
}
