use super::*;
use crate::blocking;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream};

/// Returns the samples by name and labels. Checks all rules of the format (Prometheus' "Exposition formats",
/// version 0.0.4): HELP and TYPE once before the samples of a metric, no series twice.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), BTreeMap::new());
    let mut current = "";
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a text");
            assert!(!help.is_empty() && families.insert(name, None).is_none(), "{line}");
            current = name;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a kind");
            assert!(name == current && families.insert(name, Some(kind)) == Some(None), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a series and a value");
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            assert!(name == current && families[name].is_some(), "{line}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
            check_labels(labels.strip_suffix('}').expect("an end of labels"));
            assert!(samples.insert(series.to_owned(), value.parse().expect("a number")).is_none(), "{line}");
        }
    }
    samples
}

/// Checks names and quoted values, separated by commas. A value may only escape `\\`, `\"` and `\n`.
fn check_labels(labels: &str) {
    let mut rest = labels;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a name and a value");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{labels}");
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().expect("an end of the value") {
                (_, '\\') => assert!(matches!(letters.next(), Some((_, '\\' | '"' | 'n'))), "{labels}"),
                (end, '"') => break end,
                _ => {}
            }
        };
        rest = &after[end + 1..];
        assert!(rest.is_empty() || rest.starts_with(','), "{labels}");
        rest = rest.trim_start_matches(',');
    }
}

#[test]
fn labels_and_help_are_escaped() {
    let mut text = MetricText::default();
    text.family(Kind::Gauge, "a_b", "A \\ and\nmore.").sample(&[("x", "a\\b\"c\nd"), ("y", "")], 0.5);
    assert_eq!(
        text.as_str(),
        "# HELP a_b A \\\\ and\\nmore.\n# TYPE a_b gauge\na_b{x=\"a\\\\b\\\"c\\nd\",y=\"\"} 0.5\n"
    );
    assert_eq!(parse(text.as_str()).len(), 1);
}

#[cfg(target_os = "linux")] // Other systems have one loopback address only.
#[test]
fn an_endpoint_shows_its_associations_paths_and_sockets() {
    let paths: [IpAddr; 2] = [[127, 0, 0, 1].into(), [127, 0, 0, 2].into()];
    let server = Endpoint::builder().locals(paths).udp_port(0).bind().expect("binds");
    let listener = blocking::Endpoint::from(server.clone()).listen(1);
    let client = blocking::Endpoint::builder().locals(paths).udp_port(0);
    let client = client.remote_udp_port(server.udp_port()).bind().expect("binds");
    let connection = client.connect((paths, server.port())).expect("connects");
    let accepted = listener.accept().expect("is open");
    connection.send(vec![0; 100_000]).expect("is taken");
    accepted.recv().expect("goes on").expect("arrives");
    let (mut metrics, mut text) = (EndpointMetrics::default(), MetricText::default());
    blocking::block_on(metrics.write(Some(&server), &mut text));
    let samples = parse(text.as_str());
    assert_eq!(samples["anabranch_associations"], 1.0);
    let of_path = |name: &str| -> f64 {
        let series = |path| format!("anabranch_path_{name}{{association=\"0\",path=\"{path}\"}}");
        (0..2).filter_map(|path| samples.get(&series(path))).sum()
    };
    assert!(of_path("bytes_received_total") > 100_000.0, "{}", text.as_str());
    assert!(of_path("bytes_sent_total") > 100.0 && of_path("cwnd_bytes") > 4000.0, "{}", text.as_str());
    assert!(
        samples.keys().any(|series| series.contains("path_info") && series.contains("remote=\"127.0.0."))
    );
    let active = "anabranch_path_state{association=\"0\",path=\"0\",state=\"active\"}";
    assert_eq!(samples[active], 1.0, "{}", text.as_str());
    assert!(samples["anabranch_socket_bytes_received_total{local=\"127.0.0.1\"}"] > 0.0);
    let mut text = MetricText::default();
    blocking::block_on(metrics.write(None, &mut text));
    assert_eq!(
        parse(text.as_str()).into_iter().collect::<Vec<_>>(),
        [("anabranch_associations".to_owned(), 0.0)]
    );
}

