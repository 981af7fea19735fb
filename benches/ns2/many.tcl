# (c) 100 associations over a dumbbell with a bottleneck of 1 Gbit/s and 10 ms for 20 s.
source [file join [file dirname [info script]] common.tcl]

window 1000000
set left [$ns node]
set right [$ns node]
link $left $right 1Gb 10ms 1000
for {set i 0} {$i < 100} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    link $sender $left 10Gb 0ms 10000
    link $right $receiver 10Gb 0ms 10000
    associate $sender $receiver 1.0
}
go 20
