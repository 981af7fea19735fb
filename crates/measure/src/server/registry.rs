//! The flows that control connections announced.

use super::lock;
use crate::channel::Channel;
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
    /// Rows that vectors of the measurement may get.
    room: Arc<Room>,
    found: Mutex<Found>,
}

/// The data connection of a flow.
#[derive(Clone, Default)]
pub enum Found {
    /// Not yet.
    #[default]
    No,
    /// It wants what there is not.
    Refused,
    Yes(Bound),
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
    pub fn new(id: FlowId, spec: FlowSpec, peer: IpAddr, room: Arc<Room>) -> Self {
        Slot { id, spec, peer, room, found: Mutex::default() }
    }

    /// Its data connection.
    pub fn found(&self) -> Found {
        lock(&self.found).clone()
    }

    /// The flow, if its data connection was found.
    pub fn bound(&self) -> Option<Bound> {
        match self.found() {
            Found::Yes(bound) => Some(bound),
            Found::No | Found::Refused => None,
        }
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

    /// Connects an announced flow with the channel on which it was named, of which its session tells the
    /// active side. None if there is no such flow, if it has a data connection already, or if it cannot be as
    /// the active side wants it.
    ///
    /// Never waits for a peer: the threads that receive data call it.
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
        let mut found = lock(&slot.found);
        if !matches!(*found, Found::No) {
            return None;
        }
        if identify.compress_vector {
            *found = Found::Refused;
            return None;
        }
        let vector = !identify.no_vector;
        let flow = Arc::new(Flow::new(slot.id, slot.spec.clone(), vector.then(|| slot.room.clone())));
        if let Channel::Udp(_, Some(source)) = &channel {
            lock(&self.sources).insert(*source, flow.clone());
        }
        *found = Found::Yes(Bound { flow: flow.clone(), channel, vector });
        Some(flow)
    }
}
