//! The files that captures write. The functions of these
//! tests read them, and so does tshark if it is installed.

use crate::common;

use anabranch_net as net;
use common::{STEADY, World};
use net::QueueSpec;
use net::{
    CaptureDirection, CaptureOptions, ChannelSpec, DatagramCapture, Ecn, Impairments, Limit, LinkId,
    LinkSpec, NetworkBuilder, NodeId, NodeKind, Outgoing, Protocol,
};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};
use units::{BitRate, ByteCount, Probability, Span};

/// A sink whose bytes the test can read after the capture.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// client - router - server, with a queue of two packets at the router towards the server.
struct Chain {
    world: World,
    nodes: [NodeId; 3],
    links: [LinkId; 2],
    options: CaptureOptions,
}

fn chain(impairments: Impairments) -> Chain {
    chain_with(QueueSpec::DropTail(Limit::Packets(2)), impairments)
}

fn chain_with(queue: QueueSpec, impairments: Impairments) -> Chain {
    let mut builder = NetworkBuilder::new();
    let nodes = [
        builder.add_node("client", STEADY),
        builder.add_node("router", NodeKind::Router),
        builder.add_node("server", STEADY),
    ];
    let near = ChannelSpec { delay: Span::from_millis(3).into(), ..ChannelSpec::default() };
    let far = ChannelSpec {
        transmitter: BitRate::from_mbps(10).into(),
        queue,
        impairments,
        ..ChannelSpec::default()
    };
    let links = [
        builder.add_link(LinkSpec::symmetric(nodes[0], nodes[1], 1, near)),
        builder.add_link(LinkSpec::symmetric(nodes[1], nodes[2], 1, far)),
    ];
    let options = CaptureOptions { finish: Some(finish), limit: None };
    Chain { world: World::new(builder), nodes, links, options }
}

