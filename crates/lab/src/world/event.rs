use crate::app::Step;
use crate::host::EndpointId;
use net::{LinkId, NetEvent, NodeId};

/// An event of the simulation. The kernel copies events often, so they are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabEvent {
    /// An event of the network.
    Net(NetEvent),
    /// The timers of an endpoint may be due.
    Wake(EndpointId),
    /// The hosts at both ends of a link detect that it failed or was repaired.
    Carrier { link: u32, up: bool },
    /// A host gets another address on a link.
    Renumber { node: NodeId, link: LinkId },
    /// The next step of a flow's plan is due.
    Flow(u32, Step),
    /// A short transfer of a source begins.
    Transfer(u32),
    /// A window begins or ends.
    Window(u32),
    /// A change of a link or of a flow begins or ends.
    Change { change: u32, ends: bool },
    /// A probe records its next value.
    Probe(u32),
}

const _: () = assert!(size_of::<LabEvent>() <= 16);

impl From<NetEvent> for LabEvent {
    #[inline]
    fn from(event: NetEvent) -> Self {
        LabEvent::Net(event)
    }
}

impl From<EndpointId> for LabEvent {
    #[inline]
    fn from(endpoint: EndpointId) -> Self {
        LabEvent::Wake(endpoint)
    }
}
