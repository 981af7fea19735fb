//! SYN cookies (`rfc4987#section-3.6`): the answer to a SYN when the maximum number of connections exists.
//!
//! The sequence number encodes the state of the connection. The connection begins once the peer acknowledges
//! the cookie and so proves that it receives at its address.

use super::isn::{Births, hash_ends};
use super::reset::Reply;
use crate::conn::{Birth, Connection, Ends, Local};
use crate::segment::{Flags, Header, Options, Segment};
use crate::sequence::Seq;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::sync::Arc;
use transport::{Octets, PacketBuf};
use units::{Instant, Span};

/// Creates and verifies cookies.
pub(super) struct Cookies {
    key: Hmac<Sha256>,
    /// The cookies sent so far are valid until this time.
    until: Instant,
}

/// A cookie is valid in the period in which it was sent, and in the next period.
const PERIOD: Span = Span::from_secs(64);

/// MSS values that a cookie can encode; the largest one up to the peer's MSS is used. The first is for the
/// least MTU of IPv4.
const MSS: [u16; 8] = [28, 216, 536, 1200, 1220, 1440, 1460, 8960];

/// Number of low bits of our timestamp that encode options in a cookie: window scale, SACK, ECN.
const STAMP_BITS: u32 = 6;
const NO_SCALE: u32 = 15;
const SACK: u32 = 1 << 4;
const ECN: u32 = 1 << 5;

/// Fields of a SYN that a cookie keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    /// Index into [`MSS`].
    mss: u8,
    /// The options in [`STAMP_BITS`]; `None` without timestamps: then none of these options is used.
    stamp: Option<u32>,
}

impl Kept {
    fn of(syn: &Segment<'_>, ends: &Ends, timestamps: bool) -> Kept {
        let options = &syn.options;
        let said = options.mss.unwrap_or(Connection::default_mss(ends.remote));
        let mss = MSS.iter().rposition(|&mss| mss <= said).unwrap_or(0) as u8;
        let scale = options.window_scale.map_or(NO_SCALE, |shift| u32::from(shift.min(14)));
        let sack = if options.sack_permitted { SACK } else { 0 };
        let ecn = if syn.header.flags.has(Flags::ECE | Flags::CWR) { ECN } else { 0 };
        let stamp = timestamps && options.timestamps.is_some();
        Kept { mss, stamp: stamp.then_some(scale | sack | ecn) }
    }

    /// Restores the SYN from the fields that the cookie contains. All other header
    /// fields are those of `like`: the SYN, or the acknowledgement of the cookie.
    fn syn(self, like: &Segment<'_>, seq: Seq) -> Segment<'static> {
        let bits = self.stamp.unwrap_or(NO_SCALE);
        let scale = bits & 15;
        Segment {
            header: Header {
                seq,
                flags: Flags::SYN | (Flags::ECE | Flags::CWR).when(bits & ECN != 0),
                ..like.header
            },
            options: Options {
                mss: Some(MSS[usize::from(self.mss)]),
                window_scale: (scale != NO_SCALE).then_some(scale as u8),
                sack_permitted: bits & SACK != 0,
                timestamps: like.options.timestamps.filter(|_| self.stamp.is_some()),
                ..Options::default()
            },
            data: Octets::from(&[]),
        }
    }
}

impl Cookies {
    pub(super) fn new(seed: u64) -> Self {
        let mut key = *b"SYN cookies \0\0\0\0\0\0\0\0";
        key[12..].copy_from_slice(&seed.to_be_bytes());
        Cookies {
            key: Hmac::new_from_slice(&key).expect("HMAC takes keys of any length"),
            until: Instant::ZERO,
        }
    }

    /// The SYN ACK with a cookie that answers `syn`. The endpoint keeps no state for it.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        local: &Arc<Local>,
        ends: Ends,
        birth: Birth,
        syn: &Segment<'_>,
    ) -> Option<Reply> {
        let kept = Kept::of(syn, &ends, local.config.timestamps);
        let period = period(now);
        let low = (period as u8) << 3 | kept.mss;
        let isn = Seq(self.mac(&ends, local.port, syn.header.seq, period, low) << 8 | u32::from(low));
        // The timestamp in the SYN ACK is up to 63 ms in the past, never in
        // the future: the timestamps of later segments must not be older.
        let clock = birth.clock_offset.wrapping_add((now.as_nanos() / 1_000_000) as u32);
        let back = kept.stamp.map_or(0, |bits| clock.wrapping_sub(bits) % (1 << STAMP_BITS));
        let birth = Birth { isn, clock_offset: birth.clock_offset.wrapping_sub(back) };
        self.until = now + PERIOD + PERIOD;
        let mut packet = PacketBuf::default();
        let mut connection = Connection::accept(now, local, ends, birth, &kept.syn(syn, syn.header.seq));
        let transmit = connection.poll_transmit(now, &mut packet)?;
        Some(Reply { src: transmit.src, dst: transmit.dst, packet })
    }

    /// The connection that a segment opens by acknowledging a cookie; `None` if it acknowledges none.
    pub(super) fn open(
        &self,
        now: Instant,
        local: &Arc<Local>,
        ends: Ends,
        births: &Births,
        segment: &Segment<'_>,
    ) -> Option<Connection> {
        let Header { flags, seq, ack, .. } = segment.header;
        if now >= self.until || !flags.has(Flags::ACK) || flags.any(Flags::SYN | Flags::RST) {
            return None;
        }
        let (theirs, cookie) = (Seq(seq.0.wrapping_sub(1)), Seq(ack.0.wrapping_sub(1)));
        let low = cookie.0 as u8;
        let this = period(now);
        let sent = [Some(this), this.checked_sub(1)];
        let sent = sent.into_iter().flatten().find(|&period| (period as u8) << 3 == low & !7)?;
        if self.mac(&ends, local.port, theirs, sent, low) != cookie.0 >> 8 {
            return None;
        }
        let echo = segment.options.timestamps.filter(|_| local.config.timestamps).map(|stamps| stamps.echo);
        let kept = Kept { mss: low & 7, stamp: echo.map(|echo| echo % (1 << STAMP_BITS)) };
        let birth = Birth { isn: cookie, ..births.draw(now, &ends, local.port) };
        let mut connection = Connection::accept(now, local, ends, birth, &kept.syn(segment, theirs));
        connection.already_answered();
        Some(connection)
    }

    /// 24 bits of a MAC, which nobody without the key can compute.
    fn mac(&self, ends: &Ends, port: u16, theirs: Seq, period: u64, low: u8) -> u32 {
        let mut mac = self.key.clone();
        hash_ends(&mut mac, ends, port);
        mac.update(&theirs.0.to_be_bytes());
        mac.update(&period.to_be_bytes());
        mac.update(&[low]);
        let bytes = mac.finalize().into_bytes();
        u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]])
    }
}

fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

impl std::fmt::Debug for Cookies {
    /// Hides the key, with which cookies could be forged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cookies")
    }
}
