# Lets ends of `peer` meet: one over this stack, one over the SCTP of the kernel, in network namespaces with two links between
# them. Prints a line "WHAT CARRIER WHO-CONNECTS: STATUS-OF-SERVER STATUS-OF-CLIENT" for each meeting, and writes its packets to
# /out/PORT.pcapng. $A: the command.
export XDG_RUNTIME_DIR=/run
ENDS="ours kernel"

at() { # end, command
    ip netns exec "$@"
}

for end in $ENDS; do ip netns add $end; ip -n $end link set lo up; done
for n in 1 2; do
    ip link add ours$n netns ours type veth peer name kernel$n netns kernel
    # Linux 6.1 loses packets of SCTP in UDP that it leaves to the segmentation of a link, and panics at such packets of ours.
    at kernel ethtool -K kernel$n gso off tx-sctp-segmentation off tx-checksum-sctp off > /dev/null
    at ours ethtool -K ours$n tx-udp-segmentation off > /dev/null
    for end in $ENDS; do ip -n $end link set $end$n up; at $end tc qdisc add dev $end$n root netem limit 1000; done
done
for option in auth_enable addip_enable reconf_enable intl_enable; do at kernel sysctl -qw net.sctp.$option=1; done

losses() { # share of the packets
    for end in $ENDS; do for n in 1 2; do at $end tc qdisc change dev $end$n root netem loss $1; done; done
}

address() { # end, last number
    for n in 1 2; do ip -n $1 addr flush dev $1$n; ip -n $1 addr add 10.$n.0.$2/24 dev $1$n; done
}

PORT=5001
meet() { # what, carrier
    for client in $ENDS; do
        [ $client = ours ] && server=kernel || server=ours
        address $server 1; address $client 2
        local ours="$A preload --carrier $2 --capture /out/$PORT.pcapng --set auth=true --set asconf=true --set stream_reset=true --set interleaving=true --"
        local kernel=
        at $server timeout 40 ${!server} /out/peer server "$1" $PORT 2> /out/server.error & sleep 1
        at $client timeout 40 ${!client} /out/peer client "$1" $PORT 2> /out/client.error; local status=$?
        wait $!; echo "$1 $2 $client: $? $status"
        grep -h . /out/*.error
        PORT=$((PORT + 1))
    done
}

at kernel sysctl -qw net.sctp.udp_port=9899 net.sctp.encap_port=9899
for what in none I-DATA AUTH RE-CONFIG ASCONF; do meet $what udp; done
losses 10%
meet PR-SCTP udp
losses 0%
at kernel sysctl -qw net.sctp.encap_port=0
# The kernel below our end answers the packets, too: the rules of docs/ip.md.
at ours nft -f - << 'X'
add table inet anabranch
add chain inet anabranch out { type filter hook output priority 0; }
add rule inet anabranch out sctp chunk abort exists meta skuid 0-4294967294 accept
add rule inet anabranch out sctp chunk abort exists drop
X
meet none ip
