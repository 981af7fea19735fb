//! Unmodified SCTP programs over the stack, each in a network namespace of its own: the table of
//! docs/programs.md.
#![cfg(target_os = "linux")]

#[path = "preloaded/linked.rs"]
mod linked;
#[path = "../../io/tests/common/namespace.rs"]
mod namespace;
mod preloaded;

use linked::LINKED;
use namespace::{in_new_namespace, skip};
use preloaded::{build_library, root, which};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program of Debian 12 and what it must do.
struct Program {
    name: &'static str,
    version: &'static str,
    /// The words after `anabranch preload` with which a user starts the program.
    started: &'static str,
    /// What works.
    works: &'static str,
    /// Commands of bash. `$P` stands for `anabranch preload --`, `$TESTS` for the folder of this file. The
    /// function `opened` waits until the programs have as many sockets as it is told. The last command fails
    /// if something is missing.
    script: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "checksctp",
        version: "lksctp-tools 1.0.19",
        started: "-- checksctp",
        works: "finds SCTP",
        script: "$P checksctp 2>&1 | grep -q 'SCTP supported'",
    },
    Program {
        name: "iperf3",
        version: "3.12",
        started: "-- iperf3 --sctp -c HOST",
        works: "client and server, `-R`, `-P`, `-6`, `-X`, `--nstreams`",
        script: "$P iperf3 -s > server & sleep 1
            $P iperf3 --sctp -c 127.0.0.1 -n 20M > client && grep -q 'iperf Done' client
            $P iperf3 --sctp -R -P 2 -c 127.0.0.1 -n 20M > back && grep -q 'iperf Done' back
            # --nstreams sets the rate, too: it comes before -b.
            for more in -6 '-X 127.0.0.1' '--nstreams 8 -b 0'; do
                $P iperf3 --sctp $more -c localhost -n 5M > client && grep -q 'iperf Done' client
            done",
    },
    Program {
        name: "netperfmeter",
        version: "1.9.4",
        started: "-- netperfmeter HOST:9000 -sctp const0:const1400:const0:const1400",
        works: "data and control over SCTP, both directions",
        script: "$P netperfmeter 9000 > server & sleep 1
            $P netperfmeter 127.0.0.1:9000 -runtime=2 -sctp const0:const1400:const0:const1400 > client
            grep -A3 Reception client | grep -E 'Bytes: *[1-9]'",
    },
    Program {
        name: "sctp_test",
        version: "lksctp-tools 1.0.19",
        started: "-- sctp_test -H HOST -P 5001 -l",
        works: "one-to-many style, `-T`: one-to-one style, `-C`: several addresses",
        script: "$P stdbuf -oL sctp_test -H 127.0.0.1 -P 5001 -l > many & $P stdbuf -oL sctp_test -H 127.0.0.1 -P 5002 -l -T > one & sleep 1
            $P sctp_test -H 127.0.0.1 -P 6001 -h 127.0.0.1 -p 5001 -s -c 2 -x 3 > client
            $P sctp_test -H 127.0.0.1 -P 6002 -h 127.0.0.1 -p 5002 -s -T -c 2 -x 3 >> client
            $P stdbuf -oL sctp_test -H 127.0.0.1 -B 10.0.0.1 -P 5003 -l > two & sleep 1
            $P sctp_test -H 127.0.0.1 -B 10.0.0.1 -P 6003 -C 127.0.0.1 -C 10.0.0.1 -p 5003 -s -c 2 -x 3 >> client
            sleep 0.5; grep -q COMMUNICATION many && grep -q 'Data 1453 bytes' many && grep -q 'Data 1453 bytes' one && grep -q 'Data 1453 bytes' two",
    },
    Program {
        name: "sctp_darn",
        version: "lksctp-tools 1.0.19",
        started: "-- sctp_darn -H HOST -P 5001 -l",
        works: "interactive mode: send, add addresses, primary address, heartbeats, options, counters, shutdown",
        script: "$P stdbuf -oL sctp_darn -H 127.0.0.1 -B 10.0.0.1 -P 5001 -l > server & sleep 1
            (for word in snd=10 bindx-add=10.0.0.1 primary=10.0.0.1 heartbeat=10.0.0.1 maxseg=600 nodelay=1 stats \\
                snd=2000 shutdown; do echo $word; sleep 0.3; done) |
                $P sctp_darn -H 127.0.0.1 -P 6001 -h 127.0.0.1 -p 5001 -s -I > client 2>&1 || true
            grep -q 'Successfully SHUTDOWN' client; grep -q 'Ordered data chunks sent: [1-9]' client
            grep -q 'DATA(2000)' server",
    },
    Program {
        name: "ncat",
        version: "7.93",
        started: "-- ncat --sctp HOST 5001",
        works: "client, server, `-e` (a program gets the socket by exec), refused at closed ports",
        script: "$P ncat --sctp -l 5001 -e /bin/cat & sleep 1
            (echo hello; sleep 1) | $P ncat --sctp 127.0.0.1 5001 | grep -q hello
            ! (sleep 1 | $P ncat --sctp 127.0.0.1 5999) 2> error; grep -q refused error",
    },
    Program {
        name: "socat",
        version: "1.7.4.4",
        started: "-- socat - SCTP:HOST:5001",
        works: "client, `SCTP-LISTEN` with `fork` and `EXEC`",
        script: "$P socat SCTP-LISTEN:5001,fork EXEC:cat & sleep 1
            for n in 1 2 3; do (echo hello; sleep 1) | $P socat - SCTP:127.0.0.1:5001 > out$n & done
            sleep 4; cat out1 out2 out3 | grep -c hello | grep -q 3",
    },
    Program {
        name: "sipp",
        version: "3.6.1",
        started: "-- sipp -t s1 -sn uas",
        works: "SIP over SCTP, client and server",
        script: "$P sipp -t s1 -sn uas -i 127.0.0.1 -p 5070 > server 2>&1 & sleep 1
            $P sipp -t s1 -sn uac -i 127.0.0.1 -p 5071 127.0.0.1:5070 -m 20 -r 20 > client 2>&1",
    },
    Program {
        name: "qperf",
        version: "0.4.11",
        started: "-- qperf HOST sctp_bw sctp_lat",
        works: "bandwidth and latency",
        script: "$P qperf > server & sleep 1
            $P qperf 127.0.0.1 -t 1 sctp_bw sctp_lat | grep -q latency",
    },
    Program {
        name: "stress-ng",
        version: "0.15.06",
        started: "-- stress-ng --sctp 2",
        works: "its SCTP stressor ends without an error",
        script: "$P stress-ng --sctp 2 -t 2 2>&1 | grep -q 'successful run'",
    },
    Program {
        name: "curl",
        version: "7.88",
        started: "--tcp-as-sctp -- curl http://HOST/",
        works: "HTTP over SCTP in place of TCP, from the server of Python: 5 MB",
        script: "P=\"$A preload --tcp-as-sctp --\"
            head -c 5000000 /dev/urandom > data
            timeout 30 $P python3 -m http.server --bind 127.0.0.1 8080 2> server & opened 1
            timeout 20 $P curl -s -o got http://127.0.0.1:8080/data; cmp data got
            ! curl -s http://127.0.0.1:8080/data",
    },
    Program {
        name: "git",
        version: "2.39",
        started: "--tcp-as-sctp -- git clone git://HOST/NAME",
        works: "clone over SCTP in place of TCP, from `git daemon`, which starts a program for each connection",
        script: "P=\"$A preload --tcp-as-sctp --\"
            git init -q origin; head -c 1000000 /dev/urandom > origin/data; git -C origin add data
            git -C origin -c user.name=x -c user.email=x commit -q -m x
            timeout 30 $P git daemon --listen=127.0.0.1 --base-path=$PWD --export-all 2> server & opened 1
            timeout 20 $P git clone -q git://127.0.0.1/origin/.git copy 2> client; cmp origin/data copy/data",
    },
    Program {
        name: "sctp_status",
        version: "lksctp-tools 1.0.19",
        started: "-- sctp_status -H HOST -P 5001 -l",
        works: "client and server; it prints state, windows and path",
        script: "$P sctp_status -H 127.0.0.1 -P 5001 -l > server & sleep 1
            $P sctp_status -H 127.0.0.1 -P 6001 -h 127.0.0.1 -p 5001 -s -f c -x 5 > client
            # The server writes its lines when it ends.
            for second in 1 2 3 4 5 6 7 8 9; do ! grep -q ESTABLISHED server || break; sleep 1; done
            grep 'ESTABLISHED.*ACTIVE' server; grep 'Sending packets.(5/5)' client",
    },
    Program {
        name: "gensiot",
        version: "gensio 2.6.2",
        started: "-- gensiot -i 'stdio(self)' 'sctp,HOST,5001'",
        works: "client and server (`-a`): 1 MB arrives unchanged",
        script: "head -c 1000000 /dev/urandom > data
            (sleep 15 | $P gensiot -i 'stdio(self)' -a 'sctp,127.0.0.1,5001' > server) & sleep 1
            (cat data; sleep 2) | $P gensiot -i 'stdio(self)' 'sctp,127.0.0.1,5001'
            sleep 1; cmp data server",
    },
    Program {
        name: "erl",
        version: "erlang-base 25.2",
        started: "-- erl",
        works: "`gen_sctp`: listen, connect, streams, events, `peeloff`, options",
        script: ERLANG,
    },
    Program {
        name: "kamailio",
        version: "5.6.3",
        started: "-- kamailio -f sctp.cfg -DD -E",
        works: "SIP server whose workers share a one-to-many socket: 100 requests of sipp",
        script: KAMAILIO,
    },
    Program {
        name: "freeDiameterd",
        version: "1.2.1",
        started: "-- freeDiameterd -c peer.conf",
        works: "two peers with two addresses each exchange capabilities without TLS and open",
        script: DIAMETER,
    },
    Program {
        name: "rspserver",
        version: "rsplib 3.4.4",
        started: "-- rspserver -pingpong -registrar=HOST:3863",
        works: "RSerPool: registrar, pool element and pool user (`pingpongclient`) exchange messages",
        script: "$P rspregistrar -asap=10.0.0.1:3863 & sleep 1
            $P rspserver -pingpong -registrar=10.0.0.1:3863 > server 2>&1 & sleep 3
            timeout 7 $A preload -- pingpongclient -registrar=10.0.0.1:3863 > client 2>&1 || true
            grep 'Ack #3 from' client",
    },
    Program {
        name: "osmo-stp",
        version: "1.6.0",
        started: "-- osmo-stp -c stp.cfg",
        works: "M3UA: an ASP of Python comes up",
        script: SIGNALLING,
    },
    Program {
        name: NEXTEPC,
        version: "nextepc-mme 0.3.10",
        started: "-- nextepc-mmed -f mme.conf",
        works: "MME of LTE: it answers the S1 Setup of a base station of pysctp and pycrate",
        script: MME,
    },
    Program {
        name: "osmo-msc",
        version: "1.9.0",
        started: "-- osmo-msc -c msc.cfg",
        works: "M3UA client of `osmo-stp`: it becomes active",
        script: SWITCHING,
    },
    Program {
        name: "ITGSend",
        version: "d-itg 2.8.1",
        started: "-- ITGSend -a HOST -T SCTP 0 1",
        works: "client and server (`ITGRecv`), with `ITGDec` on both logs: no packet is lost",
        script: "$P ITGRecv > server & sleep 1
            $P ITGSend -a 127.0.0.1 -rp 9501 -T SCTP 0 1 -C 200 -c 800 -t 2000 -l sent -x received > client
            sleep 0.5; for log in sent received; do ITGDec $log | grep 'Packets dropped.* 0 (0.00 %)'; done",
    },
    Program {
        name: JAVA,
        version: "openjdk 17",
        started: "-- java PROGRAM",
        works: "`com.sun.nio.sctp`: all three kinds of channels, streams, notifications, several addresses, `branch`",
        script: "$P java $TESTS/preloaded/Channels.java > client 2>&1; grep '^ok' client",
    },
    Program {
        name: LIBKNET,
        version: "1.25",
        started: "-- PROGRAM",
        works: "two hosts with a link over SCTP: 400 messages; the first host begins before the second one listens",
        script: "gcc -std=gnu11 -Wall -Wextra -Werror -O1 -o knet $TESTS/knet.c -lknet; $P ./knet > client 2>&1",
    },
];

