//! Our requests: waiting requests, and the one outstanding ASCONF (`rfc5061#section-5.1`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::Cause;
use wire::asconf::{AddressChange, Request, Response, Responses};

/// A change of a local address that this end requests of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) change: AddressChange,
    /// The local address.
    pub(crate) address: IpAddr,
    /// True if the address is behind a NAT: the request holds the wildcard address, and a request to add the
    /// address is sent from this address.
    pub(crate) hidden: bool,
}

impl Wanted {
    /// True for a request to add an address behind a NAT.
    fn adds_hidden(&self) -> bool {
        self.hidden && self.change == AddressChange::Add
    }
}

/// An ASCONF that was sent and not answered.
#[derive(Debug)]
pub(crate) struct Outstanding {
    pub(crate) serial: u32,
    /// Correlation ID of the first request.
    correlation: u32,
    /// The address by which the peer finds the association, the same in retransmissions
    /// (`rfc5061#section-5.1`, rule B4).
    pub(crate) lookup: Option<IpAddr>,
    pub(crate) wanted: Vec<Wanted>,
}

impl Outstanding {
    /// The source address of the packet, if the ASCONF is sent from the address to be added.
    pub(crate) fn source(&self) -> Option<IpAddr> {
        self.wanted.iter().find(|wanted| wanted.adds_hidden()).map(|wanted| wanted.address)
    }

    /// Encodes the requests.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (correlation, wanted) in (self.correlation..).zip(&self.wanted) {
            let address = if wanted.hidden { unspecified(wanted.address) } else { wanted.address };
            Request { change: wanted.change, correlation, address }.append_to(&mut bytes);
        }
        bytes
    }

    /// Returns each request, and whether the peer carried it out. A request without a response was carried
    /// out, unless one before it failed (`rfc5061#section-5.1`).
    pub(crate) fn outcomes(&self, responses: Responses<'_>) -> Vec<(Wanted, bool)> {
        let mut failed = false;
        let mut outcomes = Vec::with_capacity(self.wanted.len());
        for (number, wanted) in (self.correlation..).zip(&self.wanted) {
            let response = responses.iter().flatten().find_map(|response| match response {
                Response::Done { correlation } if correlation == number => Some(true),
                Response::Failed { correlation, .. } if correlation == number => Some(false),
                _ => None,
            });
            failed |= response == Some(false);
            outcomes.push((*wanted, response.unwrap_or(!failed)));
        }
        outcomes
    }

    /// The changes that the peer reports as unrecognized.
    fn not_understood(&self, responses: Responses<'_>) -> impl Iterator<Item = AddressChange> {
        responses.iter().flatten().filter_map(|response| {
            let Response::Failed { correlation, causes } = response else { return None };
            let unrecognized = |cause| matches!(cause, Ok(Cause::UnrecognizedParameters(_)));
            let n = correlation.wrapping_sub(self.correlation) as usize;
            self.wanted.get(n).filter(|_| causes.iter().any(unrecognized)).map(|wanted| wanted.change)
        })
    }
}

/// The wildcard address of the IP version of `like`. In a request it stands for the source address of
/// the packet.
pub(crate) fn unspecified(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

/// Waiting and outstanding requests.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Serial number of the next ASCONF.
    next: u32,
    correlation: u32,
    waiting: Vec<Wanted>,
    pub(crate) outstanding: Option<Outstanding>,
    /// True if the peer does not support requests to add and delete addresses.
    no_changes: bool,
    /// True if the peer does not support requests to set the primary address.
    no_primary: bool,
}

/// Largest number of requests in an ASCONF: with IPv6 and AUTH they fit the smallest path MTU.
const MOST: usize = 16;

impl Queue {
    pub(super) fn new(first: u32) -> Self {
        Queue {
            next: first,
            correlation: 1,
            waiting: Vec::new(),
            outstanding: None,
            no_changes: false,
            no_primary: false,
        }
    }

    /// True if the peer supports requests for this change.
    pub(crate) fn may_ask_for(&self, change: AddressChange) -> bool {
        !match change {
            AddressChange::Add | AddressChange::Delete => self.no_changes,
            AddressChange::SetPrimary => self.no_primary,
        }
    }

