//! The contract of the calls: errors, versions of structs, one caller at a time, panics, and a transfer.

use anabranch_capi::*;
use libc::*;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

fn address(last: u8) -> anb_ip {
    let mut ip = anb_ip { family: 4, ..Default::default() };
    ip.bytes[..4].copy_from_slice(&[10, 0, 0, last]);
    ip
}

/// Makes an endpoint from a setup that `set` has changed.
fn new_with(last: u8, set: impl FnOnce(&mut anb_setup)) -> Result<*mut anb_ep, (i32, String)> {
    let ours = [address(last)];
    let mut setup = anb_setup {
        port: 5000 + u16::from(last),
        addresses: ours.as_ptr(),
        n_addresses: 1,
        seed_kind: ANB_SEED_GIVEN,
        seed: [last; 32],
        ..Default::default()
    };
    set(&mut setup);
    let (mut ep, mut why) = (null_mut(), anb_why { text: [1; 256] });
    match unsafe { anb_ep_new(&setup, &mut ep, &mut why) } {
        0 => Ok(ep),
        errno => Err((-errno, told(&why))),
    }
}

fn told(why: &anb_why) -> String {
    unsafe { CStr::from_ptr(why.text.as_ptr()) }.to_str().expect("UTF-8").to_owned()
}

fn new(last: u8) -> *mut anb_ep {
    new_with(last, |_| {}).expect("a right setup")
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no zero byte")
}

fn set(ep: *mut anb_ep, assoc: u32, name: &str, value: &str) -> Result<(), (i32, String)> {
    let mut why = anb_why { text: [1; 256] };
    match unsafe { anb_ep_set(ep, 0, assoc, c(name).as_ptr(), c(value).as_ptr(), &mut why) } {
        0 => {
            assert_eq!(told(&why), "", "the sentence of an earlier call is gone");
            Ok(())
        }
        errno => Err((-errno, told(&why))),
    }
}

fn perform(ep: *mut anb_ep, now: i64, assoc: u32, verb: &str, argument: &str) -> Result<(), (i32, String)> {
    let mut why = anb_why { text: [1; 256] };
    match unsafe { anb_ep_do(ep, now, assoc, c(verb).as_ptr(), c(argument).as_ptr(), &mut why) } {
        0 => Ok(()),
        errno => Err((-errno, told(&why))),
    }
}

/// Two endpoints that pass each other's packets without delay.
struct Pair {
    sides: [*mut anb_ep; 2],
    now: i64,
    assoc: [u32; 2],
    events: Vec<anb_event>,
}

impl Pair {
    /// A pair with an association.
    fn connected() -> Self {
        let mut pair = Pair { sides: [new(1), new(2)], now: 0, assoc: [0, 1], events: Vec::new() };
        let theirs = [address(2)];
        let peer = anb_peer { port: 5002, addresses: theirs.as_ptr(), n_addresses: 1, ..Default::default() };
        unsafe {
            assert_eq!(anb_ep_listen(pair.sides[1], 1), 0);
            assert_eq!(anb_ep_connect(pair.sides[0], 0, &peer, &mut pair.assoc[0], null_mut()), 0);
            let mut other = 0;
            let again = anb_ep_connect(pair.sides[0], 0, &peer, &mut other, null_mut());
            assert_eq!((again, other), (-EISCONN, 0));
        }
        pair.settle();
        let connected = pair.events.iter().filter(|event| event.kind == 1);
        assert_eq!(connected.map(|event| event.assoc).collect::<Vec<_>>(), [1, 1]);
        pair
    }

    /// Passes packets until there are none, and keeps the events.
    fn settle(&mut self) {
        let (mut packet, mut more) = ([0_u8; 65_535], true);
        while std::mem::take(&mut more) {
            for side in 0..2 {
                let mut route = anb_route::default();
                let length = unsafe {
                    anb_ep_transmit(
                        self.sides[side],
                        self.now,
                        packet.as_mut_ptr().cast(),
                        packet.len(),
                        &mut route,
                    )
                };
                assert!(length >= 0, "{length}");
                if length > 0 {
                    more = true;
                    let route = anb_route { udp_port: 9899, ..route };
                    let done = unsafe {
                        anb_ep_handle(
                            self.sides[1 - side],
                            self.now,
                            &route,
                            packet.as_ptr().cast(),
                            length as usize,
                        )
                    };
                    assert_eq!(done, 0);
                }
                let mut event = anb_event::default();
                while unsafe { anb_ep_event(self.sides[side], &mut event) } == 1 {
                    self.events.push(event);
                }
            }
        }
    }

