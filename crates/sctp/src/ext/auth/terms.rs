//! The announcements of AUTH in INIT and INIT ACK (`rfc4895#section-3`).

use super::{Algorithm, TypeSet};
use crate::config::Config;
use crate::ext::{Ext, Extensions, asconf};
use wire::{Parameter, ParameterList, param};

/// Bytes of the value of the Random parameter (`rfc4895#section-3.1`).
const RANDOM_LEN: usize = 32;

/// Largest number of chunk types in the peer's Chunk List parameter: each type once. A longer list turns AUTH
/// off, since a state cookie has to contain the list.
const MOST_TYPES: usize = 256;

/// Largest length in bytes of the value of the peer's Requested HMAC Algorithm parameter.
const MOST_ALGORITHMS: usize = 32;

/// The AUTH parameters of an INIT or INIT ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AuthOffer<'a> {
    pub(crate) random: Option<&'a [u8]>,
    pub(crate) chunks: Option<&'a [u8]>,
    pub(crate) algorithms: Option<&'a [u8]>,
}

/// The AUTH parameters that one end announces: the values of Random, Chunk List and Requested HMAC Algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) random: [u8; RANDOM_LEN],
    /// None if the parameter is not sent.
    pub(crate) chunks: Option<Vec<u8>>,
    pub(crate) algorithms: Vec<u8>,
}

impl Terms {
    /// The AUTH parameters that we announce.
    pub(crate) fn ours(config: &Config, random: [u8; RANDOM_LEN]) -> Self {
        let mut types = config.auth_chunks.clone();
        if config.asconf {
            types.extend(asconf::TYPES.iter().filter(|kind| !config.auth_chunks.contains(kind)));
        }
        let algorithms = config.auth_hmacs.iter().flat_map(|id| id.to_be_bytes());
        Terms { random, chunks: (!types.is_empty()).then_some(types), algorithms: algorithms.collect() }
    }

    /// The AUTH parameters that the peer announced. `None` without AUTH, or if they are longer than we store.
    ///
    /// # Errors
    /// The parameter that violates the protocol.
    fn of_peer(offer: &AuthOffer<'_>) -> Result<Option<Self>, &'static str> {
        let (Some(random), Some(algorithms)) = (offer.random, offer.algorithms) else { return Ok(None) };
        let random = random.try_into().map_err(|_| "RANDOM parameter of another length than 32 bytes")?;
        let (ids, rest) = algorithms.as_chunks();
        if !rest.is_empty() || !ids.contains(&Algorithm::Sha1.id().to_be_bytes()) {
            return Err("HMAC-ALGO parameter without SHA-1");
        }
        let few = offer.chunks.unwrap_or_default().len() <= MOST_TYPES && algorithms.len() <= MOST_ALGORITHMS;
        let terms =
            || Terms { random, chunks: offer.chunks.map(<[u8]>::to_vec), algorithms: algorithms.to_vec() };
        Ok(few.then(terms))
    }

    /// The key vector: the parameters with headers, without padding (`rfc4895#section-6.1`).
    pub(crate) fn vector(&self) -> Vec<u8> {
        let mut vector = Vec::with_capacity(3 * 4 + RANDOM_LEN + 16);
        let mut push = |kind: u16, value: &[u8]| {
            vector.extend_from_slice(&kind.to_be_bytes());
            vector.extend_from_slice(&(value.len() as u16 + 4).to_be_bytes());
            vector.extend_from_slice(value);
        };
        push(param::RANDOM, &self.random);
        if let Some(chunks) = &self.chunks {
            push(param::CHUNK_LIST, chunks);
        }
        push(param::HMAC_ALGORITHMS, &self.algorithms);
        vector
    }

    /// Appends the AUTH parameters to those of an INIT or INIT ACK.
    pub(crate) fn push(&self, list: &mut ParameterList) {
        list.push(&Parameter::Random(&self.random));
        list.push(&Parameter::HmacAlgorithms(&self.algorithms));
        if let Some(chunks) = &self.chunks {
            list.push(&Parameter::ChunkList(chunks));
        }
    }

    /// The chunk types that this end requires to be authenticated.
    pub(super) fn types(&self) -> TypeSet {
        TypeSet::of_list(self.chunks.as_deref().unwrap_or_default())
    }

    /// The algorithms of this end that we support, the preferred one first.
    pub(super) fn known_algorithms(&self) -> impl Iterator<Item = Algorithm> {
        let (ids, _) = self.algorithms.as_chunks();
        ids.iter().filter_map(|id| Algorithm::of(u16::from_be_bytes(*id)))
    }

    /// Appends the announcements to a state cookie.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.random);
        // The number of types, plus one, in two bytes: a list may have 256 types. Zero means no list.
        let chunks = self.chunks.as_ref().map_or(0, |chunks| chunks.len() as u16 + 1);
        out.extend_from_slice(&chunks.to_be_bytes());
        out.extend_from_slice(self.chunks.as_deref().unwrap_or_default());
        out.push(self.algorithms.len() as u8);
        out.extend_from_slice(&self.algorithms);
    }

    /// Reads the bytes that [`Self::write`] wrote, and returns the bytes after them.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (random, rest) = bytes.split_first_chunk()?;
        let (chunks, rest) = rest.split_first_chunk()?;
        let (chunks, rest) = match u16::from_be_bytes(*chunks).checked_sub(1) {
            Some(length) => rest.split_at_checked(length.into()).map(|(types, rest)| (Some(types), rest))?,
            None => (None, rest),
        };
        let (&length, rest) = rest.split_first()?;
        let (algorithms, rest) = rest.split_at_checked(length.into())?;
        let (chunks, algorithms) = (chunks.map(<[u8]>::to_vec), algorithms.to_vec());
        Some((Terms { random: *random, chunks, algorithms }, rest))
    }
}

impl Extensions {
    /// Returns the extensions that both ends support, and the AUTH announcements of the peer. ASCONF needs
    /// AUTH (`rfc5061#section-4.2.7`), and must not be announced without it (`rfc5061#section-6`).
    ///
    /// # Errors
    /// The parameter that violates the protocol.
    pub(crate) fn agree(
        config: &Config,
        announced: Extensions,
        offer: &AuthOffer<'_>,
    ) -> Result<(Extensions, Option<Terms>), &'static str> {
        let mut both = announced.both(Extensions::of(config));
        if both.has(Ext::Asconf) && (offer.random.is_none() || offer.algorithms.is_none()) {
            return Err("ASCONF without AUTH");
        }
        let terms = if config.auth { Terms::of_peer(offer)? } else { None };
        both.set(Ext::Auth, terms.is_some());
        let types = terms.as_ref().map(Terms::types).unwrap_or_default();
        if !asconf::TYPES.iter().all(|&kind| types.has(kind)) {
            both.set(Ext::Asconf, false);
        }
        Ok((both, terms))
    }
}
