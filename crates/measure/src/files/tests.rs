use super::*;
use crate::npmp::{Data, FlowId};
use crate::spec::{FlowSpec, Transport};

fn flow() -> Flow {
    let spec = FlowSpec::new(Transport::Tcp);
    let flow = Flow::new(FlowId { measurement: 1, flow: 3, stream: 0 }, spec, None);
    flow.sent(100, true);
    flow.received(&Data { end: true, ..Data::default() }, 48);
    flow
}

#[test]
fn scalars_can_be_read_again() {
    let mut text = Vec::new();
    scalars(&mut text, "passive", [&flow()].into_iter(), (10, 2_000_010)).expect("memory");
    let text = String::from_utf8(text).expect("text");
    let value = |object, name| {
        let scalars = read_scalars(&text, object);
        scalars.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    };
    assert_eq!(value("passive.flow[3]", "Transmitted Bytes"), Some(100.0));
    assert_eq!(value("passive.flow[3]", "Received Frames"), Some(1.0));
    assert_eq!(value("passive.flow[3]", "Lost Packets"), Some(0.0));
    assert_eq!(value("passive.total", "Transmitted Byte Rate"), Some(50.0));
    assert_eq!(value("passive.flow[30]", "Received Frames"), None);
    assert!(
        text.starts_with("scalar \"netPerfMeter.passive.flow[3]\" \"First Transmission\"     1"),
        "{text}"
    );
}

#[test]
fn scalars_of_strangers_never_panic() {
    let text = "scalar \"netPerfMeter.x\" \"a\" nan\nscalar \"netPerfMeter.x\" \"b\nscalar \"netPerfMeter.x\"\nscalar \"netPerfMeter.x\" \"c\" 1";
    assert_eq!(read_scalars(text, "x"), [("c", 1.0)]);
}

#[test]
fn the_vector_of_a_measurement_has_three_rows_for_each_flow_and_three_for_the_sum() {
    let flow = flow();
    let none = Snapshot { time: 1_000_000, counters: vec![Counters::default()] };
    let all = Snapshot { time: 2_500_000, counters: vec![flow.counters()] };
    let mut text = Vec::new();
    total_vector(&mut text, &[(3, "Alpha".to_owned())], &[none, all]).expect("memory");
    let text = String::from_utf8(text).expect("text");
    let rows: Vec<_> = text.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 6);
    assert_eq!(rows[1], "000001 1000000 0.000000 0.000000\t3 \"Alpha\" 0.000\t\"Sent\"     0 0 0\t0 0 0");
    assert!(rows[7].starts_with("000007 2500000 1.500000 1.500000\t3 \"Alpha\""), "{}", rows[7]);
    assert!(rows[7].ends_with("\t\"Sent\"     100 1 1\t100 1 1"), "{}", rows[7]);
    assert!(rows[11].ends_with("\t-1 \"Total\" 0\t\"Received\" 48 1 1\t48 1 1"), "{}", rows[11]);
}

#[test]
fn the_vector_of_a_flow_has_a_row_for_each_message() {
    let arrival = |time, end| Arrival { time, sequence: 5, bytes: 400, end, delay: [0.5, -0.25, 0.125] };
    let mut text = Vec::new();
    flow_vector(&mut text, 1_000_000, &[arrival(1_000_100, false), arrival(1_200_000, true)])
        .expect("memory");
    let text = String::from_utf8(text).expect("text");
    let rows: Vec<_> = text.lines().collect();
    assert_eq!(rows[1], "000001 1000100 0.000100 5\t400 1 0\t400 1 0\t0.500 -0.250 0.125");
    assert_eq!(rows[2], "000002 1200000 0.200000 5\t800 2 1\t400 1 1\t0.500 -0.250 0.125");
}
