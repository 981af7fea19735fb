//! The end of a connection (`rfc9293#section-3.6`): all states, in all orders.

use anabranch_tcp::segment::Flags;
use anabranch_tcp::{CloseReason, Config, Event, Payload, State};
use testkit::{Fate, Side, TcpPair};
use units::Span;

const GRACEFUL: Event = Event::Closed { reason: CloseReason::Graceful };

fn pair() -> TcpPair {
    TcpPair::connected(&Config::qualnet())
}

/// The sequence of states of both sides, without repetitions.
fn states(pair: &mut TcpPair, span: Span) -> [Vec<Option<State>>; 2] {
    let mut seen = [Vec::new(), Vec::new()];
    let until = pair.now + span;
    loop {
        for (side, seen) in [Side::Client, Side::Server].into_iter().zip(&mut seen) {
            let state = pair.state(side);
            if seen.last() != Some(&state) {
                seen.push(state);
            }
        }
        if !pair.step(until) {
            return seen;
        }
    }
}

// rfc9293#section-3.6, figure 12
#[test]
fn normal_close_passes_through_all_states() {
    let mut pair = pair();
    pair.send(Side::Client, Payload::Filler(10_000));
    pair.end(Side::Client);
    let [client, server] = states(&mut pair, Span::from_secs(5));
    assert_eq!(client, [Some(State::FinWait1), Some(State::FinWait2)]);
    assert_eq!(server, [Some(State::Established), Some(State::CloseWait)]);
    assert_eq!(pair.events(Side::Server), [Event::PeerClosed]);
    // The other direction can still send.
    pair.send(Side::Server, Payload::Filler(20_000));
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.received_bytes(Side::Client), 20_000);
    pair.end(Side::Server);
    let [client, server] = states(&mut pair, Span::from_secs(100));
    assert_eq!(client, [Some(State::FinWait2), Some(State::TimeWait), None]);
    assert_eq!(server, [Some(State::LastAck), None]);
    assert_eq!(pair.events(Side::Client), [Event::PeerClosed, GRACEFUL]);
    assert_eq!(pair.events(Side::Server), [GRACEFUL]);
    assert_eq!(pair.received_bytes(Side::Server), 10_000);
}

// rfc9293#section-3.6, figure 13
#[test]
fn simultaneous_close_passes_through_closing() {
    let mut pair = pair();
    pair.end(Side::Client);
    pair.end(Side::Server);
    let begun = pair.now;
    for states in states(&mut pair, Span::from_secs(100)) {
        assert_eq!(states, [Some(State::FinWait1), Some(State::Closing), Some(State::TimeWait), None]);
    }
    assert!(pair.now.since(begun) >= Span::from_secs(60), "they wait for twice the lifetime of a segment");
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.events(side), [Event::PeerClosed, GRACEFUL]);
    }
}

/// In FIN-WAIT-1, a FIN that also acknowledges our FIN leads directly to TIME-WAIT.
#[test]
fn fin_that_acknowledges_our_fin_leads_to_time_wait() {
    let mut pair = pair();
    pair.on_wire(|sent| {
        // The bare acknowledgement of the client's FIN is lost.
        if sent.from == Side::Server && sent.is_bare() { Fate::Lost } else { Fate::Arrives }
    });
    pair.end(Side::Client);
    pair.run_for(Span::from_millis(11));
    pair.end(Side::Server);
    let [client, _] = states(&mut pair, Span::from_millis(100));
    assert_eq!(client, [Some(State::FinWait1), Some(State::TimeWait)]);
}

/// Loses each segment of the close in turn; the segment is retransmitted.
#[test]
fn lost_segments_of_the_close_are_retransmitted() {
    for lost in 0..4 {
        let mut pair = pair();
        pair.send(Side::Client, Payload::Filler(100));
        pair.run_for(Span::from_secs(1));
        pair.sent.clear();
        let first = std::cell::Cell::new(None);
        pair.on_wire(move |sent| {
            let begin = first.get().unwrap_or(sent.number);
            first.set(Some(begin));
            if sent.number - begin == lost { Fate::Lost } else { Fate::Arrives }
        });
        pair.end(Side::Client);
        pair.run_for(Span::from_millis(50));
        pair.end(Side::Server);
        assert!(pair.run_dry());
        let client = pair.events(Side::Client);
        assert_eq!(client, [Event::PeerClosed, GRACEFUL], "{lost}");
        assert_eq!(pair.events(Side::Server), [Event::PeerClosed, GRACEFUL], "{lost}");
    }
}

