//! The state cookie holds the state of an association that does not exist yet. The peer stores the cookie, so
//! that an INIT takes no memory here (`rfc9260#section-5.1.3`).

use super::{Peer, Remote, TieTags};
use crate::ext::auth::Terms;
use crate::ext::{Ext, Extensions};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use transport::Channel;
use units::{Instant, Span};
use wire::Tsn;

/// The secret key that signs cookies.
#[derive(Clone)]
pub(crate) struct CookieKey(Hmac<Sha256>);

impl CookieKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        CookieKey(<Hmac<Sha256> as Mac>::new_from_slice(&secret).expect("any length makes a key"))
    }

    /// The random number for AUTH of an association, derived from its tag and TSN. So a cookie need not
    /// contain the number, and our INIT and our INIT ACK have the same number if the INITs of both ends cross
    /// (`rfc4895#section-3.1`).
    pub(crate) fn random_of(&self, tag: u32, tsn: Tsn) -> [u8; 32] {
        let mut mac = self.0.clone();
        // This input is shorter than the signed bytes of any cookie, so it never equals them.
        mac.update(b"RANDOM");
        mac.update(&tag.to_be_bytes());
        mac.update(&tsn.0.to_be_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CookieKey")
    }
}

/// The contents of a cookie: the state of the association that the INIT ACK announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    /// Time at which the cookie becomes stale, in whole microseconds, the unit of the Stale Cookie cause.
    pub(crate) expires: Instant,
    pub(crate) local_port: u16,
    pub(crate) local_tag: u32,
    pub(crate) local_tsn: Tsn,
    /// Tie-tags of the association that existed when the INIT arrived, or zeros.
    pub(crate) ties: TieTags,
    /// The channel of the packet with the INIT (the number of an authenticated peer).
    pub(crate) channel: Channel,
    /// `source` is the destination of the INIT ACK; `addresses` does not contain it.
    pub(crate) peer: Peer,
}

/// Values that are in the packet with the COOKIE ECHO anyway. The signature covers them, but the cookie does
/// not contain them, so that an INIT ACK stays below three times the size of the shortest INIT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) source: IpAddr,
    pub(crate) peer_port: u16,
    pub(crate) local_port: u16,
    /// The verification tag.
    pub(crate) local_tag: u32,
    /// The channel of the packet: the encryption layer sets it to the number of the peer that it
    /// authenticated.
    pub(crate) channel: Channel,
}

/// Bytes of the signature, which comes first: half of the hash, the shortest that `rfc2104#section-5` allows.
const MAC_LEN: usize = 16;

/// Flag: tie-tags follow.
const TIED: u8 = 1;
/// Flag: addresses follow. Without the flag, the destination of the INIT ACK is the only address.
const LISTED: u8 = 2;
/// Flag: all bits of [`Extensions`] follow in two bytes, after the fields of fixed length.
const WIDE: u8 = 0x80;
/// Flag together with `WIDE`: the Adaptation Layer Indication follows the extensions.
const ADAPTED: u8 = 4;
/// Without `WIDE`, the flags between `LISTED` and `WIDE` are the low bits of [`Extensions`].
const EXTENSIONS_SHIFT: u32 = 2;
const NARROW: u16 = 0x1f;

impl Cookie {
    /// Sources of the peer's packets, if all of them have this UDP port.
    pub(crate) fn remotes(&self, udp_port: u16) -> impl Iterator<Item = Remote> {
        let (channel, port) = (self.channel, self.peer.port);
        let addresses = std::iter::once(self.peer.source).chain(self.peer.addresses.iter().copied());
        addresses.map(move |address| Remote { channel, address, port, udp_port })
    }

    /// Time since the cookie became stale; none if it is not.
    pub(crate) fn staleness(&self, now: Instant) -> Option<Span> {
        (now > self.expires).then(|| now.since(self.expires))
    }

    /// The end of a lifetime that begins at `now`, rounded up to a whole microsecond.
    pub(crate) fn expiry(now: Instant, lifetime: Span) -> Instant {
        let nanos = (now + lifetime).as_nanos();
        Instant::from_nanos(nanos.div_ceil(1000).saturating_mul(1000))
    }

