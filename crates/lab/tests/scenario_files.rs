//! The meaning of scenario files, and their agreement with the schema.

use anabranch_lab::scenario::{
    AxisValue, Distribution, Every, Flow, IpVersion, Pace, PrimaryPath, ProbeQuantity, ProbeTarget, Protocol,
    Scenario, Sweep, schema,
};
use net::{Limit, QueueSpec};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use units::{BitRate, ByteCount, Probability, Span};

const NETWORK: &str = r#"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "10 Mbit/s"
"#;

const FLOW: &str = "[[flow]]\nname = \"f\"\nclient = \"a\"\nserver = \"b\"\n";

fn parse(rest: &str) -> Sweep {
    anabranch_lab::parse(&format!("{NETWORK}{rest}"), "x.toml")
        .unwrap_or_else(|error| panic!("{}", error.render()))
}

fn scenario(rest: &str) -> Scenario {
    parse(rest).variants()[0].scenario.clone()
}

fn flow(rest: &str) -> Flow {
    scenario(&format!("{FLOW}{rest}")).flows.remove(0)
}

#[test]
fn defaults_of_a_flow_are_those_of_table_2_of_paper_001() {
    let flow = flow("");
    assert_eq!(flow.connect_time, Distribution::Constant(Span::ZERO));
    assert_eq!(flow.start_time, Distribution::Constant(Span::from_secs(1)));
    assert_eq!([flow.reset_time, flow.stop_time], [5, 30].map(Span::from_secs));
    assert_eq!((flow.local_port, flow.remote_port, flow.primary_path), (9000, 9000, PrimaryPath::Any));
    let traffic = flow.forward.unwrap();
    let Pace::Frames(Distribution::Constant(rate)) = traffic.pace else { panic!("{:?}", traffic.pace) };
    assert_eq!(rate.as_f64(), 10.0);
    assert_eq!(traffic.frame_size, Distribution::Constant(ByteCount::new(1452)));
    assert_eq!((traffic.max_msg_size, traffic.queue_size), (ByteCount::new(1452), 1000));
    assert_eq!((traffic.unordered, flow.back), (Probability::ZERO, None));
}

#[test]
fn the_camel_case_names_of_table_2_are_accepted() {
    let ours = flow("start_time = \"2 s\"\nframe_rate = \"0 Hz\"\nmax_msg_size = \"100 B\"\nip_version = 6");
    let theirs = flow("startTime = \"2 s\"\nframeRate = \"0 Hz\"\nmaxMsgSize = \"100 B\"\nipVersion = 6");
    assert_eq!(ours, theirs);
    assert_eq!((ours.forward.unwrap().pace, ours.ip_version), (Pace::Saturated, IpVersion::V6));
}

#[test]
fn a_frame_size_of_zero_turns_a_direction_off() {
    let flow = flow("frame_size = \"0 B\"\nback = { frame_size = \"100 B\" }");
    assert_eq!(flow.forward, None);
    assert_eq!(flow.back.unwrap().frame_size, Distribution::Constant(ByteCount::new(100)));
}

#[test]
fn the_back_table_changes_only_the_values_that_it_contains() {
    let both = flow("bidirectional = true\nunordered = 0.5");
    assert_eq!(both.forward, both.back);
    let back = flow("unordered = 0.5\nqueue_size = 7\n[flow.back]\nunordered = 1").back.unwrap();
    assert_eq!((back.unordered, back.queue_size), (Probability::ONE, 7));

    let link = &scenario(&format!("delay = \"10 ms\"\nback = {{ rate = \"1 Mbit/s\" }}\n{FLOW}")).links[0];
    assert_eq!(
        (&link.forward.transmitter, &link.back.transmitter),
        (&BitRate::from_mbps(10).into(), &BitRate::from_mbps(1).into())
    );
    assert_eq!(link.back.delay, Span::from_millis(10).into());
    assert_eq!(link.back.queue, QueueSpec::DropTail(Limit::Packets(100)));
}

