//! Effects of ICMP messages on an association.

use super::Association;
use super::phase::Phase;
use crate::event::CloseReason;
use crate::icmp::{Icmp, IcmpNews, Quote};
use crate::path::PathId;
use units::Instant;

impl Association {
    /// Processes an ICMP message; false if it quotes no packet of this association, or has no effect.
    /// Without a quote, the encryption layer has recognised the packet.
    pub(crate) fn on_icmp(&mut self, now: Instant, news: &IcmpNews<'_>, quote: Option<&Quote>) -> bool {
        if quote.is_some_and(|quote| !self.is_quoted(quote)) {
            return false;
        }
        let Some(p) = self.paths.towards(news.dst, news.src) else {
            return false;
        };
        match news.what {
            Icmp::PacketTooBig { mtu } => {
                self.update_mtu(p, |pmtud| pmtud.on_packet_too_big(mtu.get() as usize));
            }
            // rfc9260#section-10, ICMP3: without UDP, Port Unreachable never refers to an SCTP port.
            Icmp::PortUnreachable if news.udp_port == 0 => return false,
            // The INIT is refused as by an ABORT (ICMP8), and may be sent to another address.
            Icmp::PortUnreachable | Icmp::ProtocolUnreachable
                if matches!(self.phase, Phase::CookieWait { .. }) =>
            {
                if !self.refused_at(now, p) {
                    self.close(CloseReason::Unreachable, None);
                }
            }
            Icmp::PortUnreachable | Icmp::ProtocolUnreachable | Icmp::Unreachable => {
                return self.count_unreachable(now, p);
            }
        }
        self.settle(now);
        true
    }

    /// True if the quoted packet has the peer's tag, or is our INIT (`rfc9260#section-10`, ICMP6).
    fn is_quoted(&self, quote: &Quote) -> bool {
        if (quote.source_port, quote.destination_port) != (self.port, self.peer_port) {
            return false;
        }
        match quote.verification_tag {
            0 => quote.initiate_tag == Some(self.local_tag) && matches!(self.phase, Phase::CookieWait { .. }),
            tag => tag == self.peer_tag,
        }
    }

    /// Counts an error of the path, at most one per RTO, and none of the association: other paths may work.
    fn count_unreachable(&mut self, now: Instant, p: PathId) -> bool {
        let path = &mut self.paths[p];
        if !self.phase.is_open() || path.unreachable_until.is_some_and(|until| now < until) {
            return false;
        }
        path.unreachable_until = Some(now + path.rto.current());
        self.path_error(now, p, false);
        self.settle(now);
        true
    }
}
