//! Tests of the host process, with records and requests that the test itself writes.
#![cfg(target_os = "linux")]

use anabranch_sock::{Server, ServerOptions, Stopper};
use records::{Answer, Header, Kind, Op, Request, flags};
use sctp::Config;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

const INVALID: i32 = 22;
const SOL_SOCKET: i32 = 1;

/// A host process at loopback addresses.
struct Running {
    path: PathBuf,
    stopper: Stopper,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Running {
    fn start(name: &str) -> Self {
        Self::start_at(name, &[[127, 0, 0, 1]])
    }

    fn start_at(name: &str, locals: &[[u8; 4]]) -> Self {
        let path = std::env::temp_dir().join(format!("anabranch-sock-{name}-{}", std::process::id()));
        // One host process runs both ends of each association. Another test may take the port first.
        let bound = || {
            let free = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
            let udp_port = free.expect("a free port").port();
            let host = io::HostOptions {
                locals: locals.iter().copied().map(IpAddr::from).collect(),
                udp_port,
                remote_udp_port: udp_port,
                ..Default::default()
            };
            Server::bind(ServerOptions { path: path.clone(), host, config: Config::recommended() }).ok()
        };
        let server = (0..9).find_map(|_| bound()).expect("binds");
        let stopper = server.stopper();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || server.run());
        Running { path, stopper, thread: thread.expect("a thread") }
    }

    fn dial(&self) -> Socket {
        let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None).expect("a socket");
        socket.connect(&SockAddr::unix(&self.path).expect("an address")).expect("connects");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        socket
    }

    /// Opens an SCTP socket of a style: 1 stream, 5 seqpacket.
    fn open(&self, style: u16) -> Socket {
        let mut pair = self.dial();
        let mut hello = Header::new(Kind::Hello);
        hello.set_cookie(pair.cookie().expect("a cookie"));
        (hello.value, hello.policy) = (2, style);
        pair.write_all(&hello.to_bytes()).expect("sent");
        let answer = receive(&mut pair);
        assert_eq!(Header::parse(&answer).map(|header| (header.kind, header.value)), Some((Kind::Hello, 0)));
        pair
    }

    fn ask(&self, pair: &Socket, op: Op, first: i32, second: i32, body: &[u8]) -> (i32, Vec<u8>) {
        let mut control = self.dial();
        let request = Request { op, cookie: pair.cookie().expect("a cookie"), first, second };
        control.write_all(&[&request.to_bytes()[..], body].concat()).expect("sent");
        let answer = receive(&mut control);
        let (answer, body) = Answer::parse(&answer).expect("an answer");
        (answer.value, body.to_vec())
    }

    fn stop(self) {
        self.stopper.stop_now();
        self.thread.join().expect("no panic").expect("no error");
        assert!(!self.path.exists());
    }
}

fn receive(socket: &mut Socket) -> Vec<u8> {
    let mut bytes = vec![0; 300_000];
    let length = socket.read(&mut bytes).expect("an answer in time");
    bytes.truncate(length);
    bytes
}

/// 127.0.0.1 and a port as `sockaddr_in`.
fn local(port: u16) -> Vec<u8> {
    address([127, 0, 0, 1], port)
}

fn address(octets: [u8; 4], port: u16) -> Vec<u8> {
    let mut bytes = vec![2, 0];
    bytes.extend(port.to_be_bytes());
    bytes.extend(octets);
    bytes.resize(16, 0);
    bytes
}

fn data(port: u16, bytes: &[u8]) -> Vec<u8> {
    data_to([127, 0, 0, 1], port, bytes)
}

fn data_to(octets: [u8; 4], port: u16, bytes: &[u8]) -> Vec<u8> {
    let mut header = Header::new(Kind::Data);
    header.flags = flags::END | flags::ADDRESS | flags::DEFAULTS;
    (header.family, header.port, header.length) = (4, port, bytes.len() as u32);
    header.address[..4].copy_from_slice(&octets);
    [&header.to_bytes()[..], bytes].concat()
}

