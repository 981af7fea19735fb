//! Explains a flow in sentences.

use crate::show;
use lab::explain::{self, Diagnosis, Kind, PathDiagnosis};
use lab::output::FlowPaths;
use lab::scenario::{Flow, Protocol};
use transport::{Limit, Word};
use units::ByteCount;

/// A flow, its direction, and the measurements that explain it.
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) back: bool,
    /// Options of the sender; `None` if only results are available and not the scenario.
    pub(super) facts: Option<Facts<'a>>,
    pub(super) found: &'a Diagnosis,
    /// Names of the paths of all flows.
    pub(super) paths: &'a [FlowPaths],
    pub(super) tried: &'a [Tried],
}

/// Smallest share of the time, and smallest gain of a change, that a sentence mentions.
pub(super) const WORTH: f64 = 0.05;

/// Options of both ends that the sentences name.
pub(super) struct Facts<'a> {
    send_buffer: ByteCount,
    /// The receive buffer of the receiver.
    receive_buffer: ByteCount,
    control: &'a str,
    scheduler: &'a str,
    max_burst: u32,
}

impl<'a> Facts<'a> {
    /// The options of the two ends for one direction of a flow.
    pub(super) fn of(flow: &'a Flow, back: bool) -> Self {
        let (client, server) = (&flow.client_options, &flow.server_options);
        let (sender, receiver) = if back { (server, client) } else { (client, server) };
        let (client, server) = (&flow.client_tcp, &flow.server_tcp);
        let (tcp_sender, tcp_receiver) = if back { (server, client) } else { (client, server) };
        let (send_buffer, receive_buffer, control) = match flow.protocol {
            Protocol::Tcp => {
                (tcp_sender.send_buffer.most(), tcp_receiver.receive_buffer.most(), tcp_sender.control.word())
            }
            _ => {
                (sender.send_buffer.most(), receiver.receive_buffer.most(), sender.congestion_control.word())
            }
        };
        let (scheduler, max_burst) = (sender.cmt.path_selection.name(), sender.max_burst);
        Facts { send_buffer, receive_buffer, control, scheduler, max_burst }
    }
}

impl Subject<'_> {
    /// The number and the name of a path: `path 1 (lte)`.
    pub(super) fn path(&self, n: usize) -> String {
        format!("path {}", FlowPaths::numbered(self.paths, self.name, self.back, n as u8))
    }

    /// The paths on which data was sent, by their numbers.
    fn used(&self) -> impl Iterator<Item = (usize, &PathDiagnosis)> {
        self.found.paths.iter().enumerate().filter(|(_, path)| path.packets > 0.0)
    }

    /// Three texts: the throughput of the flow and what limits it, the evidence (may be
    /// empty), and the changes that help.
    pub(super) fn sentences(&self) -> [String; 3] {
        [self.what(), self.evidence(), self.help()]
    }

    fn what(&self) -> String {
        let limits = self.found.limits.iter().filter(|(_, share)| *share >= WORTH).take(3);
        let words: Vec<String> = limits
            .map(|&(limit, share)| format!("{} of the time by {}", percent(share), phrase(limit)))
            .collect();
        let share = self.found.share_of_links;
        let share = share.map(|share| format!(", {} of what the links of its paths carry", percent(share)));
        format!(
            "`{}` received {}{}: its sender was limited {}.",
            self.name,
            show::rate(self.found.throughput),
            share.unwrap_or_default(),
            listed(&words)
        )
    }

    fn evidence(&self) -> String {
        let facts = self.facts.as_ref();
        let Some((limit, _)) = self.found.main_limit() else { return String::new() };
        let mut text = match limit {
            Limit::Application => {
                "The application gave less than the paths carry, and what it gave left at once".to_owned()
            }
            Limit::SendBuffer => self.buffer("send buffer", facts.map(|facts| facts.send_buffer)),
            Limit::PeerWindow => self.buffer("receive buffer", facts.map(|facts| facts.receive_buffer)),
            Limit::HeadOfLine => self.blocking(facts),
            Limit::Scheduler => {
                let name = facts.map_or(String::new(), |facts| format!(" `{}`", facts.scheduler));
                format!("A path had room, but the scheduler{name} or a divided buffer kept new data from it")
            }
            Limit::Pacing => {
                let burst = facts.map_or(String::new(), |facts| format!(" ({} packets)", facts.max_burst));
                format!(
                    "There was room in the windows, but a limit of bursts{burst} or the pacer held packets back"
                )
            }
            Limit::Cwnd | Limit::Recovery => self.windows(facts),
            Limit::Timeout => {
                "The retransmission timer had to expire before anything was sent again".to_owned()
            }
        };
        let waiting =
            self.found.paths.iter().enumerate().filter(|(_, path)| path.share(Limit::Timeout) >= WORTH);
        let silent: Vec<String> = waiting.map(|(n, path)| silence(&self.path(n), path)).collect();
        if !silent.is_empty() {
            text += &format!("; {}", listed(&silent));
        }
        text + "."
    }

    /// A sentence on a buffer that is too small for the round-trip time.
    fn buffer(&self, name: &str, size: Option<ByteCount>) -> String {
        let full = match size {
            None => format!("The {name} was full"),
            Some(bytes) => format!("The {name} of {} was full", explain::size(bytes)),
        };
        let slowest = self.used().max_by(|a, b| a.1.srtt.total_cmp(&b.1.srtt));
        let Some((n, path)) = slowest.filter(|(_, path)| path.srtt > 0.0) else { return full };
        let rtt = format!("{full}, and {} has an RTT of {}", self.path(n), show::time(path.srtt));
        let rate = size.map(|bytes| show::rate(8.0 * bytes.as_f64() / path.srtt));
        rate.map_or(rtt.clone(), |rate| format!("{rtt}: one buffer in each round trip is {rate}"))
    }

    fn blocking(&self, facts: Option<&Facts<'_>>) -> String {
        let Some((n, share)) = self.found.blocking_path() else { return "A buffer was full".to_owned() };
        let path = &self.found.paths[n];
        let others = self.used().filter(|&(other, _)| other != n);
        let beside: String = others
            .map(|(other, path)| format!("; {}: {}", self.path(other), show::time(path.srtt)))
            .collect();
        let buffers = facts.map_or(String::new(), |facts| {
            let [receive, send] = [facts.receive_buffer, facts.send_buffer].map(explain::size);
            format!(" (receive_buffer {receive}, send_buffer {send})")
        });
        format!(
            "For {} of the time a chunk of {} was missing (RTT {}{beside}; {} retransmissions for {} packets), and what \
             had arrived behind it filled a buffer{buffers}",
            percent(share),
            self.path(n),
            show::time(path.srtt),
            show::count(path.retransmissions),
            show::count(path.packets),
        )
    }

    /// A sentence on links that are full, or on a cwnd that losses keep small.
    fn windows(&self, facts: Option<&Facts<'_>>) -> String {
        let of_path = |(n, path): (usize, &PathDiagnosis)| {
            format!(
                "{} sent {}, {} of its tightest link, with {} retransmissions for {} packets ({})",
                self.path(n),
                show::rate(path.sent),
                percent(path.sent_share),
                show::count(path.retransmissions),
                show::count(path.packets),
                percent(path.retransmissions / path.packets.max(1.0))
            )
        };
        let paths: Vec<String> = self.used().map(of_path).collect();
        let full = self.used().all(|(_, path)| path.sent_share >= FULL);
        let control = facts.map_or(String::new(), |facts| format!(" of `{}`", facts.control));
        let lead = if full { "The links are full".to_owned() } else { format!("cwnd{control} was full") };
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
                let mut text = format!("With {} it is {}", first.0.sentence(), instead_of(first.1, base));
                if let Some(second) = rest.first() {
                    text += &format!(", with {} {}", second.0.sentence(), show::rate(second.1));
                }
                text + "."
            }
        }
    }
}

