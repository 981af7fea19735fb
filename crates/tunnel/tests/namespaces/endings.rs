//! Tests of how a tunnel ends and starts again.

use crate::world::{World, folder, sh, write_configs};
use crate::{THERE, UDP, assert_datagrams_pass, log_file, play, start_both, wait_until};
use anabranch_tunnel::{ask, render};
use noise::PrivateKey;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const PROGRAMS: &[&str] = &["ip", "tc", "nsenter", "prlimit"];

fn log_of(end: &str) -> String {
    fs::read_to_string(log_file(end)).unwrap_or_default()
}

#[test]
fn a_deleted_device_ends_the_tunnel_with_an_error_and_one_set_down_does_not() {
    play(
        "endings::a_deleted_device_ends_the_tunnel_with_an_error_and_one_set_down_does_not",
        PROGRAMS,
        |name| {
            let world = World::new(name);
            write_configs();
            let [mut here, mut there, _echo] = start_both(&world);
            sh("ip link set here down");
            sh("ip link set here up");
            assert_datagrams_pass();
            sh("ip link delete here");
            let status = wait_until("the end without a device ends", || here.ended());
            assert_eq!(status.code(), Some(1));
            assert!(log_of("here").contains("the TUN device was deleted"), "{}", log_of("here"));
            assert!(there.ended().is_none());
            let _again = world.start("tunnel", "here");
            assert_datagrams_pass();
        },
    );
}

#[test]
fn a_device_made_before_keeps_its_addresses_and_routes_while_no_tunnel_runs() {
    play(
        "endings::a_device_made_before_keeps_its_addresses_and_routes_while_no_tunnel_runs",
        PROGRAMS,
        |name| {
            let world = World::new(name);
            write_configs();
            let mut echo = world.start("echo", "there");
            echo.await_line("ready");
            let _there = world.start("tunnel", "there");
            sh("ip tuntap add dev here mode tun");
            sh("ip address add 10.98.0.1/24 dev here");
            sh("ip link set here up");
            let mut here = world.start("tunnel", "here");
            assert_eq!(wait_until("it ends", || here.ended()).code(), Some(1));
            assert!(log_of("here").contains("it exists with the address 10.98.0.1"), "{}", log_of("here"));
            sh("ip address add 10.99.0.1/24 dev here");
            sh("ip link set here up");
            sh("ip route add 10.55.0.0/16 dev here");
            for _ in 0..2 {
                let mut here = world.start("tunnel", "here");
                assert_datagrams_pass();
                assert!(here.stop().success());
                let shown = |what| {
                    let shown = Command::new("ip").args([what, "show", "dev", "here"]).output();
                    String::from_utf8(shown.expect("ip runs").stdout).expect("is text")
                };
                assert!(shown("route").contains("10.55.0.0/16"), "{}", shown("route"));
                for address in ["10.98.0.1/24", "10.99.0.1/24"] {
                    assert!(shown("address").contains(address), "{}", shown("address"));
                }
            }
        },
    );
}

/// Adds lines to the configuration file of an end.
fn add_to_config(end: &str, lines: &str) {
    let file = folder().join(end);
    let text = fs::read_to_string(&file).expect("is ours");
    fs::write(&file, format!("{lines}\n{text}")).expect("is ours");
}

#[test]
fn a_server_that_stops_says_goodbye_and_one_that_is_killed_is_found_out() {
    play("endings::a_server_that_stops_says_goodbye_and_one_that_is_killed_is_found_out", PROGRAMS, |name| {
        let world = World::new(name);
        write_configs();
        let hooks = folder().join("hooks");
        let hook = format!("'echo $ANABRANCH_EVENT $ANABRANCH_INTERFACE >> {}'", hooks.display());
        add_to_config("here", &format!("up = {hook}\ndown = {hook}"));
        let [mut here, mut there, _echo] = start_both(&world);
        // Waits, because an association that lasted less than 10 s counts as refused.
        thread::sleep(Duration::from_secs(11));
        let begin = Instant::now();
        assert!(there.stop().success());
        wait_until("the client knows", || log_of("here").contains("the other end stopped").then_some(()));
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        thread::sleep(Duration::from_secs(1));
        let there = world.start("tunnel", "there");
        assert_datagrams_pass();
        let gap = begin.elapsed();
        eprintln!("stopped and back after 1 s: {gap:?}");
        assert!(gap < Duration::from_millis(3500), "{gap:?}");
        thread::sleep(Duration::from_secs(11));
        let begin = Instant::now();
        drop(there);
        thread::sleep(Duration::from_secs(1));
        let _there = world.start("tunnel", "there");
        assert_datagrams_pass();
        let gap = begin.elapsed();
        eprintln!("killed and back after 1 s: {gap:?}");
        assert!(gap < Duration::from_millis(6500), "{gap:?}");
        assert!(here.stop().success());
        let ran = fs::read_to_string(hooks).expect("the hooks write");
        assert_eq!(ran, "up here\ndown here\n".repeat(3));
    });
}

