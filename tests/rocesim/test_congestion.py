#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped scenarios against the published behaviour of DCQCN, PFC and go-back-N."""
import os
import unittest

import sim
from sim import flow, paused_ms, port, queue, summary


LONG = unittest.skipIf(os.environ.get("ROCESIM_SHORT"), "long runs")


class Dcqcn(unittest.TestCase):
    def incast(self, n, duration="300ms"):
        return summary("incast", "-D", f"N={n}", "--duration", duration)

    def test_two_senders_reach_the_fixed_point(self):
        """The fluid model of the paper's parameters settles at 23.6 KB."""
        result = self.incast(2)
        self.assertGreaterEqual(port(result, "s:r")["utilisation"], 0.99)
        self.assertGreaterEqual(result["fairness"]["jain"], 0.99)
        self.assertGreater(queue(result, "s:r")["mean"], 20e3)
        self.assertLess(queue(result, "s:r")["mean"], 28e3)
        self.assertEqual(result["paused_ns"], 0)
        self.assertEqual(result["drops"], {})

    @LONG
    def test_eight_senders(self):
        self.assertGreaterEqual(port(self.incast(8, "200ms"), "s:r")["utilisation"], 0.96)

    @LONG
    def test_twenty_senders(self):
        self.assertGreaterEqual(port(self.incast(20, "200ms"), "s:r")["utilisation"], 0.92)

    @LONG
    def test_sixty_four_hosts(self):
        """They begin at line rate, 62 times what fits: PFC holds them until DCQCN has. Nothing is lost."""
        result = summary("incast", "-D", "N=63", "--duration", "110ms")
        self.assertEqual(result["drops"], {})
        self.assertEqual(sum(f["failed"] for f in result["flows"]), 0)
        self.assertGreaterEqual(result["fairness"]["jain"], 0.9)

    @LONG
    def test_late_joiner_gets_its_share(self):
        result = summary("late-joiner")
        self.assertLessEqual(result["fairness"]["fair_after_ns"], 50_000_000)
        self.assertGreaterEqual(result["fairness"]["jain_last_window"], 0.95)

    @LONG
    def test_parking_lot_starves_nobody(self):
        """Three marks on the way cost the long flow part of its share, not all of it."""
        result = summary("parking-lot")
        for name in ("s1:s2", "s2:s3", "s3:s4"):
            self.assertGreaterEqual(port(result, name)["utilisation"], 0.98)
        self.assertGreater(flow(result, "long")["delivered_bps"], 5e9)
        self.assertLess(flow(result, "long")["delivered_bps"], flow(result, "short1")["delivered_bps"])


class Pfc(unittest.TestCase):
    def test_dcqcn_spares_the_victim(self):
        off, on = summary("hol-victim", "-D", "DCQCN=off"), summary("hol-victim")
        self.assertLess(flow(off, "innocent")["delivered_bps"], 12e9)
        self.assertGreater(flow(on, "innocent")["delivered_bps"], 18e9)
        self.assertGreaterEqual(paused_ms(off), 10 * paused_ms(on))
        for result in (off, on):
            self.assertEqual(result["drops"], {})

    def test_incast_without_dcqcn_is_fair_and_lossless(self):
        result = summary("incast", "-D", "DCQCN=off", "--duration", "120ms")
        self.assertGreaterEqual(port(result, "s:r")["utilisation"], 0.999)
        self.assertGreaterEqual(result["fairness"]["jain"], 0.99)
        self.assertGreater(paused_ms(result), 10)
        self.assertEqual(result["drops"], {})

    def test_storm_reaches_the_victim_and_the_watchdog_frees_it(self):
        storm, guarded = summary("pfc-storm"), summary("pfc-storm", "-D", "WATCHDOG=10ms")
        for name in ("s1:s2", "s2:slow"):
            self.assertGreater(port(storm, name)["priorities"][0]["paused_ns"], 140_000_000)
        self.assertLess(flow(storm, "victim")["delivered_bps"], 0.3e9)
        self.assertEqual(storm["drops"], {})
        self.assertGreater(flow(guarded, "victim")["delivered_bps"], 0.8e9)
        self.assertEqual(set(guarded["drops"]), {"storm"})
        self.assertEqual(port(guarded, "s2:slow")["storms"], 1)
        self.assertEqual(port(guarded, "s1:s2")["storms"], 0)


class Ring(unittest.TestCase):
    CYCLE = ["s1:s2", "s2:s3", "s3:s4", "s4:s1"]

    def test_ring_stops_for_ever_and_the_cycle_is_named(self):
        result = summary("ring-deadlock")
        self.assertIsNone(result["deadlock"]["ended_ns"])
        self.assertLess(result["deadlock"]["at_ns"], 1_000_000)
        self.assertEqual([wait["port"] for wait in result["deadlock"]["cycle"]], self.CYCLE)
        self.assertEqual(result["drops"], {})
        # Not a byte more, however long one waits.
        longer = summary("ring-deadlock", "--duration", "400ms")
        for short, long in zip(result["flows"], longer["flows"]):
            self.assertEqual(round(short["delivered_bps"] * 200), round(long["delivered_bps"] * 400))

    def test_congestion_control_keeps_it_going(self):
        result = summary("ring-deadlock", "-D", "DCQCN=paper")
        self.assertIsNone(result["deadlock"])
        self.assertEqual([f["messages"] for f in result["flows"]], [40] * 4)

    def test_watchdog_brings_it_back(self):
        result = summary("ring-deadlock", "-D", "WATCHDOG=20ms")
        self.assertEqual([wait["port"] for wait in result["deadlock"]["cycle"]], self.CYCLE)
        self.assertGreater(result["deadlock"]["ended_ns"], 20_000_000)
        self.assertLess(result["deadlock"]["ended_ns"], 40_000_000)
        self.assertEqual([f["messages"] for f in result["flows"]], [40] * 4)
        self.assertEqual(sum(f["failed"] for f in result["flows"]), 0)
        self.assertEqual(set(result["drops"]), {"storm"})


class Loss(unittest.TestCase):
    def test_go_back_0_never_gets_through(self):
        result = summary("gb0-livelock")
        self.assertEqual(result["goodput_bps"], 0)
        self.assertEqual(flow(result, "f")["failed"], 0)
        self.assertGreaterEqual(port(result, "a:s")["utilisation"], 0.98)

    def test_go_back_n_does(self):
        result = summary("gb0-livelock", "-D", "RECOVERY=go_back_n")
        self.assertGreater(result["goodput_bps"], 30e9)
        self.assertGreater(flow(result, "f")["retransmitted"], 1000)

    def test_each_loss_costs_what_was_under_way(self):
        """A window of 256 frames bounds it; half of a round trip of 44 us at 40 Gb/s are 100."""
        result = summary("lossy-gbn")
        lost = result["drops"]["loss"]
        self.assertEqual(set(result["drops"]), {"loss"})
        self.assertGreater(flow(result, "f")["retransmitted"] / lost, 20)
        self.assertLess(flow(result, "f")["retransmitted"] / lost, 256)


if __name__ == "__main__":
    sim.main()