    fn send(&self, msg: &anb_msg, data: &[u8]) -> i32 {
        unsafe { anb_ep_send(self.sides[0], self.now, self.assoc[0], msg, data.as_ptr().cast(), data.len()) }
    }

    fn recv(&self, room: usize) -> (isize, Vec<u8>, anb_info) {
        let (mut data, mut info) = (vec![0; room], anb_info::default());
        let at = data.as_mut_ptr().cast();
        let length = unsafe { anb_ep_recv(self.sides[1], self.now, self.assoc[1], at, room, &mut info) };
        data.truncate(length.max(0) as usize);
        (length, data, info)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.sides.iter().for_each(|&ep| unsafe { anb_ep_free(ep) });
    }
}

#[test]
fn messages_and_their_descriptions_arrive_and_an_end_is_reported() {
    let mut pair = Pair::connected();
    assert_eq!(pair.recv(100).0, -EAGAIN as isize);
    let msg =
        anb_msg { stream: 3, ppid: 0x0102_0304, flags: ANB_UNORDERED | ANB_TRACK, ..Default::default() };
    assert_eq!(pair.send(&msg, b"hello, world"), 0);
    assert_eq!(pair.send(&anb_msg { flags: ANB_MORE, ..anb_msg::default() }, b"one "), 0);
    assert_eq!(pair.send(&anb_msg::default(), b"message"), 0);
    pair.settle();
    let (length, data, info) = pair.recv(5);
    assert_eq!(
        (length, data.as_slice(), info.left, info.stream, info.ppid),
        (5, &b"hello"[..], 7, 3, 0x0102_0304)
    );
    assert_eq!(info.flags, ANB_IS_UNORDERED);
    let (_, data, info) = pair.recv(100);
    assert_eq!((data.as_slice(), info.left, info.flags), (&b", world"[..], 0, ANB_IS_UNORDERED | ANB_IS_END));
    let (_, data, info) = pair.recv(100);
    assert_eq!((data.as_slice(), info.flags), (&b"one message"[..], ANB_IS_END));
    // The first tracked message has number 0.
    pair.now += 1_000_000_000;
    pair.sides.iter().for_each(|&ep| assert_eq!(unsafe { anb_ep_on_timeout(ep, pair.now) }, 0));
    pair.settle();
    let delivered: Vec<_> = pair.events.iter().filter(|event| event.kind == 9).map(|e| (e.b, e.a)).collect();
    assert_eq!(delivered, [(0, 1)]);

    let mut paths = [anb_path::default(); 2];
    let count = unsafe { anb_ep_paths(pair.sides[0], pair.now, pair.assoc[0], paths.as_mut_ptr(), 2) };
    assert_eq!((count, paths[0].remote, paths[0].state, paths[0].primary), (1, address(2), 2, 1));
    assert_eq!((paths[0].user_bytes, paths[0].udp_port), (23, 9899));
    let mut stats = anb_stats::default();
    assert_eq!(unsafe { anb_ep_stats(pair.sides[1], pair.now, pair.assoc[1], &mut stats) }, 0);
    assert_eq!((stats.state, stats.user_bytes_received), (3, 23));

    let reason = b"enough";
    let aborted = |ep, assoc| unsafe { anb_ep_end(ep, 0, assoc, 1, reason.as_ptr().cast(), reason.len()) };
    assert_eq!(aborted(pair.sides[0], pair.assoc[0]), 0);
    pair.settle();
    let closed: Vec<_> = pair.events.iter().filter(|event| event.kind == 19).collect();
    let sentence = |event: &anb_event| {
        String::from_utf8(event.reason[..event.reason_len as usize].to_vec()).expect("UTF-8")
    };
    let ends: Vec<_> = closed.iter().map(|event| (event.a, sentence(event))).collect();
    assert!(ends.contains(&(2, "the peer aborted the connection: \"enough\"".to_owned())), "{ends:?}");
    assert_eq!(pair.send(&anb_msg::default(), b"x"), -ENOTCONN);
    assert_eq!(pair.recv(100).0, -EPIPE as isize);
}

