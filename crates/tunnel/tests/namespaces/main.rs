//! Tests of both ends of a tunnel in network namespaces, over two links: TCP through the tunnel while a link
//! disappears and returns, while an end restarts, and while NATs on the way change their mappings.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

mod endings;
mod idle;
mod metered;
#[path = "../../../io/tests/common/namespace.rs"]
mod namespace;
mod redundant;
mod several;
mod world;

use anabranch_tunnel::{Stop, TunnelConfig, ask, render, run};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use world::{END, ROLE, Running, World, folder, in_namespaces, sh, write_configs};

/// Time limit for every event that must happen.
const SOON: Duration = Duration::from_secs(20);
/// The address of the other end in the tunnel.
const THERE: [u8; 4] = [10, 99, 0, 2];
const TCP: u16 = 7001;
const UDP: u16 = 7002;

/// Plays the role of this process: the test itself, or one of the programs that the test starts.
fn play(name: &'static str, programs: &[&str], client: fn(&'static str)) {
    match std::env::var(ROLE).as_deref() {
        Ok("tunnel") => end(),
        Ok("echo") => echo(),
        Ok(_) => client(name),
        Err(_) => in_namespaces(name, programs),
    }
}

#[test]
fn tcp_survives_a_link_that_goes_and_an_end_that_starts_anew() {
    play(
        "tcp_survives_a_link_that_goes_and_an_end_that_starts_anew",
        &["ip", "tc", "nsenter"],
        over_links_that_go,
    );
}

#[test]
fn tcp_survives_nats_that_change_their_mappings() {
    play(
        "tcp_survives_nats_that_change_their_mappings",
        &["ip", "tc", "nsenter", "nft"],
        behind_nats_that_rebind,
    );
}

#[test]
fn tcp_survives_an_uplink_that_is_renumbered_behind_the_same_nat() {
    play(
        "tcp_survives_an_uplink_that_is_renumbered_behind_the_same_nat",
        &["ip", "tc", "nsenter", "nft"],
        behind_a_nat_that_stays,
    );
}

#[test]
fn small_datagrams_arrive_and_none_twice_while_a_link_carries_nothing() {
    play(
        "small_datagrams_arrive_and_none_twice_while_a_link_carries_nothing",
        &["ip", "tc", "nsenter"],
        over_a_silent_link,
    );
}

#[test]
fn trains_of_datagrams_of_any_length_arrive_unchanged() {
    play(
        "trains_of_datagrams_of_any_length_arrive_unchanged",
        &["ip", "tc", "nsenter"],
        with_trains_of_datagrams,
    );
}

/// Runs the end of the tunnel that an environment variable names. A line on standard input stops the tunnel;
/// another one makes it read its list of peers again.
fn end() {
    let end = std::env::var(END).expect("is set");
    let read = |end: &str| TunnelConfig::read(&folder().join(end)).expect("is right");
    let config = read(&end);
    let stop = Stop::default();
    let (asked, name) = (stop.clone(), end.clone());
    thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok).take_while(|line| line != "stop") {
            assert_eq!(line, "reload");
            asked.replace_peers(read(&name).peers);
        }
        asked.stop();
    });
    let file = File::options().create(true).append(true).open(log_file(&end)).expect("opens");
    let log = Arc::new(move |line: &str| {
        eprintln!("{end}: {line}");
        writeln!(&file, "{line}").expect("can be written");
    });
    let says = log.clone();
    if let Err(error) = run(&config, &stop, move |line| says(line)) {
        log(&error.to_string());
        std::process::exit(1);
    }
}

/// The file with the lines that an end has logged.
fn log_file(end: &str) -> PathBuf {
    folder().join(format!("{end}.log"))
}

