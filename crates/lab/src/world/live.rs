//! The simulated world beside real hosts: the caller provides the clock and the packets of the real hosts.

use super::{LabEvent, World};
use crate::output::{RunControl, RunError, RunOutput};
use crate::scenario::Scenario;
use net::{Network, NodeId, Outgoing, Packet, Whole};
use units::Instant;

/// A world whose clock the caller moves, and in which the caller acts for the real hosts.
///
/// ```text
/// loop: run_until(now); send, send_whole (packets that real hosts sent by now); run_until(now); wait until next() or a packet
/// ```
pub struct Live {
    world: World,
    /// True for each node that is a real host.
    real: Vec<bool>,
}

impl Live {
    /// Builds the world of a scenario at time zero.
    ///
    /// # Errors
    /// As [`run`](super::run).
    pub fn new(scenario: &Scenario, replica: u32, control: &RunControl) -> Result<Live, RunError> {
        let world = World::build(scenario, replica, control)?;
        let is_real = |node: usize| scenario.real.iter().any(|host| host.node == node);
        Ok(Live { world, real: (0..scenario.nodes.len()).map(is_real).collect() })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.world.network
    }

    /// The time of the next event; `None` if there is no event before a real host sends.
    pub fn next(&self) -> Option<Instant> {
        self.world.kernel.peek_time()
    }

    /// Runs the events up to `now`, each at its time, and moves the clock to `now`. Calls `leave` with each
    /// packet that arrives at a real host, and its arrival time.
    pub fn run_until(&mut self, now: Instant, mut leave: impl FnMut(Instant, NodeId, &Packet<'_>)) {
        let world = &mut self.world;
        while let Some(event) = world.kernel.pop(now) {
            match event {
                LabEvent::Net(event) => {
                    let Some(delivered) = world.network.handle(&mut world.kernel, event) else { continue };
                    if self.real[delivered.node.index()] {
                        let packet = world.network.packet(delivered.packet);
                        leave(world.kernel.now(), delivered.node, &packet);
                        world.network.release(delivered.packet);
                        continue;
                    }
                    let (hosts, mut around) = world.split();
                    hosts.deliver(delivered, &mut around);
                }
                event => world.handle(event),
            }
            world.react();
        }
        world.kernel.advance(now);
    }

    /// Sends a packet of a real host at the time of the clock. Leaves `head` empty, with a buffer for reuse.
    pub fn send(&mut self, from: NodeId, outgoing: Outgoing, head: &mut Vec<u8>) {
        self.world.network.send(&mut self.world.kernel, from, outgoing, head);
    }

    /// Sends a whole IP packet of a real host. A simulated host gets the transport packet in it; packets of
    /// unknown transports are dropped there.
    pub fn send_whole(&mut self, from: NodeId, whole: &Whole, bytes: &mut Vec<u8>) {
        let World { network, kernel, .. } = &mut self.world;
        let to = network.host_of(whole.dst);
        match (to.is_some_and(|to| !self.real[to.index()]), whole.protocol) {
            (true, Some(protocol)) => {
                let Whole { src, dst, ecn, .. } = *whole;
                bytes.drain(..whole.payload.start);
                network.send(kernel, from, Outgoing { src, dst, protocol, ecn, zeros: 0 }, bytes);
            }
            _ => network.send_whole(kernel, from, whole, bytes),
        }
    }

    /// Ends the run at the time of the clock.
    ///
    /// # Errors
    /// [`RunError`] if a capture cannot be written.
    pub fn finish(self, scenario: &Scenario, control: &RunControl) -> Result<RunOutput, RunError> {
        self.world.into_output(scenario, control)
    }
}
