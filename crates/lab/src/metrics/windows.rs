//! The named windows of a scenario at run time.

use super::link::LinkCounts;
use crate::app::Window as FlowEdge;
use crate::scenario::{Scenario, Window};
use units::Instant;

/// All named windows, with the counters at their starts and ends.
#[derive(Debug)]
pub(crate) struct Windows(Vec<Measured>);

#[derive(Debug)]
struct Measured {
    window: Window,
    begin: Option<Edge>,
    end: Option<Edge>,
}

/// All counters at the start or at the end of a window.
#[derive(Debug)]
pub(crate) struct Edge {
    /// Counters in the order of flows.
    pub(crate) flows: Vec<FlowEdge>,
    pub(crate) links: LinkCounts,
}

impl Windows {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let unmeasured = |window: &Window| Measured { window: window.clone(), begin: None, end: None };
        Windows(scenario.windows.iter().map(unmeasured).collect())
    }

    /// Starts a window, or ends it if it has started.
    pub(crate) fn reach(&mut self, number: u32, edge: Edge) {
        let measured = &mut self.0[number as usize];
        let place = if measured.begin.is_none() { &mut measured.begin } else { &mut measured.end };
        *place = Some(edge);
    }

    /// Name, start and end of each completed window.
    pub(super) fn measured(&self) -> impl Iterator<Item = (&str, &Edge, &Edge)> {
        self.0.iter().filter_map(|measured| {
            Some((measured.window.name.as_str(), measured.begin.as_ref()?, measured.end.as_ref()?))
        })
    }

    /// Name, start time and end time of each completed window.
    pub(super) fn times(&self) -> impl Iterator<Item = (&str, Instant, Instant)> {
        let whole = self.0.iter().filter(|measured| measured.end.is_some());
        whole.map(|measured| (measured.window.name.as_str(), measured.window.from, measured.window.to))
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let cut = self.0.iter().filter(|measured| measured.end.is_none());
        cut.map(|measured| {
            let Window { name, to, .. } = &measured.window;
            format!("window `{name}` ends at {}, after the run: it was not measured", to.since(Instant::ZERO))
        })
    }
}
