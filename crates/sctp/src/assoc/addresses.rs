//! User calls that add and remove local addresses, and the ASCONF requests for them (`rfc5061#section-5.1`).

use super::Association;
use crate::error::AddressError;
use crate::ext::Ext;
use crate::ext::asconf::{Wanted, unspecified};
use crate::path::Paths;
use std::net::IpAddr;
use transport::is_unicast;
use units::Instant;
use wire::asconf::AddressChange;

impl Association {
    /// Requests that the peer adds a local address.
    pub(crate) fn add_local(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        if !is_unicast(address) {
            return Err(AddressError::NotUnicast { address });
        }
        if self.locals().any(|local| local == address) {
            return Err(AddressError::Known { address });
        }
        if !self.extensions.has(Ext::Asconf) {
            return self.restore_local(now, address).map_err(|_| AddressError::NoAsconf { address });
        }
        if !self.phase.sends_data() {
            return Err(AddressError::NotEstablished);
        }
        let hidden = self.config().nat_friendly;
        let locals = self.locals().count();
        let Some(asconf) = self.asconf.as_mut().filter(|asconf| asconf.queue.may_ask_for(AddressChange::Add))
        else {
            return Err(AddressError::NoAsconf { address });
        };
        let full = locals + asconf.queue.count(AddressChange::Add) >= Paths::LIMIT;
        let asked = asconf.queue.asks(AddressChange::Add, address);
        if full {
            return Err(AddressError::TooMany { limit: Paths::LIMIT });
        }
        if asked && !asconf.queue.waits(AddressChange::Delete, address) {
            return Err(AddressError::Known { address });
        }
        if !asconf.queue.push(Wanted { change: AddressChange::Add, address, hidden }) && !asked {
            // The new request cancelled a waiting request to delete the address: the peer still has it.
            self.use_local(now, address);
        }
        self.settle(now);
        Ok(())
    }

    /// Removes a local address and, with ASCONF, requests that the peer deletes it.
    pub(crate) fn remove_local(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        let asked = self.asconf.as_ref().is_some_and(|asconf| asconf.queue.asks(AddressChange::Add, address));
        if asked && !self.locals().any(|local| local == address) {
            // The address is not in use yet: the request to add it is withdrawn.
            self.withdraw_addition(now, address);
            self.ask_to_delete(address);
            self.settle(now);
            return Ok(());
        }
        self.drop_local(now, address)?;
        self.ask_to_delete(address);
        self.settle(now);
        Ok(())
    }

    /// Requests that the peer deletes a local address. Behind a NAT the request contains the wildcard
    /// address, which deletes all addresses except the source of the request. So this end sends no
    /// request while several addresses remain, or while an address is being added that may share the
    /// public address of the removed one. Then the peer has to detect the failure of the removed address.
    fn ask_to_delete(&mut self, address: IpAddr) {
        if !self.may_ask() {
            return;
        }
        let hidden = self.config().nat_friendly;
        let mut locals = self.locals();
        let (first, others) = (locals.next(), locals.next().is_some());
        drop(locals);
        if hidden {
            self.forget_local(address);
        }
        let change = AddressChange::Delete;
        let Some(asconf) = self.asconf.as_mut().filter(|asconf| asconf.queue.may_ask_for(change)) else {
            return;
        };
        match first {
            Some(left) if hidden => {
                let cancelled = asconf.queue.waits(AddressChange::Add, address);
                if cancelled {
                    asconf.queue.push(Wanted { change, address, hidden });
                } else if !others && asconf.queue.count(AddressChange::Add) == 0 {
                    asconf.queue.push(Wanted { change, address: unspecified(left), hidden });
                }
            }
            _ => {
                asconf.queue.push(Wanted { change, address, hidden: false });
            }
        }
    }

    /// Requests that the peer uses this local address as its primary destination.
    pub(crate) fn set_peer_primary(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        let ours = self.locals().any(|local| local == address);
        let hidden = self.config().nat_friendly;
        let may_ask = self.may_ask();
        let change = AddressChange::SetPrimary;
        let Some(asconf) = self.asconf.as_mut().filter(|asconf| asconf.queue.may_ask_for(change)) else {
            return Err(AddressError::NoAsconf { address });
        };
        if !may_ask {
            return Err(AddressError::NotEstablished);
        }
        if !ours && !asconf.queue.asks(AddressChange::Add, address) {
            return Err(AddressError::Unknown { address });
        }
        asconf.queue.push(Wanted { change, address, hidden });
        self.settle(now);
        Ok(())
    }

    /// True if the peer supports ASCONF and requests may be sent in this phase.
    fn may_ask(&self) -> bool {
        self.extensions.has(Ext::Asconf) && self.phase.sends_data()
    }
}
