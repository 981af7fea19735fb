//! Starts short transfers and handles their events. A lane is a client port that transfers use one after
//! another.

use super::{LabEvent, World, dial};
use crate::app::{Lane, Reaction};
use crate::host::{Owner, Side, Transport};

impl World {
    /// Begins the next transfer of a source.
    pub(super) fn transfer(&mut self, number: usize) {
        let now = self.kernel.now();
        let source = &mut self.transfers[number];
        source.begun.push(now);
        source.open += 1;
        let size = source.size();
        if let Some(at) = source.next(now) {
            self.kernel.schedule(at, LabEvent::Transfer(number as u32));
        }
        if !self.begin_on_a_free_lane(number, size) && !self.begin_on_a_new_lane(number, size) {
            self.transfers[number].open -= 1;
            self.end_if_over();
        }
    }

    /// Begins a transfer on the lane (client port) that was unused for longest. Returns false if no lane is
    /// unused, or if that lane cannot connect yet, because its last connection is in TIME-WAIT.
    fn begin_on_a_free_lane(&mut self, source: usize, size: u64) -> bool {
        let Some(lane) = self.transfers[source].free.pop_front() else { return false };
        let begun = self.begin(lane, size);
        if !begun {
            self.transfers[source].free.push_front(lane);
        }
        begun
    }

    /// Begins a transfer on a new lane (client port). Returns false if the client has no port left.
    fn begin_on_a_new_lane(&mut self, number: usize, size: u64) -> bool {
        let source = &mut self.transfers[number];
        let Some(port) = source.next_port else { return false };
        source.next_port = port.checked_add(1);
        let (like, dial) = (source.like(), &source.dial);
        let claim = dial::claim(like, Side::Client, dial, port, dial.locals.clone(), 1);
        let Ok(endpoint) = claim.create(&self.streams, self.checksum, &self.network) else { return false };
        let most = like.forward.as_ref().map_or(u64::MAX, |traffic| traffic.max_msg_size.get());
        let client = self.hosts.add(dial.nodes[0], port, endpoint);
        let lane = self.lanes.len();
        self.hosts.expect(source.server, &dial.callers, port, self.flows.len() + lane);
        self.lanes.push(Lane::new(number, client, most));
        self.begin(lane, size)
    }

    /// Begins a transfer on a lane (client port). Returns false if the client cannot connect.
    fn begin(&mut self, number: usize, size: u64) -> bool {
        let now = self.kernel.now();
        let lane = &mut self.lanes[number];
        let (client, dial) = (lane.client, &self.transfers[lane.source].dial);
        let Some(conn) = self.hosts.endpoint(client).connect(now, dial.port, &dial.remotes) else {
            return false;
        };
        lane.begin(now, size);
        let flow = (self.flows.len() + number) as u32;
        self.hosts.own(client, conn, Owner { number: flow, side: Side::Client });
        self.settle(client);
        true
    }

    /// Processes the reaction of a transfer to the last event.
    pub(super) fn transfer_reacts(&mut self, number: usize, side: Side, reaction: &Reaction) {
        let lane = &mut self.lanes[number];
        let source = &mut self.transfers[lane.source];
        source.done.extend(lane.delivered(self.kernel.now()));
        if matches!(reaction, Reaction::Closed(_)) {
            lane.open[side as usize] = false;
            if lane.open == [false; 2] {
                source.open -= 1;
                source.free.push_back(number);
            }
        }
    }
}