#[test]
fn a_send_that_does_not_fit_changes_nothing_and_has_its_own_error() {
    let mut pair = Pair::connected();
    let most = vec![7; 8 << 20];
    assert_eq!(pair.send(&anb_msg::default(), &most), 0);
    assert_eq!(pair.send(&anb_msg::default(), b"x"), -EAGAIN);
    assert_eq!(pair.send(&anb_msg::default(), &vec![0; (64 << 20) + 1]), -EMSGSIZE);
    for wrong in [
        anb_msg { stream: 999, ..Default::default() },
        anb_msg { flags: 32, ..Default::default() },
        anb_msg { reliability: 4, ..Default::default() },
        anb_msg { path: -1, ..Default::default() },
        anb_msg { path: 1000, ..Default::default() },
    ] {
        assert_eq!(pair.send(&wrong, b"x"), -EINVAL, "{wrong:?}");
    }
    assert_eq!(pair.send(&anb_msg::default(), b""), -EINVAL);
    assert_eq!(pair.recv(0).0, -EINVAL as isize);
    assert_eq!(
        unsafe { anb_ep_end(pair.sides[0], 0, pair.assoc[0], 1, most.as_ptr().cast(), 205) },
        -EMSGSIZE
    );
    assert_eq!(unsafe { anb_ep_end(pair.sides[0], 0, pair.assoc[0], 0, null(), 0) }, 0);
    assert_eq!(pair.send(&anb_msg::default(), b"x"), -EPIPE, "it is being shut down");
    pair.settle();
}

#[test]
fn a_packet_stays_until_there_is_room_for_it() {
    let pair = Pair::connected();
    assert_eq!(pair.send(&anb_msg::default(), &[1; 1000]), 0);
    let (mut packet, mut route) = ([0_u8; 1500], anb_route::default());
    let mut transmit = |len: usize| unsafe {
        anb_ep_transmit(pair.sides[0], 0, packet.as_mut_ptr().cast(), len, &mut route)
    };
    for short in [0, 1, 1000] {
        assert_eq!(transmit(short), -ENOBUFS as isize);
    }
    assert_eq!(transmit(1500), 12 + 16 + 1000);
    assert_eq!(transmit(1500), 0);
    assert_eq!((route.src, route.dst, route.udp_port), (address(1), address(2), 9899));
}

