//! Runs the checks of the programs in C beside this file with the preloaded library, each in a network
//! namespace of its own.
#![cfg(target_os = "linux")]

#[path = "../../io/tests/common/namespace.rs"]
mod namespace;
mod preloaded;

use namespace::{in_new_namespace, skip};
use preloaded::{build_library, root, which};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn sockets_behave_as_those_of_linux() {
    check("sockets");
}

#[test]
fn one_to_many_sockets_behave_as_those_of_linux() {
    check("many");
}

#[test]
fn calls_fail_as_those_of_linux() {
    check("calls");
}

#[test]
fn options_are_read_as_they_were_set() {
    check("options");
}

#[test]
fn programs_see_the_notifications_that_they_subscribe_to() {
    check("notifications");
}

#[test]
fn a_capture_has_the_packets_of_the_program() {
    if which("python3").is_none() || in_new_namespace().is_none() {
        return skip("captures of programs", "python3 or network namespaces");
    }
    let code = "import socket
listener = socket.socket(2, 1, 132); listener.bind(('127.0.0.1', 5001)); listener.listen()
client = socket.socket(2, 1, 132); client.connect(('127.0.0.1', 5001))
accepted = listener.accept()[0]; client.send(b'x' * 5000); assert accepted.recv(9000) == b'x' * 5000";
    let told =
        captured("capture", "timeout 60 $A preload --capture $0 -- python3 -c \"$1\"; $A explain $0", code);
    assert!(told.contains("5001"), "{told}");
}

/// nftables marks packets, as a router with a growing queue does.
#[test]
fn a_program_that_turns_ecn_on_answers_marks() {
    if ["python3", "nft", "tshark"].iter().any(|name| which(name).is_none()) || in_new_namespace().is_none() {
        return skip("ECN of programs", "python3, nft, tshark or network namespaces");
    }
    let code = "import socket, struct
def opened(on):
    new = socket.socket(2, 1, 132)
    new.setsockopt(132, 130, struct.pack('iI', 0, on))
    assert new.getsockopt(132, 130, 8) == struct.pack('iI', 0, on)
    return new
for port, on in (5001, 0), (5002, 1):
    listener = opened(on); listener.bind(('127.0.0.1', port)); listener.listen()
    client = opened(on); client.connect(('127.0.0.1', port))
    accepted = listener.accept()[0]
    for n in range(20):
        client.send(b'x' * 5000); assert accepted.recv(9000) == b'x' * 5000";
    let script = "set -e; nft add table ip t; nft 'add chain ip t o { type filter hook output priority 0; }'
        nft add rule ip t o ip ecn ect0 ip ecn set ce
        timeout 60 $A preload --capture $0 -- python3 -c \"$1\"
        for port in 5001 5002; do for chunk in 12 13; do
            tshark -r $0 -Y \"sctp.port == $port && sctp.chunk_type == $chunk\" 2> /dev/null | wc -l
        done; done";
    let told = captured("ecn", script, code);
    // Numbers of ECNE and CWR chunks: first of the association without ECN, then of the one with ECN.
    let chunks: Vec<u32> = told.lines().map(|line| line.trim().parse().expect("a number")).collect();
    assert!(chunks[..2] == [0, 0] && chunks[2] > 0 && chunks[3] > 0, "{chunks:?}");
}

/// Each end signs with the algorithm that the other end prefers: 1 is SHA-1, 3 is SHA-256.
#[test]
fn a_program_chooses_the_hmac_of_its_peer() {
    if ["python3", "tshark"].iter().any(|name| which(name).is_none()) || in_new_namespace().is_none() {
        return skip("HMACs of programs", "python3, tshark or network namespaces");
    }
    let code = "import socket, struct
listener, client = socket.socket(2, 1, 132), socket.socket(2, 1, 132)
for end, hmacs in (listener, (1, 3)), (client, (3, 1)):
    end.setsockopt(132, 21, b'\\0')
    end.setsockopt(132, 22, struct.pack('I2H', 2, *hmacs))
listener.bind(('127.0.0.1', 5001)); listener.listen(); client.connect(('127.0.0.1', 5001))
accepted = listener.accept()[0]
client.send(b'there'); assert accepted.recv(9) == b'there'
accepted.send(b'back'); assert client.recv(9) == b'back'";
    let script = "timeout 60 $A preload --capture $0 -- python3 -c \"$1\"
        for way in dst src; do
            tshark -r $0 -Y \"sctp.${way}port == 5001 && sctp.chunk_type == 15\" -T fields -e sctp.hmac_id | sort -u
        done 2> /dev/null";
    let told = captured("hmacs", script, code);
    let ids: Vec<&str> = told.lines().collect();
    assert_eq!(ids, ["1", "3"]);
}

