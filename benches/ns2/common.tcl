# What the cases share. A case builds its network with these procedures and ends with "go SECONDS".
#
# Arguments of every case: SEED and 0 or 1. With 1, every link has a queue monitor and the number of packet-hops (a
# packet that has crossed a link) is printed, and after it, if senders are of TCP, their goodput in Mbit/s and the share of
# packets that the middle link dropped; with 0 nothing is counted, so that the time is that of the bare run.

remove-all-packet-headers
add-packet-header IP Flags SCTP TCP

lassign $argv seed counting
set ns [new Simulator]
$defaultRNG seed $seed
set monitors {}
set tcp {}

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

# A dumbbell of saturated TCP flows with SACK: 1460 bytes of payload in packets of 1500, every one acknowledged, a window
# of 1 MB, and the middle link's queue of `limit` packets. The middle link has the first monitor.
proc rivals {flows rate limit} {
    global ns tcp
    Agent/TCP set packetSize_ 1460
    Agent/TCP set window_ 685
    set left [$ns node]
    set right [$ns node]
    link $left $right $rate 10ms $limit
    for {set i 0} {$i < $flows} {incr i} {
        set from [$ns node]
        set to [$ns node]
        link $from $left 10Gb 0ms 10000
        link $right $to 10Gb 0ms 10000
        set sender [new Agent/TCP/Sack1]
        set receiver [new Agent/TCPSink/Sack1]
        $ns attach-agent $from $sender
        $ns attach-agent $to $receiver
        saturate $sender $receiver 1.0
        lappend tcp $sender
    }
}

proc go {seconds} {
    global ns
    $ns at $seconds finish
    $ns run
}

proc finish {} {
    global ns counting monitors tcp
    if {$counting} {
        set results 0
        foreach monitor $monitors {
            incr results [expr {int([$monitor set pdepartures_])}]
        }
        if {$tcp ne {}} {
            set segments 0
            foreach sender $tcp {
                incr segments [$sender set ack_]
            }
            set middle [lindex $monitors 0]
            lappend results [expr {$segments * 1460 * 8e-6 / [$ns now]}]
            lappend results [expr {double([$middle set pdrops_]) / [$middle set parrivals_]}]
        }
        puts $results
    }
    exit 0
}
