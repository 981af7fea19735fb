use super::*;

#[test]
fn a_flow_is_the_same_after_it_was_announced_but_for_its_direction() {
    for buffers in ["", ":rcvbuf=100000", ":rcvbuf=100000:sndbuf=200000"] {
        let text = "udp:const5:exp1000:const3:uniform500,0.5:id=3:description=x:unordered=0.5:unreliable=1:\
                    rtx_trials=4:onoff=+1,+2,repeat";
        let flow = FlowSpec::parse(&format!("{text}{buffers}"), Transport::Tcp).expect("a flow");
        let seen = FlowSpec::of_message(&flow.to_message(FlowId { measurement: 1, flow: 3, stream: 0 }));
        let seen = seen.expect("a flow");
        assert_eq!(seen.outbound, flow.inbound);
        assert!((seen.ordered - flow.ordered).abs() < 1e-9);
        let same = FlowSpec { outbound: flow.outbound, inbound: flow.inbound, ordered: flow.ordered, ..seen };
        assert_eq!(same, flow);
    }
}

#[test]
fn numbers_from_the_network_that_no_traffic_can_have_are_refused() {
    let good = FlowSpec::parse("const5:const1000", Transport::Tcp).expect("a flow");
    let with = |generator, values| FlowSpec {
        outbound: Load { size: Random { generator, values }, ..good.outbound },
        ..good.clone()
    };
    assert!(good.traffic().expect("traffic").is_some());
    for (generator, values) in [
        (0, [f64::NAN, 0.0, 0.0, 0.0]),
        (0, [f64::INFINITY, 0.0, 0.0, 0.0]),
        (0, [-1.0, 0.0, 0.0, 0.0]),
        (1, [1000.0, f64::NAN, 0.0, 0.0]),
        (3, [1000.0, f64::NAN, 0.0, 0.0]),
        (4, [1000.0, 1.0, 0.0, 0.0]),
        (255, [1000.0, 1.0, 0.0, 0.0]),
    ] {
        assert!(with(generator, values).traffic().is_err(), "{generator} {values:?}");
    }
    let rate = Load { rate: Random { generator: 2, values: [f64::NAN; 4] }, ..good.outbound };
    assert!(FlowSpec { outbound: rate, ..good.clone() }.traffic().is_err());
    let event = OnOffEvent { time: Random { generator: 0, values: [f64::NAN; 4] }, relative: true };
    assert!(FlowSpec { events: vec![event], ..good }.changes().is_err());
}

#[test]
fn no_message_is_longer_than_its_transport_takes_or_shorter_than_its_header() {
    let longest = |text: &str| {
        let flow = FlowSpec::parse(text, Transport::Udp).expect("a flow");
        flow.traffic().expect("traffic").expect("something is sent").max_msg_size.get()
    };
    assert_eq!(longest("const0:const99999:maxmsgsize=65535"), 65_507);
    assert_eq!(longest("tcp:const0:const99999:maxmsgsize=65535"), 65_535);
    assert_eq!(longest("const0:const100:maxmsgsize=1"), 48);
}
