//! What was found, in plain words, as tables and as JSON.

use super::scenario::Tried;
use crate::show;
use lab::explain::{Diagnosis, Kind, PathDiagnosis, size};
use lab::scenario::{Flow, Protocol, Sweep};
use serde_json::{Map, Value as Json, json};
use transport::{Limit, Word};

/// A flow, its direction, and what was found.
pub(super) struct Subject<'a> {
    pub(super) flow: &'a Flow,
    pub(super) back: bool,
    pub(super) found: &'a Diagnosis,
    pub(super) tried: &'a [Tried],
}

/// A change that brings less than this share is not worth a word.
const WORTH: f64 = 0.05;

/// The options that sentences name.
struct Facts<'a> {
    send_buffer: String,
    receive_buffer: String,
    /// Bytes of the smaller buffer.
    receive_bytes: f64,
    send_bytes: f64,
    control: &'a str,
    scheduler: &'a str,
    max_burst: u32,
}

impl Subject<'_> {
    fn facts(&self) -> Facts<'_> {
        let Flow { client_options, server_options, client_tcp, server_tcp, .. } = self.flow;
        let ends = |client, server| if self.back { (server, client) } else { (client, server) };
        let (sender, receiver) =
            if self.back { (server_options, client_options) } else { (client_options, server_options) };
        let (send, receive, control) = match self.flow.protocol {
            Protocol::Tcp => {
                let (sender, receiver) = ends(client_tcp, server_tcp);
                (sender.send_buffer, receiver.receive_buffer, sender.control.word())
            }
            _ => (sender.send_buffer, receiver.receive_buffer, sender.congestion_control.word()),
        };
        Facts {
            send_buffer: size(send),
            receive_buffer: size(receive),
            send_bytes: send.as_f64(),
            receive_bytes: receive.as_f64(),
            control,
            scheduler: sender.cmt.path_selection.name(),
            max_burst: sender.max_burst,
        }
    }

    /// The paths on which data was sent, by their numbers.
    fn used(&self) -> impl Iterator<Item = (usize, &PathDiagnosis)> {
        self.found.paths.iter().enumerate().filter(|(_, path)| path.packets > 0.0)
    }

    /// Three sentences: what limits it, the evidence, and what helps.
    fn sentences(&self) -> [String; 3] {
        [self.what(), self.evidence(), self.help()]
    }

    fn what(&self) -> String {
        let limits = self.found.limits.iter().filter(|(_, share)| *share >= WORTH).take(3);
        let words: Vec<String> = limits
            .map(|&(limit, share)| format!("{} of the time by {}", percent(share), phrase(limit)))
            .collect();
        format!(
            "`{}` received {}, {} of what the links of its paths carry: its sender was limited {}.",
            self.flow.name,
            show::rate(self.found.throughput),
            percent(self.found.share_of_links),
            listed(&words)
        )
    }

    fn evidence(&self) -> String {
        let facts = self.facts();
        let Some((limit, _)) = self.found.main_limit() else { return String::new() };
        let mut text = match limit {
            Limit::Application => {
                "The application gave less than the paths carry, and what it gave left at once".to_owned()
            }
            Limit::SendBuffer => self.buffer("send buffer", &facts.send_buffer, facts.send_bytes),
            Limit::PeerWindow => self.buffer("receive buffer", &facts.receive_buffer, facts.receive_bytes),
            Limit::HeadOfLine => self.blocking(&facts),
            Limit::Scheduler => {
                format!(
                    "A path had room, but the scheduler `{}` or a divided buffer kept new data from it",
                    facts.scheduler
                )
            }
            Limit::Pacing => format!(
                "There was room in the windows, but `max_burst` = {} or the pacer of `{}` held packets back",
                facts.max_burst, facts.control
            ),
            Limit::Cwnd | Limit::Recovery => self.windows(facts.control),
            Limit::Timeout => {
                "The retransmission timer had to expire before anything was sent again".to_owned()
            }
        };
        let dead =
            self.found.paths.iter().enumerate().filter(|(_, path)| path.share(Limit::Timeout) >= WORTH);
        let silent: Vec<String> = dead
            .map(|(n, path)| {
                let times = show::count(path.timeouts);
                format!(
                    "path {n} waited for {} of the time for its timer, which expired {times} times",
                    percent(path.share(Limit::Timeout))
                )
            })
            .collect();
        if !silent.is_empty() {
            text += &format!("; {}", listed(&silent));
        }
        text + "."
    }

    /// A buffer that is too small for the round-trip time.
    fn buffer(&self, name: &str, size: &str, bytes: f64) -> String {
        let slowest = self.used().max_by(|a, b| a.1.srtt.total_cmp(&b.1.srtt));
        match slowest.filter(|(_, path)| path.srtt > 0.0) {
            None => format!("The {name} of {size} was full"),
            Some((n, path)) => format!(
                "The {name} of {size} was full, and path {n} has an RTT of {}: no more than {} gets through",
                show::time(path.srtt),
                show::rate(8.0 * bytes / path.srtt)
            ),
        }
    }

    fn blocking(&self, facts: &Facts<'_>) -> String {
        let Some((n, share)) = self.found.blocking_path() else { return "A buffer was full".to_owned() };
        let path = &self.found.paths[n];
        let others: Vec<String> = self
            .used()
            .filter(|&(other, _)| other != n)
            .map(|(other, path)| format!("path {other}: {}", show::time(path.srtt)))
            .collect();
        let beside = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
        format!(
            "For {} of the time a chunk of path {n} was missing (RTT {}{beside}; {} retransmissions for {} packets), and what \
             had arrived behind it filled a buffer (receive_buffer {}, send_buffer {})",
            percent(share),
            show::time(path.srtt),
            show::count(path.retransmissions),
            show::count(path.packets),
            facts.receive_buffer,
            facts.send_buffer
        )
    }

    /// Full links, or windows that losses keep small.
    fn windows(&self, control: &str) -> String {
        let of_path = |(n, path): (usize, &PathDiagnosis)| {
            format!(
                "path {n} sent {}, {} of its tightest link, with {} retransmissions for {} packets ({})",
                show::rate(path.sent),
                percent(path.sent_share),
                show::count(path.retransmissions),
                show::count(path.packets),
                percent(path.retransmissions / path.packets.max(1.0))
            )
        };
        let paths: Vec<String> = self.used().map(of_path).collect();
        let full = self.used().all(|(_, path)| path.sent_share >= FULL);
        let lead = if full { "The links are full" } else { &format!("cwnd of `{control}` was full") };
        format!("{lead}: {}", listed(&paths))
    }

    fn help(&self) -> String {
        let base = self.found.throughput;
        let mut better: Vec<(&Tried, f64)> =
            self.tried.iter().filter_map(|one| Some((one, *one.throughput.as_ref().ok()?))).collect();
        better.retain(|&(_, rate)| rate > base * (1.0 + WORTH));
        better.sort_by(|a, b| b.1.total_cmp(&a.1));
        match (better.as_slice(), self.tried.len()) {
            ([], 0) => "No change was tried.".to_owned(),
            ([], 1) => format!("The change that was tried, {}, does not help.", self.tried[0].change),
            ([], n) => {
                format!("None of the {n} changes that were tried brings more than {}.", percent(WORTH))
            }
            ([first, rest @ ..], _) => {
                let mut text = format!("With {} it is {}", first.0.words(), instead_of(first.1, base));
                if let Some(second) = rest.first() {
                    text += &format!(", with {} {}", second.0.words(), show::rate(second.1));
                }
                text + "."
            }
        }
    }
}

