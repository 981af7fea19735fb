//! Changes of options during an association, and requests of the user (rfc6458).

use anabranch_sctp::{
    AddressError, AssocId, AssocOptions, Cmt, Config, EndpointConfig, Event, KeyError, Message, OptionsError,
    PathError, PathId, PathOptions, Payload, Seed, SendError, StreamError,
};
use testkit::*;
use units::{ByteCount, Span};
use wire::StreamId;

/// Changes the options of the client's association.
fn change(pair: &mut Pair, id: AssocId, with: impl FnOnce(&mut AssocOptions)) {
    let now = pair.now;
    let endpoint = pair.endpoint(Side::Client);
    let mut options = endpoint.options(id).expect("an association");
    with(&mut options);
    assert_eq!(endpoint.set_options(now, id, &options), Ok(()));
    assert_eq!(endpoint.options(id), Some(options));
    pair.drain();
}

#[test]
fn the_bounds_of_the_rto_can_be_changed() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let rto = |pair: &mut Pair| pair.endpoint(Side::Client).paths(client).unwrap().next().unwrap().rto;
    assert_eq!(rto(&mut pair), Span::from_secs(1));
    change(&mut pair, client, |options| options.rto_min = ms(100));
    assert!(rto(&mut pair) < ms(200), "the measured 20 ms count now");
    change(&mut pair, client, |options| {
        (options.rto_initial, options.rto_min, options.rto_max) = (ms(300), ms(300), ms(400));
    });
    assert_eq!(rto(&mut pair), ms(300));
    // Backoff increases the RTO up to RTO.Max, but not further.
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100);
    pair.run_for(Span::from_secs(2));
    assert_eq!(rto(&mut pair), ms(400));
    change(&mut pair, client, |options| options.rto_max = Span::from_secs(60));
    assert_eq!(rto(&mut pair), ms(400), "what was backed off stays so");
}

// rfc6458#section-8.1.21
#[test]
fn the_partial_delivery_point_can_be_changed() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let first_part = |pair: &mut Pair| {
        pair.send(Side::Server, 10_000);
        pair.run_for(ms(500));
        let endpoint = pair.endpoint(Side::Client);
        let first = endpoint.receive(client, usize::MAX).expect("a message");
        while endpoint.receive(client, usize::MAX).is_some() {}
        (first.payload.len() < 10_000, first.end_of_record)
    };
    assert_eq!(first_part(&mut pair), (false, true));
    change(&mut pair, client, |options| options.partial_delivery_point = Some(ByteCount::new(2000)));
    assert_eq!(first_part(&mut pair), (true, false));
    change(&mut pair, client, |options| options.partial_delivery_point = None);
    assert_eq!(first_part(&mut pair), (false, true));
}

#[test]
fn sack_delay_and_frequency_can_be_changed() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let acknowledged_after = |pair: &mut Pair| {
        let (start, sent) = (pair.now, pair.sent.len());
        pair.send(Side::Server, 100);
        pair.run_for(Span::from_secs(1));
        let sack = pair.sent[sent..].iter().find(|sent| sent.from == Side::Client).expect("a SACK");
        sack.at.since(start)
    };
    acknowledged_after(&mut pair); // the first DATA is acknowledged at once
    assert_eq!(acknowledged_after(&mut pair), ms(210));
    change(&mut pair, client, |options| options.sack_delay = ms(50));
    assert_eq!(acknowledged_after(&mut pair), ms(60));
    change(&mut pair, client, |options| options.sack_frequency = 1);
    assert_eq!(acknowledged_after(&mut pair), ms(10));
}

#[test]
fn a_shorter_heartbeat_interval_holds_at_once_and_none_ends_heartbeats() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let heartbeats = |pair: &Pair| {
        let of_client = |sent: &&Sent| sent.from == Side::Client && sent.chunks() == "HEARTBEAT";
        pair.sent.iter().filter(of_client).count()
    };
    change(&mut pair, client, |options| options.hb_interval = Some(Span::from_secs(1)));
    pair.run_for(Span::from_secs(20));
    let sent = heartbeats(&pair);
    assert!((7..=20).contains(&sent), "one every 1.5 to 2.5 s: {sent}");
    change(&mut pair, client, |options| options.hb_interval = None);
    pair.run_for(Span::from_secs(60));
    assert!(heartbeats(&pair) <= sent + 1);
}

#[test]
fn a_limit_of_errors_can_be_lowered_until_the_association_is_given_up() {
    let config = Config { rto_initial: ms(100), rto_min: ms(100), rto_max: ms(100), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    let (client, _) = pair.establish();
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100);
    pair.run_for(ms(350));
    assert!(pair.state(Side::Client).is_some());
    change(&mut pair, client, |options| options.association_max_retrans = 3);
    pair.run_for(ms(250));
    assert_eq!(pair.state(Side::Client), None);
}

