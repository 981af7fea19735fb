//! Names of paths for people: the links that distinguish the paths of a flow.

use crate::app::{Dial, Flow};
use crate::host::{PathCounts, Side};
use crate::output::FlowPaths;
use crate::scenario::{Link, Scenario};
use net::{LinkId, Network};

/// The names of the paths of one end of a flow, by path number.
///
/// A path has the name of the first link, seen from the client, that the scenario names and that no path over
/// other links uses. If there is no such link, as with paths over pairs of links, the name consists of all
/// named links of the path, except those that every path uses.
pub(crate) fn path_names(
    network: &Network,
    scenario: &Scenario,
    dial: &Dial,
    side: Side,
    paths: &[PathCounts],
) -> Vec<Option<String>> {
    let way = |path: &PathCounts| -> Vec<LinkId> {
        let way = network.way(dial.nodes[side as usize], path.local, path.remote).into_iter();
        let mut links: Vec<LinkId> = way.map(|direction| direction.link()).collect();
        if side == Side::Server {
            links.reverse();
        }
        links
    };
    let ways: Vec<Vec<LinkId>> = paths.iter().map(way).collect();
    let given = |link: LinkId| given_name(&scenario.links[link.index()], scenario);
    ways.iter().map(|way| name(way, &ways, given)).collect()
}

fn name<'s, L: Copy + PartialEq>(
    way: &[L],
    ways: &[Vec<L>],
    given: impl Fn(L) -> Option<&'s str>,
) -> Option<String> {
    let others: Vec<&Vec<L>> = ways.iter().filter(|other| *other != way).collect();
    let is_apart = |link: &&L| others.iter().any(|other| !other.contains(link));
    let named: Vec<(L, &str)> =
        way.iter().filter(is_apart).filter_map(|&link| Some((link, given(link)?))).collect();
    let is_alone = |link: &L| !others.iter().any(|other| other.contains(link));
    let own = named.iter().find(|(link, _)| is_alone(link)).map(|(_, name)| (*name).to_owned());
    let all = || named.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(" + ");
    own.or_else(|| (!named.is_empty()).then(all))
}

/// The name of a link, unless it is the default name made of its nodes.
fn given_name<'s>(link: &'s Link, scenario: &Scenario) -> Option<&'s str> {
    let [a, b] = link.between.map(|node| scenario.nodes[node].name.as_str());
    (link.name != format!("{a}-{b}")).then_some(&link.name)
}

/// The names of the paths of a flow, for results; `None` if no path has a name. `client` and `server`: the
/// paths of both ends.
pub(crate) fn of_flow(
    network: &Network,
    scenario: &Scenario,
    flow: &Flow,
    [client, server]: [&[PathCounts]; 2],
) -> Option<FlowPaths> {
    let names = |side, paths| path_names(network, scenario, &flow.dial, side, paths);
    let forward = names(Side::Client, client);
    let back = if flow.end(Side::Server).sends() { names(Side::Server, server) } else { Vec::new() };
    let has_name = forward.iter().chain(&back).any(Option::is_some);
    has_name.then(|| FlowPaths { flow: flow.name.clone(), forward, back })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of paths over these links. `-` stands for a link without a given name.
    fn names(ways: &[&[&'static str]]) -> Vec<Option<String>> {
        let ways: Vec<Vec<&str>> = ways.iter().map(|way| way.to_vec()).collect();
        let given = |link: &'static str| (!link.contains('-')).then_some(link);
        ways.iter().map(|way| name(way, &ways, given)).collect()
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn a_path_has_the_name_of_the_first_named_link_that_no_other_path_takes() {
        assert_eq!(names(&[&["dsl"], &["lte"]]), some(&["dsl", "lte"]));
        assert_eq!(names(&[&["c-r", "dsl", "isp"], &["c-q", "lte", "mno"]]), some(&["dsl", "lte"]));
        let three: [&[&str]; 3] = [&["dsl", "core"], &["lte", "core"], &["sat", "core"]];
        assert_eq!(names(&three), some(&["dsl", "lte", "sat"]));
        assert_eq!(names(&[&["core", "dsl"], &["core", "lte"], &["sat"]]), some(&["dsl", "lte", "sat"]));
    }

    #[test]
    fn a_path_without_a_named_link_of_its_own_has_no_name() {
        assert_eq!(names(&[&["a-b"], &["a-c", "c-b"]]), [None, None]);
        assert_eq!(names(&[&["dsl"], &["a-c", "c-b"]]), [Some("dsl".to_owned()), None]);
        assert_eq!(names(&[&["a-r", "core"], &["a-q", "core"]]), [None, None], "core is on all paths");
        assert_eq!(names(&[&["dsl"]]), [None], "there is nothing to tell a single path from");
    }

    #[test]
    fn pairs_of_links_and_paths_with_another_address_keep_names() {
        let pairs: [&[&str]; 4] = [&["dsl", "east"], &["dsl", "west"], &["lte", "east"], &["lte", "west"]];
        assert_eq!(names(&pairs), some(&["dsl + east", "dsl + west", "lte + east", "lte + west"]));
        // The host has a new address on the link of the first path, and the third path uses this address.
        assert_eq!(names(&[&["dsl"], &["lte"], &["dsl"]]), some(&["dsl", "lte", "dsl"]));
    }
}
