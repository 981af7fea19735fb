//! The end of associations by SHUTDOWN or ABORT (rfc9260#section-9).

use anabranch_sctp::{CloseReason, Config, Event, Message, Payload, SendError, State};
use testkit::*;
use units::{ByteCount, Span};

fn closed(reason: CloseReason) -> Event {
    Event::Closed { reason }
}

// rfc9260#section-9.2
#[test]
fn everything_is_delivered_before_the_end() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    for _ in 0..40 {
        pair.send(Side::Client, 1400);
        pair.send(Side::Server, 1400);
    }
    pair.shutdown(Side::Client);
    assert_eq!(pair.state(Side::Client), Some(State::ShutdownPending));
    pair.run_for(Span::from_secs(5));
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), None);
        let events = pair.events(side);
        assert_eq!(events.last(), Some(&closed(CloseReason::Graceful)), "{side:?}");
        assert!(!events.iter().any(|e| matches!(e, Event::SendFailed { .. })));
    }
    let said = |side| {
        pair.said(side, 0).into_iter().filter(|chunks| chunks.contains("SHUTDOWN")).collect::<Vec<_>>()
    };
    assert_eq!(said(Side::Client), ["SHUTDOWN", "SHUTDOWN_COMPLETE"]);
    assert_eq!(said(Side::Server), ["SHUTDOWN_ACK"]);
}

#[test]
fn what_arrived_can_be_read_after_the_end() {
    let mut pair = Pair::new(1, &Config::default());
    let (_, server) = pair.establish();
    pair.send(Side::Client, 10);
    pair.send(Side::Client, 20);
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(1));
    let events = pair.events(Side::Server);
    assert_eq!(events, [Event::Readable, Event::ShutdownReceived, closed(CloseReason::Graceful)]);
    let endpoint = pair.endpoint(Side::Server);
    assert_eq!((endpoint.state(server), endpoint.associations().count()), (None, 0));
    let mut read = || endpoint.receive(server, 1000).map(|received| received.payload.len());
    assert_eq!([read(), read(), read()], [Some(10), Some(20), None]);
    pair.drain();
    assert_eq!(pair.endpoint(Side::Server).stats(server), None, "now it is gone for good");
}

// rfc9260#section-9.2, T2-shutdown
#[test]
fn the_end_survives_the_loss_of_any_packet() {
    for (chunk, losses) in [("SHUTDOWN", 1), ("SHUTDOWN", 3), ("SHUTDOWN_ACK", 2), ("SHUTDOWN_COMPLETE", 1)] {
        let mut pair = Pair::new(1, &Config::default());
        pair.establish();
        let mut left = losses;
        pair.on_wire(move |sent| {
            if left > 0 && sent.chunks() == chunk {
                left -= 1;
                return Fate::Lost;
            }
            Fate::Arrives
        });
        pair.shutdown(Side::Client);
        pair.run_for(Span::from_secs(30));
        for side in [Side::Client, Side::Server] {
            assert_eq!(
                pair.events(side).last(),
                Some(&closed(CloseReason::Graceful)),
                "{losses} times {chunk}"
            );
        }
    }
}

// rfc9260#section-8.4 with rfc9260#section-9.2: a SHUTDOWN ACK arrives after the association has ended.
#[test]
fn a_lost_shutdown_complete_is_made_good_out_of_the_blue() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    pair.on_wire(|sent| if sent.chunks() == "SHUTDOWN_COMPLETE" { Fate::Lost } else { Fate::Arrives });
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.sent.last().unwrap().chunks(), "SHUTDOWN_COMPLETE/T");
    assert_eq!(pair.state(Side::Server), None);
}

// rfc9260#section-9.2
#[test]
fn both_sides_may_end_at_once() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    pair.shutdown(Side::Client);
    pair.shutdown(Side::Server);
    pair.run_for(Span::from_secs(1));
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.events(side), [closed(CloseReason::Graceful)]);
    }
}

