//! Urgent packets, such as those of calls, DNS and pings. Each leaves on the fastest path. If another uplink
//! has room, a copy leaves there, and the receiver uses the packet that arrives first.

use crate::packet::{Inner, TCP, UDP};
use io::sctp::PathId;
use io::{PathInfo, PathState, Ppid};
use noise::Replay;
use std::net::IpAddr;
use std::time::Duration;
use units::{Instant, Span};

/// Longest small packet in bytes.
const SMALL: usize = 200;
/// UDP port of DNS.
const DNS: [u8; 2] = 53_u16.to_be_bytes();
/// Urgent packets per second; further ones are treated as other packets, so that a flow of small packets is
/// neither sent twice nor all on one path.
const RATE: u64 = 200;
/// Largest burst of urgent packets.
const BURST: u64 = 40;
/// Payload protocol identifier of a packet that may arrive twice.
pub(crate) const NUMBERED: Ppid = Ppid(1);
/// Bytes of the number in front of a packet that is sent twice; by this number the receiver drops the second
/// copy.
const NUMBER: usize = 8;

/// True if a user waits for this packet: it is small, or a packet of DNS. Of TCP, only packets that open a
/// connection are urgent, since all others have to stay in order.
pub(crate) fn is_urgent(packet: &[u8], inner: &Inner) -> bool {
    const SYN: u8 = 2;
    let header = inner.transport.and_then(|at| packet.get(at..));
    match (inner.protocol, header) {
        (TCP, header) => header.and_then(|header| header.get(13)).is_some_and(|flags| flags & SYN != 0),
        (UDP, Some([from @ .., _, _, _, _]))
            if from.len() >= 4 && (from[..2] == DNS || from[2..4] == DNS) =>
        {
            true
        }
        _ => packet.len() <= SMALL,
    }
}

/// Limits the rate of urgent packets.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Time at which a whole burst of urgent packets is allowed again.
    full: Instant,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance { full: Instant::ZERO }
    }
}

impl Allowance {
    /// Counts an urgent packet if the rate limit allows one more. False if it does not.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let each = Span::from_nanos(1_000_000_000 / RATE);
        let full = self.full.max(now) + each;
        let allowed = full.since(now) <= each * BURST;
        if allowed {
            self.full = full;
        }
        allowed
    }
}

/// State of a path by which the tunnel chooses the path of an urgent packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    id: PathId,
    local: IpAddr,
    remote: IpAddr,
    /// SRTT of the path; `None` before the first sample.
    srtt: Option<Duration>,
    /// True if the congestion window has room.
    has_room: bool,
    cost: u16,
}

impl Way {
    /// The active paths of an association, the fastest first. A path is left out if it costs more than
    /// another path whose congestion window has room.
    pub(crate) fn of(paths: &[PathInfo]) -> Vec<Way> {
        let active = paths.iter().filter(|path| path.state == PathState::Active);
        let mut ways: Vec<Way> = active
            .map(|path| Way {
                id: path.id,
                local: path.local,
                remote: path.remote,
                srtt: path.srtt,
                has_room: path.flight + path.mtu <= path.cwnd,
                cost: path.cost,
            })
            .collect();
        leave_out_costly(&mut ways);
        ways.sort_by_key(|way| way.srtt.unwrap_or(Duration::MAX));
        ways
    }

    fn differences(&self, other: &Way) -> u8 {
        u8::from(self.local != other.local) + u8::from(self.remote != other.remote)
    }
}

/// Removes paths that cost more than another path whose cwnd has room.
fn leave_out_costly(ways: &mut Vec<Way>) {
    let least = ways.iter().filter(|way| way.has_room).map(|way| way.cost).min();
    ways.retain(|way| least.is_none_or(|least| way.cost <= least));
}

/// The fastest path for a packet, and a path for its copy: among the others with room, the first that shares
/// no address with the fastest path, or else the next fastest. `None` if there is at most one path: then the
/// association chooses, because it detects failures sooner.
pub(crate) fn choose(ways: &[Way]) -> Option<(PathId, Option<PathId>)> {
    let (first, others) = ways.split_first().filter(|(_, others)| !others.is_empty())?;
    let mut second: Option<&Way> = None;
    for way in others.iter().filter(|way| way.has_room) {
        if second.is_none_or(|second| first.differences(way) > first.differences(second)) {
            second = Some(way);
        }
    }
    Some((first.id, second.map(|way| way.id)))
}

/// A packet with its number before it.
pub(crate) fn numbered(number: u64, packet: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes(), packet].concat()
}

/// Detects copies of packets of one association.
#[derive(Debug, Default)]
pub(crate) struct Arrived(Replay);

