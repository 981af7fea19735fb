//! What a wrong scenario file is answered with. Each case changes one thing in a right file.

use anabranch_lab::scenario::Sweep;

const RIGHT: &str = r#"title = "right"
seed = 1
[[node]]
name = "client"
jitter = "20 us"
[[node]]
name = "router"
kind = "router"
[[node]]
name = "server"
[[link]]
between = ["client", "router"]
net_id = 1
rate = "1 Gbit/s"
[[link]]
between = ["router", "server"]
net_id = 1
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "red", min = 20, max = 80 }
[sctp.base]
sack_delay = "200 ms"
[sctp.cmt]
inherit = "base"
cmt = { enabled = true, cuc = "v2" }
[[flow]]
name = "transfer"
client = "client"
server = "server"
sctp = "cmt"
start_time = "1 s"
frame_rate = "0 Hz"
[[probe]]
quantity = "cwnd"
flow = "transfer"
[[capture]]
link = "router-server"
file = "bottleneck.pcapng"
"#;

/// What the file is answered with once `from` has been replaced by `to`.
fn answer(from: &str, to: &str) -> String {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from} stands in the file once");
    Sweep::parse(&RIGHT.replace(from, to), "x.toml").expect_err(to).to_string()
}

#[test]
fn the_file_itself_is_right() {
    let sweep = Sweep::parse(RIGHT, "x.toml").unwrap();
    assert_eq!((sweep.title(), sweep.axes().len(), sweep.variants().len()), ("right", 0, 1));
}

/// Lines of a change (`from => to`) and of the answer, which may have several.
#[test]
fn every_fault_is_answered_with_its_place_what_was_expected_and_the_nearest_word() {
    let cases = include_str!("wrong_scenarios.txt");
    let mut checked = 0;
    for case in cases.split("\n\n").filter(|case| !case.trim().is_empty()) {
        let (change, expected) = case.trim().split_once('\n').expect(case);
        let (from, to) = change.split_once(" => ").expect(change);
        let unfold = |text: &str| text.replace("\\n", "\n");
        assert_eq!(answer(&unfold(from), &unfold(to)), expected.trim_end(), "\n{change}");
        checked += 1;
    }
    assert!(checked >= 25, "only {checked} cases were found");
}
