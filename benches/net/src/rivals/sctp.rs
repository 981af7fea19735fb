//! Our SCTP, over UDP on one loopback address, with both checksums.

use super::{Receiver, Result, Sender, Stopwatch, random_bytes};
use anabranch_io::blocking::{Connection, Endpoint, Listener};
use anabranch_noise::{Noise, Peers, PrivateKey, Suite};
use bytes::Bytes;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub struct Bound {
    endpoint: Endpoint,
    listener: Listener,
}

impl Bound {
    /// A receiver whose packets are encrypted by this suite.
    pub fn bind(suite: Option<Suite>) -> Result<Self> {
        let mut builder = Endpoint::builder().local(LOCAL).udp_port(0);
        if let Some(suite) = suite {
            builder = builder.guard(Noise::new(server_key()?, Peers::any())?.suite(suite));
        }
        let endpoint = builder.bind()?;
        let listener = endpoint.listen(1);
        Ok(Bound { endpoint, listener })
    }
}

impl Receiver for Bound {
    fn address(&self) -> Result<String> {
        Ok(format!("{} {}", self.endpoint.port(), self.endpoint.udp_port()))
    }

    fn run(self: Box<Self>) -> Result<(u64, f64)> {
        let connection = self.listener.accept()?;
        let (mut bytes, mut watch) = (0, Stopwatch::default());
        while let Some(message) = connection.recv()? {
            watch.start();
            bytes += message.data.len() as u64;
        }
        let seconds = watch.seconds();
        for socket in self.endpoint.stats().sockets {
            eprintln!("receiver: {socket}");
        }
        Ok((bytes, seconds))
    }
}

/// The receiver's key, known to both processes.
fn server_key() -> Result<PrivateKey> {
    Ok("1".repeat(64).parse()?)
}

pub struct Connected {
    endpoint: Endpoint,
    connection: Connection,
    message: Bytes,
}

impl Connected {
    pub fn to(address: &str, message: usize, suite: Option<Suite>) -> Result<Self> {
        let (port, udp_port) = address.split_once(' ').ok_or("no ports")?;
        let mut builder = Endpoint::builder().local(LOCAL).udp_port(0).remote_udp_port(udp_port.parse()?);
        if let Some(suite) = suite {
            let peers = Peers::known([server_key()?.public()]);
            builder = builder.guard(Noise::new(PrivateKey::generate()?, peers)?.suite(suite));
        }
        let endpoint = builder.bind()?;
        let connection = endpoint.connect((LOCAL, port.parse()?))?;
        Ok(Connected { endpoint, connection, message: random_bytes(message).into() })
    }
}

impl Sender for Connected {
    fn send_until(&mut self, end: Instant) -> Result<()> {
        while Instant::now() < end {
            self.connection.send(self.message.clone())?;
        }
        Ok(())
    }

    fn packets_per_send(&self) -> Option<f64> {
        Some(self.endpoint.stats().sockets.first()?.mean_packets_per_send())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        for socket in self.endpoint.stats().sockets {
            eprintln!("sender: {socket}");
        }
        Ok(self.connection.shutdown()?)
    }
}
