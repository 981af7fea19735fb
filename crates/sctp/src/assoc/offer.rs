//! The parameters of an INIT or INIT ACK (`rfc9260#section-3.3.2`, `rfc9260#section-3.3.3`).

use crate::ext::{Ext, Extensions};
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
    /// The address families that the peer supports; all unless a parameter lists them.
    pub(crate) address_types: SupportedAddressTypes,
    pub(crate) extensions: Extensions,
    /// Unrecognized parameters that must be reported.
    pub(crate) unknown: ParameterList,
}

/// The reason why an INIT or INIT ACK is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferError {
    /// It has a Host Name Address parameter, which is contained here (`rfc9260#section-3.3.2.1.4`).
    HostName(ParameterList),
    /// A parameter is malformed.
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
                Parameter::SupportedExtensions(types) => {
                    offer.extensions = offer.extensions.and(Extensions::from_types(types));
                }
                // rfc3758#section-3.3: some peers send the parameter alone, others list the chunk type, too.
                Parameter::ForwardTsnSupported => offer.extensions = offer.extensions.with(Ext::PrSctp),
                // Not used.
                Parameter::HeartbeatInfo(_) | Parameter::UnrecognizedParameter(_) => {}
            }
        }
        Ok(offer)
    }

    /// Keeps a unicast address, up to the largest number of paths.
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
