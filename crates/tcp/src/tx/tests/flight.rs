//! Compares the flight with a simple model that examines every segment at each step.

use super::super::flight::{Flight, SentState};
use proptest::prelude::*;
use units::{Instant, Span};

const SMSS: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Model {
    start: u64,
    end: u64,
    state: SentState,
    copies: u64,
    retransmitted: bool,
    sent_at: u64,
}

impl Model {
    fn in_flight(&self) -> u64 {
        (self.end - self.start) * self.copies
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u64),
    Acknowledge(u64),
    Sack(u64, u64),
    LoseBySack,
    LoseFirst,
    LoseByTime(u64),
    Resend,
    Timeout(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..=SMSS).prop_map(Step::Send),
        2 => (0u64..40).prop_map(Step::Acknowledge),
        4 => (0u64..120, 0u64..60).prop_map(|(from, length)| Step::Sack(from, length)),
        2 => Just(Step::LoseBySack),
        1 => Just(Step::LoseFirst),
        1 => (0u64..9).prop_map(Step::LoseByTime),
        3 => Just(Step::Resend),
        1 => any::<bool>().prop_map(Step::Timeout),
    ]
}

/// IsLost as worded in `rfc6675#section-4`.
fn is_lost(all: &[Model], segment: &Model) -> bool {
    let above = all.iter().filter(|other| other.start > segment.start && other.state == SentState::Sacked);
    let (mut bytes, mut runs, mut last) = (0, 0, 0);
    for other in above {
        bytes += other.end - other.start;
        runs += u64::from(other.start != last);
        last = other.end;
    }
    runs >= 3 || bytes > 2 * SMSS
}

fn apply(step: Step, clock: u64, flight: &mut Flight, model: &mut Vec<Model>, una: &mut u64) {
    let now = Instant::from_nanos(clock);
    match step {
        Step::Send(len) => {
            let start = flight.nxt();
            flight.push(len as u32, false, now);
            let state = SentState::InFlight;
            model.push(Model {
                start,
                end: start + len,
                state,
                copies: 1,
                retransmitted: false,
                sent_at: clock,
            });
        }
        Step::Acknowledge(ahead) => acknowledge(ahead, flight, model, una),
        Step::Sack(from, length) => sack(*una + from, *una + from + length, flight, model),
        Step::LoseBySack => lose_by_sack(flight, model),
        Step::LoseFirst => {
            if let Some(s) = model.first_mut().filter(|s| s.state == SentState::InFlight) {
                flight.lose(flight.first_index());
                (s.state, s.copies) = (SentState::Lost, 0);
            }
        }
        Step::LoseByTime(age) => {
            let before = |at: Instant| at + Span::from_nanos(age) <= now;
            flight.lose_by_time(|sent| before(sent.sent_at));
            for s in model.iter_mut().filter(|s| s.state == SentState::InFlight) {
                if before(Instant::from_nanos(s.sent_at)) {
                    (s.state, s.copies) = (SentState::Lost, 0);
                }
            }
        }
        Step::Resend => {
            let next = model.iter().position(|s| s.state == SentState::Lost);
            assert_eq!(flight.next_lost(), next.map(|n| flight.first_index() + n as u64));
            if let Some(n) = next {
                flight.resend(flight.first_index() + n as u64, now);
                let s = &mut model[n];
                (s.state, s.copies, s.retransmitted, s.sent_at) = (SentState::InFlight, 1, true, clock);
            }
        }
        Step::Timeout(forget) => {
            flight.lose_all(forget, |_| false);
            for s in model.iter_mut().filter(|s| forget || s.state != SentState::Sacked) {
                (s.state, s.copies) = (SentState::Lost, 0);
            }
        }
    }
}

fn acknowledge(ahead: u64, flight: &mut Flight, model: &mut Vec<Model>, una: &mut u64) {
    let to = (*una + ahead).min(flight.nxt());
    let mut told = Vec::new();
    flight.acknowledge(to, |sent, _| told.push(sent.end()));
    *una = to;
    let news = model.iter().filter(|s| s.end <= to && s.state != SentState::Sacked);
    assert_eq!(told, news.map(|s| s.end).collect::<Vec<_>>());
    model.retain(|s| s.end > to);
    model.iter_mut().for_each(|s| s.start = s.start.max(to));
}

fn sack(left: u64, right: u64, flight: &mut Flight, model: &mut [Model]) {
    let bytes = flight.sack(left, right, |_, _| {});
    let mut expected = 0;
    if right <= flight.nxt() {
        let whole = |s: &&mut Model| left <= s.start && s.end <= right && s.state != SentState::Sacked;
        for s in model.iter_mut().filter(whole) {
            expected += s.end - s.start;
            (s.state, s.copies) = (SentState::Sacked, 0);
        }
    }
    assert_eq!(bytes, expected);
}

fn lose_by_sack(flight: &mut Flight, model: &mut [Model]) {
    let boundary = flight.sack_boundary(SMSS);
    for (n, s) in model.iter().enumerate() {
        let below = flight.first_index() + (n as u64) < boundary;
        assert!(s.state == SentState::Sacked || below == is_lost(model, s), "{s:?}");
    }
    flight.lose_by_sack(boundary);
    // The model does not record which segments were examined. So it copies
    // the losses from the flight, and its sums are checked afterwards.
    for (n, s) in model.iter_mut().enumerate() {
        let sent = &flight[flight.first_index() + n as u64];
        if s.state == SentState::InFlight && sent.state == SentState::Lost {
            assert!(!s.retransmitted);
            (s.state, s.copies) = (SentState::Lost, 0);
        } else if s.copies > sent.copies() {
            assert!(s.retransmitted && s.copies == sent.copies() + 1);
            s.copies -= 1;
        }
    }
}

proptest! {
    #[test]
    fn the_flight_agrees_with_a_model(steps in prop::collection::vec(step(), 1..150)) {
        let (mut flight, mut model, mut una) = (Flight::new(1 << 32, true), Vec::new(), 1 << 32);
        for (clock, step) in steps.into_iter().enumerate() {
            apply(step, clock as u64, &mut flight, &mut model, &mut una);
            prop_assert_eq!(flight.in_flight(), model.iter().map(Model::in_flight).sum::<u64>());
            let sacked = model.iter().filter(|s| s.state == SentState::Sacked).count();
            prop_assert_eq!(flight.sacked_segments(), sacked as u64);
            let waiting = model.iter().filter(|s| s.state == SentState::Lost);
            let waiting: u64 = waiting.map(|s| s.end - s.start).sum();
            prop_assert_eq!(flight.size(), flight.nxt() - una - waiting);
            let last = model.iter().rposition(|s| s.state != SentState::Sacked);
            prop_assert_eq!(flight.last_hole(), last.map(|n| flight.first_index() + n as u64));
            let first = model.first().is_some_and(|s| s.state == SentState::Sacked);
            prop_assert_eq!(flight.reneged(), first);
        }
    }
}