#[test]
fn null_is_refused_where_it_has_no_meaning() {
    let (ep, fault) = (new(1), -EFAULT);
    unsafe {
        let mut made = null_mut();
        assert_eq!(anb_ep_new(null(), &mut made, null_mut()), fault);
        assert_eq!(anb_ep_new(&anb_setup::default(), null_mut(), null_mut()), fault);
        let setup = anb_setup { n_addresses: 1, ..Default::default() };
        assert_eq!(anb_ep_new(&setup, &mut made, null_mut()), fault);
        let (name, mut text) = (c("nagle"), [0; 9]);
        assert_eq!(anb_ep_set(null_mut(), 0, 0, name.as_ptr(), name.as_ptr(), null_mut()), fault);
        assert_eq!(anb_ep_set(ep, 0, 0, null(), name.as_ptr(), null_mut()), fault);
        assert_eq!(anb_ep_set(ep, 0, 0, name.as_ptr(), null(), null_mut()), fault);
        assert_eq!(anb_ep_get(ep, 0, null(), text.as_mut_ptr(), 9), fault);
        assert_eq!(anb_ep_get(ep, 0, name.as_ptr(), null_mut(), 9), fault);
        assert_eq!(anb_ep_get(ep, 0, name.as_ptr(), null_mut(), 0), 5, "the length of `false`");
        assert_eq!(anb_ep_do(ep, 0, 1, name.as_ptr(), null(), null_mut()), fault);
        assert_eq!(anb_ep_listen(null_mut(), 1), fault);
        let (peer, mut assoc) = (anb_peer { port: 1, n_addresses: 1, ..Default::default() }, 0);
        assert_eq!(anb_ep_connect(ep, 0, null(), &mut assoc, null_mut()), fault);
        assert_eq!(anb_ep_connect(ep, 0, &peer, &mut assoc, null_mut()), fault);
        assert_eq!(anb_ep_connect(ep, 0, &anb_peer::default(), null_mut(), null_mut()), fault);
        assert_eq!(anb_ep_send(ep, 0, 1, null(), null(), 0), fault);
        assert_eq!(anb_ep_send(ep, 0, 1, &anb_msg::default(), null(), 1), fault);
        let (mut info, mut route) = (anb_info::default(), anb_route::default());
        assert_eq!(anb_ep_recv(ep, 0, 1, null_mut(), 1, &mut info), fault as isize);
        assert_eq!(anb_ep_recv(ep, 0, 1, text.as_mut_ptr().cast(), 1, null_mut()), fault as isize);
        assert_eq!(anb_ep_end(ep, 0, 1, 1, null(), 1), fault);
        assert_eq!(anb_ep_handle(ep, 0, null(), null(), 0), fault);
        assert_eq!(anb_ep_handle(ep, 0, &route, null(), 1), fault);
        assert_eq!(anb_ep_transmit(ep, 0, null_mut(), 1, &mut route), fault as isize);
        assert_eq!(anb_ep_transmit(ep, 0, text.as_mut_ptr().cast(), 1, null_mut()), fault as isize);
        assert_eq!(anb_ep_event(ep, null_mut()), fault);
        assert_eq!(anb_ep_timeout(null_mut()), i64::from(fault));
        assert_eq!(anb_ep_on_timeout(null_mut(), 0), fault);
        assert_eq!(anb_ep_paths(ep, 0, 1, null_mut(), 1), fault);
        assert_eq!(anb_ep_stats(ep, 0, 1, null_mut()), fault);
        anb_ep_free(null_mut());
        anb_ep_free(ep);
    }
}

/// Memory of 4200 bytes for a struct whose field `size` has another value.
#[repr(C, align(8))]
struct Memory([u8; 4200]);

fn in_memory<T: Copy>(value: T, size: u32) -> Memory {
    let mut memory = Memory([0; 4200]);
    unsafe { memory.0.as_mut_ptr().cast::<T>().write(value) };
    memory.0[..4].copy_from_slice(&size.to_ne_bytes());
    memory
}

#[test]
fn structs_of_older_and_of_newer_callers_are_understood() {
    let mut pair = Pair::connected();
    let send = |memory: &Memory| unsafe {
        let msg = memory.0.as_ptr().cast::<anb_msg>();
        anb_ep_send(pair.sides[0], 0, pair.assoc[0], msg, b"x".as_ptr().cast(), 1)
    };
    let msg = anb_msg { stream: 2, path: 77, ..Default::default() };
    assert_eq!(send(&in_memory(msg, 28)), -EINVAL, "there is no path 76");
    assert_eq!(send(&in_memory(anb_msg::default(), 24)), -EINVAL, "no version is that short");
    let mut newer = in_memory(anb_msg { path: 0, ..msg }, 40);
    assert_eq!(send(&newer), 0);
    newer.0[39] = 1;
    assert_eq!(send(&newer), -E2BIG, "a field that this library does not know is set");
    for (size, errno) in [(0, EINVAL), (3, EINVAL), (4097, E2BIG), (u32::MAX, E2BIG)] {
        assert_eq!(send(&in_memory(anb_msg::default(), size)), -errno, "{size}");
    }
    pair.settle();

    // Only as many bytes as the caller's `size` says are written. Those that this library does not know are
    // zero.
    let mut event = Memory([9; 4200]);
    let mut read = |size: u32| unsafe {
        assert_eq!(pair.send(&anb_msg { flags: ANB_TRACK, ..Default::default() }, b"x"), 0);
        event.0.fill(9);
        event.0[..4].copy_from_slice(&size.to_ne_bytes());
        let mut stats = event.0.as_mut_ptr().cast::<anb_stats>();
        stats = std::hint::black_box(stats);
        assert_eq!(anb_ep_stats(pair.sides[0], 0, pair.assoc[0], stats), 0);
        (event.0[4], event.0[size as usize - 1], event.0[size as usize])
    };
    assert_eq!(read(80), (3, 0, 9));
    assert_eq!(read(100), (3, 0, 9));
    assert_eq!(&event.0[..4], &100_u32.to_ne_bytes(), "the size stays the caller's");

    // All elements of an array have the size that its first element states.
    let mut paths = Memory([9; 4200]);
    paths.0[..4].copy_from_slice(&160_u32.to_ne_bytes());
    let count = unsafe { anb_ep_paths(pair.sides[0], 0, pair.assoc[0], paths.0.as_mut_ptr().cast(), 3) };
    assert_eq!((count, paths.0[159], paths.0[160]), (1, 0, 9), "one of three elements is written");
}

