use super::*;
use proptest::prelude::*;

const SRC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const DST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 2));

fn parse(bytes: &[u8]) -> Result<Segment<'_>, SegmentError> {
    Segment::parse(bytes.into(), SRC, DST, Checksum::Offloaded)
}

fn written(header: &Header, options: &Options, data: Octets<'_>) -> PacketBuf {
    let mut buf = PacketBuf::default();
    header.write(&mut buf, options);
    buf.head.extend_from_slice(data.head);
    buf.zeros = data.zeros;
    seal(&mut buf, SRC, DST, Checksum::Computed);
    buf
}

/// Worked by hand from the figure of `rfc9293#section-3.1`; the checksum is the sum of the 16-bit words.
#[test]
fn a_syn_is_written_as_the_figure_says() {
    let header = Header {
        source_port: 0x1234,
        destination_port: 0x0050,
        seq: Seq(0x0102_0304),
        ack: Seq(0),
        flags: Flags::SYN,
        window: 0xffff,
        urgent: 0,
    };
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..Options::default()
    };
    let buf = written(&header, &options, Octets::default());
    #[rustfmt::skip]
    let expected = [
        0x12, 0x34, 0x00, 0x50,  1, 2, 3, 4,  0, 0, 0, 0,  0xb0, 0x02, 0xff, 0xff,  0x33, 0x38, 0, 0,
        2, 4, 0x05, 0xb4,  1, 3, 3, 7,  1, 1, 4, 2,  1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0,
    ];
    // Pseudo header: c000+0201+c633+6402+0006+002c = 1ec68. Words of the segment:
    // 1234+0050+0102+0304+b002+ffff +0204+05b4+0103+0307+0101+0402+0101+080a+0001 = 1e05c. The sum 3ccc4
    // folds to ccc7, so the checksum is 3338.
    assert_eq!(buf.head[..], expected);
    assert_eq!(checksum(buf.as_octets(), SRC, DST), 0);
}

#[test]
fn a_sack_option_lists_its_blocks() {
    let block = |left, right| SackBlock { left: Seq(left), right: Seq(right) };
    let options = Options {
        timestamps: Some(Timestamps { value: 7, echo: 9 }),
        sack: [block(10, 20), block(30, 40), block(50, 60)].into_iter().collect(),
        ..Options::default()
    };
    let buf = written(&Header { flags: Flags::ACK, ..Header::default() }, &options, Octets::default());
    assert_eq!(buf.head.len(), 20 + 12 + 28);
    assert_eq!(buf.head[32..40], [1, 1, 5, 26, 0, 0, 0, 10]);
    assert_eq!(parse(&buf.head).unwrap().options, options);
    assert_eq!((Options::default().sack_room(), options.sack_room()), (4, 0));
}

// rfc9293#section-3.2, MUST-6 and MUST-7
#[test]
fn unknown_options_are_passed_over_and_impossible_ones_refused() {
    let with = |options: &[u8]| {
        let mut bytes = vec![0; 20];
        bytes[12] = ((20 + options.len()) as u8 / 4) << 4;
        bytes.extend_from_slice(options);
        parse(&bytes).map(|segment| segment.options.mss)
    };
    assert_eq!(with(&[253, 4, 9, 9, 2, 4, 1, 0]), Ok(Some(256)));
    assert_eq!(with(&[0, 2, 0, 0, 2, 4, 1, 0]), Ok(None), "after the end of the list");
    assert_eq!(with(&[253, 0, 0, 0]), Err(SegmentError::Option));
    assert_eq!(with(&[253, 1, 0, 0]), Err(SegmentError::Option));
    assert_eq!(with(&[253, 5, 0, 0]), Err(SegmentError::Option));
    assert_eq!(with(&[2, 3, 0, 0]), Err(SegmentError::Option));
    assert_eq!(with(&[1, 1, 1, 253]), Err(SegmentError::Option));
}

/// Options that are not aligned may hold more than aligned options can. Found by fuzzing `segment`.
#[test]
fn blocks_that_would_not_fit_when_aligned_are_dropped() {
    let mut bytes = vec![0; 20];
    bytes[12] = 15 << 4;
    bytes.extend_from_slice(&[3, 3, 7, 4, 2, 5, 34]);
    bytes.extend((0..32u8).chain([0]));
    let read = parse(&bytes).unwrap();
    assert_eq!((read.options.len(), read.options.sack.len()), (36, 3));
    assert_eq!(read.options.window_scale, Some(7));
    let again = written(&read.header, &read.options, read.data);
    assert_eq!(parse(&again.head), Ok(read));
}

#[test]
fn a_data_offset_that_cannot_be_is_refused() {
    let mut bytes = vec![0; 24];
    bytes[12] = 4 << 4;
    assert_eq!(parse(&bytes), Err(SegmentError::DataOffset));
    bytes[12] = 7 << 4;
    assert_eq!(parse(&bytes), Err(SegmentError::Truncated));
    assert_eq!(parse(&bytes[..19]), Err(SegmentError::Truncated));
}

