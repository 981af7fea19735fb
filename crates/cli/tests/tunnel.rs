//! Tests of `anabranch tunnel` and `anabranch key` that need no privileges.
#![cfg(target_os = "linux")]

use crate::scratch::Scratch;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_key_is_made_once_and_its_public_half_printed() {
    let scratch = Scratch::with("key", &[("no.key", "not a key")]);
    let (code, made, told) = scratch.call(&["key", "a.key"]);
    assert_eq!((code, made.trim().len()), (0, 64));
    assert_eq!(told, "anabranch: the private key is in a.key; its public key, for the other end, is:\n");
    assert_eq!(scratch.call(&["key", "a.key"]), (0, made, told));
    let (code, out, error) = scratch.call(&["key", "no.key"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("no.key") && error.contains("chmod 600"), "{error}");
}

#[test]
fn a_secret_for_two_ends_is_another_one_each_time() {
    let scratch = Scratch::with("psk", &[]);
    let (code, first, told) = scratch.call(&["key", "--psk"]);
    assert_eq!((code, first.trim().len(), told.as_str()), (0, 64, ""));
    assert_ne!(scratch.call(&["key", "--psk"]).1, first);
    assert_eq!(scratch.call(&["key", "--psk", "a.key"]).0, 2);
    assert_eq!(scratch.call(&["key"]).0, 2);
}

#[test]
fn wrong_files_are_usage_errors_and_a_tunnel_that_does_not_run_has_no_status() {
    let open = "encryption = false\nstatus = 'socket'\n";
    let keys = "key = 'missing.key'\npeer = '00'\nstatus = 'socket'\n";
    let scratch =
        Scratch::with("tunnel", &[("wrong.toml", "mtu = 1"), ("open.toml", open), ("keys.toml", keys)]);

    for file in ["wrong.toml", "missing.toml"] {
        let (code, _, error) = scratch.call(&["tunnel", file]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(file), "{error}");
    }
    let (code, out, error) = scratch.call(&["tunnel", "open.toml", "--status"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("no tunnel answers at socket"), "{error}");
    // The query of the status needs no key, not even a readable key file.
    let (code, _, error) = scratch.call(&["tunnel", "keys.toml", "--status"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("no tunnel answers at socket"), "{error}");
    assert_eq!(scratch.call(&["tunnel", "keys.toml"]).0, 2);
}

#[test]
fn a_check_reads_the_file_and_its_keys_and_runs_nothing() {
    let client = |peer: &str| {
        let lines = ["uplinks = ['eth0', 'wwan0']", "connect = ['192.0.2.5']", "key = 'a.key'"].join("\n");
        format!("{lines}\npeer = '{peer}'\n")
    };
    let scratch = Scratch::with("check", &[("unfinished.toml", &client("…"))]);
    let (code, out, error) = scratch.call(&["tunnel", "unfinished.toml", "--check"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("unfinished.toml: peer: "), "{error}");
    let (_, other, _) = scratch.call(&["key", "b.key"]);
    std::fs::write(scratch.0.join("client.toml"), client(other.trim())).unwrap();
    let (code, _, error) = scratch.call(&["tunnel", "client.toml", "--check"]);
    assert!(code == 2 && error.contains("a.key"), "its key is missing: {error}");
    scratch.call(&["key", "a.key"]);
    let (code, out, error) = scratch.call(&["tunnel", "client.toml", "--check"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(out, "fine: ana0 connects to 192.0.2.5, over eth0, wwan0\n");
    let server = format!("peer = '{}'\nkey = 'a.key'\n", other.trim());
    std::fs::write(scratch.0.join("server.toml"), server).unwrap();
    let (_, out, _) = scratch.call(&["tunnel", "server.toml", "--check"]);
    assert_eq!(out, "fine: ana0 waits for 1 peer at UDP port 9901, over all addresses of this host\n");
}

#[test]
fn sigterm_ends_a_tunnel_that_waits_for_its_uplinks_without_an_error() {
    let text = "encryption = false\nstatus = 'socket'\nuplinks = ['ana-missing']\n";
    let scratch = Scratch::with("sigterm", &[("a.toml", text)]);
    let mut command = scratch.command(&["tunnel", "a.toml"]);
    let mut tunnel = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(tunnel.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("there is no interface ana-missing")));
    let (code, out, error) = scratch.call(&["tunnel", "a.toml", "--status"]);
    assert!(code == 0 && out.contains("there is no interface ana-missing"), "{out}{error}");
    assert!(Command::new("kill").arg(tunnel.id().to_string()).status().unwrap().success());
    assert_eq!(tunnel.wait().unwrap().code(), Some(0));
}

#[test]
fn sighup_makes_a_server_read_its_peers_again_and_a_wrong_file_changes_nothing() {
    let scratch = Scratch::with("sighup", &[]);
    scratch.call(&["key", "own.key"]);
    let peer = scratch.call(&["key", "peer.key"]).1;
    let list = format!("[{{ key = '{}', name = 'office', addresses = ['10.9.0.2/32'] }}]", peer.trim());
    let text = format!("key = 'own.key'\nstatus = 'socket'\nuplinks = ['ana-missing']\npeers = {list}\n");
    std::fs::write(scratch.0.join("a.toml"), text).unwrap();
    let mut tunnel = scratch.command(&["tunnel", "a.toml"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tunnel.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("there is no interface ana-missing")));
    std::fs::write(scratch.0.join("a.toml"), "peers = 7").unwrap();
    let id = tunnel.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    assert!(lines.any(|line| line.contains("the peers stay as they are: a.toml: ")));
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert_eq!(tunnel.wait().unwrap().code(), Some(0));
}
