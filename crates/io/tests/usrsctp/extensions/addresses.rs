//! ASCONF (RFC 5061): each side adds an address and deletes the first one while data flows; nothing is lost.

use super::Row;
use super::meeting::{Meeting, Opener, Setting};
use crate::network::Network;
use sctp::{Config, Event, PathState};
use std::path::Path;

const LENGTH: usize = 1400;
/// About a second and a half of data on one link of 10 Mbit/s.
const MESSAGES: usize = 1300;
/// usrsctp's states of a peer's address.
const CONFIRMED: u64 = 6;

fn handover(program: &Path, opener: Opener) -> String {
    let config = Config { auth: true, asconf: true, ..Config::default() };
    let options = &[("auth", 1), ("asconf", 1)];
    let setting = Setting { rates: [10, 10], paths: 1, config, options, ..Setting::default() };
    let mut meeting = Meeting::new(program, opener, &setting);
    let [here, there] = [Network::addresses_here(), Network::addresses_there()];
    meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} 1 0 none 0"));
    let (mut sent, mut stage) = (0, 0);
    meeting.until("all messages arrive, and the addresses change", |ours, theirs| {
        sent += ours.send((MESSAGES - sent).min(20), LENGTH, |message| message, 2);
        let (now, id, arrived) = (ours.now(), ours.id(), ours.received.len().min(theirs.heard.len()));
        match stage {
            0 if arrived > 100 => {
                theirs.tell(&format!("add {}", there[1]));
                ours.open(here[1]);
                assert!(ours.endpoint.add_local_address(now, id, here[1]));
                stage = 1;
            }
            1 => {
                let added = ours.saw(|event| matches!(event, Event::PeerAddressAdded { address } if *address == there[1]));
                let done = ours.saw(
                    |event| matches!(event, Event::AddressChange { address, accepted: true, .. } if *address == here[1]),
                );
                let address = here[1].to_string();
                if added && done && theirs.event("address", |e| e["address"] == address.as_str() && e["state"] == CONFIRMED).is_some() {
                    stage = 2;
                }
            }
            2 if ours.endpoint.paths(id).into_iter().flatten().filter(|path| path.state == PathState::Active).count() >= 2 => {
                theirs.tell(&format!("set-primary {}", there[1]));
                assert!(ours.endpoint.set_peer_primary(now, id, here[1]));
                theirs.tell(&format!("remove {}", there[0]));
                assert!(ours.endpoint.remove_local_address(now, id, here[0]));
                stage = 3;
            }
            3 => {
                let removed = ours.saw(|event| matches!(event, Event::PeerAddressRemoved { address } if *address == there[0]));
                let done = ours.saw(
                    |event| matches!(event, Event::AddressChange { address, accepted: true, .. } if *address == here[0]),
                );
                if removed && done {
                    stage = 4;
                }
            }
            _ => {}
        }
        stage == 4 && arrived == MESSAGES
    });
    let numbers: Vec<u32> = meeting.theirs.heard.iter().map(|heard| heard.number).collect();
    assert_eq!(numbers, (0..MESSAGES as u32).collect::<Vec<_>>(), "in order, none lost");
    let packets = meeting.finish();
    format!("{MESSAGES} messages each way over a handover of both sides, {packets} packets")
}

pub fn run(program: &Path) -> Vec<Row> {
    let row = |opener: Opener| Row {
        extension: "ASCONF: add, delete, set primary",
        role: opener.name(),
        shown: handover(program, opener),
    };
    Opener::BOTH.into_iter().map(row).collect()
}
