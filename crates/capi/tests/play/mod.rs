//! Random calls of the library for two endpoints and the packets between them;
//! `fuzz/fuzz_targets/capi_calls.rs` runs the same.
//!
//! No call may fail inside (`-EIO`), no result may exceed what the call was given, and no byte behind the
//! size of a struct or behind the length of a buffer may change.

use anabranch_capi::*;
use libc::{EIO, ENOBUFS};
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

/// Bytes of the fuzz input. After the last one come zeros.
struct Tape<'i>(&'i [u8]);

impl Tape<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes([0; 4].map(|_| self.byte()))
    }

    /// Mostly a small number.
    fn small(&mut self) -> u32 {
        match self.byte() {
            255 => self.number(),
            byte => u32::from(byte % 4),
        }
    }

    fn one_of<'n>(&mut self, all: &[&'n str]) -> &'n str {
        all[usize::from(self.byte()) % all.len()]
    }
}

/// Value of the bytes that must not change.
const UNTOUCHED: u8 = 0xa7;

/// Memory for a struct of any size. No byte behind that size may change.
#[repr(C, align(8))]
struct Memory {
    bytes: [u8; 5000],
    size: usize,
}

impl Memory {
    /// A struct, unchanged or with zeros, random bytes or another size.
    fn new<T: Copy>(value: T, tape: &mut Tape<'_>) -> Box<Memory> {
        let mut memory = Box::new(Memory { bytes: [UNTOUCHED; 5000], size: size_of::<T>() });
        unsafe { memory.bytes.as_mut_ptr().cast::<T>().write(value) };
        match tape.byte() {
            0 => memory.size = tape.number() as usize % 4200,
            1 => memory.size = usize::from(tape.byte()),
            2 => {
                let at = 4 + tape.number() as usize % (size_of::<T>() - 4);
                memory.bytes[at] = tape.byte();
            }
            _ => {}
        }
        if memory.size > size_of::<T>() && tape.byte().is_multiple_of(2) {
            let size = memory.size;
            memory.bytes[size_of::<T>()..size].fill(0);
        }
        let size = memory.size as u32;
        memory.bytes[..4].copy_from_slice(&size.to_ne_bytes());
        memory
    }

    fn at<T>(&mut self) -> *mut T {
        self.bytes.as_mut_ptr().cast()
    }

    /// Checks that a call that may write `elements` structs of this size changed no byte behind them.
    fn check(&self, elements: usize) {
        let end = (self.size.max(4) * elements).min(self.bytes.len());
        assert!(end < 500 || self.bytes[end..].iter().all(|&byte| byte == UNTOUCHED), "written behind {end}");
    }
}

/// Two endpoints. What one sends is held here until it is lost or arrives.
struct World {
    sides: [*mut anb_ep; 2],
    now: i64,
    flying: Vec<(usize, anb_route, Vec<u8>)>,
}

const NAMES: &[&str] = &[
    "max_burst",
    "sack_delay",
    "hb_interval",
    "rto_min",
    "rto_max",
    "nagle",
    "cmt.enabled",
    "knobs.cubic.beta",
    "auth_chunks",
    "interleaving",
    "stream_scheduler",
    "send_buffer",
    "receive_buffer",
    "mtu",
    "paths",
    "congestion_control",
    "knobs",
    "",
    "x.y",
];

const VALUES: &[&str] = &[
    "1",
    "0",
    "true",
    "false",
    "none",
    "3 s",
    "5 ms",
    "1 MB",
    "[1, 2]",
    "wfq",
    "pairs",
    "bbr",
    "\"",
    "-1",
    "1e99",
    "18446744073709551615",
    "\u{1f600}",
];

const VERBS: &[&str] = &[
    "heartbeat",
    "primary",
    "peer-primary",
    "add-address",
    "remove-address",
    "path-mtu",
    "remote-port",
    "stream-value",
    "reset-streams",
    "add-streams",
    "reset-association",
    "auth-key",
    "auth-activate",
    "auth-deactivate",
    "auth-remove",
    "x",
];

const ARGUMENTS: &[&str] = &[
    "",
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.3",
    "fd00::1",
    "10.0.0.2 576",
    "10.0.0.2 99999999999",
    "10.0.0.2 0",
    "1 2",
    "out [0, 1]",
    "both",
    "in 3",
    "1,1",
    "65535,65535",
    "1 00",
    "0 ffff",
    "1",
    "0",
];

fn address(last: u8) -> anb_ip {
    let mut ip = anb_ip { family: 4, ..Default::default() };
    ip.bytes[..4].copy_from_slice(&[10, 0, 0, last]);
    ip
}

/// As many addresses as a call may read, whatever number it is given.
fn addresses(side: u8, tape: &mut Tape<'_>) -> [anb_ip; 64] {
    let mut all = [0; 64].map(|_| address(200));
    (all[0], all[1]) = (address(1 + side), address(3 + side));
    if tape.byte() == 9 {
        all[0].family = tape.byte();
        all[0].bytes[0] = tape.byte();
    }
    all
}

