//! dcSCTP, a Rust port of the SCTP stack of WebRTC in Chrome.

use super::{Extended, PORT, Unreliable};
use anabranch_testkit::{Ending, Ours, Speaker, Station};
use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendError, SendOptions, SocketEvent, SocketState,
    SocketTime, StreamId,
};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;
use transport::{Octets, PacketBuf};
use units::Instant;

/// A dcSCTP socket, which is one association, and its addresses: dcSCTP does not handle addresses.
pub struct DcSctp {
    socket: Box<dyn DcSctpSocket>,
    local: IpAddr,
    remote: IpAddr,
    packets: VecDeque<Vec<u8>>,
    connected: bool,
    ending: Option<Ending>,
    interleaving: bool,
    /// Streams that the peer has reset, and own streams that are reset.
    resets: [Vec<u16>; 2],
}

impl DcSctp {
    /// A peer with these options of dcSCTP, except its ports and its MTU.
    pub fn new(seed: u64, local: IpAddr, remote: IpAddr, options: Options) -> Self {
        // dcSCTP takes tags and TSNs from the random generator of the thread.
        fastrand::seed(seed);
        let interleaving = options.enable_message_interleaving;
        let options = Options { local_port: PORT, remote_port: PORT, mtu: 1480, ..options };
        let socket = dcsctp::new_socket("dcsctp", &options);
        DcSctp {
            socket,
            local,
            remote,
            packets: VecDeque::new(),
            connected: false,
            ending: None,
            interleaving,
            resets: Default::default(),
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.packets.push_back(packet),
                SocketEvent::OnConnected() => {
                    let metrics = self.socket.get_metrics();
                    assert!(metrics.is_none_or(|m| m.uses_message_interleaving == self.interleaving));
                    self.connected = true;
                }
                SocketEvent::OnClosed() => self.end(Ending::Graceful),
                SocketEvent::OnAborted(ErrorKind::PeerReported, why) if why.is_empty() => {
                    self.end(Ending::Aborted)
                }
                SocketEvent::OnAborted(kind, why) => self.end(Ending::Broken(format!("{kind:?}: {why}"))),
                // The ERROR chunk of our endpoint about an unrecognized parameter (`rfc9260#section-3.2.1`).
                SocketEvent::OnError(ErrorKind::PeerReported, _) => {}
                SocketEvent::OnError(kind, why) => self.end(Ending::Broken(format!("{kind:?}: {why}"))),
                SocketEvent::OnIncomingStreamReset(streams) => {
                    self.resets[0].extend(streams.iter().map(|stream| stream.0));
                }
                SocketEvent::OnStreamsResetPerformed(streams) => {
                    self.resets[1].extend(streams.iter().map(|stream| stream.0));
                }
                SocketEvent::OnConnectionRestarted() => self.end(Ending::Broken("restarted".into())),
                _ => {}
            }
        }
    }

    fn say(&mut self, now: Instant, stream: u16, message: &[u8], options: &SendOptions) -> bool {
        self.set_clock(now);
        let message = Message::new(StreamId(stream), PpId(Ours::PPID.0), message.to_vec());
        let sent = self.socket.send(message, options);
        self.take_events();
        match sent {
            Ok(()) => true,
            Err(SendError::ResourceExhaustion) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn end(&mut self, how: Ending) {
        self.connected = false;
        self.ending.get_or_insert(how);
    }

    fn set_clock(&mut self, now: Instant) {
        self.socket.advance_time(SocketTime::zero() + Duration::from_nanos(now.as_nanos()));
    }
}

impl Station for DcSctp {
    fn handle(&mut self, now: Instant, _src: IpAddr, _dst: IpAddr, packet: Octets<'_>) {
        self.set_clock(now);
        self.socket.handle_input(&packet.to_vec());
        self.take_events();
    }

    fn poll_transmit(&mut self, _now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)> {
        let bytes = self.packets.pop_front()?;
        packet.clear();
        packet.head.extend_from_slice(&bytes);
        Some((self.local, self.remote))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let at = self.socket.poll_timeout();
        let since_zero = at - SocketTime::zero();
        (at != SocketTime::infinite_future()).then(|| Instant::from_nanos(since_zero.as_nanos() as u64))
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.set_clock(now);
        self.take_events();
    }
}

impl Speaker for DcSctp {
    fn connect(&mut self, now: Instant) {
        self.set_clock(now);
        self.socket.connect();
        self.take_events();
    }

    fn is_connected(&self) -> bool {
        self.connected
    }

    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool {
        self.say(now, stream, message, &SendOptions { unordered, ..SendOptions::default() })
    }

    fn receive(&mut self, _now: Instant) -> Option<(u16, Vec<u8>)> {
        let message = self.socket.get_next_message()?;
        assert_eq!(message.ppid, PpId(Ours::PPID.0));
        self.take_events();
        Some((message.stream_id.0, message.payload))
    }

    fn shutdown(&mut self, now: Instant) {
        assert_eq!(self.socket.state(), SocketState::Connected);
        self.set_clock(now);
        self.socket.shutdown();
        self.take_events();
    }

    fn ending(&self) -> Option<Ending> {
        self.ending.clone()
    }
}

impl Extended for DcSctp {
    fn send_unreliably(&mut self, now: Instant, unreliable: Unreliable, message: &[u8]) -> bool {
        let Unreliable { stream, unordered, lifetime } = unreliable;
        let max_retransmissions = lifetime.is_none().then_some(0);
        let options = SendOptions { unordered, lifetime, max_retransmissions, ..SendOptions::default() };
        self.say(now, stream, message, &options)
    }

    fn reset(&mut self, now: Instant, stream: u16) {
        self.set_clock(now);
        self.socket.reset_streams(&[StreamId(stream)]).expect("it is connected");
        self.take_events();
    }

    fn resets(&self) -> &[Vec<u16>; 2] {
        &self.resets
    }
}
