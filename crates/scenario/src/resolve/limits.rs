//! Limits of a scenario, so that no scenario uses all memory. The limits are far above the sizes that can be
//! simulated in a day.

use super::FlowGroup;
use crate::decode::At;
use crate::diagnostic::Faults;
use crate::file::{FileTable, TrafficTable};
use crate::{Distribution, Every, Flow, Hertz, NodeKind, Probe, Protocol, Scenario, Traffic, Transfers};
use units::{ByteCount, Instant, Span};

/// Largest number of rows that all probes of a run record at intervals.
pub(super) const ROWS: u64 = 20_000_000;

/// Largest mean number of short transfers of a run.
const TRANSFERS: f64 = 5e6;

/// Largest number of messages that one sender may keep waiting (the option `queue_size`).
pub(super) const QUEUE_SIZE: u32 = 1_000_000;

/// Largest number of messages that wait in the send buffers of all flows together.
const WAITING: u64 = 20_000_000;

/// Largest message.
const MESSAGE: ByteCount = ByteCount::new(1_000_000_000);

/// Largest mean number of messages of a frame.
const MESSAGES_OF_A_FRAME: f64 = 1e6;

/// Largest number of entries in all routing tables. Each node has one entry for each interface of a host.
const ROUTES: usize = 120_000_000;

/// The mean of a distribution; `number` converts the parameters of the distribution to numbers.
pub(super) fn mean<T: Copy>(law: Distribution<T>, number: fn(T) -> f64) -> f64 {
    match law {
        Distribution::Constant(value) => number(value),
        Distribution::Uniform(low, high) => (number(low) + number(high)) / 2.0,
        Distribution::Exponential(mean) | Distribution::Pareto(mean, _) => number(mean),
    }
}

/// Adds a fault for a `max_msg_size` that is zero or too large.
pub(super) fn message(size: &At<ByteCount>, faults: &mut Faults) -> Option<()> {
    let message = match size.value {
        ByteCount::ZERO => "expected a `max_msg_size` above 0 B".to_owned(),
        large if large > MESSAGE => format!("expected a `max_msg_size` of at most {MESSAGE}"),
        _ => return Some(()),
    };
    faults.note(size.span.clone(), message);
    None
}

/// Adds a fault for a frame rate with mean zero, and for frames that are cut into too many messages.
pub(super) fn frames(rate: Distribution<Hertz>, table: &TrafficTable, faults: &mut Faults) -> Option<()> {
    if mean(rate, Hertz::as_f64) == 0.0 {
        let message = "no frame is ever sent; expected a mean above 0 Hz, or \"0 Hz\" for a saturated sender";
        faults.note(table.frame_rate.span.clone(), message.into());
        return None;
    }
    let messages = mean(table.frame_size.value, ByteCount::as_f64) / table.max_msg_size.value.as_f64();
    if messages > MESSAGES_OF_A_FRAME {
        let message = format!(
            "a frame is cut into {messages:.0} messages; expected at most {MESSAGES_OF_A_FRAME:.0}, with a larger \
             `max_msg_size`"
        );
        faults.note(table.frame_size.span.clone(), message);
        return None;
    }
    Some(())
}

/// The time at which a scenario ends if every handshake takes no time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedEnd {
    /// Time at which the last flow stops and the last transfer begins. Exponential and Pareto connect and
    /// start times count with their means.
    pub at: Instant,
    /// True if all connect and start times are bounded: all flows have then stopped by `at`, unless a
    /// handshake takes long.
    pub certain: bool,
}

impl PlannedEnd {
    pub(super) fn of(flows: &[Flow], transfers: &[Transfers]) -> Self {
        let stop = |flow: &Flow| Instant::ZERO + starts(flow)[1] + flow.stop_time;
        let bounded = |flow: &Flow| {
            let is_bounded = |law| matches!(law, Distribution::Constant(_) | Distribution::Uniform(..));
            is_bounded(flow.connect_time) && is_bounded(flow.start_time)
        };
        let ends = flows.iter().map(stop).chain(transfers.iter().map(|transfers| transfers.to));
        PlannedEnd { at: ends.max().unwrap_or(Instant::ZERO), certain: flows.iter().all(bounded) }
    }
}

