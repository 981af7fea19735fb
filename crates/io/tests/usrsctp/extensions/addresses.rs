//! ASCONF (RFC 5061): both sides move to their second address while data flows. No data is lost.

use super::BOTH;
use super::flow::Flow;
use super::meeting::{Meeting, Opener, Setting};
use crate::network::Network;
use sctp::{AddressChange, Config, Event, PathState};
use std::net::IpAddr;
use std::path::Path;
use testkit::Interop;
use units::ByteCount;
use wire::{Asconf, AsconfAck, Auth, Data};

/// Our buffers (bytes) limit the data in flight in both directions, and the
/// queues (ms at 10 Mbit/s) can hold all of it. So nothing is lost: a
/// retransmission would use the other path, whose address may just be deleted.
const BUFFER: ByteCount = ByteCount::new(64 << 10);
const QUEUE: u32 = 150;

/// The values of usrsctp's `SCTP_ADDR_REMOVED` and `SCTP_ADDR_CONFIRMED`.
const REMOVED: u64 = 3;
const CONFIRMED: u64 = 6;

/// True if usrsctp has reported this state of an address of ours to its application.
fn usrsctp_says(meeting: &mut Meeting, address: IpAddr, state: u64) -> bool {
    let address = address.to_string();
    meeting.theirs.event("address", |e| e["address"] == address.as_str() && e["state"] == state).is_some()
}

/// True if usrsctp has accepted a change.
fn granted(meeting: &Meeting, asked: AddressChange, of: IpAddr) -> bool {
    meeting.ours.saw(|event| *event == Event::AddressChange { change: asked, address: of, accepted: true })
}

/// Returns two flags of the path to an address of usrsctp: active, and primary.
fn path_to(meeting: &Meeting, remote: IpAddr) -> (bool, bool) {
    let paths = meeting.ours.endpoint.paths(meeting.ours.id()).into_iter().flatten();
    let of = paths.filter(|path| path.remote == remote).map(|path| (path.state, path.is_primary)).next();
    of.map_or((false, false), |(state, is_primary)| (state == PathState::Active, is_primary))
}

/// Connects the two sides with one address each. With `nat`, ASCONF names no addresses (as behind a NAT).
fn meet(program: &Path, opener: Opener, nat: bool) -> Meeting {
    let config = Config {
        auth: true,
        asconf: true,
        nat_friendly: nat,
        send_buffer: BUFFER.into(),
        receive_buffer: BUFFER.into(),
        ..Config::default()
    };
    let options = &[("auth", 1), ("asconf", 1), ("nat", u32::from(nat))];
    let setting = Setting { rates: [10, 10], queue: QUEUE, paths: 1, config, options, ..Setting::default() };
    Meeting::new(program, opener, &setting)
}

/// Makes usrsctp add an address of its own, and waits until the path is active. The routes select the source
/// of usrsctp's heartbeats to an address of ours, so our side must know the new address.
fn usrsctp_adds(flow: &mut Flow, meeting: &mut Meeting, address: IpAddr) {
    meeting.theirs.tell(&format!("add {address}"));
    flow.until(meeting, "usrsctp adds an address", |meeting| {
        let added = |event: &Event| *event == Event::PeerAddressAdded { address };
        meeting.ours.saw(added) && path_to(meeting, address).0
    });
}

/// Adds an address of ours, and waits until usrsctp has confirmed it.
fn we_add(flow: &mut Flow, meeting: &mut Meeting, address: IpAddr) {
    meeting.ours.open(address);
    let (now, id) = (meeting.ours.now(), meeting.ours.id());
    assert!(meeting.ours.endpoint.add_local_address(now, id, address).is_ok());
    flow.until(meeting, "we add an address", |meeting| granted(meeting, AddressChange::Add, address));
    flow.until(meeting, "usrsctp confirms it", |meeting| usrsctp_says(meeting, address, CONFIRMED));
}

/// Behind a NAT: requests that usrsctp add the source of the packet, and then delete all other addresses.
fn unnamed(program: &Path, opener: Opener) {
    let mut meeting = meet(program, opener, true);
    let [here, there] = [Network::addresses_here(), Network::addresses_there()];
    let mut flow = Flow::default();
    flow.go_on(&mut meeting, "data flows");
    usrsctp_adds(&mut flow, &mut meeting, there[1]);
    we_add(&mut flow, &mut meeting, here[1]);
    let (now, id) = (meeting.ours.now(), meeting.ours.id());
    assert!(meeting.ours.endpoint.remove_local_address(now, id, here[0]).is_ok());
    flow.until(&mut meeting, "usrsctp deletes it", |meeting| usrsctp_says(meeting, here[0], REMOVED));
    flow.go_on(&mut meeting, "data flows on");
    flow.finish(&mut meeting);
    meeting.finish(&[Auth::TYPE, Asconf::TYPE, AsconfAck::TYPE, Data::TYPE]);
}

/// Moves both sides to their second addresses, one step after the other.
fn handover(program: &Path, opener: Opener) {
    let mut meeting = meet(program, opener, false);
    let [here, there] = [Network::addresses_here(), Network::addresses_there()];
    let mut flow = Flow::default();
    flow.go_on(&mut meeting, "data flows");

    usrsctp_adds(&mut flow, &mut meeting, there[1]);
    we_add(&mut flow, &mut meeting, here[1]);

    meeting.theirs.tell(&format!("set-primary {}", there[1]));
    flow.until(&mut meeting, "usrsctp sets our primary path", |meeting| path_to(meeting, there[1]).1);
    let (now, id) = (meeting.ours.now(), meeting.ours.id());
    assert!(meeting.ours.endpoint.set_peer_primary(now, id, here[1]).is_ok());
    flow.until(&mut meeting, "we set the primary path of usrsctp", |meeting| {
        granted(meeting, AddressChange::SetPrimary, here[1])
    });

    let now = meeting.ours.now();
    assert!(meeting.ours.endpoint.remove_local_address(now, id, here[0]).is_ok());
    flow.until(&mut meeting, "we delete an address", |meeting| {
        granted(meeting, AddressChange::Delete, here[0])
    });
    flow.until(&mut meeting, "usrsctp deletes it", |meeting| usrsctp_says(meeting, here[0], REMOVED));
    // If late packets arrive for a deleted address, usrsctp over UDP sends an ABORT from its remaining
    // address. So the path must be quiet first.
    flow.go_on(&mut meeting, "the first path is quiet");
    meeting.theirs.tell(&format!("remove {}", there[0]));
    flow.until(&mut meeting, "usrsctp deletes an address", |meeting| {
        meeting.ours.saw(|event| *event == Event::PeerAddressRemoved { address: there[0] })
    });
    flow.go_on(&mut meeting, "data flows on the second path");
    flow.finish(&mut meeting);
    meeting.finish(&[Auth::TYPE, Asconf::TYPE, AsconfAck::TYPE, Data::TYPE]);
}

pub fn run(program: &Path, table: &mut Interop) {
    for opener in Opener::BOTH {
        handover(program, opener);
        unnamed(program, opener);
    }
    for what in ["we add an address", "we set its primary path", "we delete an address"] {
        table.works("ASCONF", &format!("{what}; nothing is lost"), BOTH);
    }
    for what in ["usrsctp adds an address", "usrsctp sets our primary path", "usrsctp deletes an address"] {
        table.works("ASCONF", &format!("{what}; nothing is lost"), BOTH);
    }
    table.works("ASCONF", "we add an address without a name and delete all others; nothing is lost", BOTH);
}
