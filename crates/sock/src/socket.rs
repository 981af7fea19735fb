//! The state of one SCTP socket of a program.

use crate::pair::Pair;
use bytes::Bytes;
use io::link_number;
use nix::errno::Errno;
use nix::libc::{SO_REUSEPORT, SOL_SOCKET};
use records::{Header, notification, number, switches};
use sctp::Config;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use units::Span;

/// A socket.
#[derive(Debug)]
pub struct Socket {
    pub pair: Pair,
    pub cookie: u64,
    pub uid: u32,
    /// Process ID of the program that opened the socket, to read its capabilities.
    pub pid: i32,
    /// One-to-many style.
    pub many: bool,
    pub v6: bool,
    pub phase: Phase,
    /// While the socket listens: the number of accepted associations that may wait for the program.
    pub backlog: Option<usize>,
    /// The SCTP port, once bound.
    pub port: Option<u16>,
    /// Addresses to which the socket is bound; empty: all addresses.
    pub bound: Vec<IpAddr>,
    /// The stack's options for later associations of the socket.
    pub config: Config,
    pub settings: Settings,
    /// The numbers of the socket's associations.
    pub associations: Vec<i32>,
    /// Our address in the association of a one-to-one socket, once this has ended.
    pub local: Option<IpAddr>,
    /// Address and port of the peer, too.
    pub peer: Option<(IpAddr, u16)>,
    /// Messages for which the stack had no room.
    pub waiting: VecDeque<(Header, Bytes)>,
    /// The association whose message is delivered in part: messages of other associations wait.
    pub partial: Option<i32>,
    /// The association that the program peels off, and the key of its new socket.
    pub peeling: Option<(i32, usize)>,
    /// The last connect of a one-to-many socket that failed: its association and the error.
    pub failed: Option<(i32, Errno)>,
    /// True once the program writes no more.
    pub finished: bool,
}

/// The state of a one-to-one socket. A one-to-many socket is always `Idle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Idle,
    /// Until this association is up or has failed, a ballast (a record that only takes
    /// room) fills the program's send buffer, so that the socket is not writable.
    Connecting(i32),
    Connected,
    Ended,
}

/// Options of a socket that are not options of the stack.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Subscribed notifications (`SCTP_EVENTS`); the first byte is data_io.
    pub events: [u8; notification::SWITCHES],
    pub receive_info: bool,
    pub next_info: bool,
    pub defaults: Defaults,
    /// Context of received messages.
    pub received_context: u32,
    pub reuse: bool,
    /// `SO_LINGER`: seconds; 0: close aborts.
    pub linger: Option<u32>,
    /// `SCTP_AUTOCLOSE` of later associations.
    pub autoclose: Option<Span>,
    /// `SCTP_DISABLE_FRAGMENTS`.
    pub whole: bool,
    /// `SCTP_FRAGMENT_INTERLEAVE`: parts of messages of several associations may alternate.
    pub interleave: bool,
    /// `SCTP_EXPOSE_POTENTIALLY_FAILED_STATE`: 0 unset, 1 hides the state, 2 reports it.
    pub exposes_failing: u32,
    /// `SCTP_PLPMTUD_PROBE_INTERVAL` in milliseconds, if the program set one.
    pub probe_interval: Option<u32>,
    /// UDP port of the peers of later associations, in place of that of the host process.
    pub remote_udp_port: Option<u16>,
    /// Keys for AUTH of later associations, and the number of the active one.
    pub keys: BTreeMap<u16, Vec<u8>>,
    pub active_key: u16,
    /// Values of other options, which have no effect.
    pub kept: BTreeMap<(i32, i32), Vec<u8>>,
}

/// Stream, flags, PPID, context and PR-SCTP policy of messages that a program sends without control messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defaults {
    pub stream: u16,
    pub flags: u16,
    pub ppid: u32,
    pub context: u32,
    pub policy: u16,
    /// When `policy` abandons the message: a time in milliseconds, a number of retransmissions, or a
    /// priority.
    pub value: u32,
}

