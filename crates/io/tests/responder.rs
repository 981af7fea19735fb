//! A responder answers datagrams of another protocol at the sockets of an endpoint.

use anabranch_io::{Config, Responder, blocking};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;
use transport::Datagram;

/// Answers each datagram that begins with 0 with as many bytes as its second byte says.
#[derive(Debug)]
struct Answers;

impl Responder for Answers {
    fn take(&mut self, datagram: &Datagram<'_>, answer: &mut Vec<u8>) -> bool {
        match datagram.bytes.head {
            [0, length, ..] => {
                answer.resize(usize::from(*length), 1);
                true
            }
            _ => false,
        }
    }
}

fn endpoint() -> blocking::Endpoint {
    let builder = blocking::Endpoint::builder().local(Ipv4Addr::LOCALHOST).udp_port(0);
    builder.config(Config::recommended()).responder(Answers).bind().expect("loopback can be bound")
}

#[test]
fn an_answer_is_never_longer_than_its_datagram_and_sctp_reaches_the_endpoint() {
    let [server, client] = [endpoint(), endpoint()];
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    socket.connect((Ipv4Addr::LOCALHOST, server.udp_port())).expect("an address");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    let answer = |length: u8| {
        socket.send(&[&[0, length][..], &[7; 18]].concat()).expect("sent");
        let mut bytes = [0; 300];
        socket.recv(&mut bytes).ok().map(|length| bytes[..length].to_vec())
    };
    assert_eq!((answer(21), answer(255), answer(0)), (None, None, None));
    // Loopback loses nothing, but on a busy machine the driver may answer after the timeout.
    let answered = |length| (0..50).find_map(|_| answer(length));
    assert_eq!((answered(20), answered(1)), (Some(vec![1; 20]), Some(vec![1])));
    let listener = server.listen(1);
    let peer = anabranch_io::Peer::from(([Ipv4Addr::LOCALHOST.into()], server.port()));
    let connection = client.connect_timeout(peer.udp_port(server.udp_port()), Duration::from_secs(20));
    connection.expect("an association");
    listener.accept_timeout(Duration::from_secs(20)).expect("an association");
}