#[test]
fn peers_cannot_make_series_without_bound() {
    let server = Endpoint::builder().local([127, 0, 0, 1]).udp_port(0).bind().expect("binds");
    let listener = blocking::Endpoint::from(server.clone()).listen(8);
    let client = || {
        let builder = blocking::Endpoint::builder().local([127, 0, 0, 1]).udp_port(0);
        builder.remote_udp_port(server.udp_port()).bind().expect("binds")
    };
    let mut metrics = EndpointMetrics::default();
    let mut write = || {
        let mut text = MetricText::default();
        blocking::block_on(metrics.write(Some(&server), &mut text));
        parse(text.as_str())
    };
    let clients: Vec<_> = (0..MOST_ASSOCIATIONS + 4).map(|_| client()).collect();
    let connect = |client: &blocking::Endpoint| {
        let connection = client.connect((IpAddr::from([127, 0, 0, 1]), server.port())).expect("connects");
        (connection, listener.accept().expect("is open"))
    };
    let mut all: Vec<_> = clients.iter().map(connect).collect();
    let full = write();
    assert_eq!(full["anabranch_associations"], (MOST_ASSOCIATIONS + 4) as f64);
    let info = |samples: &BTreeMap<String, f64>| -> Vec<String> {
        samples.keys().filter(|series| series.contains("path_info")).cloned().collect()
    };
    assert_eq!(info(&full).len(), MOST_ASSOCIATIONS);
    // A later association gets the label of an association that has ended, and no new label.
    for (connection, accepted) in all.drain(..8) {
        connection.abort("");
        accepted.closed();
    }
    let later = write();
    assert_eq!(later["anabranch_associations"], (MOST_ASSOCIATIONS - 4) as f64);
    assert!(later.keys().all(|series| full.contains_key(series)));

    for n in 0..2000_u16 {
        let remote = metrics.remote(Ipv6Addr::new(0x2001, 0xdb8, n, 0, 0, 0, 0, 1).into());
        assert_eq!(remote == "other", usize::from(n) >= MOST_REMOTES - 1, "{n}");
    }
}

#[test]
fn a_request_for_metrics_is_answered_and_others_are_not_found() {
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let ask = |request: &[u8]| {
        let mut client = TcpStream::connect(listener.local_addr().expect("is bound")).expect("connects");
        client.write_all(request).expect("is taken");
        let (stream, _) = listener.accept().expect("a client");
        answer(stream, || {
            let mut text = MetricText::default();
            text.family(Kind::Gauge, "a", "A.").sample(&[], 1.0);
            text
        });
        let mut told = String::new();
        // A connection that is closed with unread bytes is reset, so this call may fail.
        let _ = client.read_to_string(&mut told);
        told
    };
    let told = ask(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    let (head, body) = told.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    assert_eq!(parse(body)["a"], 1.0);
    assert!(ask(b"GET /metrics?x=1 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
    for other in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], b"POST /metrics HTTP/1.1\r\n\r\n", b"GET /metricsx HTTP/1.1\r\n\r\n"]
    {
        assert!(ask(other).starts_with("HTTP/1.1 404 "));
    }
    for bad in [&b"GET /metrics HTTP/1.1\r\n"[..], b"\xff\r\n\r\n", &[b'a'; 20_000]] {
        assert_eq!(ask(bad), "");
    }
}

#[test]
fn a_bare_port_is_one_of_loopback() {
    assert_eq!(address("9464"), Some(([127, 0, 0, 1], 9464).into()));
    assert_eq!(address("192.0.2.1:9464"), Some(([192, 0, 2, 1], 9464).into()));
    assert_eq!(address("[::]:1"), Some((Ipv6Addr::UNSPECIFIED, 1).into()));
    for wrong in ["", "99999", "host:9464", "192.0.2.1", "-1"] {
        assert_eq!(address(wrong), None, "{wrong}");
    }
}
