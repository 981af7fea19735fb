//! An outage of all paths: the number of packets that a sender sends, and the number of its timer expiries.

use anabranch_sctp::{BufferSide, Cmt, Config, Message, PathSelection, Payload, Reinjection, RtxPolicy};
use proptest::prelude::*;
use proptest::sample::select;
use testkit::*;
use transport::PacketBuf;
use units::Span;

/// Data that the client sends in the outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// One message of 500 bytes.
    OneMessage,
    /// As many messages as fit into the send buffer, given to a client that was idle.
    Burst,
    /// Like `Burst`, but for eight round trips before, the buffer was never empty: every cwnd is fully used.
    FullWindow,
}

/// Counters of a client during the outage.
#[derive(Clone, Copy, Debug, Default)]
struct Outage {
    packets: usize,
    /// Calls of `handle_timeout` by the test.
    wakes: usize,
    /// Packets that cwnd of all paths allows at the start of the outage. All of them are sent; pacing delays
    /// them.
    room: usize,
    /// Packets in flight at the start of the outage.
    in_flight: usize,
}

const LASTS: Span = Span::from_secs(10);

/// More calls of `handle_timeout` than this count as a livelock, and end the run.
const LIMIT: usize = 10_000;

/// Two endpoints with `nets` paths of round-trip time `rtt` carry data for three seconds. Then all
/// packets are lost for 10 s.
fn outage(config: &Config, nets: u8, rtt: Span, load: Load) -> Outage {
    let mut pair = Pair::new(nets, config);
    pair.set_delay(rtt / 2);
    let (client, _) = pair.establish();
    let message = |length| Message::new(Payload::Filler(length));
    let mut rounds = |rounds: usize, messages: usize, round: Span| {
        for _ in 0..rounds {
            let now = pair.now;
            let mut left = messages;
            while left > 0 && pair.endpoint(Side::Client).send(now, client, message(1400)).is_ok() {
                left -= 1;
            }
            pair.drain();
            pair.run_for(round);
            pair.read_all(Side::Server);
        }
    };
    rounds(30, 40, Span::from_millis(100));
    rounds(1, 0, Span::from_secs(1));
    if load == Load::FullWindow {
        rounds(8, usize::MAX, rtt);
    }
    let mut now = pair.now;
    let endpoint = pair.endpoint(Side::Client);
    match load {
        Load::OneMessage => {
            endpoint.send(now, client, message(500)).expect("there is room");
        }
        Load::Burst | Load::FullWindow => while endpoint.send(now, client, message(1400)).is_ok() {},
    }
    let (end, mut done, mut buf) = (now + LASTS, Outage::default(), PacketBuf::default());
    if load != Load::OneMessage {
        for path in endpoint.paths(client).expect("it exists") {
            done.room += ((path.cwnd - path.flight).get() / 1400) as usize;
            done.in_flight += (path.flight.get() / 1400) as usize;
        }
    }
    loop {
        while endpoint.poll_transmit(now, &mut buf).is_some() {
            done.packets += 1;
        }
        match endpoint.poll_timeout().filter(|&at| at <= end && done.wakes < LIMIT) {
            Some(at) => now = now.max(at),
            None => return done,
        }
        endpoint.handle_timeout(now);
        done.wakes += 1;
    }
}

const MS: Span = Span::from_millis(1);

#[test]
fn an_outage_of_all_paths_costs_at_most_three_times_the_packets_of_the_rfc_defaults() {
    for load in [Load::OneMessage, Load::Burst, Load::FullWindow] {
        for rtt in [Span::ZERO, MS / 10, MS, MS * 2, MS * 20] {
            for nets in [2, 3] {
                let standard = outage(&Config::default(), nets, rtt, load);
                // A lean SACK (short and late) waits for four packets, an ordinary SACK for two: two more are
                // in flight.
                let unanswered = if load == Load::FullWindow { 2 } else { 0 };
                for &reinjection in Reinjection::ALL {
                    let recommended = Config::recommended();
                    let cmt = Cmt { reinjection, ..recommended.cmt.clone() };
                    let found = outage(&Config { cmt, ..recommended }, nets, rtt, load);
                    let case = format!(
                        "{load:?}, {nets} paths of {rtt}, {reinjection}: {found:?}, defaults: {standard:?}"
                    );
                    // With pacing a whole cwnd is sent without an answer, and each of its packets may be
                    // copied.
                    let more_room = found.room.saturating_sub(standard.room);
                    // If no path counts as silent, only the maximum number of copies per chunk limits the
                    // copies.
                    let silent = !matches!(reinjection, Reinjection::Blocked);
                    let copies = if silent { 0 } else { 3 * (found.in_flight + found.room) };
                    let most = 3 * standard.packets + unanswered + 2 * more_room + copies;
                    assert!(found.packets <= most, "{case}");
                    // With pacing, a timer runs the sender for each packet, and once more if no packet may be
                    // sent then.
                    assert!(found.wakes <= 30 + 2 * found.packets, "{case}");
                }
            }
        }
    }
}

fn config() -> impl Strategy<Value = Config> {
    let choices = (
        select(Reinjection::ALL),
        select(PathSelection::ALL),
        select(RtxPolicy::ALL),
        select(BufferSide::ALL),
        select(BufferSide::ALL),
        select(cc::Algorithm::ALL),
    );
    let failing = prop::option::of(0u32..3);
    let rto_min = select(vec![Span::from_nanos(1), Span::from_micros(100), MS * 10, MS * 1000]);
    let switches = prop::array::uniform4(any::<bool>());
    (choices, failing, rto_min, switches).prop_map(
        |((reinjection, path_selection, rtx, rescheduling, split, algorithm), failing, rto_min, on)| {
            let cmt = Cmt {
                enabled: true,
                reinjection,
                path_selection,
                rtx,
                rescheduling,
                buffer_split: split,
                keep_room: on[0],
                rtt_heuristic: on[1],
                ..Cmt::default()
            };
            Config {
                cmt,
                congestion_control: algorithm.into(),
                potentially_failed: failing,
                rto_min,
                nagle: on[2],
                bundling: on[3],
                send_buffer: units::ByteCount::new(200_000).into(),
                association_max_retrans: 10_000,
                ..Config::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// From the minimum RTO (1 ns) to 60 s the RTO doubles 36 times on each of three paths, and each chunk is
    /// copied at most three times.
    #[test]
    fn an_outage_wakes_no_sender_without_end(
        config in config(),
        rtt in select(vec![Span::ZERO, MS / 10, MS * 20]),
        load in select(vec![Load::OneMessage, Load::Burst, Load::FullWindow]),
    ) {
        let found = outage(&config, 3, rtt, load);
        prop_assert!(found.wakes <= 1000 && found.packets <= 1500, "{found:?}");
    }
}