impl Arrived {
    /// The packet after the number; `None` for a copy, or if the number is too old to be checked.
    pub(crate) fn first_of<'p>(&mut self, data: &'p [u8]) -> Option<&'p [u8]> {
        let (number, packet) = data.split_first_chunk::<NUMBER>()?;
        let number = u64::from_be_bytes(*number);
        // The replay window cannot hold the largest number.
        if number == u64::MAX || !self.0.is_new(number) {
            return None;
        }
        self.0.note(number);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet;
    use crate::packet::tests::{ipv4_packet, ipv6_packet};
    use std::hash::RandomState;

    fn urgent(packet: &[u8]) -> bool {
        is_urgent(packet, &packet::inspect(&RandomState::new(), packet).expect("a packet"))
    }

    #[test]
    fn small_packets_dns_and_syns_are_urgent_and_other_packets_of_tcp_are_not() {
        let tcp = |flags| [&[0; 13][..], &[flags], &[0; 6]].concat();
        let udp = |from: u16, to: u16, length| {
            [&from.to_be_bytes()[..], &to.to_be_bytes(), &vec![0; length]].concat()
        };
        for make in [ipv4_packet, ipv6_packet] {
            assert!(urgent(&make(TCP, &tcp(2))) && urgent(&make(TCP, &tcp(0x12))));
            assert!(!urgent(&make(TCP, &tcp(0x10))));
            assert!(urgent(&make(UDP, &udp(9, 9, 100))) && !urgent(&make(UDP, &udp(9, 9, 200))));
            assert!(urgent(&make(UDP, &udp(9, 53, 1200))) && urgent(&make(UDP, &udp(53, 9, 1200))));
            assert!(urgent(&make(1, &[0; 64])) && !urgent(&make(1, &[0; 1000])));
            for length in 0..20 {
                urgent(&make(TCP, &tcp(2)[..length]));
                urgent(&make(UDP, &udp(53, 53, 12)[..length.min(16)]));
            }
        }
        let mut fragment = ipv4_packet(UDP, &udp(53, 53, 1200));
        fragment[7] = 1;
        assert!(!urgent(&fragment), "a later fragment has no ports");
    }

    #[test]
    fn a_burst_and_then_the_rate_is_allowed() {
        let mut allowance = Allowance::default();
        let begin = Instant::ZERO + Span::from_secs(100);
        let taken =
            |allowance: &mut Allowance, now| (0..1000).take_while(|_| allowance.take(now)).count() as u64;
        assert_eq!(taken(&mut allowance, begin), BURST);
        assert_eq!(taken(&mut allowance, begin + Span::from_millis(50)), RATE / 20);
        assert_eq!(taken(&mut allowance, begin + Span::from_secs(60)), BURST);
    }

    fn way(id: u8, [local, remote]: [u8; 2], ms: u64, has_room: bool) -> Way {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let (local, remote) = (address(local), address(remote));
        Way { id: PathId(id), local, remote, srtt: Some(Duration::from_millis(ms)), has_room, cost: 0 }
    }

    #[test]
    fn a_copy_takes_another_uplink_if_that_has_room() {
        let chosen = |ways: &[Way]| choose(ways).map(|(first, second)| (first.0, second.map(|path| path.0)));
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[way(4, [1, 9], 10, false)]), None, "no choice");
        let two = [way(0, [1, 9], 10, false), way(1, [2, 9], 20, true)];
        assert_eq!(chosen(&two), Some((0, Some(1))));
        assert_eq!(chosen(&[two[1], two[0]]), Some((1, None)), "no room there");
        // With two addresses at each end, the copy shares no address with the packet.
        let four = [
            way(0, [1, 8], 10, true),
            way(1, [1, 9], 11, true),
            way(2, [2, 8], 12, true),
            way(3, [2, 9], 13, true),
        ];
        assert_eq!(chosen(&four), Some((0, Some(3))));
    }

    #[test]
    fn a_way_is_left_out_while_a_cheaper_one_has_room() {
        let left = |has_room: [bool; 3]| {
            let mut ways: Vec<Way> = (0..3)
                .map(|n| Way { cost: n.into(), ..way(n, [n, 9], 10, has_room[usize::from(n)]) })
                .collect();
            leave_out_costly(&mut ways);
            ways.iter().map(|way| way.id.0).collect::<Vec<_>>()
        };
        assert_eq!(left([true; 3]), [0]);
        assert_eq!(left([false, true, true]), [0, 1]);
        assert_eq!(left([false; 3]), [0, 1, 2]);
    }

    #[test]
    fn each_number_passes_once_and_what_has_none_never() {
        let mut arrived = Arrived::default();
        for number in [5, 3, 9_000, 8_000] {
            let data = numbered(number, b"packet");
            assert_eq!(arrived.first_of(&data), Some(&b"packet"[..]));
            assert_eq!(arrived.first_of(&data), None);
        }
        assert_eq!(arrived.first_of(&numbered(4, b"")), None, "older than the window");
        assert_eq!(arrived.first_of(&[0; 7]), None);
        assert_eq!(arrived.first_of(&[0xff; 8]), None);
        assert_eq!(arrived.first_of(&numbered(9_001, b"")), Some(&b""[..]));
    }
}