// rfc9260#section-9.2
#[test]
fn data_after_our_shutdown_is_acknowledged_with_sack_and_shutdown() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    for _ in 0..30 {
        pair.send(Side::Server, 1400);
    }
    pair.shutdown(Side::Client);
    assert_eq!(pair.state(Side::Client), Some(State::ShutdownSent));
    let before = pair.sent.len();
    pair.run_for(ms(12));
    assert!(!pair.said(Side::Client, before).is_empty());
    assert!(pair.said(Side::Client, before).iter().all(|chunks| chunks == "SHUTDOWN SACK"));
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.events(Side::Server).last(), Some(&closed(CloseReason::Graceful)));
    assert_eq!(pair.state(Side::Client), None);
}

// rfc9260#section-9.2: a SHUTDOWN acknowledges data by its cumulative TSN.
#[test]
fn the_cumulative_tsn_of_shutdown_counts() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    pair.send(Side::Server, 100);
    pair.on_wire(|sent| if sent.chunks() == "SACK" { Fate::Lost } else { Fate::Arrives });
    pair.run_for(ms(12));
    pair.shutdown(Side::Client);
    pair.run_for(ms(50));
    assert_eq!(pair.state(Side::Server), None);
    assert_eq!(pair.said(Side::Server, 0).iter().filter(|chunks| *chunks == "DATA").count(), 1);
}

#[test]
fn nothing_can_be_sent_after_shutdown() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, server) = pair.establish();
    pair.shutdown(Side::Client);
    let now = pair.now;
    let message = Message::new(Payload::Filler(1));
    assert_eq!(pair.endpoint(Side::Client).send(now, client, message.clone()), Err(SendError::Closed));
    pair.run_for(ms(12));
    assert_eq!(pair.endpoint(Side::Server).send(now, server, message.clone()), Err(SendError::Closed));
    pair.run_for(ms(100));
    assert_eq!(pair.endpoint(Side::Client).send(now, client, message), Err(SendError::Closed));
}

// The user shuts down before the handshake is complete. The data that the user gave before still arrives.
#[test]
fn a_shutdown_during_the_handshake_waits_for_it() {
    let mut pair = Pair::new(1, &Config::default());
    pair.connect(Side::Client, 1);
    for _ in 0..5 {
        pair.send(Side::Client, 1000);
    }
    pair.shutdown(Side::Client);
    pair.run_for(ms(15));
    pair.run_for(Span::from_secs(3));
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::Graceful)));
    let events = pair.events(Side::Server);
    assert_eq!(events.last(), Some(&closed(CloseReason::Graceful)));
}

// rfc9260#section-9.2, T5-shutdown-guard
#[test]
fn a_peer_that_never_ends_is_aborted_after_five_times_rto_max() {
    let config = Config {
        rto_max: Span::from_secs(2),
        send_buffer: ByteCount::new(1 << 30).into(),
        ..Config::default()
    };
    let mut pair = Pair::new(1, &config);
    pair.establish();
    // The path has a long delay, and much data is pending.
    pair.set_delay(ms(900));
    for _ in 0..100_000 {
        let (id, now) = (pair.only(Side::Server), pair.now);
        pair.endpoint(Side::Server).send(now, id, Message::new(Payload::Filler(1400))).unwrap();
    }
    pair.drain();
    pair.shutdown(Side::Client);
    let begun = pair.now;
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::TooManyErrors)));
    let abort = pair.sent.iter().find(|sent| sent.chunks() == "ABORT").unwrap();
    assert_eq!(abort.at.since(begun), Span::from_secs(10));
}

// rfc9260#section-9.2: the number of retransmissions is Association.Max.Retrans.
#[test]
fn a_peer_that_went_away_is_given_up_during_shutdown() {
    let config = Config { association_max_retrans: 3, rto_max: Span::from_secs(4), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.said(Side::Client, 0).iter().filter(|chunks| *chunks == "SHUTDOWN").count(), 4);
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::TooManyErrors)));
}

// rfc9260#section-9.2: retransmissions use the other address.
#[test]
fn shutdown_is_sent_to_the_other_address_too() {
    let mut pair = Pair::new(2, &Config::default());
    pair.establish();
    pair.run_for(Span::from_secs(1));
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Lost } else { Fate::Arrives });
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(10));
    let sent = pair.sent.iter().filter(|sent| sent.chunks() == "SHUTDOWN");
    assert_eq!(sent.map(Sent::net).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::Graceful)));
}

