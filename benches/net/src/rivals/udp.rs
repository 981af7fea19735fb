//! UDP datagrams with segmentation offload at both ends, as an upper bound for the other transports. The
//! sender limits the bytes that the receiver has not yet acknowledged.

use super::{Receiver, Result, Sender, Stopwatch, random_bytes};
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const DATAGRAM: usize = 1440;
const TRAIN: usize = 44 * DATAGRAM;
/// Largest number of unanswered bytes. With the kernel's overhead for each
/// datagram, they fit the receive buffer.
const WINDOW: u64 = 1 << 20;

fn socket() -> Result<(UdpSocket, UdpSocketState)> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
    let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), 4 << 20);
    let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), 4 << 20);
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    Ok((socket, state))
}

pub struct Bound {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Bound {
    pub fn bind() -> Result<Self> {
        let (socket, state) = socket()?;
        socket.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Bound { socket, state })
    }
}

impl Receiver for Bound {
    fn address(&self) -> Result<String> {
        Ok(self.socket.local_addr()?.to_string())
    }

    /// After each train (datagrams that the kernel joined), reports to the sender how many bytes arrived.
    /// A datagram of one byte ends the transfer.
    fn run(self: Box<Self>) -> Result<(u64, f64)> {
        let messages = BATCH_SIZE.min(8);
        let mut memory = vec![0; messages * 65_536];
        let mut meta = vec![RecvMeta::default(); messages];
        let (mut bytes, mut watch) = (0, Stopwatch::default());
        loop {
            let mut slices: Vec<_> = memory.chunks_mut(65_536).map(IoSliceMut::new).collect();
            let received = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut meta)?;
            watch.start();
            for meta in &meta[..received] {
                if meta.len == 1 {
                    return Ok((bytes, watch.seconds()));
                }
                bytes += meta.len as u64;
            }
            self.socket.send_to(&bytes.to_be_bytes(), meta[0].addr)?;
        }
    }
}

pub struct Connected {
    socket: UdpSocket,
    state: UdpSocketState,
    destination: SocketAddr,
    train: Vec<u8>,
    sent: u64,
    answered: u64,
}

impl Connected {
    pub fn to(address: &str) -> Result<Self> {
        let (socket, state) = socket()?;
        let destination = address.parse()?;
        Ok(Connected { socket, state, destination, train: random_bytes(TRAIN), sent: 0, answered: 0 })
    }

    fn await_answer(&mut self) {
        let mut answer = [0; 8];
        match self.socket.recv(&mut answer) {
            Ok(8) => self.answered = u64::from_be_bytes(answer),
            // Datagrams were lost. Their bytes count as answered, because the sender
            // would otherwise wait for the answers forever.
            _ => self.answered = self.sent,
        }
    }
}

impl Sender for Connected {
    fn send_until(&mut self, end: Instant) -> Result<()> {
        while Instant::now() < end {
            while self.sent - self.answered.min(self.sent) > WINDOW {
                self.await_answer();
            }
            let transmit = Transmit {
                destination: self.destination,
                ecn: None,
                contents: &self.train,
                segment_size: Some(DATAGRAM),
                src_ip: None,
            };
            self.state.try_send(UdpSockRef::from(&self.socket), &transmit)?;
            self.sent += TRAIN as u64;
        }
        Ok(())
    }

    fn packets_per_send(&self) -> Option<f64> {
        Some((TRAIN / DATAGRAM) as f64)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        std::thread::sleep(Duration::from_millis(50));
        for _ in 0..3 {
            self.socket.send_to(&[0], self.destination)?;
        }
        Ok(())
    }
}