/// All addresses of the host.
const ANY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// True if the addresses are the same, or one stands for all addresses of its kind: of the host, or of links.
fn meet(one: IpAddr, other: IpAddr) -> bool {
    let (links, any) = ([one, other].map(link_number), [one, other].iter().any(IpAddr::is_unspecified));
    match links {
        [Some(a), Some(b)] => a == b || a == 0 || b == 0,
        [None, None] => one == other || any,
        _ => false,
    }
}

impl Socket {
    /// The flags of the socket that the library in the program needs.
    pub fn switches(&self) -> u16 {
        let mut all = 0;
        for (on, switch) in [
            (self.settings.events[0] != 0, switches::SNDRCV),
            (self.settings.receive_info, switches::RCVINFO),
            (self.settings.next_info, switches::NXTINFO),
            (self.many, switches::MANY),
            (self.maps(), switches::MAPPED),
            (self.backlog.is_some(), switches::LISTENS),
            (self.settings.linger.is_some_and(|seconds| seconds > 0), switches::LINGERS),
            (self.settings.whole || self.settings.defaults.stream > 0, switches::CHECKED),
            (
                !self.many && (self.phase != Phase::Idle || !self.associations.is_empty()),
                switches::ASSOCIATED,
            ),
        ] {
            all |= if on { switch } else { 0 };
        }
        all
    }

    /// True if a process of user `uid` may use the socket.
    pub fn may_use(&self, uid: u32) -> bool {
        uid == 0 || uid == self.uid
    }

    /// True if the program subscribed to a notification.
    pub fn wants(&self, kind: u16) -> bool {
        self.settings.events.get(usize::from(kind)).is_some_and(|&on| on != 0)
    }

    /// True if the socket has one of these addresses. An empty list, here or in the socket, means all
    /// addresses of the host; that of link 0 means those of all [links](io::Link).
    pub fn meets(&self, addresses: &[IpAddr]) -> bool {
        let or_any = |list: &[IpAddr]| if list.is_empty() { vec![ANY] } else { list.to_vec() };
        let (ours, theirs) = (or_any(&self.bound), or_any(addresses));
        ours.iter().any(|&ours| theirs.iter().any(|&theirs| meet(ours, theirs)))
    }

    /// True for an IPv6 socket without IPv4 (`IPV6_V6ONLY`).
    pub fn v6_only(&self) -> bool {
        const IPV6_V6ONLY: (i32, i32) = (41, 26);
        self.v6 && self.is_on(IPV6_V6ONLY).unwrap_or(false)
    }

    /// True if the program gets IPv4 addresses as IPv4-mapped IPv6 addresses.
    pub fn maps(&self) -> bool {
        self.v6 && self.is_on((number::SCTP, number::I_WANT_MAPPED_V4_ADDR)).unwrap_or(true)
    }

    /// True if other such sockets may listen at the port, too (`SO_REUSEPORT`, `SCTP_REUSE_PORT`).
    pub fn shares_port(&self) -> bool {
        let options = [(SOL_SOCKET, SO_REUSEPORT), (number::SCTP, number::REUSE_PORT)];
        !self.many && options.iter().any(|&option| self.is_on(option).unwrap_or(false))
    }

    /// The value of a flag that is kept as the program has set it; `None` if it has not.
    fn is_on(&self, option: (i32, i32)) -> Option<bool> {
        self.settings.kept.get(&option).map(|value| value.iter().any(|&byte| byte != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::link_addresses;

    #[test]
    fn addresses_of_links_and_of_the_host_do_not_meet() {
        let [host, other]: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let [any, one, two] = [0, 1, 2].map(|number| link_addresses(number)[0]);
        for (a, b, met) in [
            (ANY, host, true),
            (host, host, true),
            (host, other, false),
            (any, one, true),
            (one, one, true),
            (one, two, false),
            (ANY, one, false),
            (ANY, any, false),
            (host, one, false),
        ] {
            assert_eq!((meet(a, b), meet(b, a)), (met, met), "{a} {b}");
        }
    }
}
