use super::damaged::Damaged;
use crate::path::PathId;
use std::collections::VecDeque;
use wire::{
    AsconfAck, CookieAck, CookieEcho, Cwr, Heartbeat, HeartbeatAck, Init, OperationError, PacketDrop,
    ReConfig, Shutdown, ShutdownAck,
};

/// A control chunk that waits to be sent. Contents that may change until then are added when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    Init,
    CookieEcho,
    CookieAck,
    Shutdown,
    ShutdownAck,
    /// HEARTBEAT; its nonce is stored with the path.
    Heartbeat,
    /// HEARTBEAT ACK with the information of the HEARTBEAT that it answers.
    HeartbeatAck(Vec<u8>),
    /// ERROR with its causes.
    Error(Vec<u8>),
    Cwr(Cwr),
    /// PKTDROP with a packet that arrived damaged.
    PacketDrop(Damaged),
    /// RE-CONFIG with its parameters.
    ReConfig(Vec<u8>),
    /// ASCONF-ACK with the serial number of the ASCONF that it answers.
    AsconfAck {
        serial: u32,
        responses: Vec<u8>,
    },
}

impl Pending {
    /// The type of the chunk.
    pub(crate) fn chunk_type(&self) -> u8 {
        match self {
            Pending::Init => Init::TYPE,
            Pending::CookieEcho => CookieEcho::TYPE,
            Pending::CookieAck => CookieAck::TYPE,
            Pending::Shutdown => Shutdown::TYPE,
            Pending::ShutdownAck => ShutdownAck::TYPE,
            Pending::Heartbeat => Heartbeat::TYPE,
            Pending::HeartbeatAck(_) => HeartbeatAck::TYPE,
            Pending::Error(_) => OperationError::TYPE,
            Pending::Cwr(_) => Cwr::TYPE,
            Pending::PacketDrop(_) => PacketDrop::TYPE,
            Pending::ReConfig(_) => ReConfig::TYPE,
            Pending::AsconfAck { .. } => AsconfAck::TYPE,
        }
    }
}

/// Control chunks that wait to be sent, each on its path.
#[derive(Debug, Default)]
pub(crate) struct Control {
    queue: VecDeque<(PathId, Pending)>,
}

/// Largest number of waiting chunks; further ones are dropped. Otherwise answers to packets of the
/// peer could fill the memory.
const LIMIT: usize = 64;

impl Control {
    pub(crate) fn push(&mut self, path: PathId, chunk: Pending) {
        let entry = (path, chunk);
        if self.queue.len() < LIMIT && !self.queue.contains(&entry) {
            self.queue.push_back(entry);
        }
    }

    /// Puts a chunk first: COOKIE ECHO and COOKIE ACK begin their packets (`rfc9260#section-5.1`).
    pub(crate) fn push_first(&mut self, path: PathId, chunk: Pending) {
        self.queue.retain(|(_, other)| *other != chunk);
        self.queue.push_front((path, chunk));
    }

    /// The next chunk and its path.
    #[inline]
    pub(crate) fn front(&self) -> Option<&(PathId, Pending)> {
        self.queue.front()
    }

    /// The next chunk for `path`.
    pub(crate) fn take(&mut self, path: PathId) -> Option<Pending> {
        let n = self.queue.iter().position(|&(p, _)| p == path)?;
        let (_, chunk) = self.queue.remove(n)?;
        if self.queue.is_empty() {
            self.queue = VecDeque::new(); // control chunks are rare: do not keep the memory
        }
        Some(chunk)
    }

    /// Puts a chunk that did not fit its packet back to the front.
    pub(crate) fn give_back(&mut self, path: PathId, chunk: Pending) {
        self.queue.push_front((path, chunk));
    }

    /// Removes path `from`: drops the chunks that concern only this path, and moves the others to path `to`.
    pub(crate) fn redirect(&mut self, from: PathId, to: PathId) {
        let moves = |chunk: &Pending| {
            !matches!(chunk, Pending::Heartbeat | Pending::HeartbeatAck(_) | Pending::PacketDrop(_))
        };
        self.queue.retain(|(path, chunk)| *path != from || moves(chunk));
        self.queue.iter_mut().filter(|(path, _)| *path == from).for_each(|(path, _)| *path = to);
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }
}
