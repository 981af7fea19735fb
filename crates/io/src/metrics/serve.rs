use super::MetricText;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest time that a request may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest head of a request, in bytes.
const LONGEST: usize = 8192;
/// Longest pause within a request.
const PAUSE: Duration = Duration::from_millis(250);

/// Parses the address of an HTTP server. `9464` means this port at 127.0.0.1. With an address, such as
/// `192.0.2.1:9464` or `[2001:db8::1]:9464`, other hosts can reach the server, too.
pub fn address(text: &str) -> Option<SocketAddr> {
    let port = text.parse().map(|port: u16| (Ipv4Addr::LOCALHOST, port).into());
    port.or_else(|_| text.parse()).ok()
}

/// Answers an HTTP/1.1 request (`rfc9112`) for `/metrics` with a text, and any other request with 404. A
/// slow peer gets no answer.
pub fn answer(mut stream: TcpStream, text: impl FnOnce() -> MetricText) {
    let Some(head) = read_head(&mut stream) else { return };
    let target = head.strip_prefix("GET ").and_then(|rest| rest.split([' ', '?', '\r']).next());
    let (status, kind, body) = match target {
        Some("/metrics") => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", text()),
        _ => ("404 Not Found", "text/plain", MetricText::default()),
    };
    let (body, length) = (body.as_str(), body.as_str().len());
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    // A failed write needs no handling: the client can repeat its request.
    let _ = stream.set_write_timeout(Some(PATIENCE)).and_then(|()| stream.write_all(answer.as_bytes()));
}

/// Reads the head of a request, up to the empty line.
fn read_head(stream: &mut TcpStream) -> Option<String> {
    stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(PAUSE))).ok()?;
    let begin = std::time::Instant::now();
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > LONGEST || begin.elapsed() > PATIENCE {
            return None;
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(length) => head.extend_from_slice(&part[..length]),
        }
    }
    String::from_utf8(head).ok()
}
