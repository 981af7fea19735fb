//! Chunks of every type with random content, which own their bytes.

use anabranch_wire::asconf::{AddressChange, Request, Requests, Response, Responses};
use anabranch_wire::cause::MissingParameters;
use anabranch_wire::{
    Abort, Asconf, AsconfAck, Auth, Cause, CauseList, Chunk, CommonHeader, CookieAck, CookieEcho, Cwr, Data,
    DataFlags, Ecne, GapBlock, Heartbeat, HeartbeatAck, IData, Init, InitAck, Mid, OperationError, Packet,
    PacketDelay, PacketDrop, PacketWriter, Pad, Parameter, ParameterList, PathStatus, Ppid, ReConfig,
    Shutdown, ShutdownAck, ShutdownComplete, SkippedMessage, Ssn, StreamId, SupportedAddressTypes, Timestamp,
    Tsn, UnknownChunk,
};
use proptest::collection::vec;
use proptest::prelude::*;
use transport::{Checksum, Octets, PacketBuf};
use units::Span;

/// A chunk that owns its bytes.
#[derive(Clone, Debug)]
pub enum Specimen {
    Data {
        flags: [bool; 4],
        numbers: (u32, u16, u16, u32),
        head: Vec<u8>,
        zeros: usize,
    },
    IData {
        flags: [bool; 4],
        numbers: (u32, u16, u32, u32),
        head: Vec<u8>,
        zeros: usize,
    },
    Init {
        ack: bool,
        numbers: (u32, u32, u16, u16, u32),
        parameters: ParameterList,
    },
    /// A packet that contains only a SACK, an NR-SACK, a LEDBAT-CONTROL, a FORWARD TSN or an I-FORWARD-TSN.
    Written(PacketBuf),
    Heartbeat {
        ack: bool,
        info: Vec<u8>,
    },
    Abort {
        reflected_tag: bool,
        causes: CauseList,
    },
    Error {
        causes: CauseList,
    },
    CookieEcho(Vec<u8>),
    Shutdown(u32),
    ShutdownComplete(bool),
    Bare(bool),
    Timestamp(u64),
    PathStatus(u16, u16),
    Auth {
        flags: u8,
        ids: (u16, u16),
        hmac: Vec<u8>,
    },
    Asconf {
        serial: u32,
        lookup: [u8; 16],
        requests: Vec<u8>,
    },
    AsconfAck {
        serial: u32,
        responses: Vec<u8>,
    },
    Ecne(u32, u32),
    Cwr(bool, bool, u32),
    PacketDrop {
        flags: [bool; 3],
        numbers: (u32, u32, u16),
        packet: Vec<u8>,
    },
    Pad {
        head: Vec<u8>,
        zeros: usize,
    },
    ReConfig(Vec<u8>),
    Unknown {
        chunk_type: u8,
        bytes: Vec<u8>,
        zeros: usize,
    },
}

