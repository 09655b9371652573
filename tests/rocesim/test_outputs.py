#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a run: captures that every tool takes, truth that fits them, the same bytes for the same seed."""
import collections
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import sim
from sim import findings, flow, frames, port, rocestat, rows, run, summary, truth

# Findings of rocestat: (those that the scenario is made for, those that may come with them).
SCENARIOS = {
    "pair": (set(), set()),
    "incast": (set(), set()),
    "late-joiner": (set(), set()),
    "parking-lot": (set(), set()),
    "hol-victim": (set(), set()),
    "pfc-storm": ({"pfc.storm"}, set()),
    # All routes go round the same way: what comes back from a host never passes the link that leads to it.
    "ring-deadlock": ({"pfc.storm", "mirror.one_direction"}, set()),
    "lossy-gbn": ({"loss.network"}, set()),
    "gb0-livelock": ({"loss.network", "retransmit.go_back_zero"}, set()),
}


def made(name, *args):
    directory = sim.WORK / name.replace(" ", "_")
    shutil.rmtree(directory, ignore_errors=True)
    run(*name.split()[:1], "-q", "-o", directory, *args)
    return directory


class Captures(unittest.TestCase):
    def check_bytes(self, path):
        before = 0
        for time, frame in frames(path):
            self.assertGreaterEqual(time, before)
            before = time
            if sim.is_ipv4(frame):
                self.assertTrue(sim.icrc_is_right(frame))
                self.assertTrue(sim.checksum_is_right(frame))

    def test_every_capture_is_clean(self):
        tshark = shutil.which("tshark")
        for name, (wanted, allowed) in SCENARIOS.items():
            directory = made(name)
            paths = sorted(directory.glob("*.pcapng"))
            self.assertGreater(len(paths), 0)
            for path in paths:
                with self.subTest(capture=str(path)):
                    self.check_bytes(path)
                    icrc = rocestat(path)["icrc"]
                    self.assertGreater(icrc["ok"], 0)
                    self.assertEqual((icrc["bad"], icrc["unchecked"]), (0, 0))
                    found = findings(path)
                    self.assertLessEqual(wanted, found)
                    self.assertLessEqual(found, wanted | allowed)
                    if tshark:
                        bad = subprocess.run([tshark, "-n", "-o", "ip.check_checksum:TRUE", "-r", path, "-Y",
                                              "_ws.malformed or ip.checksum.status==0 or _ws.expert.severity>=0x600000"],
                                             check=True, capture_output=True)
                        self.assertEqual(bad.stdout, b"")

    def test_tap_window_and_snaplen(self):
        text = (sim.WORK / "tap.scenario")
        text.write_text("duration 200us\nhost a b\nlink a b\nflow f from=a to=b\n"
                        "tap a from=50us until=100us snaplen=64\n")
        directory = sim.WORK / "tap"
        run(text, "-q", "-o", directory)
        seen = list(frames(directory / "a_b.pcapng"))
        self.assertGreater(len(seen), 100)
        self.assertTrue(all(50_000 <= time < 100_000 and len(frame) <= 64 for time, frame in seen))

    def test_corrupted_frames_fail_their_icrc(self):
        text = (sim.WORK / "corrupt.scenario")
        text.write_text("duration 1ms\nhost a b\nlink a b corrupt=1% faults=forward\n"
                        "flow f from=a to=b size=64K timeout=7\ntap b\n")
        directory = sim.WORK / "corrupt"
        run(text, "-q", "-o", directory)
        wrong = sum(not sim.icrc_is_right(frame) for _, frame in frames(directory / "b_a.pcapng"))
        dropped = sum(e["type"] == "host_drop" and e["reason"] == 2 for e in truth(directory))
        self.assertGreater(wrong, 10)
        self.assertEqual(wrong, dropped)
        self.assertEqual(rocestat(directory / "b_a.pcapng")["icrc"]["bad"], wrong)


