//! sctp-proto, the SCTP stack of str0m, derived from that of pion.
//!
//! Its shutdown deviates from RFC 9260, section 9.2. [`SctpProto`] corrects the following deviations of
//! version 0.10.8:
//!
//! - It sends SHUTDOWN although data is outstanding, because `shutdown` reads a counter that is never set.
//! - Its SHUTDOWN contains the cumulative TSN that the peer has acknowledged, not the cumulative TSN of the
//!   peer's data. Our endpoint takes this TSN for an acknowledgement of data that was never sent, and aborts
//!   the association.
//! - After its SHUTDOWN COMPLETE the association stays in SHUTDOWN-SENT.
//! - It reports an end by SHUTDOWN COMPLETE to the user as an ABORT.
//! - It does not assign SHUTDOWN COMPLETE and ABORT chunks with the T bit to their association (section
//!   8.5.1, rules B and C).
#![expect(clippy::disallowed_types, reason = "sctp-proto takes times of the system's clock")]

use super::{Extended, PORT, Unreliable};
use anabranch_testkit::{Ending, Speaker, Station};
use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ReliabilityType, ServerConfig, StreamEvent, TransportConfig,
};
use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use transport::{Checksum, Octets, PacketBuf};
use units::Instant;
use wire::{Abort, Chunk, CommonHeader, Encode, Packet, PacketWriter, Shutdown, ShutdownComplete, Tsn};

/// An endpoint with one association. Its tags and TSNs come from the system's random generator, so two runs
/// differ.
pub struct SctpProto {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    transport: Arc<TransportConfig>,
    /// The `Instant` that represents the start of the simulation.
    epoch: std::time::Instant,
    local: IpAddr,
    remote: IpAddr,
    packets: VecDeque<Bytes>,
    readable: VecDeque<u16>,
    connected: bool,
    ending: Option<Ending>,
    /// True once the application has requested a shutdown.
    closing: bool,
    /// Streams on which the endpoint has sent messages.
    streams: BTreeSet<u16>,
    /// Cumulative TSN of the last SACK that the endpoint sent; before the first SACK, the peer's initial TSN
    /// minus 1.
    acknowledged: Option<Tsn>,
    /// Verification tag of packets to the endpoint.
    tag: u32,
    /// How the last packet to the endpoint ended the association; `None` if the packet did not end it.
    told: Option<Ending>,
    /// Streams that the peer has reset, and own streams that are reset.
    resets: [Vec<u16>; 2],
}

