use super::super::pcapng::{Direction, PcapNg};
use super::*;
use std::net::IpAddr;
use units::Span;

/// An IPv4 packet of 8 bytes of UDP.
const IP: [u8; 28] = [
    0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x26, 0xab, 0x26, 0xab, 0, 8, 0, 0,
];

fn all(file: &[u8]) -> Result<Vec<(u64, u32, usize, u8)>, CaptureError> {
    let mut reader = CaptureReader::new(file)?;
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        let protocol = frame.ip().ok().flatten().map_or(0, |ip| ip.protocol);
        found.push((frame.at.as_nanos(), frame.interface, frame.bytes.len(), protocol));
    }
    Ok(found)
}

#[derive(Clone, Default)]
struct Sink(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A capture that our own writer made.
fn written() -> Vec<u8> {
    let sink = Sink::default();
    let mut file = PcapNg::new(sink.clone(), &["a", "b"], u64::MAX).expect("memory");
    for n in 0..3u64 {
        let at = Instant::ZERO + Span::from_secs(n) + Span::from_nanos(7);
        file.packet(at, (n % 2) as u32, Direction::Outbound, &IP, (n == 1).then_some("dropped"));
    }
    file.finish().expect("memory");
    sink.0.lock().expect("no panic").clone()
}

#[test]
fn what_we_write_is_read_back() {
    let second = 1_000_000_000;
    let expected = [(7, 0, 28, 17), (second + 7, 1, 28, 17), (2 * second + 7, 0, 28, 17)];
    assert_eq!(all(&written()).expect("a capture"), expected);
}

/// A classic file with one packet, in either order of bytes.
fn classic(magic: u32, big: bool, link_type: u32, packet: &[u8]) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let length = packet.len() as u32;
    let words = [magic, 0x0002_0004, 0, 0, 65_535, link_type, 1_700_000_000, 5, length, length];
    let mut file: Vec<u8> = words.into_iter().flat_map(word).collect();
    file.extend_from_slice(packet);
    file
}

#[test]
fn classic_files_have_either_order_and_either_unit() {
    let second = 1_700_000_000_000_000_000;
    for big in [false, true] {
        let micros = all(&classic(0xa1b2_c3d4, big, 101, &IP)).expect("a capture");
        let nanos = all(&classic(0xa1b2_3c4d, big, 101, &IP)).expect("a capture");
        assert_eq!((micros, nanos), (vec![(second + 5000, 0, 28, 17)], vec![(second + 5, 0, 28, 17)]));
    }
}

#[test]
fn ip_is_found_behind_each_link() {
    let behind = |head: &[u8], link_type: u32| {
        let packet = [head, &IP].concat();
        all(&classic(0xa1b2_c3d4, false, link_type, &packet)).expect("a capture")[0].3
    };
    let ethernet = [[0; 12].as_slice(), &[0x08, 0x00]].concat();
    let tagged = [[0; 12].as_slice(), &[0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x08, 0x00]].concat();
    let cooked = [[0; 14].as_slice(), &[0x08, 0x00]].concat();
    let cooked_2 = [[0x08, 0x00].as_slice(), &[0; 18]].concat();
    let other = [[0; 12].as_slice(), &[0x08, 0x06]].concat();
    let vlan_in_cooked = [[0; 14].as_slice(), &[0x81, 0x00, 0, 7, 0x08, 0x00]].concat();
    let vlan_in_cooked_2 = [[0x81, 0x00].as_slice(), &[0; 18], &[0, 7, 0x08, 0x00]].concat();
    let mpls = [[0; 12].as_slice(), &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
    let pppoe = [[0; 12].as_slice(), &[0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0, 0x21]].concat();
    for (head, link_type, expected) in [
        (&ethernet[..], 1, 17),
        (&tagged, 1, 17),
        (&cooked, 113, 17),
        (&cooked_2, 276, 17),
        (&vlan_in_cooked, 113, 17),
        (&vlan_in_cooked_2, 276, 17),
        (&mpls, 1, 17),
        (&pppoe, 1, 17),
        (&pppoe[14..], 51, 17),
        (&[0xff, 3, 0, 0x21], 9, 17),
        (&[0x21], 9, 17),
        (&[0, 0x21], 50, 17),
        (&[0x0f, 0, 0x08, 0x00], 104, 17),
        (&[2, 0, 0, 0], 0, 17),
        (&[], 101, 17),
        (&[], 228, 17),
        (&other, 1, 0),
        (&[], 147, 0),
    ] {
        assert_eq!(behind(head, link_type), expected, "link type {link_type}, {head:x?}");
    }
}

/// The result for an Ethernet frame with an IPv4 packet of this protocol and payload.
fn within(protocol: u8, payload: &[u8]) -> Result<u8, Undecoded> {
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0x00, 0x45, 0, 0, (20 + payload.len()) as u8, 0, 0, 0, 0, 64, protocol, 0, 0]);
    bytes.extend([10, 0, 0, 8, 10, 0, 0, 9]);
    bytes.extend_from_slice(payload);
    let length = bytes.len() as u32;
    let frame = Frame { at: Instant::ZERO, interface: 0, link_type: 1, bytes: &bytes, length };
    Ok(frame.ip()?.map_or(0, |ip| if ip.src == IpAddr::from([10, 0, 0, 1]) { ip.protocol } else { 255 }))
}

