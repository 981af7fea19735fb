#!/bin/sh
# Installs the C library from a build folder: crates/capi/install.sh BUILD PREFIX [DESTDIR]
set -eu

build=${1:?usage: install.sh BUILD PREFIX [DESTDIR]}
prefix=${2:?usage: install.sh BUILD PREFIX [DESTDIR]}
here=$(dirname "$0")
root=${3:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../../Cargo.toml" | head -n 1)
abi=$(sed -n 's/^#define ANB_ABI \([0-9]*\)u$/\1/p' "$here/include/anabranch/anabranch.h")

install -d "$root/lib/pkgconfig" "$root/include/anabranch"
install -m 755 "$build/libanabranch_capi.so" "$root/lib/libanabranch.so.$version"
ln -sf "libanabranch.so.$version" "$root/lib/libanabranch.so.$abi"
ln -sf "libanabranch.so.$abi" "$root/lib/libanabranch.so"
install -m 644 "$build/libanabranch_capi.a" "$root/lib/libanabranch.a"
install -m 644 "$here"/include/anabranch/*.h "$root/include/anabranch/"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/anabranch.pc.in" >"$root/lib/pkgconfig/anabranch.pc"
