//! The plans of flows, step by step.

use super::{LINGER, LabEvent, World};
use crate::app::{Fate, Flow, Measured, Meter, Reaction, Side, Step, Window};
use crate::host::{Owner, Signal};
use units::Span;

impl World {
    /// Does what the plan of a flow says for now.
    pub(super) fn step(&mut self, flow: usize, step: Step) {
        match step {
            Step::Connect => self.connect(flow),
            Step::Start => self.start(flow),
            Step::Reset => self.reset(flow),
            Step::Stop => self.stop(flow),
            Step::Frame(side) => self.frame(flow, side),
        }
    }

    /// Deals with what the last event meant to whole flows.
    #[cold]
    pub(super) fn handle_signals(&mut self) {
        let mut signals = std::mem::take(&mut self.signals);
        for Signal { owner, reaction } in signals.drain(..) {
            match reaction {
                Reaction::None => {}
                Reaction::Connected => self.connected(owner),
                Reaction::Closed(reason) => {
                    let flow = &mut self.flows[owner.flow as usize];
                    match owner.side {
                        Side::Server => flow.server_closed = true,
                        Side::Client if flow.connected.is_none() => flow.fate = Fate::NeverConnected,
                        Side::Client => flow.fate = Fate::Closed(reason),
                    }
                }
            }
        }
        // Starting a flow may have signalled in its turn; those come behind.
        signals.append(&mut self.signals);
        self.signals = signals;
        if !self.signals.is_empty() {
            self.handle_signals();
        }
        self.end_if_over();
    }

    fn connect(&mut self, index: usize) {
        let now = self.kernel.now();
        let flow = &mut self.flows[index];
        let (id, dial) = (flow.end(Side::Client).endpoint, flow.dial.clone());
        match self.hosts.endpoint(id).connect(now, dial.port, &dial.remotes) {
            Ok(assoc) => {
                flow.meter(Side::Client).assoc = Some(assoc);
                self.hosts.own(id, assoc, Owner { flow: index as u32, side: Side::Client });
                let (hosts, mut around) = self.split();
                hosts.settle(id, &mut around);
            }
            Err(_) => {
                flow.fate = Fate::NeverConnected;
                self.end_if_over();
            }
        }
    }

    /// Lets the run end with this instant if no flow has anything left to do.
    fn end_if_over(&mut self) {
        if self.flows.iter().all(Flow::is_over) {
            self.until = self.kernel.now();
        }
    }

    fn connected(&mut self, owner: Owner) {
        let now = self.kernel.now();
        let flow = &mut self.flows[owner.flow as usize];
        if owner.side == Side::Server {
            flow.server_closed = false;
            return;
        }
        flow.connected = Some(now);
        if now >= flow.plan.connect + flow.plan.start {
            self.start(owner.flow as usize);
        }
    }

    /// Starts transmission; too early, it waits until the association is there.
    fn start(&mut self, index: usize) {
        let now = self.kernel.now();
        let flow = &mut self.flows[index];
        if flow.connected.is_none() || flow.fate != Fate::Open || flow.started.is_some() {
            return;
        }
        flow.started = Some(now);
        flow.measured = Measured::No;
        let plan = flow.plan;
        self.kernel.schedule(now + plan.reset, LabEvent::Flow(index as u32, Step::Reset));
        self.kernel.schedule(now + plan.stop, LabEvent::Flow(index as u32, Step::Stop));
        self.until = self.until.max(now + plan.stop + LINGER);
        for side in [Side::Client, Side::Server] {
            let id = self.flows[index].meter(side).endpoint;
            let wait = self.flows[index].meter(side).start(now, self.hosts.endpoint(id));
            self.plan_frame(index, side, wait);
            let (hosts, mut around) = self.split();
            hosts.settle(id, &mut around);
        }
    }

    fn frame(&mut self, index: usize, side: Side) {
        let now = self.kernel.now();
        let meter = self.flows[index].meter(side);
        let id = meter.endpoint;
        let wait = meter.frame(now, self.hosts.endpoint(id));
        self.plan_frame(index, side, wait);
        let (hosts, mut around) = self.split();
        hosts.settle(id, &mut around);
    }

    fn plan_frame(&mut self, index: usize, side: Side, wait: Option<Span>) {
        if let Some(wait) = wait {
            let at = self.kernel.now() + wait;
            self.kernel.schedule(at, LabEvent::Flow(index as u32, Step::Frame(side)));
        }
    }

    fn reset(&mut self, index: usize) {
        let window = self.tally(index);
        self.links.begin(&self.network, window.from);
        self.flows[index].measured = Measured::Since(Box::new(window));
    }

    fn stop(&mut self, index: usize) {
        let end = self.tally(index);
        let flow = &mut self.flows[index];
        if let Measured::Since(begin) = std::mem::take(&mut flow.measured) {
            flow.measured = Measured::Done(Box::new((*begin, end)));
        }
        flow.meter(Side::Client).stop();
        flow.meter(Side::Server).stop();
        let client = flow.end(Side::Client);
        if let Some(assoc) = client.assoc {
            let (id, now) = (client.endpoint, self.kernel.now());
            self.hosts.endpoint(id).shutdown(now, assoc);
            let (hosts, mut around) = self.split();
            hosts.settle(id, &mut around);
        }
        if self.flows.iter().all(Flow::is_measured) {
            self.links.end(&self.network, self.kernel.now());
        }
        self.end_if_over();
    }

    /// What both ends have counted until now.
    fn tally(&mut self, index: usize) -> Window {
        let flow = &self.flows[index];
        let mut count = |meter: &Meter| meter.tally(self.hosts.endpoint(meter.endpoint));
        Window {
            client: count(flow.end(Side::Client)),
            server: count(flow.end(Side::Server)),
            from: self.kernel.now(),
        }
    }
}
