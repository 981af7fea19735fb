//! Extensions beyond RFC 9260 that both ends must support (`rfc5061#section-4.2.7`). Each has a file, and a
//! line in [`TABLE`], which determines its announcement, the agreement on it, and its bit in the state
//! cookie.
//!
//! INIT and INIT ACK determine which extensions both ends support. A restart of the peer determines this
//! again. A chunk of any other extension is an unknown chunk.

pub(crate) mod asconf;
pub(crate) mod auth;
mod delays;
#[cfg(test)]
pub(crate) mod dummy;
mod ecn;
mod interleaving;
mod nr_sack;
mod packet_drop;
mod pr_sctp;
mod re_config;

pub(crate) use delays::{Transit, micros};

use crate::config::Config;
use wire::{Parameter, ParameterList};

/// An extension. The number is its bit in a state cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ext {
    /// NR-SACK in place of SACK.
    NrSack = 0,
    /// LEDBAT-CONTROL with every SACK, and TIMESTAMP with DATA.
    Delays = 1,
    /// AUTH, before chunks of the types that an end accepts only authenticated.
    Auth = 12,
    /// ASCONF, which adds and deletes addresses.
    Asconf = 13,
    /// ECNE and CWR: ECNE reports packets that routers marked, CWR answers it.
    Ecn = 10,
    /// PKTDROP for packets with a wrong checksum.
    PacketDrop = 11,
    /// I-DATA in place of DATA.
    Interleaving = 6,
    /// I-FORWARD-TSN: with interleaving, messages may be abandoned.
    InterleavedSkipping = 7,
    /// RE-CONFIG, which resets and adds streams.
    ReConfig = 2,
    /// FORWARD TSN: messages may be abandoned.
    PrSctp = 3,
    #[cfg(test)]
    Dummy = 15,
}

impl Ext {
    const fn name(self) -> &'static str {
        match self {
            Ext::NrSack => "nr-sack",
            Ext::Delays => "delays",
            Ext::Auth => "auth",
            Ext::Asconf => "asconf",
            Ext::Ecn => "ecn",
            Ext::PacketDrop => "packet-drop",
            Ext::Interleaving => "interleaving",
            Ext::InterleavedSkipping => "i-forward-tsn",
            Ext::ReConfig => "re-config",
            Ext::PrSctp => "pr-sctp",
            #[cfg(test)]
            Ext::Dummy => "dummy",
        }
    }
}

/// How INIT and INIT ACK announce an extension.
struct Line {
    ext: Ext,
    /// Chunk types in the Supported Extensions parameter, all of which a peer must list; empty if the
    /// extension has a parameter of its own.
    types: &'static [u8],
    /// Returns true if an end with these options announces the extension.
    announced: fn(&Config) -> bool,
}

/// All extensions, in the order in which their types are announced.
const TABLE: &[Line] = &[
    Line { ext: Ext::Interleaving, types: interleaving::TYPES, announced: interleaving::announced },
    Line { ext: Ext::Auth, types: auth::TYPES, announced: auth::announced },
    Line { ext: Ext::Asconf, types: asconf::TYPES, announced: asconf::announced },
    Line { ext: Ext::NrSack, types: nr_sack::TYPES, announced: nr_sack::announced },
    Line { ext: Ext::Delays, types: delays::TYPES, announced: delays::announced },
    Line { ext: Ext::Ecn, types: &[], announced: ecn::announced },
    Line { ext: Ext::PacketDrop, types: packet_drop::TYPES, announced: packet_drop::announced },
    Line { ext: Ext::ReConfig, types: re_config::TYPES, announced: re_config::announced },
    Line { ext: Ext::PrSctp, types: pr_sctp::TYPES, announced: pr_sctp::announced },
    Line {
        ext: Ext::InterleavedSkipping,
        types: interleaving::SKIPPING_TYPES,
        announced: interleaving::skipping_announced,
    },
    #[cfg(test)]
    Line { ext: Ext::Dummy, types: dummy::TYPES, announced: dummy::announced },
];

/// The extensions that one end announces, or that both ends support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions(u16);

impl Extensions {
    #[inline]
    pub(crate) const fn has(self, ext: Ext) -> bool {
        self.0 & 1 << ext as u16 != 0
    }

    /// The extensions of the table for which the condition holds.
    fn of_table(condition: impl Fn(&Line) -> bool) -> Self {
        let lines = TABLE.iter().filter(|line| condition(line));
        Extensions(lines.fold(0, |bits, line| bits | 1 << line.ext as u16))
    }

    /// The extensions that we announce.
    pub(crate) fn of(config: &Config) -> Self {
        Self::of_table(|line| (line.announced)(config))
    }

    /// The extensions that a list of chunk types announces. Order and other types do not matter.
    pub(crate) fn from_types(types: &[u8]) -> Self {
        let listed = |line: &Line| line.types.iter().all(|kind| types.contains(kind));
        Self::of_table(|line| !line.types.is_empty() && listed(line))
    }

    /// The set of one extension: the peer announced it by a parameter of its own.
    pub(crate) const fn alone(ext: Ext) -> Self {
        Extensions(1 << ext as u16)
    }

