use super::*;
use crate::paths::{Limits, PathSample};
use proptest::prelude::*;

fn path(id: u8, bytes: u64) -> PathSample {
    PathSample {
        id,
        local: format!("192.0.2.{id}"),
        remote: "2001:db8::1".to_owned(),
        state: "active",
        user_bytes: bytes,
        data_packets: bytes / 1000,
        retransmissions: 3,
        timeouts: 1,
        srtt: (id == 0).then_some(0.025),
        cwnd: 30_000,
        mtu: 1500,
        limits: Limits::default(),
    }
}

fn sample(at: f64, bytes: u64) -> PeerSample {
    let paths = vec![path(0, bytes), path(1, 2 * bytes)];
    PeerSample { at, associations: vec![(4, Association { limits: Limits::default(), paths })] }
}

fn take(samples: &mut Samples, text: &[u8], size: usize) {
    for piece in text.chunks(size) {
        samples.take(&Message::Results { last: false, piece });
    }
    samples.take(&Message::Results { last: true, piece: &[] });
}

#[test]
fn a_sample_in_pieces_is_read_as_it_was_written() {
    let mut samples = Samples::default();
    take(&mut samples, sample(0.5, 1000).to_text().as_bytes(), 100);
    assert_eq!(samples.latest(), Some(sample(0.5, 1000)));
}

#[test]
fn a_part_of_the_measurement_is_the_difference_of_two_samples() {
    let mut samples = Samples::default();
    assert_eq!(samples.between(None, samples.latest().as_ref(), &[Some(4)]), None);
    take(&mut samples, sample(0.5, 1000).to_text().as_bytes(), 1400);
    assert_eq!(samples.between(None, samples.latest().as_ref(), &[Some(4)]), None, "no time has passed");
    take(&mut samples, sample(2.0, 5000).to_text().as_bytes(), 1400);
    // A report that is older than the latest one, and an invalid text, change nothing.
    take(&mut samples, sample(1.0, 3000).to_text().as_bytes(), 1400);
    take(&mut samples, b"{", 1400);
    let paths = samples.between(None, samples.latest().as_ref(), &[None, Some(4), Some(9)]);
    let paths = paths.expect("time has passed");
    assert_eq!((paths.from, paths.to), (0.5, 2.0));
    let bytes = |place: usize| {
        let paths: Vec<_> = paths.associations[place].paths.iter().map(|path| path.user_bytes).collect();
        paths
    };
    assert_eq!([bytes(0), bytes(1), bytes(2)], [vec![], vec![4000, 8000], vec![]]);
}

#[test]
fn a_sample_that_is_too_long_is_left_out_and_the_next_one_is_read() {
    let mut samples = Samples::default();
    let mut text = sample(1.0, 1).to_text();
    text += &" ".repeat(2 * LONGEST);
    take(&mut samples, text.as_bytes(), 60_000);
    assert_eq!(samples.latest(), None);
    assert!(samples.pending.is_empty());
    take(&mut samples, sample(2.0, 1).to_text().as_bytes(), 1400);
    assert_eq!(samples.latest(), Some(sample(2.0, 1)));
}

#[test]
fn paths_with_wrong_values_are_left_out() {
    let good = sample(1.0, 1).to_text();
    for (from, to) in
        [("192.0.2.0", "\\u001b[31m"), ("\"path\":0", "\"path\":256"), ("\"timeouts\":1", "\"timeouts\":-1")]
    {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        let read = PeerSample::read(bad.as_bytes()).expect("a sample");
        assert_eq!(read.associations[0].1.paths, [path(1, 2)], "{bad}");
    }
    let state = good.replace("active", "on fire");
    let read = PeerSample::read(state.as_bytes()).expect("a sample");
    assert_eq!(read.associations[0].1.paths[0].state, "unknown");
}

proptest! {
    #[test]
    fn samples_of_strangers_never_panic(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..4),
    ) {
        let mut text: Vec<char> = sample(1.0, 1).to_text().chars().collect();
        for (at, letter) in cuts {
            let place = at.index(text.len());
            text[place] = letter;
        }
        let text: String = text.into_iter().collect();
        let mut samples = Samples::default();
        take(&mut samples, sample(0.0, 0).to_text().as_bytes(), 1400);
        take(&mut samples, text.as_bytes(), 1400);
        let latest = samples.latest();
        samples.between(None, latest.as_ref(), &[Some(4)]);
    }
}
