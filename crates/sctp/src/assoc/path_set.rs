//! The paths of an association: addresses of the peer, or pairs of a local and a remote address.

use super::Association;
use crate::config::PathSet;
use crate::pair::AddressPair;
use crate::path::{Path, PathState, Paths};
use std::net::IpAddr;

/// Addresses that the user gave to begin an association, which are confirmed without a heartbeat
/// (`rfc9260#section-5.4`). Empty if the peer began the association.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// Addresses of the peer.
    Remotes(Vec<IpAddr>),
    /// Address pairs: the association has only these paths.
    Pairs(Vec<AddressPair>),
}

impl Given {
    /// The addresses of the peer, each once.
    pub(crate) fn remotes(&self) -> Vec<IpAddr> {
        match self {
            Given::Remotes(remotes) => remotes.clone(),
            Given::Pairs(pairs) => distinct(pairs.iter().map(|pair| pair.remote)),
        }
    }

    /// The paths that the user named, if any.
    fn pairs(&self) -> &[AddressPair] {
        match self {
            Given::Remotes(_) => &[],
            Given::Pairs(pairs) => pairs,
        }
    }
}

impl Association {
    /// Makes the paths to `addresses`, each with its UDP port. The first path to a `confirmed` address may
    /// carry data; further pairs need a heartbeat first.
    pub(super) fn paths_to(
        &self,
        addresses: &[IpAddr],
        confirmed: &[IpAddr],
        udp_port: impl Fn(IpAddr) -> u16,
    ) -> Paths {
        let config = self.sender.config();
        let mut paths = Paths::new(config.paths != PathSet::Addresses || !self.given.pairs().is_empty());
        for pair in self.pairs_with(&distinct(addresses.iter().copied())) {
            let known = confirmed.contains(&pair.remote) && paths.find(pair.remote).is_none();
            let state = if known { PathState::Active } else { PathState::Unconfirmed };
            paths.add(Path { state, ..self.new_path(pair, udp_port(pair.remote)) });
        }
        paths
    }

    /// Makes a path that is not confirmed.
    pub(super) fn new_path(&self, pair: AddressPair, udp_port: u16) -> Path {
        let config = self.sender.config();
        let mut path = Path { udp_port, ..Path::new(pair.remote, pair.local, config) };
        path.discover_mtu(config);
        path.set_own_options(self.path_options(pair.local));
        path
    }

    /// The address pairs of the paths to `remotes`, in order: the pairs that the user named. If there are
    /// none, the nearest local address for each remote one, and then the pairs that [`PathSet`] adds.
    fn pairs_with(&self, remotes: &[IpAddr]) -> Vec<AddressPair> {
        let locals: Vec<IpAddr> = self.locals().collect();
        let named = self.given.pairs().iter().copied();
        let pairs: Vec<_> =
            named.filter(|pair| remotes.contains(&pair.remote) && locals.contains(&pair.local)).collect();
        if pairs.is_empty() { self.pairs_of_set(&locals, remotes) } else { pairs }
    }

    /// The address pairs of the new paths of a local or remote address that joins the association.
    pub(super) fn pairs_for(&self, local: Option<IpAddr>, remote: Option<IpAddr>) -> Vec<AddressPair> {
        let locals: Vec<IpAddr> = self.locals().collect();
        let known = self.paths.iter().map(|path| path.remote).filter(|&remote| !self.has_departed(remote));
        let unreached = local.map(|local| self.unreached(local)).unwrap_or_default();
        let remotes = distinct(known.chain(unreached).chain(remote));
        let in_use = |pair: &AddressPair| {
            let same = |path: &Path| path.remote == pair.remote && path.local == pair.local && !path.removed;
            self.paths.iter().any(same)
        };
        let mut pairs = self.pairs_of_set(&locals, &remotes);
        pairs.retain(|pair| local.is_none_or(|local| pair.local == local));
        pairs.retain(|pair| remote.is_none_or(|remote| pair.remote == remote) && !in_use(pair));
        pairs
    }

    /// As [`Self::pairs_with`], for an association without pairs named by the user.
    fn pairs_of_set(&self, locals: &[IpAddr], remotes: &[IpAddr]) -> Vec<AddressPair> {
        let mut pairs = Vec::new();
        let nearest =
            |&remote: &IpAddr| self.local_towards(remote).map(|local| AddressPair { local, remote });
        pairs.extend(remotes.iter().filter_map(nearest));
        let set = self.config().paths;
        let all =
            remotes.iter().flat_map(|&remote| locals.iter().map(move |&local| AddressPair { local, remote }));
        for pair in all.filter(AddressPair::is_of_one_family) {
            let wanted = match set {
                PathSet::Addresses => false,
                PathSet::SameSubnet => {
                    let alone = |side: &[IpAddr]| count_like(side, pair.remote) == 1;
                    pair.is_in_one_subnet() || alone(locals) || alone(remotes)
                }
                PathSet::Pairs => true,
            };
            if wanted && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }
}

/// Number of `addresses` in the family of `other`.
fn count_like(addresses: &[IpAddr], other: IpAddr) -> usize {
    addresses.iter().filter(|address| address.is_ipv4() == other.is_ipv4()).count()
}

/// Returns the addresses in their order, each once.
pub(super) fn distinct(addresses: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let mut list: Vec<IpAddr> = Vec::new();
    for address in addresses {
        if !list.contains(&address) {
            list.push(address);
        }
    }
    list
}