impl Specimen {
    pub fn chunk(&self) -> Chunk<'_> {
        match self {
            &Specimen::Data { flags, numbers, ref head, zeros } => {
                let [unordered, beginning, ending, immediate] = flags;
                Chunk::Data(Data {
                    flags: DataFlags { unordered, beginning, ending, immediate },
                    tsn: Tsn(numbers.0),
                    stream: StreamId(numbers.1),
                    ssn: Ssn(numbers.2),
                    ppid: Ppid(numbers.3),
                    payload: Octets::new(head, zeros),
                })
            }
            &Specimen::IData { flags, numbers, ref head, zeros } => {
                let [unordered, beginning, ending, immediate] = flags;
                let (ppid, fsn) = if beginning { (numbers.3, 0) } else { (0, numbers.3) };
                Chunk::IData(IData {
                    flags: DataFlags { unordered, beginning, ending, immediate },
                    tsn: Tsn(numbers.0),
                    stream: StreamId(numbers.1),
                    mid: Mid(numbers.2),
                    ppid: Ppid(ppid),
                    fsn,
                    payload: Octets::new(head, zeros),
                })
            }
            &Specimen::Init { ack, numbers, ref parameters } => {
                let init = Init {
                    initiate_tag: numbers.0,
                    a_rwnd: numbers.1,
                    outbound_streams: numbers.2,
                    inbound_streams: numbers.3,
                    initial_tsn: Tsn(numbers.4),
                    parameters: parameters.as_parameters(),
                };
                if ack { Chunk::InitAck(InitAck(init)) } else { Chunk::Init(init) }
            }
            Specimen::Written(packet) => {
                let packet = Packet::parse(packet.as_octets(), Checksum::Offloaded).unwrap();
                packet.chunks().next().unwrap().unwrap()
            }
            Specimen::Heartbeat { ack: false, info } => Chunk::Heartbeat(Heartbeat { info }),
            Specimen::Heartbeat { ack: true, info } => Chunk::HeartbeatAck(HeartbeatAck { info }),
            Specimen::Abort { reflected_tag, causes } => {
                Chunk::Abort(Abort { reflected_tag: *reflected_tag, causes: causes.as_causes() })
            }
            Specimen::Error { causes } => Chunk::Error(OperationError { causes: causes.as_causes() }),
            Specimen::CookieEcho(cookie) => Chunk::CookieEcho(CookieEcho { cookie }),
            &Specimen::Shutdown(tsn) => Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(tsn) }),
            &Specimen::ShutdownComplete(reflected_tag) => {
                Chunk::ShutdownComplete(ShutdownComplete { reflected_tag })
            }
            Specimen::Bare(true) => Chunk::CookieAck(CookieAck),
            Specimen::Auth { flags, ids, hmac } => {
                Chunk::Auth(Auth { flags: *flags, key_id: ids.0, hmac_id: ids.1, hmac })
            }
            Specimen::Asconf { serial, lookup, requests } => Chunk::Asconf(Asconf {
                serial: *serial,
                lookup: (*lookup).into(),
                requests: Requests::from_bytes(requests),
            }),
            Specimen::AsconfAck { serial, responses } => {
                Chunk::AsconfAck(AsconfAck { serial: *serial, responses: Responses::from_bytes(responses) })
            }
            &Specimen::Timestamp(micros) => Chunk::Timestamp(Timestamp { micros }),
            &Specimen::PathStatus(cost, heartbeat_interval) => {
                Chunk::PathStatus(PathStatus { cost, heartbeat_interval })
            }
            &Specimen::Ecne(tsn, packets) => Chunk::Ecne(Ecne { lowest_tsn: Tsn(tsn), packets }),
            &Specimen::Cwr(all_paths, same_window, tsn) => {
                Chunk::Cwr(Cwr { all_paths, same_window, tsn: Tsn(tsn) })
            }
            &Specimen::PacketDrop { flags, numbers, ref packet } => {
                let [from_middlebox, bad_checksum, truncated] = flags;
                let (max_rate, on_queue, truncated_length) = numbers;
                Chunk::PacketDrop(PacketDrop {
                    from_middlebox,
                    bad_checksum,
                    truncated,
                    max_rate,
                    on_queue,
                    truncated_length,
                    packet,
                })
            }
            Specimen::Bare(false) => Chunk::ShutdownAck(ShutdownAck),
            &Specimen::Pad { ref head, zeros } => Chunk::Pad(Pad { padding: Octets::new(head, zeros) }),
            Specimen::ReConfig(bytes) => Chunk::ReConfig(ReConfig { bytes }),
            &Specimen::Unknown { chunk_type, ref bytes, zeros } => {
                Chunk::Unknown(UnknownChunk { chunk_type, bytes: Octets::new(bytes, zeros) })
            }
        }
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..70)
}

/// Gap blocks, well formed or not.
pub fn gap_blocks() -> impl Strategy<Value = Vec<GapBlock>> {
    vec(any::<(u16, u16)>().prop_map(|(start, end)| GapBlock { start, end }), 0..12)
}

fn parameters() -> impl Strategy<Value = ParameterList> {
    let parameter = (0u8..14, bytes(), any::<[u8; 16]>(), any::<u32>());
    vec(parameter, 0..5).prop_map(|drawn| {
        let mut list = ParameterList::new();
        for (kind, bytes, address, number) in drawn {
            let [ipv4, ipv6, host_name] = [1, 2, 4].map(|bit| number & bit != 0);
            let parameter = match kind {
                0 => Parameter::HeartbeatInfo(&bytes),
                1 => Parameter::Ipv4(number.into()),
                2 => Parameter::Ipv6(address.into()),
                3 => Parameter::StateCookie(&bytes),
                4 => Parameter::UnrecognizedParameter(&bytes),
                5 => Parameter::CookiePreservative(Span::from_millis(number.into())),
                6 => Parameter::SupportedAddressTypes(SupportedAddressTypes { ipv4, ipv6, host_name }),
                7 => Parameter::Random(&bytes),
                8 => Parameter::ChunkList(&bytes),
                9 => Parameter::HmacAlgorithms(&bytes),
                10 => Parameter::EcnCapable,
                11 => Parameter::ZeroChecksumAcceptable(number),
                12 => Parameter::ForwardTsnSupported,
                13 => Parameter::Adaptation(number),
                _ => Parameter::SupportedExtensions(&bytes),
            };
            assert!(list.push(&parameter));
        }
        list
    })
}