/// Share of the rate of a link from which on it counts as full: headers take a few percent.
const FULL: f64 = 0.9;

impl Tried {
    /// The change, with a word on one that leaves out paths.
    fn words(&self) -> String {
        if self.kind == Kind::Path {
            format!("{} (that path alone)", self.change)
        } else {
            self.change.clone()
        }
    }
}

/// Two rates, with one unit if both have the same.
fn instead_of(rate: f64, base: f64) -> String {
    let (rate, base) = (show::rate(rate), show::rate(base));
    match (rate.split_once(' '), base.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} instead of {base}"),
        _ => format!("{rate} instead of {base}"),
    }
}

fn phrase(limit: Limit) -> &'static str {
    match limit {
        Limit::Application => "the application",
        Limit::SendBuffer => "the send buffer",
        Limit::PeerWindow => "the peer's receive window",
        Limit::HeadOfLine => "head-of-line blocking",
        Limit::Scheduler => "the choice of paths",
        Limit::Pacing => "pacing or a burst limit",
        Limit::Cwnd => "cwnd",
        Limit::Recovery => "loss recovery",
        Limit::Timeout => "timeouts",
    }
}

/// A share in percent, with a digit after the point below 10 %.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 9.95 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// "a", "a and b", "a, b and c".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The sentences, the shares and the changes, for a reader.
pub(super) fn readable(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    for sentence in subject.sentences() {
        text += &format!("{sentence}\n");
    }
    text += &format!("\n{}", limits(subject.found));
    if !subject.tried.is_empty() {
        text += &format!("\n{}", changes(subject));
    }
    text
}

/// A column for the flow and for each path, a line for each limit that has a share.
fn limits(found: &Diagnosis) -> String {
    let mut head = vec!["limited by".to_owned(), "flow".to_owned()];
    head.extend((0..found.paths.len()).map(|n| format!("path {n}")));
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

/// All of it for programs.
pub(super) fn as_json(sweep: &Sweep, replica: u32, subject: &Subject<'_>) -> Json {
    let found = subject.found;
    let shares = |limits: &[(Limit, f64)]| -> Map<String, Json> {
        limits.iter().map(|(limit, share)| (limit.name().to_owned(), json!(share))).collect()
    };
    let paths: Vec<Json> = found
        .paths
        .iter()
        .map(|path| {
            json!({
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
            Ok(rate) => json!({ "change": one.change, "throughput_bps": rate }),
            Err(why) => json!({ "change": one.change, "error": why }),
        })
        .collect();
    json!({
        "title": sweep.title(),
        "seed": sweep.variants()[0].scenario.seed,
        "replica": replica,
        "flow": subject.flow.name,
        "direction": if subject.back { "back" } else { "forward" },
        "throughput_bps": found.throughput,
        "goodput_share": found.share_of_links,
        "limited_by": shares(&found.limits),
        "paths": paths,
        "changes": tried,
        "sentences": subject.sentences(),
    })
}
