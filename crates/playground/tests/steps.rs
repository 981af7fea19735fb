//! A run in steps, as the web page performs it, has the same output as a run without steps.

use anabranch_playground::Playground;
use lab::output::RunControl;

const SCENARIO: &str = include_str!("../../../scenarios/two-lines.toml");

fn settings(pairs: &[(&str, &str)]) -> Vec<String> {
    pairs.iter().flat_map(|(key, value)| [(*key).to_owned(), (*value).to_owned()]).collect()
}

/// A short run over two paths, one of which loses packets.
fn short() -> Vec<String> {
    settings(&[
        ("flow.transfer.reset_time", "0 s"),
        ("flow.transfer.stop_time", "3 s"),
        ("link.slow.loss", "0.02"),
    ])
}

fn digest_at_once(settings: &[String]) -> String {
    let pairs = settings.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    let text = lab::scenario::with_values(SCENARIO, pairs).expect("keys of the scenario");
    let sweep = lab::parse(&text, "two-lines.toml").expect("a scenario");
    let output = lab::world::run(&sweep.variants()[0].scenario, 0, &RunControl::default()).expect("it runs");
    format!("{:016x}", output.digest)
}

#[test]
fn steps_of_any_length_and_looking_on_do_not_change_the_digest() {
    let expected = digest_at_once(&short());
    for step in [0.0173, 10.0] {
        let mut playground = Playground::new(SCENARIO, short()).expect("a scenario");
        let mut now = 0.0;
        loop {
            now += step;
            let over = playground.advance(now);
            playground.packets();
            playground.links();
            if over {
                break;
            }
        }
        assert_eq!(playground.digest(), expected);
        assert!(playground.finish().contains(&expected));
    }
    assert_ne!(
        digest_at_once(&settings(&[("flow.transfer.stop_time", "3 s"), ("flow.transfer.reset_time", "0 s")])),
        expected
    );
}

#[test]
fn packets_show_paths_acknowledgements_and_retransmissions() {
    let mut playground = Playground::new(SCENARIO, short()).expect("a scenario");
    let (mut kinds, mut paths, mut waiting) = ([0; 3], [0; 2], 0);
    playground.packets();
    for step in 0..300 {
        playground.advance(f64::from(step) * 0.01);
        let now = playground.now();
        for row in playground.packets().chunks_exact(6) {
            let [direction, start, arrival, flow, path, kind] = row.try_into().expect("six numbers");
            assert!(start < arrival && arrival >= now, "{row:?} at {now}");
            assert_eq!(flow, 0.0);
            assert_eq!(path, (direction / 2.0).floor(), "each line is a path");
            waiting += usize::from(start > now);
            paths[path as usize] += 1;
            kinds[kind as usize] += 1;
            assert!(kind == 2.0 || direction % 2.0 == 0.0, "payload goes to the server only");
        }
    }
    assert!(kinds.iter().all(|&count| count > 0), "payload, retransmissions, control: {kinds:?}");
    assert!(kinds[1] < kinds[0] / 5, "{kinds:?}");
    assert!(paths.iter().all(|&count| count > 0) && waiting > 0);
}

#[test]
fn paths_have_the_names_of_their_links_also_after_the_end() {
    let mut playground = Playground::new(SCENARIO, short()).expect("a scenario");
    assert_eq!(playground.path_names(), "[[]]", "there is no path before the handshake");
    for until in [2.0, 100.0] {
        playground.advance(until);
        assert_eq!(playground.path_names(), r#"[["fast","slow"]]"#);
    }
}

#[test]
fn retransmissions_of_tcp_are_told_apart_from_first_transmissions() {
    let scenario = include_str!("../../../scenarios/tcp-rival.toml");
    let lossy = settings(&[("link.tight.loss", "0.02")]);
    let mut playground = Playground::new(scenario, lossy).expect("a scenario");
    let mut kinds = [[0; 3]; 2];
    for step in 0..1000 {
        playground.advance(f64::from(step) * 0.02);
        for row in playground.packets().chunks_exact(6) {
            kinds[row[3] as usize][row[5] as usize] += 1;
        }
    }
    for [first, again, control] in kinds {
        assert!(again > 0 && again < first / 8 && control > 0, "{kinds:?}");
    }
}

#[test]
fn samples_are_rows_at_regular_times() {
    let mut playground = Playground::new(SCENARIO, short()).expect("a scenario");
    playground.advance(2.0);
    let (paths, flows, links) =
        (playground.path_samples(), playground.flow_samples(), playground.link_samples());
    assert_eq!((paths.len() % 9, flows.len() % 4, links.len() % 7), (0, 0, 0));
    assert_eq!(links.len() / 7, 4 * flows.len() / 4);
    let received: Vec<f64> = flows.chunks_exact(4).map(|row| row[2]).collect();
    assert!(received.is_sorted() && *received.last().expect("samples") > 1e5);
    assert!(
        paths.chunks_exact(9).any(|row| row[2] == 1.0 && row[3] > 0.0 && row[6] > 0.1),
        "the slow path's SRTT"
    );
    assert!(playground.path_samples().is_empty(), "each sample is returned once");
}

#[test]
fn a_wrong_key_or_value_is_an_error_that_says_what_was_expected() {
    let wrong = |key, value| Playground::new(SCENARIO, settings(&[(key, value)])).err().expect("an error");
    assert!(wrong("link.middle.rate", "1 Mbit/s").contains("fast"));
    assert!(wrong("link.fast.rate", "1 parsec").contains("1 parsec"));
}
