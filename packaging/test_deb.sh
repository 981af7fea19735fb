#!/bin/sh
# Installs a package, checks what it installs, and removes it: packaging/test_deb.sh PACKAGE. Needs root; changes the system meanwhile.
set -eu

package=${1:?usage: test_deb.sh PACKAGE}
examples=/usr/share/doc/anabranch/examples
unit=/usr/lib/systemd/system/anabranch-tunnel@.service
scratch=$(mktemp -d)
has() {
    command -v "$1" >/dev/null && return
    echo "$1: left out, the program is missing" >&2
    [ -z "${ANABRANCH_REQUIRE_TOOLS:-}" ] || exit 1
    return 1
}
trap 'rm -rf "$scratch"; dpkg --purge anabranch >/dev/null 2>&1 || true' EXIT

# Images for containers leave manual pages and examples out.
dpkg --path-include='/usr/share/*' -i "$package" >/dev/null
anabranch --version

# The examples are right once they name keys.
peer=$(anabranch key "$scratch/peer.key" 2>/dev/null)
anabranch key "$scratch/own.key" >/dev/null 2>&1
for end in server client; do
    sed -e "s|/etc/anabranch/ana0.key|$scratch/own.key|" -e "s|PUBLIC KEY OF THE [A-Z]*|$peer|" $examples/$end.toml >"$scratch/$end.toml"
    anabranch tunnel "$scratch/$end.toml" --check
    if anabranch tunnel $examples/$end.toml --check 2>/dev/null; then
        echo "$end.toml: an example without keys must not pass" >&2
        exit 1
    fi
done

anabranch preload -- true
anabranch preload --usrsctp -- true
if has man; then
    man -w anabranch anabranch-tunnel
fi
if has systemd-analyze; then
    systemd-analyze verify "$unit"
    systemd-analyze security --offline=yes --threshold=30 "$unit" | tail -n 1
fi

dpkg --purge anabranch >/dev/null
[ ! -e /usr/bin/anabranch ] || { echo "the package leaves /usr/bin/anabranch" >&2; exit 1; }
echo "$package: fine"