#[test]
fn options_are_read_as_they_were_set_and_short_or_unknown_ones_refused() {
    use records::number::{EVENTS, INITMSG, SCTP};
    let server = Running::start("options");
    let pair = server.open(1);
    let streams = [5, 0, 7, 0, 3, 0, 0x64, 0];
    assert_eq!(server.ask(&pair, Op::SetOption, SCTP, INITMSG, &streams).0, 0);
    let room = 8_u32.to_ne_bytes();
    assert_eq!(server.ask(&pair, Op::GetOption, SCTP, INITMSG, &room), (0, streams.to_vec()));
    assert_eq!(server.ask(&pair, Op::SetOption, SCTP, INITMSG, &streams[..3]).0, -INVALID);
    assert_eq!(server.ask(&pair, Op::SetOption, SCTP, EVENTS, &[1; 15]).0, -INVALID);
    assert_eq!(server.ask(&pair, Op::SetOption, SCTP, 9999, &streams).0, -92);
    for name in 0..140 {
        for length in [0, 1, 3, 8, 16, 200] {
            server.ask(&pair, Op::SetOption, SCTP, name, &vec![0xff; length]);
            server.ask(&pair, Op::GetOption, SCTP, name, &vec![0xff; length]);
        }
    }
    assert_eq!(server.ask(&pair, Op::Attach, 0, 0, &[]).0, 0);
    server.stop();
}

/// The numbers of `<linux/sctp.h>` that Linux reads and sets, except those by which it connects or peels off
/// an association, which the library of the program implements.
#[test]
fn every_option_of_linux_is_answered() {
    use records::number::SCTP;
    let server = Running::start("all-options");
    let pair = server.open(1);
    let unknown = |op, names: &[std::ops::RangeInclusive<i32>], body: &[u8]| -> Vec<i32> {
        let names = names.iter().cloned().flatten();
        names.filter(|&name| server.ask(&pair, op, SCTP, name, body).0 == -92).collect()
    };
    let read =
        [0..=4, 6..=20, 22..=22, 24..=24, 26..=34, 36..=37, 108..=109, 112..=118, 123..=125, 127..=133];
    let room = [&256_u32.to_ne_bytes()[..], &[0; 256]].concat();
    assert_eq!(unknown(Op::GetOption, &read, &room), [0; 0]);
    let set = [0..=13, 16..=25, 30..=37, 100..=101, 113..=114, 117..=121, 123..=125, 127..=133];
    assert_eq!(unknown(Op::SetOption, &set, &[0; 256]), [0; 0]);
    server.stop();
}

/// An association is begun by a message to a new peer. The message arrives, and then the association ends,
/// although the program that sent it is gone.
#[test]
fn a_program_that_ends_leaves_no_association_behind() {
    use records::number::{EVENTS, GET_ASSOC_NUMBER, SCTP};
    let server = Running::start("killed");
    let mut listener = server.open(5);
    assert_eq!(server.ask(&listener, Op::Bind, 0, 0, &local(5001)).0, 0);
    assert_eq!(server.ask(&listener, Op::SetOption, SCTP, EVENTS, &[1, 1]).0, 0);
    assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
    let mut sender = server.open(5);
    sender.write_all(&data(5001, b"hello")).expect("sent");
    // The handshake has not begun, or is not complete.
    drop(sender);
    let notified = |listener: &mut Socket| {
        let record = receive(listener);
        let header = Header::parse(&record).expect("a header");
        (header.kind, record[Header::LEN..].to_vec())
    };
    let (kind, up) = notified(&mut listener);
    assert_eq!((kind, &up[..2], &up[8..10]), (Kind::Notification, &[1, 0x80][..], &[0, 0][..]));
    assert_eq!(notified(&mut listener), (Kind::Data, b"hello".to_vec()));
    let (kind, ended) = notified(&mut listener);
    assert_eq!((kind, &ended[8..10]), (Kind::Notification, &[3, 0][..]), "SHUTDOWN_COMP");
    let room = 4_u32.to_ne_bytes();
    assert_eq!(server.ask(&listener, Op::GetOption, SCTP, GET_ASSOC_NUMBER, &room), (0, vec![0; 4]));
    server.stop();
}

