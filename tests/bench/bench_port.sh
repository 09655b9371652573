#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Packets a second over a veth pair, and per CPU second of the sender: rocereplay gen, by AF_XDP and by the packet ring,
# beside tcpreplay --topspeed --preload-pcap with the same frames to the same receiver, interleaved, as medians. Needs
# root and tcpreplay: tests/bench/bench_port.sh BIN_DIR [ROUNDS]
set -eu
bin=$(cd "${1:?usage: tests/bench/bench_port.sh BIN_DIR [ROUNDS]}" && pwd)
rounds=${2:-5}
work=$(mktemp -d)
a=bench-a-$$ b=bench-b-$$ serve=
finish() {
    [ -z "$serve" ] || kill "$serve" 2>/dev/null || true
    ip netns del "$a" 2>/dev/null || true
    ip netns del "$b" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

ip netns add "$a"
ip netns add "$b"
ip link add v0 netns "$a" type veth peer name v0 netns "$b"
for ns in "$a:10.99.1.1" "$b:10.99.1.2"; do
    ip -n "${ns%%:*}" link set v0 mtu 4200 up
    ip -n "${ns%%:*}" addr add "${ns#*:}/24" dev v0
done
ip netns exec "$b" "$bin/rocereplay" serve -q -i v0 2>/dev/null &
serve=$!

python3 - "$bin" "$work" "$a" "$rounds" <<'END'
import json, re, resource, statistics, subprocess, sys, time

bin_dir, work, namespace, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
inside = ["ip", "netns", "exec", namespace]


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gen(size, count, tx):
    command = [*inside, f"{bin_dir}/rocereplay", "gen", "-i", "v0", "--connect", "rocereplay:10.99.1.2", "--json", "--op",
               "write" if size > 64 else "send", "--size", str(size), "-n", str(count), "--tx", tx, "--truth",
               f"{work}/truth.json"]
    before = cpu()
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    used = cpu() - before
    packets = json.load(open(f"{work}/truth.json"))["device"]["tx_packets"]
    return packets / result["sent"]["seconds"], packets / used


def tcpreplay(name, loops):
    before = cpu()
    text = subprocess.run([*inside, "tcpreplay", "-q", "--topspeed", "--preload-pcap", f"--loop={loops}", "-i", "v0",
                           f"{work}/{name}.pcap"], check=True, capture_output=True, text=True).stdout
    used = cpu() - before
    packets, seconds = re.search(r"Actual: (\d+) packets .* in ([\d.]+) seconds", text).groups()
    return int(packets) / float(seconds), int(packets) / used


for _ in range(100): # until serve is there
    done = subprocess.run([*inside, f"{bin_dir}/rocereplay", "gen", "-i", "v0", "--connect", "rocereplay:10.99.1.2", "-n",
                           "1"], capture_output=True)
    if done.returncode == 0:
        break
    time.sleep(0.05)
for name, op, size, count in (("large", "write", 1 << 20, 20), ("small", "send", 64, 20000)):
    subprocess.run([*inside, f"{bin_dir}/rocereplay", "gen", "-i", "v0", "--connect", "rocereplay:10.99.1.2", "--op", op,
                    "--size", str(size), "-n", str(count), "-w", f"{work}/{name}.pcap"], check=True, capture_output=True)
for title, ways in (
        ("1 MiB WRITEs at path MTU 1024 (1082-byte frames)",
         {"gen, AF_XDP": lambda: gen(1 << 20, 400, "auto"), "gen, packet ring": lambda: gen(1 << 20, 400, "ring"),
          "tcpreplay": lambda: tcpreplay("large", 20)}),
        ("64-byte SENDs (122-byte frames)",
         {"gen, AF_XDP": lambda: gen(64, 400000, "auto"), "gen, packet ring": lambda: gen(64, 400000, "ring"),
          "tcpreplay": lambda: tcpreplay("small", 10)})):
    print(title)
    found = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            found[way].append(run())
    for way, figures in found.items():
        rate, per_cpu = (statistics.median(column) for column in zip(*figures))
        print(f"  {way:18} {rate / 1e6:6.3f} M packets/s {per_cpu / 1e6:6.3f} M per CPU second")
END
