//! Addresses and routes of independent networks (paper 001, section 4.3).

use crate::common;

use anabranch_net as net;
use common::{STEADY, World};
use des::Streams;
use net::{ChannelSpec, ConfigError, LinkId, LinkSpec, NetworkBuilder, NodeId, NodeKind, SpecFault};
use std::net::IpAddr;

fn link(builder: &mut NetworkBuilder, a: NodeId, b: NodeId, net_id: u8) -> LinkId {
    builder.add_link(LinkSpec::symmetric(a, b, net_id, ChannelSpec::default()))
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Listing 1 of paper 001: every host has a link to the router of every network.
#[test]
fn the_network_of_listing_1_with_three_hosts_and_two_networks() {
    const HOSTS: usize = 3;
    const NETWORKS: usize = 2;
    let mut builder = NetworkBuilder::new();
    let hosts: Vec<NodeId> = (0..HOSTS).map(|i| builder.add_node(&format!("host[{i}]"), STEADY)).collect();
    let routers: Vec<NodeId> =
        (0..NETWORKS).map(|j| builder.add_node(&format!("router[{j}]"), NodeKind::Router)).collect();
    let mut links: Vec<Vec<LinkId>> = Vec::new();
    for (j, &router) in routers.iter().enumerate() {
        links.push(hosts.iter().map(|&host| link(&mut builder, host, router, j as u8 + 1)).collect());
    }
    let network = builder.configure(&Streams::new(1, 0)).unwrap();

    for (i, &host) in hosts.iter().enumerate() {
        let own: Vec<(LinkId, u8, IpAddr, IpAddr)> = network
            .addresses(host)
            .iter()
            .map(|a| (a.link, a.net_id, a.ipv4.into(), a.ipv6.into()))
            .collect();
        let expected = [
            (links[0][i], 1, ip(&format!("10.1.0.{}", i + 1)), ip(&format!("fd00:1::{}", i + 1))),
            (links[1][i], 2, ip(&format!("10.2.0.{}", i + 1)), ip(&format!("fd00:2::{}", i + 1))),
        ];
        assert_eq!(own, expected);
    }
    let mut checked = 0;
    for (j, links) in links.iter().enumerate() {
        for (k, &to) in hosts.iter().enumerate() {
            let target = network.addresses(to)[j];
            for dst in [IpAddr::V4(target.ipv4), IpAddr::V6(target.ipv6)] {
                for (i, &from) in hosts.iter().enumerate().filter(|&(i, _)| i != k) {
                    let route = network.route(from, dst).unwrap();
                    let own = network.addresses(from)[j];
                    assert_eq!(
                        (route.link, route.ipv4, route.ipv6),
                        (links[i].forward(), own.ipv4, own.ipv6)
                    );
                    checked += 1;
                }
                for (r, &router) in routers.iter().enumerate() {
                    let expected = (r == j).then(|| links[k].backward());
                    assert_eq!(
                        network.next_hop(router, dst),
                        expected,
                        "router {r} to host {k} in network {j}"
                    );
                    checked += 1;
                }
                assert_eq!(network.route(to, dst), None, "a host has no route to itself");
            }
        }
    }
    assert_eq!(checked, 2 * NETWORKS * HOSTS * (HOSTS - 1 + NETWORKS));
}

/// Two paths that share a bottleneck, as in paper 000, figure 5, right: the edges are networks 1 and 2, the
/// bottleneck is network 0.
#[test]
fn a_link_of_network_0_serves_all_networks() {
    let mut builder = NetworkBuilder::new();
    let client = builder.add_node("client", STEADY);
    let left = builder.add_node("left", NodeKind::Router);
    let right = builder.add_node("right", NodeKind::Router);
    let server = builder.add_node("server", STEADY);
    let near: Vec<LinkId> = (1..=2).map(|net| link(&mut builder, client, left, net)).collect();
    let core = link(&mut builder, left, right, 0);
    let far: Vec<LinkId> = (1..=2).map(|net| link(&mut builder, right, server, net)).collect();
    let mut world = World::new(builder);
    for path in 0..2 {
        let (src, dst) = (world.ipv4(client, path), world.ipv4(server, path));
        assert_eq!(world.network.route(client, dst).unwrap().link, near[path].forward());
        assert_eq!(world.network.next_hop(left, dst), Some(core.forward()));
        assert_eq!(world.network.next_hop(right, dst), Some(far[path].forward()));
        assert_eq!(world.network.next_hop(left, src), Some(near[path].backward()));
        world.send_to(client, src, dst, path as u32, 100);
    }
    assert_eq!(common::numbers(&world.run_all()), [0, 1]);
}

#[test]
fn an_address_of_another_network_cannot_be_reached() {
    let mut builder = NetworkBuilder::new();
    let client = builder.add_node("client", STEADY);
    let router = builder.add_node("router", NodeKind::Router);
    let server = builder.add_node("server", STEADY);
    link(&mut builder, client, router, 1);
    link(&mut builder, router, server, 1);
    link(&mut builder, router, server, 2);
    let mut world = World::new(builder);
    let (src, dst) = (world.ipv4(client, 0), world.ipv4(server, 1));
    assert_eq!(world.network.route(client, dst), None);
    world.send_to(client, src, dst, 0, 100);
    world.send_to(client, src, ip("192.0.2.1"), 0, 100);
    world.send_to(client, src, world.network.addresses(server)[0].ipv6.into(), 0, 100);
    assert!(world.run_all().is_empty());
    assert_eq!((world.network.unroutable(), world.network.packets_in_use()), (3, 0));
}

/// A host in network 0 belongs to all networks. Each peer reaches the host through the network of the peer.
#[test]
fn an_address_of_network_0_is_reached_from_every_network() {
    let mut builder = NetworkBuilder::new();
    let server = builder.add_node("server", STEADY);
    let hub = builder.add_node("hub", NodeKind::Router);
    let server_link = link(&mut builder, server, hub, 0);
    let mut clients = Vec::new();
    for net in 1..=3 {
        let router = builder.add_node(&format!("router {net}"), NodeKind::Router);
        let client = builder.add_node(&format!("client {net}"), STEADY);
        let (up, edge) = (link(&mut builder, router, hub, net), link(&mut builder, client, router, net));
        clients.push((client, router, up, edge));
    }
    let world = World::new(builder);
    let dst = world.ipv4(server, 0);
    assert_eq!(world.network.next_hop(hub, dst), Some(server_link.backward()));
    for (client, router, up, edge) in clients {
        assert_eq!(world.network.next_hop(client, dst), Some(edge.forward()));
        assert_eq!(world.network.next_hop(router, dst), Some(up.forward()));
        assert_eq!(world.network.next_hop(server, world.ipv4(client, 0)), Some(server_link.forward()));
        assert_eq!(world.network.next_hop(hub, world.ipv4(client, 0)), Some(up.backward()));
    }
}

#[test]
fn the_cheapest_route_is_chosen_and_the_first_link_among_equals() {
    let mut builder = NetworkBuilder::new();
    let a = builder.add_node("a", STEADY);
    let left = builder.add_node("left", NodeKind::Router);
    let middle = builder.add_node("middle", NodeKind::Router);
    let right = builder.add_node("right", NodeKind::Router);
    let b = builder.add_node("b", STEADY);
    link(&mut builder, a, left, 0);
    let direct =
        builder.add_link(LinkSpec { cost: 3, ..LinkSpec::symmetric(left, right, 0, ChannelSpec::default()) });
    let detour = link(&mut builder, left, middle, 0);
    let onward = link(&mut builder, middle, right, 0);
    link(&mut builder, middle, right, 0);
    link(&mut builder, right, b, 0);
    let world = World::new(builder);
    let dst = world.ipv4(b, 0);
    assert_eq!(world.network.next_hop(left, dst), Some(detour.forward()));
    assert_eq!(world.network.next_hop(middle, dst), Some(onward.forward()));
    assert_ne!(world.network.next_hop(left, dst), Some(direct.forward()));
}

#[test]
fn a_host_does_not_forward() {
    let mut builder = NetworkBuilder::new();
    let ends: Vec<NodeId> = (0..3).map(|i| builder.add_node(&format!("host {i}"), STEADY)).collect();
    let first = link(&mut builder, ends[0], ends[1], 0);
    link(&mut builder, ends[1], ends[2], 0);
    let world = World::new(builder);
    assert_eq!(world.network.next_hop(ends[0], world.ipv4(ends[1], 0)), Some(first.forward()));
    assert_eq!(world.network.next_hop(ends[0], world.ipv4(ends[2], 0)), None);
    // The interface of the middle host on the other link is reached only over that link.
    assert_eq!(world.network.next_hop(ends[0], world.ipv4(ends[1], 1)), None);
}

#[test]
fn an_address_can_be_set() {
    let mut builder = NetworkBuilder::new();
    let (a, b) = (builder.add_node("a", STEADY), builder.add_node("b", STEADY));
    let only = link(&mut builder, a, b, 7);
    builder.set_address(b, only, ip("203.0.113.9"));
    let mut world = World::new(builder);
    assert_eq!(world.network.addresses(b)[0].ipv6, "fd00:7::2".parse::<std::net::Ipv6Addr>().unwrap());
    world.send(a, b, 1, 100);
    let src = world.ipv4(a, 0);
    assert_eq!(src, ip("10.7.0.1"));
    world.send_to(a, src, ip("203.0.113.9"), 2, 100);
    assert_eq!(common::numbers(&world.run_all()), [1, 2]);
}

#[test]
fn a_wrong_network_is_refused_with_the_reason() {
    let refused = |build: &dyn Fn(&mut NetworkBuilder, NodeId, NodeId)| {
        let mut builder = NetworkBuilder::new();
        let (a, b) = (builder.add_node("a", STEADY), builder.add_node("b", STEADY));
        build(&mut builder, a, b);
        builder.configure(&Streams::new(1, 0)).map(|_| ()).unwrap_err()
    };
    let plain = |a, b| LinkSpec::symmetric(a, b, 0, ChannelSpec::default());
    assert_eq!(
        refused(&|builder, _, _| {
            builder.add_node("a", STEADY);
        }),
        ConfigError::DuplicateName("a".into())
    );
    assert_eq!(
        refused(&|builder, a, _| {
            builder.add_link(plain(a, a));
        }),
        ConfigError::Loop("a".into())
    );
    assert_eq!(
        refused(&|builder, a, b| {
            builder.add_link(plain(a, b));
            builder.add_link(LinkSpec { cost: 0, ..plain(a, b) });
        }),
        ConfigError::NoCost("a-b#2".into())
    );
    assert_eq!(
        refused(&|builder, a, b| {
            let stuck =
                ChannelSpec { transmitter: units::BitRate::from_bps(0).into(), ..ChannelSpec::default() };
            builder.add_link(LinkSpec { backward: stuck, ..plain(a, b) });
        }),
        ConfigError::Channel {
            link: "a-b".into(),
            part: "rate",
            fault: SpecFault { field: "rate", expected: "a rate above zero" }
        }
    );
    assert_eq!(
        refused(&|builder, a, b| {
            let only = builder.add_link(plain(a, b));
            builder.set_address(b, only, ip("10.0.0.1"));
        }),
        ConfigError::DuplicateAddress(ip("10.0.0.1"))
    );
    assert_eq!(
        refused(&|builder, a, b| {
            let router = builder.add_node("router", NodeKind::Router);
            let edge = builder.add_link(plain(a, router));
            builder.set_address(b, edge, ip("10.0.0.9"));
        }),
        ConfigError::NoInterface("b".into(), "a-router".into())
    );
}

/// A host does not forward packets, and a route does not change from one network to another.
#[test]
fn an_address_is_reached_over_routers_of_its_network_only() {
    let mut builder = NetworkBuilder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.add_node(name, STEADY));
    let router = builder.add_node("r", NodeKind::Router);
    for (from, to, net_id) in [(a, router, 1), (router, b, 1), (b, c, 1), (c, router, 2)] {
        link(&mut builder, from, to, net_id);
    }
    let network = builder.configure(&Streams::new(1, 0)).unwrap();
    let address = |node, place: usize| IpAddr::V4(network.addresses(node)[place].ipv4);
    let reaches = |from: NodeId, dst: IpAddr| network.reaches(from, address(from, 0), dst);
    assert!(reaches(a, address(b, 0)) && reaches(b, address(a, 0)));
    assert!(reaches(b, address(c, 0)));
    assert!(!reaches(a, address(c, 0)), "only over a host");
    assert!(!reaches(a, address(c, 1)), "only over two networks");
    assert!(!reaches(a, "192.0.2.1".parse().unwrap()), "nobody's address");
}

