#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# rocereplay play --raw against tcpreplay over one veth pair: top speed, interleaved, and lateness at 100 k frames/s:
# tests/bench/bench_replay.sh BIN_DIR [WORK_DIR]. Needs root and the packages tcpreplay and iproute2.
set -eu
bin=${1:?usage: tests/bench/bench_replay.sh BIN_DIR [WORK_DIR]}
work=${2:-/tmp/rocekit-bench-replay}
command -v tcpreplay >/dev/null || { echo "bench_replay.sh: install tcpreplay" >&2; exit 2; }
mkdir -p "$work"
a=rrb$$a b=rrb$$b
trap 'ip netns delete $a 2>/dev/null; ip netns delete $b 2>/dev/null' EXIT
ip netns add $a && ip netns add $b
ip -n $a link add v0 mtu 9000 type veth peer name v1 netns $b mtu 9000
ip -n $a link set v0 up && ip -n $b link set v1 up

for size in 64 1024 4096; do
    file=$work/$size.pcap
    [ -f "$file" ] || "$bin/rocereplay" gen -q --op write --size $size --mtu 4096 -n 20000 --seed 1 -w "$file" >/dev/null
    for round in 1 2 3; do
        for tx in auto ring; do
            ip netns exec $a "$bin/rocereplay" play --raw --json -i v0 -t -K -l 10 --tx $tx "$file" |
                sed "s/.*\"frames_per_second\":\([0-9]*\).*/$size bytes, round $round, rocereplay --tx $tx: \1 frames\/s/"
        done
        ip netns exec $a tcpreplay -q -i v0 --topspeed --preload-pcap -l 10 "$file" 2>&1 |
            sed -n "s/.* \([0-9.]*\) pps.*/$size bytes, round $round, tcpreplay: \1 frames\/s/p"
    done
done
for round in 1 2 3; do
    ip netns exec $a "$bin/rocereplay" play --raw -i v0 -p 100000 -K -l 5 "$work/64.pcap" |
        sed -n "s/^lateness/100 k frames\/s, round $round: lateness/p"
done
