//! Sending data (rfc9260#section-6), chunk by chunk.

use anabranch_sctp::{Config, Message, Payload, StreamScheduler};
use testkit::*;
use units::{ByteCount, Span};
use wire::StreamId;

const FULL: u32 = Played::FULL;

fn ordered(stream: u16, len: u32) -> Message {
    Message { stream: StreamId(stream), ..Message::new(Payload::Filler(len)) }
}

/// Seconds between one packet and the next.
fn gaps_in_seconds(packets: &[Vec<Seen>]) -> Vec<u64> {
    let seconds = |span: Span| span.as_nanos() / 1_000_000_000;
    packets.windows(2).map(|pair| seconds(pair[1][0].at.since(pair[0][0].at))).collect()
}

// rfc9260#section-6.9, rfc9260#section-3.3.1
#[test]
fn fragments_fill_packets_and_have_consecutive_tsns() {
    let mut client = Played::new(&Config::default());
    client.say(ordered(3, 2 * FULL + 100));
    let chunks: Vec<_> = client.packets().into_iter().flatten().collect();
    let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.len).collect();
    assert_eq!(lengths, [FULL as usize, FULL as usize, 100]);
    let borders: Vec<_> = chunks.iter().map(|chunk| (chunk.flags.beginning, chunk.flags.ending)).collect();
    assert_eq!(borders, [(true, false), (false, false), (false, true)]);
    for (chunk, n) in chunks.iter().zip(1..) {
        assert_eq!((chunk.n, chunk.stream, chunk.ssn), (n, 3, 0));
    }
}

// rfc9260#section-6.9, rfc9260#section-6.10
#[test]
fn with_fill_packets_a_long_message_begins_in_the_last_packet_of_the_one_before() {
    let of_packets = |fill_packets, lengths: &[u32]| {
        let mut client = Played::new(&Config { fill_packets, ..Config::default() });
        let (now, id) = (client.pair.now, client.id);
        for &length in lengths {
            client.pair.endpoint(Side::Client).send(now, id, ordered(0, length)).expect("there is room");
        }
        client.pair.drain();
        let lengths = |packet: Vec<Seen>| packet.iter().map(|chunk| chunk.len as u32).collect::<Vec<_>>();
        client.packets().into_iter().map(lengths).collect::<Vec<_>>()
    };
    let two = [FULL + 100, FULL + 300];
    assert_eq!(of_packets(false, &two), [vec![FULL], vec![100], vec![FULL], vec![300]]);
    assert_eq!(of_packets(true, &two), [vec![FULL], vec![100, FULL - 116], vec![416]]);
    assert_eq!(of_packets(true, &[FULL + 100, FULL])[1], [100], "it fits a packet of its own");
    let little_room = FULL - 16 - 124;
    assert_eq!(of_packets(true, &[FULL + little_room, 2 * FULL])[1], [little_room]);
}

// rfc9260#section-6.5, rfc9260#section-6.6: unordered messages have no stream sequence number.
#[test]
fn ordered_messages_are_numbered_from_zero_in_each_stream() {
    let mut client = Played::new(&Config::default());
    for (stream, unordered) in [(0, false), (4, false), (0, true), (0, false), (4, true), (4, false)] {
        client.say(Message { unordered, ..ordered(stream, 10) });
    }
    client.sack(1, &[]);
    client.pass(100);
    let ordered: Vec<_> =
        client.packets().into_iter().flatten().filter(|seen| !seen.flags.unordered).collect();
    let numbers: Vec<_> = ordered.iter().map(|seen| (seen.stream, seen.ssn)).collect();
    assert_eq!(numbers, [(0, 0), (4, 0), (0, 1), (4, 1)]);
}

