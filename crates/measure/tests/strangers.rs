//! Tests of packets and requests that unknown peers send to a server.

mod common;

use anabranch_measure::ServerOptions;
use anabranch_measure::npmp::{AddFlow, Data, EventSize, FlowId, Identify, Message, Random, Start};
use common::{HERE, Running, SOON};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

const ID: FlowId = FlowId { measurement: 77, flow: 1, stream: 0 };

/// Connects from an address of this host to the port for data of a server plus `offset` (1: control).
fn connect_from(source: IpAddr, server: &Running, offset: u16) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::new(source, 0).into()).expect("an address of this host");
    socket.connect(&SocketAddr::new(HERE, server.ports[0] + offset).into()).expect("it listens");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(SOON)).expect("a timeout");
    stream
}

fn connect(server: &Running, offset: u16) -> TcpStream {
    connect_from(HERE, server, offset)
}

fn here(last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, last).into()
}

fn send(stream: &mut TcpStream, message: &Message<'_>) {
    stream.write_all(&message.encode(EventSize::Packed)).expect("it is open");
}

/// Reads the status of the next ACKNOWLEDGE.
fn status(stream: &mut TcpStream) -> u32 {
    let mut answer = [0; 24];
    stream.read_exact(&mut answer).expect("an answer");
    let Ok(Message::Acknowledge(acknowledge)) = Message::decode(&answer) else { panic!("{answer:?}") };
    acknowledge.status
}

/// The announcement of a UDP flow on which the server is to send.
fn flow(id: FlowId) -> Message<'static> {
    let size = Random { generator: 0, values: [1000.0, 0.0, 0.0, 0.0] };
    Message::AddFlow(Box::new(AddFlow { id, protocol: 17, size, max_message: 1400, ..AddFlow::default() }))
}

fn identify(id: FlowId) -> Vec<u8> {
    let identify = Identify { id, compress_vector: false, no_vector: true };
    Message::Identify(identify).encode(EventSize::Packed)
}

/// Announces and identifies a UDP flow, so that its measurement can start.
fn ready(target: &Running) -> TcpStream {
    let mut control = connect(target, 1);
    send(&mut control, &flow(ID));
    assert_eq!(status(&mut control), 0);
    let socket = UdpSocket::bind((HERE, 0)).expect("a port");
    socket.send_to(&identify(ID), (HERE, target.ports[0])).expect("sent");
    assert_eq!(status(&mut control), 0);
    control
}

/// True if the peer closed the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn a_flow_of_udp_is_sent_only_to_the_host_of_its_control_connection() {
    let target = Running::start();
    let mut control = connect(&target, 1);
    send(&mut control, &flow(ID));
    assert_eq!(status(&mut control), 0);
    // This models a forged source address: the victim requested nothing.
    let victim = UdpSocket::bind((here(2), 0)).expect("an address of this host");
    victim.send_to(&identify(ID), (HERE, target.ports[0])).expect("sent");
    send(&mut control, &Message::Start(Start { measurement: ID.measurement, ..Start::default() }));
    assert_eq!(status(&mut control), 1, "the flow has no data connection");
    assert!(target.refusal().contains("data connections"));
    victim.set_nonblocking(true).expect("it can");
    assert!(victim.recv(&mut [0; 100]).is_err(), "nothing is ever sent there");
}

#[test]
fn datagrams_are_not_answered_and_not_counted_without_a_flow() {
    let target = Running::start();
    let [early, stranger] = [0; 2].map(|port| UdpSocket::bind((HERE, port)).expect("a port"));
    let to = (HERE, target.ports[0]);
    let data = Message::Data(Data { id: ID, ..Data::default() }, &[0; 100]).encode(EventSize::Packed);
    // These datagrams must have no effect, whether the server reads them before or after the announcement.
    for bytes in [identify(FlowId { flow: 9, ..ID }), data.clone(), vec![], vec![0xff; 2000]] {
        early.send_to(&bytes, to).expect("sent");
    }
    let mut control = connect(&target, 1);
    send(&mut control, &flow(ID));
    assert_eq!(status(&mut control), 0);
    stranger.send_to(&identify(ID), to).expect("sent");
    assert_eq!(status(&mut control), 0, "the first answer to a datagram comes on the control connection");
    // Datagrams from another port, and those of another flow, must have no effect, too.
    let other = UdpSocket::bind((HERE, 0)).expect("a port");
    other.send_to(&data, to).expect("sent");
    let wrong = FlowId { flow: 2, ..ID };
    let wrong = Message::Data(Data { id: wrong, ..Data::default() }, &[]).encode(EventSize::Packed);
    stranger.send_to(&wrong, to).expect("sent");
    send(
        &mut control,
        &Message::Start(Start { measurement: ID.measurement, no_vectors: true, ..Start::default() }),
    );
    assert_eq!(status(&mut control), 0);
    stranger.send_to(&data, to).expect("sent");
    send(&mut control, &Message::Stop { measurement: ID.measurement });
    let report = target.report();
    assert!(report.total.flows[0].received.amount.packets <= 1, "{:?}", report.total.flows[0].received);
}

