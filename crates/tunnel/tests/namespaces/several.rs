//! One end that waits for several others.

use crate::world::{World, folder};
use crate::{SOON, TCP, log_file, play, wait_until};
use anabranch_tunnel::{ask, render};
use noise::PrivateKey;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};

#[test]
fn one_end_serves_several_clients_each_with_its_own_addresses() {
    play(
        "several::one_end_serves_several_clients_each_with_its_own_addresses",
        &["ip", "tc", "nsenter"],
        with_two_clients,
    );
}

/// Writes the configuration of an end.
fn write(end: &str, addresses: &str, more: &str) {
    let folder = folder();
    let shown = folder.display();
    let text = format!(
        "interface = '{end}'\naddresses = [{addresses}]\nkey = '{shown}/{end}.key'\nstatus = '{shown}/{end}.sock'\n{more}\n"
    );
    fs::write(folder.join(end), text).expect("can be written");
}

/// A server with one IPv4 and one IPv6 address, and two clients in one namespace. One client has IPv4 and the
/// other one IPv6 in its tunnel, so that each address of the server is reached by one device.
fn write_three_configs() {
    let key = |end: &str| {
        PrivateKey::read_or_create(&folder().join(format!("{end}.key"))).expect("is written").public()
    };
    let [here, second, there] = ["here", "second", "there"].map(key);
    let client = |uplink: &str| {
        format!("peer = '{there}'\nconnect = ['10.9.9.9']\nuplinks = ['{uplink}']\nnat = true")
    };
    write("here", "'10.99.0.1/24'", &client("here0"));
    write("second", "'fd99::3/64'", &client("here1"));
    let peers = format!(
        "peers = [\n{{ key = '{here}', name = 'first', addresses = ['10.99.0.1/32'] }},\n\
         {{ key = '{second}', name = 'second', addresses = ['fd99::3/128'] }},\n]\nuplinks = ['10.9.9.9']"
    );
    write("there", "'10.99.0.2/24', 'fd99::2/64'", &peers);
}

fn echoes(server: IpAddr) -> Option<()> {
    let mut stream = TcpStream::connect_timeout(&SocketAddr::new(server, TCP), SOON / 10).ok()?;
    stream.set_read_timeout(Some(SOON)).expect("a time");
    let sent: Vec<u8> = (0..20_000_u32).map(|n| n as u8).collect();
    stream.write_all(&sent).ok()?;
    let mut back = vec![0; sent.len()];
    stream.read_exact(&mut back).ok()?;
    assert!(back == sent, "it comes back as it was");
    Some(())
}

fn with_two_clients(name: &'static str) {
    write_three_configs();
    let world = World::new(name);
    let mut server = world.start("tunnel", "there");
    let mut echo = world.start("echo", "there");
    echo.await_line("ready");
    let _first = world.start("tunnel", "here");
    let mut second = world.start("tunnel", "second");
    let servers: [IpAddr; 2] = [[10, 99, 0, 2].into(), "fd99::2".parse().expect("an address")];
    for server in servers {
        wait_until("an echo", || echoes(server));
    }
    let states = || {
        let status = ask(&folder().join("there.sock")).ok()?;
        let peers = status["peers"].as_array()?;
        Some((peers.iter().map(|peer| peer["state"].to_string()).collect::<Vec<_>>(), render(&status)))
    };
    let both = wait_until("two peers", || states().filter(|(states, _)| states == &["\"connected\""; 2]));
    assert!(
        both.1.contains("there, first: connected") && both.1.contains("there, second: connected"),
        "{}",
        both.1
    );
    second.stop();
    wait_until("a goodbye", || states().filter(|(states, _)| states == &["\"connected\"", "\"waiting\""]));
    assert!(echoes(servers[0]).is_some(), "the first client is still served");
    let _second = world.start("tunnel", "second");
    wait_until("an echo", || echoes(servers[1]));

    let file = folder().join("there");
    let all = fs::read_to_string(&file).expect("is written");
    let others = all.lines().filter(|line| !line.contains("'second'"));
    fs::write(&file, others.collect::<Vec<_>>().join("\n")).expect("can be written");
    server.reload();
    wait_until("the first peer alone", || states().filter(|(states, _)| states == &["\"connected\""]));
    assert!(echoes(servers[1]).is_none(), "the second client is revoked");
    wait_until("its refusal", || {
        ask(&folder().join("there.sock")).ok()?["peers"][0]["encryption"]["last_stranger"].as_str().map(drop)
    });
    fs::write(&file, all).expect("can be written");
    server.reload();
    wait_until("an echo", || echoes(servers[1]));
    assert!(echoes(servers[0]).is_some());
    let log = fs::read_to_string(log_file("there")).expect("is written");
    assert_eq!(log.matches("first: connected").count(), 1, "the first client kept its association: {log}");
}
