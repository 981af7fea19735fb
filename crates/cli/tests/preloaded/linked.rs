//! Programs that are linked with libusrsctp. `$L` stands for `anabranch preload --usrsctp --`; without it a
//! program runs with the original library.

use super::Program;

pub const LINKED: &[Program] = &[
    Program {
        name: "tsctp",
        version: "usrsctp 0.9.5",
        started: "--usrsctp -- tsctp HOST",
        works: "client and server, with blocking calls and with callbacks (`-c`); the original library at one end or none",
        script: "for ends in 'ours ours' 'ours ours -c' 'ours theirs' 'theirs ours -c'; do
                set -- $ends; [ $1 = theirs ] && S= || S=$L; [ $2 = theirs ] && C= || C=$L
                timeout 20 $S stdbuf -oL $U/tsctp -p 5001 -E 9998 -U 9999 $3 > server & pid=$!; sleep 1
                timeout 20 $C $U/tsctp -p 5001 -E 9999 -U 9998 $3 -l 1000 -n 2000 127.0.0.1 > client
                sleep 1; kill $pid; wait $pid || true; grep -q '^1000, 2000, ' server
            done",
    },
    Program {
        name: "client",
        version: "usrsctp 0.9.5",
        started: "--usrsctp -- client HOST 7",
        works: "also `client_upcall`, and `echo_server`, `discard_server`, `chargen_server` and `daytime_server`, with upcalls and without",
        script: "ask() { # server, port, client
                timeout 9 $L $U/$1 9998 9999 > server & pid=$!; sleep 1
                (echo hello; sleep 2) | timeout 8 $L $U/$3 127.0.0.1 $2 0 9999 9998 > client 2>&1
                kill $pid; wait $pid || true
            }
            for end in '' _upcall; do
                ask echo_server$end 7 client$end; grep -q '^hello' client
                ask discard_server$end 9 client; grep -q SHUTDOWN_COMP client
                ask daytime_server$end 13 client; grep -q ':[0-5][0-9]:' client
            done
            ask chargen_server_upcall 19 client; grep -q abcdefgh client",
    },
    Program {
        name: "http_client",
        version: "usrsctp 0.9.5",
        started: "--usrsctp -- http_client HOST 80",
        works: "also `http_client_upcall`: HTTP over SCTP, from the server of Python under `--tcp-as-sctp`",
        script: "echo a page of text > page; unset ANABRANCH_SOCKET
            timeout 20 $A preload --udp-port 9998 --tcp-as-sctp -- python3 -m http.server --bind 127.0.0.1 8080 2> server & sleep 2
            for end in '' _upcall; do
                timeout 8 $L $U/http_client$end 127.0.0.1 8080 0 9999 9998 /page > client; grep -q 'a page of text' client
            done",
    },
    Program {
        name: "rtcweb",
        version: "usrsctp 0.9.5",
        started: "--usrsctp -- rtcweb 9899 9899 5001",
        works: "data channels of WebRTC: open, send, close",
        script: "sleep 6 | timeout 8 $L $U/rtcweb 9998 9999 5001 > server 2>&1 & sleep 1
            (sleep 0.5; echo open 0 0 0; sleep 1; echo send 0:hello; sleep 1; echo close 0; sleep 1; echo quit) |
                timeout 8 $L $U/rtcweb 9999 9998 127.0.0.1 5001 > client 2>&1
            wait $!; grep -q 'with id 0: hello' server; grep -q 'Stream reset event: flags = 1' server",
    },
    Program {
        name: "ekr_loop",
        version: "usrsctp 0.9.5",
        started: "--usrsctp -- ekr_loop",
        works: "the program carries the packets (`AF_CONN`): also `ekr_loop_upcall`, `ekr_client`, `ekr_server`, `ekr_peer`, and `st_client`, which starts no threads",
        script: "for end in '' _upcall; do
                timeout 20 $L $U/ekr_loop$end > client 2>&1; grep -q 'PPID 39, context 0, unordered, EOR' client
            done
            for S in \"$L\" ''; do
                (sleep 2; echo hello; sleep 1) | timeout 9 $S $U/ekr_peer 127.0.0.1 9001 127.0.0.1 9002 5001 5002 > server 2>&1 & pid=$!
                sleep 0.5
                (sleep 1; echo world; sleep 1) | timeout 9 $L $U/ekr_peer 127.0.0.1 9002 127.0.0.1 9001 5002 5001 > client 2>&1
                wait $pid || true; grep -q 'of length 6 received' client; grep -q 'of length 6 received' server
            done
            timeout 9 $L $U/ekr_server 127.0.0.1 9001 127.0.0.1 9002 > server 2>&1 & pid=$!; sleep 0.7
            timeout 8 $L $U/ekr_client 127.0.0.1 9002 127.0.0.1 9001 > client 2>&1 < /dev/null
            timeout 2 $L $U/st_client 127.0.0.1 9002 127.0.0.1 9001 5001 > client 2>&1 || true
            kill $pid; grep '^I [0-9:.]* 0000\\( [0-9a-f][0-9a-f]\\)\\{12\\} \\(03\\|10\\) ' client",
    },
    Program {
        name: "janus",
        version: "1.1.2",
        started: "--usrsctp -- janus",
        works: "data channels: a peer of aiortc joins a text room and sends 20,000 characters",
        script: JANUS,
    },
];

/// Needs the Python package aiortc, which `.ci/run` installs into a folder of its own.
const JANUS: &str = r#"mkdir cfg; cp /etc/janus/janus.jcfg /etc/janus/janus.transport.http.jcfg /etc/janus/janus.plugin.textroom.jcfg cfg
timeout 50 $L janus -F cfg -P /usr/lib/x86_64-linux-gnu/janus/plugins > server 2>&1 & sleep 3
PYTHONPATH=$WEBRTC timeout 40 python3 $TESTS/preloaded/room.py > client 2>&1"#;
