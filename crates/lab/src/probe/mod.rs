//! Probes: quantities over time. A run without probes does not pay for them.

mod look;

pub(crate) use look::Sight;

use crate::metrics::direction_name;
use crate::output::{RunError, Series};
use crate::scenario::{Every, Probe, ProbeTarget, Scenario};
use crate::world::LabEvent;
use des::Kernel;
use look::Look;
use net::LinkId;
use units::Instant;

/// All probes of a run.
#[derive(Debug)]
pub(crate) struct Probes {
    recorders: Vec<Recorder>,
    /// Those that record on change, while their time is.
    on_change: Vec<usize>,
}

/// One probe with what it recorded.
#[derive(Debug)]
struct Recorder {
    look: Look,
    flow: String,
    to: Instant,
    every: Every,
    /// Of the whole flow or link.
    whole: Option<Series>,
    /// One for each path that was ever seen, in the order of paths.
    paths: Vec<Series>,
}

impl Probes {
    /// The probes of a scenario, each scheduled for its first instant.
    pub(crate) fn new(
        scenario: &Scenario,
        links: &[LinkId],
        kernel: &mut Kernel<LabEvent>,
    ) -> Result<Probes, RunError> {
        let mut recorders = Vec::with_capacity(scenario.probes.len());
        for (number, probe) in scenario.probes.iter().enumerate() {
            let look = Look::new(probe, links)
                .map_err(|what| RunError::Failed(format!("probe {}: {what}", number + 1)))?;
            let to = probe.to.unwrap_or(Instant::FAR);
            let flow = target_name(scenario, probe);
            recorders.push(Recorder { look, flow, to, every: probe.every, whole: None, paths: Vec::new() });
            kernel.schedule(probe.from, LabEvent::Probe(number as u32));
        }
        Ok(Probes { recorders, on_change: Vec::new() })
    }

    /// True while there are probes that have to be asked after every event.
    #[inline]
    pub(crate) fn watch_changes(&self) -> bool {
        !self.on_change.is_empty()
    }

    /// Records what the probes that watch changes see now.
    pub(crate) fn record_changes(&mut self, mut sight: Sight<'_>) {
        let recorders = &mut self.recorders;
        self.on_change.retain(|&number| {
            let recorder = &mut recorders[number];
            let in_time = sight.now <= recorder.to;
            if in_time {
                recorder.record(&mut sight);
            }
            in_time
        });
    }

    /// A probe's time has come, the first or the next. Returns when it comes again.
    pub(crate) fn record(&mut self, number: u32, mut sight: Sight<'_>) -> Option<Instant> {
        let recorder = &mut self.recorders[number as usize];
        match recorder.every {
            Every::Change => {
                self.on_change.push(number as usize);
                None
            }
            Every::Interval(interval) => {
                recorder.record(&mut sight);
                let next = sight.now + interval;
                (next <= recorder.to && next > sight.now).then_some(next)
            }
        }
    }

    /// Everything recorded.
    pub(crate) fn into_series(self) -> Vec<Series> {
        let all = |recorder: Recorder| recorder.whole.into_iter().chain(recorder.paths);
        self.recorders.into_iter().flat_map(all).collect()
    }
}

impl Recorder {
    fn record(&mut self, sight: &mut Sight<'_>) {
        let Recorder { look, flow, every, whole, paths, .. } = self;
        let only_changes = *every == Every::Change;
        let (now, quantity) = (sight.now, look.name());
        look.values(sight, |path, value| {
            let empty = |path| Series { flow: flow.clone(), path, quantity, points: Vec::new() };
            let series = match path.map(usize::from) {
                None => whole.get_or_insert_with(|| empty(None)),
                Some(place) => {
                    while paths.len() <= place {
                        paths.push(empty(Some(paths.len() as u8)));
                    }
                    &mut paths[place]
                }
            };
            let points = &mut series.points;
            if !only_changes || points.last().is_none_or(|&(_, last)| last != value) {
                points.push((now, value));
            }
        });
    }
}

fn target_name(scenario: &Scenario, probe: &Probe) -> String {
    match probe.target {
        ProbeTarget::Flow(flow) => scenario.flows[flow].name.clone(),
        ProbeTarget::Link { link, back } => direction_name(&scenario.links[link].name, back),
    }
}