#[test]
fn what_is_no_npmp_ends_the_control_connection() {
    for bytes in [
        vec![0xff, 0, 0, 4],
        vec![1, 0, 0, 0],
        Message::Results { last: true, piece: &[] }.encode(EventSize::Packed),
        Message::Stop { measurement: 1 }.encode(EventSize::Packed),
        Message::RemoveFlow(ID).encode(EventSize::Packed),
    ] {
        let target = Running::start();
        let mut control = connect(&target, 1);
        control.write_all(&bytes).expect("it is open");
        assert!(!target.refusal().is_empty());
        assert!(is_closed(&mut control), "{bytes:?}");
    }
}

#[test]
fn a_data_connection_that_names_no_announced_flow_is_closed() {
    let target = Running::start();
    for bytes in [identify(ID), vec![0; 4], Message::RemoveFlow(ID).encode(EventSize::Packed)] {
        let mut data = connect(&target, 0);
        data.write_all(&bytes).expect("it is open");
        assert!(is_closed(&mut data), "{bytes:?}");
    }
}

#[test]
fn a_flow_belongs_to_the_control_connection_that_announced_it_first() {
    let target = Running::start();
    let (mut first, mut second) = (connect(&target, 1), connect(&target, 1));
    send(&mut first, &flow(ID));
    assert_eq!(status(&mut first), 0);
    send(&mut second, &flow(ID));
    assert_eq!(status(&mut second), 1);
    drop(first);
    // When the first client has left, the numbers of its flow can be used again.
    let free = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        let mut third = connect(&target, 1);
        send(&mut third, &flow(ID));
        status(&mut third) == 0
    });
    assert!(free);
}

#[test]
fn there_is_an_end_to_flows_of_a_control_connection() {
    let target = Running::start();
    let mut control = connect(&target, 1);
    for n in 0..=64 {
        send(&mut control, &flow(FlowId { flow: n, ..ID }));
        assert_eq!(status(&mut control), u32::from(n == 64), "flow {n}");
    }
    assert!(is_closed(&mut control));
}

/// Opens a control connection from this address, announces
/// a flow, and checks that the server accepts the flow.
fn served(target: &Running, source: IpAddr, measurement: u64) -> TcpStream {
    let mut control = connect_from(source, target, 1);
    send(&mut control, &flow(FlowId { measurement, ..ID }));
    assert_eq!(status(&mut control), 0, "{source}, measurement {measurement}");
    control
}

#[test]
fn a_host_has_at_most_four_control_connections_and_all_hosts_sixteen() {
    let target = Running::start();
    let mut open = Vec::new();
    for n in 0..16 {
        open.push(served(&target, here(1 + n / 4), n.into()));
        if n == 3 {
            assert!(is_closed(&mut connect(&target, 1)), "a fifth one of this host");
            assert!(target.refusal().contains("of this host"));
        }
    }
    assert!(is_closed(&mut connect_from(here(9), &target, 1)), "a seventeenth one");
    let why = target.refusal();
    assert!(why.contains("16 control connections"), "{why}");
}

#[test]
fn a_measurement_is_started_once_and_its_flows_stay_while_it_runs() {
    let start = Message::Start(Start { measurement: ID.measurement, ..Start::default() });
    for second in [&start, &Message::RemoveFlow(ID), &flow(FlowId { flow: 9, ..ID })] {
        let target = Running::start();
        let mut control = ready(&target);
        send(&mut control, &start);
        assert_eq!(status(&mut control), 0);
        send(&mut control, second);
        assert_eq!(status(&mut control), 1, "{second:?}");
        assert!(is_closed(&mut control));
    }
}

