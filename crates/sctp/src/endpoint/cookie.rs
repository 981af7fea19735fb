//! The state cookie: all that is known about an association before it exists, kept by the peer, so that an INIT
//! costs no memory (`rfc9260#section-5.1.3`).

use crate::assoc::{Extensions, Peer, TieTags};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::{Instant, Span};
use wire::Tsn;

/// Signs cookies; nobody else can.
pub(crate) struct CookieKey(Hmac<Sha256>);

impl CookieKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        CookieKey(<Hmac<Sha256> as Mac>::new_from_slice(&secret).expect("any length makes a key"))
    }
}

impl std::fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CookieKey")
    }
}

/// What an INIT ACK promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) created: Instant,
    pub(crate) lifetime: Span,
    pub(crate) local_port: u16,
    pub(crate) local_tag: u32,
    pub(crate) local_tsn: Tsn,
    /// Those of the association that existed when the INIT came, or zeros.
    pub(crate) ties: TieTags,
    pub(crate) peer: Peer,
}

/// Bytes of the signature, which goes first.
const MAC_LEN: usize = 32;

impl Cookie {
    /// By how long the cookie is out of date.
    pub(crate) fn staleness(&self, now: Instant) -> Option<Span> {
        let age = now.since(self.created);
        (age > self.lifetime).then(|| age - self.lifetime)
    }

    pub(crate) fn seal(&self, key: &CookieKey) -> Vec<u8> {
        let mut out = vec![0; MAC_LEN];
        out.extend_from_slice(&self.created.as_nanos().to_be_bytes());
        out.extend_from_slice(&self.lifetime.as_nanos().to_be_bytes());
        for number in [self.local_tag, self.local_tsn.0, self.ties.local, self.ties.peer] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for number in [self.peer.tag, self.peer.a_rwnd, self.peer.initial_tsn.0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for number in [self.local_port, self.peer.port, self.peer.outbound_streams, self.peer.inbound_streams]
        {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for address in std::iter::once(&self.peer.source).chain(&self.peer.addresses) {
            write_address(&mut out, *address);
        }
        if self.peer.extensions != Extensions::default() {
            out.extend_from_slice(&[EXTENSIONS, self.peer.extensions.to_bits()]);
        }
        let mut mac = key.0.clone();
        mac.update(&out[MAC_LEN..]);
        out[..MAC_LEN].copy_from_slice(&mac.finalize().into_bytes());
        out
    }

    /// Reads a cookie if we signed it.
    pub(crate) fn open(key: &CookieKey, bytes: &[u8]) -> Option<Cookie> {
        let (signature, body) = bytes.split_at_checked(MAC_LEN)?;
        let mut mac = key.0.clone();
        mac.update(body);
        mac.verify_slice(signature).ok()?;
        let mut body = Reader(body);
        let created = Instant::from_nanos(u64::from_be_bytes(body.take()?));
        let lifetime = Span::from_nanos(u64::from_be_bytes(body.take()?));
        let [local_tag, local_tsn, local_tie, peer_tie, tag, a_rwnd, initial_tsn] = body.words::<7>()?;
        let ports_and_streams: [u8; 8] = body.take()?;
        let half = |n: usize| u16::from_be_bytes([ports_and_streams[2 * n], ports_and_streams[2 * n + 1]]);
        let source = body.address()?;
        let mut addresses = Vec::new();
        while let Some(address) = body.address() {
            addresses.push(address);
        }
        let extensions = Extensions::from_bits(body.take::<2>().map_or(0, |[_, bits]| bits));
        Some(Cookie {
            created,
            lifetime,
            local_port: half(0),
            local_tag,
            local_tsn: Tsn(local_tsn),
            ties: TieTags { local: local_tie, peer: peer_tie },
            peer: Peer {
                port: half(1),
                tag,
                a_rwnd,
                outbound_streams: half(2),
                inbound_streams: half(3),
                initial_tsn: Tsn(initial_tsn),
                source,
                addresses,
                extensions,
            },
        })
    }
}

/// Marks the extensions, which follow the addresses if there are any.
const EXTENSIONS: u8 = 0;

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

    fn address(&mut self) -> Option<IpAddr> {
        let kind = *self.0.first()?;
        if kind == EXTENSIONS {
            return None;
        }
        self.0 = &self.0[1..];
        match kind {
            4 => Some(Ipv4Addr::from(self.take::<4>()?).into()),
            _ => Some(Ipv6Addr::from(self.take::<16>()?).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie() -> Cookie {
        Cookie {
            created: Instant::from_nanos(1_000_000_000),
            lifetime: Span::from_secs(60),
            local_port: 7,
            local_tag: 0x0102_0304,
            local_tsn: Tsn(u32::MAX),
            ties: TieTags { local: 5, peer: 6 },
            peer: Peer {
                port: 9,
                tag: 0xfeed_beef,
                a_rwnd: 65_536,
                outbound_streams: 3,
                inbound_streams: 4,
                initial_tsn: Tsn(77),
                source: [10, 1, 0, 1].into(),
                addresses: vec![[10, 1, 0, 1].into(), Ipv6Addr::LOCALHOST.into()],
                extensions: Extensions { nr_sack: true, delays: false },
            },
        }
    }

    // rfc9260#section-5.1.3
    #[test]
    fn what_was_sealed_is_opened_again() {
        let key = CookieKey::new([1; 32]);
        assert_eq!(Cookie::open(&key, &cookie().seal(&key)), Some(cookie()));
        let mut plain = cookie();
        plain.peer.extensions = Extensions::default();
        assert_eq!(Cookie::open(&key, &plain.seal(&key)), Some(plain));
    }

    // rfc9260#section-5.1.5
    #[test]
    fn any_bit_changed_cut_or_added_is_noticed() {
        let key = CookieKey::new([1; 32]);
        let sealed = cookie().seal(&key);
        for bit in 0..sealed.len() * 8 {
            let mut forged = sealed.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Cookie::open(&key, &forged), None, "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(Cookie::open(&key, &sealed[..length]), None, "{length} bytes");
        }
        assert_eq!(Cookie::open(&key, &[&sealed[..], &[0]].concat()), None);
        assert_eq!(Cookie::open(&CookieKey::new([2; 32]), &sealed), None);
    }

    // rfc9260#section-5.1.5
    #[test]
    fn a_cookie_is_stale_after_its_lifetime_and_not_before() {
        let end = Instant::from_nanos(61_000_000_000);
        assert_eq!(cookie().staleness(end), None);
        assert_eq!(cookie().staleness(end + Span::from_millis(3)), Some(Span::from_millis(3)));
    }
}
