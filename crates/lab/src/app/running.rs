use super::{Flow, Lane, Reaction};
use crate::host::{Application, ConnId, Event, Owner, Transport};
use units::Instant;

/// A reaction of one end of an application that concerns the whole application.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    pub(crate) owner: Owner,
    pub(crate) reaction: Reaction,
}

/// All applications of a run. Their numbers count first the flows, then the [`Lane`]s (client ports that
/// transfers use one after another).
pub(crate) struct Running<'a> {
    pub(crate) flows: &'a mut [Flow],
    pub(crate) lanes: &'a mut [Lane],
    /// The reactions of applications, in the order in which they happened.
    pub(crate) signals: &'a mut Vec<Signal>,
}

impl Application for Running<'_> {
    #[inline]
    fn on_event<T: Transport>(
        &mut self,
        now: Instant,
        owner: Owner,
        endpoint: &mut T,
        conn: ConnId,
        event: Event,
    ) -> bool {
        let number = owner.number as usize;
        let mut over = false;
        let reaction = match self.flows.get_mut(number) {
            Some(flow) => flow.on_event(now, owner.side, endpoint, conn, event),
            None => {
                // The next transfer of the lane (client port) uses a new connection.
                over = matches!(event, Event::Closed(_));
                self.lanes[number - self.flows.len()].on_event(now, owner.side, endpoint, conn, event)
            }
        };
        if reaction != Reaction::None {
            self.signals.push(Signal { owner, reaction });
        }
        over
    }
}