#[test]
fn option_sets_inherit_and_change_single_options() {
    let flow = flow(
        "sctp = \"c\"\nserver_sctp = \"a\"\n[sctp.c]\ninherit = \"b\"\nhb_interval = \"none\"\ncmt = { dac = false }\n\
         [sctp.b]\ninherit = \"a\"\nmax_burst = 8\ncmt = { enabled = true, dac = true, cuc = \"v1\" }\n\
         [sctp.a]\nmax_burst = 2\nsack_frequency = 3\nsend_queue = 5",
    );
    let (client, server) = (flow.client_options, flow.server_options);
    assert_eq!((client.max_burst, client.sack_frequency, client.hb_interval), (8, 3, None));
    assert_eq!((client.cmt.enabled, client.cmt.dac, client.cmt.cuc), (true, false, sctp::Cuc::V1));
    assert_eq!((client.send_queue, client.rto_min), (Some(5), Span::from_secs(1)));
    assert_eq!((server.max_burst, server.cmt), (2, sctp::Cmt::default()));
}

#[test]
fn a_set_of_sctp_options_starts_from_its_profile() {
    let flow = flow(
        "sctp = \"ours\"\nserver_sctp = \"plain\"\n[sctp.ours]\ninherit = \"bond\"\n\
         congestion_control = \"braid\"\n[sctp.bond]\nprofile = \"recommended\"\ncmt = { dac = false }\n[sctp.plain]",
    );
    let recommended = sctp::Config::recommended();
    let cmt = sctp::Cmt { dac: false, ..recommended.cmt.clone() };
    let ours = sctp::Config { congestion_control: cc::Algorithm::Braid.into(), cmt, ..recommended };
    assert_eq!((flow.client_options, flow.server_options), (ours, sctp::Config::default()));
}

#[test]
fn a_set_of_tcp_options_starts_from_its_profile() {
    let flow = flow(
        "protocol = \"TCP\"\ntcp = \"ours\"\nserver_tcp = \"qualnet\"\n[tcp.ours]\ninherit = \"qualnet\"\n\
         abc = 1\nmss = \"1000 B\"\nrto = { min = \"300 ms\" }\n[tcp.qualnet]\nprofile = \"qualnet\"",
    );
    assert_eq!(flow.protocol, Protocol::Tcp);
    assert_eq!(flow.server_tcp, tcp::Config::qualnet());
    let rto = tcp::Rto { min: Span::from_millis(300), ..tcp::Config::qualnet().rto };
    let ours = tcp::Config { abc: Some(1), mss: 1000, rto, ..tcp::Config::qualnet() };
    assert_eq!(flow.client_tcp, ours);
}

#[test]
fn a_protocol_that_varies_keeps_the_options_of_each() {
    let sweep = parse(
        "[tcp.t]\nnagle = true\n[sctp.s]\nnagle = true\n[[flow]]\nname = \"f\"\nclient = \"a\"\nserver = \"b\"\n\
         protocol = { vary = [\"SCTP\", \"TCP\", \"UDP\"] }\nsctp = \"s\"\ntcp = \"t\"",
    );
    let flows = sweep.variants().iter().map(|variant| &variant.scenario.flows[0]);
    for (flow, protocol) in flows.zip([Protocol::Sctp, Protocol::Tcp, Protocol::Udp]) {
        assert_eq!((flow.protocol, flow.client_options.nagle, flow.client_tcp.nagle), (protocol, true, true));
    }
}

#[test]
fn each_flow_of_a_count_has_a_name_and_a_port_of_its_own() {
    let flows = scenario(
        "[[flow]]\nname = \"many\"\ncount = 3\nclient = \"a\"\nserver = \"b\"\n\
         [[flow]]\nname = \"fixed\"\nclient = \"a\"\nserver = \"b\"\nlocal_port = 9001\n\
         [[flow]]\nname = \"back\"\nclient = \"b\"\nserver = \"a\"",
    )
    .flows;
    let named: Vec<_> = flows.iter().map(|flow| (flow.name.as_str(), flow.local_port)).collect();
    // Both hosts listen at port 9000, and the file gives port 9001 of the first host to another flow.
    assert_eq!(
        named,
        [("many-1", 9002), ("many-2", 9003), ("many-3", 9004), ("fixed", 9001), ("back", 9001)]
    );
}

