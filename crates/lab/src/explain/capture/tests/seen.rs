//! Packets that were captured at several places, partly, in fragments, or after other headers.

use super::*;
use net::Undecoded;

/// The packets of a file: time in microseconds, and bytes of the IP packet.
fn packets(file: &File) -> Vec<(u64, Vec<u8>)> {
    let word =
        |bytes: &[u8], n: usize| u32::from_le_bytes(bytes[n..n + 4].try_into().expect("four")) as usize;
    let mut rest = &file.0[24..];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let length = word(rest, 8);
        let at = word(rest, 0) as u64 * 1_000_000 + word(rest, 4) as u64;
        found.push((at, rest[16..16 + length].to_vec()));
        rest = &rest[16 + length..];
    }
    found
}

/// A classic capture of packets with this link type.
fn classic(link_type: u32, packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let words = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, link_type];
    let mut file: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    for (at, bytes) in packets {
        let words =
            [(at / 1_000_000) as u32, (at % 1_000_000) as u32, bytes.len() as u32, bytes.len() as u32];
        file.extend(words.into_iter().flat_map(u32::to_le_bytes));
        file.extend(bytes);
    }
    file
}

/// A block of pcapng.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = (padded as u32 + 12).to_le_bytes();
    let mut out = [&kind.to_le_bytes()[..], &length, body].concat();
    out.resize(8 + padded, 0);
    out.extend(length);
    out
}

/// A section of pcapng. `interfaces`: link type, and n if the time unit is 10^-n s. `packets`: interface,
/// microseconds, bytes.
fn section(interfaces: &[(u16, u8)], packets: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
    let mut out =
        block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    for &(link_type, unit) in interfaces {
        let [l0, l1] = link_type.to_le_bytes();
        out.extend(block(1, &[l0, l1, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, unit, 0, 0, 0, 0, 0, 0, 0]));
    }
    for (interface, micros, bytes) in packets {
        let at = micros * 10u64.pow(u32::from(interfaces[*interface as usize].1) - 6);
        let words = [*interface, (at >> 32) as u32, at as u32, bytes.len() as u32, bytes.len() as u32];
        let head: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        out.extend(block(6, &[&head[..], bytes].concat()));
    }
    out
}

/// Ten chunks, each acknowledged after 100 ms.
fn transfer() -> File {
    let mut file = File::new();
    for n in 0..10 {
        file.data(200 * n, &[n]);
        file.sack(200 * n + 100, n, 100_000, &[], &[]);
    }
    file
}

/// Numbers of chunks, retransmissions and SACKs of the only path, and of packets that were captured again.
fn counts(file: &[u8]) -> (u64, u64, u64, u64) {
    let report = read_capture(file).expect("a capture");
    let [direction] = report.directions.as_slice() else { panic!("{report:?}") };
    let path = &direction.paths[0];
    (path.chunks, path.retransmissions, path.sacks, report.not_decoded.count(Missed::SeenAgain))
}

#[test]
fn packets_of_a_bridge_and_its_port_count_once() {
    let cooked = |kind: u8, ip: &[u8]| [&[0, kind, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0], ip].concat();
    let cooked_2 = |interface: u8, ip: &[u8]| {
        [&[8, 0, 0, 0, 0, 0, 0, interface, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0], ip].concat()
    };
    type Link<'l> = &'l dyn Fn(&[u8]) -> Vec<u8>;
    let twice = |apart: u64, [first, second]: [Link<'_>; 2]| -> Vec<(u64, Vec<u8>)> {
        let each = packets(&transfer()).into_iter();
        each.flat_map(|(at, ip)| [(at, first(&ip)), (at + apart, second(&ip))]).collect()
    };
    let expected = (10, 0, 10, 20);
    assert_eq!(counts(&classic(101, &twice(0, [&|ip| ip.to_vec(), &|ip| ip.to_vec()]))), expected);
    assert_eq!(counts(&classic(113, &twice(40, [&|ip| cooked(0, ip), &|ip| cooked(0, ip)]))), expected);
    assert_eq!(counts(&classic(113, &twice(900, [&|ip| cooked(0, ip), &|ip| cooked(4, ip)]))), expected);
    assert_eq!(counts(&classic(276, &twice(900, [&|ip| cooked_2(2, ip), &|ip| cooked_2(5, ip)]))), expected);
    // Each packet is captured before and after a router.
    let hop = |ip: &[u8]| {
        let mut ip = ip.to_vec();
        ip[8] -= 1;
        ip
    };
    assert_eq!(counts(&classic(101, &twice(900, [&|ip| ip.to_vec(), &|ip| hop(ip)]))), expected);
}