/// Linux compares the addresses of sockets at one port, too. Each listener gets the peers of its own address.
#[test]
fn two_sockets_have_one_port_at_different_addresses() {
    use records::number::{SCTP, SOCKOPT_BINDX_ADD};
    const IN_USE: i32 = 98;
    let addresses = [[127, 0, 0, 1], [127, 0, 0, 2]];
    let server = Running::start_at("addresses", &addresses);
    let mut listeners = addresses.map(|octets| {
        let listener = server.open(5);
        assert_eq!(server.ask(&listener, Op::Bind, 0, 0, &address(octets, 5004)).0, 0);
        assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
        listener
    });
    let other = server.open(5);
    for octets in [[127, 0, 0, 2], [0; 4]] {
        assert_eq!(server.ask(&other, Op::Bind, 0, 0, &address(octets, 5004)).0, -IN_USE);
    }
    let adds = |socket: &Socket| {
        let second = address(addresses[1], 5004);
        server.ask(socket, Op::SetOption, SCTP, SOCKOPT_BINDX_ADD, &second).0
    };
    assert_eq!(adds(&listeners[0]), -IN_USE);
    // Sends to the last listener first. The first listener
    // must work, too, although the other one was bound later.
    for (n, octets) in addresses.into_iter().enumerate().rev() {
        let mut sender = server.open(5);
        sender.write_all(&data_to(octets, 5004, &[n as u8])).expect("sent");
        assert_eq!(receive(&mut listeners[n])[Header::LEN..], [n as u8]);
    }
    // The first listener sends from its own address, although the second was bound later.
    let mut third = server.open(5);
    assert_eq!(server.ask(&third, Op::Bind, 0, 0, &address(addresses[1], 5005)).0, 0);
    assert_eq!(server.ask(&third, Op::Listen, 5, 0, &[]).0, 0);
    listeners[0].write_all(&data_to(addresses[1], 5005, b"out")).expect("sent");
    let record = receive(&mut third);
    let header = Header::parse(&record).expect("a header");
    assert_eq!((&header.address[..4], header.port), (&addresses[0][..], 5004));
    assert_eq!(&record[Header::LEN..], b"out");
    let [first, second] = listeners;
    drop(second);
    assert_eq!(adds(&first), 0);
    server.stop();
}

/// A one-to-many socket that connects still listens, and an association of it that ends meanwhile is no end
/// of the socket.
#[test]
fn a_one_to_many_socket_listens_while_it_connects_and_later() {
    use records::number::{EVENTS, REMOTE_UDP_ENCAPS_PORT, SCTP};
    const SO_ACCEPTCONN: i32 = 30;
    let server = Running::start("both");
    let listener = |port: u16| {
        let new = server.open(5);
        assert_eq!(server.ask(&new, Op::Bind, 0, 0, &local(port)).0, 0);
        assert_eq!(server.ask(&new, Op::Listen, 5, 0, &[]).0, 0);
        new
    };
    let (mut peer, _other) = (listener(5007), listener(5008));
    assert_eq!(server.ask(&peer, Op::SetOption, SCTP, EVENTS, &[1, 1]).0, 0);
    let state = |record: &[u8]| u16::from_ne_bytes([record[Header::LEN + 8], record[Header::LEN + 9]]);
    let (up, shut_down) = (0, 3);
    let reach = |peer: &mut Socket, text: &[u8]| {
        let mut client = server.open(5);
        client.write_all(&data(5007, text)).expect("sent");
        assert_eq!(state(&receive(peer)), up);
        assert_eq!(receive(peer)[Header::LEN..], *text);
        client
    };

    assert!(server.ask(&peer, Op::Connect, 0, 0, &local(5008)).0 > 0);
    assert_eq!(state(&receive(&mut peer)), up);
    let first = reach(&mut peer, b"first");
    let is_listening = server.ask(&peer, Op::GetOption, SOL_SOCKET, SO_ACCEPTCONN, &4_u32.to_ne_bytes());
    assert_eq!(is_listening, (0, 1_i32.to_ne_bytes().to_vec()));

    // No answer comes from this port.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let mut place = vec![0; 144];
    place[136..138].copy_from_slice(&silent.local_addr().expect("an address").port().to_be_bytes());
    assert_eq!(server.ask(&peer, Op::SetOption, SCTP, REMOTE_UDP_ENCAPS_PORT, &place).0, 0);
    assert!(server.ask(&peer, Op::Connect, 0, 0, &local(5009)).0 > 0);
    drop(first);
    assert_eq!(state(&receive(&mut peer)), shut_down);
    let _second = reach(&mut peer, b"second");
    server.stop();
}