/// The program ends at once; its child opens a socket later, and answers after more time than the host
/// process gives to associations without a socket. The standard output and error of the command end with it,
/// and a further descriptor of the shell.
#[test]
fn a_daemon_keeps_its_sockets_when_the_command_has_ended() {
    if which("python3").is_none() || in_new_namespace().is_none() {
        return skip("daemons", "python3 or network namespaces");
    }
    let code = "import os, socket, sys, time
if os.fork(): sys.exit(7)
nothing = os.open('/dev/null', os.O_RDWR)
for n in range(3): os.dup2(nothing, n)
os.close(9)
time.sleep(2)
listener = socket.socket(2, 1, 132); listener.bind(('127.0.0.1', 5001)); listener.listen()
accepted = listener.accept()[0]; time.sleep(12); accepted.send(accepted.recv(9)); accepted.recv(9)";
    let script = "export XDG_RUNTIME_DIR=${0%/*}; chmod 700 $XDG_RUNTIME_DIR
        status=0; told=$($A preload -- python3 -c \"$1\" 2>&1 9>&1) || status=$?; echo \"$status $told\"
        sleep 3; timeout 30 $A preload --udp-port 0 -- python3 -c \"import socket
client = socket.socket(2, 1, 132); client.connect(('127.0.0.1', 5001)); client.send(b'hello')
print(client.recv(9).decode())\"
        for n in {1..150}; do
            [ -z \"$(ls $XDG_RUNTIME_DIR/anabranch)\" ] || sleep 0.1
        done; ls $XDG_RUNTIME_DIR/anabranch; true";
    assert_eq!(captured("daemon", script, code), "7 \nhello\n");
}

/// The capabilities of the program decide, not those of the host process.
#[test]
fn ports_below_1024_need_a_capability() {
    if ["python3", "setpriv"].iter().any(|name| which(name).is_none()) || in_new_namespace().is_none() {
        return skip("privileged ports", "python3, setpriv or network namespaces");
    }
    let code = "import socket
for port in 1023, 1024:
    try: socket.socket(2, 1, 132).bind(('127.0.0.1', port)); print(port, 'bound')
    except PermissionError: print(port, 'refused')";
    let script =
        "timeout 60 $A sctpd --socket $0 & trap 'kill $!' EXIT; sleep 0.5; export ANABRANCH_SOCKET=$0
        $A preload -- python3 -c \"$1\"
        setpriv --bounding-set=-net_bind_service $A preload -- python3 -c \"$1\"";
    let told = captured("ports", script, code);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines, ["1023 bound", "1024 bound", "1023 refused", "1024 bound"]);
}

/// Another user cannot open the socket of a host process. If the permissions of the file allow it, the host
/// process closes the connection.
#[test]
fn a_host_process_serves_only_programs_of_its_user() {
    let root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    // The other user may lack the permission to run the first python3 in PATH, so /usr/bin/python3 is used.
    if !root || which("setpriv").is_none() || !Path::new("/usr/bin/python3").exists() {
        return skip("programs of another user", "root, /usr/bin/python3 or setpriv");
    }
    let hello = "import socket, struct, sys
hello = struct.pack('4sHH28xIH22x', b'ANB1', 6, 0, 2, 1)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect(sys.argv[1]); s.settimeout(5); s.send(hello); print('served' if s.recv(100) else 'sent away')
except (BrokenPipeError, ConnectionResetError): print('sent away')
except PermissionError: print('refused')";
    let script = "$A sctpd --local 127.0.0.1 --udp-port 0 --socket $0 & trap 'kill $!' EXIT; sleep 1
        hello() { \"$@\" /usr/bin/python3 -c \"$code\" $socket; }
        other() { hello setpriv --reuid 65534 --regid 65534 --clear-groups; }
        socket=$0 code=$1; hello; other; chmod 666 $0; other; hello";
    let folder = scratch("users");
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).arg(folder.join("s")).arg(hello).env("A", env!("CARGO_BIN_EXE_anabranch"));
    let output = bash.output().expect("bash runs");
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    let told = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines, ["served", "refused", "sent away", "served"], "{output:?}");
}