fn causes() -> impl Strategy<Value = CauseList> {
    let cause = (0u8..16, bytes(), parameters(), any::<u32>());
    vec(cause, 0..4).prop_map(|drawn| {
        let mut list = CauseList::new();
        for (kind, bytes, parameters, number) in drawn {
            let (types, _) = bytes.as_chunks();
            let cause = match kind {
                0 => Cause::InvalidStream { stream: StreamId(number as u16) },
                1 => Cause::MissingMandatoryParameter(MissingParameters::new(types)),
                2 => Cause::StaleCookie { staleness: Span::from_micros(number.into()) },
                3 => Cause::OutOfResource,
                4 => Cause::UnresolvableAddress(&bytes),
                5 => Cause::UnrecognizedChunk(Octets::new(&bytes, 3)),
                6 => Cause::UnrecognizedParameters(parameters.as_parameters()),
                7 => Cause::NoUserData { tsn: Tsn(number) },
                8 => Cause::RestartWithNewAddresses(parameters.as_parameters()),
                9 => Cause::DeleteLastAddress(&bytes),
                10 => Cause::ResourceShortage(&bytes),
                11 => Cause::DeleteSourceAddress(&bytes),
                12 => Cause::IllegalAsconfAck,
                13 => Cause::NoAuthorization(&bytes),
                14 => Cause::UnsupportedHmac { hmac_id: number as u16 },
                _ => Cause::ProtocolViolation(&bytes),
            };
            assert!(list.push(&cause));
        }
        list
    })
}

fn sack() -> impl Strategy<Value = PacketBuf> {
    let lists = (gap_blocks(), gap_blocks(), vec(any::<u32>().prop_map(Tsn), 0..9));
    (any::<(bool, u32, u32)>(), 0u8..4, lists).prop_map(|((nr, tsn, a_rwnd), packets, lists)| {
        let header = CommonHeader { source_port: 0, destination_port: 0, verification_tag: 0 };
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, header, 1500);
        assert!(if nr {
            writer.nr_sack(Tsn(tsn), a_rwnd, packets, &lists.0, &lists.1, &lists.2)
        } else {
            writer.sack(Tsn(tsn), a_rwnd, packets, lists.0.into_iter(), &lists.2)
        });
        buf
    })
}

fn delays() -> impl Strategy<Value = PacketBuf> {
    vec(any::<(u32, i64)>().prop_map(|(tsn, micros)| PacketDelay { tsn: Tsn(tsn), micros }), 0..9).prop_map(
        |delays| {
            let header = CommonHeader { source_port: 0, destination_port: 0, verification_tag: 0 };
            let mut buf = PacketBuf::default();
            assert!(PacketWriter::new(&mut buf, header, 1500).ledbat_control(&delays));
            buf
        },
    )
}

fn requests() -> impl Strategy<Value = Vec<u8>> {
    vec((0u8..3, any::<u32>(), any::<[u8; 16]>(), any::<bool>()), 0..5).prop_map(|drawn| {
        let mut bytes = Vec::new();
        for (kind, correlation, address, ipv4) in drawn {
            let change = match kind {
                0 => AddressChange::Add,
                1 => AddressChange::Delete,
                _ => AddressChange::SetPrimary,
            };
            let address = if ipv4 { correlation.to_be_bytes().into() } else { address.into() };
            Request { change, correlation, address }.append_to(&mut bytes);
        }
        bytes
    })
}

fn responses() -> impl Strategy<Value = Vec<u8>> {
    vec((any::<bool>(), any::<u32>(), causes()), 0..5).prop_map(|drawn| {
        let mut bytes = Vec::new();
        for (done, correlation, causes) in drawn {
            let causes = causes.as_causes();
            let failed = Response::Failed { correlation, causes };
            assert!((if done { Response::Done { correlation } } else { failed }).append_to(&mut bytes));
        }
        bytes
    })
}

fn forward_tsn() -> impl Strategy<Value = PacketBuf> {
    let skips = vec(any::<(u16, u16)>().prop_map(|(stream, ssn)| (StreamId(stream), Ssn(ssn))), 0..9);
    (any::<u32>(), skips).prop_map(|(tsn, skips)| {
        let header = CommonHeader { source_port: 0, destination_port: 0, verification_tag: 0 };
        let mut buf = PacketBuf::default();
        assert!(PacketWriter::new(&mut buf, header, 1500).forward_tsn(Tsn(tsn), &skips));
        buf
    })
}

