# (d) Two associations with windows of 10 MB over 800 Mbit/s with a round trip of 100 ms and a queue of 3000 packets.
# ns-2 walks lists as long as the window on each SACK, so that ten simulated seconds have to do.
source [file join [file dirname [info script]] common.tcl]

window 10000000
set left [$ns node]
set right [$ns node]
link $left $right 800Mb 50ms 3000
for {set i 0} {$i < 2} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    link $sender $left 10Gb 0ms 10000
    link $right $receiver 10Gb 0ms 10000
    associate $sender $receiver 0.1
}
go 10