/// Sends received data back, until the process is killed.
fn echo() {
    // A host without IPv6 listens on IPv4 only.
    let listener = TcpListener::bind(("::", TCP)).or_else(|_| TcpListener::bind(("0.0.0.0", TCP)));
    let listener = listener.expect("is free");
    let socket = UdpSocket::bind(("0.0.0.0", UDP)).expect("is free");
    println!("\nready");
    thread::spawn(move || {
        let mut buffer = [0; 10_000];
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

/// Sends bytes to the echo server and reads them back. Calls `meanwhile` after half of them.
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

/// Starts both ends and an echo server, and waits until datagrams pass.
fn start_both(world: &World) -> [Running; 3] {
    let mut echo = world.start("echo", "there");
    echo.await_line("ready");
    let [here, there] = ["here", "there"].map(|end| world.start("tunnel", end));
    assert_datagrams_pass();
    [here, there, echo]
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

/// Waits until both uplinks are active and carry data.
fn await_both_uplinks(what: &str) -> serde_json::Value {
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
    wait_until(what, || {
        exchange(400_000, || ());
        let status = ask(&socket).ok()?;
        both_used(&status).map(|()| status)
    })
}

fn over_links_that_go(name: &'static str) {
    let world = World::new(name);
    write_configs();
    let [_here, there, _echo] = start_both(&world);
    exchange(4_000_000, || ());
    let status = await_both_uplinks("both paths carry data");
    assert!(status["encryption"]["handshakes"].as_u64() >= Some(1), "{status:#}");
    assert!(render(&status).contains("10.7.1.1 > 10.9.9.9"), "{}", render(&status));
    // Deleting the link also deletes its other end.
    exchange(4_000_000, || sh("ip link delete here0"));
    world.connect(0);
    await_both_uplinks("the link is used again");
    // A TCP connection survives the restart of an end of the tunnel.
    let mut again = None;
    exchange(400_000, || {
        drop(there);
        again = Some(world.start("tunnel", "there"));
        assert_datagrams_pass();
    });
    assert_datagrams_pass();
}

fn behind_nats_that_rebind(name: &'static str) {
    let Some(world) = World::with_nats(name) else {
        return namespace::skip(name, "NAT in this kernel (nftables)");
    };
    write_configs();
    let [_here, _there, _echo] = start_both(&world);
    await_both_uplinks("both uplinks are used");
    // The address stays and the port changes, as after a NAT lost its mappings.
    exchange(2_000_000, || world.rebind(0, 1, 1));
    exchange(2_000_000, || world.rebind(1, 1, 1));
    await_both_uplinks("both uplinks are used with new ports");
    // The address changes, as after a provider renumbered the line.
    exchange(2_000_000, || world.rebind(0, 1, 2));
    exchange(2_000_000, || world.rebind(1, 1, 2));
    await_both_uplinks("both uplinks are used with new addresses");
    // Both links change at the same time.
    exchange(2_000_000, || {
        world.rebind(0, 2, 3);
        world.rebind(1, 2, 3);
    });
    await_both_uplinks("both uplinks are used after all mappings changed");
}

fn behind_a_nat_that_stays(name: &'static str) {
    let Some(world) = World::with_nats(name) else {
        return namespace::skip(name, "NAT in this kernel (nftables)");
    };
    write_configs();
    let [_here, _there, _echo] = start_both(&world);
    await_both_uplinks("both uplinks are used");
    let active = |end: &str, side: &str, address: &str| {
        let status = ask(&folder().join(format!("{end}.sock"))).ok()?;
        let paths = status["paths"].as_array()?;
        let found = paths.iter().any(|path| path[side] == address && path["state"] == "active");
        found.then_some(())
    };
    for (before, now) in [(1, 77), (77, 78), (78, 77)] {
        exchange(400_000, || world.renumber(0, before, now));
        wait_until("the client uses its new address", || active("here", "local", &format!("10.7.0.{now}")));
        wait_until("the server uses the public address", || active("there", "remote", "10.8.0.1"));
        // If the client had requested to delete the old address, the requests would have arrived in this
        // time.
        thread::sleep(Duration::from_secs(2));
        wait_until("the server still uses it", || active("there", "remote", "10.8.0.1"));
    }
    world.silence(1);
    exchange(400_000, || ());
}

/// Sends numbered datagrams. Returns how many were echoed, and how many of these arrived twice.
fn exchange_datagrams(count: u16) -> (usize, usize) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("is free");
    let mut times = vec![0; usize::from(count)];
    for number in 0..count {
        socket.send_to(&number.to_be_bytes(), SocketAddr::from((THERE, UDP))).expect("there is a route");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("is positive");
        let mut buffer = [0; 2];
        while socket.recv(&mut buffer).is_ok() {
            times[usize::from(u16::from_be_bytes(buffer))] += 1;
        }
    }
    (times.iter().filter(|&&n| n > 0).count(), times.iter().filter(|&&n| n > 1).count())
}

fn over_a_silent_link(name: &'static str) {
    let world = World::new(name);
    write_configs();
    let [_here, _there, _echo] = start_both(&world);
    await_both_uplinks("both uplinks are used");
    let counted = |end: &str, what: &str| {
        ask(&folder().join(format!("{end}.sock"))).ok()?["packets"][what].as_u64().filter(|&n| n > 0)
    };
    wait_until("packets are sent twice and taken once", || {
        assert_eq!(exchange_datagrams(20).1, 0, "none comes twice");
        counted("here", "copied")?;
        counted("here", "duplicates")?;
        counted("there", "duplicates")
    });
    world.silence(0);
    // If the machine stops for half a second, the tunnel abandons some packets.
    let (came, twice) = exchange_datagrams(200);
    assert!(came >= 150, "{came} of 200 came back");
    assert_eq!(twice, 0);
}

/// The TUN device passes successive datagrams of one length as one packet.
fn with_trains_of_datagrams(name: &'static str) {
    let world = World::new(name);
    write_configs();
    let [_here, _there, _echo] = start_both(&world);
    let socket = UdpSocket::bind("0.0.0.0:0").expect("is free");
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("is positive");
    // The longest datagram that fits into a packet of the MTU has 1372 bytes; one of 2500 bytes needs two
    // packets.
    for length in [1, 201, 1000, 1371, 1372, 2500] {
        let datagram =
            |n: usize| -> Vec<u8> { (0..length).map(|at| ((at * 31) >> 3) as u8 ^ n as u8).collect() };
        let sent: BTreeSet<_> = (0..30).map(datagram).collect();
        wait_until("all of a train come back", || {
            for datagram in &sent {
                socket.send_to(datagram, SocketAddr::from((THERE, UDP))).expect("there is a route");
            }
            let mut buffer = [0; 10_000];
            let back: BTreeSet<_> =
                std::iter::from_fn(|| socket.recv(&mut buffer).ok().map(|n| buffer[..n].to_vec()))
                    .take(sent.len())
                    .collect();
            let earlier = |datagram: &&Vec<u8>| datagram.len() == length && !sent.contains(*datagram);
            assert_eq!(back.iter().find(earlier), None, "changed on the way");
            (back == sent).then_some(())
        });
    }
    exchange(2_000_000, || ());
}
