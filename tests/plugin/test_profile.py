#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile: its colour rules are hit, its columns and preferences are read."""
import collections
import re
import unittest

from common import PCAPS, ROOT, merged, place, rows, tshark

RULES = re.compile(r"^@([^@]*)@([^@]*)@", re.MULTILINE)


def colours(capture):
    """Rule of each frame."""
    return [row[0] for row in rows(capture, ["frame.coloring_rule.name"], "-2", "-C", "RoCEv2", "--color")]


class Profile(unittest.TestCase):
    def test_rules_are_hit(self):
        count = collections.Counter()
        count.update(colours(merged(place().capture(p) for p in ("traps.pcap", "pause.pcap", *(p.name for p in PCAPS)))))
        names = [name for name, _ in RULES.findall((ROOT / "plugin/profile/RoCEv2/colorfilters").read_text())]
        # No capture here holds a damaged ICRC or lengths that contradict each other; mirrored copies neither.
        missed = set(names) - set(count) - {"RoCE malformed", "RoCE ICRC bad", "RoCE captured twice", "RoCE", "UDP", "ARP"}
        self.assertEqual(missed, set())

    def test_rules_of_one_capture(self):
        self.assertEqual([c for c in colours(place().capture("rc_nak_badrkey_write.pcap")) if c.startswith("RoCE")],
                         ["RoCE SEND", "RoCE ACK", "RoCE WRITE", "RoCE WRITE", "RoCE refused"])
        marked = collections.Counter(colours(place().capture("ecn_ce.pcap")))
        self.assertEqual(marked["RoCE congestion mark"], 120)

    def test_columns(self):
        line = tshark("-r", place().capture("rc_nak_badrkey_write.pcap"), "-C", "RoCEv2", "-Y", "frame.number == 13")
        # stream, QP, PSN, message
        self.assertRegex(line, r"192\.168\.77\.3 0 0x0000b4 16777201 2 RoCEv2 1098 RC RDMA WRITE First")

    def test_no_checksum_error_over_ipv6(self):
        for args, wrong in (([], True), (["-C", "RoCEv2"], False)):
            got = rows(place().capture("rc_pingpong_ipv6.pcap"), ["frame.number"], "-Y", "udp.checksum.zero", *args)
            self.assertEqual(bool(got), wrong)

    def test_buttons_are_filters(self):
        text = (ROOT / "plugin/profile/RoCEv2/dfilter_buttons").read_text()
        found = re.findall(r'^"TRUE","[^"]*","([^"]*)"', text, re.MULTILINE)
        self.assertEqual(len(found), 6)
        found += [f for _, f in RULES.findall((ROOT / "plugin/profile/RoCEv2/colorfilters").read_text())]
        every = " || ".join(f"({condition})" for condition in found).replace("\\x22", '"')
        rows(place().capture("rc_nak_badrkey_write.pcap"), ["frame.number"], "-Y", every)


if __name__ == "__main__":
    unittest.main()