#[test]
fn no_datagram_arrives_late_after_an_outage_of_all_uplinks() {
    play("endings::no_datagram_arrives_late_after_an_outage_of_all_uplinks", PROGRAMS, |name| {
        let world = World::new(name);
        write_configs();
        let _running = start_both(&world);
        let socket = UdpSocket::bind("0.0.0.0:0").expect("is free");
        socket.connect(SocketAddr::from((THERE, UDP))).expect("there is a route");
        let begin = Instant::now();
        let sending = socket.try_clone().expect("can be shared");
        // 100 datagrams per second, urgent ones and long ones.
        let sender = thread::spawn(move || {
            for number in 0..900_u64 {
                let length = if number % 2 == 0 { 100 } else { 1000 };
                let mut packet = vec![0; length];
                packet[..8].copy_from_slice(&(begin.elapsed().as_millis() as u64).to_be_bytes());
                let _ = sending.send(&packet);
                thread::sleep(Duration::from_millis(10));
            }
        });
        let silencer = thread::spawn(move || {
            thread::sleep(Duration::from_secs(1));
            (0..2).for_each(|link| world.silence(link));
            thread::sleep(Duration::from_secs(4));
            (0..2).for_each(|link| world.unsilence(link));
            world
        });
        socket.set_read_timeout(Some(Duration::from_millis(500))).expect("is positive");
        let (mut buffer, mut delays) = ([0; 2000], Vec::new());
        while begin.elapsed() < Duration::from_secs(11) {
            if socket.recv(&mut buffer).is_err() {
                continue;
            }
            let sent = u64::from_be_bytes(buffer[..8].try_into().expect("eight bytes"));
            delays.push((begin.elapsed().as_millis() as u64 - sent, sent));
        }
        sender.join().expect("no panic");
        let _world = silencer.join().expect("no panic");
        delays.sort_unstable();
        let (longest, came) = (delays.last().expect("some came"), delays.len());
        eprintln!("{came} came, the latest after {longest:?} ms");
        // A datagram may take its lifetime of 500 ms in each direction, and the machine may be slow.
        assert!(longest.0 < 1300, "{longest:?}");
        assert!(delays.iter().any(|&(_, sent)| sent > 7000), "some of those after the outage came");
    });
}

#[test]
fn an_end_with_another_key_is_named_by_both() {
    play("endings::an_end_with_another_key_is_named_by_both", PROGRAMS, |name| {
        let world = World::new(name);
        write_configs();
        let file = folder().join("here");
        let other = PrivateKey::read_or_create(&folder().join("other.key")).expect("is written");
        let text = fs::read_to_string(&file).expect("is ours").replace("here.key", "other.key");
        fs::write(&file, text).expect("is ours");
        let (_here, _there) = (world.start("tunnel", "here"), world.start("tunnel", "there"));
        let public = other.public().to_string();
        wait_until("both ends tell", || {
            let told = log_of("there").contains("began a handshake with other keys");
            let said = log_of("here").contains(&format!("not this end's public key {public}"));
            (told && said).then_some(())
        });
        let status = ask(&folder().join("there.sock")).expect("it answers");
        // Handshakes are tried on both uplinks in turn.
        let last = status["encryption"]["last_stranger"].as_str().expect("an address");
        assert!(["10.7.0.1", "10.7.1.1"].contains(&last), "{status:#}");
        let text = render(&status);
        assert!(text.contains(&format!("with other keys, the last one from {last}")), "{text}");
        let status = ask(&folder().join("here.sock")).expect("it answers");
        assert!(render(&status).contains(&public), "{}", render(&status));
    });
}