// rfc9260#section-6.1, rule B: a chunk is sent while the flight size is below cwnd, so the flight size
// exceeds cwnd by less than a chunk.
#[test]
fn no_new_data_leaves_when_the_window_is_full() {
    let mut client = Played::new(&Config::default());
    assert_eq!(client.path(0).cwnd.get(), 4404);
    client.send_full(10);
    assert_eq!(client.numbers(), [1, 2, 3]);
    assert_eq!(client.path(0).flight.get(), 3 * 1468);

    let mut client = Played::new(&Config::default());
    for _ in 0..10 {
        client.send(1351);
    }
    assert_eq!(client.numbers(), [1, 2, 3, 4], "4101 bytes leave room for one more");
    let path = client.path(0);
    assert!(path.flight > path.cwnd && path.flight.get() < path.cwnd.get() + 1468);
}

// rfc9260#section-6.1, rule B: urgent messages may exceed cwnd, but by less than a chunk in total.
#[test]
fn urgent_messages_exceed_a_full_window_by_less_than_a_chunk() {
    let config = Config {
        stream_scheduler: StreamScheduler::Priority,
        stream_values: vec![1],
        outbound_streams: 2,
        send_queue: Some(2),
        max_burst: 100,
        nagle: true,
        ..Config::default()
    };
    let mut client = Played::new(&config);
    let path = client.path(0);
    // The messages fill cwnd exactly; each chunk has a header of 16 bytes.
    for length in [FULL, FULL, path.cwnd.get() as u32 - 2 * (FULL + 16) - 16] {
        client.say(ordered(0, length));
    }
    client.send_full(2);
    assert_eq!(client.path(0).flight, path.cwnd);
    client.packets();
    let (now, id) = (client.pair.now, client.id);
    let mut say = |urgent, length| {
        let sent = client.pair.endpoint(Side::Client).send(now, id, Message { urgent, ..ordered(1, length) });
        client.pair.drain();
        (sent.is_ok(), client.packets().into_iter().flatten().map(|seen| seen.len).collect::<Vec<_>>())
    };
    assert_eq!(say(false, 100), (false, vec![]), "there is no room");
    assert_eq!(say(true, 100), (true, vec![100]));
    assert_eq!(say(true, 1000), (true, vec![1000]));
    assert_eq!(say(true, 400), (true, vec![]), "that would be more than a chunk");
    client.sack(3, &[]);
    let next: Vec<usize> = client.packets().into_iter().flatten().map(|seen| seen.len).collect();
    assert_eq!(next[0], 400);
}

// rfc9260#section-6.1, rule C
#[test]
fn lost_chunks_leave_before_new_ones() {
    let mut client = Played::new(&Config::default());
    client.send_full(20);
    assert_eq!(client.numbers(), [1, 2, 3]);
    client.pass(1000);
    assert_eq!(client.numbers(), [1], "after the timeout one packet");
    client.pass(10);
    client.sack(1, &[]);
    assert_eq!(client.numbers()[..2], [2, 3], "then the others that were lost");
    client.pass(10);
    client.sack(3, &[]);
    assert_eq!(client.numbers()[0], 4);
}

// rfc9260#section-6.1, rule D
#[test]
fn a_burst_is_no_longer_than_max_burst() {
    for max_burst in [2, 4, 7] {
        let mut client = Played::new(&Config { max_burst, ..Config::default() });
        client.send_full(100);
        // Each acknowledgement allows more chunks than a burst.
        let mut sent = client.numbers();
        for acked in 1..=30 {
            client.pass(10);
            client.sack(acked, &[]);
            sent.extend(client.numbers());
        }
        client.pass(10);
        client.sack(sent[sent.len() - 1], &[]);
        assert_eq!(client.packets().len(), max_burst as usize);
        assert!(
            client.path(0).flight.get() + 1468 < client.path(0).cwnd.get(),
            "the window would allow more"
        );
    }
}

