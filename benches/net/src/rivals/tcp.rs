//! TCP of the kernel.

use super::{Receiver, Result, Sender, Stopwatch, random_bytes};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Instant;

pub struct Bound(TcpListener);

impl Bound {
    pub fn bind() -> Result<Self> {
        Ok(Bound(TcpListener::bind("127.0.0.1:0")?))
    }
}

impl Receiver for Bound {
    fn address(&self) -> Result<String> {
        Ok(self.0.local_addr()?.to_string())
    }

    fn run(self: Box<Self>) -> Result<(u64, f64)> {
        let (mut stream, _) = self.0.accept()?;
        let mut buffer = vec![0; 65_536];
        let (mut bytes, mut watch) = (0, Stopwatch::default());
        loop {
            let length = stream.read(&mut buffer)?;
            watch.start();
            if length == 0 {
                return Ok((bytes, watch.seconds()));
            }
            bytes += length as u64;
        }
    }
}

pub struct Connected {
    stream: TcpStream,
    message: Vec<u8>,
}

impl Connected {
    pub fn to(address: &str) -> Result<Self> {
        Ok(Connected { stream: TcpStream::connect(address)?, message: random_bytes(65_536) })
    }
}

impl Sender for Connected {
    fn send_until(&mut self, end: Instant) -> Result<()> {
        while Instant::now() < end {
            self.stream.write_all(&self.message)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.stream.shutdown(Shutdown::Write)?)
    }
}
