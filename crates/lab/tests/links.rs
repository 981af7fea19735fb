//! Queues, rates, token buckets and wires of scenario files, and their effect on a transfer.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunOutput;
use lab::scenario::{Scenario, Sweep};
use net::{
    ChannelSpec, CodelSpec, DelayLimit, DelaySeries, DelaySpec, FqCodelSpec, LossBursts, Model, PieSpec,
    QueueSpec, RateModel, RateModelKind, RateSeries, TokenBucket, Trace, TransmitterSpec,
};
use std::path::PathBuf;
use std::sync::Arc;
use units::{BitRate, ByteCount, Probability, Span};

/// A scenario with these keys of its link, and a saturated flow that is measured for 20 s.
fn text(keys: &str) -> String {
    format!(
        "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"link\"\nbetween = [\"a\", \"b\"]\n{keys}\n\
         [sctp.x]\nreceive_buffer = \"2 MB\"\nsend_buffer = \"2 MB\"\n\
         [[flow]]\nname = \"flow\"\nclient = \"a\"\nserver = \"b\"\nsctp = \"x\"\nframe_rate = \"0 Hz\"\n\
         reset_time = \"5 s\"\nstop_time = \"25 s\"\n"
    )
}

fn parse(keys: &str) -> Sweep {
    lab::parse(&text(keys), "tests/x.toml").unwrap_or_else(|error| panic!("{}", error.render()))
}

fn scenario(keys: &str) -> Scenario {
    parse(keys).variants()[0].scenario.clone()
}

fn forward(keys: &str) -> ChannelSpec {
    scenario(keys).links[0].forward.clone()
}

fn run_of(keys: &str) -> RunOutput {
    run(&scenario(keys))
}

fn mbps(output: &RunOutput) -> f64 {
    scalar(output, "flow", "throughput_bps") / 1e6
}

fn of_link(output: &RunOutput, quantity: &str) -> f64 {
    scalar(output, "link:link", quantity)
}

const RATE: &str = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n";

#[test]
fn each_kind_of_queue_has_the_defaults_of_its_source() {
    let queue = |queue: &str| forward(&format!("{RATE}queue = {{ kind = {queue} }}")).queue;
    assert_eq!(queue("\"codel\""), QueueSpec::Codel(CodelSpec::default()));
    assert_eq!(queue("\"fq-codel\""), QueueSpec::FqCodel(FqCodelSpec::default()));
    assert_eq!(queue("\"pie\""), QueueSpec::Pie(PieSpec::default()));
    assert_eq!(
        queue("\"drop-tail\", delay = \"50 ms\""),
        QueueSpec::DropTailDelay(DelayLimit(Span::from_millis(50)))
    );
    let codel =
        CodelSpec { target: Span::from_millis(2), interval: Span::from_millis(40), limit: 50, ecn: true };
    let keys = "target = \"2 ms\", interval = \"40 ms\", packets = 50, ecn = true";
    assert_eq!(queue(&format!("\"codel\", {keys}")), QueueSpec::Codel(codel));
    let fq_codel = FqCodelSpec { codel, flows: 8, quantum: ByteCount::new(300) };
    let keys = format!("{keys}, flows = 8, quantum = \"300 B\"");
    assert_eq!(queue(&format!("\"fq-codel\", {keys}")), QueueSpec::FqCodel(fq_codel));
    let (target, update) = (Span::from_millis(20), Span::from_millis(10));
    let pie = PieSpec { target, update, max_burst: Span::from_millis(100), limit: 50, ecn: true };
    let keys = "target = \"20 ms\", update = \"10 ms\", max_burst = \"100 ms\", packets = 50, ecn = true";
    assert_eq!(queue(&format!("\"pie\", {keys}")), QueueSpec::Pie(pie));
}

