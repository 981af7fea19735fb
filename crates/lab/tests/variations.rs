//! Variations that advance together, and random start times.

use anabranch_lab as lab;
use lab::output::RunControl;
use lab::scenario::{AxisValue, Sweep};

const NETWORK: &str = r#"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "1 Mbit/s"
"#;

/// A flow with these keys.
fn flow(keys: &str) -> String {
    format!(
        "{NETWORK}[[flow]]\nname = \"f\"\nclient = \"a\"\nserver = \"b\"\nstop_time = \"2 s\"\nreset_time = \"0 s\"\n{keys}\n\
         [tcp.plain]\n[tcp.ecn]\necn = true\n"
    )
}

fn values(text: &str) -> Vec<AxisValue> {
    lab::parse(text, "x.toml").expect("is right").axes()[0].values.clone()
}

fn labels(text: &str) -> Vec<String> {
    values(text).iter().map(ToString::to_string).collect()
}

#[test]
fn variations_that_advance_together_have_labels_that_tell_them_apart() {
    let protocol = "protocol = { name = \"case\", vary = [\"TCP\", \"TCP\", \"SCTP\"] }";
    let tcp = "tcp = { name = \"case\", vary = [\"plain\", \"ecn\", \"ecn\"] }";
    let found = labels(&flow(&format!("{protocol}\n{tcp}")));
    assert_eq!(found, ["TCP, plain", "TCP, ecn", "SCTP, ecn"]);
    // The labels are only the values of the first variation if these are distinct.
    assert_eq!(labels(&flow(&format!("{tcp}\n{protocol}"))), ["plain, TCP", "ecn, TCP", "ecn, SCTP"]);
    let numbers = "frame_rate = { name = \"case\", vary = [\"1 Hz\", \"2 Hz\", \"3 Hz\"] }";
    assert_eq!(labels(&flow(&format!("{numbers}\n{protocol}\n{tcp}"))), ["1 Hz", "2 Hz", "3 Hz"]);
    let mut sweep = lab::parse(&flow(&format!("{protocol}\n{tcp}")), "x.toml").expect("is right");
    sweep.restrict("case", "TCP, ecn").expect("is a value of the axis");
    assert!(sweep.variants()[0].scenario.flows[0].client_tcp.ecn);
    assert_eq!(sweep.variants()[0].number, 1);
}

#[test]
fn variations_that_cannot_be_told_apart_are_refused() {
    let refused = |keys: &str| lab::parse(&flow(keys), "x.toml").expect_err("two are equal").to_string();
    let error = refused("unordered = { vary = [0, 0.5, 0.0] }");
    assert!(
        error.contains("variations 1 and 3 of axis \"flow.f.unordered\" are both \"0\"")
            && error.contains("x.toml:15:13:"),
        "{error}"
    );
    let protocol = "protocol = { name = \"case\", vary = [\"TCP\", \"TCP\"] }";
    let error = refused(&format!("{protocol}\ntcp = {{ name = \"case\", vary = [\"ecn\", \"ecn\"] }}"));
    assert!(error.contains("variations 1 and 2 of axis \"case\" are both \"TCP, ecn\""), "{error}");
}

#[test]
fn an_axis_of_quantities_of_one_kind_has_numbers_in_the_base_unit() {
    let unit = |values: &str| {
        let sweep =
            lab::parse(&flow(&format!("stop = {values}")).replace("stop = ", "start_time = "), "x.toml");
        sweep.expect("is right").axes()[0].unit()
    };
    assert_eq!(unit("{ vary = [\"10 ms\", \"1 s\"] }"), Some("s"));
    let numbers: Vec<_> = values(&flow("start_time = { vary = [\"10 ms\", \"1 s\"] }"))
        .iter()
        .filter_map(AxisValue::in_base_unit)
        .collect();
    assert_eq!(numbers, [(0.01, "s"), (1.0, "s")]);
    assert_eq!(unit("{ vary = [\"10 ms\", { uniform = [\"0 s\", \"1 s\"] }] }"), None);
}

fn digest(sweep: &Sweep, replica: u32) -> (u64, f64) {
    let output =
        lab::world::run(&sweep.variants()[0].scenario, replica, &RunControl::default()).expect("runs");
    let sent =
        output.scalars.iter().find(|scalar| scalar.quantity == "sent_user_bytes" && scalar.path.is_none());
    (output.digest, sent.expect("is measured").value)
}

#[test]
fn a_start_time_is_drawn_from_the_seed() {
    let parsed = |start: &str| {
        let text = flow(&format!("connect_time = \"0 s\"\nframe_rate = \"10 Hz\"\nstart_time = {start}"));
        lab::parse(&text, "x.toml").expect("is right")
    };
    let random = parsed("{ uniform = [\"1 s\", \"2 s\"] }");
    assert_eq!(digest(&random, 0), digest(&random, 0));
    assert_ne!(digest(&random, 0).0, digest(&random, 1).0);
    let mut other = parsed("{ uniform = [\"1 s\", \"2 s\"] }");
    other.set_seed(7);
    assert_ne!(digest(&random, 0).0, digest(&other, 0).0);
    // A uniform distribution of width zero equals the constant, and does not change other draws. A flow sends
    // for `stop_time` after any start.
    let constant = parsed("\"1 s\"");
    let narrow = parsed("{ uniform = [\"1 s\", \"1 s\"] }");
    assert_eq!(digest(&narrow, 3), digest(&constant, 3));
    assert_eq!(digest(&random, 5).1, digest(&constant, 5).1);
}
