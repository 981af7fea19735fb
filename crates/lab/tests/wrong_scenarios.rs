//! Messages about wrong scenario files. Each case changes one thing in a valid file.

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

/// The error message for the file in which `from` is replaced by `to`.
fn answer(from: &str, to: &str) -> String {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from} must appear once in the file");
    anabranch_lab::parse(&RIGHT.replace(from, to), "x.toml").expect_err(to).to_string()
}

#[test]
fn the_unchanged_file_is_valid() {
    let sweep = anabranch_lab::parse(RIGHT, "x.toml").unwrap();
    assert_eq!((sweep.title(), sweep.axes().len(), sweep.variants().len()), ("right", 0, 1));
}

/// Each case is a line with the change (`from => to`), followed by the lines of the message.
/// `ANABRANCH_UPDATE=1 cargo test -p anabranch-lab wrong_scenarios` rewrites the messages; review them.
#[test]
fn each_fault_is_reported_with_its_position_the_expected_value_and_a_similar_word() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrong_scenarios.txt");
    let cases = std::fs::read_to_string(file).expect("the cases are there");
    let mut answered = Vec::new();
    for case in cases.split("\n\n").filter(|case| !case.trim().is_empty()) {
        let change = case.trim().lines().next().expect("a change");
        let (from, to) = change.split_once(" => ").expect(change);
        let unfold = |text: &str| text.replace("\\n", "\n");
        answered.push((case.trim(), format!("{change}\n{}", answer(&unfold(from), &unfold(to)))));
    }
    assert!(answered.len() >= 25, "only {} cases were found", answered.len());
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        let text: Vec<&str> = answered.iter().map(|(_, now)| now.as_str()).collect();
        return std::fs::write(file, text.join("\n\n") + "\n").expect("the cases can be written");
    }
    for (before, now) in answered {
        assert_eq!(now, before);
    }
}
