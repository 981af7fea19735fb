# (a) One association over one path of 100 Mbit/s for 50 s: host, router, router, host.
source [file join [file dirname [info script]] common.tcl]

window 200000
foreach node {sender left right receiver} {
    set $node [$ns node]
}
link $sender $left 1Gb 0ms 10000
link $left $right 100Mb 1ms 100
link $right $receiver 1Gb 0ms 10000
associate $sender $receiver 0.1
go 50
