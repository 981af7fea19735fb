//! One-to-one sockets whose association has ended. The program may still read or set their options, and ask
//! for their address. The host process does not see when the program closes such a socket, so it keeps only
//! the last ones.

use crate::socket::Socket;
use std::collections::VecDeque;

/// Largest number of kept sockets. The one that was used longest ago goes first.
const KEPT: usize = 256;

/// The kept sockets and their keys in the server's map of sockets, ordered by their last use.
#[derive(Debug, Default)]
pub struct Ended(VecDeque<(usize, Socket)>);

impl Ended {
    pub fn keep(&mut self, key: usize, socket: Socket) {
        self.0.push_back((key, socket));
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Takes out the socket with this cookie, if a process of user `uid` may use it.
    pub fn take(&mut self, uid: u32, cookie: u64) -> Option<(usize, Socket)> {
        let asked = |(_, socket): &(usize, Socket)| socket.cookie == cookie && socket.may_use(uid);
        self.0.iter().position(asked).and_then(|at| self.0.remove(at))
    }
}
