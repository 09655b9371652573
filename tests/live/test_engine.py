#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocestat, rocetop and rocedump on a mirror port of two rocereplay ends, against what these know of themselves.

A bridge that learns nothing is a hub: its third port shows both directions, as a mirror port does. Frames under way are
kept so few that an end which comes late to its own receive ring finds all of them there, and ACK timeouts so long that
it is not taken for dead: either would be a loss or a resend that nobody injected."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

import net

GEN, SERVE, MIRROR = "10.99.1.1", "10.99.1.2", "m1"
# The transport alone: no ARP, and nothing of the TCP connection on which the two ends meet.
ROCE = ("udp", "dst", "port", "4791")
FEW = ("--max-flows", 1000)  # room for a million takes a sanitizer seconds to lay out
THERE = None  # the namespace of serve


def setUpModule():
    global THERE
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    net.libc("unshare", net.CLONE_NEWNET)
    THERE = os.open("/proc/self/ns/net", os.O_RDONLY)
    net.libc("setns", here, net.CLONE_NEWNET)
    try:
        net.ip("link", "add", "hub", "type", "bridge", "ageing_time", "0", "mcast_snooping", "0", "forward_delay", "0")
    except subprocess.CalledProcessError:
        raise unittest.SkipTest("no bridge can be made") from None
    there = f"/proc/{os.getpid()}/fd/{THERE}"
    net.ip("link", "add", "v0", "mtu", "4200", "type", "veth", "peer", "name", "p0", "mtu", "4200")
    net.ip("link", "add", "v1", "mtu", "4200", "netns", there, "type", "veth", "peer", "name", "p1", "mtu", "4200")
    net.ip("link", "add", "m0", "mtu", "4200", "type", "veth", "peer", "name", MIRROR, "mtu", "4200")
    for port in ("p0", "p1", "m0"):
        net.ip("link", "set", port, "master", "hub", "up")
        net.ip("link", "set", port, "type", "bridge_slave", "learning", "off")
    net.ip("link", "set", MIRROR, "up", "arp", "off")
    net.ip("link", "set", "hub", "mtu", "4200", "up")
    for address, link, inside in ((GEN, "v0", []), (SERVE, "v1", ["nsenter", f"--net={there}"])):
        for args in (["link", "set", "lo", "up"], ["link", "set", link, "up"],
                     ["addr", "add", f"{address}/24", "dev", link]):
            subprocess.run([*inside, "ip", *args], check=True)


def by_flow(keyed):
    """{(source, QP towards which): what is wanted of it}"""
    return {(flow["src"], flow["dest_qp"]): flow for flow in keyed}


class Ends:
    """What the two ends know: the flows that they sent, after the faults."""

    def __init__(self, here, there):
        self.flows = {}
        self.truth = {GEN: here, SERVE: there}
        for address, truth in self.truth.items():
            for qp in truth["qps"]:
                faults = [f for f in truth["faults"] if f["direction"] == "tx" and f["qpn"] == qp["remote_qpn"]]
                self.flows[address, qp["remote_qpn"]] = self.flow(qp, faults)

    @staticmethod
    def flow(qp, faults):
        """Faults of one frame have one time; a frame that is lost is neither marked nor twice."""
        at = collections.defaultdict(set)
        for fault in faults:
            at[fault["time_ns"], fault["psn"], fault["opcode"]].add(fault["type"])
        lost = [(psn, opcode) for (_, psn, opcode), what in at.items() if "drop" in what]
        sent = {key: what for key, what in at.items() if "drop" not in what}
        twice = [opcode for (_, _, opcode), what in sent.items() if "dup" in what]
        cnps = sum("cnp" in what for what in at.values())  # behind the frame, even if that is lost
        return {"packets": qp["tx_packets"] - len(lost) + len(twice) + cnps,
                "ce": sum(2 if "dup" in what else 1 for what in sent.values() if "ce" in what),
                "cnps": qp["cnp_sent"] + cnps + twice.count("cnp") - [opcode for _, opcode in lost].count("cnp"),
                "dup": len(twice), "resent": qp["retransmitted"], "naks": qp["naks_sent"], "rnr_naks": qp["rnr_sent"],
                "first": qp["starting_psn"], "lost": [psn for psn, _ in lost]}

    @property
    def frames(self):
        return sum(flow["packets"] for flow in self.flows.values())