#[test]
fn a_rate_is_constant_or_follows_a_file_or_a_model() {
    let rate = |rate: &str| forward(&format!("rate = {rate}")).transmitter;
    assert_eq!(rate("\"20 Mbit/s\""), BitRate::from_mbps(20).into());
    let steps = |repeat| {
        let text = "0,10\n1.5,2\n3,20";
        TransmitterSpec::Series(Arc::new(RateSeries::parse(text, repeat).expect("a series")))
    };
    assert_eq!(rate("{ trace = \"traces/steps.csv\" }"), steps(None));
    let repeat = Some(Span::from_secs(4));
    assert_eq!(rate("{ trace = \"traces/steps.csv\", repeat = \"4 s\" }"), steps(repeat));
    let trace = Trace::parse("0\n3\n3\n10").expect("a trace");
    assert_eq!(
        rate("{ deliveries = \"traces/bursts.deliveries\" }"),
        TransmitterSpec::Trace(Arc::new(trace))
    );
    let model = RateModel::new(RateModelKind::Lte, BitRate::from_mbps(20));
    assert_eq!(rate("{ model = \"lte\", mean = \"20 Mbit/s\" }"), TransmitterSpec::Model(model));
    let model = RateModel { kind: RateModelKind::Wifi, cv: 0.4, time_scale: Span::from_millis(50), ..model };
    assert_eq!(
        rate("{ model = \"wifi\", mean = \"20 Mbit/s\", cv = 0.4, time_scale = \"50 ms\" }"),
        TransmitterSpec::Model(model)
    );
}

#[test]
fn a_rate_and_a_delay_follow_steps_and_a_delay_follows_a_file_or_a_model() {
    let series = |text| Arc::new(RateSeries::parse(text, Some(Span::from_secs(9))).expect("a series"));
    let rate = "rate = { steps = [[\"0 s\", \"10 Mbit/s\"], [\"1500 ms\", \"0 bit/s\"]], repeat = \"9 s\" }";
    assert_eq!(forward(rate).transmitter, TransmitterSpec::Series(series("0,10\n1.5,0")));
    let delay = |delay: &str| forward(&format!("rate = \"20 Mbit/s\"\ndelay = {delay}")).delay;
    let series = |period| {
        DelaySpec::Series(Arc::new(DelaySeries::parse("0,10\n1.5,2\n3,20", period).expect("a series")))
    };
    assert_eq!(delay("{ trace = \"traces/steps.csv\" }"), series(None));
    let steps = "steps = [[\"0 s\", \"10 ms\"], [\"1.5 s\", \"2 ms\"], [\"3 s\", \"20 ms\"]]";
    assert_eq!(delay(&format!("{{ {steps}, repeat = \"4 s\" }}")), series(Some(Span::from_secs(4))));
    let model = Model::new(RateModelKind::Satellite, Span::from_millis(40));
    assert_eq!(delay("{ model = \"satellite\", mean = \"40 ms\" }"), DelaySpec::Model(model));
    // Each direction has its own delay.
    let link = scenario(
        "rate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nback = { delay = { model = \"lte\", mean = \"9 ms\" } }",
    );
    assert_eq!(link.links[0].forward.delay, Span::from_millis(5).into());
    assert_eq!(link.links[0].back.delay.mean(), Span::from_millis(9));
}

#[test]
fn path_mtu_discovery_finds_the_mtu_of_a_smaller_link() {
    let text = text(&format!("{RATE}mtu = \"1400 B\"")).replace("[sctp.x]", "[sctp.x]\npmtud = true");
    // The search for the path MTU is over within the first seconds.
    let text = text.replace("reset_time = \"5 s\"", "reset_time = \"0 s\"");
    let sweep = lab::parse(&text, "tests/x.toml").unwrap_or_else(|error| panic!("{}", error.render()));
    let output = run(&sweep.variants()[0].scenario);
    assert!(mbps(&output) > 15.0, "{}", mbps(&output));
    // About ten probes of each of two sizes above 1400 bytes are lost, and no data is lost.
    let too_big = of_link(&output, "drops_too_big");
    assert!((10.0..30.0).contains(&too_big), "{too_big}");
}

