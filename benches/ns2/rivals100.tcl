# (f) 100 TCP flows over a dumbbell with a bottleneck of 1 Gbit/s and 10 ms for 20 s.
source [file join [file dirname [info script]] common.tcl]

rivals 100 1Gb 1000
go 20