#[test]
fn nodes_with_a_count_are_linked_and_used_in_turn() {
    let scenario = anabranch_lab::parse(
        "[[node]]\nname = \"s\"\ncount = 3\n[[node]]\nname = \"d\"\ncount = 3\n[[node]]\nname = \"r\"\nkind = \"router\"\n\
         [[link]]\nbetween = [\"s\", \"r\"]\nrate = \"1 Mbit/s\"\n[[link]]\nbetween = [\"s\", \"d\"]\nname = \"direct\"\n\
         rate = \"1 Mbit/s\"\n[[link]]\nbetween = [\"d-2\", \"r\"]\nrate = \"1 Mbit/s\"\n\
         [[flow]]\nname = \"f\"\ncount = 4\nclient = \"s\"\nserver = \"d\"\n",
        "x.toml",
    )
    .unwrap_or_else(|error| panic!("{}", error.render()))
    .variants()[0]
        .scenario
        .clone();
    let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["s-1", "s-2", "s-3", "d-1", "d-2", "d-3", "r"]);
    let links: Vec<_> = scenario.links.iter().map(|link| (link.name.as_str(), link.between)).collect();
    let to_router = [("s-1-r", [0, 6]), ("s-2-r", [1, 6]), ("s-3-r", [2, 6])];
    let direct = [("direct-1", [0, 3]), ("direct-2", [1, 4]), ("direct-3", [2, 5])];
    assert_eq!(links, [&to_router[..], &direct[..], &[("d-2-r", [4, 6])]].concat());
    let ends: Vec<_> = scenario.flows.iter().map(|flow| (flow.client, flow.server)).collect();
    assert_eq!(ends, [(0, 3), (1, 4), (2, 5), (0, 3)], "the hosts are used in turn");
}

#[test]
fn probes_can_name_flows_with_a_count_and_both_directions_of_a_link() {
    let probes = scenario(
        "[[flow]]\nname = \"f\"\ncount = 2\nclient = \"a\"\nserver = \"b\"\n\
         [[probe]]\nquantity = \"cwnd\"\nflow = \"f\"\n[[probe]]\nquantity = \"srtt\"\nflow = \"f-2\"\n\
         [[probe]]\nquantity = \"queue\"\nlink = \"b-a\"\nevery = \"10 ms\"",
    )
    .probes;
    let targets: Vec<_> = probes.iter().map(|probe| probe.target).collect();
    let back = ProbeTarget::Link { link: 0, back: true };
    assert_eq!(targets, [ProbeTarget::Flow(0), ProbeTarget::Flow(1), ProbeTarget::Flow(1), back]);
    assert_eq!((probes[0].every, probes[3].every), (Every::Change, Every::Interval(Span::from_millis(10))));
}

#[test]
fn probes_take_lists_of_quantities_and_wildcards_in_names() {
    let probes = scenario(
        "[[flow]]\nname = \"f\"\ncount = 2\nclient = \"a\"\nserver = \"b\"\n\
         [[flow]]\nname = \"other\"\nlocal_port = 7000\nclient = \"a\"\nserver = \"b\"\n\
         [[probe]]\nquantity = [\"cwnd\", \"srtt\"]\nflow = [\"f*\", \"f-1\"]\n\
         [[probe]]\nquantity = \"rto\"\nflow = \"*\"\n\
         [[probe]]\nquantity = \"queue\"\nlink = \"a*\"",
    )
    .probes;
    use ProbeQuantity::{Cwnd, Queue, Rto, Srtt};
    let flow = ProbeTarget::Flow;
    let seen: Vec<_> = probes.iter().map(|probe| (probe.quantity, probe.target)).collect();
    let of_first = [(Cwnd, flow(0)), (Cwnd, flow(1)), (Srtt, flow(0)), (Srtt, flow(1))];
    let of_all = [(Rto, flow(0)), (Rto, flow(1)), (Rto, flow(2))];
    let links = [(Queue, ProbeTarget::Link { link: 0, back: false })];
    assert_eq!(seen, [&of_first[..], &of_all, &links].concat());
}

