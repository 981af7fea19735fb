//! Changed copies of a scenario. Each copy changes one thing for one flow; a run of the copy shows whether
//! the change helps.

use crate::scenario::{Flow, NodeKind, Pace, Protocol, Scenario};
use std::collections::BTreeSet;
use transport::BufferSize;
use units::ByteCount;

/// A changed scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// Kind of the change.
    pub kind: Kind,
    /// The changed keys, as written in a scenario.
    pub change: String,
    /// Options of the scenario that this change sets to other values.
    pub without: Vec<&'static str>,
    /// The scenario with the change.
    pub scenario: Scenario,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Buffers of twice the size.
    Buffers,
    /// Another path scheduler, or the use of several paths.
    Scheduler,
    /// Another congestion control.
    Control,
    /// Another limit of bursts, or pacing.
    Bursts,
    /// All options of a profile (a named set of options).
    Profile,
    /// A single path.
    Path,
    /// An application that always has data.
    Traffic,
}

/// The schedulers that are tried, best first.
const SCHEDULERS: [&str; 3] = ["in-time", "lowest-rtt", "ecf"];

/// The congestion controls that are tried.
const CONTROLS: [&str; 3] = ["cubic", "bbr", "standard"];

/// Largest number of schedulers, and of congestion controls, to try instead of the present one.
const OTHERS: usize = 2;

/// Returns the changes to try for a flow. `back` is true if its data goes from the server to the client. The
/// changed scenarios have no probes and no captures.
pub fn alternatives(scenario: &Scenario, flow: usize, back: bool) -> Vec<Alternative> {
    let mut base = scenario.clone();
    base.probes.clear();
    base.captures.clear();
    own_port(&mut base, flow);
    let mut tried = Tried { base, flow, back, list: Vec::new() };
    match scenario.flows[flow].protocol {
        Protocol::Sctp => tried.sctp(),
        Protocol::Tcp => tried.tcp(),
        Protocol::Udp => {}
    }
    tried.traffic();
    tried.list
}

/// Moves a flow to a server port of its own if it shares a port, so that its options can differ.
fn own_port(scenario: &mut Scenario, flow: usize) {
    let Flow { server, remote_port, .. } = scenario.flows[flow];
    let shares = |other: &Flow| (other.server, other.remote_port) == (server, remote_port);
    let used: BTreeSet<u16> = scenario
        .flows
        .iter()
        .chain(scenario.transfers.iter().map(|transfers| &transfers.like))
        .map(|flow| flow.remote_port)
        .collect();
    let others = scenario.flows.iter().enumerate().any(|(n, other)| n != flow && shares(other))
        || scenario.transfers.iter().any(|transfers| shares(&transfers.like));
    if others && let Some(free) = (1..u16::MAX).rev().find(|port| !used.contains(port)) {
        scenario.flows[flow].remote_port = free;
    }
}

struct Tried {
    base: Scenario,
    flow: usize,
    back: bool,
    list: Vec<Alternative>,
}

impl Tried {
    fn push(&mut self, kind: Kind, change: String, apply: impl FnOnce(&mut Flow)) {
        let mut scenario = self.base.clone();
        apply(&mut scenario.flows[self.flow]);
        self.list.push(Alternative { kind, change, without: Vec::new(), scenario });
    }