#[test]
fn a_retransmission_of_the_same_bytes_is_none_seen_again() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.data(30, &[1]);
    file.sack(60, 1, 10_000, &[], &[]);
    assert_eq!(counts(&file.0), (2, 1, 1, 0));
    // The packets are captured at both ends of a link of 50 ms, which loses the first packet.
    let sent: Vec<(u32, u64, Vec<u8>)> = vec![
        (0, 0, packets(&file)[0].1.clone()),
        (0, 30_000, packets(&file)[1].1.clone()),
        (1, 80_000, packets(&file)[1].1.clone()),
        (1, 80_100, packets(&file)[2].1.clone()),
        (0, 130_100, packets(&file)[2].1.clone()),
    ];
    assert_eq!(counts(&section(&[(101, 9), (101, 9)], &sent)), (2, 1, 1, 2));
}

#[test]
fn both_ends_of_a_link_count_once_with_the_times_of_the_first() {
    // The link takes 50 ms: packets of A reach B later, and packets of B reach A later.
    let both = packets(&transfer()).into_iter().flat_map(|(at, ip)| {
        let from_a = ip[12..16] == A;
        let near = if from_a { at } else { at + 50_000 };
        let far = if from_a { at + 50_000 } else { at };
        [(0, near, ip.clone()), (1, far, ip)]
    });
    let mut both: Vec<(u32, u64, Vec<u8>)> = both.collect();
    both.sort_by_key(|(_, at, _)| *at);
    let file = section(&[(101, 6), (101, 6)], &both);
    assert_eq!(counts(&file), (10, 0, 10, 20));
    let report = read_capture(file.as_slice()).expect("a capture");
    assert_eq!(report.directions[0].paths[0].rtt.expect("samples").least, Span::from_millis(150));
}

#[test]
fn sections_and_interfaces_of_one_file_all_count_with_their_own_units_and_links() {
    let ethernet = |ip: &[u8]| [[0; 12].as_slice(), &[8, 0], ip].concat();
    let all = packets(&transfer());
    let of = |range: std::ops::Range<usize>, interface: u32, framed: bool| -> Vec<(u32, u64, Vec<u8>)> {
        all[range]
            .iter()
            .map(|(at, ip)| (interface, *at, if framed { ethernet(ip) } else { ip.clone() }))
            .collect()
    };
    let two_sections = [section(&[(101, 9)], &of(0..10, 0, false)), section(&[(1, 6)], &of(10..20, 0, true))];
    assert_eq!(counts(&two_sections.concat()), (10, 0, 10, 0));
    let moved = [of(0..10, 0, false), of(10..20, 1, true)].concat();
    let file = section(&[(101, 9), (1, 6)], &moved);
    assert_eq!(counts(&file), (10, 0, 10, 0));
    let report = read_capture(file.as_slice()).expect("a capture");
    let rtt = report.directions[0].paths[0].rtt.expect("samples");
    assert_eq!((rtt.least, rtt.greatest), (Span::from_millis(100), Span::from_millis(100)));
}

#[test]
fn packets_that_were_cut_before_their_last_chunk_are_told() {
    let mut file = File::new();
    file.data(0, &[1, 2]);
    file.data(1, &[3]);
    let mut cut = packets(&file);
    for (_, ip) in &mut cut {
        ip.truncate(100);
    }
    let report = read_capture(classic(101, &cut).as_slice()).expect("a capture");
    assert_eq!(report.directions[0].paths[0].chunks, 2);
    assert_eq!(report.not_decoded.count(Missed::CutPacket), 1, "chunk 2 was not captured");
    assert_eq!(report.not_decoded.iter().count(), 1);
}

