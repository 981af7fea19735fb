//! Tests which packets request a SACK at once (`rfc7053#section-3`) if the peer sends lean (late, short)
//! SACKs.

use super::*;
use cc::CongestionWindow;

/// Returns how many of 24 packets request a SACK. `cwnd` and `ssthresh` are in packets, `peer_buffer` in
/// bytes.
fn asking(cwnd: u64, ssthresh: u64, peer_buffer: u64) -> usize {
    let config = Config { lean_sacks: true, nr_sack: true, ..cmt(Cmt::default()) };
    let mut rig = Rig::new(&config, 1, 1);
    rig.sender.peer.nr_sacks = true;
    rig.sender.peer.set(1 << 30, peer_buffer);
    let packets = |n: u64| ByteCount::new(n * 1500);
    rig.paths[P1].window = CongestionWindow { cwnd: packets(cwnd), ssthresh: Some(packets(ssthresh)) };
    for _ in 0..24 {
        rig.transmit(P1);
        rig.paths[P1].stats.data_packets += 1;
    }
    (1..=24).filter(|&tsn| rig.sender.out[rig.index(tsn)].asks_for_sack()).count()
}

#[test]
fn the_smaller_the_window_the_more_packets_ask() {
    let found = [4, 7, 8, 23, 24, 47, 48, 1000].map(|cwnd| asking(cwnd, 1, 1 << 20));
    assert_eq!(found, [12, 12, 8, 8, 6, 6, 0, 0]);
}

// rfc9260#section-7.2.1: cwnd grows by at most one packet with each SACK.
#[test]
fn in_slow_start_every_second_packet_asks_unless_the_peers_buffer_is_smaller_than_the_window() {
    assert_eq!(asking(60, 61, 1 << 20), 12);
    assert_eq!(asking(60, 61, 60 * 1500), 12);
    assert_eq!(asking(60, 61, 60 * 1500 - 1), 0);
    assert_eq!(asking(12, 61, 11 * 1500), 8, "as outside of slow start");
}

/// The last packet requests a SACK. Otherwise the peer would delay its SACK, and the path would seem silent.
#[test]
fn with_several_paths_the_packet_after_which_there_is_nothing_to_send_asks() {
    let config = Config { lean_sacks: true, nr_sack: true, ..cmt(Cmt::default()) };
    for (n, more, asks) in [(2, false, true), (2, true, false), (1, false, false)] {
        let mut rig = Rig::new(&config, n, 1);
        rig.sender.peer.nr_sacks = true;
        if more {
            rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
        }
        rig.paths[P1].stats.data_packets = 2;
        rig.transmit(P1);
        assert_eq!(rig.sender.out[rig.index(1)].asks_for_sack(), asks, "{n} paths, more to send: {more}");
    }
}
