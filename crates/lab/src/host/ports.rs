use super::EndpointId;
use net::Protocol;

/// The ports of a host, separately for each protocol.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports([Table; 4]);

impl Ports {
    #[inline]
    pub(super) fn get(&self, protocol: Protocol, port: u16) -> Option<EndpointId> {
        self.0[place(protocol)].get(port)
    }

    pub(super) fn set(&mut self, protocol: Protocol, port: u16, id: EndpointId) {
        self.0[place(protocol)].set(port, id);
    }
}

#[inline]
fn place(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Sctp => 0,
        Protocol::Tcp => 1,
        Protocol::Udp => 2,
        // Opaque packets have an index, too, but no endpoint receives them.
        Protocol::Opaque => 3,
    }
}

/// The ports of a protocol, as a table from the lowest to the highest port in use, because each packet needs
/// a lookup.
#[derive(Clone, Debug, Default)]
struct Table {
    first: u16,
    table: Vec<Option<EndpointId>>,
}

impl Table {
    #[inline]
    fn get(&self, port: u16) -> Option<EndpointId> {
        let place = port.checked_sub(self.first)?;
        *self.table.get(usize::from(place))?
    }

    fn set(&mut self, port: u16, id: EndpointId) {
        if self.table.is_empty() {
            self.first = port;
        } else if port < self.first {
            let missing = usize::from(self.first - port);
            self.table.splice(0..0, std::iter::repeat_n(None, missing));
            self.first = port;
        }
        let place = usize::from(port - self.first);
        if place >= self.table.len() {
            self.table.resize(place + 1, None);
        }
        self.table[place] = Some(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_added_in_any_order_are_found_and_others_are_not() {
        let mut ports = Table::default();
        let used = [9000, 9002, 80, 65_535, 1];
        for (number, port) in used.into_iter().enumerate() {
            ports.set(port, EndpointId(number as u32));
        }
        for port in 0..=u16::MAX {
            let expected =
                used.iter().position(|&other| other == port).map(|number| EndpointId(number as u32));
            assert_eq!(ports.get(port), expected, "{port}");
        }
    }

    #[test]
    fn a_port_belongs_to_one_protocol_only() {
        let mut ports = Ports::default();
        ports.set(Protocol::Tcp, 80, EndpointId(0));
        ports.set(Protocol::Udp, 80, EndpointId(1));
        let found = [Protocol::Sctp, Protocol::Tcp, Protocol::Udp].map(|protocol| ports.get(protocol, 80));
        assert_eq!(found, [None, Some(EndpointId(0)), Some(EndpointId(1))]);
    }
}
