//! Our stack at this side.
#![expect(clippy::disallowed_types, reason = "the transfer takes real time")]

use crate::network::Network;
use crate::peer::Data;
use anabranch_io::blocking::{Endpoint, Listener};
use anabranch_io::{Config, Message};
use std::time::{Duration, Instant};

/// The SCTP port of both sides.
const PORT: u16 = 5001;
/// User data of a message in bytes, as in a packet of usrsctp.
const MESSAGE: usize = 1400;
/// Time limit for usrsctp to start and connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

fn bind(cmt: bool) -> Endpoint {
    let mut config = Config::recommended();
    config.cmt.enabled = cmt;
    let builder = Endpoint::builder().locals(Network::addresses_here()).port(PORT).config(config);
    builder.bind().expect("the addresses are those of this namespace")
}

/// Connects to usrsctp, sends unordered messages for some time, and ends the association.
pub fn send(cmt: bool, time: Duration) -> Data {
    let endpoint = bind(cmt);
    let connection = endpoint.connect((Network::addresses_there(), PORT)).expect("usrsctp listens");
    let mut data = Data::default();
    let start = Instant::now();
    while start.elapsed() < time {
        let mut message = vec![0; MESSAGE];
        message[..8].copy_from_slice(&data.messages.to_be_bytes());
        data.count(&message);
        connection.send(Message::from(message).unordered(true)).expect("the association lasts");
    }
    connection.shutdown().expect("a graceful end");
    data
}

/// An endpoint to which usrsctp will connect.
pub struct Waiting {
    listener: Listener,
    /// Keeps the endpoint, which ends with its last handle.
    _endpoint: Endpoint,
}

/// Creates an endpoint to which usrsctp can connect.
pub fn listen(cmt: bool) -> Waiting {
    let endpoint = bind(cmt);
    Waiting { listener: endpoint.listen(1), _endpoint: endpoint }
}

impl Waiting {
    /// Receives all data of one association. Returns the seconds from the first to the last message, too.
    pub fn receive(self) -> (Data, f64) {
        let connection = self.listener.accept_timeout(CONNECT_LIMIT).expect("usrsctp connects in time");
        let mut data = Data::default();
        let mut times = None;
        while let Some(message) = connection.recv().expect("ends gracefully") {
            data.count(&message.data);
            let now = Instant::now();
            times = times.map_or(Some((now, now)), |(first, _)| Some((first, now)));
        }
        let reason = connection.closed();
        assert!(reason.is_graceful(), "{reason}");
        let (first, last) = times.expect("usrsctp sends something");
        (data, (last - first).as_secs_f64())
    }
}
