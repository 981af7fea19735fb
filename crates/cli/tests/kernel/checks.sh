# Runs each check of the programs in /out/checks with the SCTP of the kernel, in a network namespace of its own. Prints the
# names of those that fail, with what they tell, and at last their number.
sysctl -qw net.core.rmem_max=8000000 net.core.wmem_max=8000000
sysctl -qw net.sctp.sctp_wmem="4096 4000000 8000000"
cat > /run/check << 'X'
ip link set lo up
for option in auth_enable addip_enable reconf_enable intl_enable ecn_enable pf_enable; do sysctl -qw net.sctp.$option=1; done
# The peers of some checks are in UDP.
sysctl -qw net.sctp.udp_port=9899
exec timeout 30 "$@" 2>&1
X
failed=0
for program in /out/checks/*; do
    for check in $($program); do
        told=$(unshare --net bash /run/check $program $check) || { failed=$((failed + 1)); echo "${program##*/} $check: $told"; }
    done
done
echo "$failed failed"
