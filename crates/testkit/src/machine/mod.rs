//! A test of two endpoints, or of one endpoint whose peer is unreachable. A [`Tape`] contains the commands:
//! calls of the application; time that passes; packets that are delivered, lost, duplicated, replayed,
//! misdelivered, changed, or forged with the correct verification tag.
//!
//! [`play`] panics if an invariant is violated. A coverage-guided fuzzer, property tests and the replay of
//! stored cases all use it.

mod forge;
mod host;
mod network;
mod options;
mod reports;
mod tape;
mod time;

pub use options::any_config;
pub use tape::Tape;

use crate::Side;
use host::Host;
use network::Flying;
use sctp::{AssocOptions, Message, PathId, Payload, Reliability, ResetDirection};
use std::net::IpAddr;
use transport::PacketBuf;
use units::{Instant, Span};
use wire::{Ppid, StreamId};

/// Runs the commands in `bytes`.
///
/// # Panics
/// If an invariant is violated: an endpoint panics, holds more data than its buffers, sends too many packets
/// in response to one packet, delivers a message that was not sent, or does not deliver all messages once all
/// packets arrive.
pub fn play(bytes: &[u8]) {
    let mut tape = Tape::new(bytes);
    let mut machine = Machine::new(&mut tape);
    for _ in 0..MOST_COMMANDS {
        if tape.is_over() {
            break;
        }
        machine.command(&mut tape);
    }
    machine.finish();
}

/// Number of networks between the endpoints.
const NETS: u8 = 2;

/// Largest number of commands in a run.
const MOST_COMMANDS: usize = 400;

struct Machine {
    now: Instant,
    hosts: [Host; 2],
    flying: Vec<Flying>,
    history: Vec<Flying>,
    /// True if no packets are changed or forged, so that only messages that were sent may be delivered.
    honest: bool,
    /// True if no packet reaches the server after the handshake. The client then receives only earlier and
    /// forged packets.
    server_unreachable: bool,
    /// True once an association has ended or restarted: some messages may then not be delivered.
    ended: bool,
    /// Number of delivered packets that were ECN-capable.
    capable: u64,
    buf: PacketBuf,
}

impl Machine {
    fn new(tape: &mut Tape<'_>) -> Machine {
        let first = tape.byte();
        let server_unreachable = first & 0x80 != 0;
        let honest = first & 1 != 0 && !server_unreachable;
        let hosts = [Side::Client, Side::Server].map(|side| Host::new(side, any_config(tape)));
        let (flying, history) = (Vec::new(), Vec::new());
        let mut machine = Machine {
            now: Instant::ZERO,
            hosts,
            flying,
            history,
            honest,
            server_unreachable: false,
            ended: false,
            capable: 0,
            buf: PacketBuf::default(),
        };
        if !tape.once_in(4) {
            machine.establish();
            machine.server_unreachable = server_unreachable;
        }
        machine
    }

    /// Runs a handshake without losses or changed packets.
    fn establish(&mut self) {
        self.connect(Side::Client, NETS);
        for _ in 0..8 {
            self.deliver_all();
        }
    }

    fn command(&mut self, tape: &mut Tape<'_>) {
        let side = if tape.flag() { Side::Client } else { Side::Server };
        match tape.below(32) {
            0 => self.connect(side, tape.between(1, u64::from(NETS)) as u8),
            1..=6 => self.say(side, tape),
            7..=9 => self.read(side, tape.pick(&[1, 100, usize::MAX])),
            10..=14 => self.fly(tape, false),
            15 => self.fly(tape, true),
            16 => {
                if !self.flying.is_empty() {
                    let lost = tape.below(self.flying.len() as u64) as usize;
                    self.flying.swap_remove(lost);
                }
            }
            17 => self.replay(tape),
            18 | 19 => self.deliver_all(),
            20 => self.forge(tape),
            21 if tape.flag() => self.icmp(side, tape),
            21 => self.forge(tape),
            22 => self.change(tape),
            23..=25 => self.pass(Span::from_millis(tape.below(300))),
            26 | 27 => self.expire(),
            28 => self.pass(Span::from_secs(tape.below(70))),
            29 => self.ask(side, tape),
            30 => self.end(side, tape),
            _ => self.set_options(side, tape),
        }
    }

    fn host(&mut self, side: Side) -> &mut Host {
        &mut self.hosts[side as usize]
    }

    fn connect(&mut self, side: Side, nets: u8) {
        let (now, port) = (self.now, side.other().port());
        let addresses: Vec<IpAddr> = (1..=nets).map(|net| side.other().address(net)).collect();
        let host = self.host(side);
        if let Ok(id) = host.endpoint.connect(now, port, &addresses) {
            host.association = Some(id);
        }
        self.drain(side);
    }

