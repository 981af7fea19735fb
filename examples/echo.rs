//! A server that sends every message back, and its client. Both use threads, without a runtime.
//!
//! ```text
//! echo server [LOCAL...]              all addresses of the host, unless some are named
//! echo client SERVER[,SERVER...] TEXT...
//! ```
//!
//! The server uses UDP port 9899 and SCTP port 7; the client uses any free ports.

use anabranch_io::blocking::{Connection, Endpoint, Listener};
use anabranch_io::{Message, Peer};
use std::error::Error;
use std::net::{AddrParseError, IpAddr};
use std::thread;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PORT: u16 = 7;

/// Serves each connection in a separate thread until the endpoint is closed.
fn serve(listener: &Listener) {
    while let Ok(connection) = listener.accept() {
        thread::spawn(move || answer(&connection));
    }
}

/// Sends every message back on its stream. A client that does not read its answers blocks only this thread.
fn answer(connection: &Connection) {
    while let Ok(Some(received)) = connection.recv() {
        let answer = Message::from(received.data).stream(received.stream).unordered(received.unordered);
        if connection.send(answer.ppid(received.ppid)).is_err() {
            break;
        }
    }
}

/// Sends texts and returns the answers.
fn ask(endpoint: &Endpoint, server: Peer, texts: &[String]) -> Result<Vec<String>> {
    let connection = endpoint.connect(server)?;
    for text in texts {
        connection.send(text.clone())?;
    }
    let mut answers = Vec::new();
    while answers.len() < texts.len() {
        let received = connection.recv()?.ok_or("the server ended the connection")?;
        answers.push(String::from_utf8(received.data.into())?);
    }
    connection.shutdown()?;
    Ok(answers)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parse = |list: &str| {
        list.split(',').map(str::parse).collect::<std::result::Result<Vec<IpAddr>, AddrParseError>>()
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", ref locals @ ..] => {
            let locals =
                locals.iter().map(|local| local.parse()).collect::<std::result::Result<Vec<IpAddr>, _>>()?;
            let endpoint = Endpoint::builder().locals(locals).port(PORT).bind()?;
            println!(
                "listening on {:?}, SCTP port {PORT}, UDP port {}",
                endpoint.local_addresses(),
                endpoint.udp_port()
            );
            serve(&endpoint.listen(64));
        }
        ["client", servers, _, ..] => {
            let endpoint = Endpoint::builder().udp_port(0).bind()?;
            for answer in ask(&endpoint, Peer::from((parse(servers)?, PORT)), &arguments[2..])? {
                println!("{answer}");
            }
            endpoint.close();
        }
        _ => return Err("usage: echo server [LOCAL...] | echo client SERVER[,SERVER...] TEXT...".into()),
    }
    Ok(())
}

#[test]
fn texts_come_back_in_order() -> Result<()> {
    // Only Linux has more than one loopback address.
    let paths: Vec<IpAddr> = ["127.0.0.1", "127.0.0.2"][..if cfg!(target_os = "linux") { 2 } else { 1 }]
        .iter()
        .map(|address| address.parse())
        .collect::<std::result::Result<_, _>>()?;
    let bind = || Endpoint::builder().locals(paths.clone()).udp_port(0).bind();
    let (server, client) = (bind()?, bind()?);
    let listener = server.listen(1);
    let serving = thread::spawn(move || serve(&listener));
    let peer = Peer::from((paths.clone(), server.port())).udp_port(server.udp_port());
    let texts = ["one", "two", "three"].map(str::to_owned);
    assert_eq!(ask(&client, peer, &texts)?, texts);
    client.close();
    server.close();
    serving.join().map_err(|_| "the server panicked")?;
    Ok(())
}
