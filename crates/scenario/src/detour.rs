//! Warnings of outages in which a reader may expect packets to take another route. Routes never change.

use crate::{Link, NodeKind, Scenario};

impl Scenario {
    /// Warnings for readers of the results. Each warning is about a link between routers that is `down` at
    /// times although another route joins its ends: a reader may expect packets to take this route.
    pub fn warnings(&self) -> Vec<String> {
        self.detours().into_iter().map(|link| self.detour_warning(link)).collect()
    }

    /// The links between routers that are `down` at times and have another route between the same two nodes.
    pub(crate) fn detours(&self) -> Vec<usize> {
        let forwards = |node: &usize| !matches!(self.nodes[*node].kind, NodeKind::Host { .. });
        let mut found: Vec<usize> = (0..self.links.len()).collect();
        found.retain(|&link| {
            let Link { between, down, .. } = &self.links[link];
            !down.is_empty() && between.iter().all(forwards) && self.has_detour(link)
        });
        found
    }

    /// Whether another route of one network, over routers only, joins the ends of a link.
    fn has_detour(&self, link: usize) -> bool {
        let mut nets = vec![self.links[link].net_id];
        if nets == [0] {
            // A link of network 0 belongs to every network.
            nets.extend(self.links.iter().map(|other| other.net_id));
            nets.sort_unstable();
            nets.dedup();
        }
        nets.into_iter().any(|net| self.joins(link, net))
    }

    /// Whether links of network `net` other than `without` join the two ends of `without`.
    fn joins(&self, without: usize, net: u8) -> bool {
        let mut at_node = vec![Vec::new(); self.nodes.len()];
        for (number, link) in self.links.iter().enumerate() {
            if number != without && [0, net].contains(&link.net_id) {
                let [a, b] = link.between;
                at_node[a].push(b);
                at_node[b].push(a);
            }
        }
        let [from, to] = self.links[without].between;
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for &next in &at_node[node] {
                if next == to {
                    return true;
                }
                if !seen[next] && self.nodes[next].kind == NodeKind::Router {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
        false
    }

    /// The warning about a link of [`Scenario::detours`].
    pub(crate) fn detour_warning(&self, link: usize) -> String {
        let Link { name, between, .. } = &self.links[link];
        let [a, b] = between.map(|node| &self.nodes[node].name);
        format!(
            "link `{name}` has `down` times, and routes do not change: its packets are lost then, although another route joins \
             `{a}` and `{b}`; for a path whose delay changes, use one link with `delay = {{ steps = ... }}`"
        )
    }
}
