//! Out of the blue packets: packets that belong to no association (`rfc9260#section-8.4`).

use wire::{Cause, Chunk, Packet};

/// The answer to an out of the blue packet. The answer has the tag of the packet, and the T bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Silence,
    ShutdownComplete,
    Abort,
}

/// The answer to a packet whose first chunk after AUTH is neither INIT nor COOKIE ECHO
/// (`rfc4895#section-6.3`).
pub(super) fn answer(packet: &Packet<'_>) -> Answer {
    let chunks = packet.chunks().map_while(Result::ok);
    let mut chunks = chunks.filter(|chunk| !matches!(chunk, Chunk::Auth(_))).peekable();
    if chunks.peek().is_none() {
        return Answer::Silence;
    }
    let mut answer = Answer::Abort;
    for chunk in chunks {
        answer = match chunk {
            Chunk::Abort(_) => return Answer::Silence,
            Chunk::ShutdownAck(_) => Answer::ShutdownComplete,
            Chunk::ShutdownComplete(_) | Chunk::CookieAck(_) | Chunk::Init(_) => Answer::Silence,
            Chunk::Error(error)
                if error.causes.iter().any(|cause| matches!(cause, Ok(Cause::StaleCookie { .. }))) =>
            {
                Answer::Silence
            }
            _ => continue,
        };
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::{Checksum, PacketBuf};
    use units::Span;
    use wire::*;

    fn packet(chunks: &[Chunk<'_>]) -> PacketBuf {
        let mut buf = PacketBuf::default();
        let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        chunks.iter().for_each(|chunk| assert!(w.push(chunk)));
        w.finish(Checksum::Offloaded);
        buf
    }

    // rfc9260#section-8.4, rfc4895#section-6.3
    #[test]
    fn out_of_the_blue_packets_are_answered_by_the_rules_of_section_8_4() {
        let mut stale = CauseList::new();
        stale.push(&Cause::StaleCookie { staleness: Span::from_secs(1) });
        let abort = Chunk::Abort(Abort { reflected_tag: false, causes: Causes::default() });
        let data = Chunk::Data(Data {
            flags: DataFlags::default(),
            tsn: Tsn(1),
            stream: StreamId(0),
            ssn: Ssn(0),
            ppid: Ppid(0),
            payload: (&[1]).into(),
        });
        let heartbeat = Chunk::Heartbeat(Heartbeat { info: &[] });
        let complete = Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: false });
        let auth = Chunk::Auth(Auth { flags: 0, key_id: 0, hmac_id: 1, hmac: &[0; 20] });
        let table: [(&[Chunk<'_>], Answer); 15] = [
            (&[], Answer::Silence),
            (&[data, abort], Answer::Silence),
            (&[Chunk::ShutdownAck(ShutdownAck)], Answer::ShutdownComplete),
            (&[complete], Answer::Silence),
            (&[Chunk::CookieAck(CookieAck), data], Answer::Silence),
            (&[Chunk::Error(OperationError { causes: stale.as_causes() })], Answer::Silence),
            (&[Chunk::Error(OperationError { causes: Causes::default() })], Answer::Abort),
            (&[data], Answer::Abort),
            (&[heartbeat], Answer::Abort),
            (&[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(0) })], Answer::Abort),
            (&[auth], Answer::Silence),
            (&[auth, data], Answer::Abort),
            (&[auth, data, abort], Answer::Silence),
            (&[auth, Chunk::ShutdownAck(ShutdownAck)], Answer::ShutdownComplete),
            (&[auth, complete], Answer::Silence),
        ];
        for (chunks, expected) in table {
            let buf = packet(chunks);
            let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
            assert_eq!(answer(&packet), expected, "{chunks:?}");
        }
    }
}
