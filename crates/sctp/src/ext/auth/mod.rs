//! AUTH (`rfc4895`): chunks that are accepted only if an AUTH chunk before them authenticates them.
//!
//! [`terms`] holds the announcements in INIT and INIT ACK, [`key`] computes keys and HMACs, [`shared`] holds
//! the keys of the user, and [`Authentication`] is the state of an association.

mod key;
mod shared;
mod terms;

pub(crate) use key::{Algorithm, association_key};
pub(crate) use shared::SharedKeys;
pub(crate) use terms::{AuthOffer, Terms};

use crate::config::Config;
use transport::Octets;
use wire::Auth;

pub(super) const TYPES: &[u8] = &[Auth::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.auth
}

/// A set of chunk types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet([u64; 4]);

impl TypeSet {
    /// The types in a Chunk List parameter, without INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH, which are
    /// never authenticated (`rfc4895#section-3.2`).
    pub(crate) fn of_list(types: &[u8]) -> Self {
        let mut set = TypeSet::default();
        for &kind in types.iter().filter(|kind| !wire::Auth::NEVER_LISTED.contains(kind)) {
            set.0[usize::from(kind >> 6)] |= 1 << (kind & 63);
        }
        set
    }

    #[inline]
    pub(crate) fn has(&self, kind: u8) -> bool {
        self.0[usize::from(kind >> 6)] & 1 << (kind & 63) != 0
    }

    /// The types in ascending order.
    pub(crate) fn list(&self) -> Vec<u8> {
        (0..=u8::MAX).filter(|&kind| self.has(kind)).collect()
    }
}

/// Reason why an AUTH chunk and the rest of the packet are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthFault {
    /// We did not offer the algorithm; this is reported to the peer.
    Algorithm,
    /// The key does not exist, or the HMAC is wrong.
    Forged,
}

/// The keys and the required types of an association with AUTH.
#[derive(Clone, Debug)]
pub(crate) struct Authentication {
    ours: Vec<u8>,
    theirs: Vec<u8>,
    /// Types that we require to be authenticated.
    required: TypeSet,
    /// Types that the peer requires to be authenticated.
    demanded: TypeSet,
    /// The algorithms that we offered.
    offered: Vec<Algorithm>,
    /// The algorithm of the AUTH chunks that we send.
    algorithm: Algorithm,
}

impl Authentication {
    pub(crate) fn new(ours: &Terms, theirs: &Terms) -> Self {
        Authentication {
            ours: ours.vector(),
            theirs: theirs.vector(),
            required: ours.types(),
            demanded: theirs.types(),
            offered: ours.known_algorithms().collect(),
            algorithm: theirs.known_algorithms().next().unwrap_or(Algorithm::Sha1),
        }
    }

    #[inline]
    pub(crate) fn requires(&self, kind: u8) -> bool {
        self.required.has(kind)
    }

    #[inline]
    pub(crate) fn demands(&self, kind: u8) -> bool {
        self.demanded.has(kind)
    }

    /// The types that the peer requires to be authenticated.
    pub(crate) fn demanded(&self) -> &TypeSet {
        &self.demanded
    }

    /// Bytes of an AUTH chunk that we send.
    pub(crate) fn chunk_len(&self) -> usize {
        Auth::FIXED_LEN + self.algorithm.len()
    }

    /// Writes the AUTH chunk at the beginning of `covered`, the part of the packet from the AUTH chunk on.
    pub(crate) fn sign(&self, shared: &SharedKeys, covered: &mut [u8]) {
        let (key_id, secret) = shared.active();
        let zeros = [0; Algorithm::LONGEST];
        let hmac = &zeros[..self.algorithm.len()];
        let chunk = Auth { flags: 0, key_id, hmac_id: self.algorithm.id(), hmac };
        let Some((fixed, behind)) = covered.split_first_chunk_mut() else { return };
        *fixed = chunk.fixed_part();
        let rest = Octets::from(&behind[hmac.len()..]);
        let key = association_key(secret, &self.ours, &self.theirs);
        let hmac = self.algorithm.compute(&key, &*fixed, rest);
        behind[..self.algorithm.len()].copy_from_slice(&hmac);
    }

    /// Checks an AUTH chunk; `rest` is the part of the packet after it.
    pub(crate) fn verify(
        &self,
        shared: &SharedKeys,
        auth: &Auth<'_>,
        rest: Octets<'_>,
    ) -> Result<(), AuthFault> {
        let offered = self.offered.iter().find(|algorithm| algorithm.id() == auth.hmac_id);
        let algorithm = offered.ok_or(AuthFault::Algorithm)?;
        let secret = shared.get(auth.key_id).ok_or(AuthFault::Forged)?;
        let key = association_key(secret, &self.ours, &self.theirs);
        let valid = algorithm.verify(&key, &auth.fixed_part(), rest, auth.hmac);
        valid.then_some(()).ok_or(AuthFault::Forged)
    }

    #[cfg(test)]
    pub(crate) fn key(&self) -> Vec<u8> {
        association_key(&[], &self.ours, &self.theirs)
    }
}

#[cfg(test)]
mod tests;