impl SctpProto {
    pub fn new(local: IpAddr, remote: IpAddr) -> Self {
        let transport = Arc::new(
            TransportConfig::default()
                .with_local_port(PORT)
                .with_remote_port(PORT)
                .with_max_send_message_size(1 << 17)
                .with_max_receive_message_size(1 << 17),
        );
        let mut server = ServerConfig::new();
        server.transport = transport.clone();
        SctpProto {
            endpoint: Endpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(server))),
            association: None,
            transport,
            epoch: std::time::Instant::now(),
            local,
            remote,
            packets: VecDeque::new(),
            readable: VecDeque::new(),
            connected: false,
            ending: None,
            closing: false,
            streams: BTreeSet::new(),
            acknowledged: None,
            tag: 0,
            told: None,
            resets: Default::default(),
        }
    }

    fn clock(&self, now: Instant) -> std::time::Instant {
        self.epoch + Duration::from_nanos(now.as_nanos())
    }

    fn take_output(&mut self, now: Instant) {
        let now = self.clock(now);
        let Some((_, association)) = &mut self.association else { return };
        while let Some(transmit) = association.poll_transmit(now) {
            if let Payload::RawEncode(packets) = transmit.payload {
                self.packets.extend(packets);
            }
        }
        while let Some(event) = association.poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::HandshakeFailed { reason } => {
                    self.ending = Some(Ending::Broken(reason.to_string()));
                }
                Event::AssociationLost { reason } => {
                    self.connected = false;
                    let how = self.told.clone().unwrap_or(Ending::Broken(reason.to_string()));
                    self.ending.get_or_insert(how);
                }
                Event::Stream(StreamEvent::Readable { id }) => self.readable.push_back(id),
                Event::Stream(StreamEvent::Finished { id }) => self.resets[0].push(id),
                Event::Stream(StreamEvent::ResetComplete { id }) => self.resets[1].push(id),
                _ => {}
            }
        }
    }

    fn association(&mut self) -> &mut Association {
        &mut self.association.as_mut().expect("an association").1
    }

    fn say(
        &mut self,
        now: Instant,
        stream: u16,
        message: &[u8],
        (unordered, kind, value): (bool, ReliabilityType, u32),
    ) -> bool {
        self.streams.insert(stream);
        let association = self.association();
        let _ = association.open_stream(stream, PayloadProtocolIdentifier::Binary);
        let mut stream = association.stream(stream).expect("a stream");
        stream.set_reliability_params(unordered, kind, value).expect("a stream");
        stream
            .write_with_ppi(message, PayloadProtocolIdentifier::Binary)
            .expect("a stream that accepts data");
        self.take_output(now);
        true
    }

    /// Calls `shutdown` of the stack once all sent data is acknowledged.
    fn close_if_drained(&mut self, now: Instant) {
        let streams = self.streams.clone();
        let association = self.association();
        let drained = |id: &u16| association.stream(*id).and_then(|stream| stream.buffered_amount()) == Ok(0);
        if streams.iter().all(drained) {
            self.closing = false;
            self.association().shutdown().expect("an established association");
            self.take_output(now);
        }
    }

    /// Records the tags and SACKs of an outgoing packet, and corrects the cumulative TSN of a SHUTDOWN.
    fn correct(&mut self, bytes: Bytes, packet: &mut PacketBuf) {
        packet.clear();
        packet.head.extend_from_slice(&bytes);
        let parsed = Packet::parse(Octets::from(&bytes[..]), Checksum::Computed).expect("a right checksum");
        for chunk in parsed.chunks().map(|chunk| chunk.expect("a right chunk")) {
            match chunk {
                Chunk::Init(init) => self.tag = init.initiate_tag,
                Chunk::InitAck(ack) => self.tag = ack.0.initiate_tag,
                Chunk::Sack(sack) => self.acknowledged = Some(sack.cumulative_tsn_ack),
                Chunk::Shutdown(_) => {
                    let cumulative_tsn_ack = self.acknowledged.expect("a handshake before the SHUTDOWN");
                    write(packet, parsed.header, &Shutdown { cumulative_tsn_ack });
                }
                Chunk::ShutdownComplete(_) => {
                    self.ending.get_or_insert(Ending::Graceful);
                }
                _ => {}
            }
        }
    }

    /// A copy of an arriving packet in which chunks with the T bit are replaced by chunks without it.
    fn translated(&mut self, octets: Octets<'_>) -> Bytes {
        let parsed = Packet::parse(octets, Checksum::Computed).expect("a right checksum");
        let mut packet = PacketBuf::default();
        let header = CommonHeader { verification_tag: self.tag, ..parsed.header };
        self.told = None;
        match parsed.chunks().next() {
            Some(Ok(Chunk::Init(init))) => self.acknowledged = Some(init.initial_tsn.previous()),
            Some(Ok(Chunk::InitAck(ack))) => self.acknowledged = Some(ack.0.initial_tsn.previous()),
            Some(Ok(Chunk::ShutdownComplete(complete))) => {
                self.told = Some(Ending::Graceful);
                if complete.reflected_tag {
                    write(&mut packet, header, &ShutdownComplete { reflected_tag: false });
                }
            }
            Some(Ok(Chunk::Abort(abort))) => {
                let silent = abort.causes.as_bytes().is_empty();
                self.told = silent.then_some(Ending::Aborted);
                if abort.reflected_tag {
                    write(&mut packet, header, &Abort { reflected_tag: false, ..abort });
                }
            }
            _ => {}
        }
        if packet.head.is_empty() { octets.to_vec().into() } else { packet.head.into() }
    }
}

