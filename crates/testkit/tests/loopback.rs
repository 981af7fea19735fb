//! Our endpoint on a UDP socket exchanges messages with other stacks on another socket, as client and as
//! server, in real time.
#![expect(clippy::disallowed_types, reason = "sockets work in real time")]

use crate::peers::{DcSctp, PORT, SctpProto};
use anabranch_testkit::{Ending, Ledger, Ours, Script, Speaker};
use dcsctp::api::Options;
use io::blocking::{Connection, Endpoint};
use io::{Message, StreamId};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;
use transport::PacketBuf;
use units::Instant;

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const SEEDS: std::ops::Range<u64> = 0..6;
const STREAMS: u16 = 5;
/// Maximum duration of a dialogue.
const LIMIT: Duration = Duration::from_secs(30);

/// Another stack on a UDP socket, with a simple driver.
struct Host {
    socket: UdpSocket,
    /// Source address of the peer's packets, once known.
    remote: Option<SocketAddr>,
    speaker: Box<dyn Speaker>,
    start: std::time::Instant,
}

impl Host {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    fn transmit(&mut self) {
        let mut packet = PacketBuf::default();
        let now = self.now();
        while self.speaker.poll_transmit(now, &mut packet).is_some() {
            let remote = self.remote.expect("it answers, or was told where to connect to");
            self.socket.send_to(&packet.as_octets().to_vec(), remote).expect("loopback takes packets");
        }
    }

    /// Sends all ready packets, then waits for the next packet or timeout.
    fn turn(&mut self) {
        self.transmit();
        let now = self.now();
        let until =
            self.speaker.poll_timeout().map_or(u64::MAX, |at| at.as_nanos().saturating_sub(now.as_nanos()));
        if until == 0 {
            return self.speaker.handle_timeout(now);
        }
        let wait = Duration::from_nanos(until).clamp(Duration::from_micros(1), Duration::from_millis(100));
        self.socket.set_read_timeout(Some(wait)).expect("more than zero");
        let mut bytes = vec![0; 1 << 16];
        if let Ok((length, from)) = self.socket.recv_from(&mut bytes) {
            self.remote = Some(from);
            let now = self.now();
            self.speaker.handle(now, LOCALHOST, LOCALHOST, bytes[..length].into());
        }
    }

    /// Sends all messages of one script and receives those of the other, until the association has ended.
    fn talk(mut self, says: &Script, hears: &Script, connects: bool, closes: bool) {
        let (mut said, mut ledger, mut closing) = (0, Ledger::new(hears), !closes);
        if connects {
            self.speaker.connect(self.now());
        }
        while self.speaker.ending().is_none() {
            let now = self.now();
            assert!(self.start.elapsed() < LIMIT, "said {said}, heard {}", ledger.heard());
            while let Some((stream, bytes)) = self.speaker.receive(now) {
                ledger.hear(stream, &bytes).unwrap_or_else(|what| panic!("{what}"));
            }
            while self.speaker.is_connected()
                && let Some(line) = says.lines().get(said)
                && self.speaker.send(now, line.stream, line.unordered, &says.bytes(said))
            {
                said += 1;
            }
            if !closing && ledger.is_complete() && said == says.lines().len() {
                closing = true;
                self.speaker.shutdown(now);
            }
            self.turn();
        }
        self.transmit();
        assert_eq!(self.speaker.ending(), Some(Ending::Graceful));
        assert!(ledger.is_complete() && said == says.lines().len(), "said {said}, heard {}", ledger.heard());
    }
}

/// Does the same as [`Host::talk`] with our stack.
fn talk(connection: &Connection, says: &Script, hears: &Script, closes: bool) {
    thread::scope(|scope| {
        scope.spawn(|| {
            for (n, line) in says.lines().iter().enumerate() {
                let message = Message::from(says.bytes(n)).stream(StreamId(line.stream)).ppid(Ours::PPID);
                let taken = connection.send_timeout(message.unordered(line.unordered), LIMIT);
                assert_eq!(taken, Ok(()), "message {n}");
            }
        });
        let mut ledger = Ledger::new(hears);
        while !ledger.is_complete() {
            let message = connection.recv_timeout(LIMIT).expect("messages come in time");
            let message = message.expect("it ends when all is said");
            ledger.hear(message.stream.0, &message.data).unwrap_or_else(|what| panic!("{what}"));
        }
    });
    if closes {
        connection.shutdown().expect("a graceful end");
    }
    assert_eq!(connection.recv_timeout(LIMIT), Ok(None), "nothing comes after the last message");
    assert!(connection.closed().is_graceful(), "{}", connection.closed());
}

/// Runs one dialogue for each seed. From one seed to the next, the two sides end the association alternately.
fn with_each_seed(foreign: fn(u64) -> Box<dyn Speaker>, foreign_connects: bool) {
    for seed in SEEDS {
        let socket = UdpSocket::bind((LOCALHOST, 0)).expect("loopback has a port");
        let theirs = socket.local_addr().expect("it is bound");
        let builder = Endpoint::builder().local(LOCALHOST).port(PORT).udp_port(0);
        let endpoint = builder.remote_udp_port(theirs.port()).bind().expect("loopback has a port");
        let remote = SocketAddr::new(LOCALHOST, endpoint.udp_port());
        let scripts = [2 * seed, 2 * seed + 1].map(|voice| Script::random(voice, 60, STREAMS, 1 << 16));
        let we_close = seed % 2 == 0;
        thread::scope(|scope| {
            let listener = foreign_connects.then(|| endpoint.listen(1));
            scope.spawn(|| {
                let connection = match listener {
                    Some(listener) => listener.accept_timeout(LIMIT).expect("accepts in time"),
                    None => endpoint.connect((LOCALHOST, PORT)).expect("it answers"),
                };
                talk(&connection, &scripts[0], &scripts[1], we_close);
            });
            let remote = foreign_connects.then_some(remote);
            let host = Host { socket, remote, speaker: foreign(seed), start: std::time::Instant::now() };
            host.talk(&scripts[1], &scripts[0], foreign_connects, !we_close);
        });
    }
}

fn dcsctp(seed: u64) -> Box<dyn Speaker> {
    Box::new(DcSctp::new(seed, LOCALHOST, LOCALHOST, Options::default()))
}

fn sctp_proto(_seed: u64) -> Box<dyn Speaker> {
    Box::new(SctpProto::new(LOCALHOST, LOCALHOST))
}

#[test]
fn dcsctp_as_client() {
    with_each_seed(dcsctp, true);
}

#[test]
fn dcsctp_as_server() {
    with_each_seed(dcsctp, false);
}

#[test]
fn sctp_proto_as_client() {
    with_each_seed(sctp_proto, true);
}

#[test]
fn sctp_proto_as_server() {
    with_each_seed(sctp_proto, false);
}