#[test]
fn variations_give_all_combinations_and_the_last_axis_varies_fastest() {
    let sweep = parse(
        "loss = { vary = [0, 0.5] }\n[[flow]]\nname = \"f\"\nclient = \"a\"\nserver = \"b\"\n\
         sctp = { name = \"set\", vary = [\"x\", \"y\"] }\nunordered = { name = \"set\", vary = [0, 1] }\n\
         bidirectional = { vary = [true, false] }\n[sctp.x]\n[sctp.y]\nnagle = true",
    );
    let names: Vec<_> = sweep.axes().iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["link.a-b.loss", "set", "flow.f.bidirectional"]);
    assert_eq!(sweep.variants().len(), 8);
    let row = |i: usize| {
        let variant = &sweep.variants()[i];
        let flow = &variant.scenario.flows[0];
        let unordered = flow.forward.as_ref().map(|traffic| traffic.unordered.get());
        (
            variant.parameters.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" "),
            variant.scenario.links[0].forward.impairments.loss.get(),
            flow.client_options.nagle,
            unordered,
            flow.back.is_some(),
        )
    };
    assert_eq!(row(0), ("0 x true".into(), 0.0, false, Some(0.0), true));
    assert_eq!(row(1), ("0 x false".into(), 0.0, false, Some(0.0), false));
    assert_eq!(row(2), ("0 y true".into(), 0.0, true, Some(1.0), true));
    assert_eq!(row(7), ("0.5 y false".into(), 0.5, true, Some(1.0), false));
    assert_eq!(sweep.axes()[0].values, [AxisValue::Number(0.0), AxisValue::Number(0.5)]);
}

#[test]
fn a_combination_can_be_chosen() {
    let mut sweep = parse(&format!(
        "loss = {{ name = \"loss\", vary = [0, 0.25] }}\ndelay = {{ vary = [\"1 ms\", \"2 ms\"] }}\n{FLOW}"
    ));
    sweep.restrict("loss", "0.25").unwrap();
    assert_eq!((sweep.variants().len(), sweep.axes()[0].values.len()), (2, 1));
    let wrong = |axis, value| sweep.clone().restrict(axis, value).unwrap_err();
    assert_eq!(
        wrong("los", "0"),
        "no axis \"los\"; expected one of `loss`, `link.a-b.delay`; did you mean `loss`?"
    );
    assert_eq!(
        wrong("link.a-b.delay", "3 ms"),
        "axis \"link.a-b.delay\" has no value \"3 ms\"; expected one of `1 ms`, `2 ms`; did you mean `1 ms`?"
    );
}

#[test]
fn a_fault_in_one_variation_is_reported_once_with_its_position() {
    let text = format!(
        "seed = {{ vary = [1, 2, 3] }}{}{FLOW}",
        NETWORK.replace("rate", "name = { vary = [\"l\", \"b c\", \"m\"] }\nrate")
    );
    let error = anabranch_lab::parse(&text, "x.toml").unwrap_err().to_string();
    assert_eq!(error, "x.toml:8:23: \"b c\" is not a valid name; expected letters, digits, `_`, `-` and `.`");
}

/// The root folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every scenario of the repository: the examples and the experiments of the papers.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("scenarios")];
    folders.extend(std::fs::read_dir(root().join("papers")).into_iter().flatten().map(|e| e.unwrap().path()));
    let mut files = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == "toml") && text.contains("[[node]]") {
                files.push((path, text));
            }
        }
    }
    files
}

/// A client and a server with an uplink in each of two networks: the first network has two links between its
/// routers.
const ROUTERS: &str = r#"
node = [
  { name = "a" }, { name = "b" },
  { name = "r1", kind = "router" }, { name = "r2", kind = "router" }, { name = "r3", kind = "router" },
  { name = "s1", kind = "router" }, { name = "s2", kind = "router" },
]
link = [
  { between = ["a", "r1"], net_id = 1, rate = "10 Mbit/s" },
  { between = ["r1", "r2"], net_id = 1, rate = "10 Mbit/s" }, # first
  { between = ["r1", "r3"], net_id = 1, rate = "10 Mbit/s" }, # second
  { between = ["r3", "r2"], net_id = 1, rate = "10 Mbit/s" },
  { between = ["r2", "b"], net_id = 1, rate = "10 Mbit/s" },
  { between = ["a", "s1"], net_id = 2, rate = "10 Mbit/s" },
  { between = ["s1", "s2"], net_id = 2, rate = "10 Mbit/s" }, # other
  { between = ["s2", "b"], net_id = 2, rate = "10 Mbit/s" },
]
flow = [{ name = "f", client = "a", server = "b", stop_time = "6 s", frame_rate = "0 Hz" }]
"#;