// rfc9260#section-9.1
#[test]
fn an_abort_tells_why_and_is_not_answered() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    pair.on_wire(|sent| if sent.chunks() == "SACK" { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Client, 100);
    let before = pair.sent.len();
    pair.endpoint(Side::Client).abort(client, b"enough");
    pair.run_for(ms(100));
    assert_eq!(pair.said(Side::Client, before), ["ABORT"]);
    let events = pair.events(Side::Client);
    assert!(matches!(events[0], Event::SendFailed { length: 100, tsn: Some(_), .. }), "{events:?}");
    assert_eq!(events[1], closed(CloseReason::LocalAbort));
    let events = pair.events(Side::Server);
    let Some(Event::Closed { reason: CloseReason::PeerAbort { causes } }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(causes[..], [0, 12, 0, 10, b'e', b'n', b'o', b'u', b'g', b'h']);
    assert!(!pair.said(Side::Server, before).iter().any(|chunks| chunks.contains("ABORT")));
}

// rfc9260#section-9.1: without the peer's tag, no ABORT can be sent.
#[test]
fn an_abort_before_the_init_ack_is_silent() {
    let mut pair = Pair::new(1, &Config::default());
    let id = pair.connect(Side::Client, 1);
    pair.endpoint(Side::Client).abort(id, b"");
    pair.drain();
    assert_eq!(pair.said(Side::Client, 0), ["INIT"]);
    assert_eq!(pair.events(Side::Client), [closed(CloseReason::LocalAbort)]);
}

// rfc9260#section-9.2: the shutdown waits until lost data is delivered, or until the peer is given up.
#[test]
fn shutdown_waits_for_lost_data() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let mut left = 2;
    pair.on_wire(move |sent| {
        if left > 0 && sent.chunks() == "DATA" {
            left -= 1;
            return Fate::Lost;
        }
        Fate::Arrives
    });
    pair.send(Side::Client, 100);
    pair.shutdown(Side::Client);
    pair.run_for(ms(2500));
    assert_eq!(pair.state(Side::Client), Some(State::ShutdownPending));
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::Graceful)));
}

// rfc9260#section-8.3: after SHUTDOWN or SHUTDOWN ACK, heartbeats are neither sent nor answered.
#[test]
fn heartbeats_end_before_the_association_does() {
    let config = Config {
        hb_interval: Some(ms(100)),
        rto_min: ms(50),
        rto_max: Span::from_secs(1),
        ..Config::default()
    };
    let mut pair = Pair::new(1, &config);
    pair.establish();
    pair.run_for(Span::from_secs(5));
    assert!(pair.said(Side::Server, 0).contains(&"HEARTBEAT".to_owned()));
    pair.on_wire(|sent| if sent.chunks() == "SHUTDOWN_ACK" { Fate::Lost } else { Fate::Arrives });
    pair.run_for(ms(40));
    pair.shutdown(Side::Client);
    pair.run_for(ms(25));
    assert_eq!(pair.state(Side::Server), Some(State::ShutdownAckSent));
    let before = pair.sent.len();
    pair.run_for(Span::from_secs(4));
    for side in [Side::Client, Side::Server] {
        assert!(!pair.said(side, before).iter().any(|chunks| chunks.contains("HEARTBEAT")), "{side:?}");
    }
}

// rfc9260#section-9.2, rfc9260#section-8.2
#[test]
fn with_no_active_path_t2_takes_the_paths_in_turn() {
    let config = Config { path_max_retrans: 0, hb_interval: None, ..Config::default() };
    let mut pair = Pair::new(3, &config);
    pair.establish();
    pair.run_for(Span::from_secs(1));
    let from = pair.sent.len();
    // All paths fail, and then one of them works again.
    let mut lost = 0;
    pair.on_wire(move |sent| {
        lost += u32::from(sent.chunks() == "SHUTDOWN");
        if lost < 6 || sent.net() != 3 { Fate::Lost } else { Fate::Arrives }
    });
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(100));
    let nets: Vec<u8> =
        pair.sent[from..].iter().filter(|sent| sent.chunks() == "SHUTDOWN").map(|sent| sent.net()).collect();
    assert_eq!(nets, [1, 2, 3, 1, 2, 3]);
    assert_eq!(pair.events(Side::Client).last(), Some(&closed(CloseReason::Graceful)));
}
