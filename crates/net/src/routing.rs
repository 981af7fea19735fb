//! Shortest paths of independent networks (paper 001, section 4.3).
//!
//! A route to an address of network n uses links of network n and of network 0 only, so that paths of one
//! network do not depend on the links of another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Direction that stands for "no route".
pub(crate) const NO_ROUTE: u32 = u32::MAX;

/// Data of a link that routing needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub a: u32,
    pub b: u32,
    pub net_id: u8,
    pub cost: u32,
    /// The node that is a NAT with this link as its outside link. No route leads through that node from this
    /// link to the inside.
    pub nat: Option<u32>,
}

/// Data of an interface that routing needs: the host, and its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub node: u32,
    pub link: u32,
}

/// The direction of a link for each node (row) and interface (column), or [`NO_ROUTE`].
#[derive(Debug)]
pub(crate) struct Routes {
    columns: usize,
    directions: Vec<u32>,
}

impl Routes {
    /// Computes all routes. `forwards[n]` is true if node n forwards packets.
    pub fn compute(forwards: &[bool], edges: &[Edge], targets: &[Target]) -> Self {
        let mut routes =
            Routes { columns: targets.len(), directions: vec![NO_ROUTE; forwards.len() * targets.len()] };
        let mut nets: Vec<u8> = edges.iter().map(|edge| edge.net_id).filter(|&net| net != 0).collect();
        nets.sort_unstable();
        nets.dedup();
        nets.insert(0, 0);
        // Many hosts share a router, so the tree towards the router is computed once for each network.
        let mut trees: BTreeMap<(u8, u32), Vec<u32>> = BTreeMap::new();
        for (column, target) in targets.iter().enumerate() {
            let last = edges[target.link as usize];
            let (neighbour, towards_target) = end_of(&last, target.link, target.node);
            let usable: &[u8] = if last.net_id == 0 { &nets } else { &[last.net_id] };
            // An address of network 0 belongs to every network. A node uses the first network that leads from
            // the node to the address. The other nodes of that route are connected by the same network, so
            // they use no later network, and there is no loop.
            for &net in usable {
                let tree = trees
                    .entry((net, neighbour))
                    .or_insert_with(|| tree_towards(forwards, edges, net, neighbour));
                for (node, &direction) in tree.iter().enumerate() {
                    let cell = node * routes.columns + column;
                    if routes.directions[cell] == NO_ROUTE && node != target.node as usize {
                        routes.directions[cell] = direction;
                    }
                }
            }
            routes.directions[neighbour as usize * routes.columns + column] = towards_target;
        }
        routes
    }

    /// Removes the routes of `node` over `link`. Returns, for each interface, true if a route was removed.
    pub fn take(&mut self, node: u32, link: u32) -> Vec<bool> {
        let row = node as usize * self.columns..(node as usize + 1) * self.columns;
        let take = |cell: &mut u32| {
            let leads = *cell / 2 == link;
            *cell = if leads { NO_ROUTE } else { *cell };
            leads
        };
        self.directions[row].iter_mut().map(take).collect()
    }

    #[inline]
    pub fn direction(&self, node: u32, interface: u32) -> Option<u32> {
        let direction = self.directions[node as usize * self.columns + interface as usize];
        (direction != NO_ROUTE).then_some(direction)
    }
}

/// The other end of `edge` seen from `node`, and the direction from that end to `node`.
fn end_of(edge: &Edge, link: u32, node: u32) -> (u32, u32) {
    if edge.b == node { (edge.a, link * 2) } else { (edge.b, link * 2 + 1) }
}

/// For each node the direction of its first link towards `root`.
///
/// Runs Dijkstra's algorithm over the links of network `net` and network 0; costs are positive. Among routes
/// of equal cost, it chooses the route whose first link has the lowest number.
fn tree_towards(forwards: &[bool], edges: &[Edge], net: u8, root: u32) -> Vec<u32> {
    let mut at_node: Vec<Vec<u32>> = vec![Vec::new(); forwards.len()];
    for (link, edge) in edges.iter().enumerate() {
        if edge.net_id == net || edge.net_id == 0 {
            at_node[edge.a as usize].push(link as u32);
            at_node[edge.b as usize].push(link as u32);
        }
    }
    let mut best = vec![(u64::MAX, NO_ROUTE); forwards.len()];
    let mut open = BinaryHeap::from([Reverse((0, root))]);
    best[root as usize].0 = 0;
    while let Some(Reverse((distance, node))) = open.pop() {
        // A host does not forward packets, so no route leads through it.
        if distance > best[node as usize].0 || !forwards[node as usize] {
            continue;
        }
        for &link in &at_node[node as usize] {
            let edge = &edges[link as usize];
            if edge.nat == Some(node) {
                continue;
            }
            let (other, towards_root) = end_of(edge, link, node);
            let candidate = (distance + u64::from(edge.cost), towards_root);
            let known = &mut best[other as usize];
            if candidate < *known {
                if candidate.0 < known.0 {
                    open.push(Reverse((candidate.0, other)));
                }
                *known = candidate;
            }
        }
    }
    best.into_iter().map(|(_, direction)| direction).collect()
}
