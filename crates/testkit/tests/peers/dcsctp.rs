//! dcSCTP, a Rust port of the SCTP stack of WebRTC in Chrome.

use super::PORT;
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

/// A dcSCTP socket, which is one association, and its addresses, which dcSCTP does not handle.
pub struct DcSctp {
    socket: Box<dyn DcSctpSocket>,
    local: IpAddr,
    remote: IpAddr,
    packets: VecDeque<Vec<u8>>,
    connected: bool,
    ending: Option<Ending>,
    interleaving: bool,
}

impl DcSctp {
    /// `interleaving`: it announces I-DATA, and expects it of the peer.
    pub fn new(seed: u64, local: IpAddr, remote: IpAddr, interleaving: bool) -> Self {
        // dcSCTP draws tags and TSNs from the thread's random generator.
        fastrand::seed(seed);
        let options = Options {
            local_port: PORT,
            remote_port: PORT,
            mtu: 1480,
            enable_message_interleaving: interleaving,
            ..Options::default()
        };
        let socket = dcsctp::new_socket("dcsctp", &options);
        DcSctp {
            socket,
            local,
            remote,
            packets: VecDeque::new(),
            connected: false,
            ending: None,
            interleaving,
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
                // Our ERROR chunk about an unrecognized parameter (`rfc9260#section-3.2.1`).
                SocketEvent::OnError(ErrorKind::PeerReported, _) => {}
                SocketEvent::OnError(kind, why) => self.end(Ending::Broken(format!("{kind:?}: {why}"))),
                SocketEvent::OnConnectionRestarted() => self.end(Ending::Broken("restarted".into())),
                _ => {}
            }
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
        self.set_clock(now);
        let message = Message::new(StreamId(stream), PpId(Ours::PPID.0), message.to_vec());
        let sent = self.socket.send(message, &SendOptions { unordered, ..SendOptions::default() });
        self.take_events();
        match sent {
            Ok(()) => true,
            Err(SendError::ResourceExhaustion) => false,
            Err(error) => panic!("{error}"),
        }
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
