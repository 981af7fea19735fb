//! Performs the steps of flows (connect, start, stop and others) when they are due.

use super::{LINGER, LabEvent, World};
use crate::app::{Fate, Flow, Measured, Meter, Reaction, Signal, Step, Window};
use crate::host::{Endpoint, EndpointId, Owner, Side, Transport};
use crate::metrics::Edge;
use units::{Instant, Span};

impl World {
    /// Performs the due step of a flow's plan.
    pub(super) fn step(&mut self, flow: usize, step: Step) {
        match step {
            Step::Connect => self.connect(flow),
            Step::Start => self.start(flow),
            Step::Reset => self.reset(flow),
            Step::Stop => self.stop(flow),
            Step::Frame(side) => self.frame(flow, side),
            Step::Turn(side) => self.turn_source(flow, side),
            Step::ResetStreams => self.reset_streams(flow),
        }
    }

    /// Processes the reactions of applications to the last event.
    #[cold]
    pub(super) fn handle_signals(&mut self) {
        let mut signals = std::mem::take(&mut self.signals);
        for Signal { owner, reaction } in signals.drain(..) {
            if let Some(lane) = (owner.number as usize).checked_sub(self.flows.len()) {
                self.transfer_reacts(lane, owner.side, &reaction);
                continue;
            }
            match reaction {
                Reaction::None | Reaction::Delivered => {}
                Reaction::Connected => self.connected(owner),
                Reaction::Closed(reason) => {
                    let flow = &mut self.flows[owner.number as usize];
                    match owner.side {
                        Side::Server => flow.server_closed = true,
                        Side::Client if flow.connected.is_none() => flow.fate = Fate::NeverConnected,
                        Side::Client => flow.fate = Fate::Closed(reason),
                    }
                }
            }
        }
        // Starting a flow may have caused new signals, which are handled after these.
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
        let Some(conn) = self.hosts.endpoint(id).connect(now, dial.port, &dial.remotes) else {
            flow.fate = Fate::NeverConnected;
            return self.end_if_over();
        };
        flow.meter(Side::Client).conn = Some(conn);
        let echoes = flow.echoes;
        if let (Endpoint::Udp(socket), true) = (self.hosts.endpoint(id), echoes) {
            socket.stamp(conn);
        }
        self.hosts.own(id, conn, Owner { number: index as u32, side: Side::Client });
        let server = flow.end(Side::Server).endpoint;
        let caller = dial
            .remotes
            .first()
            .and_then(|&called| Some((called, transport::nearest(&dial.locals, called)?)));
        if let (Endpoint::Udp(socket), Some((called, caller))) = (self.hosts.endpoint(server), caller) {
            // UDP has no handshake that announces the client to the server.
            let conn = socket.open(called, caller, dial.local_port);
            if echoes {
                socket.echo(conn);
            }
            self.hosts.own(server, conn, Owner { number: index as u32, side: Side::Server });
            self.settle(server);
        }
        self.settle(id);
    }

    /// Polls an endpoint after a change.
    pub(super) fn settle(&mut self, id: EndpointId) {
        let (hosts, mut around) = self.split();
        hosts.settle(id, &mut around);
    }

    /// Ends the run at this instant if all flows and transfers are over. With UDP flows, datagrams in the
    /// network may arrive first; flows of other protocols end only when their data is delivered.
    pub(super) fn end_if_over(&mut self) {
        let now = self.kernel.now();
        if !self.flows.iter().all(Flow::is_over) || !self.transfers.iter().all(|one| one.is_over(now)) {
            return;
        }
        let on_the_way = self.datagrams && self.network.packets_in_use() > 0;
        self.until = now + if on_the_way { LINGER } else { Span::ZERO };
    }

