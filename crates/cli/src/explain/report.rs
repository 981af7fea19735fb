//! The explanation of a flow, as tables and as JSON.

use super::words::{Subject, percent, phrase};
use crate::show;
use serde_json::{Map, Value as Json, json};
use transport::Limit;

/// The sentences, a table of shares and a table of changes, for people.
pub(super) fn readable(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    for sentence in subject.sentences() {
        text += &format!("{sentence}\n");
    }
    text += &format!("\n{}", limits(subject));
    if !subject.tried.is_empty() {
        text += &format!("\n{}", changes(subject));
    }
    text
}

/// A table with a column for the flow and for each path, and a row for each reason that held a sender back.
fn limits(subject: &Subject<'_>) -> String {
    let found = subject.found;
    let mut head = vec!["limited by".to_owned(), "flow".to_owned()];
    head.extend((0..found.paths.len()).map(|n| subject.path(n)));
    let mut rows = vec![head];
    for &limit in Limit::ALL {
        let shares: Vec<f64> = std::iter::once(found.share(limit))
            .chain(found.paths.iter().map(|path| path.share(limit)))
            .collect();
        if shares.iter().any(|share| *share >= 0.0005) {
            let cells = shares.iter().map(|share| percent(*share));
            rows.push(std::iter::once(phrase(limit).to_owned()).chain(cells).collect());
        }
    }
    if found.paths.len() > 1 && found.paths.iter().any(|path| path.blocks >= 0.0005) {
        let blocks = found.paths.iter().map(|path| percent(path.blocks));
        rows.push(["blocks the others".to_owned(), String::new()].into_iter().chain(blocks).collect());
    }
    show::table(&rows)
}

fn changes(subject: &Subject<'_>) -> String {
    let base = subject.found.throughput;
    let mut rows = vec![["change", "throughput", "difference"].map(str::to_owned).to_vec()];
    rows.push(vec!["none".to_owned(), show::rate(base), String::new()]);
    for one in subject.tried {
        rows.push(match &one.throughput {
            Ok(rate) => {
                let difference =
                    if base > 0.0 { format!("{:+.1} %", (rate / base - 1.0) * 100.0) } else { String::new() };
                vec![one.words(), show::rate(*rate), difference]
            }
            Err(why) => vec![one.words(), "failed".to_owned(), why.clone()],
        });
    }
    show::table(&rows)
}

/// The whole explanation as JSON, for programs.
pub(super) fn as_json(subject: &Subject<'_>) -> Json {
    let found = subject.found;
    let shares = |limits: &[(Limit, f64)]| -> Map<String, Json> {
        limits.iter().map(|(limit, share)| (limit.name().to_owned(), json!(share))).collect()
    };
    let paths: Vec<Json> = found
        .paths
        .iter()
        .enumerate()
        .map(|(n, path)| {
            json!({
                "label": subject.path(n),
                "limited_by": shares(&path.limits),
                "blocks": path.blocks,
                "sent_throughput_bps": path.sent,
                "sent_share": path.sent_share,
                "srtt_s": path.srtt,
                "data_packets": path.packets,
                "retransmissions": path.retransmissions,
                "timeouts": path.timeouts,
            })
        })
        .collect();
    let tried: Vec<Json> = subject
        .tried
        .iter()
        .map(|one| match &one.throughput {
            Ok(rate) => {
                json!({ "change": one.change, "without": one.without, "throughput_bps": rate })
            }
            Err(why) => json!({ "change": one.change, "error": why }),
        })
        .collect();
    json!({
        "flow": subject.name,
        "direction": if subject.back { "back" } else { "forward" },
        "throughput_bps": found.throughput,
        "goodput_share": found.share_of_links,
        "limited_by": shares(&found.limits),
        "paths": paths,
        "changes": tried,
        "sentences": subject.sentences(),
    })
}