#[test]
fn token_buckets_jitter_and_bursts_are_read_and_the_back_table_can_do_without_them() {
    let keys = "policer = { rate = \"5 Mbit/s\", burst = \"30 kB\" }\nshaper = { rate = \"4 Mbit/s\", burst = \"1500 B\" }\n\
                jitter = { up_to = \"5 ms\", reorder = true }\nloss = { p = 0.01, r = 0.25, good = 0.001, bad = 0.5 }\n\
                back = { policer = \"none\", shaper = \"none\", jitter = \"1 ms\", loss = 0.1 }";
    let link = scenario(&format!("{RATE}{keys}")).links[0].clone();
    let bucket = |mbps, burst| TokenBucket { rate: BitRate::from_mbps(mbps), burst: ByteCount::new(burst) };
    assert_eq!(link.forward.policer, Some(bucket(5, 30_000)));
    assert_eq!(link.forward.shaper, Some(bucket(4, 1500)));
    assert_eq!((link.back.policer, link.back.shaper), (None, None));
    let p = |p| Probability::new(p).expect("a probability");
    let (forward, back) = (link.forward.impairments, link.back.impairments);
    assert_eq!((forward.jitter, forward.jitter_reorders), (Span::from_millis(5), true));
    assert_eq!((back.jitter, back.jitter_reorders), (Span::from_millis(1), false));
    let bursts = LossBursts { to_bad: p(0.01), to_good: p(0.25), good: p(0.001), bad: p(0.5) };
    assert_eq!((forward.loss, forward.loss_bursts), (p(0.0), Some(bursts)));
    assert_eq!((back.loss, back.loss_bursts), (p(0.1), None));
}

/// A separate folder below the target folder.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn trace_files_are_found_beside_the_scenario_and_each_is_read_once() {
    let folder = folder("traces-beside");
    std::fs::write(folder.join("own.csv"), "0,7\n").expect("a file");
    let keys = "rate = { trace = \"own.csv\" }\ndelay = { vary = [\"1 ms\", \"2 ms\"] }";
    let file = folder.join("x.toml").display().to_string();
    let sweep = lab::parse(&text(keys), &file).unwrap_or_else(|error| panic!("{}", error.render()));
    let [TransmitterSpec::Series(a), TransmitterSpec::Series(b)] =
        [0, 1].map(|n: usize| sweep.variants()[n].scenario.links[0].forward.transmitter.clone())
    else {
        panic!("not a series");
    };
    assert!(Arc::ptr_eq(&a, &b));
    let error = lab::parse(&text(keys), "x.toml").expect_err("no such file in the current folder");
    assert!(error.to_string().contains("there is no file \"own.csv\""), "{error}");
}

#[test]
fn a_transfer_fills_a_link_whose_rate_changes() {
    // Means over 20 s. The square wave has 16 Mbit/s for 2 s and 8 Mbit/s for 2 s. The delivery
    // trace has 2 packets in each ms, and 1452 of 1500 bytes of each packet are payload.
    let folder = folder("traces-filled");
    std::fs::write(folder.join("square.csv"), "0,16\n2,8\n").expect("a file");
    std::fs::write(folder.join("two.deliveries"), "1\n1\n").expect("a file");
    for (rate, least, most) in [
        ("{ trace = \"square.csv\", repeat = \"4 s\" }", 10.5, 12.0),
        ("{ deliveries = \"two.deliveries\" }", 22.0, 24.0),
        ("{ model = \"lte\", mean = \"20 Mbit/s\", cv = 0.3 }", 15.0, 22.0),
        ("{ model = \"wifi\", mean = \"20 Mbit/s\" }", 17.0, 21.0),
        ("{ model = \"satellite\", mean = \"20 Mbit/s\", time_scale = \"1 s\" }", 14.0, 21.0),
    ] {
        let keys = format!(
            "rate = {rate}\ndelay = \"10 ms\"\nqueue = {{ kind = \"drop-tail\", delay = \"300 ms\" }}\nback = {{ rate = \"10 Mbit/s\" }}"
        );
        let file = folder.join("x.toml").display().to_string();
        let sweep = lab::parse(&text(&keys), &file).unwrap_or_else(|error| panic!("{}", error.render()));
        let output = run(&sweep.variants()[0].scenario);
        let reached = mbps(&output);
        assert!((least..=most).contains(&reached), "{rate}: {reached} Mbit/s");
        let utilisation = of_link(&output, "utilisation");
        assert!((0.7..1.15).contains(&utilisation), "{rate}: {utilisation}");
    }
}

