//! The phases of a measurement of latency, and the flows that load the paths in them.

use crate::npmp::{OnOffEvent, Random};
use crate::spec::{FlowSpec, Load, Transport};
use std::time::Duration;

transport::named! {
    /// A phase of a measurement of latency.
    "phase" Phase {
        /// No load.
        Idle = "idle",
        /// The server sends as much as it can.
        Down = "down",
        /// The client sends as much as it can.
        Up = "up",
        /// Both sides send as much as they can.
        Both = "both",
    }
}

/// Pause before each phase and after the last one, in which queues drain and late answers arrive.
const GAP: Duration = Duration::from_secs(1);

/// The times of the phases, and the rate of the probes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyPlan {
    /// Length of each phase with load; the idle phase is half as long.
    pub loaded: Duration,
    /// Probes a second on each path and in the association.
    pub rate: f64,
}

/// A phase, with its beginning and end as times since the server acknowledged START.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The phase.
    pub phase: Phase,
    /// Beginning of the phase.
    pub from: Duration,
    /// End of the phase.
    pub to: Duration,
}

impl LatencyPlan {
    /// The phases in their order.
    pub fn windows(&self) -> [Window; 4] {
        let mut end = Duration::ZERO;
        [Phase::Idle, Phase::Down, Phase::Up, Phase::Both].map(|phase| {
            let from = end + GAP;
            end = from + if phase == Phase::Idle { self.loaded / 2 } else { self.loaded };
            Window { phase, from, to: end }
        })
    }

    /// Time from START to STOP.
    pub fn total(&self) -> Duration {
        self.windows()[3].to + GAP
    }

    /// Returns the two flows of the association: from the server (`down`), and to the
    /// server (`up`). Each sends frames of `size` bytes at `rate` frames a second (0:
    /// as many as the transport accepts), in the phases with load in its direction.
    pub fn flows(&self, rate: f64, size: f64) -> [FlowSpec; 2] {
        let constant = |value| Random { generator: 0, values: [value, 0.0, 0.0, 0.0] };
        let load = Load { rate: constant(rate), size: constant(size) };
        [Phase::Down, Phase::Up].map(|phase| {
            let on = self.windows().into_iter().filter(|window| [phase, Phase::Both].contains(&window.phase));
            let times = on.flat_map(|window| [window.from, window.to]);
            let event = |at: Duration| OnOffEvent { time: constant(at.as_secs_f64()), relative: false };
            let (outbound, inbound) = match phase {
                Phase::Down => (Load::default(), load),
                _ => (load, Load::default()),
            };
            FlowSpec {
                description: phase.to_string(),
                outbound,
                inbound,
                events: times.map(event).collect(),
                ..FlowSpec::new(Transport::Sctp)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_with_gaps_and_the_flows_are_on_in_theirs() {
        let plan = LatencyPlan { loaded: Duration::from_secs(10), rate: 20.0 };
        let seconds = |time: Duration| time.as_secs_f64();
        let times: Vec<_> =
            plan.windows().iter().map(|one| (one.phase.name(), seconds(one.from), seconds(one.to))).collect();
        assert_eq!(
            times,
            [("idle", 1.0, 6.0), ("down", 7.0, 17.0), ("up", 18.0, 28.0), ("both", 29.0, 39.0)]
        );
        assert_eq!(seconds(plan.total()), 40.0);
        let [down, up] = plan.flows(0.0, 1400.0);
        let on = |flow: &FlowSpec| flow.events.iter().map(|event| event.time.values[0]).collect::<Vec<_>>();
        assert_eq!((on(&down), on(&up)), (vec![7.0, 17.0, 29.0, 39.0], vec![18.0, 28.0, 29.0, 39.0]));
        assert_eq!((down.outbound, up.inbound), (Load::default(), Load::default()));
        assert_eq!(down.inbound.size.values[0], 1400.0);
    }
}
