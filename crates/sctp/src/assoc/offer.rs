//! The parameters of an INIT or INIT ACK (`rfc9260#section-3.3.2`, `rfc9260#section-3.3.3`).

use crate::ext::auth::AuthOffer;
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
    /// The address families that the peer supports; all if it does not list them.
    pub(crate) address_types: SupportedAddressTypes,
    pub(crate) extensions: Extensions,
    pub(crate) auth: AuthOffer<'a>,
    pub(crate) adaptation: Option<u32>,
    /// Unrecognized parameters that must be reported.
    pub(crate) unknown: ParameterList,
}

/// The reason why an INIT or INIT ACK is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferError {
    /// The offer has a Host Name Address parameter, which this list contains (`rfc9260#section-3.3.2.1.4`).
    HostName(ParameterList),
    /// A parameter is malformed.
    Malformed,
}

/// The address families of a peer that lists no supported families: IPv4 and IPv6.
const ALL_TYPES: SupportedAddressTypes = SupportedAddressTypes { ipv4: true, ipv6: true, host_name: false };

impl<'a> Offer<'a> {
    /// Reads the parameters. If a parameter is repeated, its first value counts.
    pub(crate) fn read(parameters: Parameters<'a>) -> Result<Self, OfferError> {
        let (mut types, mut address_types) = (None, None);
        let mut offer = Offer {
            addresses: Vec::new(),
            cookie: None,
            preservative: None,
            address_types: ALL_TYPES,
            extensions: Extensions::default(),
            auth: AuthOffer::default(),
            adaptation: None,
            unknown: ParameterList::new(),
        };
        for parameter in parameters.iter() {
            match parameter.map_err(|_| OfferError::Malformed)? {
                Parameter::Ipv4(address) => offer.add(address.into()),
                Parameter::Ipv6(address) => offer.add(address.into()),
                Parameter::StateCookie(cookie) => offer.cookie = offer.cookie.or(Some(cookie)),
                Parameter::CookiePreservative(increment) => {
                    offer.preservative = offer.preservative.or(Some(increment));
                }
                Parameter::SupportedAddressTypes(types) => address_types = address_types.or(Some(types)),
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
                Parameter::Random(random) => {
                    offer.auth.random.get_or_insert(random);
                }
                Parameter::ChunkList(types) => {
                    offer.auth.chunks.get_or_insert(types);
                }
                Parameter::HmacAlgorithms(ids) => {
                    offer.auth.algorithms.get_or_insert(ids);
                }
                Parameter::SupportedExtensions(listed) => types = types.or(Some(listed)),
                Parameter::EcnCapable => offer.extensions = offer.extensions.and(Extensions::alone(Ext::Ecn)),
                // rfc3758#section-3.3: some peers send the parameter alone, others list the chunk type, too.
                Parameter::ForwardTsnSupported => {
                    offer.extensions = offer.extensions.and(Extensions::alone(Ext::PrSctp));
                }
                Parameter::Adaptation(code) => offer.adaptation = offer.adaptation.or(Some(code)),
                // rfc9653#section-5.2: both ends need an alternate error detection method. We have none.
                Parameter::ZeroChecksumAcceptable(_) => {}
                // A Heartbeat Info has no meaning here. An Unrecognized Parameter tells nothing new:
                // the peer's list of extensions already shows what the peer lacks.
                Parameter::HeartbeatInfo(_) | Parameter::UnrecognizedParameter(_) => {}
            }
        }
        offer.extensions = offer.extensions.and(Extensions::from_types(types.unwrap_or_default()));
        offer.address_types = address_types.unwrap_or(ALL_TYPES);
        Ok(offer)
    }

    /// The families of the addresses to which the peer can send. A family that the peer does not list counts
    /// too if the peer sent the INIT from an address of that family or names one (`rfc9260#section-5.1.2`).
    pub(crate) fn families(&self, source: IpAddr) -> SupportedAddressTypes {
        let used = || self.addresses.iter().chain([&source]);
        SupportedAddressTypes {
            ipv4: self.address_types.ipv4 || used().any(IpAddr::is_ipv4),
            ipv6: self.address_types.ipv6 || used().any(IpAddr::is_ipv6),
            ..self.address_types
        }
    }

    /// Adds a unicast address, up to the largest number of paths.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn list(parameters: &[Parameter<'_>]) -> ParameterList {
        let mut list = ParameterList::new();
        assert!(parameters.iter().all(|parameter| list.push(parameter)));
        list
    }

    // rfc9260#section-3.2.1 does not define how a repeated parameter counts.
    #[test]
    fn of_a_parameter_that_comes_twice_the_first_counts() {
        let ipv4 = SupportedAddressTypes { ipv4: true, ipv6: false, host_name: false };
        let ipv6 = SupportedAddressTypes { ipv4: false, ipv6: true, host_name: false };
        let twice = list(&[
            Parameter::StateCookie(b"first"),
            Parameter::CookiePreservative(Span::from_secs(1)),
            Parameter::SupportedAddressTypes(ipv4),
            Parameter::SupportedExtensions(&[0x10]),
            Parameter::EcnCapable,
            Parameter::StateCookie(b"second"),
            Parameter::CookiePreservative(Span::from_secs(2)),
            Parameter::SupportedAddressTypes(ipv6),
            Parameter::SupportedExtensions(&[0x81]),
            Parameter::EcnCapable,
        ]);
        let offer = Offer::read(twice.as_parameters()).expect("an offer");
        assert_eq!(offer.cookie, Some(&b"first"[..]));
        assert_eq!(offer.preservative, Some(Span::from_secs(1)));
        assert_eq!(offer.address_types, ipv4);
        let extensions = Extensions::from_types(&[0x10]).and(Extensions::alone(Ext::Ecn));
        assert_eq!(offer.extensions, extensions);
    }

    // rfc9653#section-5.1
    #[test]
    fn a_zero_checksum_that_the_peer_accepts_is_neither_unknown_nor_agreed_upon() {
        let parameters = list(&[Parameter::ZeroChecksumAcceptable(1)]);
        let offer = Offer::read(parameters.as_parameters()).expect("an offer");
        assert_eq!(offer.unknown, ParameterList::new());
        assert_eq!(offer.extensions, Extensions::default());
    }
}