#[test]
fn ip_is_found_in_tunnels() {
    let behind = |protocol: u8, head: &[u8]| within(protocol, &[head, &IP].concat());
    let udp = |port: u8, rest: &[u8]| [&[0, 9, 8, port, 0, 0, 0, 0], rest].concat();
    let (gtp, vxlan) = (0x68, 0xb5);
    assert_eq!(behind(4, &[]), Ok(17));
    assert_eq!(behind(47, &[0, 0, 0x08, 0x00]), Ok(17));
    assert_eq!(behind(47, &[0xb0, 0, 0x08, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), Ok(17));
    assert_eq!(behind(17, &udp(gtp, &[0x30, 255, 0, 28, 0, 0, 0, 1])), Ok(17));
    assert_eq!(behind(17, &udp(gtp, &[0x34, 255, 0, 36, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 0, 0])), Ok(17));
    let mut vxlan = udp(vxlan, &[8, 0, 0, 0, 0, 0, 7, 0]);
    vxlan[2] = 0x12;
    vxlan.extend([0; 12]);
    vxlan.extend([0x08, 0x00]);
    assert_eq!(behind(17, &vxlan), Ok(17));
    // An echo request of GTP-U contains no packet.
    assert_eq!(within(17, &udp(gtp, &[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0])), Ok(0));
}

#[test]
fn what_is_not_decoded_says_why() {
    fn of(link_type: u16, bytes: &[u8]) -> Result<Option<IpPacket<'_>>, Undecoded> {
        let length = bytes.len() as u32;
        Frame { at: Instant::ZERO, interface: 0, link_type, bytes, length }.ip()
    }
    let ethernet = |kind: u16| [[0; 12].as_slice(), &kind.to_be_bytes(), &[0; 40]].concat();
    assert_eq!(of(147, &IP), Err(Undecoded::LinkType(147)));
    assert_eq!(of(1, &ethernet(0x8903)), Err(Undecoded::EtherType(0x8903)));
    assert_eq!(of(1, &ethernet(0x0806)), Ok(None), "ARP holds no IP");
    assert_eq!(of(1, &ethernet(0x8847)), Err(Undecoded::Nested), "no label is the last");
    assert_eq!(of(9, &[0, 0x2d, 0, 0]), Err(Undecoded::Ppp(0x2d)));
    assert_eq!(of(9, &[0xc0, 0x21, 0, 0]), Ok(None), "LCP holds no IP");
    assert_eq!(of(1, &[0; 13]), Err(Undecoded::Cut));
    assert_eq!(of(101, &IP[..19]), Err(Undecoded::Cut));
    assert_eq!(of(101, &[0x15; 40]), Err(Undecoded::Malformed));
    assert_eq!(within(50, &[0; 40]), Err(Undecoded::Encrypted));
    assert_eq!(within(47, &[0, 0, 0x88, 0xbe, 0, 0]), Err(Undecoded::EtherType(0x88be)));
}

/// A fragment with the bytes `from` to `to` of a payload of 64 bytes of protocol 132.
fn fragment(id: u32, [from, to]: [usize; 2], payload: &[u8]) -> IpPacket<'_> {
    let fragment = Some(Fragment { offset: from, more: to < payload.len() });
    let (payload, payload_length) = (&payload[from..to], to - from);
    let [src, dst] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
    IpPacket {
        src,
        dst,
        protocol: 132,
        payload,
        payload_length,
        length: 20 + to - from,
        ttl: 64,
        id,
        fragment,
    }
}

#[test]
fn fragments_in_any_order_become_one_packet() {
    let payload: Vec<u8> = (0..64).collect();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut fragments = Fragments::default();
        let parts = [[0, 16], [16, 40], [40, 64]];
        let mut found = order.map(|n| fragments.take(&fragment(7, parts[n], &payload)));
        let whole = found[2].take().expect("the last one completes it");
        let ip = whole.ip().expect("decoded").expect("IP");
        assert_eq!((ip.payload, ip.payload_length, ip.fragment), (&payload[..], 64, None));
        assert!(found.iter().all(Option::is_none) && fragments.left_over() == 0);
    }
    // The first packet lacks a fragment. Of the second packet the first fragment was captured
    // only in part: bytes after the cut would be at a wrong position, and are left out.
    let mut fragments = Fragments::default();
    assert!(fragments.take(&fragment(7, [0, 16], &payload)).is_none());
    assert_eq!(fragments.left_over(), 1);
    let cut = IpPacket { payload: &payload[..10], ..fragment(8, [0, 40], &payload) };
    assert!(fragments.take(&cut).is_none());
    let whole = fragments.take(&fragment(8, [40, 64], &payload)).expect("complete");
    let ip = whole.ip().expect("decoded").expect("IP");
    assert_eq!((ip.payload, ip.payload_length), (&payload[..10], 64));
}

