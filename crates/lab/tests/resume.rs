//! Tests of the option `resume` (`rfc9959`): a path that
//! answers again starts from what it carried before it failed.

use anabranch_lab as lab;
use lab::output::RunControl;

/// Throughput in Mbit/s in the half second after the second path of `scenarios/return.toml` answers again.
fn throughput_after_return(resume: &str) -> f64 {
    let text = include_str!("../../../scenarios/return.toml")
        .replace("reset_time = \"5 s\"", "reset_time = \"24.2 s\"")
        .replace("stop_time = \"35 s\"", "stop_time = \"24.7 s\"")
        .replace("\"recommended\"", &format!("\"recommended\"\nresume = \"{resume}\""));
    let sweep = lab::parse(&text, "return.toml").expect("a scenario");
    let output = lab::world::run(&sweep.variants()[0].scenario, 0, &RunControl::default());
    let scalars = output.expect("the scenario can be simulated").scalars;
    let mut whole = scalars.iter().filter(|scalar| scalar.flow == "transfer" && scalar.path.is_none());
    whole.find(|scalar| scalar.quantity == "throughput_bps").expect("a quantity").value / 1e6
}

#[test]
fn a_path_that_returns_carries_its_share_sooner_with_resume() {
    let [off, on] = ["off", "return"].map(throughput_after_return);
    assert!(on > off + 20.0, "{off} Mbit/s without, {on} with");
}
