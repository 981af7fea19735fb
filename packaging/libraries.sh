#!/bin/sh
# Builds the libraries of `anabranch preload` and puts them into a folder, where the command finds them (Linux).
set -eu
[ "$(uname)" = Linux ] || exit 0
cargo build --release --quiet -p anabranch-preload -p anabranch-usrsctp
mkdir -p "$1/usrsctp"
cp target/release/libanabranch_preload.so "$1/"
cp target/release/libanabranch_usrsctp.so "$1/usrsctp/libusrsctp.so.2"