/// In TIME-WAIT a repeated FIN is acknowledged again, and restarts the timer (`rfc9293#section-3.10.7.4`,
/// eighth).
#[test]
fn time_wait_acknowledges_a_repeated_fin() {
    let mut pair = pair();
    pair.end(Side::Client);
    pair.run_for(Span::from_millis(50));
    let cut = pair.now + Span::from_secs(10);
    pair.on_wire(move |sent| {
        let last = sent.from == Side::Client && sent.is_bare() && sent.at < cut;
        if last { Fate::Lost } else { Fate::Arrives }
    });
    pair.end(Side::Server);
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.state(Side::Server), None);
    let fins: Vec<_> =
        pair.sent.iter().filter(|sent| sent.from == Side::Server && sent.has(Flags::FIN)).collect();
    assert!(fins.len() >= 3);
    let last = fins.last().unwrap().at;
    let [client, _] = states(&mut pair, Span::from_secs(200));
    assert_eq!(client, [Some(State::TimeWait), None]);
    let gone = last + Span::from_millis(10) + Span::from_secs(60);
    assert!(pair.now >= gone);
}

/// A SYN with the same ends arrives in TIME-WAIT (`rfc9293#section-3.10.7.4`, MAY-2; `rfc6191`).
#[test]
fn new_syn_replaces_a_connection_in_time_wait() {
    for timestamps in [true, false] {
        let config = Config { timestamps, ..Config::qualnet() };
        let mut pair = TcpPair::connected(&config);
        pair.endpoint(Side::Client).listen(true);
        pair.end(Side::Client);
        pair.run_for(Span::from_millis(50));
        pair.end(Side::Server);
        pair.run_for(Span::from_millis(50));
        assert_eq!(pair.state(Side::Client), Some(State::TimeWait));
        assert_eq!(pair.state(Side::Server), None);
        pair.connect(Side::Server);
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.state(Side::Server), Some(State::Established));
        assert_eq!(pair.endpoint(Side::Client).connections().count(), 1);
    }
}

// rfc9293#section-3.10.5 and section 3.10.7.4
#[test]
fn abort_resets_the_peer() {
    let mut pair = pair();
    pair.send(Side::Client, Payload::Filler(100_000));
    pair.run_for(Span::from_millis(15));
    let (now, id) = (pair.now, pair.id(Side::Client));
    pair.endpoint(Side::Client).abort(now, id);
    pair.drain();
    pair.run_for(Span::from_millis(50));
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::LocalAbort }]);
    assert_eq!(pair.events(Side::Server), [Event::Closed { reason: CloseReason::Reset }]);
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), None);
        assert_eq!(pair.endpoint(side).poll_timeout(), None);
    }
}

/// Tests the limit R2 of `rfc9293#section-3.8.3`.
#[test]
fn connection_ends_after_r2_without_an_acknowledgement() {
    let mut pair = pair();
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, Payload::Filler(10_000));
    assert!(!pair.run_dry() || pair.state(Side::Client).is_none());
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::TimedOut }]);
    let sent: Vec<_> = pair.sent.iter().filter(|sent| sent.len > 0).collect();
    // Two segments of the initial window, then one retransmission for each of twelve expiries.
    assert_eq!(sent.len(), 2 + 12);
}

#[test]
fn data_that_arrived_before_the_end_can_still_be_read() {
    let mut pair = pair();
    pair.set_reading(Side::Server, false);
    pair.send(Side::Client, Payload::Filler(3000));
    pair.end(Side::Client);
    pair.run_for(Span::from_millis(100));
    pair.end(Side::Server);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.events(Side::Server), [Event::PeerClosed, GRACEFUL]);
    assert_eq!(pair.state(Side::Server), Some(State::Closed));
    pair.set_reading(Side::Server, true);
    assert_eq!(pair.received_bytes(Side::Server), 3000);
    assert_eq!(pair.state(Side::Server), None);
}
