#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of rocetop are those of rocestat, for every capture: figures.py ROCETOP ROCESTAT CAPTURE...

Counters of each flow from --json; rates from the interval table of rocestat; and every number of the QPs screen."""
import json
import os
import re
import subprocess
import sys

SAME = ["src", "dst", "dest_qp", "src_qp", "transport", "packets", "bytes", "payload_bytes", "rnr_naks", "cnps", "ce",
        "path_mtu", "dscp", "pairing", "peer"]
TRACK = ["gap_events", "gap_psns", "retransmitted", "retransmitted_dup", "out_of_order"]


def run(*command):
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TZ": "UTC", "LC_ALL": "C"}
    done = subprocess.run([str(c) for c in command], env=env, capture_output=True, text=True, timeout=60)
    return done.stdout


class Check:
    def __init__(self):
        self.faults, self.count, self.where = [], 0, ""

    def same(self, what, got, want):
        self.count += 1
        if got != want:
            self.faults.append(f"{self.where}: {what} is {got}, not {want}")

    def near(self, what, got, want, part):
        self.count += 1
        if abs(got - want) > part * abs(want) + 1e-9:
            self.faults.append(f"{self.where}: {what} is {got}, not about {want}")


def check_flow(check, top, stat, seconds):
    for key in SAME:
        check.same(key, top[key], stat[key])
    if stat["requests"] > 0 and stat["gap_events"] is not None:
        for key in TRACK:
            check.same(key, top[key], stat[key])
    else:
        check.same("gap_psns", top["gap_psns"], None)
    check.same("naks", top["naks"], sum(stat["naks"].values()))
    loss = stat["loss"]
    check.same("lost", top["lost"], loss["upstream"] + loss["downstream"] + loss["unknown"] - stat["refused"])
    check.same("icrc_bad", top["icrc_bad"], stat["icrc"]["bad"])
    completed = [m["completed"] for m in stat["messages"].values()]
    check.same("messages", top["messages_completed"], None if None in completed else sum(completed))
    if top["latency_p99_us"] is not None:
        latency = stat["latency"]["message_us"]
        check.near("p50", top["latency_p50_us"], latency["p50"], 0.001)
        check.near("p99", top["latency_p99_us"], latency["p99"], 0.001)
    if seconds > 0:
        check.near("bps", top["bps"], 8 * stat["bytes"] / seconds, 1e-9)
        check.near("pps", top["packets_per_s"], stat["packets"] / seconds, 1e-9)


def check_json(check, rocetop, rocestat, capture):
    top = json.loads(run(rocetop, "--config=/dev/null", "--json", capture))
    stat = json.loads(run(rocestat, "--json", "--flows", "--hosts", "--pfc", capture))
    head = stat["capture"]
    for key in ("packets", "bytes", "roce_packets", "pfc_packets", "pause_packets", "malformed"):
        check.same(key, top["capture"][key], head[key])
    check.same("flows", len(top["qps"]), len(stat["flows"]))
    seconds = (head["last_ts_ns"] - head["first_ts_ns"]) / 1e9 if head["first_ts_ns"] is not None else 0
    by_id = {f["id"]: f for f in stat["flows"]}
    for flow in top["qps"]:
        check.where = f"{capture} flow {flow['id']}"
        check_flow(check, flow, by_id[flow["id"]], seconds)
    check.where = str(capture)
    hosts = {h["addr"]: h for h in top["hosts"]}
    check.same("hosts", len(hosts), len(stat["hosts"]))
    for host in stat["hosts"]:
        check.same("hw_counters", hosts[host["addr"]]["hw_counters"], host["hw_counters"])
    return stat, top["totals"]


def check_intervals(check, rocetop, rocestat, capture, totals):
    """Rates of each whole second, and their sum, as each frame was judged when it came."""
    lines = run(rocetop, "--config=/dev/null", "--ndjson", "-d", "1", capture).splitlines()
    screens = [json.loads(line) for line in lines]
    stat = json.loads(run(rocestat, "--json", "--interval=1s", "--findings", capture))
    by_start = {i["start_ns"]: i for i in stat["intervals"]}
    for key in ("packets", "bytes", "ce", "cnps", "gap_events"):
        check.same(f"sum of {key}", totals[key], sum(i[key] for i in stat["intervals"]))
    for screen in screens:
        if screen["capture"]["ended"] or screen["rates"] is None:
            continue
        end = screen["capture"]["now_ns"] // 10**9 * 10**9
        want = by_start.get(end - 10**9)
        for ours, theirs in (("packets", "packets"), ("bytes", "bytes"), ("gap_events", "gap_events"),
                             ("gap_psns", "gap_psns"), ("resent", "retransmitted"), ("ce", "ce"), ("cnps", "cnps"),
                             ("naks", "naks"), ("rnr_naks", "rnr_naks")):
            check.same(f"{ours} before {end}", screen["rates"][ours], want[theirs] if want else 0)


def short(n):
    """What a count looks like in four columns."""
    if n < 10000:
        return str(n)
    for prefix in "kMGT":
        n /= 1000
        if n < 999.5:
            return f"{n:.1f}{prefix}" if n < 9.95 else f"{n:.0f}{prefix}"
    return "?"


def check_screen(check, rocetop, stat, capture):
    """The text of the table has these counters in their columns."""
    text = run(rocetop, "--config=/dev/null", "--batch", "--screen=qps", "--size=240x400", "--sort=DQPN", capture)
    lines = text.splitlines()
    head = lines[3]
    ends = {title: head.index(f" {title}") + len(title) + 1 for title in
            ("GAP", "REX", "NAK", "RNR", "LOST", "ICRC", "PKTS", "BYTES")}
    flows = {}
    for flow in stat["flows"]:
        flows.setdefault((f"{flow['dest_qp']:06x}", flow["src"], flow["dst"]), []).append(flow)
    seen = 0
    for line in lines[4:]:
        match = re.match(r"..([0-9a-f]{6}) (\S+) +(\S+)", line)
        if not match:
            break
        found = flows.get(match.groups())
        if found is None or len(found) > 1:
            continue  # addresses that were cut, tunnels with the same key
        seen += 1
        flow = found[0]
        track = flow["requests"] > 0 and flow["gap_psns"] is not None
        for title, value in (("GAP", short(flow["gap_psns"]) if track else "-"),
                             ("REX", short(flow["retransmitted"]) if track else "-"),
                             ("NAK", short(sum(flow["naks"].values()))), ("RNR", short(flow["rnr_naks"])),
                             ("ICRC", short(flow["icrc"]["bad"]))):
            check.same(f"{title} of {match.group(1)}", line[:ends[title]].split()[-1], value)
        if flow["packets"] < 10000:
            check.same("PKTS", line[:ends["PKTS"]].split()[-1], str(flow["packets"]))
    return seen


def main():
    rocetop, rocestat, *captures = sys.argv[1:]
    check, rows = Check(), 0
    for capture in captures:
        check.where = capture
        stat, totals = check_json(check, rocetop, rocestat, capture)
        check_intervals(check, rocetop, rocestat, capture, totals)
        rows += check_screen(check, rocetop, stat, capture)
    print("\n".join(check.faults[:40]) or f"{len(captures)} captures, {rows} rows, {check.count} figures are the same")
    sys.exit(1 if check.faults or rows < len(captures) else 0)


main()