// rfc9260#section-6.1, rule A: one chunk is in flight and is retransmitted after the RTO, which doubles each
// time. The peer answers, so the association continues.
#[test]
fn probes_of_a_closed_window_back_off() {
    let mut client =
        Played::new(&Config { association_max_retrans: 3, path_max_retrans: 3, ..Config::default() });
    client.send(100);
    client.pass(10);
    client.sack_with(1, &[], 0);
    client.packets();
    client.send_full(3);
    for _ in 0..640 {
        client.pass(100);
        client.sack_with(1, &[], 0);
    }
    let probes = client.packets();
    assert!(probes.iter().all(|packet| packet.len() == 1 && packet[0].n == 2), "{probes:?}");
    assert_eq!(gaps_in_seconds(&probes), [1, 2, 4, 8, 16, 32]);
    client.sack(2, &[]);
    assert_eq!(client.numbers(), [3, 4]);
}

// rfc9260#section-6.2.1: the peer's rwnd is a_rwnd minus the flight size.
#[test]
fn peer_rwnd_is_a_rwnd_less_the_flight_size() {
    let mut client = Played::new(&Config::default());
    assert_eq!(client.peer_rwnd(), 1 << 20, "from INIT ACK");
    client.send_full(3);
    assert_eq!(client.peer_rwnd(), (1 << 20) - 3 * 1468);
    client.pass(10);
    client.sack_with(1, &[], 50_000);
    assert_eq!(client.peer_rwnd(), 50_000 - 2 * 1468);
    client.sack_with(1, &[(3, 3)], 48_000);
    assert_eq!(client.peer_rwnd(), 48_000 - 1468);
    client.sack_with(0, &[], 7_000);
    assert_eq!(client.peer_rwnd(), 48_000 - 1468, "a SACK that was overtaken says nothing");
}

// rfc9260#section-6.1, rule A: new data is sent only if it fits into the peer's rwnd.
#[test]
fn a_chunk_that_does_not_fit_the_window_of_the_peer_waits() {
    let mut client = Played::new(&Config::default());
    client.send(10);
    client.pass(10);
    client.sack_with(1, &[], 3000);
    client.packets();
    client.send_full(5);
    assert_eq!(client.numbers(), [2, 3]);
    client.pass(10);
    client.sack_with(3, &[], 1600);
    assert_eq!(client.numbers(), [4]);
}

// rfc9260#section-6.3.2, rules R1 and R2
#[test]
fn t3_runs_from_the_first_chunk_until_everything_is_acknowledged() {
    let mut client = Played::new(&Config::default());
    client.send(100);
    client.packets();
    client.pass(600);
    client.send(100);
    client.packets();
    client.pass(399);
    assert_eq!(client.numbers(), []);
    client.pass(1);
    assert_eq!(client.numbers(), [1, 2], "a second after the first chunk, not after the second");
    client.pass(10);
    client.sack(2, &[]);
    client.pass(10_000);
    assert_eq!(client.numbers(), [], "nothing is left to wait for");
}

// rfc9260#section-6.3.2, rule R3
#[test]
fn t3_starts_anew_when_the_earliest_chunk_is_acknowledged() {
    let mut client = Played::new(&Config { rto_min: Span::from_secs(3), ..Config::default() });
    client.send_full(3);
    client.pass(500);
    client.sack(1, &[]);
    client.packets();
    assert_eq!(client.path(0).rto, Span::from_secs(3));
    client.pass(2000);
    client.sack(1, &[(3, 3)]);
    client.pass(999);
    assert_eq!(client.numbers(), [], "an acknowledgement of a later chunk changes nothing");
    client.pass(1);
    assert_eq!(client.numbers(), [2]);
}

// rfc9260#section-6.3.3, rules E1 and E2, and rfc9260#section-7.2.3
#[test]
fn a_timeout_doubles_rto_and_leaves_one_segment() {
    let mut client =
        Played::new(&Config { path_max_retrans: 20, association_max_retrans: 20, ..Config::default() });
    client.send_full(3);
    assert_eq!(client.path(0).rto, Span::from_secs(1));
    for (rto, timeouts) in [(2, 1), (4, 2), (8, 3), (16, 4), (32, 5), (60, 6), (60, 7)] {
        let now = client.path(0).rto;
        client.packets();
        client.pair.run_for(now);
        assert_eq!(client.packets().len(), 1, "one packet, until the next timeout");
        let path = client.path(0);
        assert_eq!((path.rto, path.stats.timeouts), (Span::from_secs(rto), timeouts));
        assert_eq!((path.cwnd.get(), path.ssthresh.map(ByteCount::get)), (1468, Some(4 * 1468)));
    }
}