    /// Notes the changes that the peer reports as unrecognized, which are never requested again. Returns the
    /// waiting requests for them (`rfc5061#section-5.3`, rules F3a and F3b).
    pub(crate) fn learn(&mut self, answered: &Outstanding, responses: Responses<'_>) -> Vec<Wanted> {
        for change in answered.not_understood(responses) {
            match change {
                AddressChange::Add | AddressChange::Delete => self.no_changes = true,
                AddressChange::SetPrimary => self.no_primary = true,
            }
        }
        let waiting = std::mem::take(&mut self.waiting);
        let (kept, refused) = waiting.into_iter().partition(|wanted| self.may_ask_for(wanted.change));
        self.waiting = kept;
        refused
    }

    /// Queues a request; false if it instead cancels a waiting, opposite request for the same address.
    pub(crate) fn push(&mut self, wanted: Wanted) -> bool {
        let opposite = match wanted.change {
            AddressChange::Add => Some(AddressChange::Delete),
            AddressChange::Delete => Some(AddressChange::Add),
            AddressChange::SetPrimary => None,
        };
        let cancels = opposite.is_some_and(|change| self.waits(change, wanted.address));
        match wanted.change {
            AddressChange::SetPrimary => {
                self.waiting.retain(|other| other.change != AddressChange::SetPrimary)
            }
            // A request to delete an address replaces all waiting requests for it.
            AddressChange::Delete => self.waiting.retain(|other| other.address != wanted.address),
            AddressChange::Add => self
                .waiting
                .retain(|other| other.address != wanted.address || other.change == AddressChange::SetPrimary),
        }
        // The NAT may give the new address the same public address as one to be deleted, which the
        // peer would then delete.
        if wanted.adds_hidden() {
            self.waiting.retain(|other| !other.hidden || other.change != AddressChange::Delete);
        }
        if !cancels {
            self.waiting.push(wanted);
        }
        !cancels
    }

    /// True if a request for this change of this address waits.
    pub(crate) fn waits(&self, change: AddressChange, address: IpAddr) -> bool {
        self.waiting.iter().any(|wanted| (wanted.change, wanted.address) == (change, address))
    }

    /// True if a request for this change of this address waits or is outstanding.
    pub(crate) fn asks(&self, change: AddressChange, address: IpAddr) -> bool {
        let sent = self.outstanding.iter().flat_map(|sent| &sent.wanted);
        self.waiting.iter().chain(sent).any(|wanted| (wanted.change, wanted.address) == (change, address))
    }

    /// Number of requests for a change that wait or are outstanding.
    pub(crate) fn count(&self, change: AddressChange) -> usize {
        let sent = self.outstanding.iter().flat_map(|sent| &sent.wanted);
        self.waiting.iter().chain(sent).filter(|wanted| wanted.change == change).count()
    }

    /// Makes the next ASCONF of waiting requests. False if no request waits, or an ASCONF is outstanding. A
    /// request that is sent from the address to be added gets an ASCONF of its own.
    pub(crate) fn launch(&mut self) -> bool {
        if self.outstanding.is_some() || self.waiting.is_empty() {
            return false;
        }
        let n = self.waiting.iter().take(MOST).take_while(|wanted| !wanted.adds_hidden()).count().max(1);
        let wanted: Vec<Wanted> = self.waiting.drain(..n).collect();
        let (serial, correlation) = (self.next, self.correlation);
        self.next = self.next.wrapping_add(1);
        self.correlation = self.correlation.wrapping_add(n as u32);
        self.outstanding = Some(Outstanding { serial, correlation, lookup: None, wanted });
        true
    }

    /// Takes the outstanding ASCONF if it has this serial number.
    pub(crate) fn answered(&mut self, serial: u32) -> Option<Outstanding> {
        self.outstanding.take_if(|outstanding| outstanding.serial == serial)
    }

    /// True if no ASCONF with this serial number was sent yet (`rfc5061#section-5.3`, rule F0).
    pub(crate) fn is_unsent(&self, serial: u32) -> bool {
        serial.wrapping_sub(self.next) < 1 << 31
    }

