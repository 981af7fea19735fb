# (e) 10 TCP flows over a dumbbell with a bottleneck of 100 Mbit/s and 10 ms for 100 s.
source [file join [file dirname [info script]] common.tcl]

rivals 10 100Mb 100
go 100
