//! Plays bytes as actions of hostile programs: records, requests and connections in any order.

use anabranch_sock::{Server, ServerOptions};
use records::{Answer, Header, Kind, Op, Request, flags};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Largest number of sockets of one play.
const SOCKETS: usize = 8;

/// Returns the path of the server that all plays use. The first
/// call starts it in a thread, which ends with this process.
fn server() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("anabranch-play-{}", std::process::id()));
        let free = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let udp_port = free.expect("a free port").port();
        let locals = vec![IpAddr::from([127, 0, 0, 1])];
        let host = io::HostOptions { locals, udp_port, remote_udp_port: udp_port, ..Default::default() };
        let config = sctp::Config::recommended();
        let server = Server::bind(ServerOptions { path: path.clone(), host, config }).expect("binds");
        std::thread::spawn(move || server.run());
        path
    })
}

/// The bytes of the play's input that have not been read yet.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }

    fn word(&mut self) -> i32 {
        i32::from_ne_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte()).min(self.0.len());
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken.to_vec()
    }
}

fn dial() -> Socket {
    let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None).expect("a socket");
    socket.connect(&SockAddr::unix(server()).expect("an address")).expect("the host process serves");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket
}

/// Opens a socket; `None` if the host process has too many.
fn open(style: u16, domain: u32) -> Option<Socket> {
    let mut pair = dial();
    let mut hello = Header::new(Kind::Hello);
    hello.set_cookie(pair.cookie().expect("a cookie"));
    (hello.value, hello.policy) = (domain, style);
    pair.write_all(&hello.to_bytes()).expect("sent");
    let mut answer = [0; Header::LEN];
    let length = pair.read(&mut answer).expect("the host process answers");
    pair.set_nonblocking(true).expect("a pair");
    Header::parse(&answer[..length]).is_some_and(|hello| hello.value == 0).then_some(pair)
}

/// Sends a request, to which an answer must come, and returns the answer's value.
fn ask(pair: &Socket, op: Op, first: i32, second: i32, body: &[u8]) -> i32 {
    let mut control = dial();
    let request = Request { op, cookie: pair.cookie().expect("a cookie"), first, second };
    control.write_all(&[&request.to_bytes()[..], body].concat()).expect("sent");
    let mut answer = [0; 8192];
    let length = control.read(&mut answer).expect("the host process answers");
    Answer::parse(&answer[..length]).expect("an answer").0.value
}

/// 127.0.0.1 and one of four ports.
fn local(byte: u8) -> Vec<u8> {
    [&[2, 0, 0x13, byte % 4, 127, 0, 0, 1][..], &[0; 8]].concat()
}

fn any_op(byte: u8) -> Op {
    use Op::*;
    let all = [
        Attach, Bind, Connect, Listen, SetOption, GetOption, LocalName, PeerName, Check, Linger, PeelBegin,
        Return, PeelEnd,
    ];
    all[usize::from(byte) % all.len()]
}

fn record(input: &mut Input<'_>) -> Vec<u8> {
    let kinds = [Kind::Data, Kind::Data, Kind::Data, Kind::Ballast, Kind::Notification, Kind::Hello];
    let mut header = Header::new(kinds[usize::from(input.byte()) % kinds.len()]);
    header.flags = u16::from(input.byte()) | u16::from(input.byte()) << 8;
    if header.flags & flags::ADDRESS != 0 {
        (header.family, header.port) = (4, 0x1300 + u16::from(input.byte() % 4));
        header.address[..4].copy_from_slice(&[127, 0, 0, 1]);
    }
    header.association = i32::from(input.byte());
    header.stream = u16::from(input.byte());
    header.value = u32::from(input.byte());
    header.policy = u16::from(input.byte());
    header.length = input.byte().into();
    [&header.to_bytes()[..], &input.bytes()].concat()
}

/// Plays the input, and panics if the host process no longer answers.
pub fn play(input: &[u8]) {
    let mut input = Input(input);
    let mut pairs: Vec<Socket> = Vec::new();
    while !input.0.is_empty() {
        let what = input.byte() % 10;
        if what == 0 || pairs.is_empty() {
            let style = if input.byte() % 2 == 0 { 1 } else { 5 };
            let domain = if input.byte() % 4 == 0 { 10 } else { 2 };
            pairs.extend(open(style, domain));
            if pairs.len() > SOCKETS {
                pairs.remove(0);
            }
            continue;
        }
        let chosen = usize::from(input.byte()) % pairs.len();
        let pair = &mut pairs[chosen];
        match what {
            1 => drop(pairs.remove(chosen)),
            // The write fails if the send buffer is full.
            2 | 3 => drop(pair.write(&record(&mut input))),
            4 => {
                let (op, first, second) = (any_op(input.byte()), input.word(), input.word());
                ask(pair, op, first, second, &input.bytes());
            }
            5 => {
                let (op, name) = if input.byte() % 2 == 0 { (Op::SetOption, 0) } else { (Op::GetOption, 1) };
                let (option, mut body) = (i32::from(input.byte()), input.bytes());
                if name == 1 {
                    body = [&256_u32.to_ne_bytes()[..], &body].concat();
                }
                ask(pair, op, 132, option, &body);
            }
            6 => {
                ask(pair, Op::Bind, 0, 0, &local(input.byte()));
                ask(pair, Op::Listen, 5, 0, &[]);
            }
            7 => {
                ask(pair, Op::Connect, 0, 0, &local(input.byte()));
            }
            8 => {
                // There may be nothing to read.
                let _ = pair.read(&mut [0; 300]);
            }
            _ => drop(dial().write(&input.bytes())),
        }
    }
    drop(pairs);
    if let Some(last) = open(1, 2) {
        assert_eq!(ask(&last, Op::Attach, 0, 0, &[]), 0);
    }
}