/// Line, column and message of the warnings when the links with these comments are down twice, each time for
/// 1 s.
fn warnings_if_down(comments: &[&str]) -> Vec<(usize, usize, String)> {
    let mut text = ROUTERS.to_owned();
    for comment in comments {
        let end = format!(" }}, # {comment}");
        assert_eq!(text.matches(&end).count(), 1, "{comment}");
        text = text.replace(&end, ", down = [[\"2 s\", \"3 s\"], [\"4 s\", \"5 s\"]] },");
    }
    let sweep = anabranch_lab::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{}", error.render()));
    let listed: Vec<_> =
        sweep.warnings().iter().map(|one| (one.line, one.column, one.message.clone())).collect();
    let messages: Vec<String> = listed.iter().map(|(_, _, message)| message.clone()).collect();
    let output = anabranch_lab::world::run(&sweep.variants()[0].scenario, 0, &Default::default()).unwrap();
    assert_eq!(output.warnings, messages, "the run has the same warnings");
    listed
}

#[test]
fn a_link_that_is_down_beside_another_route_of_its_network_has_a_warning() {
    let [(line, column, message)] = &warnings_if_down(&["first"])[..] else { panic!("one warning") };
    assert_eq!((*line, *column), (9, 69), "the first outage");
    assert_eq!(
        message,
        "link `r1-r2` has `down` times, and routes do not change: its packets are lost then, although another route \
         joins `r1` and `r2`; for a path whose delay changes, use one link with `delay = { steps = ... }`"
    );
    assert_eq!(warnings_if_down(&["first", "second"]).len(), 2);
    assert_eq!(warnings_if_down(&["other"]), [], "the other network is a path of its own, and no detour");
}

#[test]
fn no_scenario_of_the_repository_has_a_warning() {
    for (path, text) in shipped() {
        let sweep = anabranch_lab::parse(&text, &path.display().to_string()).unwrap();
        assert_eq!(sweep.warnings(), [], "{}", path.display());
    }
}

#[test]
fn the_scenarios_of_the_repository_are_valid_and_match_the_schema() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    let files = shipped();
    assert!(files.len() >= 3, "{files:?}");
    for (path, text) in files {
        if let Err(error) = anabranch_lab::parse(&text, &path.display().to_string()) {
            panic!("{}", error.render());
        }
        assert_eq!(misfit(&schema, &schema, &document(&text)), None, "{}", path.display());
    }
}