/// A program may read a record of several messages only if it knows how long the first one is.
#[test]
fn messages_that_wait_share_a_record() {
    let server = Running::start("sharing");
    let (mut listener, mut client) = (server.open(5), server.open(1));
    assert_eq!(server.ask(&listener, Op::Bind, 0, 0, &local(5006)).0, 0);
    assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
    client.write_all(&data(5006, b"first")).expect("sent");
    let mut header = Header::parse(&receive(&mut listener)).expect("a header");
    header.flags = flags::END | flags::DEFAULTS;
    let message = |n: u8| vec![n; 1 + usize::from(n)];
    for n in 0..100 {
        listener.write_all(&[&header.to_bytes()[..], &message(n)].concat()).expect("sent");
    }
    let (mut n, mut announced, mut most) = (0, 0, 0);
    while n < 100 {
        let record = receive(&mut client);
        let (mut rest, mut messages, mut more) = (&record[..], 0, true);
        while more {
            let header = Header::parse(rest).expect("a header");
            let (now, behind) = rest[Header::LEN..].split_at(header.length as usize);
            assert_eq!(now, message(n));
            assert!(announced == header.length || announced == 0 && messages == 0, "{announced}, {n}");
            (rest, more, announced) = (behind, header.flags & flags::MORE != 0, header.value);
            (n, messages) = (n + 1, messages + 1);
            assert!(!more || messages > 1 || n > 1, "the first record has one message");
        }
        assert_eq!(rest, [0; 0]);
        most = most.max(messages);
    }
    assert!(most > 1);
    server.stop();
}

/// As in Linux, options and resets come after the messages that the program sent before.
#[test]
fn a_request_is_served_after_the_messages_before_it() {
    use records::number::{DEFAULT_SNDINFO, ENABLE_STREAM_RESET, RESET_STREAMS, SCTP};
    const AGAIN: i32 = 11;
    const SO_SNDBUF: i32 = 7;
    const SO_RCVBUF: i32 = 8;
    let server = Running::start("order");
    let (mut listener, mut client) = (server.open(5), server.open(1));
    let bytes = |values: [u32; 2]| values.map(u32::to_ne_bytes).concat();
    for socket in [&listener, &client] {
        assert_eq!(server.ask(socket, Op::SetOption, SCTP, ENABLE_STREAM_RESET, &bytes([0, 1])).0, 0);
    }
    for (socket, name) in [(&listener, SO_RCVBUF), (&client, SO_SNDBUF)] {
        assert_eq!(server.ask(socket, Op::SetOption, SOL_SOCKET, name, &bytes([200_000, 0])).0, 0);
    }
    assert_eq!(server.ask(&listener, Op::Bind, 0, 0, &local(5010)).0, 0);
    assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
    for stream in [0, 1, 2] {
        let mut info = [0; 16];
        info[0] = stream + 1;
        for _ in 0..400 {
            client.write_all(&data(5010, &[0; 100])).expect("sent");
        }
        assert_eq!(server.ask(&client, Op::SetOption, SCTP, DEFAULT_SNDINFO, &info).0, 0);
        for n in 0..400 {
            let header = Header::parse(&receive(&mut listener)).expect("a header");
            assert_eq!(header.stream, u16::from(stream), "message {n}");
        }
    }

    // Fills all buffers.
    client.set_nonblocking(true).expect("an option");
    while (0..1000).take_while(|_| client.write_all(&data(5010, &[0; 10_000])).is_ok()).count() > 0 {
        std::thread::sleep(Duration::from_millis(200));
    }
    let all_outgoing = [0, 0, 0, 0, 2, 0, 0, 0];
    let reset = || server.ask(&client, Op::SetOption, SCTP, RESET_STREAMS, &all_outgoing).0;
    assert_eq!(reset(), -AGAIN);
    let done = loop {
        match reset() {
            error if error == -AGAIN => receive(&mut listener),
            done => break done,
        };
    };
    assert_eq!(done, 0);
    server.stop();
}

/// Clock ticks that the thread of this name has used.
fn ticks(name: &str) -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
    let stat = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    let ours = stat.filter(|stat| stat.contains(&format!("({name})")));
    let times = ours.map(|stat| {
        let fields: Vec<u64> = stat.split(' ').map(|field| field.parse().unwrap_or(0)).collect();
        fields[13] + fields[14]
    });
    times.sum()
}