#[test]
fn a_policer_drops_and_a_shaper_delays_at_the_same_rate() {
    let line =
        "rate = \"100 Mbit/s\"\ndelay = \"10 ms\"\nqueue = { kind = \"drop-tail\", delay = \"100 ms\" }\n";
    let bucket = |kind: &str| {
        run_of(&format!(
            "{line}{kind} = {{ rate = \"20 Mbit/s\", burst = \"50 kB\" }}\nback = {{ {kind} = \"none\" }}"
        ))
    };
    let (policed, shaped) = (bucket("policer"), bucket("shaper"));
    assert!(of_link(&policed, "drops_policed") > 20.0);
    assert_eq!(of_link(&policed, "drops_queue_full"), 0.0);
    assert_eq!(of_link(&shaped, "drops_policed"), 0.0);
    // 1452 of 1500 bytes of a full packet are payload.
    assert!((18.0..19.4).contains(&mbps(&shaped)), "{}", mbps(&shaped));
    assert!((10.0..19.4).contains(&mbps(&policed)), "{}", mbps(&policed));
    // Utilisation is relative to the rate of the token bucket, not of the line.
    assert!((0.95..1.01).contains(&of_link(&shaped, "utilisation")), "{}", of_link(&shaped, "utilisation"));
}

#[test]
fn jitter_alone_costs_no_retransmission_and_jitter_that_reorders_does() {
    let jitter = |jitter: &str| {
        run_of(&format!("{RATE}jitter = {jitter}\nqueue = {{ kind = \"drop-tail\", packets = 2000 }}"))
    };
    let (kept, reordered) = (jitter("\"5 ms\""), jitter("{ up_to = \"5 ms\", reorder = true }"));
    assert_eq!(scalar(&kept, "flow", "retransmitted_chunks"), 0.0);
    assert!(mbps(&kept) > 18.5, "{}", mbps(&kept));
    assert!(scalar(&reordered, "flow", "retransmitted_chunks") > 100.0);
    assert!(mbps(&reordered) < 0.7 * mbps(&kept), "{}", mbps(&reordered));
}

/// Mean queue length after slow start, in packets.
fn mean_queue(output: &RunOutput) -> f64 {
    let points = &output.series[0].points;
    points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64
}

#[test]
fn codel_and_pie_keep_the_queue_short_where_drop_tail_fills_it() {
    let probe = "[[probe]]\nquantity = \"queue\"\nlink = \"link\"\nfrom = \"6 s\"\nto = \"25 s\"\nevery = \"10 ms\"\n";
    let run = |queue: &str| run_of(&format!("{RATE}queue = {{ {queue} }}\n{probe}"));
    // 200 ms of 20 Mbit/s are 333 packets of 1500 bytes.
    let full = mean_queue(&run("kind = \"drop-tail\", delay = \"200 ms\""));
    assert!((150.0..334.0).contains(&full), "{full}");
    for queue in ["kind = \"codel\"", "kind = \"fq-codel\"", "kind = \"pie\""] {
        let output = run(queue);
        assert!(of_link(&output, "drops_delayed") > 3.0, "{queue}");
        assert!(mean_queue(&output) < 40.0, "{queue}: {}", mean_queue(&output));
        assert!(mbps(&output) > 16.0, "{queue}: {}", mbps(&output));
    }
}

/// After 20 s the RTT of one of two paths rises from 20 ms to 60 ms for good. A message of 3000 bytes is sent
/// every 100 ms. With the old minimum RTT, the sender would take the difference of 40 ms for queueing delay,
/// and each chunk for overdue.
#[test]
fn a_path_that_has_become_longer_for_good_causes_no_copies() {
    let text = r#"
node = [{ name = "a" }, { name = "b" }]
link = [
  { between = ["a", "b"], name = "x", net_id = 1, rate = "20 Mbit/s", delay = { steps = [["0 s", "10 ms"], ["20 s", "30 ms"]] } },
  { between = ["a", "b"], name = "y", net_id = 2, rate = "20 Mbit/s", delay = "15 ms" },
]
sctp = { both = { profile = "recommended" } }
flow = [{
  name = "flow", client = "a", server = "b", sctp = "both", frame_rate = "10 Hz", frame_size = "3000 B",
  reset_time = "60 s", stop_time = "120 s",
}]
"#;
    let sweep = lab::parse(text, "tests/x.toml").unwrap_or_else(|error| panic!("{}", error.render()));
    let output = run(&sweep.variants()[0].scenario);
    let packets = scalar(&output, "flow", "data_packets");
    assert!((600.0 * 2.0..=600.0 * 3.0 * 1.02).contains(&packets), "{packets} packets for 600 messages");
}
