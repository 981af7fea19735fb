//! Notifications that a program subscribed to (`rfc6458#section-6`).

use crate::address;
use crate::associations::Association;
use crate::data::set_peer;
use crate::server::Server;
use bytes::Bytes;
use records::notification::{self, AssocState, Failed, KeyState, kind};
use records::{Header, Kind, MAX_DELIVERED, flags};
use sctp::{Message, ResetResult};
use std::net::IpAddr;
use wire::StreamId;

/// If this number of records waits for the program to read, further notifications to it are dropped.
const RECORDS: usize = 1024;

impl Server {
    /// Writes a notification if the program subscribed to it.
    pub(crate) fn tell(&mut self, number: i32, kind: u16, make: impl FnOnce(i32, &Association) -> Vec<u8>) {
        let Some(association) = self.associations.get(number) else { return };
        let Some(socket) = association.owner.and_then(|key| self.sockets.get_mut(&key)) else { return };
        let listens = socket.backlog.is_some() && !socket.many;
        // A program that does not read loses notifications, so that they do not take all memory.
        if socket.wants(kind) && !listens && socket.pair.backlog() < RECORDS {
            let mut header = Header::new(Kind::Notification);
            header.association = number;
            set_peer(&mut header, association);
            let mut left = Bytes::from(make(number, association));
            while !left.is_empty() {
                let piece = left.split_to(left.len().min(MAX_DELIVERED));
                header.flags = if left.is_empty() { flags::END } else { 0 };
                socket.pair.put(header, piece, None);
            }
        }
    }

    /// Notifies the program that an association is up and, if the peer lacks AUTH, of that, too.
    pub(crate) fn tell_up(&mut self, number: i32) {
        self.tell_change(number, AssocState::CommUp, &[]);
        let stats = self.endpoint_of(number).and_then(|(endpoint, id)| endpoint.stats(id));
        if stats.is_some_and(|stats| !stats.auth) {
            self.tell_key(number, KeyState::NoAuth, 0);
        }
    }

    pub(crate) fn tell_change(&mut self, number: i32, state: AssocState, causes: &[u8]) {
        let error = causes.first_chunk().map_or(0, |&code| u16::from_ne_bytes(code));
        self.tell(number, kind::ASSOC_CHANGE, |number, of| {
            notification::assoc_change(state, error, of.outbound, of.inbound, number, causes)
        });
    }

    pub(crate) fn tell_address(&mut self, number: i32, address: IpAddr, state: u32) {
        let Some(association) = self.associations.get(number) else { return };
        let owner = association.owner.and_then(|key| self.sockets.get(&key));
        let maps = owner.is_some_and(|socket| socket.maps());
        let bytes = address::write(address, association.peer_port, maps);
        self.tell(number, kind::PEER_ADDR_CHANGE, |number, _| {
            notification::peer_addr_change(&bytes, state, number)
        });
    }

    /// Notifies the program of a message that the peer did not acknowledge.
    pub(crate) fn tell_failed(&mut self, number: i32, sent: bool, message: &Message) {
        let data = message.payload.to_bytes();
        let failed = Failed {
            sent,
            stream: message.stream.0,
            flags: u16::from(message.unordered),
            ppid: message.ppid.0.to_be(),
            context: message.context,
            id: number,
            data: &data,
        };
        self.tell(number, kind::SEND_FAILED, |_, _| notification::send_failed(&failed));
        self.tell(number, kind::SEND_FAILED_EVENT, |_, _| notification::send_failed_event(&failed));
    }

    /// Notifies the program of each error cause that the peer has sent; as in Linux, with its padding.
    pub(crate) fn tell_errors(&mut self, number: i32, causes: &[u8]) {
        let mut left = causes;
        while let &[high, low, first, second, ..] = left {
            let end = usize::from(u16::from_be_bytes([first, second])).next_multiple_of(4);
            let (cause, rest) = left.split_at(end.clamp(4, left.len()));
            self.tell(number, kind::REMOTE_ERROR, |number, _| {
                notification::remote_error(number, [high, low], &cause[4..])
            });
            left = rest;
        }
    }

    /// Notifies the program of the state of a key for AUTH.
    pub(crate) fn tell_key(&mut self, number: i32, state: KeyState, key: u16) {
        self.tell(number, kind::AUTHENTICATION, |number, _| notification::authentication(number, state, key));
    }

    /// Notifies programs of associations whose peer has acknowledged all data since the last call.
    pub(crate) fn tell_dry(&mut self) {
        for number in self.sending.clone() {
            if self.associations.get(number).is_some_and(|association| association.unfinished) {
                continue;
            }
            let stats = self.endpoint_of(number).and_then(|(endpoint, id)| endpoint.stats(id));
            match stats {
                Some(stats) if !stats.buffered.is_zero() => continue,
                Some(_) => self.tell(number, kind::SENDER_DRY, |number, _| notification::sender_dry(number)),
                None => {}
            }
            self.sending.remove(&number);
        }
    }

    /// Notifies the program of a reset of streams, or of the whole association if both directions are reset.
    pub(crate) fn tell_reset(
        &mut self,
        number: i32,
        incoming: bool,
        outgoing: bool,
        streams: &[StreamId],
        result: ResetResult,
    ) {
        if incoming && outgoing {
            let flags = outcome(result);
            return self
                .tell(number, kind::ASSOC_RESET, |number, _| notification::assoc_reset(flags, number));
        }
        let flags = u16::from(incoming) | u16::from(outgoing) << 1 | outcome(result);
        let streams: Vec<u16> = streams.iter().map(|stream| stream.0).collect();
        self.tell(number, kind::STREAM_RESET, |number, _| {
            notification::stream_reset(flags, number, &streams)
        });
    }

    /// Notifies the program of added streams, or of the failure to add them.
    pub(crate) fn tell_streams(&mut self, number: i32, result: ResetResult) {
        let flags = outcome(result);
        self.tell(number, kind::STREAM_CHANGE, |number, of| {
            notification::stream_change(flags, number, of.inbound, of.outbound)
        });
    }
}

/// The flags of a notification about a request to reset or add streams.
fn outcome(result: ResetResult) -> u16 {
    match result {
        ResetResult::Performed => 0,
        ResetResult::Denied => 4,
        _ => 8,
    }
}
