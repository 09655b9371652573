#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each tool that is installed on each file, interleaved, and prints medians of CPU time: compare.py BIN_DIR WORK_DIR.
Debian's packages nfdump, argus-server and tcptrace bring the flow tools."""
import os
import re
import shutil
import statistics
import subprocess
import sys

ROUNDS = 3
SLOW_FRAMES = 200_000  # what tshark is given: it takes 20 us a packet


def cpu(command):
    with open(os.devnull, "wb") as null:
        before = os.times()
        subprocess.run(command, stdout=null, stderr=null, check=False)
        after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def frames_of(path):
    done = subprocess.run(["capinfos", "-T", "-r", "-M", "-c", path], capture_output=True, text=True)
    return int(done.stdout.split()[1])


def main(bin_dir, work):
    for name, what in (("A", "1 KB frames"), ("B", "small frames"), ("C", "4 KB frames"), ("D", "183,418 flows"),
                       ("E", "100,000 QPs, 1 % of the requests lost")):
        path = f"{work}/{name}.pcap"
        head = f"{work}/{name}-head.pcap"
        if not os.path.exists(path):
            continue
        if not os.path.exists(head):
            subprocess.run(["editcap", "-r", path, head, f"1-{SLOW_FRAMES}"], check=True)
        total = frames_of(path)
        tools = {
            "rocedump one line": ([f"{bin_dir}/rocedump", "--no-icrc", path], total),
            "rocedump one line, ICRC": ([f"{bin_dir}/rocedump", path], total),
            "rocestat": ([f"{bin_dir}/rocestat", path], total),
            "rocestat --no-icrc": ([f"{bin_dir}/rocestat", "--no-icrc", path], total),
            "tcpdump -nn": (["tcpdump", "-nn", "-r", path], total),
            "nfpcapd": (["nfpcapd", "-r", path, "-w", f"{work}/nfpcapd"], total),
            "argus": (["argus", "-r", path, "-w", f"{work}/argus.out"], total),
            "tcptrace -u": (["tcptrace", "-u", path], total),
            "tshark -q -z conv,udp": (["tshark", "-n", "-q", "-r", head, "-z", "conv,udp"], SLOW_FRAMES),
            "tshark -n": (["tshark", "-n", "-r", head], SLOW_FRAMES),
        }
        os.makedirs(f"{work}/nfpcapd", exist_ok=True)
        tools = {k: v for k, v in tools.items() if shutil.which(v[0][0])}
        times = {tool: [] for tool in tools}
        for _ in range(ROUNDS):
            for tool, (command, _) in tools.items():
                if tool == "argus" and os.path.exists(command[-1]):
                    os.remove(command[-1])  # it would append
                times[tool].append(cpu(command))
        print(f"\n{name}: {what}, {total} frames")
        subprocess.run([f"{bin_dir}/bench_decode", path, "3"], check=True)
        told = subprocess.run([f"{bin_dir}/rocestat", "-v", "--no-icrc", path], capture_output=True, text=True, check=True)
        print(re.search(r"flows \d+|$", told.stderr)[0] + ":", re.search(r"\d+ bytes of state.*?a flow|$", told.stderr)[0])
        tshark = statistics.median(times["tshark -n"]) / SLOW_FRAMES if "tshark -n" in times else None
        for tool, (_, count) in tools.items():
            each = statistics.median(times[tool]) / count
            ratio = f"{tshark / each:8.1f} x tshark" if tshark else ""
            print(f"{tool:26} {1e-6 / each:8.3f} M packets/s {each * 1e9:9.1f} ns/packet {ratio}")


main(*sys.argv[1:])