fn make(side: u8, tape: &mut Tape<'_>) -> *mut anb_ep {
    let mut made = null_mut();
    let ours = addresses(side, tape);
    let n_addresses = match tape.byte() {
        0 => tape.number(),
        byte => 1 + u32::from(byte % 2),
    };
    let right = anb_setup {
        port: 5001 + u16::from(side),
        addresses: ours.as_ptr(),
        n_addresses,
        profile: (tape.byte() % 2).into(),
        seed_kind: ANB_SEED_GIVEN,
        max_associations: 4,
        ..Default::default()
    };
    let mut setup = Memory::new(right, tape);
    // Only the pointer must stay valid: other bytes of the struct may be random.
    let pointer = std::mem::offset_of!(anb_setup, addresses);
    setup.bytes[pointer..pointer + 8].copy_from_slice(&(ours.as_ptr() as usize).to_ne_bytes());
    let mut why = anb_why { text: [0; 256] };
    for setup in [setup.at(), (&raw const right).cast_mut(), (&raw const right).cast_mut()] {
        let result = unsafe { anb_ep_new(setup, &mut made, &mut why) };
        assert_ne!(result, -EIO);
        if result == 0 {
            return made;
        }
    }
    let right = anb_setup { n_addresses: 1, addresses: &address(1 + side), ..right };
    assert_eq!(unsafe { anb_ep_new(&right, &mut made, null_mut()) }, 0);
    made
}

impl World {
    fn connect(&mut self, side: usize, tape: &mut Tape<'_>) {
        let theirs = addresses(1 - side as u8, tape);
        let right = anb_peer {
            port: 5002 - side as u16,
            udp_port: (tape.small() as i32).wrapping_sub(1),
            n_addresses: tape.small(),
            addresses: theirs.as_ptr(),
            ..Default::default()
        };
        let mut peer = Memory::new(right, tape);
        let pointer = std::mem::offset_of!(anb_peer, addresses);
        peer.bytes[pointer..pointer + 8].copy_from_slice(&(theirs.as_ptr() as usize).to_ne_bytes());
        let mut assoc = 0;
        no_failure(unsafe { anb_ep_connect(self.sides[side], self.now, peer.at(), &mut assoc, null_mut()) });
    }

    fn send(&self, side: usize, tape: &mut Tape<'_>) {
        let msg = anb_msg {
            stream: tape.small() as u16,
            flags: u16::from(tape.byte() % 40),
            reliability: u32::from(tape.byte() % 5),
            value: tape.small(),
            path: tape.small() as i32,
            ..Default::default()
        };
        let data = vec![tape.byte(); (tape.byte() as usize).pow(2)];
        let (mut msg, assoc) = (Memory::new(msg, tape), tape.small());
        let at = data.as_ptr().cast::<c_void>();
        no_failure(unsafe { anb_ep_send(self.sides[side], self.now, assoc, msg.at(), at, data.len()) });
    }

    fn receive(&self, side: usize, tape: &mut Tape<'_>) {
        let (assoc, room) = (tape.small(), usize::from(tape.byte()) * 8);
        let mut info = Memory::new(anb_info::default(), tape);
        let mut data = vec![UNTOUCHED; room + 8];
        let at = data.as_mut_ptr().cast();
        let length = unsafe { anb_ep_recv(self.sides[side], self.now, assoc, at, room, info.at()) };
        assert!(length <= room as isize && length != -EIO as isize, "{length} of {room}");
        assert_eq!(data[room..], [UNTOUCHED; 8]);
        info.check(1);
    }

    fn transmit(&mut self, side: usize, room: usize, tape: &mut Tape<'_>) -> bool {
        let mut route = Memory::new(anb_route::default(), tape);
        let mut packet = vec![UNTOUCHED; room + 8];
        let at = packet.as_mut_ptr().cast();
        let length = unsafe { anb_ep_transmit(self.sides[side], self.now, at, room, route.at()) };
        assert!(length <= room as isize && length != -EIO as isize, "{length} of {room}");
        assert!(length >= 0 || length != -ENOBUFS as isize || room < 65_535);
        assert_eq!(packet[room..], [UNTOUCHED; 8]);
        route.check(1);
        if length > 0 {
            packet.truncate(length as usize);
            let mut way: anb_route = unsafe { route.at::<anb_route>().read() };
            way.size = size_of::<anb_route>() as u32;
            self.flying.push((1 - side, way, packet));
        }
        length > 0
    }

    /// Lets a packet arrive, be lost, changed or doubled.
    fn deliver(&mut self, tape: &mut Tape<'_>) {
        if self.flying.is_empty() {
            return;
        }
        let (to, route, mut packet) = self.flying.remove(tape.small() as usize % self.flying.len());
        match tape.byte() % 16 {
            0 => return,
            1 => {
                let at = tape.number() as usize % packet.len();
                packet[at] ^= tape.byte();
            }
            2 => self.flying.push((to, route, packet.clone())),
            _ => {}
        }
        self.handle(to, anb_route { udp_port: 9899, ..route }, &packet, tape);
    }