/// Ratio of throughput to rate from which a link counts as full. Headers take a few percent of the rate.
const FULL: f64 = 0.9;

/// A change that was run.
pub(super) struct Tried {
    pub(super) kind: Kind,
    pub(super) change: String,
    /// Options of the scenario that the change replaces.
    pub(super) without: Vec<&'static str>,
    /// Name of the path that is used alone.
    pub(super) path: Option<String>,
    /// Payload received per second in bit/s, or the reason why the run failed.
    pub(super) throughput: Result<f64, String>,
}

impl Tried {
    /// The change in words, with a remark if it leaves out paths.
    pub(super) fn words(&self) -> String {
        if self.kind == Kind::Path {
            format!("{} ({} alone)", self.change, self.path.as_deref().unwrap_or("that path"))
        } else {
            self.change.clone()
        }
    }
}

/// Largest number of options that a sentence names.
const MOST_NAMED: usize = 4;

impl Tried {
    /// As [`Self::words`], and with the options of the scenario that the change replaces.
    fn sentence(&self) -> String {
        if self.without.is_empty() {
            return self.words();
        }
        let mut names: Vec<String> =
            self.without.iter().take(MOST_NAMED).map(|name| (*name).to_owned()).collect();
        match self.without.len().saturating_sub(MOST_NAMED) {
            0 => {}
            1 => names.push("1 other option".to_owned()),
            more => names.push(format!("{more} other options")),
        }
        format!("{}, without your {},", self.words(), listed(&names))
    }
}

/// A sentence on a path that timeouts limit, or that is inactive.
fn silence(name: &str, path: &PathDiagnosis) -> String {
    let share = percent(path.share(Limit::Timeout));
    // On an inactive path only heartbeats are sent, so no retransmission timer expires.
    if path.timeouts < 1.0 {
        return format!("{name} was dead for {share} of the time");
    }
    let times = show::count(path.timeouts);
    let plural = if path.timeouts < 1.5 { "time" } else { "times" };
    let packets = if path.packets < 1.0 { ", and carried no data" } else { "" };
    format!("{name} did not answer for {share} of the time: its timer expired {times} {plural}{packets}")
}

/// Two rates; the unit is written once if both have the same.
fn instead_of(rate: f64, base: f64) -> String {
    let (rate, base) = (show::rate(rate), show::rate(base));
    match (rate.split_once(' '), base.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} instead of {base}"),
        _ => format!("{rate} instead of {base}"),
    }
}

/// A reason that held a sender back, in words.
pub(super) fn phrase(limit: Limit) -> &'static str {
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

/// A share in percent, with one decimal place if it is above 0 and below 10 %.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 9.95 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Joins words: "a", "a and b", "a, b and c".
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_an_expired_timer_was_dead() {
        let mut path = PathDiagnosis { limits: vec![(Limit::Timeout, 0.75)], ..PathDiagnosis::default() };
        assert_eq!(silence("path 2", &path), "path 2 was dead for 75 % of the time");
        (path.timeouts, path.packets) = (1.0, 8.0);
        let told = silence("path 2 (lte)", &path);
        assert_eq!(told, "path 2 (lte) did not answer for 75 % of the time: its timer expired 1 time");
    }
}