/// Runs a script in a network namespace. `$0` is a file that it may make, `$1` the code. Returns its output.
fn captured(name: &str, script: &str, code: &str) -> String {
    build_library();
    let folder = scratch(name);
    let mut bash = in_new_namespace().expect("checked before");
    bash.args(["bash", "-c", &format!("ip link set lo up; {script}")]).arg(folder.join("all.pcapng"));
    let bash = bash.arg(code).env_remove("ANABRANCH_SOCKET").env("A", env!("CARGO_BIN_EXE_anabranch"));
    let output = bash.output().expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    told
}

#[test]
fn options_of_the_environment_hold_unless_the_command_line_has_others() {
    if which("python3").is_none() || in_new_namespace().is_none() {
        return skip("options of the environment", "python3 or network namespaces");
    }
    build_library();
    let run = |options: &str, more: &str| {
        let code = "import socket, struct
print(struct.unpack('iII', socket.socket(2, 1, 132).getsockopt(132, 16, 12))[1:])";
        let mut bash = in_new_namespace().expect("checked before");
        let script = "ip link set lo up; timeout 60 $A preload $0 -- python3 -c \"$1\" 2>&1";
        bash.args(["bash", "-c", script, more, code]).env_remove("ANABRANCH_SOCKET");
        bash.env("A", env!("CARGO_BIN_EXE_anabranch")).env("ANABRANCH_OPTIONS", options);
        String::from_utf8(bash.output().expect("bash runs").stdout).expect("text")
    };
    let options = "sack_delay = '40 ms'; sack_frequency = 3";
    assert_eq!(run(options, "--profile=rfc9260").trim(), "(40, 3)");
    assert_eq!(run(options, "--set=sack_frequency=5").trim(), "(40, 5)");
    let told = run("sack_delai = '40 ms'", "--profile=rfc9260");
    assert!(told.contains("ANABRANCH_OPTIONS") && told.contains("sack_delay"), "{told}");
}

#[test]
fn a_command_warns_of_a_host_process_that_is_not_there_and_of_options_for_it() {
    build_library();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
        command.arg("preload").args(more).args(["--", "true"]).env("ANABRANCH_SOCKET", "/nonexistent");
        let output = command.output().expect("it runs");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    let none = "anabranch: no host process at /nonexistent (ANABRANCH_SOCKET): \
                start one with `anabranch sctpd --socket /nonexistent`\n";
    assert_eq!(run(&[]), none);
    let unused = "anabranch: --capture has no effect: \
                  give it to the host process that ANABRANCH_SOCKET names\n";
    assert_eq!(run(&["--capture", "file"]), format!("{none}{unused}"));
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("anabranch-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Compiles a program of checks, and runs each of them.
fn check(name: &str) {
    if which("gcc").is_none() || in_new_namespace().is_none() {
        return skip("socket calls", "gcc or network namespaces");
    }
    build_library();
    let folder = scratch(name);
    let program = folder.join(name);
    let source = root().join("crates/cli/tests").join(name).with_extension("c");
    let arguments = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let built = Command::new("gcc").args(arguments).args([&program, &source]).status().expect("gcc runs");
    assert!(built.success(), "{name}.c is compiled");
    let names = Command::new(&program).output().expect("it runs").stdout;
    let names = String::from_utf8(names).expect("names");
    let failed: Vec<String> = names
        .lines()
        .filter_map(|check| {
            let mut bash = in_new_namespace().expect("checked before");
            let script = "ip link set lo up; timeout 60 $A preload -- $0 $1";
            bash.args(["bash", "-c", script]).arg(&program).arg(check).env_remove("ANABRANCH_SOCKET");
            let output = bash.env("A", env!("CARGO_BIN_EXE_anabranch")).output().expect("bash runs");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then(|| format!("{check}: {}\n{told}", output.status))
        })
        .collect();
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    assert!(!names.is_empty() && failed.is_empty(), "{}", failed.join("\n"));
}