/// The headers of an SCTP packet with one DATA chunk, without payload and without checksum.
fn data_packet(tsn: u32, payload: u16) -> Vec<u8> {
    let mut bytes = vec![0x13, 0x88, 0x13, 0x89, 1, 2, 3, 4, 0, 0, 0, 0];
    bytes.extend([0, 3]);
    bytes.extend((16 + payload).to_be_bytes());
    bytes.extend(tsn.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

/// The function that a capture calls to complete a packet.
fn finish(protocol: Protocol, src: IpAddr, dst: IpAddr, packet: &mut [u8]) {
    assert_eq!((protocol, src.is_ipv6()), (Protocol::Sctp, dst.is_ipv6()));
    fill_checksum(packet);
}

/// Computes the CRC32c of a packet (RFC 9260, appendix A) bit by bit and writes it into the packet.
fn fill_checksum(packet: &mut [u8]) {
    packet[8..12].fill(0);
    let mut crc = !0_u32;
    for &byte in packet.iter() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    packet[8..12].copy_from_slice(&(!crc).to_le_bytes());
}

impl Chain {
    fn send_data(&mut self, tsn: u32, v6: bool) {
        let [client, _, server] = self.nodes;
        let address = |node| {
            let own = self.world.network.addresses(node)[0];
            if v6 { own.ipv6.into() } else { own.ipv4.into() }
        };
        let outgoing = Outgoing {
            src: address(client),
            dst: address(server),
            protocol: Protocol::Sctp,
            ecn: Ecn::NotCapable,
            zeros: 1000,
        };
        self.world.network.send(&mut self.world.kernel, client, outgoing, &mut data_packet(tsn, 1000));
    }

    /// Captures the router's side of the second link and the server's side in one file while `traffic` runs.
    fn captured(self, traffic: impl FnOnce(&mut Self)) -> Vec<u8> {
        self.captured_and_left_out(traffic).0
    }

    /// As [`Self::captured`], but also returns the number of packets that the capture left out.
    fn captured_and_left_out(mut self, traffic: impl FnOnce(&mut Self)) -> (Vec<u8>, u64) {
        let sink = Shared::default();
        let [_, router, server] = self.nodes;
        let interfaces = [(self.links[1], router, "at router"), (self.links[1], server, "at server")];
        self.world.network.capture(&interfaces, Box::new(sink.clone()), self.options).unwrap();
        traffic(&mut self);
        self.world.run_all();
        let left_out = self.world.network.finish_captures().unwrap();
        let bytes = sink.0.lock().unwrap();
        (bytes.clone(), left_out[0])
    }
}

/// The capture of a burst of four IPv4 packets, of which the queue drops the last, and of one IPv6 packet.
fn sample() -> Vec<u8> {
    sample_of(chain(Impairments::default()))
}

fn sample_of(chain: Chain) -> Vec<u8> {
    chain.captured(send_sample)
}

fn send_sample(chain: &mut Chain) {
    for tsn in 1..=4 {
        chain.send_data(tsn, false);
    }
    chain.world.kernel.schedule(common::nanos(50_000_000), net::NetEvent::repair(chain.links[0]));
    chain.world.run(common::nanos(50_000_000));
    chain.send_data(5, true);
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Splits a file into blocks of (type, body), and checks their lengths.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        assert_eq!((length % 4, word(file, length - 4) as usize), (0, length));
        blocks.push((word(file, 0), &file[8..length - 4]));
        file = &file[length..];
    }
    blocks
}

/// Splits the options of a block into (code, value).
fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    loop {
        let (code, length) = (word(bytes, 0) as u16, (word(bytes, 0) >> 16) as usize);
        if code == 0 {
            assert_eq!(bytes.len(), 4, "nothing behind the end of options");
            return options;
        }
        options.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
}

#[test]
fn the_file_has_the_blocks_and_options_of_the_format() {
    let file = sample();
    let blocks = blocks(&file);
    assert_eq!((blocks[0].0, word(blocks[0].1, 0), word(blocks[0].1, 4)), (0x0a0d_0d0a, 0x1a2b_3c4d, 1));
    assert_eq!(options(&blocks[0].1[16..]), [(4, b"anabranch".to_vec())]);
    for (block, name) in blocks[1..3].iter().zip(["at router", "at server"]) {
        assert_eq!((block.0, word(block.1, 0), word(block.1, 4)), (1, 101, 0));
        assert_eq!(options(&block.1[8..]), [(2, name.as_bytes().to_vec()), (9, vec![9])]);
    }
    // Each expected packet: interface, time in ns, comment. 1048 bytes take 838.4 us.
    let queued = 3_000_000;
    let (slot, v6_slot) = (838_400, 854_400);
    let mut expected = vec![(0, queued, None); 3];
    expected.push((0, queued, Some("dropped: queue full")));
    expected.extend((1..=3).map(|n| (1, queued + n * slot, None)));
    expected.extend([(0, 53_000_000, None), (1, 53_000_000 + v6_slot, None)]);
    assert_eq!(packets(&blocks), owned(&expected));
}

#[test]
fn a_server_captures_a_packet_when_its_transmission_starts_or_when_it_drops_it() {
    let queue = QueueSpec::custom(common::disciplines::Fifo(2));
    let file = sample_of(chain_with(queue, Impairments::default()));
    let (queued, slot) = (3_000_000, 838_400);
    // The queue drops the fourth packet on arrival. The transmissions of the second and third packets begin
    // when the previous packet arrives.
    let expected = [
        (0, queued, None),
        (0, queued, Some("dropped: queue full")),
        (0, queued + slot, None),
        (1, queued + slot, None),
        (0, queued + 2 * slot, None),
        (1, queued + 2 * slot, None),
        (1, queued + 3 * slot, None),
        (0, 53_000_000, None),
        (1, 53_000_000 + 854_400, None),
    ];
    let mut seen = packets(&blocks(&file));
    seen.sort_by_key(|&(interface, at, _)| (at, interface));
    assert_eq!(seen, owned(&expected));
}

fn owned(packets: &[(u32, u64, Option<&str>)]) -> Vec<(u32, u64, Option<String>)> {
    packets.iter().map(|&(interface, at, comment)| (interface, at, comment.map(String::from))).collect()
}

/// Interface, time in ns and comment of each captured packet. Checks the form of the blocks.
fn packets(blocks: &[(u32, &[u8])]) -> Vec<(u32, u64, Option<String>)> {
    blocks[3..]
        .iter()
        .map(|(kind, body)| {
            assert_eq!(*kind, 6);
            let time = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
            let length = word(body, 12) as usize;
            assert_eq!(word(body, 16) as usize, length);
            let mut options = options(&body[20 + length.next_multiple_of(4)..]).into_iter();
            let way = if word(body, 0) == 0 { 2 } else { 1 };
            assert_eq!(options.next(), Some((2, vec![way, 0, 0, 0])));
            let comment = options.next().map(|(code, text)| {
                assert_eq!(code, 1);
                String::from_utf8(text).unwrap()
            });
            (word(body, 0), time, comment)
        })
        .collect()
}

#[test]
fn a_captured_packet_is_complete_and_its_ttl_counts_the_links() {
    let file = sample();
    let (_, body) = blocks(&file)[3];
    let packet = &body[20..20 + word(body, 12) as usize];
    assert_eq!((packet.len(), packet[8], packet[9]), (20 + 28 + 1000, 63, 132));
    assert_eq!(packet[12..20], [10, 1, 0, 1, 10, 1, 0, 2]);
    let mut expected = data_packet(1, 1000);
    expected.resize(1028, 0);
    fill_checksum(&mut expected);
    assert_eq!(packet[20..], expected);
}

#[test]
fn a_corrupted_packet_keeps_its_wrong_checksum() {
    let mut chain = chain(Impairments { bit_errors: Probability::new(1e-4).unwrap(), ..Default::default() });
    let sink = Shared::default();
    let interface = (chain.links[1], chain.nodes[2], "s");
    chain.world.network.capture(&[interface], Box::new(sink.clone()), chain.options).unwrap();
    let mut corrupted = Vec::new();
    for tsn in 0..100 {
        chain.send_data(tsn, false);
        corrupted.extend(chain.world.run_all().iter().map(|packet| packet.corrupted));
    }
    chain.world.network.finish_captures().unwrap();
    let file = sink.0.lock().unwrap();
    let wrong: Vec<bool> = blocks(&file)[2..]
        .iter()
        .map(|(_, body)| {
            let packet = &body[40..20 + word(body, 12) as usize];
            let mut filled = packet.to_vec();
            fill_checksum(&mut filled);
            filled != packet
        })
        .collect();
    assert_eq!(wrong, corrupted);
    assert!(wrong.contains(&true) && wrong.contains(&false));
}

#[test]
fn a_file_ends_before_its_limit_with_whole_packets_and_the_rest_is_counted() {
    let whole = sample();
    let limit = whole.len() as u64 - 1;
    let mut chain = chain(Impairments::default());
    chain.options.limit = Some(ByteCount::new(limit));
    let (file, left_out) = chain.captured_and_left_out(send_sample);
    assert!(file.len() as u64 <= limit && whole.starts_with(&file));
    assert_eq!(blocks(&whole).len() - blocks(&file).len(), left_out as usize);
    assert_eq!(left_out, 1);
}

#[test]
fn an_interface_is_captured_only_once_and_only_at_an_end_of_its_link() {
    let Chain { mut world, nodes: [client, router, server], links, .. } = chain(Impairments::default());
    let mut capture = |interfaces: &[(LinkId, NodeId)]| {
        let named: Vec<_> = interfaces.iter().map(|&(link, node)| (link, node, "i")).collect();
        let captured = world.network.capture(&named, Box::new(Shared::default()), CaptureOptions::default());
        captured.map_err(|error| error.kind())
    };
    assert_eq!(capture(&[(links[0], server)]), Err(io::ErrorKind::InvalidInput));
    assert_eq!(capture(&[(links[0], client), (links[0], client)]), Err(io::ErrorKind::InvalidInput));
    assert_eq!(capture(&[(links[0], client), (links[0], router)]), Ok(()));
    assert_eq!(capture(&[(links[0], router)]), Err(io::ErrorKind::InvalidInput));
}

#[test]
fn finish_captures_returns_an_error_of_the_sink() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut chain = chain(Impairments::default());
    let interface = (chain.links[0], chain.nodes[0], "c");
    chain.world.network.capture(&[interface], Box::new(Full(10_000)), CaptureOptions::default()).unwrap();
    for tsn in 0..100 {
        chain.send_data(tsn, false);
        chain.world.run_all();
    }
    assert_eq!(
        chain.world.network.finish_captures().map_err(|error| error.kind()),
        Err(io::ErrorKind::StorageFull)
    );
}