    pub(crate) fn seal(&self, key: &CookieKey) -> Vec<u8> {
        let mut out = vec![0; MAC_LEN];
        let (tied, listed) = (self.ties != TieTags::NONE, !self.peer.addresses.is_empty());
        let extensions = self.peer.extensions.to_bits();
        let adaptation = self.peer.adaptation;
        let wide = extensions & !NARROW != 0 || adaptation.is_some();
        let adapted = u8::from(adaptation.is_some()) * ADAPTED;
        let narrow = if wide { WIDE | adapted } else { (extensions as u8) << EXTENSIONS_SHIFT };
        out.push((u8::from(tied) * TIED) | (u8::from(listed) * LISTED) | narrow);
        // 56 bits of microseconds hold any time of 64 bits of nanoseconds.
        out.extend_from_slice(&(self.expires.as_nanos() / 1000).to_be_bytes()[1..]);
        for number in [self.local_tsn.0, self.peer.tag, self.peer.a_rwnd, self.peer.initial_tsn.0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for number in [self.peer.outbound_streams, self.peer.inbound_streams] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        if wide {
            out.extend_from_slice(&extensions.to_be_bytes());
        }
        if let Some(code) = adaptation {
            out.extend_from_slice(&code.to_be_bytes());
        }
        if tied {
            out.extend_from_slice(&self.ties.local.to_be_bytes());
            out.extend_from_slice(&self.ties.peer.to_be_bytes());
        }
        if let Some(terms) = &self.peer.auth {
            terms.write(&mut out);
        }
        if listed {
            for address in std::iter::once(&self.peer.source).chain(&self.peer.addresses) {
                write_address(&mut out, *address);
            }
        }
        let envelope = Envelope {
            source: self.peer.source,
            peer_port: self.peer.port,
            local_port: self.local_port,
            local_tag: self.local_tag,
            channel: self.channel,
        };
        let mac = signature(key, &out[MAC_LEN..], &envelope).finalize().into_bytes();
        out[..MAC_LEN].copy_from_slice(&mac[..MAC_LEN]);
        out
    }

    /// Decodes a cookie if its signature is ours and is valid for this packet.
    pub(crate) fn open(key: &CookieKey, bytes: &[u8], envelope: &Envelope) -> Option<Cookie> {
        let (mac, body) = bytes.split_at_checked(MAC_LEN)?;
        signature(key, body, envelope).verify_truncated_left(mac).ok()?;
        let mut body = Reader(body);
        let [flags] = body.take()?;
        let [a, b, c, d, e, f, g] = body.take()?;
        let micros = u64::from_be_bytes([0, a, b, c, d, e, f, g]);
        let [local_tsn, tag, a_rwnd, initial_tsn] = body.words()?;
        let (outbound_streams, inbound_streams) = (body.half()?, body.half()?);
        let narrow = u16::from(flags >> EXTENSIONS_SHIFT) & NARROW;
        let extensions = if flags & WIDE != 0 { body.half()? } else { narrow };
        let adapted = flags & (WIDE | ADAPTED) == WIDE | ADAPTED;
        let adaptation = if adapted { Some(u32::from_be_bytes(body.take()?)) } else { None };
        let mut ties = TieTags::NONE;
        if flags & TIED != 0 {
            let [local, peer] = body.words()?;
            ties = TieTags { local, peer };
        }
        let mut auth = None;
        if Extensions::from_bits(extensions).has(Ext::Auth) {
            let (terms, rest) = Terms::read(body.0)?;
            (auth, body) = (Some(terms), Reader(rest));
        }
        let source = if flags & LISTED != 0 { body.address()? } else { envelope.source };
        let mut addresses = Vec::new();
        while let Some(address) = body.address() {
            addresses.push(address);
        }
        Some(Cookie {
            expires: Instant::from_nanos(micros.saturating_mul(1000)),
            local_port: envelope.local_port,
            local_tag: envelope.local_tag,
            local_tsn: Tsn(local_tsn),
            ties,
            channel: envelope.channel,
            peer: Peer {
                port: envelope.peer_port,
                tag,
                a_rwnd,
                outbound_streams,
                inbound_streams,
                initial_tsn: Tsn(initial_tsn),
                source,
                addresses,
                extensions: Extensions::from_bits(extensions),
                auth,
                adaptation,
            },
        })
    }
}

/// Signs the values of the packet and the body of a cookie. The source is signed unless the body lists it,
/// and the channel if there is one. Each of these two follows a number that tells which one it is, so that
/// different cookies never have equal signed bytes.
fn signature(key: &CookieKey, body: &[u8], envelope: &Envelope) -> Hmac<Sha256> {
    let mut out = Vec::with_capacity(30);
    out.extend_from_slice(&envelope.local_tag.to_be_bytes());
    out.extend_from_slice(&envelope.local_port.to_be_bytes());
    out.extend_from_slice(&envelope.peer_port.to_be_bytes());
    if envelope.channel != Channel::NONE {
        out.push(1);
        out.extend_from_slice(&envelope.channel.0.to_be_bytes());
    }
    match body.first() {
        Some(flags) if flags & LISTED == 0 => write_address(&mut out, envelope.source),
        _ => out.push(0),
    }
    let mut mac = key.0.clone();
    mac.update(&out);
    mac.update(body);
    mac
}

fn write_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => {
            out.push(4);
            out.extend_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            out.push(6);
            out.extend_from_slice(&address.octets());
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn words<const N: usize>(&mut self) -> Option<[u32; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = u32::from_be_bytes(self.take()?);
        }
        Some(words)
    }

