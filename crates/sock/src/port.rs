//! SCTP ports, and the sockets that listen there.

use std::collections::BTreeMap;

/// The open ports.
#[derive(Debug, Default)]
pub struct Ports {
    pub all: BTreeMap<u16, Port>,
    /// The port given last to a socket that did not ask for a certain one.
    pub next: u16,
}

#[derive(Debug, Default)]
pub struct Port {
    /// The sockets that listen: one, or one for each family.
    pub listeners: Vec<usize>,
}

impl Ports {
    /// The listening sockets, with their ports.
    pub fn listeners(&self) -> Vec<(u16, Vec<usize>)> {
        let listening = self.all.iter().filter(|(_, entry)| !entry.listeners.is_empty());
        listening.map(|(&port, entry)| (port, entry.listeners.clone())).collect()
    }
}