class Truth(unittest.TestCase):
    """What the truth tells is what the capture shows."""

    def test_losses(self):
        text = (sim.WORK / "losses.scenario")
        text.write_text("duration 5ms\nhost a b\nlink a b loss=1/500 faults=forward\n"
                        "flow f from=a to=b size=64K count=200 timeout=8 window=256 ack_every=16\ntap a b\n")
        directory = sim.WORK / "losses"
        run(text, "-q", "-o", directory)
        events = truth(directory)
        lost = sum(e["type"] == "drop" for e in events)
        self.assertGreater(lost, 10)
        sent = sum(1 for _, f in frames(directory / "a_b.pcapng") if f[6:12] == b"\x02\0\0\0\0\0")
        got = sum(1 for _, f in frames(directory / "b_a.pcapng") if f[6:12] == b"\x02\0\0\0\0\0")
        self.assertEqual(sent - got, lost)
        naks = sum(e["type"] == "nak_sent" for e in events)
        seen = [f for f in rocestat(directory / "b_a.pcapng")["flows"] if f["naks"]["psn_sequence_error"]]
        self.assertEqual([f["naks"]["psn_sequence_error"] for f in seen], [naks])

    def test_marks_and_cnps(self):
        text = (sim.WORK / "marks.scenario")
        text.write_text("duration 20ms\ndefault flow dcqcn=paper size=100K count=20\nhost a b c\n"
                        "switch s kmin=5K kmax=200K pmax=1%\nlink a s\nlink b s\nlink c s\n"
                        "flow f1 from=a to=c\nflow f2 from=b to=c\ntap s:c\n")
        directory = sim.WORK / "marks"
        run(text, "-q", "-o", directory)
        events = collections.Counter(e["type"] for e in truth(directory))
        result = rocestat(directory / "s_c.pcapng")
        self.assertGreater(events["mark"], 100)
        self.assertEqual(sum(f["ce"] for f in result["flows"]), events["mark"])
        self.assertEqual(events["ce"], events["mark"])
        self.assertGreater(events["cnp_sent"], 2)
        self.assertEqual(sum(f["cnps"] for f in result["flows"]), events["cnp_sent"])
        self.assertEqual(events["cnp_received"], events["cnp_sent"])
        self.assertEqual(events["message"], 40)

    def test_pauses(self):
        directory = made("ring-deadlock")
        events = truth(directory)
        xoff = [e for e in events if e["type"] == "xoff_sent" and e["port"] == "s2:s1"]
        seen = [f for _, f in frames(directory / "s1_s2.pcapng")
                if f[12:14] == b"\x88\x08" and f[6:8] == b"\x02\x01" and f[9] == 5]  # s2 is node 5
        self.assertGreaterEqual(len(seen), len(xoff))
        self.assertTrue(all(f[16:18] == b"\0\x08" for f in seen))
        names = {e["from_qpn"]: e["flow"] for e in events if e["type"] == "qp"}
        self.assertEqual(sorted(names.values()), ["f1", "f2", "f3", "f4"])


class Files(unittest.TestCase):
    def test_same_seed_same_bytes(self):
        for name in ("incast", "lossy-gbn"):
            args = ["--svg"] if name == "lossy-gbn" else ["--svg", "--duration", "105ms"]
            first = made(name, *args)
            kept = {p.name: p.read_bytes() for p in sorted(first.iterdir())}
            second = made(name, *args)
            self.assertEqual({p.name: p.read_bytes() for p in sorted(second.iterdir())}, kept)
            self.assertEqual({"flows.csv", "queues.csv", "plot.svg", "summary.json", "summary.txt", "truth.ndjson"}
                             - set(kept), set())
            other = made(name, *args, "--seed", "2")
            self.assertNotEqual((other / "truth.ndjson").read_bytes(), kept["truth.ndjson"])

    def test_series_fit_the_summary(self):
        directory = made("hol-victim")
        result = summary("hol-victim")
        flows, queues = rows(directory / "flows.csv"), rows(directory / "queues.csv")
        rates = [float(r["delivered_bps"]) for r in flows if r["flow"] == "innocent"]
        self.assertEqual(len(rates), 1000)
        self.assertAlmostEqual(sum(rates) / len(rates) / flow(result, "innocent")["delivered_bps"], 1, places=5)
        self.assertEqual(sum(int(r["cnps"]) for r in flows), result["cnps"])
        self.assertEqual(sum(int(r["marked"]) for r in queues), result["marked"])
        part = [float(r["paused"]) for r in queues if r["port"] == "s1:s2"]
        pause = next(p for p in port(result, "s1:s2")["priorities"] if p["priority"] == 3)["paused_ns"]
        self.assertAlmostEqual(sum(part) * 50_000 / pause, 1, places=2)

    def test_plot_is_a_drawing(self):
        directory = made("late-joiner", "--svg", "--no-captures", "--no-truth", "--duration", "60ms")
        root = xml.etree.ElementTree.parse(directory / "plot.svg").getroot()
        texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for wanted in ("Late joiners, DCQCN paper", "delivered, Gb/s", "egress queue, KB", "f1", "f2"):
            self.assertIn(wanted, texts)
        self.assertEqual(sorted(p.name for p in directory.iterdir()),
                         ["flows.csv", "plot.svg", "queues.csv", "summary.json", "summary.txt"])


if __name__ == "__main__":
    sim.main()