#[test]
fn a_value_that_cannot_work_is_refused_and_changes_nothing() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let now = pair.now;
    let endpoint = pair.endpoint(Side::Client);
    let options = endpoint.options(client).expect("an association");
    let wrong = AssocOptions { sack_delay: Span::from_secs(1), nagle: true, ..options.clone() };
    let error = endpoint.set_options(now, client, &wrong).unwrap_err();
    assert_eq!(error.to_string(), "sack_delay = 1 s: expected at most 500 ms");
    assert_eq!(endpoint.options(client), Some(options.clone()));
    assert_eq!(endpoint.set_options(now, AssocId(77), &options), Err(OptionsError::Closed));
}

#[test]
fn changed_options_survive_a_restart_of_the_peer() {
    let mut pair = Pair::new(1, &Config::default());
    let (_, server) = pair.establish();
    let now = pair.now;
    let mut options = pair.endpoint(Side::Server).options(server).expect("an association");
    options.max_burst = 9;
    assert_eq!(pair.endpoint(Side::Server).set_options(now, server, &options), Ok(()));
    let anew = endpoint_config(Side::Client, 1, &Config::default());
    pair.replace(Side::Client, EndpointConfig { seed: Seed::for_simulation(99), ..anew });
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(1));
    assert!(pair.events(Side::Server).contains(&Event::Restarted));
    assert_eq!(pair.endpoint(Side::Server).options(server), Some(options));
}

// rfc6458#section-8.1.3, sinit_max_init_timeo
#[test]
fn the_timeout_of_the_handshake_has_a_bound_of_its_own() {
    let config = Config { init_rto_max: Some(Span::from_secs(2)), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(60));
    let times: Vec<_> = pair.sent.iter().map(|sent| sent.at).collect();
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert_eq!(gaps[..3], [Span::from_secs(1), Span::from_secs(2), Span::from_secs(2)]);
    assert_eq!(gaps.len(), 8, "Max.Init.Retransmits");
}

#[test]
fn the_first_window_can_be_chosen() {
    let window = |initial_window| {
        let mut client = Played::new(&Config { initial_window, ..Config::default() });
        client.send_full(20);
        (client.path(0).cwnd.get(), client.path(0).flight.get() / 1468)
    };
    assert_eq!(window(None), (4404, 3));
    // Max.Burst is 4 packets: the first burst has fewer packets than cwnd allows.
    assert_eq!(window(Some(10)), (14_680, 4));
}

// rfc9260#section-11.1: the user is notified only of the answer to a heartbeat that the user requested.
#[test]
fn the_answer_to_a_requested_heartbeat_is_told() {
    let config = Config { hb_interval: Some(Span::from_secs(1)), ..Config::default() };
    let mut pair = Pair::new(2, &config);
    let (client, _) = pair.establish();
    pair.run_for(Span::from_secs(10));
    let answers = |pair: &mut Pair| -> Vec<Event> {
        let told = pair.events(Side::Client).into_iter();
        told.filter(|event| matches!(event, Event::HeartbeatAnswered { .. })).collect()
    };
    assert_eq!(answers(&mut pair), [], "nobody asked");
    let (now, address) = (pair.now, Side::Server.address(2));
    assert!(pair.endpoint(Side::Client).heartbeat(now, client, address).is_ok());
    pair.run_for(Span::from_secs(10));
    assert_eq!(answers(&mut pair), [Event::HeartbeatAnswered { address, rtt: ms(20) }]);
}

// rfc6458#section-5.3.4, SCTP_ADDR_OVER
#[test]
fn a_message_travels_on_the_path_chosen_for_it() {
    for enabled in [false, true] {
        let config = Config { cmt: Cmt { enabled, ..Cmt::default() }, ..Config::default() };
        let mut pair = Pair::new(3, &config);
        let (client, _) = pair.establish();
        pair.run_for(Span::from_secs(5));
        for (n, path) in [(1u8, 2u8), (2, 1), (3, 0), (4, 2)] {
            let (now, sent) = (pair.now, pair.sent.len());
            let payload = Payload::Filler(100 * u32::from(n));
            let message = Message { path: Some(PathId(path)), ..Message::new(payload) };
            pair.endpoint(Side::Client).send(now, client, message).unwrap();
            pair.run_for(Span::from_secs(1));
            let data = pair.sent[sent..].iter().find(|sent| sent.chunks().contains("DATA")).expect("DATA");
            assert_eq!(data.net(), path + 1, "cmt {enabled}");
        }
        assert_eq!(pair.read_all(Side::Server).len(), 4);
    }
}