#[test]
fn a_wrong_setup_is_refused_with_a_sentence() {
    type Change = fn(&mut anb_setup);
    let cases: [(Change, i32, &str); 9] = [
        (|setup| setup.abi = 7, EPROTO, "the program was compiled for ABI 7: this library has 0"),
        (|setup| setup.profile = 2, EINVAL, "profile: expected ANB_RECOMMENDED or ANB_RFC9260"),
        (|setup| setup.flags = 4, EINVAL, "flags: expected ANB_PLAIN_IP, ANB_NO_CHECKSUM, both or 0"),
        (|setup| setup.seed_kind = 2, EINVAL, "seed_kind: expected ANB_SEED_SYSTEM or ANB_SEED_GIVEN"),
        (|setup| setup.n_addresses = 0, EINVAL, "addresses = 0 addresses: expected 1 to 16 addresses"),
        (
            |setup| setup.max_associations = u32::MAX,
            EINVAL,
            "max_associations = 4294967295: expected 1 to 1048576",
        ),
        (|setup| setup.size = 3, EINVAL, "the size of a struct is not set"),
        (|setup| setup.size = 5000, E2BIG, "a struct has fields that this library does not know"),
        (|setup| setup.addresses = null(), EFAULT, "a pointer is NULL"),
    ];
    for (change, errno, sentence) in cases {
        assert_eq!(new_with(1, change).expect_err(sentence), (errno, sentence.to_owned()));
    }
    let other = |change: fn(&mut anb_ip)| {
        let mut ours = [address(1)];
        change(&mut ours[0]);
        new_with(1, |setup| setup.addresses = ours.as_ptr()).expect_err("a wrong address")
    };
    assert_eq!(other(|ip| ip.family = 5), (EINVAL, "family = 5 of an address: expected 4 or 6".to_owned()));
    assert_eq!(other(|ip| ip.scope = 1).0, EINVAL);
    assert_eq!(other(|ip| ip.bytes[0] = 224).1, "addresses = 224.0.0.1: expected unicast addresses only");
}

#[test]
fn an_endpoint_without_a_port_chooses_one_by_its_seed() {
    let port_of = |seed: u8| {
        let ep = new_with(1, |setup| (setup.port, setup.seed) = (0, [seed; 32])).expect("an endpoint");
        let (theirs, mut assoc) = ([address(2)], 0);
        let peer = anb_peer { port: 1, addresses: theirs.as_ptr(), n_addresses: 1, ..Default::default() };
        let (mut packet, mut route) = ([0_u8; 2000], anb_route::default());
        unsafe {
            assert_eq!(anb_ep_connect(ep, 0, &peer, &mut assoc, null_mut()), 0);
            assert!(anb_ep_transmit(ep, 0, packet.as_mut_ptr().cast(), 2000, &mut route) > 0);
            anb_ep_free(ep);
        }
        u16::from_be_bytes([packet[0], packet[1]])
    };
    assert_eq!(port_of(1), port_of(1));
    assert_ne!(port_of(1), port_of(2));
    assert!((1..9).map(port_of).all(|port| port >= 49_152));
}