    fn sctp(&mut self) {
        let back = self.back;
        let flow = self.base.flows[self.flow].clone();
        let [sender, receiver] = ends(&flow, back);
        for (change, [send, receive]) in doubled(sender.send_buffer, receiver.receive_buffer) {
            self.push(Kind::Buffers, change, |flow| {
                let [sender, receiver] = both(flow, back);
                sender.send_buffer = send.unwrap_or(sender.send_buffer);
                receiver.receive_buffer = receive.unwrap_or(receiver.receive_buffer);
            });
        }
        let networks = self.networks(&flow);
        let several = networks.len() > 1;
        if several && sender.cmt.enabled {
            let present = sender.cmt.path_selection;
            let others = SCHEDULERS.iter().filter(|word| **word != present.name()).take(OTHERS);
            for (word, scheduler) in others.filter_map(|word| Some((word, word.parse().ok()?))) {
                self.push(Kind::Scheduler, format!("cmt.path_selection = \"{word}\""), |flow| {
                    both(flow, back)[0].cmt.path_selection = scheduler;
                });
            }
        } else if several {
            self.push(Kind::Scheduler, "cmt.enabled = true".to_owned(), |flow| {
                both(flow, back).into_iter().for_each(|options| options.cmt.enabled = true);
            });
        }
        let present = transport::Word::word(&sender.congestion_control);
        for (word, control) in controls(present) {
            self.push(Kind::Control, format!("congestion_control = \"{word}\""), |flow| {
                both(flow, back)[0].congestion_control = control.into();
            });
        }
        self.bursts(sender);
        let recommended = sctp::Config::recommended();
        let without = given_up([sender, receiver], &recommended);
        let alike = [&flow.client_options, &flow.server_options].into_iter().all(|one| *one == recommended);
        if !alike {
            self.push(Kind::Profile, "profile = \"recommended\"".to_owned(), |flow| {
                (flow.client_options, flow.server_options) = (recommended.clone(), recommended);
            });
            self.list.last_mut().expect("it was pushed").without = without;
        }
        for network in networks.into_iter().filter(|_| several) {
            self.push(Kind::Path, format!("networks = [{network}]"), |flow| {
                flow.networks = Some(vec![network])
            });
        }
    }

    /// Larger bursts, and pacing on or off.
    fn bursts(&mut self, sender: &sctp::Config) {
        let (back, most, pacing) = (self.back, sender.max_burst.saturating_mul(4), !sender.pacing);
        self.push(Kind::Bursts, format!("max_burst = {most}"), |flow| {
            both(flow, back)[0].max_burst = most;
        });
        self.push(Kind::Bursts, format!("pacing = {pacing}"), |flow| both(flow, back)[0].pacing = pacing);
    }

    fn tcp(&mut self) {
        let back = self.back;
        let flow = self.base.flows[self.flow].clone();
        let ends = |flow: &mut Flow| {
            let Flow { client_tcp, server_tcp, .. } = flow;
            if back {
                [server_tcp.clone(), client_tcp.clone()]
            } else {
                [client_tcp.clone(), server_tcp.clone()]
            }
        };
        let set = |flow: &mut Flow, [sender, receiver]: [tcp::Config; 2]| {
            (flow.client_tcp, flow.server_tcp) = if back { (receiver, sender) } else { (sender, receiver) };
        };
        let [sender, receiver] = ends(&mut flow.clone());
        let mut push = |kind, change: String, alter: &dyn Fn(&mut [tcp::Config; 2])| {
            self.push(kind, change, |flow| {
                let mut configs = ends(flow);
                alter(&mut configs);
                set(flow, configs);
            });
        };
        for (change, [send, receive]) in doubled(sender.send_buffer, receiver.receive_buffer) {
            push(Kind::Buffers, change, &|[sender, receiver]| {
                sender.send_buffer = send.unwrap_or(sender.send_buffer);
                receiver.receive_buffer = receive.unwrap_or(receiver.receive_buffer);
            });
        }
        for (word, control) in controls(transport::Word::word(&sender.control)) {
            push(Kind::Control, format!("control = \"{word}\""), &|ends| {
                ends[0].control = control;
            });
        }
    }

    /// Replaces a paced application by one that always has data.
    fn traffic(&mut self) {
        let back = self.back;
        let traffic = |flow: &mut Flow| if back { flow.back.take() } else { flow.forward.take() };
        let paced = traffic(&mut self.base.flows[self.flow].clone())
            .filter(|traffic| traffic.pace != Pace::Saturated);
        let Some(paced) = paced else { return };
        let saturated = crate::scenario::Traffic {
            pace: Pace::Saturated,
            on_off: None,
            changes: Default::default(),
            ..paced
        };
        self.push(Kind::Traffic, "frame_rate = \"0 Hz\"".to_owned(), |flow| {
            let place = if back { &mut flow.back } else { &mut flow.forward };
            *place = Some(saturated);
        });
    }

