//! `[[latency]]`: round-trip times of probes beside a load.

use anabranch_lab as lab;
use lab::output::RunOutput;
use lab::scenario::Scenario;
use lab::statistics::grade;
use lab::world::run;

/// Bursts of 50 packets, each of which takes 1 ms on the line, every 100 ms from 2.02 s to 6 s, and 20 probes
/// a second beside them, measured from 3 s on.
const BURSTS: &str = r#"
    title = "Bursts"
    node = [{ name = "a" }, { name = "b" }]
    [[link]]
    name = "line"
    between = ["a", "b"]
    rate = "12 Mbit/s"
    delay = "50 ms"
    framing = 7
    [[flow]]
    name = "bursts"
    client = "a"
    server = "b"
    protocol = "UDP"
    start_time = "2.02 s"
    reset_time = "0.98 s"
    stop_time = "3.98 s"
    frame_rate = "10 Hz"
    frame_size = "73250 B"
    max_msg_size = "1465 B"
    [[latency]]
    client = "a"
    server = "b"
    rate = 20
"#;

fn scenario(text: &str) -> Scenario {
    let sweep = lab::parse(text, "latency.toml").unwrap_or_else(|error| panic!("{}", error.render()));
    sweep.variants()[0].scenario.clone()
}

fn output(text: &str) -> RunOutput {
    run(&scenario(text), 0, &lab::output::RunControl::default()).expect("a run")
}

fn find(output: &RunOutput, flow: &str, quantity: &str) -> Option<f64> {
    let mut rows = output.scalars.iter().filter(|row| row.flow == flow && row.window.is_empty());
    rows.find(|row| row.quantity == quantity).map(|row| row.value)
}

fn value(output: &RunOutput, flow: &str, quantity: &str) -> f64 {
    find(output, flow, quantity).unwrap_or_else(|| panic!("{quantity} of {flow}"))
}

/// A datagram of 64 bytes is 99 bytes on the line, which take 66 us: the round-trip time is 100.132 ms. Every
/// second probe comes 30 ms after a burst began and waits for 20 packets: 120.132 ms. The others find no
/// queue.
#[test]
fn a_probe_waits_as_long_as_the_packets_before_it_take() {
    let output = output(BURSTS);
    assert_eq!(output.warnings, Vec::<String>::new());
    let near = |quantity: &str, expected: f64| {
        let found = value(&output, "latency", quantity);
        assert!((found - expected).abs() < 1e-9, "{quantity}: {found} in place of {expected}");
        found
    };
    near("echo_rtt_idle_p50_s", 0.100132);
    near("echo_rtt_p50_s", 0.100132);
    near("echo_rtt_p95_s", 0.120132);
    near("echo_rtt_p99_s", 0.120132);
    assert_eq!(grade(near("echo_rtt_added_s", 0.02)), "A");
    // The last two of the 60 probes return after the flow has stopped.
    assert_eq!((value(&output, "latency", "offered_messages"), near("echoes_lost", 0.0)), (60.0, 0.0));
    let series: Vec<_> = output.series.iter().filter(|series| series.quantity == "probe-rtt").collect();
    assert_eq!((series.len(), series[0].flow.as_str(), series[0].points.len()), (1, "latency", 120));
    let waits: Vec<_> = series[0].points[60..].iter().map(|&(_, rtt)| ((rtt - 0.1) * 1e3).floor()).collect();
    assert_eq!(waits, [0.0, 20.0].repeat(30));
}

#[test]
fn probes_do_not_count_among_all_flows() {
    let output = output(BURSTS);
    assert_eq!(
        (value(&output, "flows:all", "flows"), value(&output, "flows:all", "fairness_index")),
        (1.0, 1.0)
    );
    assert_eq!(
        value(&output, "flows:all", "throughput_bps"),
        value(&output, "bursts", "throughput_bps"),
        "without the 10 kbit/s of the probes"
    );
}

#[test]
fn a_load_that_stops_all_probes_adds_an_infinite_latency() {
    let output = output(&format!("{BURSTS}\n[[change]]\nat = \"2.99 s\"\nlink = \"line\"\nloss = 1.0\n"));
    assert_eq!(
        (value(&output, "latency", "echoes_lost"), find(&output, "latency", "echo_rtt_p50_s")),
        (60.0, None)
    );
    assert_eq!(grade(value(&output, "latency", "echo_rtt_added_s")), "F");
}

#[test]
fn each_network_between_the_hosts_is_a_path_with_probes_of_its_own() {
    let text = r#"
        node = [{ name = "a" }, { name = "b" }]
        link = [
            { between = ["a", "b"], net_id = 1, rate = "10 Mbit/s", delay = "5 ms" },
            { name = "other", between = ["a", "b"], net_id = 3, rate = "10 Mbit/s", delay = "20 ms" },
        ]
        [[transfers]]
        name = "short"
        client = "a"
        server = "b"
        protocol = "TCP"
        rate = "1 Hz"
        size = "1 kB"
        from = "2 s"
        to = "4 s"
        [[latency]]
        client = "a"
        server = "b"
    "#;
    let both = output(text);
    let idle = ["latency-1", "latency-2"].map(|flow| value(&both, flow, "echo_rtt_idle_p50_s"));
    assert_eq!(idle.map(|rtt| (rtt * 1e3).floor()), [10.0, 40.0]);
    // Probes are measured between the times `from` and `to` of the transfers: from 2 s to 4 s.
    assert_eq!(value(&both, "latency-1", "offered_messages"), 40.0);
    let second = output(&format!("{text}\nnetworks = [3]"));
    assert_eq!(value(&second, "latency", "echo_rtt_idle_p50_s"), idle[1]);
}

#[test]
fn flows_with_echo_in_the_file_are_no_load_and_get_ports_beside_the_probes() {
    let echo = "\n[[flow]]\nname = \"own\"\nclient = \"a\"\nserver = \"b\"\nprotocol = \"UDP\"\necho = true\n\
                start_time = \"0 s\"\nreset_time = \"3 s\"\nstop_time = \"6 s\"\nframe_rate = \"20 Hz\"\n\
                frame_size = \"64 B\"\n";
    let output = output(&format!("{BURSTS}{echo}"));
    let p95 = |flow: &str| value(&output, flow, "echo_rtt_p95_s");
    // Two probes arrive at the same time; the second in the queue waits 66 us longer.
    assert!((p95("latency") - p95("own")).abs() < 140e-6 && p95("own") > 0.12, "{}", p95("own"));
    assert_eq!(value(&output, "own", "echoes_lost"), 0.0);
}
