//! `sctp_peeloff`: an association of a one-to-many socket gets a socket of its own.
//!
//! The program may not have read all records of the association. Between [`Op::PeelBegin`](records::Op) and
//! `PeelEnd`, the host process writes nothing, and the program returns the unread records. Those for which
//! the connection had no room are still here. The messages that the program has sent, and for which the stack
//! has no room yet, go with their association, too.

use crate::pair::Incoming;
use crate::server::Server;
use bytes::Bytes;
use nix::errno::Errno;
use records::{Header, Kind, MAX_DATA};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// Largest number of unsent messages that are read: more than a connection holds. There is a limit because
/// other threads of the program may go on writing.
const UNSENT: usize = 1024;

impl Server {
    /// Makes the socket of an association. Returns its switches and the descriptor for the program.
    pub(crate) fn peel_begin(&mut self, key: usize, number: i32) -> Result<(i32, OwnedFd), Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let up = self.associations.get(number).is_some_and(|association| association.up);
        if !socket.many || !up || !socket.associations.contains(&number) {
            return Err(Errno::EINVAL);
        }
        if socket.peeling.is_some() {
            return Err(Errno::EBUSY);
        }
        let (descriptor, new) = self.make_pair(key).ok_or(Errno::ENFILE)?;
        if let Some(association) = self.associations.get_mut(number) {
            association.owner = Some(new);
        }
        self.move_unsent(key, new, number);
        let (mut switched, mut waiting) = (0, VecDeque::new());
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.associations.retain(|&other| other != number);
            socket.partial = socket.partial.filter(|&other| other != number);
            socket.pair.hold();
            socket.peeling = Some((number, new));
            waiting = socket.pair.take_waiting(number);
        }
        if let Some(socket) = self.sockets.get_mut(&new) {
            socket.associations.push(number);
            socket.pair.hold();
            socket.pair.append(waiting);
            switched = socket.switches();
        }
        Ok((switched.into(), descriptor))
    }

    /// Moves the messages of an association that the stack has not taken yet to its new socket.
    fn move_unsent(&mut self, key: usize, new: usize, number: i32) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        let mut all = std::mem::take(&mut socket.waiting);
        let mut buffer = vec![0; Header::LEN + MAX_DATA];
        for _ in 0..UNSENT {
            // A ballast stays while another thread waits until it has connected.
            if socket.pair.has_ballast() {
                break;
            }
            let Incoming::Record(length) = socket.pair.take(&mut buffer) else { break };
            let record = &buffer[..length];
            if let Some(header) = Header::parse(record).filter(|header| header.kind == Kind::Data) {
                let data = record.get(Header::LEN..).unwrap_or_default();
                all.push_back((header, Bytes::copy_from_slice(data)));
            }
        }
        for (header, data) in all {
            let to = if self.known_target(key, &header) == Some(number) { new } else { key };
            if let Some(socket) = self.sockets.get_mut(&to) {
                socket.waiting.push_back((header, data));
            }
        }
        // Other associations may have room for the messages that waited behind these.
        self.again.extend([key, new]);
    }

    /// Takes back a record that the program has read too early, to
    /// write it later to the socket that its association then has.
    pub(crate) fn take_back(&mut self, key: usize, record: &[u8]) -> Result<(), Errno> {
        let (number, new) = self.sockets.get(&key).and_then(|socket| socket.peeling).ok_or(Errno::EINVAL)?;
        let header = Header::parse(record).ok_or(Errno::EINVAL)?;
        let data = record.get(Header::LEN..).unwrap_or_default();
        let to = if header.association == number { new } else { key };
        // The program may have closed the new socket meanwhile.
        let Some(socket) = self.sockets.get_mut(&to) else { return Ok(()) };
        let fits = data.len() <= MAX_DATA && socket.pair.put_back(header, Bytes::copy_from_slice(data));
        if fits { Ok(()) } else { Err(Errno::ENOBUFS) }
    }

    /// Ends what [`Self::peel_begin`] began: this process writes records to the program again.
    pub(crate) fn peel_end(&mut self, key: usize) -> Result<(), Errno> {
        let socket = self.sockets.get_mut(&key).ok_or(Errno::EBADF)?;
        let (_, new) = socket.peeling.take().ok_or(Errno::EINVAL)?;
        socket.pair.release();
        if let Some(socket) = self.sockets.get_mut(&new) {
            socket.pair.release();
        }
        self.on_writable(key);
        self.on_writable(new);
        Ok(())
    }
}
