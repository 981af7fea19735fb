//! Probes record quantities over time. They cost nothing in runs without probes.

mod bursts;
mod sequence;
mod source;

use crate::app::Flow;
use crate::host::Hosts;
use crate::metrics::direction_name;
use crate::output::{RunError, Scalar, Series};
use crate::scenario::{Every, Probe, ProbeQuantity, ProbeTarget, Scenario};
use bursts::Bursts;
use net::{LinkId, Network};
use source::ProbeSource;
use units::Instant;

/// The parts of the simulation that probes can read.
pub(crate) struct ProbeView<'a> {
    pub(crate) now: Instant,
    pub(crate) network: &'a mut Network,
    pub(crate) hosts: &'a mut Hosts,
    pub(crate) flows: &'a [Flow],
}

/// All probes of a run.
#[derive(Debug)]
pub(crate) struct Probes {
    recorders: Vec<Recorder>,
    /// The probes that record on change and whose recording time has begun.
    on_change: Vec<usize>,
    bursts: Bursts,
}

/// One probe with its recorded series.
#[derive(Debug)]
struct Recorder {
    source: ProbeSource,
    flow: String,
    to: Instant,
    every: Every,
    /// The series of the whole flow or link.
    whole: Option<Series>,
    /// One series for each path of the flow, in the order of paths.
    paths: Vec<Series>,
}

impl Probes {
    /// The probes of a scenario, and the time of the first record of each, by probe number.
    pub(crate) fn new(
        scenario: &Scenario,
        links: &[LinkId],
        flows: &[Flow],
        network: &mut Network,
    ) -> Result<(Probes, Vec<(Instant, u32)>), RunError> {
        let (bursts, watched) = Bursts::new(scenario, links, flows);
        watched.into_iter().for_each(|direction| network.watch(direction));
        let (mut recorders, mut first) = (Vec::with_capacity(scenario.probes.len()), Vec::new());
        for (number, probe) in scenario.probes.iter().enumerate() {
            let flow = target_name(scenario, probe);
            let source = ProbeSource::new(probe, links, &flow)
                .map_err(|what| RunError::Failed(format!("probe {}: {what}", number + 1)))?;
            let to = probe.to.unwrap_or(Instant::FAR);
            recorders.push(Recorder { source, flow, to, every: probe.every, whole: None, paths: Vec::new() });
            if probe.quantity != ProbeQuantity::Bursts {
                first.push((probe.from, number as u32));
            }
        }
        Ok((Probes { recorders, on_change: Vec::new(), bursts }, first))
    }

    /// True while a probe records on change. Then [`Self::record_changes`] must be called after each event.
    #[inline]
    pub(crate) fn watch_changes(&self) -> bool {
        !self.on_change.is_empty() | !self.bursts.is_empty()
    }

    /// Records the current values of the probes that record on change.
    pub(crate) fn record_changes(&mut self, mut view: ProbeView<'_>) {
        if !self.bursts.is_empty() {
            view.network.take_arrivals().for_each(|arrival| self.bursts.count(&arrival));
        }
        let recorders = &mut self.recorders;
        self.on_change.retain(|&number| {
            let recorder = &mut recorders[number];
            let in_time = view.now <= recorder.to;
            if in_time {
                recorder.record(&mut view);
            } else {
                recorder.source.end(&mut view);
            }
            in_time
        });
    }

    /// Records a value of a probe at its time, and returns the time of its next value.
    pub(crate) fn record(&mut self, number: u32, mut view: ProbeView<'_>) -> Option<Instant> {
        let recorder = &mut self.recorders[number as usize];
        match recorder.every {
            Every::Change => {
                self.on_change.push(number as usize);
                None
            }
            Every::Interval(interval) => {
                recorder.record(&mut view);
                let next = view.now + interval;
                (next <= recorder.to && next > view.now).then_some(next)
            }
        }
    }

    /// Repeats the last values of series that record on change, at the end of the run.
    pub(crate) fn end(&mut self, now: Instant) {
        for recorder in self.recorders.iter_mut().filter(|recorder| recorder.every == Every::Change) {
            recorder.end(now.min(recorder.to));
        }
    }

    /// All recorded series, and the lengths of bursts.
    pub(crate) fn into_results(self, scenario: &Scenario) -> (Vec<Series>, Vec<Scalar>) {
        let all = |Recorder { source, whole, paths, .. }: Recorder| {
            whole.into_iter().chain(paths).chain(source.into_series())
        };
        let series = self.recorders.into_iter().flat_map(all).collect();
        (series, self.bursts.into_scalars(scenario))
    }
}

impl Recorder {
    fn record(&mut self, view: &mut ProbeView<'_>) {
        let Recorder { source, flow, every, whole, paths, .. } = self;
        let only_changes = *every == Every::Change && !source.repeats();
        let (now, quantity) = (view.now, source.name());
        source.values(view, |path, value| {
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

impl Recorder {
    /// Repeats the last value of each series at the end of recording, to show how long this value was valid.
    fn end(&mut self, at: Instant) {
        if self.source.repeats() {
            return;
        }
        for series in self.whole.iter_mut().chain(&mut self.paths) {
            if let Some(&(time, value)) = series.points.last()
                && time < at
            {
                series.points.push((at, value));
            }
        }
    }
}

fn target_name(scenario: &Scenario, probe: &Probe) -> String {
    match probe.target {
        ProbeTarget::Flow(flow) => scenario.flows[flow].name.clone(),
        ProbeTarget::Link { link, back } => direction_name(&scenario.links[link].name, back),
    }
}
