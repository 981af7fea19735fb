//! The flows that the active sides announced on control connections.

use super::lock;
use crate::channel::Channel;
use crate::flow::{Flow, Room};
use crate::npmp::{FlowId, Identify};
use crate::spec::{FlowSpec, Transport};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

/// An announced flow.
pub struct Slot {
    pub id: FlowId,
    pub spec: FlowSpec,
    /// The host that announced the flow.
    pub peer: IpAddr,
    /// Number of rows that may still be added to the vector files (a row for
    /// each message) of the measurement.
    room: Arc<Room>,
    found: Mutex<Found>,
}

/// State of the data connection of a flow.
#[derive(Clone, Default)]
pub enum Found {
    /// The data connection was not found yet.
    #[default]
    No,
    /// The active side wants a compressed vector file, which the server does not support.
    Refused,
    Yes(Bound),
}

/// A flow with its data connection.
#[derive(Clone)]
pub struct Bound {
    pub flow: Arc<Flow>,
    pub channel: Channel,
    /// True if the active side wants a vector file (with a row for each received message) of the flow.
    pub vector: bool,
}

impl Slot {
    pub fn new(id: FlowId, spec: FlowSpec, peer: IpAddr, room: Arc<Room>) -> Self {
        Slot { id, spec, peer, room, found: Mutex::default() }
    }

    /// The state of the data connection.
    pub fn found(&self) -> Found {
        lock(&self.found).clone()
    }

    /// The flow with its data connection, if the data connection was found.
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
    /// The UDP flows, by the source address of their datagrams.
    sources: Mutex<BTreeMap<SocketAddr, Arc<Flow>>>,
}

impl Registry {
    /// Adds a flow. Returns false if a flow with these numbers exists.
    pub fn add(&self, slot: Arc<Slot>) -> bool {
        let mut slots = lock(&self.slots);
        let free = !slots.contains_key(&slot.id);
        if free {
            slots.insert(slot.id, slot);
        }
        free
    }

    /// Removes a flow.
    pub fn remove(&self, id: FlowId) {
        lock(&self.slots).remove(&id);
        lock(&self.sources).retain(|_, flow| flow.id != id);
    }

    /// The UDP flow whose datagrams have this source address.
    pub fn of_source(&self, source: SocketAddr) -> Option<Arc<Flow>> {
        lock(&self.sources).get(&source).cloned()
    }

    /// Assigns the channel on which IDENTIFY arrived to its flow; the session then informs the active side.
    /// `None` if no such flow of this transport was announced, if another host announced the UDP flow, if the
    /// flow has a data connection already, or if the active side wants a compressed vector file.
    ///
    /// Does not wait for a peer, because the threads that receive data call it.
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
