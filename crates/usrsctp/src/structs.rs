//! Socket options: the number and struct in libusrsctp, and those in Linux.

use crate::addresses::{End, to_linux, to_program};
use crate::numbers::{
    event_of, flags_to_linux, flags_to_program, kind_of, policy_to_linux, policy_to_program,
};
use records::notification::FIRST;
use records::number as n;

/// Where a field is in the struct of Linux and in that of libusrsctp, and how it is translated.
type Field = (usize, usize, As);

#[derive(Clone, Copy)]
enum As {
    Bytes(usize),
    /// All further bytes.
    Rest,
    /// A `struct sockaddr_storage`.
    Address(End),
    /// A number of 16 or 32 bits. Linux has no counterpart of some.
    Number(Width, fn(u32) -> Option<u32>, fn(u32) -> u32),
}

#[derive(Clone, Copy)]
enum Width {
    Half = 2,
    Word = 4,
}

/// Length of a `struct sockaddr_storage`.
const STORAGE: usize = 128;

/// A socket option.
pub struct SocketOption {
    program: i32,
    pub linux: i32,
    /// Lengths of the structs of Linux and of libusrsctp, and their fields; `None` if they are the same.
    shape: Option<(usize, usize, &'static [Field])>,
}

impl SocketOption {
    /// The option with this number in libusrsctp.
    pub fn find(number: i32) -> Option<&'static SocketOption> {
        OPTIONS.iter().find(|option| option.program == number)
    }

    /// Translates a value of the program. `None` if it has no counterpart. A short value is one of zeros at
    /// its end if `padded`, and has no counterpart otherwise.
    pub fn to_linux(&self, value: &[u8], padded: bool) -> Option<Vec<u8>> {
        let Some((linux, program, fields)) = self.shape else { return Some(value.to_vec()) };
        if value.len() < program && !padded {
            return None;
        }
        let mut value = value.to_vec();
        value.resize(value.len().max(program), 0);
        let mut bytes = vec![0; linux];
        for &(there, here, how) in fields {
            let field = match how {
                As::Bytes(len) => value.get(here..here + len)?.to_vec(),
                As::Rest => continue,
                As::Address(end) => to_linux(value.get(here..here + STORAGE)?, end),
                As::Number(width, forth, _) => {
                    let number = forth(read(&value, here, width));
                    let number = if padded { number.unwrap_or(0) } else { number? };
                    number.to_ne_bytes()[..width as usize].to_vec()
                }
            };
            let field = field.get(..STORAGE).unwrap_or(&field);
            bytes.get_mut(there..there + field.len())?.copy_from_slice(field);
        }
        Some(bytes)
    }

    /// Translates a value of Linux.
    pub fn to_program(&self, value: &[u8]) -> Vec<u8> {
        let Some((linux, program, fields)) = self.shape else { return value.to_vec() };
        let mut value = value.to_vec();
        value.resize(value.len().max(linux), 0);
        let mut bytes = vec![0; program];
        for &(there, here, how) in fields {
            let field = match how {
                As::Bytes(len) => value[there..there + len].to_vec(),
                As::Rest => value.get(there..).unwrap_or_default().to_vec(),
                As::Address(_) => to_program(&value[there..there + STORAGE]),
                As::Number(width, _, back) => {
                    back(read(&value, there, width)).to_ne_bytes()[..width as usize].to_vec()
                }
            };
            bytes.resize(bytes.len().max(here + field.len()), 0);
            bytes[here..here + field.len()].copy_from_slice(&field);
        }
        bytes
    }
}

fn read(bytes: &[u8], at: usize, width: Width) -> u32 {
    let mut number = [0; 4];
    number[..width as usize].copy_from_slice(&bytes[at..at + width as usize]);
    u32::from_ne_bytes(number)
}

/// An option whose struct is the same.
const fn same(program: i32, linux: i32) -> SocketOption {
    SocketOption { program, linux, shape: None }
}

const fn other(program: i32, linux: i32, lengths: (usize, usize), fields: &'static [Field]) -> SocketOption {
    SocketOption { program, linux, shape: Some((lengths.0, lengths.1, fields)) }
}

const EVENT: As = As::Number(
    Width::Half,
    |event| Some(u32::from(FIRST + kind_of(event as u16)?)),
    |kind| event_of((kind as u16).wrapping_sub(FIRST)).into(),
);
const FLAGS: As = As::Number(
    Width::Half,
    |flags| flags_to_linux(flags as u16).map(u32::from),
    |flags| flags_to_program(flags as u16).into(),
);
/// 15 is all policies.
const POLICY: As = As::Number(
    Width::Half,
    |policy| match policy {
        15 => Some(n::send::ALL_POLICIES.into()),
        _ => policy_to_linux(policy as u16).map(u32::from),
    },
    |policy| policy_to_program(policy as u16).into(),
);
const STATE: As = As::Number(Width::Word, Some, association_state);
const PATH_STATE: As = As::Number(Width::Word, Some, path_state);
const SCHEDULER: As = As::Number(Width::Word, |number| SCHEDULERS.get(number as usize).copied(), scheduler);

