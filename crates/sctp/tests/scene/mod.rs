//! An established association; the test writes packets to the server as if the client sent them.

use anabranch_sctp::{Config, State};
use std::net::IpAddr;
use testkit::*;
use wire::*;

pub fn complete(reflected_tag: bool) -> Chunk<'static> {
    Chunk::ShutdownComplete(ShutdownComplete { reflected_tag })
}

/// A SHUTDOWN that acknowledges all TSNs up to this one.
pub fn shutdown(cumulative_tsn_ack: Tsn) -> Chunk<'static> {
    Chunk::Shutdown(Shutdown { cumulative_tsn_ack })
}

/// A DATA chunk with a whole message.
pub fn data(tsn: Tsn, stream: u16, payload: &[u8]) -> Chunk<'_> {
    let flags = DataFlags { beginning: true, ending: true, ..DataFlags::default() };
    Chunk::Data(Data {
        flags,
        tsn,
        stream: StreamId(stream),
        ssn: Ssn(0),
        ppid: Ppid(0),
        payload: payload.into(),
    })
}

/// A chunk with these bytes; the first byte is its type.
pub fn unknown(bytes: &[u8]) -> Chunk<'_> {
    Chunk::Unknown(UnknownChunk { chunk_type: bytes[0], bytes: bytes.into() })
}

/// An established association, the tags of packets to the server and to the client, the client's next TSN,
/// and the server's initial TSN minus 1.
pub struct Scene {
    pub pair: Pair,
    pub to_server: u32,
    pub to_client: u32,
    pub tsn: Tsn,
    pub acked: Tsn,
}

/// An association over one network.
pub fn scene() -> Scene {
    Scene::new(1, &Config::default())
}

impl Scene {
    pub fn new(nets: u8, config: &Config) -> Scene {
        let mut pair = Pair::new(nets, config);
        pair.establish();
        let (init, ack) = (pair.sent[0].clone(), pair.sent[1].clone());
        let Some(Ok(Chunk::Init(init))) = parse(&init.bytes).chunks().next() else { unreachable!() };
        let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(&ack.bytes).chunks().next() else {
            unreachable!()
        };
        let (to_server, to_client) = (ack.initiate_tag, init.initiate_tag);
        Scene { pair, to_server, to_client, tsn: init.initial_tsn, acked: ack.initial_tsn.previous() }
    }

    /// Delivers a packet from the client's address with this tag to the server. Returns the answer.
    pub fn server_gets(&mut self, tag: u32, chunks: &[Chunk<'_>]) -> Vec<String> {
        self.server_gets_from(Side::Client.address(1), tag, chunks)
    }

    pub fn server_gets_from(&mut self, src: IpAddr, tag: u32, chunks: &[Chunk<'_>]) -> Vec<String> {
        let before = self.pair.sent.len();
        self.pair.inject(Side::Server, src, Side::Server.address(1), &packet(5001, 5002, tag, chunks));
        self.pair.said(Side::Server, before)
    }

    pub fn state(&mut self) -> Option<State> {
        self.pair.state(Side::Server)
    }
}
