//! Checks a message before a program sends it.

use crate::server::Server;
use crate::statistics::fragment;
use nix::errno::Errno;
use records::{Header, flags};

impl Server {
    /// Checks stream, key and length of a message. Returns the number of streams of its association, or 0 if
    /// the association is not up.
    pub(crate) fn check(&self, key: usize, header: &Header, length: u32) -> Result<u16, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let number = self.known_target(key, header);
        let needs_one = header.flags & (flags::ADDRESS | flags::ALL) == 0;
        if number.is_none() && socket.many && needs_one {
            return Err(Errno::EPIPE);
        }
        let association = number.and_then(|number| self.associations.get(number));
        let (up, streams) = match association {
            Some(association) if association.up => (association.outbound, association.outbound),
            _ => (0, socket.config.outbound_streams),
        };
        let defaults = header.flags & flags::DEFAULTS != 0;
        let stream = if defaults { socket.settings.defaults.stream } else { header.stream };
        // The stack authenticates packets, not messages, so that only the active key is possible.
        let other_key = header.flags & flags::AUTH_KEY != 0 && header.auth_key != socket.settings.active_key;
        if stream >= streams || other_key {
            return Err(Errno::EINVAL);
        }
        if socket.settings.whole {
            let endpoint = association.and_then(|of| Some((self.host.endpoint(of.port)?, of.id)));
            let primary =
                endpoint.and_then(|(endpoint, id)| endpoint.paths(id)?.find(|path| path.is_primary));
            let mtu = primary.map_or(socket.config.mtu, |path| path.mtu);
            if u64::from(length) > fragment(mtu.min(socket.config.mtu)) {
                return Err(Errno::EMSGSIZE);
            }
        }
        Ok(up)
    }
}