#[test]
fn the_schema_rejects_files_that_the_parser_rejects() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    let flow = "[[flow]]\nname = \"f\"\nclient = \"a\"\nserver = \"b\"\n";
    for wrong in [
        "delya = \"1 ms\"",
        "delay = 1",
        "delay = \"1 sec\"",
        "loss = 2",
        "queue = { kind = \"codl\" }",
        "queue = { kind = \"codel\", min = 3 }",
        "queue = { kind = \"pie\", flows = 3 }",
        "policer = { rate = \"5 Mbit/s\" }",
        "shaper = \"off\"",
        "jitter = { reorder = true }",
        "loss = { p = 0.1 }",
        "back = { rate = { mean = \"5 Mbit/s\" } }",
        "back = { rate = { model = \"5g\", mean = \"5 Mbit/s\" } }",
        "back = { rate = { trace = 5 } }",
        "back = { rate = { deliveries = \"x\", repeat = \"1 s\" } }",
        "queue = { kind = \"drop-tail\", min = 3 }",
        "back = { framing = 7 }",
        "between = [\"a\"]",
        "[sctp.x]\nsack_dely = \"1 ms\"",
        "[sctp.x]\ncmt = { cuc = \"v3\" }",
        "[sctp.x]\nhb_interval = \"off\"",
        &format!("{flow}protocol = \"QUIC\""),
        &format!("{flow}frame_size = {{ pareto = \"1 kB\" }}"),
        &format!("{flow}unreliable = 2"),
        &format!("{flow}reliability = {{ lifetime = 5 }}"),
        &format!("{flow}reliability = {{ priority = 1, retransmissions = 1 }}"),
        &format!("{flow}frame_size = {{ uniform = [\"1 B\"] }}"),
        "[[probe]]\nquantity = \"cwmd\"",
        "net_id = { vary = [] }",
        "net_id = { vary = [\"one\"] }",
    ] {
        let text = format!(
            "{}{wrong}\n",
            if wrong.starts_with("between") { "[[link]]\nrate = \"1 kbit/s\"\n" } else { NETWORK }
        );
        assert!(anabranch_lab::parse(&text, "x.toml").is_err(), "the parser accepts {wrong}");
        assert!(misfit(&schema, &schema, &document(&text)).is_some(), "the schema accepts {wrong}");
    }
}

/// TOML as JSON.
fn document(text: &str) -> Json {
    fn table(table: &DeTable<'_>) -> Json {
        Json::Object(
            table
                .iter()
                .map(|(key, item)| (key.get_ref().to_string(), value(item.get_ref())))
                .collect::<Map<_, _>>(),
        )
    }
    fn value(item: &DeValue<'_>) -> Json {
        match item {
            DeValue::String(text) => json!(text),
            DeValue::Integer(n) => json!(n.as_str().parse::<i64>().unwrap()),
            DeValue::Float(n) => json!(n.as_str().parse::<f64>().unwrap()),
            DeValue::Boolean(flag) => json!(flag),
            DeValue::Datetime(date) => json!(date.to_string()),
            DeValue::Array(list) => list.iter().map(|item| value(item.get_ref())).collect(),
            DeValue::Table(members) => table(members),
        }
    }
    table(DeTable::parse(text).unwrap().get_ref())
}

/// The reason why a value does not match a schema. Supports only the schema keywords in this function.
fn misfit(root: &Json, schema: &Json, value: &Json) -> Option<String> {
    let schema = schema.as_object().unwrap();
    schema.iter().find_map(|(keyword, rule)| {
        let right = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                return misfit(root, &root["$defs"][name], value);
            }
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64(),
                "number" => value.is_number(),
                other => panic!("type {other}"),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > rule.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| is_quantity(rule.as_str().unwrap(), text)),
            "prefixItems" => {
                let rules = rule.as_array().unwrap();
                return value.as_array()?.iter().zip(rules).find_map(|(item, rule)| misfit(root, rule, item));
            }
            "items" => return value.as_array()?.iter().find_map(|item| misfit(root, rule, item)),
            "required" => {
                rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "properties" => {
                let member = |(key, rule): (&String, &Json)| {
                    Some(format!("{key}: {}", misfit(root, rule, value.get(key)?)?))
                };
                return rule.as_object().unwrap().iter().find_map(member);
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Json::as_object);
                let others = value
                    .as_object()?
                    .iter()
                    .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                return others
                    .filter_map(|(key, value)| match rule {
                        Json::Bool(allowed) => (!allowed).then(|| format!("unknown key {key}")),
                        rule => misfit(root, rule, value),
                    })
                    .next();
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|one| misfit(root, one, value).is_none()),
            "oneOf" => {
                rule.as_array().unwrap().iter().filter(|one| misfit(root, one, value).is_none()).count() == 1
            }
            other => panic!("keyword {other}"),
        };
        (!right).then(|| format!("{value} against {keyword} {rule}"))
    })
}

/// Matches the only kind of pattern in the schema: a decimal number and one of some units.
fn is_quantity(pattern: &str, text: &str) -> bool {
    let units = pattern
        .strip_prefix(r"^\s*[0-9]+(\.[0-9]+)?\s*(")
        .and_then(|rest| rest.strip_suffix(r")\s*$"))
        .unwrap();
    let text = text.trim();
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    number.parse::<f64>().is_ok() && units.split('|').any(|one| one == unit.trim())
}