#[test]
fn a_connection_that_says_nothing_costs_nothing() {
    let server = Running::start("silent");
    let _silent = server.dial();
    let _pair = server.open(1);
    std::thread::sleep(Duration::from_millis(100));
    let before = ticks("silent");
    std::thread::sleep(Duration::from_millis(500));
    assert!(ticks("silent") - before <= 2, "{} ticks", ticks("silent") - before);
    server.stop();
}

#[test]
fn a_report_has_each_association_and_its_paths() {
    let server = Running::start("report");
    let mut listener = server.open(5);
    assert_eq!(server.ask(&listener, Op::Bind, 0, 0, &local(5002)).0, 0);
    assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
    let mut sender = server.open(5);
    sender.write_all(&data(5002, b"hello")).expect("sent");
    receive(&mut listener);
    let report = anabranch_sock::status(&server.path).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["sockets"], 2);
    let associations = report["associations"].as_array().expect("a list");
    assert_eq!(associations.len(), 2);
    assert!(associations.iter().all(|of| of["state"] == "ESTABLISHED" && of["open"] == true));
    assert_eq!(associations.iter().filter(|of| of["peer_port"] == 5002).count(), 1);
    assert_eq!(associations[0]["paths"][0]["remote"], "127.0.0.1");
    server.stop();
    assert!(anabranch_sock::status(std::path::Path::new("/nonexistent")).is_err());
}

/// `SCTP_ADDR_OVER`: the address of a message is the path that it takes.
#[test]
fn a_message_takes_the_path_of_the_address_that_it_names() {
    use records::number::{SCTP, SOCKOPT_BINDX_ADD};
    let addresses = [[127, 0, 0, 1], [127, 0, 0, 2]];
    let server = Running::start_at("over", &addresses);
    let mut listener = server.open(5);
    let both = addresses.map(|octets| address(octets, 5011)).concat();
    assert_eq!(server.ask(&listener, Op::SetOption, SCTP, SOCKOPT_BINDX_ADD, &both).0, 0);
    assert_eq!(server.ask(&listener, Op::Listen, 5, 0, &[]).0, 0);
    let mut sender = server.open(5);
    sender.write_all(&data(5011, b"first")).expect("sent");
    receive(&mut listener);
    let sent = || {
        let report = anabranch_sock::status(&server.path).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let all = report["associations"].as_array().expect("a list").clone();
        let ours = all.into_iter().find(|of| of["peer_port"] == 5011).expect("the association");
        addresses.map(|octets| {
            let name = IpAddr::from(octets).to_string();
            let paths = ours["paths"].as_array().expect("a list");
            paths
                .iter()
                .filter(|path| path["remote"] == name)
                .filter_map(|path| path["sent_bytes"].as_u64())
                .sum()
        })
    };
    std::thread::sleep(Duration::from_millis(300));
    for (n, octets) in addresses.into_iter().enumerate() {
        let before: [u64; 2] = sent();
        let mut record = data_to(octets, 5011, &[9; 700]);
        let mut header = Header::parse(&record).expect("a header");
        header.flags = flags::END | flags::ADDRESS | flags::ADDRESS_OVER;
        record[..Header::LEN].copy_from_slice(&header.to_bytes());
        sender.write_all(&record).expect("sent");
        assert_eq!(receive(&mut listener).len(), Header::LEN + 700);
        let after = sent();
        assert_eq!((after[n] - before[n], after[1 - n] - before[1 - n]), (700, 0), "{octets:?}");
    }
    server.stop();
}

/// Bytes that are no record or request, and requests for a foreign socket, change nothing for others.
#[test]
fn garbage_is_dropped() {
    let server = Running::start("garbage");
    let mut pair = server.open(1);
    let mut seed = 1_u32;
    for length in 1..400_usize {
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .collect();
        if length % 2 == 0 && length >= 8 {
            bytes[..8].copy_from_slice(&Header::new(Kind::Data).to_bytes()[..8]);
        }
        // The server may have closed a connection that it does not understand.
        let _ = server.dial().write_all(&bytes);
        pair.write_all(&bytes).expect("the pair stays");
    }
    let foreign = Request { op: Op::Attach, cookie: 1, first: 0, second: 0 };
    let mut control = server.dial();
    control.write_all(&foreign.to_bytes()).expect("sent");
    assert_eq!(Answer::parse(&receive(&mut control)).map(|(answer, _)| answer.value), Some(-107));
    assert_eq!(server.ask(&pair, Op::Bind, 0, 0, &local(0)).0, 0);
    server.stop();
}
