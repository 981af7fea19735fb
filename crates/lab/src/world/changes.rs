//! Changes of links and flows during the run, at a time or on entry into a state of a congestion control.

use super::{LabEvent, World};
use crate::app::Flow;
use crate::host::{Hosts, Side, Transport};
use crate::scenario::{Effect, RunChange, Trigger};
use des::Kernel;
use net::LinkId;
use units::Span;

/// All changes of a run, and those of them that wait until a path enters a state.
#[derive(Debug)]
pub(super) struct Changes {
    all: Vec<RunChange>,
    waiting: Vec<Waiting>,
    links: Vec<LinkId>,
}

/// A change that waits until the congestion control of a path enters a state.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    change: u32,
    flow: usize,
    path: u8,
    state: f64,
    /// How often the path must still enter the state until the change is due.
    left: u32,
    after: Span,
    /// True while the path is in the state on which the change depends.
    inside: bool,
}

impl Changes {
    /// The changes of a scenario. Schedules those with a time.
    pub(super) fn new(changes: &[RunChange], links: &[LinkId], kernel: &mut Kernel<LabEvent>) -> Self {
        let mut waiting = Vec::new();
        for (change, RunChange { trigger, .. }) in (0..).zip(changes) {
            match *trigger {
                Trigger::At(at) => kernel.schedule(at, LabEvent::Change { change, ends: false }),
                Trigger::Entry { flow, path, state, entry, after } => {
                    let state = state.number();
                    waiting.push(Waiting { change, flow, path, state, left: entry, after, inside: false });
                }
            }
        }
        Changes { all: changes.to_vec(), waiting, links: links.to_vec() }
    }

    /// True while a change waits for a state, and [`World::watch_states`] must be called after each event.
    #[inline]
    pub(super) fn watch(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A warning for each change whose state was not entered often enough.
    pub(super) fn warnings(&self, flows: &[Flow]) -> impl Iterator<Item = String> {
        self.waiting.iter().map(|waiting| {
            format!(
                "[[change]] number {} did not happen: {} had {} more entries into its state to come",
                waiting.change + 1,
                flows[waiting.flow].name,
                waiting.left
            )
        })
    }
}

impl Waiting {
    /// Reads the state of the path. True if the change is due.
    fn is_due(&mut self, hosts: &mut Hosts, flows: &[Flow]) -> bool {
        let client = flows[self.flow].end(Side::Client);
        let Some(conn) = client.conn else { return false };
        let (mut inside, state) = (false, self.state);
        hosts.endpoint(client.endpoint).inspect(conn, self.path.into(), &mut |name, value| {
            inside |= name == "state" && value == state;
        });
        let enters = inside && !self.inside;
        self.inside = inside;
        self.left -= u32::from(enters);
        self.left == 0
    }
}

impl World {
    /// Applies the changes that waited for a state which a path entered with the last event.
    #[cold]
    pub(super) fn watch_states(&mut self) {
        let World { hosts, flows, changes, .. } = self;
        let mut due = Vec::new();
        changes.waiting.retain_mut(|waiting| {
            let is_due = waiting.is_due(hosts, flows);
            if is_due {
                due.push((waiting.change, waiting.after));
            }
            !is_due
        });
        for (change, after) in due {
            if after.is_zero() {
                self.change(change, false);
            } else {
                let at = self.kernel.now() + after;
                self.kernel.schedule(at, LabEvent::Change { change, ends: false });
            }
        }
    }

    /// Applies a change or, if `ends`, restores the value from before all changes.
    #[cold]
    pub(super) fn change(&mut self, number: u32, ends: bool) {
        let now = self.kernel.now();
        let RunChange { lasts, ref effect, .. } = self.changes.all[number as usize];
        if let Some(lasts) = lasts.filter(|_| !ends) {
            self.kernel.schedule(now + lasts, LabEvent::Change { change: number, ends: true });
        }
        match *effect {
            Effect::Link { link, back, new, first } => {
                let link = self.changes.links[link];
                let direction = if back { link.backward() } else { link.forward() };
                self.network.change(now, direction, if ends { &first } else { &new });
            }
            Effect::Pace { flow, new, first } => {
                let pace = if ends { first } else { new };
                self.offer(flow, Side::Client, |meter, now, endpoint| meter.set_pace(now, endpoint, pace));
            }
        }
    }
}
