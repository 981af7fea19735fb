//! `anabranch tunnel` and `anabranch key` as far as they go without privileges.
#![cfg(target_os = "linux")]

mod scratch;

use scratch::Scratch;

#[test]
fn a_key_is_made_once_and_its_public_half_printed() {
    let scratch = Scratch::with("key", &[("no.key", "not a key")]);
    let (code, made, _) = scratch.call(&["key", "a.key"]);
    assert_eq!((code, made.trim().len()), (0, 64));
    assert_eq!(scratch.call(&["key", "a.key"]), (0, made, String::new()));
    let (code, out, error) = scratch.call(&["key", "no.key"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("no.key") && error.contains("chmod 600"), "{error}");
}

#[test]
fn wrong_files_are_usage_errors_and_a_tunnel_that_does_not_run_has_no_status() {
    let open = "encryption = false\nstatus = 'socket'\n";
    let scratch = Scratch::with("tunnel", &[("wrong.toml", "mtu = 1"), ("open.toml", open)]);
    for file in ["wrong.toml", "missing.toml"] {
        let (code, _, error) = scratch.call(&["tunnel", file]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(file), "{error}");
    }
    let (code, out, error) = scratch.call(&["tunnel", "open.toml", "--status"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("no tunnel answers at socket"), "{error}");
}
