#!/usr/bin/env bash
# Makes usrsctp-losses.pcap again with the emulated links of losses.toml, and prints what both programs and the links counted.
# Needs root, libusrsctp, iproute2 and tshark with its tools. The first argument is the command anabranch. The figures of the test
# are those of the file: another run sends at other times.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
anabranch=$(realpath "$1")
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cc -O2 -o "$work/usrsctp" "$here/../../../../suites/overlay/usrsctp.c" -lusrsctp -lpthread

"$anabranch" emulate "$here/losses.toml" --seed 1 --json >"$work/links.json" &
emulation=$!
sleep 1
# What the sender's host sees, before the emulated links drop or delay it.
interfaces=$(ip netns exec losses-c ip -o link | sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p' | grep -v '^lo$')
ip netns exec losses-c dumpcap -q $(printf -- '-i %s ' $interfaces) -w "$work/capture.pcapng" 2>"$work/dumpcap.txt" &
capture=$!
ip netns exec losses-s "$work/usrsctp" receive 1 60 10.1.0.2 10.2.0.2 >"$work/receiver.json" &
receiver=$!
sleep 1
ip netns exec losses-c "$work/usrsctp" send 1 1 10.1.0.1 10.2.0.1 10.1.0.2
wait "$receiver"
sleep 1
kill -INT "$capture" || cat "$work/dumpcap.txt"
wait "$capture" || cat "$work/dumpcap.txt"
kill -INT "$emulation"
wait "$emulation"
cat "$work/receiver.json" "$work/links.json"

# What tshark counts in the order of time: chunks of data and those of them sent before, by source, and packets with SACKs.
reordercap "$work/capture.pcapng" "$work/sorted.pcapng" >/dev/null
tshark -r "$work/sorted.pcapng" -Y sctp.data_tsn_raw -T fields -e ip.src -e sctp.data_tsn_raw 2>/dev/null |
    awk '{ n = split($2, tsn, ","); for (i = 1; i <= n; i++) { chunks[$1]++; again[$1] += seen[tsn[i]]++ > 0 } }
         END { for (source in chunks) print source, chunks[source], "chunks,", again[source], "of them again" }'
tshark -r "$work/sorted.pcapng" -Y sctp.sack_cumulative_tsn_ack_raw -T fields -e ip.src 2>/dev/null | sort | uniq -c
tshark -r "$work/sorted.pcapng" -Y 'sctp.sack_number_of_duplicated_tsns > 0' 2>/dev/null | wc -l

# 256 bytes of each packet, since SACKs are up to 236 bytes long, in the order in which dumpcap wrote them: it does not sort the packets
# of several interfaces.
editcap -F pcap -s 256 "$work/capture.pcapng" "$here/usrsctp-losses.pcap"