fn write(packet: &mut PacketBuf, header: CommonHeader, chunk: &impl Encode) {
    let mut writer = PacketWriter::new(packet, header, 1480);
    assert!(writer.push(chunk));
    writer.finish(Checksum::Computed);
}

impl Station for SctpProto {
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>) {
        let bytes = self.translated(packet);
        let src = SocketAddr::new(src, PORT);
        let handled = self.endpoint.handle(self.clock(now), src, Some(dst), None, bytes);
        match (handled, &mut self.association) {
            (Some((handle, DatagramEvent::NewAssociation(association))), None) => {
                self.association = Some((handle, association));
            }
            (Some((handle, DatagramEvent::AssociationEvent(event))), Some((ours, association))) => {
                assert_eq!(handle, *ours);
                association.handle_event(event);
            }
            _ => {}
        }
        self.take_output(now);
        if self.closing {
            self.close_if_drained(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)> {
        if self.packets.is_empty() {
            self.take_output(now);
        }
        let bytes = self.packets.pop_front()?;
        self.correct(bytes, packet);
        Some((self.local, self.remote))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let (_, association) = self.association.as_ref()?;
        let at = association.poll_timeout()?.saturating_duration_since(self.epoch);
        Some(Instant::from_nanos(at.as_nanos() as u64))
    }

    fn handle_timeout(&mut self, now: Instant) {
        let clock = self.clock(now);
        self.association().handle_timeout(clock);
        self.take_output(now);
    }
}

impl Speaker for SctpProto {
    fn connect(&mut self, now: Instant) {
        let mut config = ClientConfig::new();
        config.transport = self.transport.clone();
        let connected = self.endpoint.connect(config, SocketAddr::new(self.remote, PORT));
        self.association = Some(connected.expect("a peer to connect to"));
        self.take_output(now);
    }

    fn is_connected(&self) -> bool {
        self.connected
    }

    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool {
        self.say(now, stream, message, (unordered, ReliabilityType::Reliable, 0))
    }

    fn receive(&mut self, now: Instant) -> Option<(u16, Vec<u8>)> {
        while let Some(&id) = self.readable.front() {
            let mut stream = self.association().stream(id).ok()?;
            if let Some(chunks) = stream.read().expect("a stream") {
                let mut bytes = vec![0; chunks.len()];
                chunks.read(&mut bytes).expect("room");
                self.take_output(now);
                return Some((id, bytes));
            }
            self.readable.pop_front();
        }
        None
    }

    fn shutdown(&mut self, now: Instant) {
        self.closing = true;
        self.close_if_drained(now);
    }

    fn ending(&self) -> Option<Ending> {
        self.ending.clone()
    }
}

impl Extended for SctpProto {
    fn send_unreliably(&mut self, now: Instant, unreliable: Unreliable, message: &[u8]) -> bool {
        let Unreliable { stream, unordered, lifetime } = unreliable;
        let (kind, value) = match lifetime {
            Some(lifetime) => (ReliabilityType::Timed, lifetime.as_millis() as u32),
            None => (ReliabilityType::Rexmit, 0),
        };
        self.say(now, stream, message, (unordered, kind, value))
    }

    fn reset(&mut self, now: Instant, stream: u16) {
        // If the peer has reset its stream, the stack has reset this one in answer, and it no longer exists.
        if let Ok(mut stream) = self.association().stream(stream) {
            stream.close().expect("an established association");
        }
        self.take_output(now);
    }

    fn resets(&self) -> &[Vec<u16>; 2] {
        &self.resets
    }
}