#[test]
fn messages_of_different_paths_share_no_packet() {
    let mut pair = Pair::new(2, &Config::default());
    let (client, _) = pair.establish();
    pair.run_for(Span::from_secs(5));
    let (now, sent) = (pair.now, pair.sent.len());
    for path in [None, None, Some(PathId(1)), Some(PathId(1)), None] {
        let message = Message { path, ..Message::new(Payload::Filler(50)) };
        pair.endpoint(Side::Client).send(now, client, message).unwrap();
    }
    pair.run_for(Span::from_secs(1));
    let data = pair.sent[sent..].iter().filter(|sent| sent.from == Side::Client);
    let packets: Vec<_> = data.map(|sent| (sent.net(), sent.chunks())).collect();
    let packet = |net: u8, chunks: &str| (net, chunks.to_owned());
    assert_eq!(packets, [packet(1, "DATA DATA"), packet(2, "DATA DATA"), packet(1, "DATA")]);
}

#[test]
fn a_path_that_does_not_exist_is_refused_and_one_that_failed_is_passed_over() {
    let mut pair = Pair::new(2, &Config::default());
    // The second address is never confirmed, so it carries no user data.
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
    let id = pair.connect(Side::Client, 1);
    let now = pair.now;
    let to = |path: u8| Message { path: Some(PathId(path)), ..Message::new(Payload::Filler(10)) };
    let refused = |path: u8| Err(SendError::NoSuchPath { path: PathId(path) });
    assert_eq!(pair.endpoint(Side::Client).send(now, id, to(1)), refused(1), "not established yet");
    pair.run_for(Span::from_millis(50));
    let now = pair.now;
    assert_eq!(pair.endpoint(Side::Client).send(now, id, to(2)), refused(2));
    pair.endpoint(Side::Client).send(now, id, to(1)).unwrap();
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
}

#[test]
fn the_length_of_the_next_message_is_known_before_it_is_read() {
    let mut pair = Pair::new(1, &Config::default());
    let (_, server) = pair.establish();
    assert_eq!(pair.endpoint(Side::Server).next_message_len(server), None);
    pair.send(Side::Client, 3000);
    pair.send(Side::Client, 10);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.endpoint(Side::Server).next_message_len(server), Some(3000));
    pair.endpoint(Side::Server).receive(server, 1000).expect("a part");
    assert_eq!(pair.endpoint(Side::Server).next_message_len(server), Some(2000));
}

#[test]
fn calls_for_an_association_that_has_ended_say_so() {
    let mut pair = Pair::new(1, &Config::default());
    let (id, _) = pair.establish();
    let (now, ours, theirs) = (pair.now, Side::Client.address(1), Side::Server.address(1));
    let client = pair.endpoint(Side::Client);
    client.abort(id, b"");
    assert_eq!(client.set_primary(id, theirs), Err(PathError::Closed));
    assert_eq!(client.heartbeat(now, id, theirs), Err(PathError::Closed));
    assert_eq!(client.set_path_options(now, id, ours, PathOptions::default()), Err(PathError::Closed));
    assert_eq!(client.set_path_mtu(now, id, theirs, ByteCount::new(1300)), Err(PathError::Closed));
    assert_eq!(client.set_remote_port(id, theirs, 9899), Err(PathError::NotEncapsulated));
    assert_eq!(client.add_local_address(now, id, ours), Err(AddressError::Closed));
    assert_eq!(client.remove_local_address(now, id, ours), Err(AddressError::Closed));
    assert_eq!(client.set_auth_key(id, 1, b"secret"), Err(KeyError::Closed));
    assert_eq!(client.set_stream_value(id, StreamId(0), 1), Err(StreamError::Closed));
}

#[test]
fn new_options_of_an_endpoint_are_those_of_its_later_associations() {
    let mut pair = Pair::new(1, &Config::default());
    let (first, accepted) = pair.establish();
    let slow = Config { rto_max: ms(5000), ..Config::default() };
    for side in [Side::Client, Side::Server] {
        let wrong = Config { max_burst: 0, ..slow.clone() };
        let error = pair.endpoint(side).set_config(wrong.into()).unwrap_err();
        assert_eq!(error.to_string(), "max_burst = 0: expected at least 1");
        assert_eq!(pair.endpoint(side).set_config(slow.clone().into()), Ok(()));
    }
    let rto_max = |pair: &mut Pair, side, id| pair.endpoint(side).options(id).map(|options| options.rto_max);
    assert_eq!(rto_max(&mut pair, Side::Client, first), Some(Span::from_secs(60)));
    pair.endpoint(Side::Client).abort(first, b"again");
    pair.drain();
    pair.run_for(ms(100));
    assert_eq!(rto_max(&mut pair, Side::Server, accepted), None, "aborted");
    let (second, accepted) = pair.establish();
    assert_eq!(rto_max(&mut pair, Side::Client, second), Some(ms(5000)));
    assert_eq!(rto_max(&mut pair, Side::Server, accepted), Some(ms(5000)));
}