class Engine(net.Case):
    def start_serve(self, *args):
        self.theirs, self.ours = net.WORK / f"{self.id()}.serve.json", net.WORK / f"{self.id()}.gen.json"
        serve = subprocess.Popen([net.BIN / "rocereplay", "serve", "-i", "v1", "--once", "--truth", self.theirs,
                                  *map(str, args)],
                                 stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                 preexec_fn=lambda: net.libc("setns", THERE, net.CLONE_NEWNET))
        self.addCleanup(serve.stderr.close)
        self.addCleanup(serve.kill)
        self.assertIn("waiting for rocereplay gen", serve.stderr.readline())
        return serve

    def start_gen(self, *args):
        gen = subprocess.Popen([net.BIN / "rocereplay", "gen", "-i", "v0", "--json", "--connect", f"rocereplay:{SERVE}",
                                "--truth", self.ours, *map(str, args)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(gen.kill)
        return gen

    def ends(self, gen, serve):
        self.result = json.loads(gen.communicate(timeout=net.PATIENCE)[0])
        self.assertEqual((gen.returncode, self.result["status"]), (0, "success"))
        self.assertEqual(serve.wait(timeout=net.PATIENCE), 0)
        ours, theirs = json.loads(self.ours.read_text()), json.loads(self.theirs.read_text())
        for truth in (ours, theirs):
            self.assertEqual((truth["faults_not_listed"], truth["qps_not_listed"]), (0, 0))
            self.assertEqual(truth["device"]["ring_dropped"], 0)
        return Ends(ours, theirs)

    def watch(self):
        common = ("-i", MIRROR, *ROCE)
        return {"rocestat": self.start("rocestat", "--json", *FEW, *common),
                "rocetop": self.start("rocetop", "--config=/dev/null", "--json", *FEW, *common),
                "rocedump": self.start("rocedump", "--ndjson", "-a", *common, out=net.WORK / "lines.json")}

    def run_all(self, *args, serve=()):
        """(what the ends know, the three programs' accounts) of one run of gen."""
        watchers = self.watch()
        server = self.start_serve(*serve)
        ends = self.ends(self.start_gen(*args), server)
        for program in watchers.values():
            net.until(lambda: program.counted() >= ends.frames, "all frames")
        said = {name: program.end() for name, program in watchers.items()}
        return ends, {"rocestat": json.loads(said["rocestat"]), "rocetop": json.loads(said["rocetop"]),
                      "rocedump": [json.loads(line) for line in (net.WORK / "lines.json").open()]}

    def check(self, ends, seen):
        """Each program: every frame of each flow, and what is in them."""
        stat, top, dump = seen["rocestat"], seen["rocetop"], seen["rocedump"]
        self.assertEqual([stat["capture"]["packets"], top["capture"]["packets"], len(dump)], [ends.frames] * 3)
        self.assertEqual([stat["capture"]["dropped"], top["capture"]["dropped_kernel"]], [0, 0])
        lines = collections.defaultdict(list)
        for record in dump:
            lines[record["src"], record["dest_qp"]].append(record)
        for seen_by in (by_flow(stat["flows"]), by_flow(top["qps"]), lines):
            self.assertEqual(set(seen_by), set(ends.flows))
        for key, truth in ends.flows.items():
            with self.subTest(flow=key):
                flow, qp, records = by_flow(stat["flows"])[key], by_flow(top["qps"])[key], lines[key]
                told = {name: truth[name] for name in ("packets", "ce", "cnps")}
                self.assertEqual({name: flow[name] for name in told}, told)
                self.assertEqual({name: qp[name] for name in told}, told)
                self.assertEqual(len(records), truth["packets"])
                self.assertEqual({r["icrc"]["status"] for r in records}, {"ok"})

    def test_losses_are_where_they_were_made(self):
        """A gap of one, of two, the first packet of a message, and a loss at each of two QPs of three; nothing at the
        third."""
        ends, seen = self.run_all("--op", "write", "--size", 8192, "-n", 200, "--qp", 3, "--seed", 11, "--timeout", 20,
                                  "--tx-depth", 16, "--drop", "#1:+9,#1:+300,#1:+301,#1:+800,#2:+77,#2:+500:1")
        self.check(ends, seen)
        wanted = {0: ([9, 300, 301, 800], 3), 1: ([77, 500], 2), 2: ([], 0)}
        for i, (offsets, gaps) in wanted.items():
            key = (GEN, ends.truth[GEN]["qps"][i]["remote_qpn"])
            flow, qp = by_flow(seen["rocestat"]["flows"])[key], by_flow(seen["rocetop"]["qps"])[key]
            truth = ends.flows[key]
            self.assertEqual([(psn - truth["first"]) % 2**24 for psn in truth["lost"]], offsets)
            for told in (flow, qp):
                self.assertEqual((told["gap_events"], told["gap_psns"], told["retransmitted"], told["out_of_order"]),
                                 (gaps, len(offsets), truth["resent"], 0))
                self.assertEqual(told["retransmitted_dup"], truth["resent"] - len(offsets))
            back = (SERVE, ends.truth[GEN]["qps"][i]["qpn"])
            self.assertEqual((sum(by_flow(seen["rocestat"]["flows"])[back]["naks"].values()),
                              by_flow(seen["rocetop"]["qps"])[back]["naks"]), (gaps, gaps))
            self.assertEqual(ends.flows[back]["naks"], gaps)
            self.assertEqual((flow["loss"]["capture"], flow["first_psn"]), (0, truth["first"]))
            self.assertEqual(sum(flow["loss"].values()), len(offsets))
        gaps = collections.Counter()
        for event in seen["rocetop"]["events"]:
            if event["type"] == "gap":  # repeats are folded
                gaps.update({event["dest_qp"]: event["repeats"]})
        qpns = [qp["remote_qpn"] for qp in ends.truth[GEN]["qps"]]
        self.assertEqual(gaps, {qpns[i]: gaps for i, (_, gaps) in wanted.items() if gaps > 0})

    def test_random_faults_of_both_ends(self):
        """Everything at once, both ways; marks are answered by the notification points of the two."""
        faults = ("--drop", "1%", "--dup", "1%", "--reorder", "1%", "--tclass", 2, "--timeout", 13)
        ends, seen = self.run_all("--op", "read", "--size", 8192, "-n", 200, "--qp", 4, "--seed", 12, "--cnp", "2%",
                                  "--tx-depth", 16, *faults, serve=("--seed", 13, "--ce", "3%", *faults))
        self.check(ends, seen)
        for name in ("ce", "cnps", "dup"):
            self.assertGreater(sum(flow[name] for flow in ends.flows.values()), 20)
        self.assertGreater(sum(qp["cnp_sent"] for qp in ends.truth[GEN]["qps"]), 0)

    def test_drops_of_the_ring_are_no_loss(self):
        """Traffic without a loss into rings of 64 KiB, and the programs stand still for a part of it."""
        small = ("-i", MIRROR, "-B", 64, *FEW, *ROCE)
        stat = self.start("rocestat", "--json", *small)
        top = self.start("rocetop", "--config=/dev/null", "--json", *small)
        for program in (stat, top):
            program.counted()  # it answers: it is at its ring
        serve = self.start_serve()
        gen = self.start_gen("--op", "write", "--size", 256, "-n", 10000, "--qp", 4, "--seed", 14,
                             "--rate-limit", "60M", "--timeout", 22)
        for program in (stat, top):
            net.until(lambda: program.counted() > 0, "frames of the beginning")
            program.process.send_signal(signal.SIGSTOP)
        sent = self.passed()
        net.until(lambda: self.passed() > sent + 15000, "frames of the middle")
        for program in (stat, top):
            program.process.send_signal(signal.SIGCONT)
        ends = self.ends(gen, serve)
        for program in (stat, top):
            net.until(lambda: program.counted() > 0, "an answer")
        stat, top = json.loads(stat.end()), json.loads(top.end())
        dropped = stat["capture"]["dropped"], top["capture"]["dropped_kernel"]
        self.assertEqual(sum(flow["resent"] + len(flow["lost"]) for flow in ends.flows.values()), 0)
        self.assertEqual([stat["capture"]["packets"] + dropped[0], top["capture"]["packets"] + dropped[1]],
                         [ends.frames] * 2)
        self.assertGreater(min(dropped), 10000)
        kinds = {f["kind"] for f in stat["findings"]}
        self.assertIn("loss.capture", kinds)
        self.assertFalse({k for k in kinds if k.startswith(("loss.network", "retransmit", "nak"))}, kinds)
        for flow in stat["flows"]:
            self.assertEqual((flow["loss"]["upstream"], flow["loss"]["downstream"]), (0, 0))
        gaps = [e for e in top["events"] if e["type"] in ("gap", "loss")]
        self.assertTrue(gaps)
        self.assertTrue(all(e["unsure"] and "unsure" in e["text"] for e in gaps))
        self.assertEqual(sum(e["count"] for e in top["events"] if e["type"] == "capture"), dropped[1])

    @staticmethod
    def passed():
        """Frames that have come to the mirror port."""
        text = pathlib.Path("/proc/self/net/dev").read_text()
        return int(re.search(rf"{MIRROR}:\s*\d+\s+(\d+)", text)[1])


if __name__ == "__main__":
    net.main()