/// The lines that tshark prints for a file; `None` if tshark is neither installed nor required.
fn tshark(name: &str, file: &[u8], arguments: &[&str]) -> Option<Vec<String>> {
    let path = std::env::temp_dir().join(format!("anabranch-{name}-{}.pcapng", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let output = Command::new("tshark").arg("-r").arg(&path).args(arguments).output();
    std::fs::remove_file(&path).unwrap();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
        }
        Err(error) => {
            let required = std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!required, "tshark is required here: {error}");
            eprintln!("SKIPPED: tshark is not installed");
            None
        }
    }
}

#[test]
fn tshark_finds_sctp_with_good_checksums_exact_times_and_the_drop() {
    let fields = [
        "frame.time_epoch",
        "frame.comment",
        "sctp.data_tsn_raw",
        "sctp.checksum.status",
        "ip.checksum.status",
    ];
    let mut arguments = vec![
        "-o",
        "sctp.checksum:CRC-32C",
        "-o",
        "ip.check_checksum:TRUE",
        "-T",
        "fields",
        "-E",
        "separator=|",
    ];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let Some(lines) = tshark("fields", &sample(), &arguments) else { return };
    assert_eq!(
        lines,
        [
            "0.003000000||1|1|1",
            "0.003000000||2|1|1",
            "0.003000000||3|1|1",
            "0.003000000|dropped: queue full|4|1|1",
            "0.003838400||1|1|1",
            "0.004676800||2|1|1",
            "0.005515200||3|1|1",
            "0.053000000||5|1|",
            "0.053854400||5|1|",
        ]
    );
}