fn skipped() -> impl Strategy<Value = PacketBuf> {
    let message = any::<(u16, bool, u32)>().prop_map(|(stream, unordered, mid)| SkippedMessage {
        stream: StreamId(stream),
        unordered,
        mid: Mid(mid),
    });
    (any::<u32>(), vec(message, 0..9)).prop_map(|(tsn, messages)| {
        let header = CommonHeader { source_port: 0, destination_port: 0, verification_tag: 0 };
        let mut buf = PacketBuf::default();
        assert!(PacketWriter::new(&mut buf, header, 1500).i_forward_tsn(Tsn(tsn), &messages));
        buf
    })
}

/// Parameters of RE-CONFIG, well formed or not.
fn re_config() -> impl Strategy<Value = Vec<u8>> {
    let parameter = (12u16..20, vec(any::<[u8; 4]>(), 0..6)).prop_map(|(kind, words)| {
        let length = 4 + 4 * words.len() as u16;
        [&kind.to_be_bytes(), &length.to_be_bytes(), words.as_flattened()].concat()
    });
    prop_oneof![vec(parameter, 0..4).prop_map(|parameters| parameters.concat()), bytes()]
}

fn unknown() -> impl Strategy<Value = Specimen> {
    let chunk_type =
        prop_oneof![17u8..0x40, 0x41u8..0x80, Just(0x83), 0x85u8..0xb0, 0xb3u8..0xc0, 0xc3u8..=255];
    (chunk_type, any::<u8>(), bytes(), 0usize..9).prop_map(|(chunk_type, flags, value, zeros)| {
        let length = (4 + value.len() + zeros) as u8;
        let bytes = [&[chunk_type, flags, 0, length], value.as_slice()].concat();
        Specimen::Unknown { chunk_type, bytes, zeros }
    })
}

fn specimen() -> impl Strategy<Value = Specimen> {
    prop_oneof![
        (any::<[bool; 4]>(), any::<(u32, u16, u16, u32)>(), bytes(), prop_oneof![Just(0), 0usize..1500])
            .prop_map(|(flags, numbers, head, zeros)| Specimen::Data { flags, numbers, head, zeros }),
        (any::<[bool; 4]>(), any::<(u32, u16, u32, u32)>(), bytes(), prop_oneof![Just(0), 0usize..1500])
            .prop_map(|(flags, numbers, head, zeros)| Specimen::IData { flags, numbers, head, zeros }),
        (any::<bool>(), any::<(u32, u32, u16, u16, u32)>(), parameters())
            .prop_map(|(ack, numbers, parameters)| Specimen::Init { ack, numbers, parameters }),
        sack().prop_map(Specimen::Written),
        delays().prop_map(Specimen::Written),
        forward_tsn().prop_map(Specimen::Written),
        skipped().prop_map(Specimen::Written),
        any::<u64>().prop_map(Specimen::Timestamp),
        any::<(u16, u16)>().prop_map(|(cost, interval)| Specimen::PathStatus(cost, interval)),
        (any::<u8>(), any::<(u16, u16)>(), bytes()).prop_map(|(flags, ids, hmac)| Specimen::Auth {
            flags,
            ids,
            hmac
        }),
        (any::<u32>(), any::<[u8; 16]>(), requests())
            .prop_map(|(serial, lookup, requests)| Specimen::Asconf { serial, lookup, requests }),
        (any::<u32>(), responses()).prop_map(|(serial, responses)| Specimen::AsconfAck { serial, responses }),
        any::<(u32, u32)>().prop_map(|(tsn, packets)| Specimen::Ecne(tsn, packets)),
        any::<(bool, bool, u32)>().prop_map(|(all, same, tsn)| Specimen::Cwr(all, same, tsn)),
        (any::<[bool; 3]>(), any::<(u32, u32, u16)>(), bytes())
            .prop_map(|(flags, numbers, packet)| Specimen::PacketDrop { flags, numbers, packet }),
        (bytes(), 0usize..1500).prop_map(|(head, zeros)| Specimen::Pad { head, zeros }),
        re_config().prop_map(Specimen::ReConfig),
        (any::<bool>(), bytes()).prop_map(|(ack, info)| Specimen::Heartbeat { ack, info }),
        (any::<bool>(), causes())
            .prop_map(|(reflected_tag, causes)| Specimen::Abort { reflected_tag, causes }),
        causes().prop_map(|causes| Specimen::Error { causes }),
        bytes().prop_map(Specimen::CookieEcho),
        any::<u32>().prop_map(Specimen::Shutdown),
        any::<bool>().prop_map(Specimen::ShutdownComplete),
        any::<bool>().prop_map(Specimen::Bare),
        unknown(),
    ]
}

/// A few chunks of any type.
pub fn specimens() -> impl Strategy<Value = Vec<Specimen>> {
    vec(specimen(), 0..6)
}