/// A library, of which Debian has no program.
const LIBKNET: &str = "libknet";

/// Its peer needs the Python packages pysctp and pycrate, in the folder [`S1AP`].
const NEXTEPC: &str = "nextepc-mmed";

/// Starts a program from its source, for which it needs the compiler.
const JAVA: &str = "java";

fn is_installed(program: &Program) -> bool {
    match program.name {
        JAVA => which("javac").is_some(),
        NEXTEPC => which(NEXTEPC).is_some() && root().join(S1AP).join("sctp.py").exists(),
        LIBKNET => which("gcc").is_some() && Path::new("/usr/include/libknet.h").exists(),
        name => which(name).is_some(),
    }
}

const ERLANG: &str = r#"cat > t.erl << 'X'
-module(t).
-export([main/0]).
-include_lib("kernel/include/inet_sctp.hrl").
main() ->
    {ok, S} = gen_sctp:open([{ip,{127,0,0,1}},{port,5001},{active,false}]),
    ok = gen_sctp:listen(S, true),
    {ok, C} = gen_sctp:open([{active,false}]),
    {ok, A} = gen_sctp:connect(C, {127,0,0,1}, 5001, [{sctp_initmsg,#sctp_initmsg{num_ostreams=5}}]),
    ok = gen_sctp:send(C, A, 2, <<"hello">>),
    {ok, {_,_,_,#sctp_assoc_change{state=comm_up,assoc_id=I}}} = gen_sctp:recv(S, 5000),
    {ok, {_,_,[#sctp_sndrcvinfo{stream=2,assoc_id=I}],<<"hello">>}} = gen_sctp:recv(S, 5000),
    {ok, P} = gen_sctp:peeloff(S, I),
    ok = gen_sctp:send(P, I, 0, <<"back">>),
    {ok, {_,_,_,<<"back">>}} = gen_sctp:recv(C, 5000),
    {ok, [{sctp_maxseg,1444},{sctp_autoclose,0}]} = inet:getopts(C, [sctp_maxseg,sctp_autoclose]),
    ok = gen_sctp:eof(C, A),
    {ok, {_,_,_,#sctp_shutdown_event{}}} = gen_sctp:recv(P, 5000),
    io:format("ok~n"), halt(0).
X
erlc t.erl; $P erl -noshell -eval 't:main().' > client; grep '^ok' client"#;

const KAMAILIO: &str = r#"cat > k.cfg << 'X'
log_stderror=yes
children=2
enable_sctp=1
disable_tcp=yes
sctp_children=3
auto_aliases=no
listen=sctp:127.0.0.1:5060
loadmodule "sctp.so"
loadmodule "sl.so"
loadmodule "pv.so"
request_route { sl_send_reply("200", "OK"); }
X
cat > o.xml << 'X'
<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="options">
<send><![CDATA[

OPTIONS sip:x@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:a@[local_ip]>;tag=[call_number]
To: <sip:x@[remote_ip]>
Call-ID: [call_id]
CSeq: 1 OPTIONS
Max-Forwards: 5
Content-Length: 0

]]></send>
<recv response="200"/>
</scenario>
X
$P kamailio -f k.cfg -DD -E -m 64 -M 8 -Y $PWD 2> server & sleep 3
$P sipp -t s1 -sf o.xml -i 127.0.0.1 -p 5071 127.0.0.1:5060 -m 100 -r 100 > client 2>&1"#;

const DIAMETER: &str = r#"openssl genrsa -out key.pem 2048
for n in 1 2; do
    openssl req -x509 -key key.pem -out cert$n.pem -subj /CN=peer$n.test -days 2
    cat > $n.conf << X
Identity = "peer$n.test"; Realm = "test"; Port = $((3867 + n)); SecPort = 0;
No_TCP; No_IPv6; ListenOn = "127.0.0.1"; ListenOn = "10.0.0.1"; TLS_old_method;
TLS_Cred = "cert$n.pem", "key.pem"; TLS_CA = "cert$n.pem";
ConnectPeer = "peer$((3 - n)).test" { ConnectTo = "127.0.0.1"; ConnectTo = "10.0.0.1"; No_TLS; Port = $((3870 - n)); };
X
done
$P freeDiameterd -c 1.conf > server 2>&1 & sleep 1
$P freeDiameterd -c 2.conf > client 2>&1 & sleep 5
grep STATE_OPEN server; grep STATE_OPEN client
$A sctpd --socket $ANABRANCH_SOCKET --status > server; grep '"remote": "10.0.0.1"' server"#;

const SIGNALLING: &str = r#"cat > peer.py << 'X'
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
s.connect(("127.0.0.1", 2905))
info = struct.pack("=HHIII", 0, 0, socket.htonl(3), 0, 0)
s.sendmsg([bytes([1, 0, 3, 1, 0, 0, 0, 8])], [(132, 2, info)])  # ASP Up
s.settimeout(5)
assert s.recv(100)[2:4] == bytes([3, 4])  # ASP Up Ack
X
$P osmo-stp -c $TESTS/preloaded/stp.cfg > server 2>&1 & sleep 2
$P python3 peer.py"#;

const SWITCHING: &str = r#"$P osmo-stp -c $TESTS/preloaded/stp.cfg > server 2>&1 & sleep 1
$P osmo-msc -c /etc/osmocom/osmo-msc.cfg > client 2>&1 & sleep 5
grep 'State Change:AS Active' client"#;

const MME: &str = r#"cat > mme.conf << 'X'
logger: { file: server }
mme:
  freeDiameter: diameter.conf
  s1ap: { addr: 127.0.0.1 }
  gtpc: { addr: 127.0.0.1 }
  gummei: { plmn_id: { mcc: 001, mnc: 01 }, mme_gid: 2, mme_code: 1 }
  tai: { plmn_id: { mcc: 001, mnc: 01 }, tac: 12345 }
  security: { integrity_order: [ EIA1 ], ciphering_order: [ EEA0 ] }
sgw: { gtpc: { addr: 127.0.0.2 } }
pgw: { gtpc: { addr: 127.0.0.3 } }
X
grep -v '^ConnectPeer' /etc/nextepc/freeDiameter/mme.conf > diameter.conf
$P nextepc-mmed -f mme.conf -l server -p pid & sleep 2
PYTHONPATH=$S1AP $P python3 $TESTS/preloaded/enb.py > client 2>&1"#;

#[test]
fn each_program_of_the_table_runs() {
    let (installed, missing): (Vec<_>, Vec<_>) = PROGRAMS.iter().partition(|&program| is_installed(program));
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|program| program.name).collect();
        skip("unmodified programs", &names.join(", "));
    }
    if in_new_namespace().is_none() {
        return skip("unmodified programs", "network namespaces");
    }
    build_library();
    run_all(installed);
}

/// Runs programs, each in a network namespace of its own, several at a time: most of them wait most of the
/// time.
fn run_all(programs: Vec<&Program>) {
    const AT_ONCE: usize = 2;
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(why) = run(program) {
                failed.lock().expect("no panic").push(why);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn run(program: &Program) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("anabranch-{}-{}", program.name, std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let command = env!("CARGO_BIN_EXE_anabranch");
    let script = format!(
        "set -e; ip link set lo up; export ANABRANCH_SOCKET=$PWD/s
        ip link add p0 type veth peer name p1; ip link set p1 up
        ip addr add 10.0.0.1/24 dev p0; ip link set p0 up
        trap 'kill $(jobs -p) 2> /dev/null' EXIT
        {command} sctpd --socket $PWD/s & sleep 0.5
        A={command} P='timeout -k 2 20 {command} preload --' L='{command} preload --usrsctp --'
        opened() {{ # number of sockets
            for n in {{1..200}}; do
                {command} sctpd --socket $PWD/s --status | grep -q '\"sockets\": '$1 && break || sleep 0.1
            done; sleep 0.2
        }}
        TESTS={root}/crates/cli/tests
        U=/usr/lib/usrsctp WEBRTC={root}/{WEBRTC} S1AP={root}/{S1AP}
        {script}",
        root = root().display(),
        script = program.script,
    );
    let mut bash = in_new_namespace().expect("checked before");
    bash.args(["timeout", "60", "bash", "-c", &script]).current_dir(&folder).env("ANABRANCH_SOCKET", "");
    let output = bash.output().expect("bash runs");
    let texts =
        ["server", "client", "error"].map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    if output.status.success() {
        return Ok(());
    }
    let texts = [texts.concat(), output.stdout, output.stderr].concat();
    Err(format!("{}: {}\n{}", program.name, output.status, String::from_utf8_lossy(&texts)))
}

/// Where `.ci/run` installs aiortc, the peer of Janus.
const WEBRTC: &str = "target/tools/webrtc";
/// Where `.ci/run` installs pysctp and pycrate, the peer of nextepc-mmed.
const S1AP: &str = "target/tools/s1ap";

/// Builds the library that takes the place of libusrsctp, to where the command looks for it.
fn build_usrsctp() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "anabranch-usrsctp"])
        .current_dir(root())
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the library is built");
    let folder = Path::new(env!("CARGO_BIN_EXE_anabranch")).parent().expect("a folder");
    let library = folder.join("usrsctp/libusrsctp.so.2");
    std::fs::create_dir_all(folder.join("usrsctp")).expect("a folder");
    std::fs::copy(folder.join("libanabranch_usrsctp.so"), &library).expect("copied");
    library
}

#[test]
fn programs_that_are_linked_with_libusrsctp_run() {
    let here = |name: &str| {
        let peer = name != "janus" || root().join(WEBRTC).join("aiortc").exists();
        peer && which(name).is_some()
    };
    let missing: Vec<&str> = LINKED.iter().map(|program| program.name).filter(|name| !here(name)).collect();
    if !missing.is_empty() {
        skip("programs linked with libusrsctp", &format!("{} (janus needs aiortc, too)", missing.join(", ")));
    }
    if in_new_namespace().is_none() {
        return skip("programs linked with libusrsctp", "network namespaces");
    }
    build_library();
    build_usrsctp();
    run_all(LINKED.iter().filter(|program| here(program.name)).collect());
}

/// A program in C sees the same with the original library and with ours, which has all its functions.
#[test]
fn our_libusrsctp_has_the_functions_and_structs_of_the_original() {
    let original = "/usr/lib/x86_64-linux-gnu/libusrsctp.so";
    let header = Path::new("/usr/include/usrsctp.h").exists() && Path::new(original).exists();
    if !header || ["gcc", "nm"].iter().any(|name| which(name).is_none()) {
        return skip("structs of libusrsctp", "gcc, nm or libusrsctp-dev");
    }
    let ours = build_usrsctp();
    let functions = |library: &Path| -> BTreeSet<String> {
        let told =
            Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm runs").stdout;
        let told = String::from_utf8_lossy(&told).into_owned();
        let names = told.lines().filter_map(|line| line.rsplit(' ').next()?.split('@').next());
        names.filter(|name| name.starts_with("usrsctp_")).map(str::to_owned).collect()
    };
    let (theirs, all) = (functions(Path::new(original)), functions(&ours));
    let missing: Vec<&String> = theirs.difference(&all).collect();
    assert!(theirs.len() > 100 && missing.is_empty(), "{missing:?}");

    let folder = std::env::temp_dir().join(format!("anabranch-linked-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("linked");
    let source = root().join("crates/cli/tests/preloaded/linked.c");
    let built = Command::new("gcc")
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .args([&program, &source])
        .args(["-lusrsctp", "-lpthread"])
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the program is compiled");
    let ours = ours.parent().expect("a folder");
    for (library, more) in [(Path::new(""), None), (ours, None), (ours, Some("ours"))] {
        let mut run = Command::new("timeout");
        run.arg("30").arg(&program).args(more).env("LD_LIBRARY_PATH", library);
        let output = run.output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout == b"ok\n", "{}: {told}", library.display());
    }
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
}

/// Two paths of 50 Mbit/s to another namespace; `$OTHER` runs a command there. One path fails
/// 6 s after the client has begun.
const TWO_PATHS: &str = "
    set -e; ip link set lo up
    unshare --net sleep 60 & sleep 0.5; OTHER=\"nsenter -t $! -n\"; trap 'kill $(jobs -p) 2> /dev/null' EXIT
    $OTHER ip link set lo up
    for n in 1 2; do
        ip link add a$n type veth peer name b$n; ip link set b$n netns $!
        ip addr add 10.$n.0.1/24 dev a$n; ip link set a$n up
        $OTHER ip addr add 10.$n.0.2/24 dev b$n; $OTHER ip link set b$n up
        tc qdisc add dev a$n root tbf rate 50mbit burst 15000 limit 150000
        $OTHER tc qdisc add dev b$n root tbf rate 50mbit burst 15000 limit 150000
    done
    $OTHER timeout 40 $A preload -- iperf3 -s -1 > server & server=$!; sleep 2
    timeout 30 $A preload -- iperf3 --sctp -c 10.1.0.2 -t 10 > client & client=$!
    sleep 6; ip link set a2 down; wait $client; wait $server; cat server";

/// With the options that an unmodified program gets, iperf3 uses both paths at
/// once, and goes on when one fails.
#[test]
fn iperf3_uses_two_paths_and_survives_the_end_of_one() {
    if ["iperf3", "tc", "nsenter"].iter().any(|name| which(name).is_none()) || in_new_namespace().is_none() {
        return skip("iperf3 over two paths", "iperf3, tc, nsenter or network namespaces");
    }
    build_library();
    let folder = std::env::temp_dir().join(format!("anabranch-two-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut bash = in_new_namespace().expect("checked before");
    bash.args(["timeout", "60", "bash", "-c", TWO_PATHS]).current_dir(&folder).env("ANABRANCH_SOCKET", "");
    let output = bash.env("A", env!("CARGO_BIN_EXE_anabranch")).output().expect("bash runs");
    let client = std::fs::read_to_string(folder.join("client")).unwrap_or_default();
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{client}\n{}", String::from_utf8_lossy(&output.stderr));
    // The rates that the receiver prints, one for each second.
    let rate = |line: &str| line.split_once(" Mbits/sec")?.0.rsplit(' ').next()?.parse::<f64>().ok();
    let rates: Vec<f64> = text.lines().filter(|line| line.contains("sec ")).filter_map(rate).collect();
    assert!(rates.len() >= 10, "{text}");
    let [both, one] = [&rates[1..3], &rates[7..9]].map(|part| part.iter().sum::<f64>() / 2.0);
    // The limits are low, because the machine may be busy. One path alone carries 48 Mbit/s.
    assert!(both > 70.0 && one > 35.0, "{both} and {one} Mbit/s: {text}");
}

/// Two hosts without UDP. `$OTHER` runs a command on the other one: first two host processes with different
/// ports, then usrsctp. Prints three numbers of packets: damaged ones, those in UDP, and those with data in
/// IP. Damaged ones do not include ICMP, which quotes the beginnings of packets.
const IN_IP: &str = "
    set -e; ip link set lo up
    unshare --net sleep 100 & sleep 0.5; OTHER=\"nsenter -t $! -n\"; trap 'kill $(jobs -p) 2> /dev/null' EXIT
    ip link add a1 type veth peer name b1; ip link set b1 netns $!
    ip addr add 10.5.0.1/24 dev a1; ip link set a1 up
    $OTHER sh -c 'ip link set lo up; ip addr add 10.5.0.2/24 dev b1; ip link set b1 up'
    dumpcap -q -i a1 -w all.pcapng 2> /dev/null & capture=$!
    P='timeout -k 2 40'; IN_IP=\"$A preload --carrier ip --\"
    $OTHER $P $IN_IP iperf3 -s > server & servers=$!
    $OTHER $P $IN_IP ncat --sctp -l -k 5001 -e /bin/cat & servers=\"$servers $!\"; sleep 2
    $P $IN_IP iperf3 --sctp -c 10.5.0.2 -n 20M > client; grep -q 'iperf Done' client
    (echo hello; sleep 3) | $P $IN_IP ncat --sctp 10.5.0.2 5001 | grep -q hello
    ! (sleep 1 | $P $IN_IP ncat --sctp 10.5.0.2 5999) 2> error; grep -q refused error
    ! $OTHER $P $IN_IP ncat --sctp -l 5001 2> error; grep -q 'already in use' error
    kill $servers; wait $servers || true
    $OTHER $P /usr/lib/usrsctp/echo_server 0 0 > /dev/null & sleep 1
    (echo hello; sleep 3) | $P $IN_IP ncat --sctp 10.5.0.2 7 | grep -q hello
    ! setpriv --bounding-set=-net_raw $IN_IP true 2> error; grep -q 'setcap cap_net_raw+ep /' error
    sleep 0.5; kill -INT $capture; wait $capture
    for filter in '!icmp && (sctp && sctp.checksum.status != 1 || _ws.malformed)' 'sctp && udp' \\
        'ip.proto == 132 && sctp.chunk_type == 0'; do
        tshark -n -r all.pcapng -o sctp.checksum:CRC-32C -Y \"$filter\" 2> /dev/null | wc -l
    done";

#[test]
fn programs_reach_each_other_and_usrsctp_directly_in_ip() {
    let tools = ["iperf3", "ncat", "nsenter", "setpriv", "dumpcap", "tshark"];
    let usrsctp = Path::new("/usr/lib/usrsctp/echo_server").exists();
    if !usrsctp || tools.iter().any(|name| which(name).is_none()) || in_new_namespace().is_none() {
        let missing = format!("libusrsctp-examples, {} or network namespaces", tools.join(", "));
        return skip("programs in IP", &missing);
    }
    build_library();
    let folder = std::env::temp_dir().join(format!("anabranch-in-ip-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut bash = in_new_namespace().expect("checked before");
    bash.args(["timeout", "100", "bash", "-c", IN_IP]).current_dir(&folder).env("ANABRANCH_SOCKET", "");
    let output = bash.env("A", env!("CARGO_BIN_EXE_anabranch")).output().expect("bash runs");
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    let counts: Vec<u32> = told.lines().map(|line| line.trim().parse().expect("a number")).collect();
    assert!(counts[..2] == [0, 0] && counts[2] > 1000, "{counts:?}");
}

/// `ANABRANCH_UPDATE=1 cargo test -p anabranch-cli --test programs` writes the table.
#[test]
fn the_page_has_the_table() {
    let path = root().join("docs/programs.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (begin, end) = ("| program | version | what works | start |\n|---|---|---|---|\n", "\n\n");
    let from = page.find(begin).expect("the head of the table") + begin.len();
    let to = from + page[from..].find(end).expect("the end of the table") + 1;
    let rows = PROGRAMS.iter().chain(LINKED).map(|program| {
        let Program { name, version, works, started, .. } = program;
        format!("| {name} | {version} | {works} | `anabranch preload {started}` |\n")
    });
    let now = format!("{}{}{}", &page[..from], rows.collect::<String>(), &page[to..]);
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        std::fs::write(&path, &now).expect("written");
    } else {
        assert_eq!(now, page, "docs/programs.md is old: run this test with ANABRANCH_UPDATE=1");
    }
}
