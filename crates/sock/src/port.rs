//! SCTP ports, and the sockets that listen there.

use std::collections::BTreeMap;

/// The open ports.
#[derive(Debug, Default)]
pub struct Ports {
    pub all: BTreeMap<u16, Port>,
    /// The port given last to a socket that did not ask for a certain one.
    pub next: u16,
    /// Counts the peers that ask for an association: sockets that share a port take turns.
    pub turn: usize,
}

#[derive(Debug, Default)]
pub struct Port {
    /// The sockets that listen: one, or one for each family, or several that share the port.
    pub listeners: Vec<usize>,
}

impl Ports {
    /// The listening sockets, with their ports.
    pub fn listeners(&self) -> Vec<(u16, Vec<usize>)> {
        let listening = self.all.iter().filter(|(_, entry)| !entry.listeners.is_empty());
        listening.map(|(&port, entry)| (port, entry.listeners.clone())).collect()
    }
}
