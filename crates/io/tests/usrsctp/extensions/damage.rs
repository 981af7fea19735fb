//! Packet drop reports (draft-stewart-sctp-pktdrprep): a packet that arrives with a wrong checksum is
//! reported, and its chunks are retransmitted.

use super::BOTH;
use super::flow::Flow;
use super::meeting::{Meeting, Opener, Setting};
use sctp::{Config, PathInfo};
use std::path::Path;
use testkit::Interop;
use wire::{Data, PacketDrop};

/// One of 50 packets with data is damaged.
const PERIOD: u64 = 50;
/// Packets damaged in each direction.
const DAMAGED: u64 = 5;

fn reports(program: &Path, opener: Opener) {
    let config = Config { packet_drop_reports: true, ..Config::default() };
    let setting = Setting { config, options: &[("pktdrop", 1)], ..Setting::default() };
    let mut meeting = Meeting::new(program, opener, &setting);
    meeting.ours.damage.iter_mut().for_each(|damage| damage.period = PERIOD);
    let mut flow = Flow::default();
    flow.until(&mut meeting, "packets are damaged", |meeting| {
        meeting.ours.damage.iter().all(|damage| damage.damaged >= DAMAGED)
    });
    meeting.ours.damage.iter_mut().for_each(|damage| damage.period = 0);
    flow.finish(&mut meeting);
    let paths = meeting.ours.endpoint.paths(meeting.ours.id()).expect("it lives");
    let told = |path: PathInfo| path.stats.reported_drops;
    assert!(paths.map(told).sum::<u64>() > 0, "usrsctp reports packets of ours");
    let status = meeting.status();
    assert!(
        status["drop_reports"].as_u64().is_some_and(|reports| reports > 0),
        "we report packets: {status}"
    );
    assert!(status["drops_marked"].as_u64().is_some_and(|marked| marked > 0), "it believes them: {status}");
    meeting.finish(&[Data::TYPE, PacketDrop::TYPE]);
}

pub fn run(program: &Path, table: &mut Interop) {
    Opener::BOTH.into_iter().for_each(|opener| reports(program, opener));
    table.works("PKTDROP", "either side reports damaged packets, and the other one sends them again", BOTH);
}