#[test]
fn one_inverted_bit_is_seen() {
    let data = [1, 2, 3, 4, 5];
    let buf = written(&Header::default(), &Options::default(), data.as_slice().into());
    for bit in 0..buf.head.len() * 8 {
        let mut bytes = buf.head.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let result = Segment::parse(bytes.as_slice().into(), SRC, DST, Checksum::Computed);
        assert!(result.is_err(), "bit {bit}");
    }
    let elsewhere = Segment::parse(buf.as_octets(), SRC, SRC, Checksum::Computed);
    assert_eq!(elsewhere, Err(SegmentError::Checksum), "the addresses count");
}

fn options() -> impl Strategy<Value = Options> {
    let stamps = any::<Option<(u32, u32)>>();
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=4);
    (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), stamps, blocks).prop_map(|values| {
        let (mss, window_scale, sack_permitted, stamps, blocks) = values;
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let mut options = Options { mss, window_scale, sack_permitted, timestamps, sack: SackBlocks::new() };
        let blocks = blocks.into_iter().map(|(l, r)| SackBlock { left: Seq(l), right: Seq(r) });
        options.sack = blocks.take(options.sack_room()).collect();
        options
    })
}

/// Options as any sender may write them: known options in any order, repeated, aligned or not.
fn option_bytes() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        Just(vec![1]),
        Just(vec![2, 4, 5, 0xb4]),
        Just(vec![3, 3, 7]),
        Just(vec![4, 2]),
        Just([vec![8, 10], vec![9; 8]].concat()),
        (1u8..=4).prop_map(|blocks| [vec![5, 2 + 8 * blocks], vec![6; 8 * usize::from(blocks)]].concat()),
    ];
    prop::collection::vec(one, 0..8).prop_map(|options| {
        let mut bytes = options.into_iter().fold(Vec::new(), |mut all: Vec<u8>, option| {
            if all.len() + option.len() <= 40 {
                all.extend(option);
            }
            all
        });
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    })
}

proptest! {
    #[test]
    fn any_options_are_read_and_can_be_written(options in option_bytes()) {
        let mut bytes = vec![0; 20];
        bytes[12] = ((20 + options.len()) as u8 / 4) << 4;
        bytes.extend(options);
        let read = parse(&bytes).unwrap();
        let again = written(&read.header, &read.options, read.data);
        prop_assert_eq!(parse(&again.head), Ok(read));
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..100), zeros in 0usize..100, offset in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if offset && bytes.len() > 12 {
            bytes[12] |= 0x50;
        }
        let octets = Octets::new(&bytes, zeros);
        let read = Segment::parse(octets, SRC, DST, Checksum::Offloaded);
        let whole = octets.to_vec();
        prop_assert_eq!(&read, &parse(&whole), "it does not matter which zeros are stored");
        if let Ok(segment) = read {
            let again = written(&segment.header, &segment.options, segment.data);
            let again = Segment::parse(again.as_octets(), SRC, DST, Checksum::Computed);
            prop_assert_eq!(again, Ok(segment));
        }
    }

    #[test]
    fn what_is_written_is_read(
        ports in any::<(u16, u16)>(), numbers in any::<(u32, u32)>(), rest in any::<(u8, u16, u16)>(),
        options in options(), data in prop::collection::vec(any::<u8>(), 0..64), zeros in 0usize..2000,
    ) {
        let header = Header {
            source_port: ports.0,
            destination_port: ports.1,
            seq: Seq(numbers.0),
            ack: Seq(numbers.1),
            flags: Flags(rest.0),
            window: rest.1,
            urgent: rest.2,
        };
        let data = Octets::new(&data, zeros);
        let buf = written(&header, &options, data);
        let read = Segment::parse(buf.as_octets(), SRC, DST, Checksum::Computed);
        prop_assert_eq!(read, Ok(Segment { header, options, data }));
    }

    /// The sum of RFC 1071, word by word.
    #[test]
    fn the_checksum_is_the_sum_of_words(bytes in prop::collection::vec(any::<u8>(), 0..99), v6 in any::<bool>()) {
        let (src, dst): (IpAddr, IpAddr) =
            if v6 { ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap()) } else { (SRC, DST) };
        let mut all: Vec<u8> = Vec::new();
        for address in [src, dst] {
            match address {
                IpAddr::V4(address) => all.extend(address.octets()),
                IpAddr::V6(address) => all.extend(address.octets()),
            }
        }
        all.extend([0, 6, 0, bytes.len() as u8]);
        all.extend(&bytes);
        all.resize(all.len().next_multiple_of(2), 0);
        let mut sum: u32 = 0;
        for word in all.chunks(2) {
            sum += u32::from(u16::from_be_bytes([word[0], word[1]]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let found = checksum(bytes.as_slice().into(), src, dst);
        prop_assert_eq!(found, !(sum as u16));
    }
}
