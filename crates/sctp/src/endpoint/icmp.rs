use super::Endpoint;
use crate::assoc::Remote;
use crate::icmp::{IcmpNews, Quote};
use units::Instant;

impl Endpoint {
    /// Takes an ICMP message about a packet that the endpoint sent. It is discarded silently unless it quotes at least the
    /// first 8 bytes of a packet with the verification tag of an association, or 20 bytes of an INIT whose association waits
    /// for the INIT ACK: anybody can send such messages (`rfc9260#section-10`). A "packet too big" is a hint for path MTU
    /// discovery, if that is on. An unreachable protocol or UDP port is the refusal of an address while the association waits for the
    /// INIT ACK, and ends it if all addresses have refused; later, and for anything else unreachable, it is an error of the path, at
    /// most one per RTO. False if nothing came of it.
    pub fn on_icmp(&mut self, now: Instant, news: IcmpNews<'_>) -> bool {
        let Some(quote) = Quote::read(news.quoted) else { return false };
        let remote = Remote { address: news.dst, port: quote.destination_port, udp_port: news.udp_port };
        let Some(slot) = self.addresses.user(&remote) else { return false };
        let Some(association) = self.associations.get_mut(slot) else { return false };
        let taken = association.on_icmp(now, &news, &quote);
        self.schedule(slot);
        taken
    }
}