/// A packet in fragments of 80 bytes.
fn in_fragments(ip: &[u8]) -> Vec<Vec<u8>> {
    let parts = ip[20..].chunks(80).count();
    let fragment = |(n, part): (usize, &[u8])| {
        let mut bytes = [&ip[..20], part].concat();
        bytes[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
        let more = if n + 1 < parts { 0x2000 } else { 0 };
        bytes[6..8].copy_from_slice(&(more | (n as u16 * 10)).to_be_bytes());
        bytes
    };
    ip[20..].chunks(80).enumerate().map(fragment).collect()
}

#[test]
fn fragments_of_ip_are_put_together_and_those_left_over_are_told() {
    let mut file = File::new();
    for n in 0..10 {
        file.data(200 * n, &[3 * n, 3 * n + 1, 3 * n + 2]);
        file.sack(200 * n + 100, 3 * n + 2, 100_000, &[], &[]);
    }
    let parts = packets(&file).into_iter();
    let mut parts: Vec<(u64, Vec<u8>)> =
        parts.flat_map(|(at, ip)| in_fragments(&ip).into_iter().map(move |part| (at, part))).collect();
    let report = read_capture(classic(101, &parts).as_slice()).expect("a capture");
    assert_eq!((report.directions[0].paths[0].chunks, report.not_decoded.iter().count()), (30, 0));
    // The last fragment of the last packet with data is missing.
    let last = parts.len() - 2;
    parts.remove(last);
    let report = read_capture(classic(101, &parts).as_slice()).expect("a capture");
    assert_eq!(report.directions[0].paths[0].chunks, 27);
    assert!(report.not_decoded.count(Missed::Fragment) > 1, "{:?}", report.not_decoded);
}

#[test]
fn what_is_not_decoded_is_counted_by_its_reason() {
    let whole = packets(&transfer());
    let report = read_capture(classic(147, &whole).as_slice()).expect("a capture");
    let missed: Vec<_> = report.not_decoded.iter().collect();
    assert_eq!(missed, [(Missed::Packet(Undecoded::LinkType(147)), 20)]);
    assert_eq!(missed[0].0.to_string(), "packets: link type 147, which is not supported");
    // A chunk shorter than its header.
    let mut file = File::new();
    file.data(0, &[1, 2]);
    let mut damaged = packets(&file);
    damaged[0].1[20 + 12 + 116 + 3] = 2;
    let report = read_capture(classic(101, &damaged).as_slice()).expect("a capture");
    assert_eq!(report.not_decoded.count(Missed::Chunk), 1);
    // Ten thousand frames, each with another EtherType.
    let odd = |n: u16| (0, [[0; 12].as_slice(), &(0x9100 + 1 + n).to_be_bytes(), &[0; 8]].concat());
    let report = read_capture(classic(1, &(0..10_000).map(odd).collect::<Vec<_>>()).as_slice()).expect("one");
    assert!(report.not_decoded.iter().count() < 100);
    assert_eq!(report.not_decoded.iter().map(|(_, times)| times).sum::<u64>(), 10_000);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    /// Captures with fragments, tunnels and several sections are changed at random bytes.
    #[test]
    fn damaged_captures_of_all_kinds_are_read_without_panic(
        changes in proptest::collection::vec((0usize..20_000, proptest::prelude::any::<u8>()), 0..60),
        kind in 0usize..6,
    ) {
        let mut whole = packets(&transfer());
        let heads: [&[u8]; 6] = [
            &[],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x47, 0, 1, 1, 64],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0, 0x21],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 7, 8, 0],
            &[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 8, 0],
            &[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 8, 0x68, 8, 0x68, 0, 0, 0, 0, 0x30, 255, 0, 0, 0, 0, 0, 0],
        ];
        if kind == 0 {
            let parts = |(at, ip): (u64, Vec<u8>)| in_fragments(&ip).into_iter().map(move |part| (at, part));
            whole = whole.into_iter().flat_map(parts).collect();
        }
        for (_, ip) in &mut whole {
            *ip = [heads[kind], ip].concat();
        }
        let link_type = if (1..4).contains(&kind) { 1 } else { 101 };
        let framed: Vec<_> = whole.iter().map(|(at, ip)| (0, *at, ip.clone())).collect();
        for mut file in [classic(link_type, &whole), section(&[(link_type as u16, 6)], &framed)] {
            let _ = read_capture(file.as_slice()).expect("nothing is damaged yet");
            for &(place, byte) in &changes {
                let place = place % file.len();
                file[place] = byte;
            }
            let _ = read_capture(file.as_slice());
        }
    }
}