    fn connected(&mut self, owner: Owner) {
        let now = self.kernel.now();
        let flow = &mut self.flows[owner.number as usize];
        if owner.side == Side::Server {
            flow.server_closed = false;
            return;
        }
        flow.connected = Some(now);
        if flow.identifies {
            let client = flow.meter(Side::Client);
            let id = client.endpoint;
            client.identify(now, self.hosts.endpoint(id));
            self.settle(id);
        }
        let flow = &self.flows[owner.number as usize];
        if now >= flow.plan.connect + flow.plan.start {
            self.start(owner.number as usize);
        }
    }

    /// Starts transmission. If the connection is not established yet, [`Self::connected`] starts it later.
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
        for &at in &self.flows[index].stream_resets.times {
            self.kernel.schedule(now + at, LabEvent::Flow(index as u32, Step::ResetStreams));
        }
        for side in [Side::Client, Side::Server] {
            self.offer(index, side, |meter, now, endpoint| meter.start(now, endpoint));
            self.plan_turn(index, side);
        }
    }

    /// Calls `act`, by which one end offers data, and schedules
    /// the next frame after the wait that `act` returns.
    pub(super) fn offer(
        &mut self,
        index: usize,
        side: Side,
        act: impl FnOnce(&mut Meter, Instant, &mut Endpoint) -> Option<Span>,
    ) {
        let now = self.kernel.now();
        let meter = self.flows[index].meter(side);
        let id = meter.endpoint;
        if let Some(wait) = act(meter, now, self.hosts.endpoint(id)) {
            self.kernel.schedule(now + wait, LabEvent::Flow(index as u32, Step::Frame(side)));
        }
        self.settle(id);
    }

    fn frame(&mut self, index: usize, side: Side) {
        self.offer(index, side, |meter, now, endpoint| meter.frame(now, endpoint));
    }

    fn turn_source(&mut self, index: usize, side: Side) {
        self.offer(index, side, |meter, now, endpoint| meter.turn(now, endpoint));
        self.plan_turn(index, side);
    }

    fn plan_turn(&mut self, index: usize, side: Side) {
        let flow = &mut self.flows[index];
        if let (Some(started), Some(after)) = (flow.started, flow.meter(side).next_change()) {
            self.kernel.schedule(started + after, LabEvent::Flow(index as u32, Step::Turn(side)));
        }
    }

    /// Resets streams of the client, if it is connected.
    fn reset_streams(&mut self, index: usize) {
        let now = self.kernel.now();
        let flow = &self.flows[index];
        let Meter { conn: Some(conn), endpoint: id, .. } = *flow.end(Side::Client) else { return };
        let resets = flow.stream_resets.clone();
        self.hosts.endpoint(id).reset_streams(now, conn, &resets);
        self.settle(id);
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
        self.hang_up(index, Side::Client);
        if matches!(self.hosts.endpoint(self.flows[index].end(Side::Server).endpoint), Endpoint::Udp(_)) {
            self.hang_up(index, Side::Server);
        }
        if self.flows.iter().all(Flow::is_measured) {
            self.links.end(&self.network, self.kernel.now());
        }
        self.end_if_over();
    }

    /// Closes the connection at one end.
    fn hang_up(&mut self, index: usize, side: Side) {
        let end = self.flows[index].end(side);
        if let Some(conn) = end.conn {
            let (id, now) = (end.endpoint, self.kernel.now());
            self.hosts.endpoint(id).shutdown(now, conn);
            self.settle(id);
        }
    }

    /// Begins or ends a window.
    pub(super) fn reach(&mut self, window: u32) {
        let flows = (0..self.flows.len()).map(|flow| self.tally(flow)).collect();
        let links = self.links.count(&self.network, self.kernel.now());
        self.windows.reach(window, Edge { flows, links });
    }

    /// The current counters of both ends.
    fn tally(&mut self, index: usize) -> Window {
        let flow = &self.flows[index];
        let now = self.kernel.now();
        let mut count = |meter: &Meter| meter.tally(now, self.hosts.endpoint(meter.endpoint));
        Window { client: count(flow.end(Side::Client)), server: count(flow.end(Side::Server)), from: now }
    }
}
