# What the cases share. A case builds its network with these procedures and ends with "go SECONDS".
#
# Arguments of every case: SEED and 0 or 1. With 1, every link has a queue monitor and the number of packet-hops (a
# packet that has crossed a link) is printed; with 0 nothing is counted, so that the time is that of the bare run.

remove-all-packet-headers
add-packet-header IP Flags SCTP

lassign $argv seed counting
set ns [new Simulator]
$defaultRNG seed $seed
set monitors {}

# A full-duplex link; its drop-tail queue holds `limit` packets in each direction.
proc link {a b rate delay limit} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to $limit
        watch $from $to
    }
}

proc watch {from to} {
    global ns counting monitors
    if {$counting} {
        lappend monitors [$ns monitor-queue $from $to ""]
    }
}

# 1452 bytes of payload in packets of 1500, a delayed SACK for every second packet.
Agent/SCTP set mtu_ 1500
Agent/SCTP set dataChunkSize_ 1468
Agent/SCTP set initialCwnd_ 3
Agent/SCTP set useDelayedSacks_ 1

# ns-2 compares 16-bit stream sequence numbers without serial arithmetic: ordered delivery stops for good at the first
# wrap (65536 messages) that meets a reordering. Unordered, every run goes to its end.
Agent/SCTP set unordered_ 1

# The receive window, which is also the first slow start threshold.
proc window {bytes} {
    Agent/SCTP set initialRwnd_ $bytes
    Agent/SCTP set initialSsthresh_ $bytes
}

# A saturated association between two agents, from a random moment of the first `spread` seconds.
proc saturate {sender receiver spread} {
    global ns defaultRNG
    $ns connect $sender $receiver
    set source [new Application/FTP]
    $source attach-agent $sender
    $ns at [$defaultRNG uniform 0 $spread] "$source start"
}

# A saturated association between two hosts of one address each.
proc associate {from to spread} {
    global ns
    set sender [new Agent/SCTP]
    set receiver [new Agent/SCTP]
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    saturate $sender $receiver $spread
}

proc go {seconds} {
    global ns
    $ns at $seconds finish
    $ns run
}

proc finish {} {
    global counting monitors
    if {$counting} {
        set hops 0
        foreach monitor $monitors {
            incr hops [expr {int([$monitor set pdepartures_])}]
        }
        puts $hops
    }
    exit 0
}