#[test]
fn connect_has_an_error_for_each_reason() {
    let ep = new_with(1, |setup| setup.max_associations = 1).expect("an endpoint");
    let mut why = anb_why { text: [0; 256] };
    let mut connect = |port: u16, udp_port: i32, addresses: &[anb_ip]| {
        let (at, n) = (addresses.as_ptr(), addresses.len() as u32);
        let peer = anb_peer { port, udp_port, addresses: at, n_addresses: n, ..Default::default() };
        let mut assoc = 0;
        (unsafe { anb_ep_connect(ep, 0, &peer, &mut assoc, &mut why) }, assoc, told(&why))
    };
    let v6 = anb_ip { family: 6, bytes: [0xfd; 16], ..Default::default() };
    assert_eq!(connect(1, 0, &[v6]).0, -EADDRNOTAVAIL);
    assert_eq!(connect(1, 0, &[]).0, -EADDRNOTAVAIL);
    assert_eq!(
        connect(0, 0, &[address(2)]),
        (-EINVAL, 0, "the remote port is 0: expected 1 to 65535".to_owned())
    );
    assert_eq!(connect(1, 70_000, &[address(2)]).0, -EINVAL);
    assert_eq!(connect(1, -2, &[address(2)]).0, -EINVAL);
    assert_eq!(connect(1, -1, &[address(2)]), (0, 1, String::new()));
    assert_eq!(connect(2, 0, &[address(2)]).0, -EMFILE);
    let (mut packet, mut route) = ([0_u8; 2000], anb_route { udp_port: 9, ..Default::default() });
    assert!(unsafe { anb_ep_transmit(ep, 0, packet.as_mut_ptr().cast(), 2000, &mut route) } > 0);
    assert_eq!(route.udp_port, 0, "plain IP");
    unsafe { anb_ep_free(ep) };
    let plain = new_with(1, |setup| setup.flags = ANB_PLAIN_IP).expect("an endpoint");
    let (theirs, mut assoc) = ([address(2)], 0);
    let peer = anb_peer {
        port: 1,
        udp_port: 9899,
        addresses: theirs.as_ptr(),
        n_addresses: 1,
        ..Default::default()
    };
    assert_eq!(unsafe { anb_ep_connect(plain, 0, &peer, &mut assoc, null_mut()) }, -EINVAL);
    unsafe { anb_ep_free(plain) };
}

#[test]
fn options_of_an_association_change_and_others_are_fixed() {
    let pair = Pair::connected();
    let (ep, assoc) = (pair.sides[0], pair.assoc[0]);
    assert_eq!(set(ep, assoc, "sack_delay", "\"40 ms\""), Ok(()));
    let mut text = [1; 6];
    let get = |assoc, text: &mut [c_char]| unsafe {
        anb_ep_get(ep, assoc, c"sack_delay".as_ptr(), text.as_mut_ptr(), text.len())
    };
    assert_eq!(get(assoc, &mut text), 5);
    assert_eq!(unsafe { CStr::from_ptr(text.as_ptr()) }, c"40 ms");
    let mut short = [1; 5];
    assert_eq!((get(assoc, &mut short), short[0]), (5, 0), "only a zero byte");
    assert_eq!(get(0, &mut [0; 20]), 6, "200 ms for later associations");
    let fixed = "mtu cannot change while an association exists".to_owned();
    assert_eq!(set(ep, assoc, "mtu", "1400"), Err((EBUSY, fixed)));
    assert_eq!(set(ep, assoc, "sack_delay", "1 s").expect_err("too long").0, EINVAL);
    assert_eq!(set(ep, 99, "sack_delay", "1 ms").expect_err("no association").0, ENOTCONN);
    let unknown = "unknown option \"sak_delay\"; did you mean `sack_delay`?".to_owned();
    assert_eq!(set(ep, 0, "sak_delay", "1 ms"), Err((ENOENT, unknown)));
}

