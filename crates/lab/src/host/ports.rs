use super::EndpointId;

/// The SCTP ports of a host: a table from the lowest port in use to the highest, since every packet is looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    first: u16,
    table: Vec<Option<EndpointId>>,
}

impl Ports {
    #[inline]
    pub(super) fn get(&self, port: u16) -> Option<EndpointId> {
        let place = port.checked_sub(self.first)?;
        *self.table.get(usize::from(place))?
    }

    pub(super) fn set(&mut self, port: u16, id: EndpointId) {
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
    fn ports_may_come_in_any_order_and_no_other_is_found() {
        let mut ports = Ports::default();
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
}
