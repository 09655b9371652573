#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's tree of a few packets, line by line; --update rewrites the golden files."""
import pathlib
import re
import sys
import unittest

from common import place, tshark

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"

# name: capture, filter
TREES = {
    "write_refused": ("rc_nak_badrkey_write.pcap", "rocev2"),
    "cm_and_read": ("cm_rping.pcap", "frame.number <= 8"),
    "rejected": ("cm_rping_rej_noserver.pcap", "rocev2"),
    "loss": ("loss5_egress_send.pcap", "frame.number >= 113 && frame.number <= 131"),
    "read_loss": ("loss5_egress_read.pcap", "rocev2.analysis.restart"),
    "not_ready": ("rc_rnr_exceeded.pcap", "rocev2"),
    "atomic": ("pf_atomic_cas.pcap", "rocev2.message <= 2"),
    "traps": ("traps.pcap", "rocev2 && !icmp"),
    "pause": ("pause.pcap", "rocev2"),
}


def in_seconds(match):
    return "%.9f seconds" % (float(match[1]) * {"milli": 1e-3, "micro": 1e-6, "": 1}[match[2]])


def tree(capture, condition):
    """Frame numbers and the RoCEv2 layer alone: the other layers are other people's."""
    text = tshark("-n", "-2", "-r", place().capture(capture), "-O", "rocev2", "-Y", condition,
                  "-o", "rocev2.link_speed:100")
    out, inside = [], False
    for line in text.splitlines():
        if line.startswith("Frame "):
            out.append(line.split(":")[0])
        if line and not line.startswith(" "):
            inside = line.startswith(("RDMA over Converged", "RoCE lossless"))
        if inside and line:
            # How much of the payload is shown, and in which unit times are, differs between versions of Wireshark.
            line = re.sub(r"^(    (Payload|Padding)).*:.*", r"\1", line)
            out.append(re.sub(r"(\d+\.\d+) (milli|micro|)seconds?", in_seconds, line))
    return "\n".join(out) + "\n"


class Golden(unittest.TestCase):
    maxDiff = 4000

    def test_trees(self):
        for name, (capture, condition) in TREES.items():
            with self.subTest(name):
                self.assertEqual(tree(capture, condition), (GOLDEN / f"{name}.txt").read_text())


if __name__ == "__main__":
    if "--update" in sys.argv:
        GOLDEN.mkdir(exist_ok=True)
        for name, (capture, condition) in TREES.items():
            (GOLDEN / f"{name}.txt").write_text(tree(capture, condition))
    else:
        unittest.main()
