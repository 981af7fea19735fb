use super::Driver;
use crate::shared::{Attempt, Command, Opening, Request};
use crate::types::{ConnectError, Peer};
use sctp::{AssocId, Config};
use std::sync::Arc;
use transport::Channel;
use units::Instant;

impl Driver {
    /// Executes the commands that the handles of the program have queued.
    pub(super) fn obey(&mut self, now: Instant) {
        let mut commands = std::mem::take(&mut self.commands);
        self.hub.take(&mut commands);
        for command in commands.drain(..) {
            self.execute(now, command);
        }
        self.commands = commands;
    }

    fn execute(&mut self, now: Instant, command: Command) {
        match command {
            Command::Connect => self.begin(now),
            Command::Listen => {
                let on = self.new_connections.backlog().is_open();
                self.endpoint.listen(if on { sctp::Listen::Ask { waiting: 64 } } else { sctp::Listen::Off });
            }
            Command::Outbox(id) => self.connections.has_messages(id),
            Command::Source(id, source) => self.connections.set_source(id, source),
            Command::Inbox(id) => self.connections.deliver(&mut self.endpoint, id),
            Command::Flush(id, answer) => self.connections.flush(id, answer),
            Command::Heartbeat(id, address, answer) => {
                self.connections.heartbeat(now, &mut self.endpoint, id, address, answer);
            }
            Command::Shutdown(id) => self.connections.shutdown(now, &mut self.endpoint, id),
            Command::Release(id) => self.connections.release(now, &mut self.endpoint, id),
            Command::Abort(id, reason) => self.endpoint.abort(id, &reason),
            // If the caller is gone, the address is added all the same.
            Command::AddAddress(address, device, answer) => {
                let _ = answer.send(self.add_address(now, address, device));
            }
            Command::RemoveAddress(address, answer) => {
                let _ = answer.send(self.remove_address(now, address));
            }
            Command::Call(call) => call.make(&mut self.endpoint, now),
            Command::Guard => {}
            Command::Leave => self.leaving = true,
            Command::Close => self.close(now),
        }
        self.transmit(now);
    }

    /// Begins the association that was requested first.
    fn begin(&mut self, now: Instant) {
        if let Some(Request { peer, config, answer }) = self.new_connections.next_request()
            && !self.leaving
        {
            // If the caller is gone, `send` returns the attempt; dropping the attempt aborts the association.
            let _ = answer.send(self.connect(now, &peer, config));
        }
    }

    fn connect(&mut self, now: Instant, peer: &Peer, config: Option<Arc<Config>>) -> Opening {
        let config = config.unwrap_or_else(|| self.hub.config.clone());
        let (channel, identity) = match (&mut self.guard, &peer.identity) {
            (None, None) => (Channel::NONE, None),
            (None, Some(_)) => return Err(ConnectError::Unguarded),
            (Some(guard), wanted) => {
                let channel = guard.channel(wanted.as_ref())?;
                (channel, guard.identity(channel))
            }
        };
        let id = self.endpoint.connect_with(now, peer.port, &peer.addresses, config.clone(), channel)?;
        self.trace.on_begin(id, peer);
        if let Some(udp_port) = peer.udp_port {
            for &address in &peer.addresses {
                // The call fails for an address of the peer that has no path, because no local address has
                // the same family.
                let _ = self.endpoint.set_remote_port(id, address, udp_port);
            }
        }
        Ok(Attempt::new(self.connections.insert(id, &self.hub, &config, identity)))
    }

    fn close(&mut self, now: Instant) {
        self.leaving = true;
        self.endpoint.listen(false);
        self.new_connections.end_backlog();
        let all: Vec<AssocId> = self.connections.ids().collect();
        for id in all {
            self.connections.close(now, &mut self.endpoint, id);
        }
    }
}