/// A host with two uplinks, and a server with one address, which belongs to all networks.
#[test]
fn a_host_sends_over_the_link_of_the_source_address_if_that_leads_to_the_destination() {
    let mut builder = NetworkBuilder::new();
    let [client, server] = ["client", "server"].map(|name| builder.add_node(name, STEADY));
    let [one, two, core] = ["one", "two", "core"].map(|name| builder.add_node(name, NodeKind::Router));
    let first = link(&mut builder, client, one, 1);
    let second = link(&mut builder, client, two, 2);
    let dead_end = link(&mut builder, client, server, 3);
    for (router, net_id) in [(one, 1), (two, 2)] {
        link(&mut builder, router, core, net_id);
    }
    let last = link(&mut builder, core, server, 0);
    let mut world = World::new(builder);
    let dst = world.ipv4(server, 1);
    for (uplink, src) in [(first, 0), (second, 1)].map(|(link, place)| (link, world.ipv4(client, place))) {
        let way = world.network.way(client, src, dst);
        assert_eq!((way[0], way[2], way.len()), (uplink.forward(), last.forward(), 3));
        world.send_to(client, src, dst, 7, 100);
        assert_eq!(world.network.counters(uplink.forward()).offered, 1);
        assert_eq!(world.run_all().len(), 1);
    }
    // The link of the third address also leads to the server,
    // but the server has another address on that link.
    let src = world.ipv4(client, 2);
    assert_eq!(world.network.way(client, src, dst)[0], dead_end.forward());
    let elsewhere = world.ipv4(server, 0);
    assert_eq!(world.network.way(client, world.ipv4(client, 0), elsewhere), [dead_end.forward()]);
}