#[test]
fn a_server_tells_of_its_paths_at_most_four_times_a_second_and_before_it_stops() {
    let target = Running::start();
    let mut control = ready(&target);
    let start = Start {
        measurement: ID.measurement,
        paths_every: Some(0),
        no_vectors: true,
        no_scalars: true,
        ..Start::default()
    };
    send(&mut control, &Message::Start(start));
    assert_eq!(status(&mut control), 0);
    let (mut told, mut stopped) = (Vec::new(), false);
    loop {
        let mut head = [0; 4];
        control.read_exact(&mut head).expect("a message");
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])) - 4];
        control.read_exact(&mut body).expect("its rest");
        let bytes = [&head[..], &body].concat();
        match Message::decode(&bytes) {
            Ok(Message::Results { last: true, piece }) => {
                let sample: serde_json::Value = serde_json::from_slice(piece).expect("JSON");
                assert_eq!(sample["associations"], serde_json::json!([]), "UDP has none");
                told.push(sample["at_s"].as_f64().expect("a time"));
            }
            Ok(Message::Acknowledge(answer)) => {
                assert!(answer.status == 0 && stopped, "{answer:?}");
                break;
            }
            other => panic!("{other:?}"),
        }
        if told.len() == 4 && !stopped {
            stopped = true;
            send(&mut control, &Message::Stop { measurement: ID.measurement });
        }
    }
    // One report at once, three after 250 ms each, and one for STOP.
    assert!(told.len() >= 5 && told[3] >= 0.75, "{told:?}");
}

/// Starts a measurement of latency, and returns its control connection and the cookie of its probes.
fn probed(target: &Running) -> (TcpStream, u64) {
    let mut control = ready(target);
    let start = Start { measurement: ID.measurement, latency: true, no_vectors: true, ..Start::default() };
    send(&mut control, &Message::Start(start));
    let mut told = [0; 4 + 35];
    control.read_exact(&mut told).expect("the cookie");
    let Ok(Message::Results { last: true, piece }) = Message::decode(&told) else { panic!("{told:?}") };
    let told: serde_json::Value = serde_json::from_slice(piece).expect("JSON");
    let cookie = u64::from_str_radix(told["probe_cookie"].as_str().expect("a cookie"), 16).expect("a number");
    assert_eq!(status(&mut control), 0);
    (control, cookie)
}

/// The bytes of a probe, written independently of the code under test.
fn probe(cookie: u64, sequence: u64) -> Vec<u8> {
    let fields = [&b"\0\0\0\0ABLP"[..], &cookie.to_be_bytes(), &sequence.to_be_bytes(), &[0; 40]];
    fields.concat()
}

/// Sends datagrams to the UDP port of SCTP until the server answers one: the first ones may arrive
/// before the server knows the client's address. Returns the answer; `None` after a second.
fn echo(socket: &UdpSocket, target: &Running, bytes: &[u8], tries: usize) -> Option<Vec<u8>> {
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    (0..tries).find_map(|_| {
        socket.send_to(bytes, (HERE, target.ports[1])).expect("sent");
        let mut answer = [0; 2000];
        socket.recv(&mut answer).ok().map(|length| answer[..length].to_vec())
    })
}

#[test]
fn a_probe_is_echoed_one_to_one_with_the_cookie_and_to_the_host_of_its_control_connection_only() {
    let target = Running::start();
    let [near, forged] =
        [HERE, here(2)].map(|host| UdpSocket::bind((host, 0)).expect("an address of this host"));
    assert_eq!(echo(&near, &target, &probe(0, 1), 3), None, "nobody measures latency");
    let (mut control, cookie) = probed(&target);
    let mut expected = probe(cookie, 7);
    expected[24] = 1;
    assert_eq!(echo(&near, &target, &probe(cookie, 7), 100), Some(expected.clone()));
    for (what, bytes) in [
        ("another cookie", probe(cookie ^ 1, 7)),
        ("an echo", expected),
        ("less", probe(cookie, 7)[..63].to_vec()),
        ("more", [probe(cookie, 7), vec![0]].concat()),
    ] {
        assert_eq!(echo(&near, &target, &bytes, 3), None, "{what}");
    }
    // This models a forged source address: the victim has proved nothing.
    assert_eq!(echo(&forged, &target, &probe(cookie, 7), 3), None);
    send(&mut control, &Message::Stop { measurement: ID.measurement });
    assert_eq!(status(&mut control), 0);
    assert_eq!(echo(&near, &target, &probe(cookie, 8), 3), None, "the measurement is over");
}

#[test]
fn a_server_that_ends_after_one_measurement_does_so() {
    let target = Running::start_with(ServerOptions { one: true, ..ServerOptions::default() });
    let mut control = ready(&target);
    send(&mut control, &Message::Start(Start { measurement: ID.measurement, ..Start::default() }));
    assert_eq!(status(&mut control), 0);
    send(&mut control, &Message::Stop { measurement: ID.measurement });
    assert_eq!(status(&mut control), 0);
    drop(control);
    target.join();
}
