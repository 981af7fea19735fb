use crate::{Ending, Speaker, Station};
use sctp::{
    AssocId, CloseReason, Datagram, Endpoint, EndpointConfig, Event, Message, Payload, SendError, Transmit,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use transport::{Octets, PacketBuf};
use units::Instant;
use wire::{Ppid, StreamId};

/// An Anabranch endpoint with one association, as a speaker.
#[derive(Debug)]
pub struct Ours {
    endpoint: Endpoint,
    port: u16,
    remotes: Vec<IpAddr>,
    association: Option<AssocId>,
    connected: bool,
    events: VecDeque<Event>,
    ending: Option<Ending>,
    /// Messages of which a part has been read, by their first TSN.
    partial: BTreeMap<u32, Vec<u8>>,
    bytes_read: u64,
    /// Maximum number of bytes that one call of `receive` reads.
    bite: usize,
}

impl Ours {
    /// Payload protocol identifier of all messages: WebRTC binary data, which all tested stacks deliver.
    pub const PPID: Ppid = Ppid(53);

    /// A listening endpoint. [`Speaker::connect`] connects it to `remotes`, with its own port number as
    /// destination port.
    ///
    /// # Panics
    /// If the configuration is invalid.
    pub fn new(config: EndpointConfig, remotes: Vec<IpAddr>) -> Self {
        let port = config.port;
        let mut endpoint = Endpoint::new(config).expect("a valid configuration");
        endpoint.listen(true);
        Ours {
            endpoint,
            port,
            remotes,
            association: None,
            connected: false,
            events: VecDeque::new(),
            ending: None,
            partial: BTreeMap::new(),
            bytes_read: 0,
            bite: usize::MAX,
        }
    }

    /// The endpoint.
    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// The association; `None` before the association exists.
    pub fn association(&self) -> Option<AssocId> {
        self.association
    }

    /// Sets the maximum number of bytes that one call of `receive` reads.
    pub fn set_bite(&mut self, bytes: usize) {
        self.bite = bytes;
    }

    /// Number of user bytes that the application has read, including those of incomplete messages.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next event, in the order of occurrence.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn take_events(&mut self) {
        while let Some((id, event)) = self.endpoint.poll_event() {
            self.association.get_or_insert(id);
            match &event {
                Event::Connected { .. } => self.connected = true,
                Event::Closed { reason } => {
                    self.connected = false;
                    self.ending = Some(match reason {
                        CloseReason::Graceful => Ending::Graceful,
                        CloseReason::PeerAbort { causes } if causes.is_empty() => Ending::Aborted,
                        other => Ending::Broken(format!("{other:?}")),
                    });
                }
                _ => {}
            }
            self.events.push_back(event);
        }
    }
}

impl Station for Ours {
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>) {
        self.endpoint.handle(now, Datagram::new(src, dst, packet));
        self.take_events();
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)> {
        let transmit = self.endpoint.poll_transmit(now, packet);
        self.take_events();
        transmit.map(|Transmit { src, dst, .. }| (src, dst))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.endpoint.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.endpoint.handle_timeout(now);
        self.take_events();
    }
}

impl Speaker for Ours {
    fn connect(&mut self, now: Instant) {
        let id = self.endpoint.connect(now, self.port, &self.remotes).expect("valid remote addresses");
        self.association = Some(id);
    }

    fn is_connected(&self) -> bool {
        self.connected
    }

    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool {
        let Some(id) = self.association else { return false };
        let payload = Payload::Bytes(message.to_vec().into());
        let message =
            Message { stream: StreamId(stream), ppid: Self::PPID, unordered, ..Message::new(payload) };
        match self.endpoint.send(now, id, message) {
            Ok(_) => true,
            Err(SendError::WouldBlock | SendError::Closed) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn receive(&mut self, _: Instant) -> Option<(u16, Vec<u8>)> {
        while let Some(part) = self.endpoint.receive(self.association?, self.bite) {
            assert_eq!(part.ppid, Self::PPID);
            self.bytes_read += part.payload.len() as u64;
            if part.aborted {
                self.partial.remove(&part.tsn.0);
                continue;
            }
            let message = self.partial.entry(part.tsn.0).or_default();
            message.extend_from_slice(&part.payload.to_bytes());
            if part.end_of_record {
                return Some((part.stream.0, self.partial.remove(&part.tsn.0)?));
            }
        }
        None
    }

    fn shutdown(&mut self, now: Instant) {
        if let Some(id) = self.association {
            self.endpoint.shutdown(now, id);
        }
    }

    fn ending(&self) -> Option<Ending> {
        self.ending.clone()
    }
}