/// The earliest and the latest start of transmission if the handshake takes no time. Exponential and Pareto
/// times count with their means.
pub(super) fn starts(flow: &Flow) -> [Span; 2] {
    let bounds = |law| match law {
        Distribution::Constant(at) => [at, at],
        Distribution::Uniform(from, to) => [from, to],
        Distribution::Exponential(mean) | Distribution::Pareto(mean, _) => [mean, mean],
    };
    let (connect, start) = (bounds(flow.connect_time), bounds(flow.start_time));
    [connect[0] + start[0], connect[1] + start[1]]
}

/// Rows that a probe records at intervals.
pub(super) fn rows(probe: &Probe, end: PlannedEnd) -> u64 {
    let Every::Interval(every) = probe.every else { return 0 };
    let to = probe.to.map_or(end.at, |to| to.min(end.at));
    to.since(probe.from).as_nanos() / every.as_nanos().max(1)
}

/// Adds a fault for a scenario that uses too much memory in total, or in which nothing is sent.
pub(super) fn scenario(
    file: &FileTable,
    scenario: &Scenario,
    groups: &[FlowGroup<'_>],
    faults: &mut Faults,
) -> bool {
    let before = faults.len();
    let silent = |flow: &Flow| flow.forward.is_none() && flow.back.is_none();
    if scenario.flows.iter().all(silent) && scenario.transfers.is_empty() && scenario.real.is_empty() {
        let expected = "expected a [[flow]] with a `frame_size` above 0 B, or [[transfers]]";
        let at = file.flow.first().map_or(0..0, |table| table.traffic.forward.frame_size.span.clone());
        faults.note(at, format!("nothing is sent; {expected}"));
    }
    let is_host = |node: &usize| matches!(scenario.nodes[*node].kind, NodeKind::Host { .. });
    let interfaces: usize =
        scenario.links.iter().map(|link| link.between.iter().filter(|node| is_host(node)).count()).sum();
    if interfaces.saturating_mul(scenario.nodes.len()) > ROUTES {
        let link = file.link.last().map_or(0..0, |link| link.between.span.clone());
        let message = format!(
            "{} nodes and {interfaces} interfaces of hosts; expected a product of at most {ROUTES}",
            scenario.nodes.len()
        );
        faults.note(link, message);
    }
    let mut waiting = 0;
    for (table, group) in file.flow.iter().zip(groups) {
        waiting += scenario.flows[group.flows.clone()].iter().map(most_waiting).sum::<u64>();
        if waiting > WAITING {
            let queue = &table.traffic.forward.queue_size;
            let at = if queue.span.is_empty() { &table.name.span } else { &queue.span };
            let message = format!(
                "the flows up to this keep {waiting} messages waiting; expected at most {WAITING} in all"
            );
            faults.note(at.clone(), message);
            break;
        }
    }
    for (table, transfers) in file.transfers.iter().zip(&scenario.transfers) {
        let time = transfers.to.since(transfers.from).as_secs_f64();
        let count = mean(transfers.rate, Hertz::as_f64) * time;
        if count > TRANSFERS {
            let message = format!("about {count:.0} transfers; expected at most {TRANSFERS:.0}");
            faults.note(table.rate.span.clone(), message);
        }
    }
    faults.len() == before
}

/// Largest number of messages that wait in the send buffers of a flow.
fn most_waiting(flow: &Flow) -> u64 {
    let both = |client: ByteCount, server: ByteCount, of: fn(&Traffic, ByteCount) -> u64| {
        flow.forward.as_ref().map_or(0, |traffic| of(traffic, client))
            + flow.back.as_ref().map_or(0, |traffic| of(traffic, server))
    };
    match flow.protocol {
        Protocol::Sctp => {
            both(flow.client_options.send_buffer.most(), flow.server_options.send_buffer.most(), queued)
        }
        // TCP stores no messages, but the time of a run grows with
        // the number of messages whose bytes fit the send buffer.
        Protocol::Tcp => {
            let messages =
                both(flow.client_tcp.send_buffer.most(), flow.server_tcp.send_buffer.most(), buffered);
            if messages > WAITING { messages } else { 0 }
        }
        Protocol::Udp => 0,
    }
}

/// Number of messages that fit a send buffer.
fn buffered(traffic: &Traffic, buffer: ByteCount) -> u64 {
    buffer.get() / traffic.max_msg_size.get().max(1)
}

/// Largest number of messages that wait in a send buffer for their first transmission.
fn queued(traffic: &Traffic, buffer: ByteCount) -> u64 {
    u64::from(traffic.queue_size).min(buffered(traffic, buffer))
}
