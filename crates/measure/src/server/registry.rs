//! The flows that control connections announced.

use super::lock;
use crate::channel::Channel;
use crate::control::ControlWriter;
use crate::flow::{Flow, Room};
use crate::npmp::{FlowId, Identify};
use crate::spec::{FlowSpec, Transport};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

/// A flow that was announced.
pub struct Slot {
    pub id: FlowId,
    pub spec: FlowSpec,
    /// The host that announced it.
    pub peer: IpAddr,
    /// Where the active side learns that its data connection was found.
    pub control: ControlWriter,
    /// Rows that vectors of the measurement may get.
    pub room: Arc<Room>,
    bound: Mutex<Option<Bound>>,
}

/// A flow with its data connection.
#[derive(Clone)]
pub struct Bound {
    pub flow: Arc<Flow>,
    pub channel: Channel,
    /// The active side wants the vector of the flow.
    pub vector: bool,
}

impl Slot {
    pub fn new(id: FlowId, spec: FlowSpec, peer: IpAddr, control: ControlWriter, room: Arc<Room>) -> Self {
        Slot { id, spec, peer, control, room, bound: Mutex::default() }
    }

    /// The flow, if its data connection was found.
    pub fn bound(&self) -> Option<Bound> {
        lock(&self.bound).clone()
    }
}

/// The flows of all measurements.
#[derive(Default)]
pub struct Registry {
    slots: Mutex<BTreeMap<FlowId, Arc<Slot>>>,
    /// The flows of UDP, by the addresses that datagrams come from.
    sources: Mutex<BTreeMap<SocketAddr, Arc<Flow>>>,
}

impl Registry {
    /// Adds a flow; false if there is one of these names.
    pub fn add(&self, slot: Arc<Slot>) -> bool {
        let mut slots = lock(&self.slots);
        let free = !slots.contains_key(&slot.id);
        if free {
            slots.insert(slot.id, slot);
        }
        free
    }

    /// Forgets a flow.
    pub fn remove(&self, id: FlowId) {
        lock(&self.slots).remove(&id);
        lock(&self.sources).retain(|_, flow| flow.id != id);
    }

    /// The flow of UDP whose datagrams come from this address.
    pub fn of_source(&self, source: SocketAddr) -> Option<Arc<Flow>> {
        lock(&self.sources).get(&source).cloned()
    }

    /// Connects an announced flow with the channel on which it was named, and tells the active side; none if there is no such
    /// flow, if it has a data connection already, or if it cannot be as the active side wants it.
    pub fn bind(&self, identify: &Identify, transport: Transport, channel: Channel) -> Option<Arc<Flow>> {
        let slot = lock(&self.slots).get(&identify.id).cloned()?;
        if slot.spec.transport != transport {
            return None;
        }
        if let Channel::Udp(_, Some(source)) = &channel
            && source.ip().to_canonical() != slot.peer
        {
            return None;
        }
        let flow = {
            let mut bound = lock(&slot.bound);
            if bound.is_some() {
                return None;
            }
            let vector = !identify.no_vector;
            let room = vector.then(|| slot.room.clone());
            let flow = Arc::new(Flow::new(slot.id, slot.spec.clone(), room));
            if !identify.compress_vector {
                if let Channel::Udp(_, Some(source)) = &channel {
                    lock(&self.sources).insert(*source, flow.clone());
                }
                *bound = Some(Bound { flow: flow.clone(), channel, vector });
            }
            flow
        };
        // A peer that is gone ends its session itself.
        let told = slot.control.acknowledge(slot.id, !identify.compress_vector);
        (told.is_ok() && !identify.compress_vector).then_some(flow)
    }
}
