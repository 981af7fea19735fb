#!/bin/sh
# Builds dumbbell.cc against Debian's libns3-dev into FOLDER; exits with 3 if that is not installed.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?folder for the program}
test -e /usr/include/ns3/core-module.h && command -v g++ > /dev/null || exit 3
mkdir -p "$folder"
if [ ! "$folder/dumbbell" -nt "$here/dumbbell.cc" ]; then
    libraries=
    for module in core network internet applications point-to-point traffic-control; do
        libraries="$libraries -lns3-$module"
    done
    g++ -O3 -DNDEBUG -o "$folder/dumbbell" "$here/dumbbell.cc" $libraries
fi