#[test]
fn fragments_without_end_take_bounded_memory_and_all_are_counted() {
    let payload = [0; 1 << 15];
    let mut fragments = Fragments::default();
    for id in 0..2000 {
        assert!(fragments.take(&fragment(id, [0, (1 << 15) - 8], &payload)).is_none());
    }
    assert_eq!(fragments.left_over(), 2000);
    // Fragments that overlap give no packet.
    assert!(fragments.take(&fragment(9999, [0, 64], &payload[..128])).is_none());
    assert!(fragments.take(&fragment(9999, [56, 128], &payload[..128])).is_none());
}

#[test]
fn extension_headers_of_ipv6_are_looked_behind_and_fragments_are_told() {
    let packet = |extensions: &[u8], next: u8| {
        let mut ip = vec![0x60, 0, 0, 0, 0, (extensions.len() + 8) as u8, next, 64];
        ip.extend([0; 32]);
        ip.extend_from_slice(extensions);
        ip.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        ip
    };
    let of = |ip: &[u8]| {
        let frame =
            Frame { at: Instant::ZERO, interface: 0, link_type: 101, bytes: ip, length: ip.len() as u32 };
        let found = frame.ip().expect("decoded").expect("IP");
        (found.protocol, found.payload.to_vec(), found.length, found.fragment)
    };
    let payload = vec![1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(of(&packet(&[], 132)), (132, payload.clone(), 48, None));
    let options = [60, 0, 0, 0, 0, 0, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(of(&packet(&options, 0)), (132, payload.clone(), 64, None));
    let first = Some(Fragment { offset: 0, more: true });
    assert_eq!(of(&packet(&[132, 0, 0, 1, 0, 0, 0, 9], 44)), (132, payload.clone(), 56, first));
    let last = Some(Fragment { offset: 8, more: false });
    assert_eq!(of(&packet(&[132, 0, 0, 8, 0, 0, 0, 9], 44)), (132, payload, 56, last));
}

#[test]
fn a_packet_that_was_cut_keeps_its_length() {
    let mut long = IP;
    long[2..4].copy_from_slice(&1500u16.to_be_bytes());
    let file = classic(0xa1b2_c3d4, false, 101, &long);
    let mut reader = CaptureReader::new(file.as_slice()).expect("a capture");
    let ip = reader.next_frame().expect("a packet").expect("one").ip().expect("decoded").expect("IP");
    let address = |last| IpAddr::from([10, 0, 0, last]);
    assert_eq!((ip.payload.len(), ip.payload_length, ip.length), (8, 1480, 1500));
    assert_eq!((ip.src, ip.dst), (address(1), address(2)));
}

#[test]
fn a_file_that_ends_in_the_middle_gives_what_came_before() {
    let file = written();
    for length in 0..file.len() {
        let Ok(mut reader) = CaptureReader::new(&file[..length]) else { continue };
        let mut packets = 0;
        while reader.next_frame().expect("no damage").is_some() {
            packets += 1;
        }
        assert!(packets < 3, "{length} bytes");
    }
}

#[test]
fn damaged_files_are_refused_and_allocate_nothing() {
    assert!(matches!(all(b"\x7fELF, no capture"), Err(CaptureError::NotACapture)));
    assert!(matches!(all(b""), Err(CaptureError::NotACapture)));
    // A packet that claims four gigabytes.
    let mut huge = classic(0xa1b2_c3d4, false, 101, &[]);
    let claimed = huge.len() - 8;
    huge[claimed..claimed + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(all(&huge), Err(CaptureError::Damaged(_))));
    // A block shorter than its frame, and a packet of an interface that does not exist.
    let header = written()[..32].to_vec();
    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    let header = written()[..length].to_vec();
    let block =
        |words: &[u32]| [header.clone(), words.iter().flat_map(|n| n.to_le_bytes()).collect()].concat();
    assert!(matches!(all(&block(&[5, 8, 8])), Err(CaptureError::Damaged(_))));
    assert!(matches!(all(&block(&[6, 32, 9, 0, 0, 0, 0, 32])), Err(CaptureError::Damaged(_))));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_in_a_capture_are_read_without_panic(
        changes in proptest::collection::vec((0usize..400, proptest::prelude::any::<u8>()), 0..12),
        classic_file in proptest::prelude::any::<bool>(),
        link_type in proptest::sample::select(vec![0u32, 1, 9, 50, 51, 101, 104, 113, 228, 229, 276, 108]),
    ) {
        let mut file = if classic_file { classic(0xa1b2_c3d4, false, link_type, &IP) } else { written() };
        for (place, byte) in changes {
            let place = place % file.len();
            file[place] = byte;
        }
        let _ = all(&file);
    }
}