#[test]
fn verbs_are_performed_or_refused_with_a_sentence() {
    let mut pair = Pair::connected();
    let (ep, assoc) = (pair.sides[0], pair.assoc[0]);
    for (verb, argument) in [
        ("heartbeat", "10.0.0.2"),
        ("primary", "10.0.0.2"),
        ("path-mtu", "10.0.0.2 1400"),
        ("stream-value", "3 7"),
        ("add-address", "10.0.0.7"),
        ("auth-key", "1 00ff"),
        ("auth-activate", "1"),
        ("add-streams", "2,0"),
        ("reset-streams", "out [1, 2]"),
    ] {
        assert_eq!(perform(ep, 0, assoc, verb, argument), Ok(()), "{verb} {argument}");
        pair.settle();
    }
    for (verb, argument, errno, sentence) in [
        ("heartbeet", "", ENOENT, "did you mean `heartbeat`?"),
        ("heartbeat", "", EINVAL, "heartbeat: expected an IP address"),
        ("heartbeat", "10.0.0.2 x", EINVAL, "heartbeat: expected an IP address"),
        ("heartbeat", "10.0.0.9", EPERM, "there is no path to 10.0.0.9"),
        ("path-mtu", "10.0.0.2 100", EPERM, "a path MTU of 100 bytes: expected 576 to 65535"),
        ("auth-key", "1 0", EINVAL, "hexadecimal"),
        ("auth-key", "1 0ä", EINVAL, "hexadecimal"),
        ("auth-remove", "1", EPERM, "key 1 is active: activate another one first"),
        ("add-streams", "1", EINVAL, "add-streams: expected two numbers"),
        ("reset-streams", "up", EINVAL, "in, out or both"),
        ("reset-association", "now", EINVAL, "expected nothing"),
    ] {
        let (found, told) = perform(ep, 0, assoc, verb, argument).expect_err(verb);
        assert!(found == errno && told.contains(sentence), "{verb} {argument}: {found} {told}");
    }
    let kinds: Vec<u16> = pair.events.iter().map(|event| event.kind).collect();
    assert!([6, 16].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}

#[test]
fn a_panic_stays_inside_and_the_endpoint_can_only_be_freed_then() {
    let ep = new(1);
    std::panic::set_hook(Box::new(|_| {}));
    assert_eq!(set(ep, 0, "ANB_TEST_PANIC", "1").expect_err("a panic").0, EIO);
    let _ = std::panic::take_hook();
    unsafe {
        assert_eq!(anb_ep_listen(ep, 1), -EIO);
        assert_eq!(anb_ep_timeout(ep), i64::from(-EIO));
        assert_eq!(anb_ep_event(ep, &mut anb_event::default()), -EIO);
        anb_ep_free(ep);
    }
}

#[test]
fn a_second_caller_is_sent_away() {
    struct Shared(*mut anb_ep);
    unsafe impl Sync for Shared {}
    let shared = Shared(new(1));
    let shared = &shared;
    let (done, refused) = (&AtomicU32::new(0), &AtomicU32::new(0));
    // Both threads make calls that take some time, until two calls overlap.
    let calls = move || {
        let (name, value) = (c("max_burst"), c("5"));
        for _ in 0..200_000 {
            match unsafe { anb_ep_set(shared.0, 0, 0, name.as_ptr(), value.as_ptr(), null_mut()) } {
                0 => done.fetch_add(1, Ordering::Relaxed),
                errno => {
                    assert_eq!(errno, -EBUSY);
                    refused.fetch_add(1, Ordering::Relaxed)
                }
            };
            if done.load(Ordering::Relaxed) > 0 && refused.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(calls);
        scope.spawn(calls);
    });
    assert!(refused.load(Ordering::Relaxed) > 0, "no call met another one");
    assert_eq!(unsafe { anb_ep_listen(shared.0, 1) }, 0, "the endpoint works on");
    unsafe { anb_ep_free(shared.0) };
}

#[test]
fn time_that_runs_backwards_stands_still() {
    let pair = Pair::connected();
    unsafe {
        let at = anb_ep_timeout(pair.sides[0]);
        assert!(at > 0 && at < ANB_NEVER, "{at}");
        assert_eq!(anb_ep_on_timeout(pair.sides[0], i64::MIN), 0);
        assert_eq!(anb_ep_on_timeout(pair.sides[0], i64::MAX), 0);
        assert_eq!(anb_ep_on_timeout(pair.sides[0], 5), 0);
        assert!(anb_ep_timeout(pair.sides[0]) >= 0);
    }
}

#[test]
fn library_and_errors_describe_themselves() {
    assert_eq!(anb_abi(), ANB_ABI);
    let text = |at| unsafe { CStr::from_ptr(at) }.to_str().expect("UTF-8");
    assert_eq!(text(anb_version()), env!("CARGO_PKG_VERSION"));
    assert_eq!(text(anb_strerror(-EAGAIN)), text(anb_strerror(EAGAIN)));
    assert_eq!(text(anb_strerror(i32::MIN)), "unknown error");
}
