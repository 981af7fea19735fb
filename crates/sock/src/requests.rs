//! Socket options that ask the association to do something now: keys for AUTH, streams, UDP ports.

use crate::address;
use crate::fields::{Fields, Written};
use crate::server::Server;
use nix::errno::Errno;
use records::number as n;
use sctp::{KeyError, ResetDirection, ResetError};
use std::net::IpAddr;
use wire::StreamId;

/// Largest number of keys of a socket.
const KEYS: usize = 16;

impl Server {
    /// Sets, activates or removes a key for AUTH of an association, or of later
    /// ones if the option names none.
    pub(crate) fn change_key(&mut self, key: usize, name: i32, value: &[u8]) -> Result<(), Errno> {
        let fields = Fields(value);
        let number = fields.u16(4)?;
        let socket = self.sockets.get_mut(&key).ok_or(Errno::EBADF)?;
        if !socket.config.auth {
            return Err(Errno::EACCES);
        }
        let secret = match name {
            n::AUTH_KEY => {
                let length = usize::from(fields.u16(6)?);
                value.get(8..8 + length).ok_or(Errno::EINVAL)?
            }
            _ => &[],
        };
        let all = match self.association_of(key, value) {
            Ok(association) => vec![association],
            Err(_) => {
                let socket = self.sockets.get_mut(&key).ok_or(Errno::EBADF)?;
                let settings = &mut socket.settings;
                let known = settings.keys.contains_key(&number);
                match name {
                    n::AUTH_KEY if known || settings.keys.len() < KEYS => {
                        settings.keys.insert(number, secret.to_vec());
                    }
                    n::AUTH_ACTIVE_KEY if known || number == 0 => settings.active_key = number,
                    n::AUTH_DELETE_KEY if known && number != settings.active_key => {
                        settings.keys.remove(&number);
                    }
                    _ => return Err(Errno::EINVAL),
                }
                Vec::new()
            }
        };
        for association in all {
            let (endpoint, id) = self.endpoint_of(association).ok_or(Errno::EINVAL)?;
            let changed: Result<(), KeyError> = match name {
                n::AUTH_KEY => endpoint.set_auth_key(id, number, secret),
                n::AUTH_ACTIVE_KEY => endpoint.activate_auth_key(id, number),
                n::AUTH_DEACTIVATE_KEY => endpoint.deactivate_auth_key(id, number),
                _ => endpoint.remove_auth_key(id, number),
            };
            changed.map_err(|_| Errno::EINVAL)?;
        }
        Ok(())
    }

    /// Gives a new association the keys of its socket.
    pub(crate) fn give_keys(&mut self, key: usize, number: i32) {
        let Some(settings) = self.sockets.get(&key).map(|socket| &socket.settings) else { return };
        let (keys, active) = (settings.keys.clone(), settings.active_key);
        if let Some((endpoint, id)) = self.endpoint_of(number).filter(|_| !keys.is_empty()) {
            for (name, secret) in keys {
                // This cannot fail: an association may have more keys than a socket.
                let _ = endpoint.set_auth_key(id, name, &secret);
            }
            let _ = endpoint.activate_auth_key(id, active);
        }
    }