    fn handle(&self, to: usize, route: anb_route, packet: &[u8], tape: &mut Tape<'_>) {
        let mut route = Memory::new(route, tape);
        let at = packet.as_ptr().cast();
        no_failure(unsafe { anb_ep_handle(self.sides[to], self.now, route.at(), at, packet.len()) });
    }

    fn look(&self, side: usize, tape: &mut Tape<'_>) {
        let (ep, assoc) = (self.sides[side], tape.small());
        let mut stats = Memory::new(anb_stats::default(), tape);
        no_failure(unsafe { anb_ep_stats(ep, self.now, assoc, stats.at()) });
        stats.check(1);
        let mut paths = Memory::new(anb_path::default(), tape);
        let most = paths.bytes.len() / paths.size.max(4);
        let n = usize::from(tape.byte()) % (most + 1);
        no_failure(unsafe { anb_ep_paths(ep, self.now, assoc, paths.at(), n) });
        paths.check(n);
        let mut event = Memory::new(anb_event::default(), tape);
        no_failure(unsafe { anb_ep_event(ep, event.at()) });
        event.check(1);
        assert!(unsafe { anb_ep_timeout(ep) } >= 0);
    }

    fn names(&self, side: usize, tape: &mut Tape<'_>) {
        let (ep, assoc) = (self.sides[side], tape.small());
        let c = |text: &str| CString::new(text).expect("no zero byte");
        let (name, value) = (c(tape.one_of(NAMES)), c(tape.one_of(VALUES)));
        let (verb, argument) = (c(tape.one_of(VERBS)), c(tape.one_of(ARGUMENTS)));
        let mut why = anb_why { text: [UNTOUCHED as c_char; 256] };
        match tape.byte() % 3 {
            0 => no_failure(unsafe {
                anb_ep_set(ep, self.now, assoc, name.as_ptr(), value.as_ptr(), &mut why)
            }),
            1 => no_failure(unsafe {
                anb_ep_do(ep, self.now, assoc, verb.as_ptr(), argument.as_ptr(), &mut why)
            }),
            _ => {
                let (mut text, room) = ([UNTOUCHED as c_char; 40], usize::from(tape.byte() % 33));
                no_failure(unsafe { anb_ep_get(ep, assoc, name.as_ptr(), text.as_mut_ptr(), room) });
                assert!(text[room..].iter().all(|&byte| byte == UNTOUCHED as c_char));
                return;
            }
        }
        assert!(why.text.contains(&0), "the sentence ends");
    }

    fn step(&mut self, tape: &mut Tape<'_>) {
        let (what, side) = (tape.byte(), usize::from(tape.byte() % 2));
        let ep = self.sides[side];
        match what % 16 {
            0 => self.connect(side, tape),
            1..=3 => self.send(side, tape),
            4 | 5 => self.receive(side, tape),
            6 => self.look(side, tape),
            7 => self.names(side, tape),
            8 => {
                let until = unsafe { anb_ep_timeout(ep) };
                self.now = self.now.max(until.min(i64::MAX / 2)) + i64::from(tape.byte()) * 1_000_000;
                no_failure(unsafe { anb_ep_on_timeout(ep, self.now) });
            }
            9 => no_failure(unsafe { anb_ep_on_timeout(ep, i64::from(tape.number()) << (tape.byte() % 32)) }),
            10 => {
                let (assoc, abort, len) = (tape.small(), tape.byte() % 2, tape.byte());
                let reason = [7_u8; 255];
                let at = if tape.byte() == 3 { null() } else { reason.as_ptr().cast() };
                no_failure(unsafe { anb_ep_end(ep, self.now, assoc, abort.into(), at, len.into()) });
            }
            11 => no_failure(unsafe { anb_ep_listen(ep, (tape.byte() % 4).into()) }),
            12 => {
                let packet: Vec<u8> = (0..tape.byte()).map(|_| tape.byte()).collect();
                let (src, dst) = (address(2 - side as u8), address(1 + side as u8));
                self.handle(side, anb_route { src, dst, ..Default::default() }, &packet, tape);
            }
            13 => {
                let room = tape.number() as usize % 70_000;
                self.transmit(side, room, tape);
            }
            _ => {
                // Carries all packets that are ready, in both directions, as a caller should.
                for _ in 0..20 {
                    while self.flying.len() < 200 && self.transmit(side, 65_535, tape) {}
                    while self.flying.len() < 200 && self.transmit(1 - side, 65_535, tape) {}
                    for _ in 0..self.flying.len() {
                        self.deliver(tape);
                    }
                }
            }
        }
    }
}

fn no_failure(result: i32) {
    assert_ne!(result, -EIO, "a call failed inside");
}

/// Plays calls until the input ends.
pub fn play(input: &[u8]) {
    let mut tape = Tape(input);
    let sides = [make(0, &mut tape), make(1, &mut tape)];
    let mut world = World { sides, now: 0, flying: Vec::new() };
    no_failure(unsafe { anb_ep_listen(sides[1], 1) });
    while !tape.0.is_empty() {
        world.step(&mut tape);
    }
    sides.iter().for_each(|&ep| unsafe { anb_ep_free(ep) });
}