    /// The networks that a flow may use and to which both of its hosts have a link.
    fn networks(&self, flow: &Flow) -> Vec<u16> {
        let at = |node: usize| {
            let links = self.base.links.iter().filter(move |link| link.between.contains(&node));
            links.map(|link| u16::from(link.net_id)).filter(|&id| id != 0).collect::<BTreeSet<u16>>()
        };
        let allowed = |id: &u16| flow.networks.as_ref().is_none_or(|networks| networks.contains(id));
        let hosts = [flow.client, flow.server];
        let translated = self.base.nodes.iter().any(|node| matches!(node.kind, NodeKind::Nat { .. }));
        if translated {
            return Vec::new();
        }
        at(hosts[0]).intersection(&at(hosts[1])).copied().filter(allowed).collect()
    }
}

/// Fixed buffers of twice the size: the change in words, and the new sizes at the sender and at the receiver.
fn doubled(send: BufferSize, receive: BufferSize) -> Vec<(String, [Option<BufferSize>; 2])> {
    let twice = |buffer| match buffer {
        BufferSize::Fixed(size) => Some(size * 2),
        BufferSize::Auto => None,
    };
    let (send, receive) = (twice(send), twice(receive));
    let word = |name, bytes: Option<ByteCount>| bytes.map(|bytes| format!("{name} = {}", size(bytes)));
    let [send_word, receive_word] = [word("send_buffer", send), word("receive_buffer", receive)];
    let both = receive_word.as_ref().zip(send_word.as_ref()).map(|(one, other)| format!("{one}, {other}"));
    let changes = [(receive_word, [None, receive]), (send_word, [send, None]), (both, [send, receive])];
    let changes = changes.into_iter().filter_map(|(word, sizes)| Some((word?, sizes)));
    changes.map(|(word, sizes)| (word, sizes.map(|bytes| bytes.map(BufferSize::Fixed)))).collect()
}

/// Returns the options that the scenario sets in addition to a profile and that `new` sets differently. The
/// scenario does not contain the name of its profile, so the function assumes the profile from which fewer
/// options differ.
fn given_up(hosts: [&sctp::Config; 2], new: &sctp::Config) -> Vec<&'static str> {
    let (standard, new) = (values(&mut sctp::Config::default()), values(&mut new.clone()));
    let mut names = Vec::new();
    for own in hosts.map(|host| values(&mut host.clone())) {
        let differ = |other: &[(&str, String)]| own.iter().zip(other).filter(|(a, b)| a != b).count();
        let profile = if differ(&new) < differ(&standard) { &new } else { &standard };
        let set =
            own.iter().zip(profile).zip(&new).filter(|((own, profile), new)| own != profile && own != new);
        for ((&(name, _), _), _) in set {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// All options with their values, in a fixed order.
fn values(options: &mut dyn transport::Options) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    options.each(&mut |setting| match setting.value {
        transport::OptionValue::Group(group) => found.extend(values(group)),
        value => found.push((setting.path, format!("{value:?}"))),
    });
    found
}

/// The options of the sender and of the receiver.
fn ends(flow: &Flow, back: bool) -> [&sctp::Config; 2] {
    let Flow { client_options, server_options, .. } = flow;
    if back { [server_options, client_options] } else { [client_options, server_options] }
}

/// As [`ends`], but mutable.
fn both(flow: &mut Flow, back: bool) -> [&mut sctp::Config; 2] {
    let Flow { client_options, server_options, .. } = flow;
    if back { [server_options, client_options] } else { [client_options, server_options] }
}

/// The congestion controls to try instead of the present one.
fn controls(present: &str) -> impl Iterator<Item = (&'static str, cc::Algorithm)> {
    let others = CONTROLS.into_iter().filter(move |word| *word != present);
    others.filter_map(|word| Some((word, word.parse().ok()?))).take(OTHERS)
}

/// A number of bytes in the largest unit that gives a whole number.
pub fn size(bytes: ByteCount) -> String {
    let n = bytes.get();
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1000, "kB")];
    let whole = units.into_iter().find(|(unit, _)| n >= *unit && n.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{n} B"), |(unit, name)| format!("{} {name}", n / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_in_which_they_are_whole() {
        let sizes = [1 << 20, 3 << 19, 2_000_000, 65_536, 200_000, 1501].map(|n| size(ByteCount::new(n)));
        assert_eq!(sizes, ["1 MiB", "1536 KiB", "2 MB", "64 KiB", "200 kB", "1501 B"].map(str::to_owned));
    }
}