// rfc9260#section-6.3.3, rule E3: the earliest chunks are sent that together fit into one packet.
#[test]
fn after_a_timeout_the_earliest_chunks_that_fit_a_packet_leave() {
    let mut client = Played::new(&Config::default());
    for _ in 0..4 {
        client.send(500);
    }
    assert_eq!(client.numbers(), [1, 2, 3, 4]);
    client.pass(1000);
    let packets = client.packets();
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0].iter().map(|chunk| chunk.n).collect::<Vec<_>>(), [1, 2]);
}

// rfc9260#section-6.3.1, rule C5 (Karn): it is unknown which transmission was acknowledged.
#[test]
fn a_chunk_sent_twice_gives_no_round_trip_time() {
    let mut client = Played::new(&Config::default());
    let before = client.path(0).srtt;
    client.send(100);
    client.pass(1000);
    client.pass(300);
    client.sack(1, &[]);
    assert_eq!(client.path(0).srtt, before);
    client.send(100);
    client.pass(300);
    client.sack(2, &[]);
    assert_ne!(client.path(0).srtt, before);
}

// rfc9260#section-6.3.1: each destination address has its own RTT.
#[test]
fn each_path_has_its_own_round_trip_time() {
    let mut client = Played::in_nets(2, &Config::default());
    let other = client.path(1);
    client.send(100);
    client.pass(700);
    client.sack(1, &[]);
    assert_eq!((client.path(1).srtt, client.path(1).rto), (other.srtt, other.rto));
    let srtt = client.path(0).srtt.expect("there are samples");
    assert!(srtt > other.srtt.expect("of a heartbeat"));
}