/// Stream schedulers: the place is the number in libusrsctp.
const SCHEDULERS: [u32; 6] = [2, 2, 2, 1, 3, 0];

fn scheduler(linux: u32) -> u32 {
    // Of the numbers of round robin, 1 is the one that means no other.
    SCHEDULERS
        .iter()
        .rposition(|&number| number == linux)
        .map_or(1, |place| if place == 2 { 1 } else { place }) as u32
}

/// `sstat_state`.
fn association_state(linux: u32) -> u32 {
    const STATES: [u32; 9] = [0, 0, 2, 4, 8, 0x80, 0x10, 0x20, 0x40];
    STATES.get(linux as usize).copied().unwrap_or(0)
}

/// `spinfo_state`. A path that is potentially failed is active.
fn path_state(linux: u32) -> u32 {
    const STATES: [u32; 4] = [2, 1, 1, 0x200];
    STATES.get(linux as usize).copied().unwrap_or(0)
}

const ID: As = As::Bytes(4);
const PEER: As = As::Address(End::Peer);

const OPTIONS: &[SocketOption] = &[
    same(0x01, n::RTOINFO),
    other(0x02, n::ASSOCINFO, (20, 20), &[(0, 0, ID), (4, 16, As::Bytes(4)), (8, 4, As::Bytes(12))]),
    same(0x03, n::INITMSG),
    same(0x04, n::NODELAY),
    same(0x05, n::AUTOCLOSE),
    other(0x06, n::SET_PEER_PRIMARY_ADDR, (132, 136), &[(0, 128, ID), (4, 0, As::Address(End::Ours))]),
    other(0x07, n::PRIMARY_ADDR, (132, 136), &[(0, 128, ID), (4, 0, PEER)]),
    same(0x08, n::ADAPTATION_LAYER),
    same(0x09, n::DISABLE_FRAGMENTS),
    other(
        0x0a,
        n::PEER_ADDR_PARAMS,
        (156, 152),
        &[
            (0, 128, ID),
            (4, 0, PEER),
            (132, 132, As::Bytes(4)), // interval of heartbeats
            (136, 148, As::Bytes(2)), // Path.Max.Retrans
            (138, 136, As::Bytes(4)), // path MTU
            (146, 140, As::Bytes(4)), // flags
            (150, 144, As::Bytes(4)), // flow label
            (154, 150, As::Bytes(1)), // DSCP
        ],
    ),
    same(0x0c, n::EVENTS),
    same(0x0d, n::I_WANT_MAPPED_V4_ADDR),
    same(0x0e, n::MAXSEG),
    same(0x0f, n::DELAYED_SACK),
    same(0x10, n::FRAGMENT_INTERLEAVE),
    same(0x11, n::PARTIAL_DELIVERY_POINT),
    same(0x12, n::AUTH_CHUNK),
    same(0x13, n::AUTH_KEY),
    same(0x14, n::HMAC_IDENT),
    same(0x15, n::AUTH_ACTIVE_KEY),
    same(0x16, n::AUTH_DELETE_KEY),
    same(0x18, n::AUTO_ASCONF),
    same(0x19, n::MAX_BURST),
    same(0x1a, n::CONTEXT),
    same(0x1c, n::REUSE_PORT),
    same(0x1d, n::AUTH_DEACTIVATE_KEY),
    other(0x1e, n::EVENT, (8, 8), &[(0, 0, ID), (4, 4, EVENT), (6, 6, As::Bytes(1))]),
    same(0x1f, n::RECVRCVINFO),
    same(0x20, n::RECVNXTINFO),
    other(0x21, n::DEFAULT_SNDINFO, (16, 16), &[(0, 0, As::Bytes(2)), (2, 2, FLAGS), (4, 4, As::Bytes(12))]),
    other(0x22, n::DEFAULT_PRINFO, (12, 12), &[(0, 8, ID), (4, 4, As::Bytes(4)), (8, 0, POLICY)]),
    other(
        0x24,
        n::REMOTE_UDP_ENCAPS_PORT,
        (144, 136),
        &[(0, 128, ID), (8, 0, PEER), (136, 132, As::Bytes(2))],
    ),
    same(0x25, n::ECN_SUPPORTED),
    same(0x26, n::PR_SUPPORTED),
    same(0x27, n::AUTH_SUPPORTED),
    same(0x28, n::ASCONF_SUPPORTED),
    same(0x29, n::RECONFIG_SUPPORTED),
    other(
        0x100,
        n::STATUS,
        (176, 176),
        &[
            (0, 0, ID),
            (4, 4, STATE),
            (8, 8, As::Bytes(16)),
            (24, 152, ID),
            (28, 24, PEER),
            (156, 156, PATH_STATE),
            (160, 160, As::Bytes(16)),
        ],
    ),
    other(
        0x101,
        n::GET_PEER_ADDR_INFO,
        (152, 152),
        &[(0, 128, ID), (4, 0, PEER), (132, 132, PATH_STATE), (136, 136, As::Bytes(16))],
    ),
    other(0x102, n::PEER_AUTH_CHUNKS, (8, 4), &[(0, 0, ID), (8, 4, As::Rest)]),
    other(0x103, n::LOCAL_AUTH_CHUNKS, (8, 4), &[(0, 0, ID), (8, 4, As::Rest)]),
    same(0x104, n::GET_ASSOC_NUMBER),
    same(0x105, n::GET_ASSOC_ID_LIST),
    other(
        0x107,
        n::PR_STREAM_STATUS,
        (24, 24),
        &[(0, 0, As::Bytes(6)), (6, 6, POLICY), (8, 8, As::Bytes(16))],
    ),
    other(
        0x108,
        n::PR_ASSOC_STATUS,
        (24, 24),
        &[(0, 0, As::Bytes(6)), (6, 6, POLICY), (8, 8, As::Bytes(16))],
    ),
    same(0x900, n::ENABLE_STREAM_RESET),
    same(0x901, n::RESET_STREAMS),
    same(0x902, n::RESET_ASSOC),
    same(0x903, n::ADD_STREAMS),
    same(0x1200, n::CMT_ON_OFF),
    same(0x1201, n::CMT_USE_DAC),
    other(0x1203, n::STREAM_SCHEDULER, (8, 8), &[(0, 0, ID), (4, 4, SCHEDULER)]),
    same(0x1204, n::STREAM_SCHEDULER_VALUE),
    same(0x1206, n::INTERLEAVING_SUPPORTED),
    same(n::ANB_OPTION, n::ANB_OPTION),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn option(number: i32) -> &'static SocketOption {
        SocketOption::find(number).expect("known")
    }

    #[test]
    fn fields_go_to_their_places() {
        // sasoc_assoc_id 1, peer_rwnd 2, local_rwnd 3, cookie_life 4, asocmaxrxt 5, number 6.
        let info: Vec<u8> = [1_u32, 2, 3, 4].map(u32::to_ne_bytes).concat();
        let info = [info, [5_u16, 6].map(u16::to_ne_bytes).concat()].concat();
        let linux = option(2).to_linux(&info, false).expect("translates");
        let expected = [&1_u32.to_ne_bytes()[..], &[5, 0, 6, 0], &info[4..16]].concat();
        assert_eq!(linux, expected);
        assert_eq!(option(2).to_program(&linux), info);
        let event = [0, 0, 0, 0, 9, 0, 1, 0];
        assert_eq!(option(0x1e).to_linux(&event, false), Some(vec![0, 0, 0, 0, 10, 0x80, 1, 0]));
        assert_eq!(option(0x1e).to_linux(&[0, 0, 0, 0, 99, 0, 1, 0], false), None, "an unknown event");
        assert_eq!(option(0x1e).to_linux(&event[..7], false), None, "too short");
        let chunks = [3, 0, 0, 0, 2, 0, 0, 0, 0x80, 0xc1];
        assert_eq!(option(0x103).to_program(&chunks), [3, 0, 0, 0, 0x80, 0xc1]);
    }

    #[test]
    fn every_struct_comes_back_as_it_was() {
        for option in OPTIONS {
            let Some((linux, program, fields)) = option.shape else { continue };
            let len = fields.iter().map(|&(_, here, how)| match how {
                As::Bytes(len) => here + len,
                As::Number(width, ..) => here + width as usize,
                As::Address(_) => here + STORAGE,
                As::Rest => 0,
            });
            assert!(len.max() <= Some(program), "{:#x}", option.program);
            let bytes = option.to_linux(&vec![0; program], true).expect("zeros have a counterpart");
            assert_eq!(
                (bytes.len(), option.to_program(&bytes).len()),
                (linux, program),
                "{:#x}",
                option.program
            );
        }
        let numbers: Vec<u32> =
            (0..6).filter_map(|n| SCHEDULERS.get(n).map(|&linux| scheduler(linux))).collect();
        assert_eq!(numbers, [1, 1, 1, 3, 4, 5]);
    }
}
