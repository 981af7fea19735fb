//! A path fails without an ICMP message (after rfc8985#section-7, rfc7829).

use anabranch_sctp::{BufferSide, Cmt, Config, Message, PathSelection, PathState, Payload, Reinjection};
use testkit::*;
use units::{Instant, Span};

/// Runs two endpoints with two paths of 20 ms RTT and a full send buffer. After one second, network 1 loses
/// all packets for the time `outage`. Returns the longest time without data to read, and the pair 20 s after
/// the outage.
fn outage(config: &Config, outage: Span) -> (Span, Pair) {
    let fate = move |sent: &Sent, dies: Instant| {
        let dead = sent.net() == 1 && (dies..dies + outage).contains(&sent.at);
        if dead { Fate::Lost } else { Fate::Arrives }
    };
    transfer(config, Span::from_secs(20) + outage, fate)
}

/// Like [`outage`], but runs for `time` after the first second. `fate` gets each packet and the start of
/// `time`.
fn transfer(config: &Config, time: Span, fate: impl Fn(&Sent, Instant) -> Fate + 'static) -> (Span, Pair) {
    let mut pair = Pair::new(2, config);
    let (client, _) = pair.establish();
    pair.set_delay(ms(10));
    let begin = pair.now + ms(1000);
    pair.on_wire(move |sent| fate(sent, begin));
    let (mut last, mut longest) = (pair.now, Span::ZERO);
    while pair.now < begin + time {
        let now = pair.now;
        let message = || Message::new(Payload::Filler(1400));
        while pair.endpoint(Side::Client).send(now, client, message()).is_ok() {}
        pair.drain();
        pair.run_for(ms(1));
        if !pair.read_all(Side::Server).is_empty() {
            longest = longest.max(pair.now.since(last));
            last = pair.now;
        }
    }
    (longest, pair)
}

/// The recommended options with small buffers. Paths alternate, because one path could carry all data.
fn recommended() -> Config {
    let (buffer, recommended) = (units::ByteCount::new(65_536), Config::recommended());
    let cmt = Cmt { path_selection: PathSelection::RoundRobin, ..recommended.cmt.clone() };
    Config { receive_buffer: buffer.into(), send_buffer: buffer.into(), cmt, ..recommended }
}

fn first_heartbeat(pair: &Pair, after: Instant) -> Instant {
    let of = |sent: &&Sent| {
        sent.from == Side::Client && sent.net() == 1 && sent.at > after && sent.chunks().contains("HEARTBEAT")
    };
    pair.sent.iter().find(of).expect("a heartbeat").at
}

#[test]
fn the_other_path_goes_on_and_the_dead_one_is_used_again() {
    let began = Pair::new(2, &recommended()).now;
    let (stall, mut pair) = outage(&recommended(), Span::from_secs(5));
    assert!(stall < ms(300), "{stall}");
    let client = pair.only(Side::Client);
    let states: Vec<PathState> =
        pair.endpoint(Side::Client).paths(client).unwrap().map(|path| path.state).collect();
    assert_eq!(states, [PathState::Active; 2]);
    let data = |net, from: u64| {
        let of =
            |sent: &&Sent| sent.net() == net && sent.at > began + ms(from) && sent.chunks().contains("DATA");
        pair.sent.iter().filter(of).count()
    };
    assert!(data(1, 20_000) > 1000 && data(2, 2000) > 100, "{} {}", data(1, 20_000), data(2, 2000));
    let asked = first_heartbeat(&pair, began + ms(1010));
    assert!(asked < began + ms(1300), "{asked}");
}

/// SACKs arrive on the other path, so the peer is alive. Heartbeats to the silent path are repeated after a
/// probe timeout, and later after a quarter of the time since the first heartbeat, until the RTO has passed.
#[test]
fn the_heartbeat_to_a_silent_path_is_repeated() {
    let began = Pair::new(2, &recommended()).now;
    let (_, pair) = outage(&recommended(), Span::from_secs(5));
    let asked = first_heartbeat(&pair, began + ms(1010));
    let of = |sent: &&Sent| {
        let times = asked..asked + ms(900);
        sent.from == Side::Client
            && sent.net() == 1
            && times.contains(&sent.at)
            && sent.chunks().contains("HEARTBEAT")
    };
    let waits: Vec<Span> = pair.sent.iter().filter(of).map(|sent| sent.at.since(asked)).collect();
    let timeout = waits[1];
    assert!(timeout < ms(100), "{waits:?}");
    for pair in waits[1..].windows(2) {
        let next = pair[0] + timeout.max(pair[0] / 4);
        assert!(pair[1] + ms(2) >= next && pair[1] <= next + ms(2), "{waits:?}");
    }
    assert!(*waits.last().unwrap() > ms(700), "{waits:?}");
}

/// The RTT of the other path is so long that the first SACK of a copy arrives after the next heartbeat was
/// due.
#[test]
fn a_silent_path_is_asked_again_once_sacks_come() {
    let config = Config { cmt: Config::recommended().cmt, ..recommended() };
    let fate = |sent: &Sent, dies: Instant| match (sent.net(), sent.from) {
        (1, Side::Client) if (dies..dies + ms(500)).contains(&sent.at) => Fate::Lost,
        (1, _) => Fate::Arrives,
        _ => Fate::Late(ms(150)),
    };
    let (_, pair) = transfer(&config, ms(800), fate);
    let end = pair.now;
    let data = |sent: &&Sent| sent.net() == 1 && sent.at + ms(150) > end && sent.chunks().contains("DATA");
    assert!(pair.sent.iter().filter(data).count() > 100);
}

/// Without copies, all data waits until T3-rtx expires.
#[test]
fn without_reinjection_all_paths_wait_for_t3() {
    let mut config = recommended();
    config.cmt.reinjection = Reinjection::None;
    config.cmt.rescheduling = BufferSide::None;
    let (stall, _) = outage(&config, Span::from_secs(5));
    assert!(stall > ms(900), "{stall}");
}
