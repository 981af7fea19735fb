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
        let protocol = frame.ip().map_or(0, |ip| ip.protocol);
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

/// What our own writer makes.
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
    let found = [
        behind(&ethernet, 1),
        behind(&tagged, 1),
        behind(&cooked, 113),
        behind(&cooked_2, 276),
        behind(&[2, 0, 0, 0], 0),
        behind(&[], 101),
        behind(&[], 228),
        behind(&other, 1),
        behind(&[], 147),
    ];
    assert_eq!(found, [17, 17, 17, 17, 17, 17, 17, 0, 0]);
}

#[test]
fn extension_headers_of_ipv6_are_looked_behind_and_later_fragments_left_out() {
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
        frame.ip().map(|found| (found.protocol, found.payload.to_vec(), found.length))
    };
    let payload = vec![1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(of(&packet(&[], 132)), Some((132, payload.clone(), 48)));
    let options = [60, 0, 0, 0, 0, 0, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(of(&packet(&options, 0)), Some((132, payload.clone(), 64)));
    assert_eq!(of(&packet(&[132, 0, 0, 1, 0, 0, 0, 9], 44)), Some((132, payload, 56)));
    assert_eq!(of(&packet(&[132, 0, 0, 9, 0, 0, 0, 9], 44)), None);
}

#[test]
fn a_packet_that_was_cut_keeps_its_length() {
    let mut long = IP;
    long[2..4].copy_from_slice(&1500u16.to_be_bytes());
    let file = classic(0xa1b2_c3d4, false, 101, &long);
    let mut reader = CaptureReader::new(file.as_slice()).expect("a capture");
    let ip = reader.next_frame().expect("a packet").expect("one").ip().expect("IP");
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
        link_type in proptest::sample::select(vec![0u32, 1, 101, 113, 228, 229, 276, 108]),
    ) {
        let mut file = if classic_file { classic(0xa1b2_c3d4, false, link_type, &IP) } else { written() };
        for (place, byte) in changes {
            let place = place % file.len();
            file[place] = byte;
        }
        let _ = all(&file);
    }
}
