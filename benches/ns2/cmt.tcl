# (b) One CMT association over two disjoint paths of 100 Mbit/s for 50 s.
source [file join [file dirname [info script]] common.tcl]

window 200000
Agent/SCTP/CMT set useCmtPF_ 0

# A host of ns-2 with several addresses is a core node and a node for each interface.
set sender [$ns node]
set receiver [$ns node]
foreach path {1 2} {
    foreach node {from left right to} {
        set $node [$ns node]
    }
    $ns multihome-add-interface $sender $from
    $ns multihome-add-interface $receiver $to
    link $from $left 1Gb 0ms 10000
    link $left $right 100Mb 1ms 100
    link $right $to 1Gb 0ms 10000
}

set source [new Agent/SCTP/CMT]
set sink [new Agent/SCTP/CMT]
$ns multihome-attach-agent $sender $source
$ns multihome-attach-agent $receiver $sink
saturate $source $sink 0.1
go 50