    /// Resets streams or the association, or adds streams (RFC 6525).
    pub(crate) fn change_streams(&mut self, key: usize, name: i32, value: &[u8]) -> Result<(), Errno> {
        let (fields, now) = (Fields(value), self.host.now());
        let number = self.association_of(key, value)?;
        // The program sent these messages, for which the stack has no room yet, before it requested the
        // reset.
        let full = self.sockets.get(&key).is_some_and(|socket| !socket.waiting.is_empty());
        let (endpoint, id) = self.endpoint_of(number).ok_or(Errno::EINVAL)?;
        let begun = match name {
            n::RESET_STREAMS | n::RESET_ASSOC if full => return Err(Errno::EAGAIN),
            n::RESET_STREAMS => {
                let direction = match fields.u16(4)? & 3 {
                    1 => ResetDirection::Incoming,
                    2 => ResetDirection::Outgoing,
                    3 => ResetDirection::Both,
                    _ => return Err(Errno::EINVAL),
                };
                let listed = (0..usize::from(fields.u16(6)?)).map(|at| fields.u16(8 + 2 * at).map(StreamId));
                endpoint.reset_streams(now, id, direction, &listed.collect::<Result<Vec<_>, _>>()?)
            }
            n::RESET_ASSOC => endpoint.reset_association(now, id),
            _ => endpoint.add_streams(now, id, fields.u16(6)?, fields.u16(4)?),
        };
        begun.map_err(|error| match error {
            ResetError::NotSupported => Errno::ENOPROTOOPT,
            ResetError::InProgress => Errno::EINPROGRESS,
            ResetError::UnfinishedMessage { .. } => Errno::EAGAIN,
            _ => Errno::EINVAL,
        })
    }

    /// `SCTP_STREAM_SCHEDULER_VALUE`: the priority or weight of a stream.
    pub(crate) fn set_stream_value(&mut self, key: usize, value: &[u8]) -> Result<(), Errno> {
        let (stream, its_value) = (StreamId(Fields(value).u16(4)?), Fields(value).u16(6)?);
        let number = self.association_of(key, value)?;
        let (endpoint, id) = self.endpoint_of(number).ok_or(Errno::EINVAL)?;
        endpoint.set_stream_value(id, stream, its_value).map_err(|_| Errno::EINVAL)
    }

    /// Reads `SCTP_STREAM_SCHEDULER_VALUE`.
    pub(crate) fn stream_value(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let stream = Fields(given).u16(4)?;
        let number = self.association_of(key, given)?;
        let of = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(of.port).ok_or(Errno::EINVAL)?;
        let value = endpoint.stream_value(of.id, StreamId(stream)).ok_or(Errno::EINVAL)?;
        Ok(Written::default().i32(number).u16(stream).u16(value).0)
    }

    /// `SCTP_REMOTE_UDP_ENCAPS_PORT`: the port of one address of an association, of all its addresses, or of
    /// later associations if the option names none. 0 is allowed only if the host process does not use UDP,
    /// and other ports only if it does.
    pub(crate) fn set_remote_udp_port(&mut self, key: usize, value: &[u8]) -> Result<(), Errno> {
        let port = u16::from_be(Fields(value).u16(136)?);
        match (port, self.host.udp_port()) {
            (0, 0) => return Ok(()),
            (0, _) | (_, 0) => return Err(Errno::EINVAL),
            _ => {}
        }
        let Ok(number) = self.association_of(key, value) else {
            let socket = self.sockets.get_mut(&key).ok_or(Errno::EBADF)?;
            socket.settings.remote_udp_port = Some(port);
            return Ok(());
        };
        let named = value.get(8..136).and_then(address::parse).map(|(address, ..)| address);
        self.reach_at(number, named.filter(|address| !address.is_unspecified()), port)
    }

    /// From now on, packets for an address of the peer, or for all its addresses,
    /// are sent to this UDP port, until the peer itself uses another port.
    pub(crate) fn reach_at(&mut self, number: i32, named: Option<IpAddr>, port: u16) -> Result<(), Errno> {
        let all = self.associations.get(number).map(|of| of.peers.clone()).ok_or(Errno::EINVAL)?;
        let reached: Vec<IpAddr> = match named {
            Some(address) => all.into_iter().filter(|&other| other == address).collect(),
            None => all,
        };
        if reached.is_empty() {
            return Err(Errno::EINVAL);
        }
        let (endpoint, id) = self.endpoint_of(number).ok_or(Errno::EINVAL)?;
        for address in reached {
            // The association may have no path to an address.
            let _ = endpoint.set_remote_port(id, address, port);
        }
        Ok(())
    }
}
