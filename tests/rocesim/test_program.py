#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of rocesim: messages, exit statuses, odd flows, speed."""
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import time
import unittest

import sim
from sim import flow, run, summary

NET = "duration 1ms\nhost a b\nswitch s\nlink a s\nlink b s\n"


def scenario(name, text):
    path = sim.WORK / f"{name}.scenario"
    path.write_text(text)
    return path


class Messages(unittest.TestCase):
    def fails(self, status, words, *args):
        done = run(*args, status=status)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("rocesim: "))
        self.assertIn(words, lines[0])

    def test_each_mistake_has_its_line(self):
        bad = scenario("bad", "host a\nhots b\n")
        small = scenario("small", NET.replace("switch s", "switch s buffer=20000") + "flow f from=a to=b\n")
        self.fails(2, "no scenario; name a file", )
        self.fails(2, "more than one scenario", "a", "b")
        self.fails(1, "no such file, and none of the installed scenarios", "nowhere")
        self.fails(1, "Is a directory", sim.WORK)
        self.fails(2, "line 2: 'hots' begins no line", bad)
        self.fails(2, "leave no buffer to share", small)
        self.fails(2, "--svg has no use without -o", "pair", "--svg")
        self.fails(2, "-D: 'N' is not NAME=VALUE", "incast", "-D", "N")
        self.fails(2, "no line let X=VALUE", "incast", "-D", "X=1")
        self.fails(2, "--seed: 'x' is not a number", "pair", "--seed", "x")
        self.fails(2, "--duration: '0' is not a time", "pair", "--duration", "0")
        self.fails(2, "not longer than the scenario's warmup", "pair", "--duration", "100us")
        self.fails(1, "Not a directory", "pair", "-o", "/dev/null/x")
        self.fails(1, "File exists", "pair", "-o", bad)

    def test_output_directory_does_not_hide_the_scenario(self):
        for _ in range(2):
            subprocess.run([sim.ROCESIM, "pair", "-q", "-o", "pair"], check=True, cwd=sim.WORK)

    def test_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([sim.ROCESIM, "pair"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)

    def test_list_and_help(self):
        listed = run("--list").stdout.decode()
        for name in ("gb0-livelock", "hol-victim", "incast", "late-joiner", "lossy-gbn", "pair", "parking-lot",
                     "pfc-storm", "ring-deadlock"):
            self.assertIn(f"{name} ", listed)
        text = run("--help").stdout.decode()
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()))

    def wait_for_handler(self, child, number):
        """Until |child| catches the signal; before that it would end it."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            if int(re.search(r"SigCgt:\t([0-9a-f]+)", status)[1], 16) >> (number - 1) & 1:
                return
            select.select([], [], [], 0.01)
        self.fail("the signal is not caught")

    def test_interrupt_ends_with_a_report(self):
        long = scenario("long", NET.replace("1ms", "900s") + "sample 1ms\nflow f from=a to=b\n")
        child = subprocess.Popen([sim.ROCESIM, long], stdout=subprocess.PIPE)
        self.wait_for_handler(child, signal.SIGINT)
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=60)[0].decode()
        self.assertEqual(child.returncode, 0)
        self.assertIn("goodput", out)


class Flows(unittest.TestCase):
    def delivered(self, keys, size=10_000):
        result = summary(scenario("flow", NET + f"flow f from=a to=b size={size} count=20 {keys}\n"))
        self.assertEqual(flow(result, "f")["messages"], 20)
        self.assertEqual(flow(result, "f")["failed"], 0)
        self.assertEqual(flow(result, "f")["latency_us"]["count"], 20)
        return result

    def test_every_operation(self):
        for keys in ("op=write", "op=send", "op=read", "op=write vlan=7 priority=4", "mtu=4096", "mtu=256 depth=1",
                     "op=send depth=64", "ack_every=1", "window=4", "ecn=no"):
            with self.subTest(keys=keys):
                self.delivered(keys)

    def test_empty_messages(self):
        for op in ("write", "send", "read"):
            self.delivered(f"op={op}", size=0)

    def test_many_qps(self):
        result = summary(scenario("qps", NET + "flow f from=a to=b size=2000 count=5 qps=50 op=send\n"))
        self.assertEqual(flow(result, "f")["messages"], 250)

    def test_rate_limit_is_kept(self):
        result = summary(scenario("rate", NET.replace("1ms", "10ms") + "flow f from=a to=b rate=10G\n"))
        # 1024 bytes of payload in frames of 1082 or 1098 with 24 around them: 92.6 %.
        self.assertAlmostEqual(flow(result, "f")["delivered_bps"] / (10e9 * 1024 / 1106), 1, places=2)

    def test_latency_is_the_wire(self):
        """One frame of 64 bytes and its ACK: 64 + 16 + 58 + 24 bytes twice at 40 Gb/s, 62 + 24 twice, four times 1 us."""
        result = summary(scenario("latency", NET + "flow f from=a to=b size=64 count=20 depth=1\n"))
        wire = 2 * (64 + 16 + 58 + 24) * 8 / 40 + 2 * (62 + 24) * 8 / 40 + 4 * 1000
        self.assertAlmostEqual(flow(result, "f")["latency_us"]["min"] * 1000, wire, delta=3)
        self.assertAlmostEqual(flow(result, "f")["latency_us"]["max"] * 1000, wire, delta=3)

    def test_stop_and_start(self):
        result = summary(scenario("stop", NET.replace("1ms", "4ms") +
                                  "flow f from=a to=b size=10K depth=1 start=1ms stop=2ms\n"))
        # About one millisecond of 40 Gb/s, less what one message at a time cannot use.
        self.assertGreater(flow(result, "f")["messages"], 100)
        self.assertLess(flow(result, "f")["messages"], 400)

    def test_retries_run_out(self):
        result = summary(scenario("dead", "duration 100ms\nhost a b\nlink a b loss=1\n"
                                  "flow f from=a to=b size=1000 count=3 timeout=8 retry=2\n"))
        self.assertEqual(flow(result, "f")["failed"], 3)
        self.assertEqual(flow(result, "f")["status"], "transport retry counter exceeded")
        self.assertEqual(flow(result, "f")["timeouts"], 3)


class Speed(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("ROCESIM_SPEED"), "not an optimised build")
    def test_a_million_packet_hops_a_second(self):
        """CPU seconds of the program: the machine may be busy otherwise."""
        for args in (["pair", "--duration", "100ms"], ["incast", "-D", "N=20", "--duration", "150ms"], ["parking-lot"]):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            hops = summary(*args)["packet_hops"]
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            self.assertGreaterEqual(hops / seconds, 1e6)


if __name__ == "__main__":
    sim.main()