    fn half(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn address(&mut self) -> Option<IpAddr> {
        match self.take()? {
            [4] => Some(Ipv4Addr::from(self.take::<4>()?).into()),
            _ => Some(Ipv6Addr::from(self.take::<16>()?).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie() -> Cookie {
        Cookie {
            expires: Instant::from_nanos(61_000_000_000),
            local_port: 7,
            local_tag: 0x0102_0304,
            local_tsn: Tsn(u32::MAX),
            ties: TieTags { local: 5, peer: 6 },
            channel: Channel::NONE,
            peer: Peer {
                port: 9,
                tag: 0xfeed_beef,
                a_rwnd: 65_536,
                outbound_streams: 3,
                inbound_streams: 4,
                initial_tsn: Tsn(77),
                source: [10, 1, 0, 1].into(),
                addresses: vec![[10, 2, 0, 1].into(), Ipv6Addr::LOCALHOST.into()],
                extensions: Extensions::from_bits(1),
                auth: None,
                adaptation: None,
            },
        }
    }

    /// A cookie without optional parts.
    fn plain() -> Cookie {
        let mut plain = Cookie { ties: TieTags::NONE, ..cookie() };
        plain.peer.addresses.clear();
        plain.peer.extensions = Extensions::default();
        plain
    }

    fn envelope() -> Envelope {
        Envelope {
            source: [10, 1, 0, 1].into(),
            peer_port: 9,
            local_port: 7,
            local_tag: 0x0102_0304,
            channel: Channel::NONE,
        }
    }

    // rfc9260#section-5.1.3
    #[test]
    fn a_sealed_cookie_opens_to_the_same_contents() {
        let key = CookieKey::new([1; 32]);
        let with = |bits| {
            let mut cookie = cookie();
            cookie.peer.extensions = Extensions::from_bits(bits);
            let terms = || Terms { random: [7; 32], chunks: Some(vec![0xc1]), algorithms: vec![0, 1] };
            cookie.peer.auth = cookie.peer.extensions.has(Ext::Auth).then(terms);
            cookie
        };
        let adapted = |bits| {
            let mut cookie = with(bits);
            cookie.peer.adaptation = Some(7);
            cookie
        };
        assert_eq!(Cookie::open(&key, &adapted(0).seal(&key), &envelope()), Some(adapted(0)));
        assert_eq!(Cookie::open(&key, &adapted(0xffff).seal(&key), &envelope()), Some(adapted(0xffff)));
        for cookie in [cookie(), plain(), with(0x1f), with(0x20), with(0x8001), with(0xffff)] {
            assert_eq!(Cookie::open(&key, &cookie.seal(&key), &envelope()), Some(cookie));
        }
    }

    // rfc9260#section-5.1.5
    #[test]
    fn a_cookie_with_a_changed_removed_or_added_part_is_rejected() {
        let key = CookieKey::new([1; 32]);
        let mut authenticated = cookie();
        authenticated.peer.extensions.set(Ext::Auth, true);
        authenticated.peer.auth = Some(Terms { random: [7; 32], chunks: None, algorithms: vec![0, 1] });
        for sealed in [cookie().seal(&key), plain().seal(&key), authenticated.seal(&key)] {
            let open = |bytes: &[u8]| Cookie::open(&key, bytes, &envelope());
            for bit in 0..sealed.len() * 8 {
                let mut forged = sealed.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(open(&forged), None, "bit {bit}");
            }
            for length in 0..sealed.len() {
                assert_eq!(open(&sealed[..length]), None, "{length} bytes");
            }
            assert_eq!(open(&[&sealed[..], &[0]].concat()), None);
            assert_eq!(Cookie::open(&CookieKey::new([2; 32]), &sealed, &envelope()), None);
        }
    }

    // rfc9260#section-5.1.5
    #[test]
    fn a_cookie_in_a_packet_with_other_addresses_ports_or_tag_is_rejected() {
        let key = CookieKey::new([1; 32]);
        let source: IpAddr = [10, 1, 0, 2].into();
        for sealed in [cookie().seal(&key), plain().seal(&key)] {
            for wrong in [
                Envelope { peer_port: 8, ..envelope() },
                Envelope { local_port: 9, peer_port: 7, ..envelope() },
                Envelope { local_tag: 0x0102_0305, ..envelope() },
            ] {
                assert_eq!(Cookie::open(&key, &sealed, &wrong), None, "{wrong:?}");
            }
        }
        // A cookie that contains a list of addresses opens in a packet from any source; the caller
        // checks the source.
        let elsewhere = Envelope { source, ..envelope() };
        assert_eq!(Cookie::open(&key, &plain().seal(&key), &elsewhere), None);
        assert_eq!(Cookie::open(&key, &cookie().seal(&key), &elsewhere), Some(cookie()));
    }

    #[test]
    fn a_cookie_opens_only_on_the_channel_of_its_init_and_does_not_become_longer() {
        let key = CookieKey::new([1; 32]);
        let channels = [Channel::NONE, Channel(1), Channel(2), Channel(1 << 24)];
        for made in [cookie(), plain()] {
            for channel in channels {
                let cookie = Cookie { channel, ..made.clone() };
                let sealed = cookie.seal(&key);
                assert_eq!(sealed.len(), made.seal(&key).len());
                for other in channels {
                    let opened = Cookie::open(&key, &sealed, &Envelope { channel: other, ..envelope() });
                    assert_eq!(opened, (other == channel).then(|| cookie.clone()), "{channel:?} {other:?}");
                }
            }
        }
    }

    // rfc9260#section-5.1.5
    #[test]
    fn a_cookie_is_stale_after_its_lifetime_and_not_before() {
        let (now, life) = (Instant::from_nanos(1_000_000_001), Span::from_secs(60));
        let end = Cookie::expiry(now, life);
        assert_eq!(end, Instant::from_nanos(61_000_001_000));
        let cookie = Cookie { expires: end, ..cookie() };
        assert_eq!(cookie.staleness(end), None);
        assert_eq!(cookie.staleness(end + Span::from_millis(3)), Some(Span::from_millis(3)));
    }

    #[test]
    fn optional_parts_of_a_cookie_take_bytes_only_if_present() {
        let key = CookieKey::new([1; 32]);
        assert_eq!(plain().seal(&key).len(), 44);
        assert_eq!(Cookie { ties: TieTags { local: 1, peer: 2 }, ..plain() }.seal(&key).len(), 52);
        assert_eq!(cookie().seal(&key).len(), 52 + 5 + 5 + 17);
    }
}
