//! The compared transports: how a receiver is bound, and how a sender is connected.

mod quic;
mod sctp;
mod tcp;
mod udp;
pub mod usrsctp;

use anabranch_noise::Suite;
use clap::ValueEnum;
use std::error::Error;
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A receiver that waits for its sender.
pub trait Receiver {
    /// The address for the sender.
    fn address(&self) -> Result<String>;
    /// Receives until the sender has finished. Returns the user bytes, and the seconds since the first byte.
    fn run(self: Box<Self>) -> Result<(u64, f64)>;
}

/// A connected sender.
pub trait Sender {
    /// Sends as fast as possible until `end`.
    fn send_until(&mut self, end: Instant) -> Result<()>;
    /// Mean number of packets in a call that sends; `None` if it is not known.
    fn packets_per_send(&self) -> Option<f64> {
        None
    }
    /// Delivers all queued data, and ends.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The compared transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    #[value(name = "udp")]
    UdpOffload,
    #[value(name = "sctp-64k")]
    Sctp64K,
    #[value(name = "sctp-1k")]
    Sctp1K,
    #[value(name = "sctp-64k-noise")]
    Sctp64KNoise,
    #[value(name = "sctp-64k-noise-chacha")]
    Sctp64KChaCha,
    #[value(name = "sctp-1k-noise")]
    Sctp1KNoise,
    #[value(name = "tcp")]
    Tcp,
    #[value(name = "quic")]
    Quic,
    #[value(name = "usrsctp")]
    Usrsctp,
}

impl Rival {
    pub const ALL: [Rival; 9] = [
        Rival::UdpOffload,
        Rival::Sctp64K,
        Rival::Sctp1K,
        Rival::Sctp64KNoise,
        Rival::Sctp64KChaCha,
        Rival::Sctp1KNoise,
        Rival::Tcp,
        Rival::Quic,
        Rival::Usrsctp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Rival::UdpOffload => "udp",
            Rival::Sctp64K => "sctp-64k",
            Rival::Sctp1K => "sctp-1k",
            Rival::Sctp64KNoise => "sctp-64k-noise",
            Rival::Sctp64KChaCha => "sctp-64k-noise-chacha",
            Rival::Sctp1KNoise => "sctp-1k-noise",
            Rival::Tcp => "tcp",
            Rival::Quic => "quic",
            Rival::Usrsctp => "usrsctp",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Rival::UdpOffload => "bare UDP, 1440 bytes, GSO and GRO: the ceiling",
            Rival::Sctp64K => "anabranch-io, messages of 64 KiB",
            Rival::Sctp1K => "anabranch-io, messages of 1 KiB",
            Rival::Sctp64KNoise => "anabranch-io, messages of 64 KiB, encrypted by AES-256-GCM",
            Rival::Sctp64KChaCha => "anabranch-io, messages of 64 KiB, encrypted by ChaCha20-Poly1305",
            Rival::Sctp1KNoise => "anabranch-io, messages of 1 KiB, encrypted by AES-256-GCM",
            Rival::Tcp => "TCP of the kernel, writes of 64 KiB",
            Rival::Quic => "quinn, one stream, writes of 64 KiB, encrypted",
            Rival::Usrsctp => "usrsctp, messages of 64 KiB",
        }
    }

    pub fn bind(self) -> Result<Box<dyn Receiver>> {
        Ok(match self {
            Rival::UdpOffload => Box::new(udp::Bound::bind()?),
            Rival::Sctp64K | Rival::Sctp1K => Box::new(sctp::Bound::bind(None)?),
            Rival::Sctp64KNoise | Rival::Sctp1KNoise => {
                Box::new(sctp::Bound::bind(Some(Suite::Aes256Gcm))?)
            }
            Rival::Sctp64KChaCha => Box::new(sctp::Bound::bind(Some(Suite::ChaCha20Poly1305))?),
            Rival::Tcp => Box::new(tcp::Bound::bind()?),
            Rival::Quic => Box::new(quic::Bound::bind()?),
            Rival::Usrsctp => return Err(usrsctp::ELSEWHERE.into()),
        })
    }

    pub fn connect(self, address: &str) -> Result<Box<dyn Sender>> {
        Ok(match self {
            Rival::UdpOffload => Box::new(udp::Connected::to(address)?),
            Rival::Sctp64K => Box::new(sctp::Connected::to(address, 65_536, None)?),
            Rival::Sctp1K => Box::new(sctp::Connected::to(address, 1024, None)?),
            Rival::Sctp64KNoise => Box::new(sctp::Connected::to(address, 65_536, Some(Suite::Aes256Gcm))?),
            Rival::Sctp1KNoise => Box::new(sctp::Connected::to(address, 1024, Some(Suite::Aes256Gcm))?),
            Rival::Sctp64KChaCha => {
                Box::new(sctp::Connected::to(address, 65_536, Some(Suite::ChaCha20Poly1305))?)
            }
            Rival::Tcp => Box::new(tcp::Connected::to(address)?),
            Rival::Quic => Box::new(quic::Connected::to(address)?),
            Rival::Usrsctp => return Err(usrsctp::ELSEWHERE.into()),
        })
    }
}

/// Returns pseudorandom bytes, so that no library can treat them faster, as it might treat zeros.
pub fn random_bytes(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Real time since the first byte.
#[derive(Default)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    pub fn start(&mut self) {
        self.0.get_or_insert_with(Instant::now);
    }

    pub fn seconds(&self) -> f64 {
        self.0.map_or(0.0, |begin| begin.elapsed().as_secs_f64())
    }
}
