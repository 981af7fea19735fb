use super::Endpoint;
use crate::assoc::Remote;
use crate::icmp::{IcmpNews, Quote};
use transport::Channel;
use units::Instant;

impl Endpoint {
    /// Processes an ICMP message about a packet that the endpoint sent; false if it has no effect.
    ///
    /// The message must quote at least the first 8 bytes of a packet with the verification tag of an
    /// association, or 20 bytes of an INIT whose association waits for the INIT ACK, because anybody can
    /// send ICMP messages (`rfc9260#section-10`). "Packet too big" is a hint for path MTU discovery. An
    /// unreachable protocol or UDP port refuses an INIT; the association ends if all addresses refused
    /// it. An unreachable message after the INIT ACK, or of another kind, counts as an error of the
    /// path, at most once per RTO. Messages about associations with a [channel](Channel) have no effect,
    /// since they quote encrypted datagrams: see [`Self::on_guarded_icmp`].
    pub fn on_icmp(&mut self, now: Instant, news: IcmpNews<'_>) -> bool {
        let Some(quote) = Quote::read(news.quoted) else { return false };
        let (address, port, udp_port) = (news.dst, quote.destination_port, news.udp_port);
        let remote = Remote { channel: Channel::NONE, address, port, udp_port };
        let Some(slot) = self.addresses.user(&remote) else { return false };
        let Some(association) = self.associations.get_mut(slot) else { return false };
        let taken = association.on_icmp(now, &news, Some(&quote));
        self.schedule(slot);
        taken
    }

    /// As [`Self::on_icmp`], for a packet to the authenticated peer `channel`. The encryption layer
    /// has recognised the quoted packet, so `quoted` is not read. The message has its effect on at
    /// most 16 associations of this channel, with this destination address and UDP port.
    pub fn on_guarded_icmp(&mut self, now: Instant, channel: Channel, news: IcmpNews<'_>) -> bool {
        let mut taken = false;
        for slot in self.addresses.of_channel(channel, news.dst, news.udp_port) {
            if let Some(association) = self.associations.get_mut(slot) {
                taken |= association.on_icmp(now, &news, None);
                self.schedule(slot);
            }
        }
        taken
    }
}