#[test]
fn tshark_finds_no_error() {
    let arguments =
        ["-o", "sctp.checksum:CRC-32C", "-Y", "_ws.malformed || _ws.expert.severity >= error || !sctp"];
    let Some(lines) = tshark("errors", &sample(), &arguments) else { return };
    assert!(lines.is_empty(), "{lines:#?}");
}

/// A capture of SCTP in UDP (RFC 6951) over IPv4 and IPv6, and directly in IP: a packet in each direction.
fn datagrams(limit: u64) -> (Vec<u8>, u64) {
    let sink = Shared::default();
    let mut capture = DatagramCapture::new(sink.clone(), "udp", ByteCount::new(limit)).unwrap();
    let ends = [
        ["10.1.0.1:40000", "10.1.0.2:9899"],
        ["[fd00::1]:40000", "[fd00::2]:9899"],
        ["10.1.0.1:40000", "10.1.0.2:0"],
    ];
    let ends = ends.map(|ends| ends.map(|end| end.parse::<SocketAddr>().unwrap()));
    for (at, [near, far]) in ends.into_iter().enumerate() {
        let mut packet = data_packet(at as u32, 101);
        packet.resize(packet.len() + 101, 7);
        packet.resize(packet.len().next_multiple_of(4), 0);
        fill_checksum(&mut packet);
        let octets = transport::Octets::from(&packet[..]);
        let at = common::nanos(at as u64 + 1);
        capture.record(at, CaptureDirection::Outbound, [near, far], Ecn::Capable0, octets);
        capture.record(at, CaptureDirection::Inbound, [far, near], Ecn::NotCapable, octets);
    }
    let left_out = capture.finish().unwrap();
    (sink.0.lock().unwrap().clone(), left_out)
}

#[test]
fn a_capture_of_datagrams_ends_before_its_limit_and_counts_the_rest() {
    let (whole, none) = datagrams(u64::MAX);
    assert_eq!((blocks(&whole).len(), none), (2 + 6, 0));
    let (cut, left_out) = datagrams(whole.len() as u64 - 300);
    assert!(whole.starts_with(&cut) && cut.len() + 300 <= whole.len());
    assert_eq!((blocks(&cut).len() as u64, left_out), (8 - left_out, 2));
}

#[test]
fn tshark_finds_sctp_in_datagrams_without_options_and_all_checksums_good() {
    let (file, _) = datagrams(u64::MAX);
    let fields =
        ["udp.dstport", "sctp.data_tsn_raw", "sctp.checksum.status", "udp.checksum.status", "ip.dsfield.ecn"];
    let mut arguments = vec!["-o", "sctp.checksum:CRC-32C", "-o", "udp.check_checksum:TRUE", "-T", "fields"];
    arguments.extend(["-E", "separator=|"]);
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let Some(lines) = tshark("datagrams", &file, &arguments) else { return };
    assert_eq!(lines, ["9899|0|1|1|2", "40000|0|1|1|0", "9899|1|1|1|", "40000|1|1|1|", "|2|1||2", "|2|1||0"]);
}