// rfc9260#section-6.4, rfc9260#section-6.3.3, rule E4
#[test]
fn after_a_timeout_a_chunk_goes_to_the_other_address() {
    let mut client = Played::in_nets(2, &Config::default());
    client.send(100);
    client.pass(1000);
    let packets = client.packets();
    assert_eq!(packets.iter().map(|packet| packet[0].net).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(client.path(0).flight, ByteCount::ZERO);
    assert_eq!(client.path(1).flight.get(), 116);
    client.pass(10);
    client.sack(1, &[]);
    client.send(100);
    assert_eq!(client.packets()[0][0].net, 1, "new data goes to the primary path");
}

// rfc9260#section-6.10
#[test]
fn small_chunks_share_packets() {
    let mut client = Played::new(&Config::default());
    client.send_full(3);
    for _ in 0..12 {
        client.send(100);
    }
    client.packets();
    client.pass(10);
    client.sack(3, &[]);
    let packets = client.packets();
    assert_eq!(packets.len(), 1, "12 chunks of 116 bytes fit one packet");
    assert_eq!(packets[0].len(), 12);

    let mut client = Played::new(&Config { bundling: false, ..Config::default() });
    client.send_full(3);
    client.send(100);
    client.send(100);
    client.packets();
    client.pass(10);
    client.sack(3, &[]);
    assert_eq!(client.packets().iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
}

// rfc9260#section-6.10
#[test]
fn nagle_holds_small_chunks_while_data_is_in_flight() {
    for nagle in [false, true] {
        let mut client = Played::new(&Config { nagle, ..Config::default() });
        client.send(100);
        client.send(100);
        assert_eq!(client.numbers().len(), if nagle { 1 } else { 2 });
        client.send(FULL);
        assert!(!client.numbers().is_empty(), "a full packet may leave");
    }
    let mut client = Played::new(&Config { nagle: true, ..Config::default() });
    client.send(100);
    client.send(100);
    client.packets();
    client.pass(10);
    client.sack(1, &[]);
    assert_eq!(client.numbers(), [2]);
}

/// Small chunks that Nagle's rule holds back are bundled with a SACK that is due, but are not sent without a
/// SACK.
// rfc9260#section-6.1
#[test]
fn small_chunks_held_by_nagle_join_a_sack_that_is_due() {
    for bundling in [true, false] {
        let config = Config { nagle: true, bundling, ..Config::default() };
        let mut pair = Pair::new(1, &config);
        pair.establish();
        pair.on_wire(|sent| if sent.from == Side::Client { Fate::Lost } else { Fate::Arrives });
        let begin = pair.sent.len();
        pair.send(Side::Client, 100);
        pair.send(Side::Client, 100);
        assert_eq!(pair.said(Side::Client, begin), ["DATA"], "the second one is held");
        pair.send(Side::Server, 1452);
        pair.run_for(Span::from_millis(15));
        let sack = if bundling { "SACK DATA" } else { "SACK" };
        assert_eq!(pair.said(Side::Client, begin), ["DATA", sack], "the first data is acknowledged at once");
        // The SACK of this data is delayed: it becomes due only after 200 ms.
        pair.send(Side::Server, 1452);
        pair.run_for(Span::from_millis(15));
        pair.send(Side::Client, 100);
        assert_eq!(pair.said(Side::Client, begin).len(), 2);
        pair.run_for(Span::from_millis(200));
        assert_eq!(pair.said(Side::Client, begin)[2], sack);
    }
}

// rfc7053#section-4.1
#[test]
fn the_user_and_the_end_of_data_ask_for_a_sack_at_once() {
    let mut client = Played::new(&Config::default());
    client.say(Message { immediate_sack: true, ..ordered(0, FULL + 1) });
    let asked = |client: &mut Played| {
        client.packets().into_iter().flatten().map(|seen| seen.flags.immediate).collect::<Vec<_>>()
    };
    assert_eq!(asked(&mut client), [false, true], "with the last fragment");
    client.sack(2, &[]);
    client.send_full(3);
    client.send(100);
    assert_eq!(asked(&mut client), [false; 3], "the window is full");
    client.pair.shutdown(Side::Client);
    client.pass(10);
    client.sack(5, &[]);
    assert_eq!(asked(&mut client), [true], "nothing more will come");
}

// rfc9260#section-6.6
#[test]
fn an_unordered_message_does_not_wait_for_lost_ones() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    pair.on_wire(|sent| if sent.from == Side::Client { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Client, FULL);
    pair.heal();
    let now = pair.now;
    for (unordered, len) in [(false, 2), (true, 3)] {
        let message = Message { unordered, ..ordered(0, len) };
        pair.endpoint(Side::Client).send(now, client, message).expect("there is room");
    }
    pair.run_for(Span::from_millis(100));
    let lengths =
        |pair: &mut Pair| pair.read_all(Side::Server).iter().map(|r| r.payload.len()).collect::<Vec<_>>();
    assert_eq!(lengths(&mut pair), [3]);
    pair.run_for(Span::from_secs(2));
    assert_eq!(lengths(&mut pair), [FULL as usize, 2]);
}

// rfc9260#section-16
#[test]
fn the_defaults_are_those_of_the_rfc() {
    let config = Config::default();
    let seconds = [config.rto_initial, config.rto_min, config.rto_max, config.valid_cookie_life];
    assert_eq!(seconds, [1, 1, 60, 60].map(Span::from_secs));
    let counts = [config.association_max_retrans, config.path_max_retrans, config.max_init_retransmits];
    assert_eq!(counts, [10, 5, 8]);
    assert_eq!((config.max_burst, config.sack_frequency), (4, 2));
    assert_eq!(config.hb_interval, Some(Span::from_secs(30)));
    assert_eq!(config.sack_delay, Span::from_millis(200));
    assert!(!config.cmt.enabled, "and standard SCTP");
}