    fn say(&mut self, side: Side, tape: &mut Tape<'_>) {
        let (now, honest) = (self.now, self.honest);
        let host = self.host(side);
        let Some(id) = host.association else { return };
        let length = if tape.once_in(4) { tape.between(1, 6_000) } else { tape.between(1, 300) } as usize;
        let (stream, unordered) = (tape.below(4) as u16, tape.once_in(3));
        let path = tape.once_in(6).then(|| PathId(tape.below(3) as u8));
        host.messages = host.messages.wrapping_add(1);
        let bytes = vec![host.messages; length];
        let payload = Payload::Bytes(bytes.clone().into());
        let end_of_record = honest || !tape.once_in(5);
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(tape.below(2) as u32),
            unordered,
            immediate_sack: tape.flag(),
            end_of_record,
            path,
            urgent: host.messages.is_multiple_of(5),
            tracked: host.messages & 1 == 0,
            reliability: reliability(length),
            context: host.messages.into(),
            payload,
        };
        if let Ok(message) = host.endpoint.send(now, id, message) {
            if let Some(message) = message {
                host.reports.taken(id, message);
            }
            if honest {
                host.undelivered.push(stream, unordered, bytes);
            }
        }
        self.drain(side);
    }

    fn read(&mut self, side: Side, most: usize) {
        let honest = self.honest && !self.ended;
        let [client, server] = &mut self.hosts;
        let (reader, writer) = if side == Side::Client { (client, server) } else { (server, client) };
        let Some(id) = reader.association else { return };
        let before = reader.read;
        while let Some(part) = reader.endpoint.receive(id, most) {
            if part.aborted {
                reader.parts.remove(&part.tsn.0);
                continue;
            }
            reader.read += part.payload.len() as u64;
            let message = reader.parts.entry(part.tsn.0).or_default();
            message.extend_from_slice(&part.payload.to_bytes());
            if part.end_of_record {
                let message = reader.parts.remove(&part.tsn.0).unwrap_or_default();
                assert!(
                    !honest || writer.undelivered.take(part.stream.0, part.unordered, &message),
                    "{side:?} read {} bytes of {:?} on stream {} that were not sent or not next",
                    message.len(),
                    message.first(),
                    part.stream.0
                );
            }
        }
        let more = reader.read > before;
        self.drain(side);
        // Reading stops before a message that follows a reset of its stream. The application has
        // now got that event, so it reads on.
        if more && self.host(side).endpoint.next_message_len(id).is_some() {
            self.read(side, most);
        }
    }

    fn ask(&mut self, side: Side, tape: &mut Tape<'_>) {
        let net = tape.between(1, 3) as u8;
        let (now, address) = (self.now, side.other().address(net));
        if net > NETS {
            self.reset(side);
        }
        let host = self.host(side);
        let Some(id) = host.association else { return };
        let local = side.address(net);
        // The choice consumes no byte of the tape: a new byte would change the meaning of stored fuzz inputs.
        match (tape.flag(), host.messages % 4) {
            (true, 0) => host.endpoint.add_local_address(now, id, local).is_ok(),
            (true, 1) => host.endpoint.remove_local_address(now, id, local).is_ok(),
            (true, _) => host.endpoint.heartbeat(now, id, address).is_ok(),
            (false, 2) => host.endpoint.set_peer_primary(now, id, local).is_ok(),
            (false, _) => host.endpoint.set_primary(id, address).is_ok(),
        };
        self.drain(side);
    }

    /// Resets or adds streams. The number of messages sent chooses the streams: no byte of the tape is
    /// consumed, so that stored fuzz inputs keep their meaning.
    fn reset(&mut self, side: Side) {
        let now = self.now;
        let host = self.host(side);
        let Some(id) = host.association else { return };
        let (endpoint, stream) = (&mut host.endpoint, [StreamId(u16::from(host.messages % 4))]);
        let _ = match host.messages / 4 % 6 {
            0 => endpoint.reset_streams(now, id, ResetDirection::Outgoing, &stream),
            1 => endpoint.reset_streams(now, id, ResetDirection::Incoming, &stream),
            2 => endpoint.reset_streams(now, id, ResetDirection::Both, &[]),
            3 => endpoint.reset_streams(now, id, ResetDirection::Outgoing, &[]),
            4 => endpoint.reset_association(now, id),
            _ => endpoint.add_streams(now, id, 1, 2),
        };
        self.drain(side);
    }

    fn end(&mut self, side: Side, tape: &mut Tape<'_>) {
        let now = self.now;
        let host = self.host(side);
        let Some(id) = host.association else { return };
        if tape.once_in(3) {
            host.endpoint.abort(id, b"random abort");
        } else {
            host.endpoint.shutdown(now, id);
        }
        self.ended = true;
        self.drain(side);
    }

    fn set_options(&mut self, side: Side, tape: &mut Tape<'_>) {
        let now = self.now;
        let host = self.host(side);
        let options = AssocOptions::of(&any_config(tape));
        if let Some(id) = host.association {
            let _ = host.endpoint.set_options(now, id, &options);
        }
        self.drain(side);
    }
}

/// The reliability of a message, derived from its length: no byte of the tape is consumed, so that stored
/// fuzz inputs keep their meaning.
fn reliability(length: usize) -> Reliability {
    match length % 9 {
        1 => Reliability::Until(Span::from_millis(length as u64 / 9)),
        2 => Reliability::Retransmissions(length as u32 / 9 % 3),
        4 => Reliability::Priority(length as u32 / 9 % 4),
        _ => Reliability::Reliable,
    }
}