    /// True if the set is empty.
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The union of both sets.
    pub(crate) const fn and(self, other: Extensions) -> Self {
        Extensions(self.0 | other.0)
    }

    /// True if messages may be abandoned (`rfc8260#section-2.3.1`).
    pub(crate) const fn may_skip(self) -> bool {
        self.has(if self.has(Ext::Interleaving) { Ext::InterleavedSkipping } else { Ext::PrSctp })
    }

    /// Adds or removes an extension.
    pub(crate) fn set(&mut self, ext: Ext, on: bool) {
        self.0 = self.0 & !(1 << ext as u16) | u16::from(on) << ext as u16;
    }

    /// The intersection of both sets.
    pub(crate) fn both(self, other: Extensions) -> Self {
        Extensions(self.0 & other.0)
    }

    /// Appends the parameters that announce the set: first ECN and FORWARD TSN by their own
    /// parameters, then the Supported Extensions parameter, if it lists any chunk type.
    pub(crate) fn push(self, list: &mut ParameterList) {
        if self.has(Ext::Ecn) {
            list.push(&Parameter::EcnCapable);
        }
        if self.has(Ext::PrSctp) {
            list.push(&Parameter::ForwardTsnSupported);
        }
        let lines = TABLE.iter().filter(|line| self.has(line.ext));
        let types: Vec<u8> = lines.flat_map(|line| line.types).copied().collect();
        if !types.is_empty() {
            list.push(&Parameter::SupportedExtensions(&types));
        }
    }

    /// The names of the extensions.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|line| line.ext).filter(move |&ext| self.has(ext)).map(Ext::name)
    }

    /// The set as bits for a state cookie; zero for the empty set.
    pub(crate) const fn to_bits(self) -> u16 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u16) -> Self {
        Extensions(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{EcnMode, Timestamps};

    fn announced(extensions: Extensions) -> Vec<u8> {
        let mut list = ParameterList::new();
        extensions.push(&mut list);
        list.as_parameters().as_bytes().to_vec()
    }

    // rfc5061#section-4.2.7
    #[test]
    fn announced_types_are_those_of_the_options_in_the_order_of_the_table() {
        let config =
            Config { nr_sack: true, timestamps: Timestamps::Chunk, interleaving: true, ..Config::default() };
        let all = Extensions::of(&config);
        let types: Vec<u8> = [interleaving::TYPES, nr_sack::TYPES, delays::TYPES].concat();
        assert_eq!(announced(all), [&[0x80, 8, 0, 8][..], &types].concat());
        assert_eq!(announced(Extensions::of(&Config::default())), []);
        assert_eq!(Extensions::from_types(&types), all);
        assert_eq!(Extensions::from_bits(all.to_bits()), all);
    }

    // rfc3758#section-3.1, rfc5061#section-4.2.7
    #[test]
    fn pr_sctp_is_announced_by_its_parameter_and_in_the_list() {
        let config = Config { pr_sctp: true, nr_sack: true, ..Config::default() };
        let bytes = announced(Extensions::of(&config));
        assert_eq!(bytes, [0xc0, 0, 0, 4, 0x80, 8, 0, 6, 0x10, 0xc0]);
        assert!(Extensions::alone(Ext::PrSctp).has(Ext::PrSctp));
    }

    // An unknown type or a repeated type is no error.
    #[test]
    fn a_list_of_types_of_all_extensions_is_read() {
        let types = [0xc0, 0xc2, 0x40, 0x0f, 0xc1, 0x80, 0x82, 0x10, 0x81, 0x82];
        let listed = Extensions::from_types(&types);
        assert!(listed.has(Ext::PrSctp) && listed.has(Ext::NrSack) && !listed.has(Ext::Delays));
    }

    #[test]
    fn an_extension_with_a_parameter_of_its_own_is_in_no_list_of_types() {
        let config = Config { ecn: EcnMode::On, packet_drop_reports: true, ..Config::default() };
        let all = Extensions::of(&config);
        assert_eq!(announced(all), [0x80, 0, 0, 4, 0x80, 8, 0, 5, 0x81]);
        assert_eq!(announced(Extensions::alone(Ext::Ecn)), [0x80, 0, 0, 4]);
        assert!(!Extensions::from_types(&[0, 0x81, 12, 13]).has(Ext::Ecn));
        assert_eq!(Extensions::from_types(&[0x81]).and(Extensions::alone(Ext::Ecn)), all);
    }

    #[test]
    fn a_peer_has_an_extension_if_it_lists_all_its_types() {
        let [first, second] = *delays::TYPES else { panic!("two types") };
        assert!(!Extensions::from_types(&[first]).has(Ext::Delays));
        let listed = Extensions::from_types(&[0xff, second, first, first]);
        assert!(listed.has(Ext::Delays) && !listed.has(Ext::NrSack));
        assert_eq!(listed.both(Extensions::from_types(nr_sack::TYPES)), Extensions::default());
    }

    #[test]
    fn no_two_extensions_have_the_same_bit() {
        let bits = TABLE.iter().fold(0, |bits: u32, line| bits + (1 << line.ext as u32));
        assert_eq!(bits.count_ones() as usize, TABLE.len());
    }
}
