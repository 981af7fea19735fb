//! A run that a viewer advances step by step.

use super::{LINGER, World};
use crate::output::{RunControl, RunError, RunOutput};
use crate::scenario::Scenario;
use crate::watch::{self, FlowNow, LinkNow, PacketNow, Packets, View};
use units::{Instant, Span};

/// A replica of a scenario that is simulated in steps. Its output is that of [`run`](super::run), for any
/// length of the steps and any views between them.
pub struct Simulation {
    scenario: Scenario,
    world: World,
    packets: Packets,
}

impl Simulation {
    /// Builds the simulation, at time zero. Captures are not written.
    ///
    /// # Errors
    /// [`RunError::Failed`] if the scenario cannot be built.
    pub fn new(scenario: Scenario, replica: u32) -> Result<Self, RunError> {
        let world = World::build(&scenario, replica, &RunControl::default())?;
        Ok(Simulation { scenario, world, packets: Packets::default() })
    }

    /// Simulates all events up to and at `until`. Returns true once the run is over.
    pub fn advance(&mut self, until: Instant) -> bool {
        let world = &mut self.world;
        while world.turn(until) {}
        world.kernel.peek_time().is_none_or(|next| next > world.until)
    }

    /// The latest time at which a flow is planned to stop sending or a transfer to begin. Before a flow is
    /// connected, its time to connect is unknown and not included.
    pub fn planned_end(&self) -> Span {
        self.world.until.since(Instant::ZERO).saturating_sub(LINGER)
    }

    /// Flows at `now`, the time up to which the run has advanced, in the order of the scenario.
    pub fn flows(&mut self, now: Instant) -> Vec<FlowNow> {
        watch::flows(&mut self.view(now).0)
    }

    /// Names of the paths of flows at `now`, in the order of [`Simulation::flows`] and of their paths; `None`
    /// for a path that no named link distinguishes from the others.
    pub fn path_names(&mut self, now: Instant) -> Vec<Vec<Option<String>>> {
        let World { network, hosts, flows, .. } = &mut self.world;
        watch::path_names(&mut View { now, network, hosts, flows }, &self.scenario)
    }

    /// Directions of links at `now`: for each link the forward and then the backward direction.
    pub fn links(&mut self, now: Instant) -> Vec<LinkNow> {
        let directions = self.world.directions.clone();
        let (mut view, _) = self.view(now);
        directions.iter().map(|&direction| watch::link(&mut view, direction)).collect()
    }

    /// Packets on the links at `now`, each with its index in [`Simulation::links`], except those that
    /// [`net::Network::under_way`] leaves out. Retransmissions are recognised from the first call on.
    pub fn packets(&mut self, now: Instant) -> Vec<(usize, PacketNow)> {
        let directions = self.world.directions.clone();
        let (mut view, packets) = self.view(now);
        packets.catch_up(&mut view);
        packets.now(&mut view, &directions)
    }

    /// Ends the run, if it is not over, and returns its output.
    pub fn finish(self) -> RunOutput {
        self.world.finish(&self.scenario)
    }

    /// The digest of all packets that have reached hosts and of all changes of links so far.
    pub fn digest(&self) -> u64 {
        self.world.network.digest()
    }

    fn view(&mut self, now: Instant) -> (View<'_>, &mut Packets) {
        let World { network, hosts, flows, .. } = &mut self.world;
        (View { now, network, hosts, flows }, &mut self.packets)
    }
}
