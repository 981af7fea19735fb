//! The parameters of an INIT or INIT ACK (`rfc9260#section-3.3.2`, `rfc9260#section-3.3.3`).

use crate::ext::Extensions;
use crate::path::Paths;
use std::net::IpAddr;
use transport::is_unicast;
use units::Span;
use wire::{Parameter, ParameterList, Parameters, SupportedAddressTypes, UnknownAction};

#[derive(Clone, Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) cookie: Option<&'a [u8]>,
    pub(crate) preservative: Option<Span>,
    /// What kinds of addresses the peer can use; all unless it says so.
    pub(crate) address_types: SupportedAddressTypes,
    pub(crate) extensions: Extensions,
    /// Parameters that are not known and ask for a report.
    pub(crate) unknown: ParameterList,
}

/// Why an offer cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferError {
    /// It has a Host Name Address: here it is, whole (`rfc9260#section-3.3.2.1.4`).
    HostName(ParameterList),
    /// A parameter cannot be read.
    Malformed,
}

impl<'a> Offer<'a> {
    pub(crate) fn read(parameters: Parameters<'a>) -> Result<Self, OfferError> {
        let mut offer = Offer {
            addresses: Vec::new(),
            cookie: None,
            preservative: None,
            address_types: SupportedAddressTypes { ipv4: true, ipv6: true, host_name: false },
            extensions: Extensions::default(),
            unknown: ParameterList::new(),
        };
        for parameter in parameters.iter() {
            match parameter.map_err(|_| OfferError::Malformed)? {
                Parameter::Ipv4(address) => offer.add(address.into()),
                Parameter::Ipv6(address) => offer.add(address.into()),
                Parameter::StateCookie(cookie) => offer.cookie = Some(cookie),
                Parameter::CookiePreservative(increment) => offer.preservative = Some(increment),
                Parameter::SupportedAddressTypes(types) => offer.address_types = types,
                Parameter::HostName(name) => {
                    let mut whole = ParameterList::new();
                    whole.push(&Parameter::HostName(name));
                    return Err(OfferError::HostName(whole));
                }
                Parameter::Unknown(unknown) => {
                    let action = unknown.action();
                    if matches!(action, UnknownAction::StopReport | UnknownAction::SkipReport) {
                        offer.unknown.push(&Parameter::Unknown(unknown));
                    }
                    if matches!(action, UnknownAction::StopDiscard | UnknownAction::StopReport) {
                        break;
                    }
                }
                Parameter::SupportedExtensions(types) => offer.extensions = Extensions::from_types(types),
                // Of no use here.
                Parameter::HeartbeatInfo(_) | Parameter::UnrecognizedParameter(_) => {}
            }
        }
        Ok(offer)
    }

    /// Keeps an address that can be somebody's, and no more than an association has use for.
    fn add(&mut self, address: IpAddr) {
        if is_unicast(address) && self.addresses.len() < Paths::LIMIT && !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
    }
}

/// Appends addresses as parameters.
pub(crate) fn push_addresses(list: &mut ParameterList, addresses: impl IntoIterator<Item = IpAddr>) {
    for address in addresses {
        list.push(&match address {
            IpAddr::V4(address) => Parameter::Ipv4(address),
            IpAddr::V6(address) => Parameter::Ipv6(address),
        });
    }
}
