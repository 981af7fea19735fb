//! Changes of links and flows during a run.

use crate::common::{disjoint_paths, run, saturated_flow};
use anabranch_lab::scenario::*;
use net::ChannelChange;
use units::{BitRate, Instant, Probability, Span};

fn at(seconds: u64) -> Trigger {
    Trigger::At(Instant::ZERO + Span::from_secs(seconds))
}

/// One flow over a link of 10 Mbit/s, which has index 1 in the list of links.
fn scenario(control: cc::Algorithm, changes: Vec<RunChange>) -> Scenario {
    let mut flow = saturated_flow("flow");
    flow.client_options.congestion_control = control.into();
    Scenario { flows: vec![flow], changes, ..disjoint_paths(BitRate::from_mbps(10), 1) }
}

fn link(trigger: Trigger, lasts: Option<Span>, new: ChannelChange, first: ChannelChange) -> RunChange {
    RunChange { trigger, lasts, effect: Effect::Link { link: 1, back: false, new, first } }
}

fn slower(trigger: Trigger, lasts: Option<Span>) -> RunChange {
    let rate = |mbps| ChannelChange { rate: Some(BitRate::from_mbps(mbps)), ..ChannelChange::default() };
    link(trigger, lasts, rate(2), rate(10))
}

/// The payload that the server received in Mbit/s, from 6 s to 31 s of the run.
fn goodput(scenario: &Scenario) -> f64 {
    let output = run(scenario);
    let found = output.scalars.iter().find(|one| one.quantity == "throughput_bps" && one.path.is_none());
    found.expect("the flow is measured").value / 1e6
}

#[test]
fn a_link_that_could_change_carries_packets_as_one_that_cannot() {
    let never = slower(at(1000), None);
    let plain = run(&scenario(cc::Algorithm::Cubic, Vec::new()));
    let ready = run(&scenario(cc::Algorithm::Cubic, vec![never]));
    assert_eq!(plain.digest, ready.digest);
}

#[test]
fn the_rate_changes_at_its_time_and_returns_after_for() {
    let whole = goodput(&scenario(cc::Algorithm::Cubic, Vec::new()));
    // 25 s are measured, 10 s of them at a fifth of the rate: (15 + 10/5)/25 = 0.68.
    let part = goodput(&scenario(cc::Algorithm::Cubic, vec![slower(at(10), Some(Span::from_secs(10)))]));
    assert!((part / whole - 0.68).abs() < 0.03, "{part} of {whole} Mbit/s");
    let rest = goodput(&scenario(cc::Algorithm::Cubic, vec![slower(at(0), None)]));
    assert!((rest / whole - 0.2).abs() < 0.02, "{rest} of {whole} Mbit/s");
}

#[test]
fn a_longer_delay_and_losses_apply_to_the_packets_that_follow() {
    let delay = |ms| ChannelChange { delay: Some(Span::from_millis(ms)), ..ChannelChange::default() };
    let later = run(&scenario(cc::Algorithm::Bbr, vec![link(at(3), None, delay(51), delay(1))]));
    let srtt = later.scalars.iter().find(|one| one.quantity == "srtt_s").map(|one| one.value);
    assert!(srtt.is_some_and(|srtt| srtt > 0.05), "{srtt:?}");
    let lossy = ChannelChange { loss: Some(Probability::ONE), ..ChannelChange::default() };
    let none = goodput(&scenario(cc::Algorithm::Cubic, vec![link(at(5), None, lossy, lossy)]));
    assert_eq!(none, 0.0);
}

#[test]
fn a_change_waits_for_the_entry_into_a_state() {
    let entry = |state, entry| Trigger::Entry { flow: 0, path: 0, state, entry, after: Span::ZERO };
    let bbr = |changes| scenario(cc::Algorithm::Bbr, changes);
    let plain = goodput(&bbr(Vec::new()));
    let slow = goodput(&bbr(vec![slower(entry(cc::ModelState::Down, 1), None)]));
    assert!(slow < 0.3 * plain, "{slow} of {plain} Mbit/s");
    // If the path never enters the state that often, nothing changes, and a warning says so.
    let never = run(&bbr(vec![slower(entry(cc::ModelState::Drain, 1000), None)]));
    assert_eq!(never.digest, run(&bbr(Vec::new())).digest);
    assert!(never.warnings.iter().any(|warning| warning.contains("did not happen")), "{:?}", never.warnings);
    let same = bbr(vec![slower(entry(cc::ModelState::Cruise, 2), Some(Span::from_secs(1)))]);
    assert_eq!(run(&same).digest, run(&same).digest);
}

#[test]
fn a_saturated_flow_becomes_a_paced_one_and_saturated_again() {
    let frames = Pace::Frames(Distribution::Constant(Hertz::new(100.0).expect("a frequency")));
    let effect = Effect::Pace { flow: 0, new: frames, first: Pace::Saturated };
    let whole = goodput(&scenario(cc::Algorithm::Cubic, Vec::new()));
    let forever = RunChange { trigger: at(3), lasts: None, effect: effect.clone() };
    // 100 messages of 1452 bytes a second.
    let paced = goodput(&scenario(cc::Algorithm::Cubic, vec![forever]));
    assert!((paced - 1.1616).abs() < 0.02, "{paced} Mbit/s");
    let for_ten = RunChange { trigger: at(10), lasts: Some(Span::from_secs(10)), effect };
    let part = goodput(&scenario(cc::Algorithm::Cubic, vec![for_ten]));
    let expected = (15.0 * whole + 10.0 * 1.1616) / 25.0;
    assert!((part / expected - 1.0).abs() < 0.15, "{part} of {expected} Mbit/s");
}