proptest! {
    /// A valid file with random changes is parsed or rejected.
    #[test]
    fn no_change_of_a_file_makes_the_parser_panic(
        which in 0..4usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, any::<prop::sample::Index>()), 1..6),
    ) {
        const WORDS: [&str; 14] = [
            "", "\"", "[", "]]", "{ vary = [", "}", "=", "\n", "9999999999999999999", "-1", "1e400", "\"1 ms\"", "ö", "nan",
        ];
        let files = shipped();
        let mut text = files[which % files.len()].1.clone();
        for (at, length, word) in changes {
            let boundary = |at: usize| (at..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
            let from = boundary(at.index(text.len() + 1));
            let to = boundary((from + length).min(text.len()));
            text.replace_range(from..to, WORDS[word.index(WORDS.len())]);
        }
        if let Err(error) = anabranch_lab::parse(&text, "x.toml") {
            prop_assert!(!error.diagnostics.is_empty() && !error.render().is_empty());
        }
    }

    /// A file with its lines in random order is parsed or rejected.
    #[test]
    fn no_order_of_lines_makes_the_parser_panic(lines in Just(shipped().remove(0).1.lines().map(str::to_owned).collect::<Vec<_>>()).prop_shuffle()) {
        let _ = anabranch_lab::parse(&lines.join("\n"), "x.toml");
    }
}

/// TOML blocks of the documentation.
fn documented() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    text.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The path of each key of a document, without list indices.
fn key_paths(value: &Json, path: &str, into: &mut Vec<String>) {
    match value {
        Json::Object(members) if members.contains_key("vary") => into.push(path.to_owned()),
        Json::Object(members) => {
            for (key, value) in members {
                key_paths(value, &format!("{path}.{key}"), into);
            }
        }
        Json::Array(elements) if elements.iter().any(Json::is_object) => {
            elements.iter().for_each(|element| key_paths(element, path, into));
        }
        _ => into.push(path.to_owned()),
    }
}

/// The path of each key of a schema. The name of each option set is `plain`.
fn schema_paths(root: &Json, schema: &Json, path: &str, into: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        return schema_paths(root, &root["$defs"][name.strip_prefix("#/$defs/").unwrap()], path, into);
    }
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|word| schema[word].as_array()).flatten();
    let before = into.len();
    alternatives
        .filter(|one| one["properties"].get("vary").is_none())
        .for_each(|one| schema_paths(root, one, path, into));
    for (key, member) in schema["properties"].as_object().into_iter().flatten() {
        schema_paths(root, member, &format!("{path}.{key}"), into);
    }
    if schema["items"]["type"] == "object" {
        schema_paths(root, &schema["items"], path, into);
    }
    if schema["additionalProperties"].is_object() {
        schema_paths(root, &schema["additionalProperties"], &format!("{path}.plain"), into);
    }
    if into.len() == before {
        into.push(path.to_owned());
    }
}

#[test]
fn the_documentation_mentions_exactly_the_keys_of_the_schema() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    let (mut there, mut told) = (Vec::new(), Vec::new());
    schema_paths(&schema, &schema, "", &mut there);
    let blocks = documented();
    assert!(blocks.len() >= 6);
    for block in &blocks {
        key_paths(&document(block), "", &mut told);
    }
    for path in &told {
        let path = path.replace(".sctp.cmt.", ".sctp.plain.").replace(".tcp.reno.", ".tcp.plain.");
        let known = there.contains(&path) || there.iter().any(|other| other.starts_with(&format!("{path}.")));
        assert!(known, "docs/scenarios.md has `{path}`, the schema has not");
    }
    let text = std::fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    let camel = |path: &str| path.chars().any(|c| c.is_ascii_uppercase());
    for path in there.iter().filter(|path| !camel(path)) {
        let key = path.rsplit('.').next().unwrap();
        assert!(text.contains(key), "the schema has `{path}`, docs/scenarios.md does not mention it");
    }
}