#[test]
fn the_status_tells_which_uplink_is_down_whoever_else_asks_and_says_nothing() {
    play(
        "endings::the_status_tells_which_uplink_is_down_whoever_else_asks_and_says_nothing",
        PROGRAMS,
        |name| {
            let world = World::new(name);
            write_configs();
            sh("ip link set here0 down");
            sh("ip link delete here1");
            let here = world.start("tunnel", "here");
            let socket = folder().join("here.sock");
            let _silent: Vec<UnixStream> =
                wait_until("they connect", || (0..50).map(|_| UnixStream::connect(&socket).ok()).collect());
            wait_until("the reason is told", || {
                let reason = ask(&socket).expect("it answers")["reason"].to_string();
                let named = reason.contains("here0 is down or has no address")
                    && reason.contains("there is no interface here1");
                named.then_some(())
            });
            assert!(log_of("here").contains("here0 is down"), "{}", log_of("here"));
            // Without free descriptors, no client is accepted, and the end uses almost no CPU time.
            here.limit_descriptors("3:");
            let waits = UnixStream::connect(&socket).expect("it listens");
            let before = here.cpu_ticks();
            thread::sleep(Duration::from_secs(2));
            let ticks = here.cpu_ticks() - before;
            assert!(ticks < 50, "{ticks} hundredths of a second in two seconds");
            here.limit_descriptors("1024:");
            drop(waits);
            ask(&socket).expect("it answers again");
        },
    );
}

/// The metrics of the end in this namespace.
fn metrics() -> String {
    let mut text = String::new();
    let mut stream = TcpStream::connect("127.0.0.1:9464").expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
    stream.read_to_string(&mut text).expect("it answers");
    text
}

#[test]
fn metrics_count_what_paths_carry_and_handshakes_that_were_refused() {
    play("endings::metrics_count_what_paths_carry_and_handshakes_that_were_refused", PROGRAMS, |name| {
        let world = World::new(name);
        write_configs();
        add_to_config("here", "metrics = 9464");
        let mut here = world.start("tunnel", "here");
        let waiting =
            wait_until("it listens", || TcpStream::connect("127.0.0.1:9464").ok().map(|_| metrics()));
        assert!(waiting.starts_with("HTTP/1.1 200 OK\r\n"), "{waiting}");
        assert!(waiting.contains("\nanabranch_associations 0\n"), "{waiting}");
        let mut echo = world.start("echo", "there");
        echo.await_line("ready");
        let _there = world.start("tunnel", "there");
        assert_datagrams_pass();
        // The uplinks join one after the other, in any order.
        let text = wait_until("both uplinks carry data", || {
            Some(metrics()).filter(|text| text.contains("local=\"10.7.0.1\",remote=\"10."))
        });
        let value = |series: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("{series}: {text}")).parse().expect("a number")
        };
        assert_eq!(value("anabranch_associations"), 1.0);
        let path = "{association=\"0\",path=\"0\"}";
        for name in ["bytes_sent_total", "bytes_received_total", "cwnd_bytes", "srtt_seconds"] {
            assert!(value(&format!("anabranch_path_{name}{path}")) > 0.0, "{name}: {text}");
        }
        assert!(value("anabranch_tunnel_packets_sent_total") > 0.0);
        assert_eq!(value("anabranch_tunnel_handshakes_refused_total"), 0.0);
        assert!(value("anabranch_tunnel_handshakes_total") >= 1.0);
        // An HTTP client that sends nothing does not delay the end of the tunnel.
        let _silent = TcpStream::connect("127.0.0.1:9464");
        assert!(here.stop().success());
    });
}

#[test]
fn packets_pass_in_pieces_over_small_uplinks_and_with_a_large_mtu() {
    play("endings::packets_pass_in_pieces_over_small_uplinks_and_with_a_large_mtu", PROGRAMS, |name| {
        let world = World::new(name);
        write_configs();
        ["here", "there"].into_iter().for_each(|end| add_to_config(end, "mtu = 9000"));
        let pass = |length: usize| {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("is free");
            socket.set_read_timeout(Some(Duration::from_millis(500))).expect("is positive");
            let packet: Vec<u8> = (0..length).map(|n| n as u8).collect();
            wait_until(&format!("{length} bytes"), || {
                socket.send_to(&packet, SocketAddr::from((THERE, UDP))).ok()?;
                let mut buffer = [0; 10_000];
                let length = socket.recv(&mut buffer).ok()?;
                (buffer[..length] == packet).then_some(())
            });
        };
        let running = start_both(&world);
        [1300, 1972, 8900].into_iter().for_each(pass);
        (0..2).for_each(|link| world.narrow(link, 576));
        [100, 500, 1300, 1972, 8900].into_iter().for_each(pass);
        // Both ends start again from the beginning.
        drop(running);
        let _running = start_both(&world);
        [100, 500, 1300, 1972, 8900].into_iter().for_each(pass);
        wait_until("it is told", || log_of("here").contains("bytes are cut").then_some(()));
        wait_until("it is told that 576 bytes are", || {
            let status = ask(&folder().join("here.sock")).expect("it answers");
            (status["whole_packet_bytes"] == 488)
                .then(|| assert!(render(&status).contains("more than 488 bytes")))
        });
    });
}