    /// Removes and returns all requests: the peer does not support ASCONF.
    pub(crate) fn give_up(&mut self) -> Vec<Wanted> {
        let mut all = self.outstanding.take().map(|sent| sent.wanted).unwrap_or_default();
        all.append(&mut self.waiting);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(change: AddressChange, host: u8) -> Wanted {
        Wanted { change, address: [10, 0, 0, host].into(), hidden: false }
    }

    use AddressChange::{Add, Delete, SetPrimary};

    // rfc5061#section-5.1
    #[test]
    fn one_asconf_is_outstanding_and_the_next_has_the_next_serial_number() {
        let mut queue = Queue::new(u32::MAX);
        assert!(!queue.launch());
        assert!(queue.push(wanted(Add, 1)) && queue.launch());
        assert!(queue.push(wanted(Add, 2)) && queue.push(wanted(SetPrimary, 2)) && !queue.launch());
        assert!(queue.is_unsent(0) && queue.is_unsent(0x7fff_ffff) && !queue.is_unsent(0x8000_0000));
        assert!(!queue.is_unsent(u32::MAX) && queue.answered(0).is_none());
        assert_eq!(queue.answered(u32::MAX).unwrap().wanted, [wanted(Add, 1)]);
        assert!(queue.launch());
        let sent = queue.outstanding.as_ref().unwrap();
        assert_eq!((sent.serial, sent.correlation), (0, 2));
        assert_eq!(sent.wanted, [wanted(Add, 2), wanted(SetPrimary, 2)]);
    }

    #[test]
    fn requests_to_add_and_to_delete_an_address_cancel_each_other_while_they_wait() {
        let mut queue = Queue::new(1);
        assert!(queue.push(wanted(Add, 1)) && queue.launch());
        assert!(queue.push(wanted(Add, 2)) && queue.push(wanted(SetPrimary, 2)));
        assert!(!queue.push(wanted(Delete, 2)), "and with them the wish for a primary path");
        assert!(queue.push(wanted(Delete, 1)) && !queue.push(wanted(Add, 1)));
        assert!(queue.waiting.is_empty());
        assert!(queue.asks(Add, [10, 0, 0, 1].into()), "it has left");
    }

    #[test]
    fn a_hidden_address_is_added_by_an_asconf_of_its_own_from_that_address() {
        let mut queue = Queue::new(1);
        let hidden = Wanted { hidden: true, ..wanted(Add, 2) };
        for request in [wanted(Add, 1), hidden, wanted(Delete, 3)] {
            assert!(queue.push(request));
        }
        for (serial, request, source) in
            [(1, wanted(Add, 1), None), (2, hidden, Some(hidden.address)), (3, wanted(Delete, 3), None)]
        {
            assert!(queue.launch());
            let sent = queue.answered(serial).unwrap();
            assert_eq!((sent.source(), &sent.wanted[..]), (source, &[request][..]));
        }
    }

    // rfc5061#section-5.3, rules F3a and F3b
    #[test]
    fn what_the_peer_reports_as_unrecognized_is_never_asked_for_again() {
        for (change, others_stay) in [(Add, false), (Delete, false), (SetPrimary, true)] {
            let mut queue = Queue::new(1);
            assert!(queue.push(wanted(change, 1)) && queue.launch());
            assert!(queue.push(wanted(Add, 2)) && queue.push(wanted(SetPrimary, 2)));
            let sent = queue.answered(1).unwrap();
            let mut causes = wire::CauseList::new();
            causes.push(&Cause::UnrecognizedParameters(wire::Parameters::from_bytes(&[0xc0, 1, 0, 4])));
            let mut responses = Vec::new();
            Response::Failed { correlation: 1, causes: causes.as_causes() }.append_to(&mut responses);
            let refused = queue.learn(&sent, Responses::from_bytes(&responses));
            let gone = if others_stay { wanted(SetPrimary, 2) } else { wanted(Add, 2) };
            assert_eq!(refused, [gone]);
            assert_eq!(queue.may_ask_for(Add), others_stay);
            assert_eq!(queue.may_ask_for(Delete), others_stay);
            assert_eq!(queue.may_ask_for(SetPrimary), !others_stay);
        }
    }

    // rfc5061#section-5.1
    #[test]
    fn requests_before_an_error_succeed_and_those_after_it_fail() {
        let sent = Outstanding {
            serial: 1,
            correlation: 5,
            lookup: None,
            wanted: vec![wanted(Add, 1), wanted(Add, 2), wanted(Add, 3), wanted(Add, 4)],
        };
        let outcomes = |responses: &[Response<'_>]| {
            let mut bytes = Vec::new();
            responses.iter().for_each(|response| assert!(response.append_to(&mut bytes)));
            let outcomes = sent.outcomes(Responses::from_bytes(&bytes));
            outcomes.into_iter().map(|(_, done)| done).collect::<Vec<_>>()
        };
        let failed = |correlation| Response::Failed { correlation, causes: Default::default() };
        assert_eq!(outcomes(&[]), [true; 4]);
        assert_eq!(outcomes(&[failed(6)]), [true, false, false, false]);
        assert_eq!(outcomes(&[failed(6), Response::Done { correlation: 8 }]), [true, false, false, true]);
        assert_eq!(outcomes(&[failed(99)]), [true; 4]);
    }
}
